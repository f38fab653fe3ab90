// Invariants of single nodes, checked over the schema.
#include "ir/verify.h"

#include "ir/fold_const.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_unit *unit;
  const tvms_node *node;
  const char *what;
} finding;

static bool is_scalar_or_void(const tvms_node *node) {
  return node->dtype.lanes == 1 || tvms_dtype_is_void(node->dtype);
}

static const char *TVMS_NULLABLE check_binary(const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (!op->a || !op->b) return "an operand is missing";
  if (!tvms_dtype_same(op->a->dtype, op->b->dtype))
    return "the operands differ in dtype";
  bool truth = node->kind >= TVMS_NODE_EQ;
  if (truth && !tvms_dtype_is_bool(node->dtype)) return "a comparison is not bool";
  bool same = tvms_dtype_same(node->dtype, op->a->dtype);
  return truth || same ? NULL : "the dtype is not that of the operands";
}

static const char *TVMS_NULLABLE check_lists(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_PRIM_FUNC: {
    const tvms_prim_func *func = tvms_as_prim_func(node);
    return func->params.len == func->buffers.len ? NULL : "parameters without buffers";
  }
  case TVMS_NODE_BLOCK_REALIZE: {
    const tvms_block_realize *realize = tvms_as_block_realize(node);
    uint32_t axes = tvms_as_block(realize->block)->iter_vars.len;
    return realize->iter_values.len == axes ? NULL : "axes without values";
  }
  case TVMS_NODE_OBJECT_MAP: {
    const tvms_object_map *map = tvms_as_object_map(node);
    return map->keys.len == map->values.len ? NULL : "keys without values";
  }
  case TVMS_NODE_BUFFER_LOAD: {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    uint32_t rank = tvms_as_buffer(load->buffer)->shape.len;
    return load->indices.len == rank ? NULL : "a load has the wrong number of indices";
  }
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(node);
    uint32_t rank = tvms_as_buffer(store->buffer)->shape.len;
    return store->indices.len == rank ? NULL
                                      : "a store has the wrong number of indices";
  }
  default: return NULL;
  }
}

static const char *TVMS_NULLABLE check_node(const tvms_unit *unit,
                                            const tvms_node *node) {
  if (node->kind == TVMS_NODE_INVALID || node->kind >= TVMS_NODE_COUNT) {
    return "the kind is unknown";
  }
  bool shared =
      node->flags & TVMS_FLAG_INTERNED && node->id == 0
      && (tvms_node_class_of(node) == TVMS_CLASS_SINFO
          || node->kind == TVMS_NODE_SHAPE_EXPR || node->kind == TVMS_NODE_INT_IMM
          || node->kind == TVMS_NODE_FLOAT_IMM);
  if (!shared && (node->id == 0 || node->id >= unit->next_id))
    return "the id is not of this unit";
  if (tvms_node_is_binary(node)) return check_binary(node);
  if (node->kind == TVMS_NODE_INT_IMM) {
    bool large = node->flags & TVMS_FLAG_LARGE;
    bool fits = large || tvms_fold_int_fits(node->dtype, tvms_as_int_imm(node)->value);
    return fits && is_scalar_or_void(node) ? NULL : "the value does not fit the dtype";
  }
  if (node->kind == TVMS_NODE_FOR) {
    const tvms_for *loop = tvms_as_for(node);
    bool same = tvms_dtype_same(loop->var->dtype, loop->extent->dtype);
    return same ? NULL : "a loop variable differs from its extent in dtype";
  }
  return check_lists(node);
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  finding *found = self;
  found->what = check_node(found->unit, node);
  found->node = node;
  return found->what ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

const char *TVMS_NULLABLE tvms_verify(tvms_unit *unit, tvms_node *root) {
  finding found = {.unit = unit};
  tvms_visitor visitor = {.self = &found, .enter = enter};
  if (tvms_walk(&unit->context->memory, root, &visitor)) return NULL;
  char text[160];
  bool known = found.node->kind < TVMS_NODE_COUNT;
  const char *kind =
      known ? tvms_node_schema_of((tvms_node_kind)found.node->kind)->name : "?";
  snprintf(text, sizeof text, "node '%s' (id %u): %s", kind, found.node->id,
           found.what);
  return tvms_arena_text(&unit->context->arena, text, strlen(text));
}
