// LiftAllocations: memory that a function allocates is handed over by its callers.
//
// Before: def k(a: T.handle):            def main(x: …, workspace: T.Buffer((512,), "uint8")):
//             b = T.alloc_buffer((n,))       Module.k(x.data)
// After:  def k(a: T.handle, b_1: T.handle):
//             b = T.decl_buffer((n,), data=b_1)
//         def main(x: …, workspace: T.Buffer((512 + 4 * n,), "uint8")):
//             memory = T.decl_buffer((4 * n,), "uint8", data=T.address_of(workspace[512]))
//             Module.k(x.data, T.address_of(memory[0]))
//
// It comes behind LowerRelaxToTIR and the lowering of loops. A private function of pointers and
// numbers gets a parameter for each buffer that is too large for the stack; buffers of which one
// is not used any more when the other begins have one together. Its callers put these into
// memory of their own, calls one after the other into the same, and hand that up likewise, to
// the function that has a workspace: there memory lies where no tensor is that is still used. Where sizes are numbers, the
// tensors get other places if it takes less then (lift_pack.c). Sizes are expressions of the parameters, and not less
// than 0 where the memory may not be needed (a branch, a loop without steps). A size that is a formula becomes a number if
// it is small whatever it gives (lift_bound.c). What stays an allocation: in a parallel loop (each thread needs its own),
// of a size that is computed on the way, or whose division could fail where it is not needed, and in functions that call
// themselves. TVM has no such pass.
#include "passes/tir/memory/lift_allocations.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/contract.h"
#include "ir/object.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/relax/analysis/call_graph.h"
#include "passes/tir/memory/lift_bound.h"
#include "passes/tir/memory/lift_gaps.h"
#include "passes/tir/memory/lift_pack.h"
#include "passes/tir/memory/lift_plan.h"

#include <string.h>

// What a function wants from its callers.
typedef struct {
  tvms_list sizes;  // of the memory for each of its last parameters, in bytes
  bool visited;
  bool lifts;  // it may get such parameters
} lifted_function;

typedef struct {
  tvms_pass_run *run;
  lifted_function *functions;  // by member
  // Of the function in progress:
  tvms_lift_plan plan;
  tvms_lift_gaps gaps;    // of its workspace, if it has one
  tvms_lift_needs needs;  // of its calls, if the workspace was packed
  tvms_unit *unit;
  bool lifts;
  uint32_t parallel;                // loops around
  tvms_node *TVMS_NULLABLE memory;  // for calls: a buffer of bytes
  tvms_node *TVMS_NULLABLE needed;  // its size
} lifting;

static tvms_memory *memory_of(const lifting *l) {
  return &l->run->context->memory;
}

static tvms_node *number(const lifting *l, int64_t value) {
  return tvms_lift_number(&l->plan, value);
}

static tvms_node *binary(const lifting *l, tvms_node_kind kind, tvms_node *a,
                         tvms_node *b) {
  return tvms_lift_binary(&l->plan, kind, a, b);
}

static bool has_own_variables(const lifting *l) {
  return tvms_lift_has_own_variables(&l->plan);
}

// ---- Statements ----

static tvms_node *declaration(lifting *l, tvms_node *buffer,
                              tvms_node *TVMS_NULLABLE source) {
  tvms_decl_buffer *made = tvms_node_make(l->unit, DECL_BUFFER, TVMS_NO_SPAN);
  made->buffer = buffer;
  if (has_own_variables(l)) made->source = source;
  return &made->head;
}

static tvms_node *TVMS_NULLABLE leave_allocation(tvms_rewriter *r, tvms_node *node) {
  lifting *l = r->self;
  tvms_lift_allocation a;
  if (!tvms_lift_allocation_of(node, &a)) return node;
  tvms_node *param = tvms_node_map_get(&l->plan.places, a.var);
  if (!param) return node;
  if (node->kind == TVMS_NODE_ALLOCATE) return NULL;
  return declaration(l, tvms_as_alloc_buffer(node)->buffer, param);
}

static bool is_parallel(const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_FOR
         && tvms_as_for(stmt)->for_kind == TVMS_FOR_PARALLEL;
}

static tvms_node *enter_around(tvms_rewriter *r, tvms_node *node) {
  lifting *l = r->self;
  l->parallel += is_parallel(node);
  l->plan.skips += tvms_lift_may_skip(node);
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_around(tvms_rewriter *r, tvms_node *node) {
  lifting *l = r->self;
  l->parallel -= is_parallel(r->old);
  l->plan.skips -= tvms_lift_may_skip(r->old);
  return node;
}

// ---- Calls ----

// A buffer of bytes whose size is not known yet.
static tvms_node *byte_buffer(lifting *l, const char *name, tvms_node *bytes) {
  tvms_sym symbol = tvms_symbol_intern(l->run->context, name, strlen(name));
  tvms_dtype byte = TVMS_DTYPE(UINT, 8);
  tvms_buffer *made = tvms_node_make(l->unit, BUFFER, TVMS_NO_SPAN);
  made->name = symbol;
  made->element = byte;
  made->shape = tvms_list_copy(l->unit, &bytes, 1);
  made->data = tvms_pointer_var_new(l->unit, symbol, byte, 0, TVMS_NO_SPAN);
  made->elem_offset = number(l, 0);
  made->align = TVMS_FRAME_ALIGNMENT;
  made->offset_factor = 1;
  return &made->head;
}

static tvms_node *place_in(lifting *l, tvms_node *buffer, tvms_node *offset) {
  tvms_node *load =
      tvms_buffer_load_new(l->unit, buffer, &offset, 1, NULL, TVMS_NO_SPAN);
  tvms_node *made = tvms_call_new_of(l->unit, TVMS_DTYPE(HANDLE, 64),
                                     TVMS_TIR_address_of, &load, 1, TVMS_NO_SPAN);
  made->sinfo = tvms_as_buffer(buffer)->data->sinfo;
  return made;
}

static tvms_node *allocate_bytes(lifting *l, tvms_node *buffer) {
  if (tvms_release_has(l->unit->dialect, TVMS_FACT_buffers_are_variables)) {
    tvms_alloc_buffer *made = tvms_node_make(l->unit, ALLOC_BUFFER, TVMS_NO_SPAN);
    made->buffer = buffer;
    return &made->head;
  }
  tvms_allocate *made = tvms_node_make(l->unit, ALLOCATE, TVMS_NO_SPAN);
  made->element = TVMS_DTYPE(UINT, 8);
  made->var = tvms_as_buffer(buffer)->data;
  made->extents = tvms_as_buffer(buffer)->shape;
  made->condition = tvms_bool_imm_new(l->unit, true, TVMS_NO_SPAN);
  tvms_node *both[] = {&made->head, declaration(l, buffer, NULL)};
  return tvms_seq_new(l->unit, both, 2, TVMS_NO_SPAN);
}

// Memory that a call allocates itself.
static tvms_node *own_memory(tvms_rewriter *r, tvms_node *total) {
  lifting *l = r->self;
  tvms_node *own = byte_buffer(l, "memory", total);
  tvms_node *stmt = allocate_bytes(l, own);
  if (stmt->kind != TVMS_NODE_SEQ) {
    tvms_rewrite_emit(r, stmt);
    return own;
  }
  for (uint32_t i = 0; i < tvms_as_seq(stmt)->stmts.len; i++)
    tvms_rewrite_emit(r, tvms_as_seq(stmt)->stmts.items[i]);
  return own;
}

// The place in the workspace that a call's memory has, or the first one that is free.
static int64_t place_in_workspace(const lifting *l, const tvms_node *call,
                                  int64_t bytes) {
  for (uint32_t i = 0; i < l->needs.len; i++) {
    const tvms_lift_need *need = &l->needs.items[i];
    if (need->call == call && need->begin >= 0) return need->begin;
  }
  return tvms_lift_gaps_find(&l->gaps, call, bytes);
}

// Where the memory of a call lies: that of the caller, or, where it cannot be, its own.
static tvms_node *memory_for(tvms_rewriter *r, tvms_node *total, tvms_node **begin) {
  lifting *l = r->self;
  *begin = number(l, 0);
  bool known = !l->parallel && tvms_lift_is_known(&l->plan, total);
  tvms_node *bytes =
      known && l->plan.skips ? tvms_lift_beforehand(&l->plan, total) : total;
  if (!known || !bytes) return own_memory(r, total);
  if (!l->memory) l->memory = byte_buffer(l, "memory", number(l, 0));
  if (l->gaps.size && tvms_node_is_int_imm(total)) {
    *begin = number(l, place_in_workspace(l, r->old, tvms_as_int_imm(total)->value));
  } else if (l->gaps.size) {
    *begin = tvms_lift_aligned(&l->plan, number(l, l->gaps.size));
  }
  tvms_node *end = binary(l, TVMS_NODE_ADD, *begin, bytes);
  l->needed = l->needed ? binary(l, TVMS_NODE_MAX, l->needed, end) : end;
  return l->memory;
}

// A function that is called and wants memory; NULL: it wants none, or is none of the module.
static const lifted_function *TVMS_NULLABLE wanting(const lifting *l,
                                                    const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return NULL;
  const tvms_member *member =
      tvms_module_named(l->run->module, tvms_as_call(value)->callee);
  const lifted_function *f =
      member ? &l->functions[member - l->run->module->members] : NULL;
  return f && f->sizes.len ? f : NULL;
}

static tvms_node *leave_evaluate(tvms_rewriter *r, tvms_node *node) {
  lifting *l = r->self;
  tvms_node *value = tvms_as_evaluate(node)->value;
  const lifted_function *f = wanting(l, value);
  if (!f) return node;
  const tvms_call *call = tvms_as_call(value);
  const tvms_prim_func *callee =
      tvms_as_prim_func(l->run->module->members[f - l->functions].function);
  tvms_memory *memory = memory_of(l);
  tvms_node_map known;
  tvms_node_map_init(&known, memory);
  tvms_node_vec args = {0}, offsets = {0};
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_node_map_put(&known, callee->params.items[i], call->args.items[i]);
    tvms_vec_push(memory, &args, call->args.items[i]);
  }
  tvms_node *total = number(l, 0);
  for (uint32_t i = 0; i < f->sizes.len; i++) {
    tvms_vec_push(memory, &offsets, total);
    tvms_node *bytes = tvms_clone(l->unit, f->sizes.items[i], &known);
    total = binary(l, TVMS_NODE_ADD, total, bytes);
  }
  tvms_node *begin, *place = memory_for(r, total, &begin);
  for (uint32_t i = 0; i < offsets.len; i++)
    tvms_vec_push(
        memory, &args,
        place_in(l, place, binary(l, TVMS_NODE_ADD, begin, offsets.items[i])));
  tvms_node *made = tvms_call_new(l->unit, value->dtype, call->callee, args.items,
                                  args.len, value->span);
  tvms_node_map_fini(&known);
  tvms_vec_fini(memory, &args);
  tvms_vec_fini(memory, &offsets);
  return tvms_evaluate_new(l->unit, made, node->span);
}

// ---- The function ----

static void push_param(lifting *l, tvms_prim_func *f, tvms_node *param,
                       tvms_node *TVMS_NULLABLE buffer) {
  uint32_t count = f->params.len;
  tvms_node_vec params = {0}, buffers = {0};
  for (uint32_t i = 0; i < count; i++) {
    tvms_vec_push(memory_of(l), &params, f->params.items[i]);
    tvms_vec_push(memory_of(l), &buffers, f->buffers.items[i]);
  }
  tvms_vec_push(memory_of(l), &params, param);
  tvms_vec_push(memory_of(l), &buffers, buffer);
  f->params = tvms_list_copy(l->unit, params.items, params.len);
  f->buffers = tvms_list_copy(l->unit, buffers.items, buffers.len);
  tvms_vec_fini(memory_of(l), &params);
  tvms_vec_fini(memory_of(l), &buffers);
}

static void put_first(lifting *l, tvms_prim_func *f, tvms_node *stmt) {
  f->body = tvms_stmt_pair(l->unit, stmt, f->body);
}

// The memory for calls is where the workspace is free, or begins where it ended; it grows.
static void grow_workspace(lifting *l, tvms_prim_func *f, tvms_contract contract) {
  tvms_node *begin = number(l, 0), *workspace;
  if (contract.has_workspace) {
    uint32_t last = f->params.len - 1;
    tvms_node *old = f->buffers.items[last];
    tvms_node *before = tvms_as_buffer(old)->shape.items[0];
    if (!l->gaps.size) begin = tvms_lift_aligned(&l->plan, before);
    workspace = tvms_node_copy(l->unit, old);
    tvms_node *size = l->gaps.size ? binary(l, TVMS_NODE_MAX, before, l->needed)
                                   : binary(l, TVMS_NODE_ADD, begin, l->needed);
    tvms_as_buffer(workspace)->shape = tvms_list_copy(l->unit, &size, 1);
    tvms_node_map known;
    tvms_node_map_init(&known, memory_of(l));
    tvms_node_map_put(&known, old, workspace);
    f->body = tvms_substitute(l->unit, f->body, &known);
    tvms_node_map_fini(&known);
    f->buffers = tvms_list_copy(l->unit, f->buffers.items, f->buffers.len);
    f->buffers.items[last] = workspace;
  } else {
    workspace = byte_buffer(l, "workspace", l->needed);
    tvms_sym name = tvms_as_buffer(workspace)->name;
    push_param(l, f,
               tvms_pointer_var_new(l->unit, name, (tvms_dtype){0}, 0, TVMS_NO_SPAN),
               workspace);
  }
  tvms_node *place = place_in(l, workspace, begin);
  put_first(l, f, declaration(l, l->memory, place));
  if (has_own_variables(l)) return;
  tvms_bind *bind = tvms_node_make(l->unit, BIND, TVMS_NO_SPAN);
  bind->value = place;
  bind->var = tvms_as_buffer(l->memory)->data;
  put_first(l, f, &bind->head);
}

// Memory for calls becomes one more parameter, part of the workspace, or an allocation.
static void place_memory(lifting *l, tvms_prim_func *f) {
  tvms_buffer *memory = tvms_as_buffer(l->memory);
  memory->shape = tvms_list_copy(l->unit, &l->needed, 1);
  tvms_contract contract = tvms_call_contract(f);
  if (l->lifts) {
    tvms_node *param = has_own_variables(l) ? tvms_pointer_var_new(
                           l->unit, memory->name, memory->element, 0, TVMS_NO_SPAN)
                                            : memory->data;
    tvms_vec_push(memory_of(l), &l->plan.groups,
                  ((tvms_lift_group){param, l->needed, true, NULL}));
    put_first(l, f, declaration(l, l->memory, param));
  } else if (contract.result_text) {
    grow_workspace(l, f, contract);
  } else {
    put_first(l, f, allocate_bytes(l, l->memory));
  }
}

// Adds the parameters for memory, and says how many they are.
static void add_params(lifting *l, tvms_prim_func *f, lifted_function *made) {
  tvms_node_vec sizes = {0};
  for (uint32_t i = 0; i < l->plan.groups.len; i++) {
    push_param(l, f, l->plan.groups.items[i].param, NULL);
    tvms_vec_push(memory_of(l), &sizes, l->plan.groups.items[i].bytes);
  }
  made->sizes = tvms_list_copy(l->unit, sizes.items, sizes.len);
  tvms_vec_fini(memory_of(l), &sizes);
  if (made->sizes.len)
    f->attrs = tvms_object_map_with(
        l->unit, f->attrs, TVMS_CONTRACT_SCRATCH,
        tvms_object_int_new(l->unit, made->sizes.len, TVMS_NO_SPAN));
}

static tvms_node *rewritten(lifting *l, tvms_node *function) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, l->unit, l);
  r.leave[TVMS_NODE_ALLOC_BUFFER] = leave_allocation;
  r.leave[TVMS_NODE_ALLOCATE] = leave_allocation;
  static const tvms_node_kind around[] = {TVMS_NODE_FOR, TVMS_NODE_WHILE,
                                          TVMS_NODE_IF_THEN_ELSE};
  for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
    r.enter[around[i]] = enter_around;
    r.leave[around[i]] = leave_around;
  }
  r.leave[TVMS_NODE_EVALUATE] = leave_evaluate;
  tvms_node *made = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- Places ----

static tvms_walk_step note_need(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  lifting *l = self;
  if (node->kind == TVMS_NODE_FOR && tvms_as_for(node)->for_kind == TVMS_FOR_PARALLEL)
    return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_EVALUATE) return TVMS_WALK_ON;
  const lifted_function *f = wanting(l, tvms_as_evaluate(node)->value);
  int64_t bytes = 0;
  for (uint32_t i = 0; f && i < f->sizes.len; i++) {
    if (!tvms_node_is_int_imm(f->sizes.items[i])) return TVMS_WALK_SKIP;
    bytes += tvms_as_int_imm(f->sizes.items[i])->value;
  }
  if (bytes > 0)
    tvms_vec_push(memory_of(l), &l->needs, ((tvms_lift_need){node, bytes, -1}));
  return TVMS_WALK_SKIP;
}

// The function with the tensors of its workspace where they and the memory of calls take the least.
static tvms_node *packed(lifting *l, tvms_node *function) {
  tvms_visitor visitor = {.self = l, .enter = note_need};
  tvms_walk(memory_of(l), tvms_as_prim_func(function)->body, &visitor);
  int64_t shares = TVMS_OPTION(l->run, LiftAllocations, shares).number;
  if (shares < 1 || shares > UINT32_MAX) shares = 1;
  return tvms_lift_pack(l->unit, function, &l->needs, (uint32_t)shares);
}

static void lift(tvms_pass_run *run, lifted_function *functions, uint32_t index) {
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *copy = tvms_clone(unit, run->module->members[index].function, NULL);
  lifting l = {.run = run,
               .functions = functions,
               .unit = unit,
               .lifts = functions[index].lifts};
  tvms_node *start = l.lifts ? tvms_lift_bound(unit, copy) : copy;
  tvms_lift_plan_init(&l.plan, unit, tvms_as_prim_func(start));
  if (l.lifts) tvms_lift_plan_make(&l.plan);
  tvms_contract contract = tvms_call_contract(l.plan.source);
  if (contract.has_workspace && !l.lifts && has_own_variables(&l)) {
    start = packed(&l, start);
    l.plan.source = tvms_as_prim_func(start);
    tvms_lift_gaps_init(&l.gaps, unit, l.plan.source);
  }
  tvms_node *made = rewritten(&l, start);
  if (made == copy) {
    tvms_functions_drop_unit(run, unit);
  } else {
    if (l.memory) place_memory(&l, tvms_as_prim_func(made));
    if (l.lifts) add_params(&l, tvms_as_prim_func(made), &functions[index]);
    tvms_functions_replace(run, index, unit, made);
  }
  tvms_lift_plan_fini(&l.plan);
  tvms_vec_fini(memory_of(&l), &l.needs);
  if (l.gaps.memory) tvms_lift_gaps_fini(&l.gaps);
}

// ---- The module ----

static bool is_prim_func(const tvms_module *module, uint32_t index) {
  const tvms_node *function = module->members[index].function;
  return function && function->kind == TVMS_NODE_PRIM_FUNC;
}

// A private function of pointers and numbers is called by PrimFuncs, and by nobody else.
static bool may_lift(const tvms_module *module, uint32_t index) {
  const tvms_node *function = module->members[index].function;
  if (!(function->flags & TVMS_FLAG_PRIVATE)) return false;
  tvms_list buffers = tvms_as_prim_func(function)->buffers;
  for (uint32_t i = 0; i < buffers.len; i++)
    if (buffers.items[i]) return false;
  return true;
}

static void visit(tvms_pass_run *run, lifted_function *functions,
                  const tvms_relax_call_graph *graph, uint32_t index) {
  if (functions[index].visited || !is_prim_func(run->module, index)) return;
  functions[index].visited = true;
  if (!tvms_memory_enter(&run->context->memory))
    tvms_memory_unwind(&run->context->memory, TVMS_OVER_LIMIT);
  for (uint32_t i = 0; i < graph->callees[index].members.len; i++)
    visit(run, functions, graph, graph->callees[index].members.items[i]);
  tvms_memory_leave(&run->context->memory);
  bool calls = graph->callees[index].members.len > 0;
  const tvms_prim_func *function =
      tvms_as_prim_func(run->module->members[index].function);
  // Nothing is handed over to others, nor to this one, nor by it.
  if (!calls && !functions[index].lifts && !tvms_call_contract(function).has_workspace)
    return;
  lift(run, functions, index);
}

void tvms_pass_lift_allocations(tvms_pass_run *run) {
  tvms_memory *memory = &run->context->memory;
  tvms_relax_call_graph graph;
  tvms_relax_call_graph_init(&graph, run->module);
  uint32_t count = graph.count;
  bool *called = tvms_relax_call_graph_called(run->module);
  bool *recursive = tvms_memory_alloc(memory, count + 1);
  memset(recursive, 0, count + 1);
  tvms_relax_call_graph_recursive(&graph, recursive);
  size_t size = (count + 1) * sizeof(lifted_function);
  lifted_function *functions = tvms_memory_alloc(memory, size);
  memset(functions, 0, size);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_prim_func(run->module, i)) continue;
    functions[i].lifts = called[i] && !recursive[i] && may_lift(run->module, i);
  }
  for (uint32_t i = 0; i < count; i++)
    visit(run, functions, &graph, i);
  tvms_memory_free(memory, functions);
  tvms_memory_free(memory, recursive);
  tvms_memory_free(memory, called);
  tvms_relax_call_graph_fini(&graph);
}
