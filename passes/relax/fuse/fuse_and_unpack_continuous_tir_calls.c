// FuseAndUnpackContinuousTIRCalls: runs of calls of PrimFuncs become one call.
//
// Before: lv = R.call_tir(cls.add, (x, y), …); gv = R.call_tir(cls.relu, (lv,), …)
// After:  gv = R.call_tir(cls.fused_bulk_call, (x, y), …), and a PrimFunc fused_bulk_call that
//         calls add_unpacked and relu_unpacked directly, with pointers
//
// What only the run needs is allocated inside, and values that are never alive together share
// memory. After CallTIRRewrite runs of calls that write into tensors are taken as well: their
// tensors, allocated outside, are handed over. Packed calls, branches, match_casts and the
// end of memory end a run; sizes must be numbers. A note says of each run that it was taken,
// and of each call that was not, why. TVM has no such pass.
#include "ir/build.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/analysis/call_graph.h"
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/fuse/tir_call.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

enum { NO_CALL = -1 };

// A tensor that a run works on.
typedef struct {
  const tvms_node *var;   // of Relax, whose value it is …
  int64_t field;          // … or a field of it; -1: all of it
  const tvms_node *like;  // buffer of the first callee that is given it
  bool made;              // by a call of the run that gives a new tensor
  bool leaves;            // used outside of the run, too
  int last;               // call of the run that uses it last
  tvms_node *buffer;      // in the PrimFunc of the run
} tensor;

// What a call of the run passes for one parameter of its callee.
typedef struct {
  uint32_t tensor;                    // of the run …
  tvms_node *TVMS_NULLABLE constant;  // … or a number
} operand;

// A variable that is bound to a field of a result of the run.
typedef struct {
  tvms_node *var;
  uint32_t tensor;
  uint32_t inside;  // uses by calls of the run
} item_name;

typedef struct {
  tvms_node *binding;
  uint32_t callee;  // member
  uint32_t first;   // operand
  uint32_t count;
} run_call;

typedef struct {
  tvms_fuse_caller in;
  tvms_node_vec made;  // bindings of the block being made
  // The run at hand:
  TVMS_VEC(run_call) calls;
  TVMS_VEC(operand) operands;
  TVMS_VEC(tensor) tensors;
  TVMS_VEC(item_name) items;
  tvms_node_vec bindings;  // calls and what stands between them
  bool in_place;           // its calls write into tensors that they are given
} fusion;

static tvms_memory *memory_of(const fusion *f) {
  return &f->in.run->context->memory;
}

static void say_left(const fusion *f, const tvms_node *binding, const char *reason) {
  tvms_diag_report(&f->in.run->context->diags, TVMS_D_call_left_alone, binding->span,
                   reason);
}

// ---- The run ----

static uint32_t find_tensor(const fusion *f, const tvms_node *var, int64_t field) {
  for (uint32_t i = 0; i < f->items.len && field < 0; i++) {
    if (f->items.items[i].var == var) return f->items.items[i].tensor;
  }
  for (uint32_t i = f->tensors.len; i > 0; i--) {
    const tensor *t = &f->tensors.items[i - 1];
    if (t->var == var && t->field == field) return i - 1;
  }
  return UINT32_MAX;
}

static uint32_t add_tensor(fusion *f, const tvms_node *var, int64_t field,
                           const tvms_node *like, bool made) {
  tensor t = {.var = var, .field = field, .like = like, .made = made, .last = NO_CALL};
  tvms_vec_push(memory_of(f), &f->tensors, t);
  return f->tensors.len - 1;
}

static void add_operand(fusion *f, uint32_t at, tvms_node *TVMS_NULLABLE constant) {
  tvms_vec_push(memory_of(f), &f->operands, ((operand){at, constant}));
  if (!constant) f->tensors.items[at].last = (int)f->calls.len;
}

static void add_call(fusion *f, tvms_node *binding, const tvms_call *call,
                     uint32_t callee, bool in_place) {
  const tvms_prim_func *function =
      tvms_as_prim_func(f->in.run->module->members[callee].function);
  tvms_list args = tvms_fuse_tir_call_args(call, in_place);
  run_call added = {.binding = binding, .callee = callee, .first = f->operands.len};
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_node *arg = tvms_fuse_tir_call_original(&f->in, args.items[i]);
    const tvms_node *buffer = function->buffers.items[i];
    uint32_t at = UINT32_MAX;
    if (buffer) at = find_tensor(f, arg, -1);
    for (uint32_t k = 0; buffer && k < f->items.len; k++)
      f->items.items[k].inside += f->items.items[k].var == arg;
    if (buffer && at == UINT32_MAX) at = add_tensor(f, arg, -1, buffer, false);
    if (!buffer && arg->kind == TVMS_NODE_PRIM_VALUE)
      arg = tvms_as_prim_value(arg)->value;
    add_operand(f, at, buffer ? NULL : arg);
  }
  const tvms_node *type = in_place ? NULL : call->type_args.items[0];
  bool tuple = type && type->kind == TVMS_NODE_SINFO_TUPLE;
  uint32_t results = in_place ? 0 : tvms_fuse_tir_call_results(&f->in, call).len;
  for (uint32_t i = 0; i < results; i++) {
    const tvms_node *buffer = function->buffers.items[args.len + i];
    uint32_t at = add_tensor(f, tvms_as_var_binding(binding)->var,
                             tuple ? (int64_t)i : -1, buffer, true);
    add_operand(f, at, NULL);
  }
  added.count = f->operands.len - added.first;
  tvms_vec_push(memory_of(f), &f->calls, added);
  f->in_place = in_place;
}

static bool is_used(const fusion *f, const tvms_node *var, uint32_t inside) {
  return !(var->flags & TVMS_FLAG_DATAFLOW)
         || tvms_relax_definitions_of(f->in.definitions, var).uses > inside;
}

// Is the tuple that a call gave used as a whole, or a field of it behind the run?
static bool is_tuple_used(const fusion *f, const tvms_node *var) {
  uint32_t taken = 0;
  for (uint32_t i = 0; i < f->items.len; i++)
    taken += f->tensors.items[f->items.items[i].tensor].var == var;
  return is_used(f, var, taken);
}

static bool is_item_used(const fusion *f, uint32_t at) {
  for (uint32_t i = 0; i < f->items.len; i++) {
    const item_name *item = &f->items.items[i];
    if (item->tensor == at && is_used(f, item->var, item->inside)) return true;
  }
  return false;
}

// Which tensors are needed behind the run.
static void find_leaving(fusion *f) {
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    tensor *t = &f->tensors.items[i];
    if (!t->made) continue;
    uint32_t operands = 0;
    for (uint32_t k = 0; k < f->operands.len; k++) {
      const operand *o = &f->operands.items[k];
      operands += !o->constant && o->tensor == i;
    }
    // One of the operands is the result itself.
    t->leaves = t->field < 0 ? is_used(f, t->var, operands - 1)
                             : is_tuple_used(f, t->var) || is_item_used(f, i);
  }
}

// ---- The PrimFunc of a run ----

// Memory for what only the run needs.
typedef struct {
  tvms_node_vec buffers;
  TVMS_VEC(int) busy_until;  // call that uses it last
} pool;

// A buffer of the pool that is free at the call and large enough, the smallest one; a new one
// if there is none.
static tvms_node *take_memory(fusion *f, tvms_unit *unit, pool *p, const tensor *t,
                              int call) {
  int64_t bytes = tvms_fuse_buffer_bytes(t->like), best_bytes = INT64_MAX;
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < p->buffers.len; i++) {
    tvms_dtype element = tvms_as_buffer(p->buffers.items[i])->element;
    bool free = p->busy_until.items[i] < call
                && tvms_dtype_same(element, tvms_as_buffer(t->like)->element);
    int64_t room = tvms_fuse_buffer_bytes(p->buffers.items[i]);
    if (free && room >= bytes && room < best_bytes) best = i, best_bytes = room;
  }
  if (best == UINT32_MAX) {
    char name[32];
    snprintf(name, sizeof name, "storage%u", p->buffers.len);
    tvms_vec_push(memory_of(f), &p->buffers,
                  tvms_fuse_dense_buffer(unit, t->like, name));
    tvms_vec_push(memory_of(f), &p->busy_until, t->last);
    best = p->buffers.len - 1;
  }
  p->busy_until.items[best] = t->last;
  return p->buffers.items[best];
}

static const char *name_of(const fusion *f, const tensor *t, char text[32],
                           uint32_t i) {
  if (t->var->kind == TVMS_NODE_VAR && t->field < 0)
    return tvms_symbol_text(f->in.run->context, tvms_as_var(t->var)->name);
  snprintf(text, 32, "t%u", i);
  return text;
}

// The direct call of one callee.
static tvms_node *direct_call(fusion *f, tvms_unit *unit, const run_call *call,
                              tvms_sym name) {
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < call->count; i++) {
    const operand *o = &f->operands.items[call->first + i];
    tvms_node *arg = o->constant
                         ? tvms_node_copy(unit, o->constant)
                         : tvms_as_buffer(f->tensors.items[o->tensor].buffer)->data;
    tvms_vec_push(memory_of(f), &args, arg);
  }
  tvms_node *value =
      tvms_call_new(unit, (tvms_dtype){0}, tvms_relax_make_global_var(unit, name),
                    args.items, args.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory_of(f), &args);
  return tvms_evaluate_new(unit, value, TVMS_NO_SPAN);
}

static tvms_node *with_memory(tvms_unit *unit, tvms_node *body, const pool *p) {
  if (p->buffers.len == 0) return body;
  tvms_block *root = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  root->name = tvms_bytes_copy(unit, "root", 4);
  root->alloc_buffers = tvms_list_copy(unit, p->buffers.items, p->buffers.len);
  root->body = body;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &root->head;
  return &realize->head;
}

// Buffers for all tensors; those from outside and those that leave are parameters, results
// last.
static void make_buffers(fusion *f, tvms_unit *unit, tvms_node_vec *params, pool *p) {
  char text[32];
  for (int results = 0; results < 2; results++) {
    for (uint32_t i = 0; i < f->tensors.len; i++) {
      tensor *t = &f->tensors.items[i];
      if (t->made ? !results || !t->leaves : results) continue;
      t->buffer = tvms_fuse_dense_buffer(unit, t->like, name_of(f, t, text, i));
      tvms_vec_push(memory_of(f), params, t->buffer);
    }
  }
  for (uint32_t c = 0; c < f->calls.len; c++) {
    const run_call *call = &f->calls.items[c];
    for (uint32_t i = 0; i < call->count; i++) {
      const operand *o = &f->operands.items[call->first + i];
      if (o->constant || f->tensors.items[o->tensor].buffer) continue;
      tensor *t = &f->tensors.items[o->tensor];
      t->buffer = take_memory(f, unit, p, t, (int)c);
    }
  }
}

// Adds the PrimFunc of the run and the functions that it calls; returns its name.
static tvms_sym make_function(fusion *f) {
  tvms_unit *unit = tvms_functions_open_unit(f->in.run);
  tvms_node_vec buffers = {0}, params = {0}, stmts = {0};
  pool p = {0};
  make_buffers(f, unit, &buffers, &p);
  for (uint32_t i = 0; i < f->calls.len; i++) {
    tvms_sym callee = tvms_fuse_unpack(f->in.run, f->calls.items[i].callee);
    tvms_vec_push(memory_of(f), &stmts,
                  direct_call(f, unit, &f->calls.items[i], callee));
  }
  for (uint32_t i = 0; i < buffers.len; i++) {
    tvms_sym name = tvms_as_buffer(buffers.items[i])->name;
    tvms_vec_push(memory_of(f), &params,
                  tvms_pointer_var_new(unit, name, (tvms_dtype){0}, 0, TVMS_NO_SPAN));
  }
  tvms_prim_func *made = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  made->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  made->params = tvms_list_copy(unit, params.items, params.len);
  made->buffers = tvms_list_copy(unit, buffers.items, buffers.len);
  made->body =
      with_memory(unit, tvms_seq_new(unit, stmts.items, stmts.len, TVMS_NO_SPAN), &p);
  tvms_vec_fini(memory_of(f), &buffers);
  tvms_vec_fini(memory_of(f), &params);
  tvms_vec_fini(memory_of(f), &stmts);
  tvms_vec_fini(memory_of(f), &p.buffers);
  tvms_vec_fini(memory_of(f), &p.busy_until);
  return tvms_functions_add_unique(f->in.run, "fused_bulk_call", unit, &made->head);
}

// ---- The call of a run ----

static void push_binding(fusion *f, tvms_node *var, tvms_node *value) {
  tvms_var_binding *binding = tvms_node_make(f->in.unit, VAR_BINDING, value->span);
  binding->value = value;
  binding->var = var;
  tvms_vec_push(memory_of(f), &f->made, &binding->head);
}

static tvms_node *item_of(fusion *f, tvms_node *tuple, uint32_t index) {
  tvms_tuple_get_item *item = tvms_node_make(f->in.unit, TUPLE_GET_ITEM, tuple->span);
  item->tuple = tuple;
  item->index = index;
  item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
  return &item->head;
}

static tvms_node *type_of(const tensor *t) {
  return t->field < 0 ? t->var->sinfo
                      : tvms_as_sinfo_tuple(t->var->sinfo)->fields.items[t->field];
}

// Binds the names of a field that are used behind the run; returns the variable that has it.
static tvms_node *bind_field(fusion *f, uint32_t at, tvms_node *all, tvms_node *value) {
  tvms_node *first = NULL;
  for (uint32_t i = 0; i < f->items.len; i++) {
    const item_name *item = &f->items.items[i];
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
static void bind_results(fusion *f, tvms_node *all) {
  uint32_t next = 0;
  tvms_node_vec fields = {0};
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const tensor *t = &f->tensors.items[i];
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

static void write_call_tir(fusion *f, tvms_sym name, tvms_list args) {
  tvms_node_vec types = {0};
  tvms_node *only = NULL;
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const tensor *t = &f->tensors.items[i];
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

static void write_run(fusion *f) {
  find_leaving(f);
  tvms_sym name = make_function(f);
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    const tensor *t = &f->tensors.items[i];
    if (!t->made) tvms_vec_push(memory_of(f), &args, (tvms_node *)(uintptr_t)t->var);
  }
  tvms_node *last = f->calls.items[f->calls.len - 1].binding;
  tvms_diag_report(&f->in.run->context->diags, TVMS_D_calls_became_one, last->span,
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

static void end_run(fusion *f, const char *why) {
  if (f->calls.len > 1) {
    write_run(f);
  } else {
    if (f->calls.len == 1) say_left(f, f->calls.items[0].binding, why);
    for (uint32_t i = 0; i < f->bindings.len; i++)
      tvms_vec_push(memory_of(f), &f->made, f->bindings.items[i]);
  }
  f->calls.len = f->operands.len = f->tensors.len = f->bindings.len = 0;
  f->items.len = 0;
}

// ---- The pass ----

// Allocations and copies of names may stand between calls that write into tensors: they need
// nothing of them.
static bool stays_between(const fusion *f, const tvms_node *binding) {
  if (!f->in_place || binding->kind != TVMS_NODE_VAR_BINDING) return false;
  const tvms_node *value = tvms_as_var_binding(binding)->value;
  if (value->kind == TVMS_NODE_VAR) return true;
  if (value->kind != TVMS_NODE_CALL) return false;
  tvms_opcode op = tvms_op_called(value);
  return op == TVMS_R_memory_alloc_tensor || op == TVMS_R_memory_alloc_storage
         || op == TVMS_R_builtin_alloc_tensor;
}

// A field of a result of the run is taken inside of it.
static bool takes_item(fusion *f, const tvms_node *binding) {
  if (f->in_place || binding->kind != TVMS_NODE_VAR_BINDING) return false;
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  if (bound->value->kind != TVMS_NODE_TUPLE_GET_ITEM) return false;
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(bound->value);
  uint32_t at = item->tuple->kind == TVMS_NODE_VAR && item->index >= 0
                    ? find_tensor(f, item->tuple, item->index)
                    : UINT32_MAX;
  if (at == UINT32_MAX) return false;
  tvms_vec_push(memory_of(f), &f->items, ((item_name){bound->var, at, 0}));
  return true;
}

static const char alone[] = "there is no other call of a PrimFunc next to it";

static void look_at(fusion *f, tvms_node *binding, bool dataflow) {
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
  fusion *f = r->self;
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
  fusion f = {.in = {run, unit, &definitions}};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &f);
  rewriter.leave[TVMS_NODE_BINDING_BLOCK] = fuse_block;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_definitions_fini(&definitions);
  tvms_vec_fini(memory_of(&f), &f.made);
  tvms_vec_fini(memory_of(&f), &f.calls);
  tvms_vec_fini(memory_of(&f), &f.operands);
  tvms_vec_fini(memory_of(&f), &f.tensors);
  tvms_vec_fini(memory_of(&f), &f.items);
  tvms_vec_fini(memory_of(&f), &f.bindings);
  return result;
}

// Removes private functions that were called before the pass and are not any more.
static void drop_packed(tvms_pass_run *run, const bool *called, uint32_t before) {
  tvms_module *module = run->module;
  tvms_memory *memory = &run->context->memory;
  bool *dead = tvms_memory_alloc(memory, module->member_count + 1);
  bool *now = tvms_relax_call_graph_called(module);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    bool private = function && function->kind == TVMS_NODE_PRIM_FUNC
                   && function->flags & TVMS_FLAG_PRIVATE;
    dead[i] = i < before && private && called[i] && !now[i];
  }
  tvms_functions_remove(run, dead);
  tvms_memory_free(memory, dead);
  tvms_memory_free(memory, now);
}

void tvms_pass_fuse_and_unpack_continuous_tir_calls(tvms_pass_run *run) {
  uint32_t before = run->module->member_count;
  bool *called = tvms_relax_call_graph_called(run->module);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, fuse_function);
  if (run->changed) drop_packed(run, called, before);
  tvms_memory_free(&run->context->memory, called);
}
