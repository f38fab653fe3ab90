// LowerRelaxToTIR: Relax functions become PrimFuncs that are given memory.
//
// Before: storage = R.memory.alloc_storage(…); lv = R.memory.alloc_tensor(storage, …)
//         cls.exp(x, lv); gv = R.builtin.alloc_tensor(…); cls.relu(lv, gv); return gv
// After:  def main(x: T.Buffer(…), gv: T.Buffer(…), workspace: T.Buffer((512,), "uint8")):
//             lv = T.decl_buffer((n, 4), data=T.address_of(workspace[0]))
//             Module.exp_unpacked(x.data, lv.data, n)
//             Module.relu_unpacked(lv.data, gv.data, n)
//
// It comes behind StaticPlanBlockMemory, whose storages become parts of the workspace. The PrimFunc
// has the arguments of the function, tuples and shapes taken apart, then its results, then one
// buffer of bytes if it needs any; its attributes tvms.inputs and tvms.result say what of this the
// callers of the Relax function pass and get (docs/native.md). Kernels and other Relax functions are
// called directly, with pointers and sizes, closures with what they hold behind the arguments; branches are `if`, match_casts assertions, reshapes
// other sizes of the same memory, constants data of the function. A recursive function allocates
// its own memory. What packed functions give, and tensors of sizes that callers cannot know, are objects
// (objects.c, functions.c). What cannot be said so is an error at its place. TVM has no such pass.
#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/contract.h"
#include "ir/object.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/relax/analysis/call_graph.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/leaves.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/params.h"
#include "passes/relax/host/results.h"
#include "passes/relax/host/values.h"
#include "support/diag.h"

// ---- The function ----

static tvms_node *attrs_of(tvms_host *h, const tvms_strbuf *pattern) {
  tvms_unit *unit = h->unit;
  const tvms_node *old = h->source->attrs;
  tvms_node *kept = NULL;
  const tvms_node *symbol = tvms_object_map_get(old, "global_symbol");
  if (symbol)
    kept = tvms_object_map_with(unit, kept, "global_symbol",
                                tvms_clone(unit, symbol, NULL));
  if (!h->plain)
    kept = tvms_object_map_with(
        unit, kept, TVMS_CONTRACT_INPUTS,
        tvms_object_str_new(unit, h->inputs.text, h->inputs.len, TVMS_NO_SPAN));
  kept = tvms_object_map_with(unit, kept, TVMS_CONTRACT_INPUT_COUNT,
                              tvms_object_int_new(unit, h->input_count, TVMS_NO_SPAN));
  return tvms_object_map_with(
      unit, kept, TVMS_CONTRACT_RESULT,
      tvms_object_str_new(unit, pattern->text, pattern->len, TVMS_NO_SPAN));
}

// Allocates the workspace in the function. It is declared over memory with another name: passes
// count what is touched of an allocation, and an address touches one element only.
static void own_memory(tvms_host *h) {
  const tvms_buffer *workspace = tvms_as_buffer(h->workspace);
  tvms_node_vec around = h->stmts;
  h->stmts = h->constants;
  tvms_alloc_buffer *own = tvms_node_make(h->unit, ALLOC_BUFFER, TVMS_NO_SPAN);
  own->buffer = tvms_host_buffer(h, "memory", TVMS_DTYPE(UINT, 8), workspace->shape);
  tvms_host_push(h, &own->head);
  tvms_decl_buffer *declared = tvms_node_make(h->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declared->buffer = h->workspace;
  declared->source = tvms_as_buffer(own->buffer)->data;
  tvms_host_push(h, &declared->head);
  h->constants = h->stmts;
  h->stmts = around;
}

// The workspace as a parameter, or memory of the function itself.
static void add_workspace(tvms_host *h, tvms_host_function *made) {
  tvms_node *bytes = tvms_host_used(h);
  tvms_buffer *buffer = tvms_as_buffer(h->workspace);
  buffer->shape.items[0] =
      bytes ? tvms_arith_simplify(h->unit, bytes) : tvms_host_int(h, 0);
  if (!bytes) {
    h->workspace = NULL;
  } else if (!made->recursive) {
    made->has_workspace = true;
    tvms_host_add_buffer_param(h, h->workspace);
  } else {
    own_memory(h);
  }
}

static tvms_node *body_of(tvms_host *h) {
  for (uint32_t i = 0; i < h->stmts.len; i++)
    tvms_vec_push(tvms_host_memory(h), &h->constants, h->stmts.items[i]);
  return tvms_stmt_seq(h->unit, &h->constants, TVMS_NO_SPAN);
}

static void set_params(tvms_host *h, tvms_prim_func *made) {
  made->params = tvms_list_copy(h->unit, h->params.items, h->params.len);
  made->buffers = tvms_list_copy(h->unit, h->buffers.items, h->buffers.len);
}

// Makes the parameters. What a recursive function takes is known to its callers, which may be lowered before it.
static void declare_function(tvms_host *h, tvms_host_function *made) {
  const tvms_node *type = tvms_host_result_type(h);
  tvms_host_add_params(h);
  h->input_count = h->params.len;
  if (!h->failed && !type)
    tvms_host_refuse(h, h->source->head.span, "the type of its result is not known");
  made->result = type;
  h->single = type && type->kind != TVMS_NODE_SINFO_TUPLE;
  if (!h->failed) tvms_host_result_params(h, type, h->single, &h->results, &h->pattern);
  made->input_count = h->input_count;
  made->result_count = h->results.len;
  h->made = tvms_node_make(h->unit, PRIM_FUNC, h->source->head.span);
  h->made->name = h->source->name;
  h->made->head.flags = (h->source->head.flags & TVMS_FLAG_PRIVATE) | TVMS_FLAG_S_TIR;
  if (made->recursive && !h->failed) {
    tvms_host_size_results(h, &h->results, &h->pattern);
    set_params(h, h->made);
    made->made = h->made;
  }
}

// Makes the body of a function that is declared.
static void make_function(tvms_host *h, tvms_host_function *made) {
  const tvms_node *body = tvms_as_seq_expr(h->source->body)->body;
  for (uint32_t i = 0; i < h->results.len && !h->failed; i++)
    if (h->results.items[i])
      tvms_host_send(h, body, i, tvms_as_buffer(h->results.items[i])->data);
  tvms_host_value *value = h->failed ? NULL : tvms_host_eval(h, h->source->body);
  if (value) tvms_host_deliver_results(h, value, h->single, &h->results, &h->pattern);
  if (!h->failed) add_workspace(h, made);
  if (!h->failed) {
    tvms_host_add_list(h);
    set_params(h, h->made);
    h->made->attrs = attrs_of(h, &h->pattern);
    h->made->body = body_of(h);
    made->made = h->made;
    made->unit = h->unit;
  } else {
    made->made = NULL;
    tvms_functions_drop_unit(h->run, h->unit);
  }
}

static void close_function(tvms_host *h) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_vec_fini(memory, &h->params);
  tvms_vec_fini(memory, &h->buffers);
  tvms_vec_fini(memory, &h->constants);
  tvms_vec_fini(memory, &h->kept);
  tvms_vec_fini(memory, &h->stmts);
  tvms_vec_fini(memory, &h->destinations);
  tvms_vec_fini(memory, &h->results);
  tvms_strbuf_fini(&h->inputs);
  tvms_strbuf_fini(&h->pattern);
  tvms_node_map_fini(&h->known);
  tvms_node_map_fini(&h->told);
  tvms_node_map_fini(&h->giving);
  tvms_relax_definitions_fini(&h->definitions);
  tvms_prover_fini(&h->prover);
}

static tvms_walk_step count_use(void *self, tvms_node *node, tvms_field_role role) {
  tvms_host *h = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR && h->uses[node->id] < 2) h->uses[node->id]++;
  return TVMS_WALK_ON;
}

static void count_uses(tvms_host *h, uint32_t ids) {
  h->uses = tvms_arena_array(&h->run->context->scratch, uint8_t, ids);
  tvms_visitor visitor = {.self = h, .enter = count_use};
  tvms_walk(tvms_host_memory(h), h->source->body, &visitor);
}

// Begins with member `index`: its parameters.
static void open_function(tvms_host *h, tvms_pass_run *run,
                          tvms_host_function *functions, uint32_t count,
                          uint32_t index) {
  const tvms_member *member = &run->module->members[index];
  tvms_node *source = member->function;
  tvms_unit *unit = tvms_functions_open_unit(run);
  unit->origin = source->span;
  *h = (tvms_host){.run = run,
                   .functions = functions,
                   .function_count = count,
                   .member = index,
                   .source = tvms_as_function(source),
                   .unit = unit,
                   .plain = true};
  tvms_node_map_init(&h->known, &run->context->memory);
  tvms_node_map_init(&h->told, &run->context->memory);
  tvms_node_map_init(&h->giving, &run->context->memory);
  tvms_strbuf_init(&h->inputs, &run->context->memory);
  tvms_strbuf_init(&h->pattern, &run->context->memory);
  tvms_relax_definitions_init(&h->definitions, member->unit, source);
  tvms_prover_init(&h->prover, unit);
  h->values = tvms_arena_array(&run->context->scratch, tvms_host_value *,
                               member->unit->next_id);
  count_uses(h, member->unit->next_id);
  tvms_node *none = tvms_host_int(h, 0);
  h->workspace = tvms_host_buffer(h, "workspace", TVMS_DTYPE(UINT, 8),
                                  tvms_list_copy(unit, &none, 1));
  declare_function(h, &functions[index]);
}

// ---- The module ----

static bool is_lowered(const tvms_module *module, uint32_t index) {
  const tvms_node *function = module->members[index].function;
  return function && function->kind == TVMS_NODE_FUNCTION;
}

typedef struct {
  tvms_pass_run *run;
  tvms_host_function *functions;
  const tvms_relax_call_graph *graph;
  tvms_host *TVMS_NULLABLE
      *begun;  // by member: recursive functions, which are declared first
} lowering;

// Functions that call each other know what they take before any has a body.
static void declare_recursive(lowering *l) {
  tvms_arena *arena = &l->run->context->scratch;
  for (uint32_t i = 0; i < l->graph->count; i++) {
    if (!l->functions[i].recursive || !is_lowered(l->run->module, i)) continue;
    l->begun[i] = tvms_arena_array(arena, tvms_host, 1);
    open_function(l->begun[i], l->run, l->functions, l->graph->count, i);
  }
}

static void lower_function(lowering *l, uint32_t index) {
  tvms_host here, *h = l->begun[index];
  if (!h) {
    h = &here;
    open_function(h, l->run, l->functions, l->graph->count, index);
  }
  make_function(h, &l->functions[index]);
  close_function(h);
}

// Callees first, so that callers know what memory they need.
static void visit(lowering *l, uint32_t index) {
  if (l->functions[index].visited || !is_lowered(l->run->module, index)) return;
  l->functions[index].visited = true;
  tvms_memory *memory = &l->run->context->memory;
  bool shallow = tvms_memory_enter(memory);
  for (uint32_t i = 0; i < l->graph->callees[index].members.len && shallow; i++)
    visit(l, l->graph->callees[index].members.items[i]);
  tvms_memory_leave(memory);
  lower_function(l, index);
}

static void name_direct(tvms_pass_run *run, tvms_host_function *functions,
                        const tvms_relax_call_graph *graph) {
  for (uint32_t i = 0; i < graph->count; i++) {
    for (uint32_t k = 0; k < graph->callees[i].members.len; k++)
      functions[graph->callees[i].members.items[k]].called |=
          is_lowered(run->module, i);
  }
  for (uint32_t i = 0; i < graph->count; i++) {
    if (!functions[i].called || !is_lowered(run->module, i)) continue;
    functions[i].direct = tvms_fuse_unpacked_name(run, i);
  }
}

// Puts the PrimFuncs in place; functions that are called get their form with pointers, and
// private ones have no other.
static void put_in_place(tvms_pass_run *run, tvms_host_function *functions,
                         uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (functions[i].made)
      tvms_functions_replace(run, i, functions[i].unit, &functions[i].made->head);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (functions[i].made && functions[i].called)
      tvms_fuse_unpack_as(run, i, functions[i].direct);
  }
}

void tvms_pass_lower_relax_to_tir(tvms_pass_run *run) {
  tvms_memory *memory = &run->context->memory;
  bool *called = tvms_relax_call_graph_called(run->module);
  tvms_relax_call_graph graph;
  tvms_relax_call_graph_init(&graph, run->module);
  uint32_t count = graph.count;
  size_t size = (count + 1) * sizeof(tvms_host_function);
  tvms_host_function *functions = tvms_memory_alloc(memory, size);
  memset(functions, 0, size);
  bool *recursive = tvms_memory_alloc(memory, count + 1);
  memset(recursive, 0, count + 1);
  tvms_relax_call_graph_recursive(&graph, recursive);
  for (uint32_t i = 0; i < count; i++)
    functions[i].recursive = recursive[i];
  name_direct(run, functions, &graph);
  lowering all = {run, functions, &graph,
                  tvms_arena_array(&run->context->scratch, tvms_host *, count)};
  declare_recursive(&all);
  for (uint32_t i = 0; i < count; i++)
    visit(&all, i);
  // An object calls its function by a name that is a text.
  for (uint32_t i = 0; i < count; i++)
    called[i] &= !functions[i].boxed;
  put_in_place(run, functions, count);
  if (run->changed) tvms_fuse_drop_packed(run, called, count);
  tvms_relax_call_graph_fini(&graph);
  tvms_memory_free(memory, recursive);
  tvms_memory_free(memory, functions);
  tvms_memory_free(memory, called);
}
