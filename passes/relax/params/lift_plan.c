// A binding can be computed beforehand if it is in a dataflow block and needs only weights and what is
// computed from them. What needs neither weights nor inputs (R.zeros) may be computed on both sides.
#include "passes/relax/params/lift_plan.h"

#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/analysis/symbols.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

// ---- Variables ----

typedef struct {
  tvms_memory *memory;
  tvms_node_map seen;  // and those that are defined inside
  tvms_node_vec vars;
} search;

static tvms_walk_step find_vars(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(&s->seen, node))
    return TVMS_WALK_ON;
  tvms_node_map_put(&s->seen, node, node);
  bool inside = role == TVMS_ROLE_DEFINE;
  if (!inside) tvms_vec_push(s->memory, &s->vars, node);
  return TVMS_WALK_ON;
}

// The variables and symbols that a value uses, each once; the caller frees them.
static tvms_node_vec used_by(tvms_memory *memory, tvms_node *value) {
  search s = {.memory = memory};
  tvms_node_map_init(&s.seen, memory);
  if (value->kind == TVMS_NODE_FUNCTION) {
    tvms_list params = tvms_as_function(value)->params;
    for (uint32_t i = 0; i < params.len; i++)
      tvms_node_map_put(&s.seen, params.items[i], params.items[i]);
  }
  tvms_visitor visitor = {.self = &s, .enter = find_vars};
  tvms_walk(memory, value, &visitor);
  tvms_node_map_fini(&s.seen);
  return s.vars;
}

// Appends the symbols that stand alone as a dimension of the type, in order, each once.
static void definable(tvms_memory *memory, const tvms_node *type, tvms_node_map *seen,
                      tvms_node_vec *symbols) {
  tvms_list dims = {NULL, 0};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      definable(memory, fields.items[i], seen, symbols);
    return;
  }
  bool sized =
      type->kind == TVMS_NODE_SINFO_SHAPE || type->kind == TVMS_NODE_SINFO_TENSOR;
  if (!sized || !tvms_sinfo_dims(type, &dims)) return;
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_node *dim = dims.items[i];
    if (!tvms_relax_is_symbol(dim) || tvms_node_map_get(seen, dim)) continue;
    tvms_node_map_put(seen, dim, dim);
    if (symbols) tvms_vec_push(memory, symbols, dim);
  }
}

// ---- Bindings ----

typedef struct {
  tvms_memory *memory;
  tvms_node_map liftable;
} collector;

static bool all_liftable(const collector *c, tvms_node *part) {
  tvms_node_vec vars = used_by(c->memory, part);
  bool all = true;
  for (uint32_t i = 0; i < vars.len; i++)
    all &= tvms_node_map_get(&c->liftable, vars.items[i]) != NULL;
  tvms_vec_fini(c->memory, &vars);
  return all;
}

static bool can_lift(const collector *c, const tvms_node *block, tvms_node *binding) {
  tvms_node *value = tvms_relax_binding_value(binding);
  const tvms_node *var = tvms_relax_binding_var(binding);
  if (!(block->flags & TVMS_FLAG_DATAFLOW)) return false;
  if (value->kind == TVMS_NODE_EXTERN_FUNC) return false;
  if (tvms_op_called(value) == TVMS_R_builtin_stop_lift_params) return false;
  return all_liftable(c, value) && (!var->sinfo || all_liftable(c, var->sinfo));
}

typedef void visit_binding(void *self, const tvms_node *block, tvms_node *binding);

static void each_binding(const tvms_node *function, visit_binding *visit, void *self) {
  tvms_list blocks = tvms_as_seq_expr(tvms_as_function(function)->body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++)
      visit(self, blocks.items[i], bindings.items[k]);
  }
}

// ---- The plan of one function ----

typedef struct {
  collector c;
  tvms_relax_lift_plan *plan;
  const tvms_node_map *TVMS_NULLABLE common;
} planner;

static void put(tvms_node_map *set, tvms_node *node) {
  tvms_node_map_put(set, node, node);
}

// Symbols of a value and of the types in it are needed.
static void need_symbols(tvms_relax_lift_plan *plan, tvms_memory *memory,
                         tvms_node *value) {
  tvms_node_map seen;
  tvms_node_map_init(&seen, memory);
  tvms_node_vec symbols = {0};
  tvms_relax_symbols_free(memory, value, &seen, &symbols);
  for (uint32_t i = 0; i < symbols.len; i++)
    put(&plan->needed, symbols.items[i]);
  tvms_vec_fini(memory, &symbols);
  tvms_node_map_fini(&seen);
}

static void plan_binding(void *self, const tvms_node *block, tvms_node *binding) {
  planner *p = self;
  tvms_memory *memory = p->c.memory;
  tvms_node *var = tvms_relax_binding_var(binding);
  bool shared = !p->common || tvms_node_map_get(p->common, var);
  bool lifted = shared && can_lift(&p->c, block, binding);
  tvms_node_vec vars = used_by(memory, tvms_relax_binding_value(binding));
  if (lifted) {
    tvms_vec_push(memory, &p->plan->bindings, binding);
    put(&p->c.liftable, var);
  } else {
    put(&p->plan->needed, var);
    need_symbols(p->plan, memory, tvms_relax_binding_value(binding));
  }
  for (uint32_t i = 0; i < vars.len; i++) {
    if (!lifted)
      put(&p->plan->needed, vars.items[i]);
    else if (tvms_node_map_get(&p->plan->depends, vars.items[i])
             && !tvms_relax_is_symbol(vars.items[i]))
      put(&p->plan->depends, var);
  }
  tvms_vec_fini(memory, &vars);
}

// What a function returns is needed, too.
static void plan_result(planner *p, tvms_node *result) {
  tvms_node_vec vars = used_by(p->c.memory, result);
  for (uint32_t i = 0; i < vars.len; i++)
    put(&p->plan->needed, vars.items[i]);
  tvms_vec_fini(p->c.memory, &vars);
}

void tvms_relax_lift_plan_init(tvms_relax_lift_plan *plan, tvms_memory *memory,
                               const tvms_node *function, const tvms_node_map *common) {
  *plan = (tvms_relax_lift_plan){.function = function};
  plan->inputs = (uint32_t)tvms_relax_num_input(function);
  tvms_node_map_init(&plan->depends, memory);
  tvms_node_map_init(&plan->needed, memory);
  planner p = {.c.memory = memory, .plan = plan, .common = common};
  tvms_node_map_init(&p.c.liftable, memory);
  tvms_list params = tvms_as_function(function)->params;
  for (uint32_t i = plan->inputs; i < params.len; i++) {
    put(&p.c.liftable, params.items[i]);
    put(&plan->depends, params.items[i]);
    definable(memory, params.items[i]->sinfo, &p.c.liftable, NULL);
  }
  each_binding(function, plan_binding, &p);
  // What needs no weight is computed by calls as well.
  for (uint32_t i = plan->bindings.len; i-- > 0;) {
    const tvms_node *var = tvms_relax_binding_var(plan->bindings.items[i]);
    bool again = tvms_node_map_get(&plan->needed, var)
                 && !tvms_node_map_get(&plan->depends, var);
    if (again)
      need_symbols(plan, memory, tvms_relax_binding_value(plan->bindings.items[i]));
  }
  plan_result(&p, tvms_as_seq_expr(tvms_as_function(function)->body)->body);
  tvms_node_map_fini(&p.c.liftable);
}

void tvms_relax_lift_plan_fini(tvms_relax_lift_plan *plan) {
  tvms_memory *memory = plan->depends.memory;
  tvms_vec_fini(memory, &plan->bindings);
  tvms_node_map_fini(&plan->depends);
  tvms_node_map_fini(&plan->needed);
}

void tvms_relax_lift_plan_outputs(const tvms_relax_lift_plan *plan, tvms_memory *memory,
                                  tvms_node_vec *outputs) {
  tvms_list params = tvms_as_function(plan->function)->params;
  for (uint32_t i = plan->inputs; i < params.len; i++) {
    if (tvms_node_map_get(&plan->needed, params.items[i]))
      tvms_vec_push(memory, outputs, params.items[i]);
  }
  for (uint32_t i = 0; i < plan->bindings.len; i++) {
    tvms_node *var = tvms_relax_binding_var(plan->bindings.items[i]);
    bool handed =
        tvms_node_map_get(&plan->depends, var) && tvms_node_map_get(&plan->needed, var);
    if (handed) tvms_vec_push(memory, outputs, var);
  }
}

void tvms_relax_lift_plan_symbols(const tvms_relax_lift_plan *plan, tvms_memory *memory,
                                  bool shared, tvms_node_vec *symbols) {
  tvms_list params = tvms_as_function(plan->function)->params;
  tvms_node_map told, seen;
  tvms_node_map_init(&told, memory);
  tvms_node_map_init(&seen, memory);
  tvms_node_vec outputs = {0}, all = {0};
  tvms_relax_lift_plan_outputs(plan, memory, &outputs);
  for (uint32_t i = 0; i < outputs.len; i++)
    definable(memory, outputs.items[i]->sinfo, &told, NULL);
  for (uint32_t i = 0; i < plan->inputs && !shared; i++)
    definable(memory, params.items[i]->sinfo, &told, NULL);
  for (uint32_t i = shared ? plan->inputs : 0; i < params.len; i++)
    definable(memory, params.items[i]->sinfo, &seen, &all);
  for (uint32_t i = 0; i < all.len; i++) {
    bool asked = tvms_node_map_get(&plan->needed, all.items[i])
                 && !tvms_node_map_get(&told, all.items[i]);
    if (asked) tvms_vec_push(memory, symbols, all.items[i]);
  }
  tvms_vec_fini(memory, &outputs);
  tvms_vec_fini(memory, &all);
  tvms_node_map_fini(&told);
  tvms_node_map_fini(&seen);
}

// ---- What several functions have in common ----

typedef struct {
  tvms_node *binding;  // of the function that has it first
  tvms_node *value;    // in the variables of the first function
  uint64_t hash;
  uint32_t count;  // bindings that are equal to it
  uint32_t next;  // in `found`, from 1: with a hash that ends in the same bits; 0: none
} unified;

typedef struct {
  collector c;
  tvms_pass_run *run;
  tvms_unit *unit;  // of values, which are compared only
  tvms_node_map
      remap;  // variables of all functions → those of the first that has them,
              // and other nodes → what they became in `unit`
  TVMS_VEC(unified) found;
  uint32_t *first;  // by the last bits of the hash: in `found`, from 1; 0: none
  uint32_t mask;    // of these bits
  bool failed;
} unifier;

static bool refuse(const unifier *u, const tvms_node *function, const char *why) {
  tvms_sym name = tvms_as_function(function)->name;
  tvms_diag_report(&u->run->context->diags, TVMS_D_cannot_lift, function->span,
                   tvms_symbol_text(u->run->context, name), why);
  return false;
}

// Weights of one function stand for those of the first, and so do the symbols of their shapes.
static bool map_weights(unifier *u, const tvms_node *function, const tvms_node *first) {
  tvms_memory *memory = u->c.memory;
  uint32_t at = (uint32_t)tvms_relax_num_input(function),
           to = (uint32_t)tvms_relax_num_input(first);
  tvms_list params = tvms_as_function(function)->params,
            others = tvms_as_function(first)->params;
  if (params.len - at != others.len - to)
    return refuse(u, function, "it has not as many weights as the first one");
  for (; at < params.len; at++, to++) {
    tvms_node *a = params.items[at], *b = others.items[to];
    tvms_equal_options options = {.map_free = true};
    if (!tvms_node_equal_with(u->run->context, a->sinfo, b->sinfo, &options))
      return refuse(u, function,
                    "a weight has not the type that it has in the first one");
    tvms_node_map_put(&u->remap, a, b);
    put(&u->c.liftable, a);
    tvms_node_map one, two;
    tvms_node_map_init(&one, memory);
    tvms_node_map_init(&two, memory);
    tvms_node_vec from = {0}, into = {0};
    definable(memory, a->sinfo, &one, &from);
    definable(memory, b->sinfo, &two, &into);
    for (uint32_t i = 0; i < from.len && i < into.len; i++)
      tvms_node_map_put(&u->remap, from.items[i], into.items[i]);
    tvms_vec_fini(memory, &from);
    tvms_vec_fini(memory, &into);
    tvms_node_map_fini(&one);
    tvms_node_map_fini(&two);
  }
  return true;
}

static unified *TVMS_NULLABLE find_unified(const unifier *u, const tvms_node *value,
                                           uint64_t hash) {
  for (uint32_t at = u->first[hash & u->mask]; at; at = u->found.items[at - 1].next) {
    unified *item = &u->found.items[at - 1];
    if (item->hash == hash && tvms_node_equal(u->run->context, item->value, value))
      return item;
  }
  return NULL;
}

static void unify_binding(void *self, const tvms_node *block, tvms_node *binding) {
  unifier *u = self;
  u->failed |= binding->kind == TVMS_NODE_MATCH_CAST;
  if (u->failed || !can_lift(&u->c, block, binding)) return;
  tvms_node *var = tvms_relax_binding_var(binding);
  put(&u->c.liftable, var);
  tvms_node *value = tvms_clone(u->unit, tvms_relax_binding_value(binding), &u->remap);
  uint64_t hash = tvms_node_hash(u->run->context, value);
  unified *same = find_unified(u, value, hash);
  if (same) {
    same->count++;
    tvms_node_map_put(&u->remap, var, tvms_relax_binding_var(same->binding));
    return;
  }
  uint32_t *first = &u->first[hash & u->mask];
  tvms_vec_push(u->c.memory, &u->found, ((unified){binding, value, hash, 1, *first}));
  *first = u->found.len;
  tvms_node_map_put(&u->remap, var, var);
}

static void count_binding(void *self, const tvms_node *block, tvms_node *binding) {
  (void)block;
  (void)binding;
  ++*(uint32_t *)self;
}

// A table with about as many places as there are bindings.
static void make_room(unifier *u, const tvms_node *const *functions, uint32_t count) {
  uint32_t bindings = 0, places = 16;
  for (uint32_t i = 0; i < count; i++)
    each_binding(functions[i], count_binding, &bindings);
  while (places < bindings && places <= UINT32_MAX / 4)
    places *= 2;
  u->first = tvms_arena_array(&u->unit->arena, uint32_t, places);
  memset(u->first, 0, places * sizeof *u->first);
  u->mask = places - 1;
}

// The variables of bindings that not all functions have are no longer common.
static void keep_common(unifier *u, tvms_relax_lift_plan *plan, uint32_t count,
                        tvms_node_map *common) {
  tvms_node_map shared;
  tvms_node_map_init(&shared, u->c.memory);
  for (uint32_t i = 0; i < u->found.len; i++) {
    if (u->found.items[i].count != count) continue;
    tvms_vec_push(u->c.memory, &plan->bindings, u->found.items[i].binding);
    put(&shared, tvms_relax_binding_var(u->found.items[i].binding));
  }
  tvms_list params = tvms_as_function(plan->function)->params;
  for (uint32_t i = plan->inputs; i < params.len; i++)
    put(&shared, params.items[i]);
  for (uint32_t i = 0; i < u->remap.cap; i++) {
    const tvms_node_pair *pair = &u->remap.pairs[i];
    if (!pair->key || pair->key->kind != TVMS_NODE_VAR) continue;
    bool kept =
        tvms_relax_is_symbol(pair->value) || tvms_node_map_get(&shared, pair->value);
    if (kept) tvms_node_map_put(common, pair->key, pair->value);
  }
  tvms_node_map_fini(&shared);
}

bool tvms_relax_lift_plan_common(tvms_relax_lift_plan *plan, tvms_pass_run *run,
                                 const tvms_node *const *functions, uint32_t count,
                                 tvms_node_map *common) {
  tvms_memory *memory = &run->context->memory;
  *plan = (tvms_relax_lift_plan){.function = functions[0]};
  plan->inputs = (uint32_t)tvms_relax_num_input(functions[0]);
  tvms_node_map_init(&plan->depends, memory);
  tvms_node_map_init(&plan->needed, memory);
  unifier u = {.c.memory = memory, .run = run};
  u.unit = tvms_functions_open_unit(run);
  tvms_node_map_init(&u.c.liftable, memory);
  tvms_node_map_init(&u.remap, memory);
  make_room(&u, functions, count);
  bool fine = true;
  for (uint32_t i = 0; i < count && fine; i++)
    fine = map_weights(&u, functions[i], functions[0]);
  for (uint32_t i = 0; i < count && fine; i++) {
    each_binding(functions[i], unify_binding, &u);
    if (u.failed) fine = refuse(&u, functions[i], "it has a match_cast");
  }
  if (fine) keep_common(&u, plan, count, common);
  tvms_functions_drop_unit(run, u.unit);
  tvms_node_map_fini(&u.c.liftable);
  tvms_node_map_fini(&u.remap);
  tvms_vec_fini(memory, &u.found);
  return fine;
}

static void join(tvms_node_map *all, const tvms_node_map *set,
                 const tvms_node_map *common) {
  for (uint32_t i = 0; i < set->cap; i++) {
    const tvms_node_pair *pair = &set->pairs[i];
    if (!pair->key) continue;
    tvms_node *known = tvms_node_map_get(common, pair->key);
    put(all, known ? known : pair->value);
  }
}

void tvms_relax_lift_plan_join(tvms_relax_lift_plan *all,
                               const tvms_relax_lift_plan *plan,
                               const tvms_node_map *common) {
  join(&all->depends, &plan->depends, common);
  join(&all->needed, &plan->needed, common);
}
