// DataflowUseInplaceCalls: operators write over an argument that nobody needs any more.
//
// Before: lv = R.add(x, y); gv = R.nn.relu(lv)
// After:  lv = R.add(x, y)
//         gv = R.call_tir_inplace(cls.relu_inplace, (lv,), out_ty=…, inplace_indices=[0]), and a
//         private PrimFunc relu_inplace
//
// It is done in dataflow blocks to the operators of inplace.def where an argument has the shape and
// the data type of the result, was made in the block, is used no more behind the call, and shares
// memory with nothing that is (aliases.h); of two such arguments the last is taken. A tuple that is
// needed later needs its fields, and so does a closure what it uses; TVM does not count that, and
// writes over values that are used again. With marked=true it is done to calls of PrimFuncs that say which argument
// they may write over (tvms.may_overwrite), to the result that they may, and not to operators. TVM: relax.transform.DataflowUseInplaceCalls.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/contract.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/relax/analysis/aliases.h"
#include "passes/relax/lower/legalized_call.h"
#include "passes/relax/make.h"
#include "passes/relax/mutator.h"
#include "passes/remarks.h"
#include "structinfo/definitions.h"
#include "structinfo/sinfo.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_relax_mutator mutator;
  tvms_memory *memory;
  tvms_relax_aliases aliases;
  // By id of a variable: the last binding of its block that uses it, the number of bindings for
  // one that is used behind the block.
  uint32_t *last;
  uint32_t *uses;    // by id of a variable: in the function, less those in its block
  uint32_t *chosen;  // by id of a call: the argument to write over + 1
  TVMS_VEC(uint32_t) needed;  // by place: the last binding that needs what is there
  const tvms_node *block;
  uint32_t at;  // the binding at hand
} inplace;

// Functions that are made on the way and are not called: PrimFuncs that write elsewhere.
typedef struct {
  TVMS_VEC(tvms_sym) names;
} leftovers;

static const bool fits[TVMS_OP_COUNT + 1] = {
#define INPLACE(op) [TVMS_R_##op] = true,
#include "passes/relax/lower/inplace.def"
};

// ---- Last uses ----

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  inplace *p = self;
  bool in_block = node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE
                  && node->id < p->aliases.ids
                  && p->aliases.entries[node->id].block == p->block;
  if (in_block && p->last[node->id] < p->at) p->last[node->id] = p->at;
  return TVMS_WALK_ON;
}

static tvms_walk_step count_use(void *self, tvms_node *node, tvms_field_role role) {
  inplace *p = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE && node->id < p->aliases.ids)
    p->uses[node->id]++;
  return TVMS_WALK_ON;
}

// Functions in a block have blocks of their own, where their variables are uncounted.
static tvms_walk_step uncount_use(void *self, tvms_node *node, tvms_field_role role) {
  inplace *p = self;
  if (node->kind == TVMS_NODE_FUNCTION) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE && node->id < p->aliases.ids)
    p->uses[node->id]--;
  return TVMS_WALK_ON;
}

// What a tuple holds that is only seen behind the block, and not used there, is not needed.
static bool is_used_behind(const inplace *p, const tvms_node *var) {
  return !(var->flags & TVMS_FLAG_DATAFLOW) && p->uses[var->id] > 0;
}

// Taking an item uses no memory: its own uses count, and tvms_relax_aliases_of knows its place.
static void find_last_uses(inplace *p, tvms_list bindings) {
  tvms_visitor visitor = {.self = p, .enter = note_use};
  for (uint32_t i = 0; i < bindings.len; i++) {
    const tvms_node *var = tvms_relax_binding_var(bindings.items[i]);
    p->last[var->id] = is_used_behind(p, var) ? bindings.len : i;
  }
  for (p->at = 0; p->at < bindings.len; p->at++) {
    tvms_node *value = tvms_relax_binding_value(bindings.items[p->at]);
    if (value->kind != TVMS_NODE_TUPLE_GET_ITEM) tvms_walk(p->memory, value, &visitor);
  }
  p->needed.len = 0;
  for (uint32_t i = 0; i < p->aliases.places.len; i++)
    tvms_vec_push(p->memory, &p->needed, 0);
  for (uint32_t i = 0; i < bindings.len; i++) {
    const tvms_node *var = tvms_relax_binding_var(bindings.items[i]);
    tvms_alias_set set = tvms_relax_aliases_of(&p->aliases, var);
    // Where something else may be, nothing is written over.
    (void)!tvms_relax_aliases_reach(&p->aliases, set);
    bool seen = !(var->flags & TVMS_FLAG_DATAFLOW);
    for (uint32_t k = 0; k < p->aliases.found.len; k++) {
      uint32_t *needed = &p->needed.items[p->aliases.found.items[k]];
      uint32_t until = seen && k < set.count ? bindings.len : p->last[var->id];
      if (*needed < until) *needed = until;
    }
  }
}

// ---- Which argument ----

static const tvms_sinfo_tensor *TVMS_NULLABLE known_tensor(const tvms_node *type) {
  if (!tvms_sinfo_is_tensor(type) || tvms_dtype_is_void(type->dtype)) return NULL;
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(type);
  return tensor->shape && tensor->shape->kind == TVMS_NODE_SHAPE_EXPR ? tensor : NULL;
}

static bool same_form(inplace *p, const tvms_node *a, const tvms_node *b) {
  const tvms_sinfo_tensor *x = known_tensor(a), *y = known_tensor(b);
  if (!x || !y || !tvms_dtype_same(a->dtype, b->dtype)) return false;
  tvms_list left = tvms_as_shape_expr(x->shape)->values;
  tvms_list right = tvms_as_shape_expr(y->shape)->values;
  if (left.len != right.len) return false;
  for (uint32_t i = 0; i < left.len; i++)
    if (!tvms_dim_equal(&p->mutator.prover, left.items[i], right.items[i]))
      return false;
  return true;
}

static bool is_free(inplace *p, tvms_list args, uint32_t index) {
  const tvms_node *arg = args.items[index];
  tvms_alias_set set = tvms_relax_aliases_of(&p->aliases, arg);
  if (set.unknown) return false;
  for (uint32_t i = 0; i < args.len; i++) {
    const tvms_node *other = args.items[i];
    if (other != arg
        && tvms_relax_aliases_meet(set, tvms_relax_aliases_of(&p->aliases, other)))
      return false;
  }
  if (!tvms_relax_aliases_reach(&p->aliases, set)) return false;
  for (uint32_t k = 0; k < p->aliases.found.len; k++)
    if (p->needed.items[p->aliases.found.items[k]] > p->at) return false;
  return true;
}

// The argument that a call of a PrimFunc may write over + 1; 0: none.
static uint32_t marked(const inplace *p, const tvms_node *value) {
  if (tvms_op_called(value) != TVMS_R_call_tir) return 0;
  const tvms_call *call = tvms_as_call(value);
  const tvms_member *member =
      tvms_module_named(p->mutator.run->module, call->args.items[0]);
  const tvms_node *function = member ? member->function : NULL;
  if (!function || function->kind != TVMS_NODE_PRIM_FUNC || call->args.len != 2
      || call->args.items[1]->kind != TVMS_NODE_TUPLE)
    return 0;
  int64_t place;
  const tvms_node *over =
      tvms_object_map_get(tvms_as_prim_func(function)->attrs, TVMS_CONTRACT_OVER);
  uint32_t count = tvms_as_tuple(call->args.items[1])->fields.len;
  bool known = over && tvms_object_as_int(over, &place) && place >= 0 && place < count
               && tvms_as_prim_func(function)->params.len == count + 1;
  return known ? (uint32_t)place + 1 : 0;
}

// The same argument in two places is read while it is written over.
static bool is_once(tvms_list args, uint32_t index) {
  for (uint32_t i = 0; i < args.len; i++)
    if (i != index && args.items[i] == args.items[index]) return false;
  return true;
}

static void choose_marked(inplace *p, const tvms_node *binding) {
  const tvms_node *value = tvms_relax_binding_value(binding);
  uint32_t chosen = marked(p, value);
  if (!chosen) return;
  tvms_list args = tvms_as_tuple(tvms_as_call(value)->args.items[1])->fields;
  const tvms_node *arg = args.items[chosen - 1];
  const tvms_node *type = tvms_relax_binding_var(binding)->sinfo;
  bool fine = arg->kind == TVMS_NODE_VAR && same_form(p, type, arg->sinfo)
              && is_once(args, chosen - 1) && is_free(p, args, chosen - 1);
  if (fine) p->chosen[value->id] = chosen;
}

static void choose(inplace *p, const tvms_node *binding) {
  if (binding->kind != TVMS_NODE_VAR_BINDING) return;
  if (TVMS_OPTION(p->mutator.run, DataflowUseInplaceCalls, marked).number) {
    choose_marked(p, binding);
    return;
  }
  const tvms_node *value = tvms_relax_binding_value(binding);
  tvms_opcode opcode = tvms_op_called(value);
  if (opcode == TVMS_R_NONE || !fits[opcode]) return;
  const tvms_call *call = tvms_as_call(value);
  const tvms_node *type = tvms_relax_binding_var(binding)->sinfo;
  for (uint32_t i = call->args.len; i > 0; i--) {
    const tvms_node *arg = call->args.items[i - 1];
    if (arg->kind != TVMS_NODE_VAR || !same_form(p, type, arg->sinfo)) continue;
    if (!is_free(p, call->args, i - 1)) continue;
    p->chosen[value->id] = i;
    return;
  }
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  inplace *p = ((tvms_relax_mutator *)r->self)->self;
  if (!(node->flags & TVMS_FLAG_DATAFLOW)) return TVMS_REWRITE_BELOW;
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  p->block = node;
  tvms_relax_aliases_look(&p->aliases, node);
  tvms_visitor visitor = {.self = p, .enter = uncount_use};
  tvms_walk(p->memory, node, &visitor);
  find_last_uses(p, bindings);
  for (p->at = 0; p->at < bindings.len; p->at++)
    choose(p, bindings.items[p->at]);
  return TVMS_REWRITE_BELOW;
}

// ---- The PrimFunc ----

static tvms_list without(tvms_list list, uint32_t index) {
  size_t behind = list.len - index - 1;
  memmove(list.items + index, list.items + index + 1, behind * sizeof *list.items);
  return (tvms_list){list.items, list.len - 1};
}

// A PrimFunc whose result is parameter `result`, which writes over parameter `index` instead.
static tvms_node *write_over(tvms_unit *unit, const tvms_node *function,
                             uint32_t result, uint32_t index) {
  const tvms_prim_func *old = tvms_as_prim_func(function);
  tvms_node_map known;
  tvms_node_map_init(&known, &unit->context->memory);
  tvms_node *param = tvms_clone(unit, old->params.items[index], &known);
  tvms_node *buffer = tvms_clone(unit, old->buffers.items[index], &known);
  tvms_node_map_put(&known, old->params.items[result], param);
  tvms_node_map_put(&known, old->buffers.items[result], buffer);
  tvms_node_map_put(&known, tvms_as_buffer(old->buffers.items[result])->data,
                    tvms_as_buffer(buffer)->data);
  tvms_node *made = tvms_clone(unit, function, &known);
  tvms_node_map_fini(&known);
  tvms_prim_func *prim = tvms_as_prim_func(made);
  prim->params = without(prim->params, result);
  prim->buffers = without(prim->buffers, result);
  return made;
}

// Adds a function under the name of the one that writes elsewhere and a suffix.
static tvms_sym add_beside(tvms_pass_run *run, const char *text, tvms_unit *unit,
                           tvms_node *function) {
  size_t room = strlen(text) + sizeof "_inplace";
  char *name = tvms_arena_alloc(&run->context->scratch, room);
  snprintf(name, room, "%s_inplace", text);
  return tvms_functions_add_unique(run, name, unit, function);
}

static tvms_sym add_function(tvms_pass_run *run, tvms_legalized *legalized,
                             tvms_unit *unit, uint32_t index) {
  leftovers *left = run->state;
  tvms_unit *own = tvms_functions_open_unit(run);
  // Sizes stand behind the result, if at all.
  uint32_t params = tvms_as_prim_func(legalized->function)->params.len;
  uint32_t result = params - 1 - legalized->sizes.len;
  tvms_node *function = write_over(own, legalized->function, result, index);
  uint32_t before = run->module->member_count;
  // The names of both are drawn: the one that writes elsewhere goes at the end.
  tvms_sym other =
      tvms_functions_add_unique(run, legalized->name, unit, legalized->function);
  if (run->module->member_count > before)
    tvms_vec_push(&run->context->memory, &left->names, other);
  return add_beside(run, tvms_symbol_text(run->context, other), own, function);
}

// Constants are no arguments of the PrimFunc.
static uint32_t place_of(tvms_list args, const tvms_node *arg) {
  uint32_t place = args.len;
  while (place > 0 && args.items[place - 1] != arg)
    place--;
  return place - 1;
}

static void set_in_place(tvms_unit *unit, tvms_call *call, uint32_t index) {
  call->callee = tvms_op_operator_new(unit, TVMS_R_call_tir_inplace);
  tvms_node *place = tvms_object_int_new(unit, index, call->head.span);
  tvms_node *places = tvms_object_array_new(unit, &place, 1, call->head.span);
  call->attrs = tvms_list_copy(unit, &places, 1);
}

// A call of the function that writes over this argument.
static tvms_node *over_marked(tvms_relax_mutator *m, const tvms_node *node,
                              uint32_t index) {
  tvms_node *made = tvms_node_copy(m->unit, node);
  tvms_call *call = tvms_as_call(made);
  const tvms_member *member = tvms_module_named(m->run->module, call->args.items[0]);
  tvms_unit *own = tvms_functions_open_unit(m->run);
  uint32_t result = tvms_as_tuple(call->args.items[1])->fields.len;
  tvms_node *function = write_over(own, member->function, result, index);
  tvms_prim_func *f = tvms_as_prim_func(function);
  f->attrs = tvms_object_map_with(own, f->attrs, TVMS_CONTRACT_OVER, NULL);
  tvms_sym name = add_beside(m->run, tvms_symbol_text(m->run->context, member->name),
                             own, function);
  call->args = tvms_list_copy(m->unit, call->args.items, call->args.len);
  call->args.items[0] = tvms_relax_make_global_var(m->unit, name);
  set_in_place(m->unit, call, index);
  return made;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  const inplace *p = m->self;
  uint32_t chosen = r->old->id < p->aliases.ids ? p->chosen[r->old->id] : 0;
  node = tvms_relax_leave_call(r, node);
  if (!chosen) return node;
  tvms_pass_count(m->run, "calls in place", 1);
  if (tvms_op_called(node) == TVMS_R_call_tir) return over_marked(m, node, chosen - 1);
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  tvms_legalized legalized = {0};
  if (!tvms_legalize_call(unit, m->unit, call, &legalized)) {
    tvms_functions_drop_unit(m->run, unit);
    return node;
  }
  uint32_t index = place_of(legalized.args, call->args.items[chosen - 1]);
  tvms_sym name = add_function(m->run, &legalized, unit, index);
  tvms_node *made = tvms_relax_call_legalized(m->unit, call, name, &legalized);
  set_in_place(m->unit, tvms_as_call(made), index);
  return made;
}

static uint32_t *zeros(inplace *p) {
  size_t size = p->aliases.ids * sizeof(uint32_t);
  return memset(tvms_memory_alloc(p->memory, size + 1), 0, size);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  inplace p = {.memory = &run->context->memory};
  tvms_relax_aliases_init(&p.aliases, unit);
  p.last = zeros(&p);
  p.uses = zeros(&p);
  p.chosen = zeros(&p);
  tvms_visitor visitor = {.self = &p, .enter = count_use};
  tvms_walk(p.memory, function, &visitor);
  tvms_relax_mutator_init(&p.mutator, run, unit, &p);
  p.mutator.rewriter.enter[TVMS_NODE_BINDING_BLOCK] = enter_block;
  p.mutator.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  tvms_node *changed = tvms_relax_mutate(&p.mutator, function);
  tvms_relax_mutator_fini(&p.mutator);
  tvms_memory_free(p.memory, p.last);
  tvms_memory_free(p.memory, p.uses);
  tvms_memory_free(p.memory, p.chosen);
  tvms_vec_fini(p.memory, &p.needed);
  tvms_relax_aliases_fini(&p.aliases);
  return changed;
}

static void drop(tvms_pass_run *run, const leftovers *left) {
  tvms_module *module = run->module;
  size_t size = module->member_count * sizeof(bool);
  bool *dead = memset(tvms_memory_alloc(&run->context->memory, size + 1), 0, size);
  for (uint32_t i = 0; i < left->names.len; i++)
    dead[tvms_module_find(module, left->names.items[i]) - module->members] = true;
  tvms_functions_remove(run, dead);
  tvms_memory_free(&run->context->memory, dead);
}

void tvms_pass_dataflow_use_inplace_calls(tvms_pass_run *run) {
  leftovers left = {0};
  void *outer = run->state;
  run->state = &left;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
  drop(run, &left);
  tvms_vec_fini(&run->context->memory, &left.names);
}
