// Deep copies over the schema, sharing kept.
//
// A node is entered into the map before its parts are copied: a type may mention the variable
// that has it, and such a circle ends at the entry. What outlives the unit is not copied:
// closed types, and devices and meshes of its module.
#include "ir/clone.h"

#include "ir/module.h"
#include "ir/rewrite.h"

typedef struct {
  tvms_unit *unit;
  tvms_node_map *known;
} cloner;

static tvms_node *clone(cloner *c, const tvms_node *node);

static void clone_field(cloner *c, void *place, tvms_field_type type) {
  if (type == TVMS_TYPE_NODE) {
    tvms_node **field = place;
    if (*field) *field = clone(c, *field);
  } else if (type == TVMS_TYPE_LIST) {
    tvms_list *list = place;
    *list = tvms_list_copy(c->unit, list->items, list->len);
    for (uint32_t i = 0; i < list->len; i++) {
      if (list->items[i]) list->items[i] = clone(c, list->items[i]);
    }
  } else if (type == TVMS_TYPE_TEXT) {
    tvms_bytes *text = place;
    if (text->text) *text = tvms_bytes_copy(c->unit, text->text, text->len);
  } else if (type == TVMS_TYPE_BYTES) {
    tvms_bytes *bytes = place;
    if (bytes->text) *bytes = tvms_bytes_share(c->unit, bytes->text, bytes->len);
  }
}

static tvms_node *clone(cloner *c, const tvms_node *node) {
  // Closed types belong to the context.
  if (node->id == 0) return (tvms_node *)(uintptr_t)node;
  tvms_node *copy = tvms_node_map_get(c->known, node);
  if (copy) return copy;
  if (tvms_module_shares(c->unit, node)) return (tvms_node *)(uintptr_t)node;
  tvms_memory *memory = &c->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  copy = tvms_node_copy(c->unit, node);
  // Before what is below: a type may mention the variable that has it.
  tvms_node_map_put(c->known, node, copy);
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    clone_field(c, (char *)copy + field->offset, field->type);
  }
  if (copy->sinfo) copy->sinfo = clone(c, copy->sinfo);
  tvms_memory_leave(memory);
  return copy;
}

tvms_node *tvms_clone(tvms_unit *unit, const tvms_node *node,
                      tvms_node_map *TVMS_NULLABLE known) {
  tvms_node_map own;
  tvms_node_map_init(&own, &unit->context->memory);
  cloner c = {unit, known ? known : &own};
  tvms_node *copy = clone(&c, node);
  tvms_node_map_fini(&own);
  return copy;
}
