// Only a dimension that is a variable itself defines it: n of (n, m * 2), but not m.
#include "passes/relax/analysis/symbols.h"

#include "ir/clone.h"
#include "ir/walk.h"
#include "passes/relax/substitute.h"
#include "structinfo/make.h"
#include "structinfo/relate.h"

bool tvms_relax_is_symbol(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
}

// The dimensions of a tensor or a shape; none for other types.
static tvms_list dims_of(const tvms_node *type) {
  tvms_list dims = {NULL, 0};
  bool sized =
      type->kind == TVMS_NODE_SINFO_SHAPE || type->kind == TVMS_NODE_SINFO_TENSOR;
  if (sized && !tvms_sinfo_dims(type, &dims)) dims.len = 0;
  return dims;
}

void tvms_relax_symbols_of_type(tvms_node_map *defined, const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      tvms_relax_symbols_of_type(defined, fields.items[i]);
    return;
  }
  tvms_list dims = dims_of(type);
  for (uint32_t i = 0; i < dims.len; i++) {
    if (tvms_relax_is_symbol(dims.items[i]))
      tvms_node_map_put(defined, dims.items[i], dims.items[i]);
  }
}

typedef struct {
  tvms_memory *memory;
  tvms_node_map *defined;
  tvms_node_vec *free;
} search;

static tvms_walk_step find_free(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_MATCH_CAST)
    tvms_relax_symbols_of_type(s->defined, tvms_as_match_cast(node)->type);
  if (tvms_relax_is_symbol(node) && !tvms_node_map_get(s->defined, node)) {
    tvms_node_map_put(s->defined, node, node);
    tvms_vec_push(s->memory, s->free, node);
  }
  bool value = node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_CALL;
  if (value && node->sinfo && node->sinfo->id
      && node->sinfo->kind != TVMS_NODE_SINFO_POINTER) {
    tvms_visitor visitor = {.self = s, .enter = find_free};
    tvms_walk(s->memory, node->sinfo, &visitor);
  }
  return TVMS_WALK_ON;
}

void tvms_relax_symbols_free(tvms_memory *memory, tvms_node *node,
                             tvms_node_map *defined, tvms_node_vec *free) {
  search s = {memory, defined, free};
  tvms_visitor visitor = {.self = &s, .enter = find_free};
  tvms_walk(memory, node, &visitor);
}

void tvms_relax_symbols_latest_first(tvms_node_vec *symbols) {
  for (uint32_t i = 0; 2 * i + 1 < symbols->len; i++) {
    tvms_node *first = symbols->items[i];
    symbols->items[i] = symbols->items[symbols->len - 1 - i];
    symbols->items[symbols->len - 1 - i] = first;
  }
}

tvms_node *tvms_relax_symbol_value(const tvms_node *type, const tvms_node *given,
                                   const tvms_node *symbol) {
  if (type->kind != given->kind) return NULL;
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields,
              other = tvms_as_sinfo_tuple(given)->fields;
    tvms_node *found = NULL;
    for (uint32_t i = 0; i < fields.len && fields.len == other.len && !found; i++)
      found = tvms_relax_symbol_value(fields.items[i], other.items[i], symbol);
    return found;
  }
  tvms_list dims = dims_of(type), values = dims_of(given);
  for (uint32_t i = 0; i < dims.len && dims.len == values.len; i++) {
    if (dims.items[i] == symbol) return values.items[i];
  }
  return NULL;
}

// The value of a symbol of the callee in a call.
static tvms_node *value_at_call(tvms_unit *unit, const tvms_function *callee,
                                tvms_list args, const tvms_node *symbol) {
  tvms_node *value = NULL;
  for (uint32_t i = 0; i < args.len && i < callee->params.len && !value; i++) {
    value = tvms_relax_symbol_value(callee->params.items[i]->sinfo,
                                    tvms_sinfo_of(unit, args.items[i]), symbol);
  }
  return value;
}

tvms_node *tvms_relax_type_at_call(tvms_unit *unit, const tvms_function *callee,
                                   tvms_list args, tvms_node *type) {
  if (type->id == 0) return type;
  tvms_memory *memory = &unit->context->memory;
  tvms_node_map seen, known, values;
  tvms_node_map_init(&seen, memory);
  tvms_node_map_init(&known, memory);
  tvms_node_map_init(&values, memory);
  tvms_node_vec symbols = {0};
  tvms_relax_symbols_free(memory, type, &seen, &symbols);
  tvms_node *copy = tvms_clone(unit, type, &known);
  bool all = true;
  for (uint32_t i = 0; i < symbols.len && all; i++) {
    tvms_node *value = value_at_call(unit, callee, args, symbols.items[i]);
    all = value != NULL;
    if (all)
      tvms_node_map_put(&values, tvms_node_map_get(&known, symbols.items[i]), value);
  }
  tvms_node *made = all ? tvms_relax_substitute(unit, copy, &values) : NULL;
  tvms_node_map_fini(&seen);
  tvms_node_map_fini(&known);
  tvms_node_map_fini(&values);
  tvms_vec_fini(memory, &symbols);
  return made;
}

static tvms_node *TVMS_NULLABLE told(void *self, tvms_node *var) {
  return tvms_node_map_get(self, var);
}

tvms_node *tvms_relax_type_told(tvms_unit *unit, tvms_list params, tvms_node *type) {
  tvms_node_map visible;
  tvms_node_map_init(&visible, &unit->context->memory);
  for (uint32_t i = 0; i < params.len; i++) {
    if (tvms_relax_is_symbol(params.items[i]))
      tvms_node_map_put(&visible, params.items[i], params.items[i]);
    if (params.items[i]->sinfo)
      tvms_relax_symbols_of_type(&visible, params.items[i]->sinfo);
  }
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  type = tvms_sinfo_erase(&prover, type, told, &visible);
  tvms_prover_fini(&prover);
  tvms_node_map_fini(&visible);
  return type;
}
