// FuseAndUnpackContinuousTIRCalls: runs of calls of PrimFuncs become one call.
//
// Before: lv = R.call_tir(cls.add, (x, y), …); gv = R.call_tir(cls.relu, (lv,), …)
// After:  gv = R.call_tir(cls.fused_bulk_call, (x, y), …), and a PrimFunc fused_bulk_call that
//         calls add_unpacked and relu_unpacked directly, with pointers
//
// What only the run needs is allocated inside, and values that are never alive together share
// memory. After CallTIRRewrite runs of calls that write into tensors are taken as well: their
// tensors, allocated outside, are handed over. Symbolic sizes are passed as numbers where the
// types of the caller tell them (tir_call_sizes.c). Packed calls, branches, match_casts and the
// end of memory end a run. A note says of each run that it was taken, and of each call that was
// not, why. TVM has no such pass.
#include "ir/build.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/analysis/call_graph.h"
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/fuse/bulk_function.h"
#include "passes/relax/fuse/tir_call_sizes.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "passes/relax/make.h"
#include "passes/remarks.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

static tvms_memory *memory_of(const tvms_fuse_bulk_run *f) {
  return &f->in.run->context->memory;
}

static void say_left(const tvms_fuse_bulk_run *f, const tvms_node *binding,
                     const char *reason) {
  tvms_pass_count(f->in.run, "calls left", 1);
  tvms_pass_tell(f->in.run, TVMS_REMARK_MISSED, TVMS_D_call_left_alone, binding->span,
                 reason);
}

// ---- The run ----

static uint32_t find_tensor(const tvms_fuse_bulk_run *f, const tvms_node *var,
                            int64_t field) {
  for (uint32_t i = 0; i < f->items.len && field < 0; i++) {
    if (f->items.items[i].var == var) return f->items.items[i].tensor;
  }
  for (uint32_t i = f->tensors.len; i > 0; i--) {
    const tvms_fuse_bulk_tensor *t = &f->tensors.items[i - 1];
    if (t->var == var && t->field == field) return i - 1;
  }
  return UINT32_MAX;
}

// The sizes of a tensor: the callee's numbers, and otherwise what the type says.
static tvms_list shape_of(tvms_fuse_bulk_run *f, const tvms_node *like,
                          const tvms_node *type) {
  tvms_list shape = tvms_as_buffer(like)->shape, dims;
  bool known = tvms_sinfo_tensor_dims(type, &dims);
  tvms_list made = tvms_list_copy(f->in.unit, shape.items, shape.len);
  for (uint32_t i = 0; i < made.len && known; i++) {
    if (!tvms_node_is_int_imm(shape.items[i])) made.items[i] = dims.items[i];
  }
  return made;
}

static uint32_t add_tensor(tvms_fuse_bulk_run *f, tvms_fuse_bulk_tensor t,
                           const tvms_node *type) {
  t.shape = shape_of(f, t.like, type);
  t.last = TVMS_FUSE_BULK_NO_CALL;
  tvms_vec_push(memory_of(f), &f->tensors, t);
  return f->tensors.len - 1;
}

static void add_number(tvms_fuse_bulk_run *f, tvms_node *number) {
  tvms_vec_push(memory_of(f), &f->operands,
                ((tvms_fuse_bulk_operand){UINT32_MAX, number}));
}

static void add_operand(tvms_fuse_bulk_run *f, uint32_t at) {
  tvms_vec_push(memory_of(f), &f->operands, ((tvms_fuse_bulk_operand){at, NULL}));
  f->tensors.items[at].last = (int)f->calls.len;
}

static void add_argument(tvms_fuse_bulk_run *f, const tvms_node *buffer,
                         const tvms_fuse_passed *passed) {
  uint32_t at = find_tensor(f, passed->value, -1);
  for (uint32_t k = 0; k < f->items.len; k++)
    f->items.items[k].inside += f->items.items[k].var == passed->value;
  tvms_fuse_bulk_tensor t = {.var = passed->value, .field = -1, .like = buffer};
  add_operand(f, at == UINT32_MAX ? add_tensor(f, t, passed->type) : at);
}

static void add_result(tvms_fuse_bulk_run *f, tvms_node *var, int64_t field,
                       const tvms_node *buffer, const tvms_node *type) {
  tvms_fuse_bulk_tensor t = {.var = var, .field = field, .like = buffer, .made = true};
  add_operand(f, add_tensor(f, t, type));
}

// The sizes that the callee takes from its tensors in a packed call, as numbers.
static void add_sizes(tvms_fuse_bulk_run *f, const tvms_prim_func *function,
                      const tvms_fuse_passed_list *passed) {
  tvms_node_map values;
  tvms_node_map_init(&values, memory_of(f));
  tvms_node_vec sizes = {0};
  tvms_fuse_solve_sizes(&f->in, function, passed, &values);
  tvms_fuse_sizes_of(memory_of(f), function, &sizes);
  for (uint32_t i = 0; i < sizes.len; i++)
    add_number(f, tvms_node_map_get(&values, sizes.items[i]));
  tvms_vec_fini(memory_of(f), &sizes);
  tvms_node_map_fini(&values);
}

static void add_call(tvms_fuse_bulk_run *f, tvms_node *binding, const tvms_call *call,
                     uint32_t callee, bool in_place) {
  const tvms_prim_func *function =
      tvms_as_prim_func(f->in.run->module->members[callee].function);
  tvms_fuse_passed_list passed = {0};
  tvms_fuse_tir_call_passed(&f->in, call, in_place, &passed);
  tvms_fuse_bulk_call added = {
      .binding = binding, .callee = callee, .first = f->operands.len};
  bool tuple = !in_place && call->type_args.items[0]->kind == TVMS_NODE_SINFO_TUPLE;
  int64_t field = 0;
  for (uint32_t i = 0; i < passed.len; i++) {
    const tvms_fuse_passed *p = &passed.items[i];
    const tvms_node *buffer = function->buffers.items[i];
    if (!buffer)
      add_number(f, p->value);
    else if (p->value)
      add_argument(f, buffer, p);
    else
      add_result(f, tvms_as_var_binding(binding)->var, tuple ? field++ : -1, buffer,
                 p->type);
  }
  add_sizes(f, function, &passed);
  tvms_vec_fini(memory_of(f), &passed);
  added.count = f->operands.len - added.first;
  tvms_vec_push(memory_of(f), &f->calls, added);
  f->in_place = in_place;
}

static bool is_used(const tvms_fuse_bulk_run *f, const tvms_node *var,
                    uint32_t inside) {
  return !(var->flags & TVMS_FLAG_DATAFLOW)
         || tvms_relax_definitions_of(f->in.definitions, var).uses > inside;
}

// Is the tuple that a call gave used as a whole, or a field of it behind the run?
static bool is_tuple_used(const tvms_fuse_bulk_run *f, const tvms_node *var) {
  uint32_t taken = 0;
  for (uint32_t i = 0; i < f->items.len; i++)
    taken += f->tensors.items[f->items.items[i].tensor].var == var;
  return is_used(f, var, taken);
}

static bool is_item_used(const tvms_fuse_bulk_run *f, uint32_t at) {
  for (uint32_t i = 0; i < f->items.len; i++) {
    const tvms_fuse_bulk_item *item = &f->items.items[i];
    if (item->tensor == at && is_used(f, item->var, item->inside)) return true;
  }
  return false;
}

// Which tensors are needed behind the run.
static void find_leaving(tvms_fuse_bulk_run *f) {
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    tvms_fuse_bulk_tensor *t = &f->tensors.items[i];
    if (!t->made) continue;
    uint32_t operands = 0;
    for (uint32_t k = 0; k < f->operands.len; k++) {
      const tvms_fuse_bulk_operand *o = &f->operands.items[k];
      operands += !o->number && o->tensor == i;
    }
    // One of the operands is the result itself.
    t->leaves = t->field < 0 ? is_used(f, t->var, operands - 1)
                             : is_tuple_used(f, t->var) || is_item_used(f, i);
  }
}

// ---- The call of a run ----

static void push_binding(tvms_fuse_bulk_run *f, tvms_node *var, tvms_node *value) {
  tvms_var_binding *binding = tvms_node_make(f->in.unit, VAR_BINDING, value->span);
  binding->value = value;
  binding->var = var;
  tvms_vec_push(memory_of(f), &f->made, &binding->head);
}

static tvms_node *item_of(tvms_fuse_bulk_run *f, tvms_node *tuple, uint32_t index) {
  tvms_tuple_get_item *item = tvms_node_make(f->in.unit, TUPLE_GET_ITEM, tuple->span);
  item->tuple = tuple;
  item->index = index;
  item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
  return &item->head;
}

static tvms_node *type_of(const tvms_fuse_bulk_tensor *t) {
  return t->field < 0 ? t->var->sinfo
                      : tvms_as_sinfo_tuple(t->var->sinfo)->fields.items[t->field];
}

// Binds the names of a field that are used behind the run; returns the variable that has it.
static tvms_node *bind_field(tvms_fuse_bulk_run *f, uint32_t at, tvms_node *all,
                             tvms_node *value) {
  tvms_node *first = NULL;
  for (uint32_t i = 0; i < f->items.len; i++) {
    const tvms_fuse_bulk_item *item = &f->items.items[i];
    if (item->tensor != at || !is_used(f, item->var, item->inside)) continue;
    push_binding(f, item->var, first ? first : value);
    if (!first) first = item->var;
  }
  if (first) return first;
  tvms_node *field = tvms_var_like(f->in.unit, all);
  field->sinfo = value->sinfo;
  push_binding(f, field, value);
  return field;
}

// Gives the variables of the run that are needed behind it their values: items of `all`.
static void bind_results(tvms_fuse_bulk_run *f, tvms_node *all) {
  uint32_t next = 0;
  tvms_node_vec fields = {0};
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const tvms_fuse_bulk_tensor *t = &f->tensors.items[i];
    if (!t->made || !t->leaves) continue;
    tvms_node *var = (tvms_node *)(uintptr_t)t->var;
    tvms_node *item = item_of(f, all, next++);
    if (t->field < 0) {
      push_binding(f, var, item);
      continue;
    }
    tvms_node *field = bind_field(f, i, all, item);
    if (!is_tuple_used(f, var)) continue;
    tvms_vec_push(memory_of(f), &fields, field);
    if (fields.len < tvms_as_sinfo_tuple(var->sinfo)->fields.len) continue;
    tvms_tuple *tuple = tvms_node_make(f->in.unit, TUPLE, var->span);
    tuple->fields = tvms_list_copy(f->in.unit, fields.items, fields.len);
    tuple->head.sinfo = var->sinfo;
    push_binding(f, var, &tuple->head);
    fields.len = 0;
  }
  tvms_vec_fini(memory_of(f), &fields);
}

static void write_call_tir(tvms_fuse_bulk_run *f, tvms_sym name, tvms_list args) {
  tvms_node_vec types = {0};
  tvms_node *only = NULL;
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const tvms_fuse_bulk_tensor *t = &f->tensors.items[i];
    if (!t->made || !t->leaves) continue;
    tvms_vec_push(memory_of(f), &types, type_of(t));
    only = t->field < 0 ? (tvms_node *)(uintptr_t)t->var : NULL;
  }
  tvms_span span = f->calls.items[f->calls.len - 1].binding->span;
  bool single = types.len == 1 && only;
  tvms_node *type = single ? types.items[0]
                           : tvms_sinfo_tuple_new(f->in.unit, types.items, types.len);
  tvms_node *call = tvms_relax_make_call_tir(f->in.unit, name, args, type, span);
  if (single) {
    push_binding(f, only, call);
  } else {
    tvms_sym lv = tvms_symbol_intern(f->in.run->context, "lv", 2);
    tvms_node *all = tvms_var_new(f->in.unit, lv, (tvms_dtype){0}, span);
    all->flags |= TVMS_FLAG_DATAFLOW;
    all->sinfo = type;
    push_binding(f, all, call);
    bind_results(f, all);
  }
  tvms_vec_fini(memory_of(f), &types);
}

static void write_run(tvms_fuse_bulk_run *f) {
  find_leaving(f);
  tvms_sym name = tvms_fuse_bulk_function_add(f);
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const tvms_fuse_bulk_tensor *t = &f->tensors.items[i];
    if (!t->made) tvms_vec_push(memory_of(f), &args, (tvms_node *)(uintptr_t)t->var);
  }
  for (uint32_t i = 0; i < f->symbols.len; i++)
    tvms_vec_push(memory_of(f), &args,
                  tvms_relax_make_prim_value(f->in.unit, f->symbols.items[i]));
  tvms_node *last = f->calls.items[f->calls.len - 1].binding;
  tvms_pass_count(f->in.run, "runs", 1);
  tvms_pass_count(f->in.run, "calls in runs", f->calls.len);
  tvms_pass_tell(f->in.run, TVMS_REMARK_PASSED, TVMS_D_calls_became_one, last->span,
                 f->calls.len, tvms_symbol_text(f->in.run->context, name));
  if (!f->in_place) {
    write_call_tir(f, name, (tvms_list){args.items, args.len});
  } else {
    for (uint32_t i = 0; i < f->bindings.len; i++) {
      uint32_t member;
      bool in_place;
      if (!tvms_fuse_tir_call_of(&f->in, f->bindings.items[i], &member, &in_place))
        tvms_vec_push(memory_of(f), &f->made, f->bindings.items[i]);
    }
    tvms_node *call = tvms_call_new(f->in.unit, (tvms_dtype){0},
                                    tvms_relax_make_global_var(f->in.unit, name),
                                    args.items, args.len, last->span);
    call->sinfo = tvms_as_var_binding(last)->value->sinfo;
    tvms_node *copy = tvms_node_copy(f->in.unit, last);
    tvms_as_var_binding(copy)->value = call;
    tvms_vec_push(memory_of(f), &f->made, copy);
  }
  tvms_vec_fini(memory_of(f), &args);
}

static void end_run(tvms_fuse_bulk_run *f, const char *why) {
  if (f->calls.len > 1) {
    write_run(f);
  } else {
    if (f->calls.len == 1) say_left(f, f->calls.items[0].binding, why);
    for (uint32_t i = 0; i < f->bindings.len; i++)
      tvms_vec_push(memory_of(f), &f->made, f->bindings.items[i]);
  }
  f->calls.len = f->operands.len = f->tensors.len = f->bindings.len = 0;
  f->items.len = f->symbols.len = 0;
}

// ---- The pass ----

// Allocations and copies of names may stand between calls that write into tensors: they need
// nothing of them.
static bool stays_between(const tvms_fuse_bulk_run *f, const tvms_node *binding) {
  if (!f->in_place || binding->kind != TVMS_NODE_VAR_BINDING) return false;
  const tvms_node *value = tvms_as_var_binding(binding)->value;
  if (value->kind == TVMS_NODE_VAR) return true;
  if (value->kind != TVMS_NODE_CALL) return false;
  tvms_opcode op = tvms_op_called(value);
  return op == TVMS_R_memory_alloc_tensor || op == TVMS_R_memory_alloc_storage
         || op == TVMS_R_builtin_alloc_tensor;
}

// A field of a result of the run is taken inside of it.
static bool takes_item(tvms_fuse_bulk_run *f, const tvms_node *binding) {
  if (f->in_place || binding->kind != TVMS_NODE_VAR_BINDING) return false;
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  if (bound->value->kind != TVMS_NODE_TUPLE_GET_ITEM) return false;
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(bound->value);
  uint32_t at = item->tuple->kind == TVMS_NODE_VAR && item->index >= 0
                    ? find_tensor(f, item->tuple, item->index)
                    : UINT32_MAX;
  if (at == UINT32_MAX) return false;
  tvms_vec_push(memory_of(f), &f->items, ((tvms_fuse_bulk_item){bound->var, at, 0}));
  return true;
}

static const char alone[] = "there is no other call of a PrimFunc next to it";

static void look_at(tvms_fuse_bulk_run *f, tvms_node *binding, bool dataflow) {
  uint32_t callee = 0;
  bool in_place = false;
  const tvms_call *call = tvms_fuse_tir_call_of(&f->in, binding, &callee, &in_place);
  const char *why =
      call ? tvms_fuse_tir_call_obstacle(&f->in, binding, call, callee, in_place)
           : NULL;
  if (call && !in_place && !dataflow) why = "it is in no dataflow block";
  if (call && !why) {
    if (f->calls.len && f->in_place != in_place) end_run(f, alone);
    add_call(f, binding, call, callee, in_place);
    tvms_vec_push(memory_of(f), &f->bindings, binding);
    return;
  }
  if (f->calls.len && (stays_between(f, binding) || takes_item(f, binding))) {
    tvms_vec_push(memory_of(f), &f->bindings, binding);
    return;
  }
  end_run(f, alone);
  if (why) say_left(f, binding, why);
  tvms_vec_push(memory_of(f), &f->made, binding);
}

static tvms_node *fuse_block(tvms_rewriter *r, tvms_node *node) {
  tvms_fuse_bulk_run *f = r->self;
  tvms_list old = tvms_as_binding_block(node)->bindings;
  f->made.len = 0;
  for (uint32_t i = 0; i < old.len; i++)
    look_at(f, old.items[i], node->flags & TVMS_FLAG_DATAFLOW);
  end_run(f, alone);
  bool same =
      f->made.len == old.len
      && (old.len == 0
          || memcmp(f->made.items, old.items, old.len * sizeof *old.items) == 0);
  if (same) return node;
  tvms_node *made = tvms_node_copy(r->unit, node);
  tvms_as_binding_block(made)->bindings =
      tvms_list_copy(r->unit, f->made.items, f->made.len);
  return made;
}

static tvms_node *fuse_function(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  if (tvms_relax_is_primitive(function)) return function;
  tvms_relax_definitions definitions;
  tvms_relax_definitions_init(&definitions, unit, function);
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  tvms_fuse_bulk_run f = {.in = {run, unit, &definitions, &prover, NULL}};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &f);
  rewriter.leave[TVMS_NODE_BINDING_BLOCK] = fuse_block;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_definitions_fini(&definitions);
  tvms_prover_fini(&prover);
  tvms_vec_fini(memory_of(&f), &f.made);
  tvms_vec_fini(memory_of(&f), &f.calls);
  tvms_vec_fini(memory_of(&f), &f.operands);
  tvms_vec_fini(memory_of(&f), &f.tensors);
  tvms_vec_fini(memory_of(&f), &f.items);
  tvms_vec_fini(memory_of(&f), &f.symbols);
  tvms_vec_fini(memory_of(&f), &f.bindings);
  return result;
}

void tvms_pass_fuse_and_unpack_continuous_tir_calls(tvms_pass_run *run) {
  uint32_t before = run->module->member_count;
  bool *called = tvms_relax_call_graph_called(run->module);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, fuse_function);
  if (run->changed) tvms_fuse_drop_packed(run, called, before);
  tvms_memory_free(&run->context->memory, called);
}
