// Copy on write over the schema.
#include "ir/rewrite.h"

#include <string.h>

void tvms_rewriter_init(tvms_rewriter *rewriter, tvms_unit *unit, void *self) {
  *rewriter = (tvms_rewriter){.unit = unit, .self = self};
  tvms_node_map_init(&rewriter->known, &unit->context->memory);
}

void tvms_rewriter_fini(tvms_rewriter *rewriter) {
  tvms_node_map_fini(&rewriter->known);
}

tvms_node *tvms_node_copy(tvms_unit *unit, const tvms_node *node) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  tvms_node *copy = tvms_node_new(unit, (tvms_node_kind)node->kind, node->span);
  uint32_t id = copy->id;
  memcpy(copy, node, schema->size);
  copy->id = id;
  return copy;
}

static bool has_identity(const tvms_node *node) {
  return node->kind == TVMS_NODE_BUFFER || node->kind == TVMS_NODE_ITER_VAR;
}

// The list rewritten; the same items if none changed. Removed items close up.
static tvms_list rewrite_list(tvms_rewriter *r, tvms_list old) {
  for (uint32_t i = 0; i < old.len; i++) {
    if (!old.items[i]) continue;
    tvms_node *first = tvms_rewrite(r, old.items[i]);
    if (first == old.items[i]) continue;
    tvms_list list = tvms_list_copy(r->unit, old.items, old.len);
    list.len = i;
    if (first) list.items[list.len++] = first;
    for (i++; i < old.len; i++) {
      tvms_node *item = old.items[i] ? tvms_rewrite(r, old.items[i]) : NULL;
      if (item || !old.items[i]) list.items[list.len++] = item;
    }
    return list;
  }
  return old;
}

tvms_node *tvms_rewrite_below(tvms_rewriter *r, tvms_node *node) {
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  tvms_node *result = node;
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    if (field->type != TVMS_TYPE_NODE && field->type != TVMS_TYPE_LIST) continue;
    if (field->type == TVMS_TYPE_NODE) {
      tvms_node *old = *(tvms_node **)(void *)((char *)node + field->offset);
      tvms_node *made = old ? tvms_rewrite(r, old) : NULL;
      if (made == old) continue;
      if (result == node) result = tvms_node_copy(r->unit, node);
      *(tvms_node **)(void *)((char *)result + field->offset) = made;
      continue;
    }
    tvms_list old = *(tvms_list *)(void *)((char *)node + field->offset);
    tvms_list made = rewrite_list(r, old);
    if (made.items == old.items) continue;
    if (result == node) result = tvms_node_copy(r->unit, node);
    *(tvms_list *)(void *)((char *)result + field->offset) = made;
  }
  return result;
}

tvms_node *TVMS_NULLABLE tvms_rewrite(tvms_rewriter *r, tvms_node *node) {
  bool lasting = has_identity(node) || node->kind == TVMS_NODE_VAR;
  tvms_node *known = lasting ? tvms_node_map_get(&r->known, node) : NULL;
  if (known) return known;
  tvms_memory *memory = &r->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_node *result = TVMS_REWRITE_BELOW;
  if (r->enter[node->kind]) result = r->enter[node->kind](r, node);
  if (result == TVMS_REWRITE_BELOW) {
    result = tvms_rewrite_below(r, node);
    if (r->leave[node->kind]) result = r->leave[node->kind](r, result);
  }
  tvms_memory_leave(memory);
  if (has_identity(node)) tvms_node_map_put(&r->known, node, result);
  return result;
}

tvms_node *tvms_substitute(tvms_unit *unit, tvms_node *node, const tvms_node_map *map) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  for (uint32_t i = 0; i < map->cap; i++) {
    const tvms_node_pair *pair = &map->pairs[i];
    if (pair->key && pair->value) tvms_node_map_put(&r.known, pair->key, pair->value);
  }
  tvms_node *result = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return result;
}

tvms_node *tvms_substitute_one(tvms_unit *unit, tvms_node *node, const tvms_node *var,
                               tvms_node *value) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  tvms_node_map_put(&r.known, var, value);
  tvms_node *result = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return result;
}
