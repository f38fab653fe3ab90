// BindSymbolicVars: sizes that are known now are written for their variables.
//
// Before: x: R.Tensor((n, 4)), y = R.reshape(x, R.shape([n * 4]))    with {'n': 16}
// After:  x: R.Tensor((16, 4)), y = R.reshape(x, R.shape([64]))
//
// In the function `func_name`, or in all that have such a variable. A name that no function has is
// an error; values are numbers.
// TVM: relax.transform.BindSymbolicVars.
#include "ir/build.h"
#include "ir/node_map.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/substitute.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  const tvms_literal *map;
  const char *function;  // "": all
  bool *used;            // pairs of the map
} binder;

typedef struct {
  binder *b;
  tvms_unit *unit;
  tvms_node_map values;  // VAR -> number
} search;

static void found(search *s, uint32_t pair, tvms_node *var) {
  const tvms_literal *value = &s->b->map->items[2 * pair + 1];
  s->b->used[pair] = true;
  tvms_node_map_put(&s->values, var,
                    tvms_int_imm_new(s->unit, var->dtype, value->number, TVMS_NO_SPAN));
}

static tvms_walk_step look(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  search *s = self;
  bool symbol = node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
  if (!symbol || tvms_node_map_get(&s->values, node)) return TVMS_WALK_ON;
  const char *name = tvms_symbol_text(s->b->run->context, tvms_as_var(node)->name);
  for (uint32_t i = 0; i < s->b->map->len / 2; i++) {
    if (strcmp(s->b->map->items[2 * i].text, name) == 0) found(s, i, node);
  }
  return TVMS_WALK_ON;
}

// Symbols stand in types of parameters and in match_casts.
static void search_function(search *s, const tvms_function *function) {
  tvms_memory *memory = &s->unit->context->memory;
  tvms_visitor visitor = {.self = s, .enter = look};
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *type = function->params.items[i]->sinfo;
    if (type) tvms_walk(memory, type, &visitor);
    tvms_walk(memory, function->params.items[i], &visitor);
  }
  tvms_walk(memory, function->body, &visitor);
}

// Without the parameters that have got values.
static tvms_node *without_params(tvms_unit *unit, tvms_node *node,
                                 const tvms_node_map *values) {
  const tvms_function *old = tvms_as_function(node);
  tvms_node_vec params = {0};
  for (uint32_t i = 0; i < old->params.len; i++) {
    if (!tvms_node_map_get(values, old->params.items[i]))
      tvms_vec_push(&unit->context->memory, &params, old->params.items[i]);
  }
  if (params.len < old->params.len) {
    node = tvms_node_copy(unit, node);
    tvms_as_function(node)->params = tvms_list_copy(unit, params.items, params.len);
    node->sinfo = NULL;
  }
  tvms_vec_fini(&unit->context->memory, &params);
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  binder *b = run->state;
  tvms_memory *memory = &run->context->memory;
  const char *name = tvms_symbol_text(run->context, tvms_as_function(function)->name);
  if (b->function[0] && strcmp(b->function, name) != 0) return function;
  search s = {.b = b, .unit = unit};
  tvms_node_map_init(&s.values, memory);
  search_function(&s, tvms_as_function(function));
  tvms_node *changed = function;
  if (s.values.count) {
    changed = without_params(unit, function, &s.values);
    changed = tvms_relax_substitute(unit, changed, &s.values);
  }
  tvms_node_map_fini(&s.values);
  return changed;
}

// The map as it must be: names to numbers.
static bool is_map_of_numbers(const tvms_literal *TVMS_NULLABLE map) {
  if (!map || map->kind != TVMS_LITERAL_MAP) return false;
  for (uint32_t i = 0; i + 1 < map->len; i += 2) {
    bool pair = map->items[i].kind == TVMS_LITERAL_TEXT
                && map->items[i + 1].kind == TVMS_LITERAL_INT;
    if (!pair) return false;
  }
  return true;
}

void tvms_pass_bind_symbolic_vars(tvms_pass_run *run) {
  tvms_context *context = run->context;
  const tvms_literal *map = TVMS_OPTION(run, BindSymbolicVars, binding_map).literal;
  if (!is_map_of_numbers(map)) {
    tvms_diag_report(&context->diags, TVMS_D_pass_value, (tvms_span){0, 0},
                     "binding_map", "a map from names to numbers");
    return;
  }
  uint32_t pairs = map->len / 2;
  binder b = {.run = run, .map = map};
  b.function = TVMS_OPTION(run, BindSymbolicVars, func_name).text;
  b.used = tvms_memory_alloc(&context->memory, pairs + 1);
  memset(b.used, 0, pairs + 1);
  run->state = &b;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  for (uint32_t i = 0; i < pairs; i++) {
    if (!b.used[i])
      tvms_diag_report(&context->diags, TVMS_D_no_such_symbol, (tvms_span){0, 0},
                       map->items[2 * i].text);
  }
  tvms_memory_free(&context->memory, b.used);
}
