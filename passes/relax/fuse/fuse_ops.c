// FuseOps: runs of call_tir that belong together become functions of their own.
//
// Before: lv = R.call_tir(cls.matmul, …); gv = R.call_tir(cls.relu, (lv,), …)
// After:  gv = cls.fused_matmul_relu(x, w), and a private function with the two calls and
//         the attribute Primitive
//
// What belongs together decides passes/relax/fuse/fuse_graph.c by the attribute op_pattern of
// the PrimFuncs; constants become parameters. With operands=true what moves or decodes weights (constants, and
// parameters behind those that num_input counts, or all if nothing counts them) joins the product that uses it,
// too, so that a product reads weights as they are stored. Only inside dataflow blocks, and with branches=true also in
// those of the branches of R.If; the functions are made by passes/relax/fuse/group_functions.c.
// TVM: relax.transform.FuseOps.
#include "ir/object.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/fuse/fuse_graph.h"
#include "passes/relax/fuse/group_functions.h"
#include "passes/remarks.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_fuse_graph graph;
  uint32_t *node_of;  // by id of a variable or constant: its node + 1
  // Parameters from here on may hold what the model has learned; NULL: none do.
  tvms_node *const *TVMS_NULLABLE weights;
  uint32_t weight_count;
} fusion;

static tvms_memory *memory_of(const fusion *f) {
  return &f->run->context->memory;
}

// ---- The graph of one function ----

static tvms_op_pattern pattern_of_call(const fusion *f, const tvms_call *call) {
  tvms_opcode opcode = tvms_op_called(&call->head);
  if (opcode != TVMS_R_call_tir && opcode != TVMS_R_call_tir_inplace) {
    return TVMS_PATTERN_OPAQUE;
  }
  tvms_sym name = tvms_as_global_var(call->args.items[0])->name;
  const tvms_member *member = tvms_module_find(f->run->module, name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC) {
    return TVMS_PATTERN_OPAQUE;
  }
  int64_t pattern;
  const tvms_node *attrs = tvms_as_prim_func(member->function)->attrs;
  if (!tvms_object_as_int(tvms_object_map_get(attrs, "op_pattern"), &pattern)) {
    return TVMS_PATTERN_OPAQUE;
  }
  return (tvms_op_pattern)pattern;
}

// Taking weights out of the tuple that holds them is no part of any group: it stands at the
// beginning of a function whatever is done with them.
static bool is_weight(const fusion *f, const tvms_node *tuple) {
  for (uint32_t i = 0; i < f->weight_count; i++) {
    if (f->weights[i] == tuple) return true;
  }
  return false;
}

static tvms_op_pattern pattern_of_value(const fusion *f, const tvms_node *value) {
  if (value->kind == TVMS_NODE_CALL) return pattern_of_call(f, tvms_as_call(value));
  bool item = value->kind == TVMS_NODE_TUPLE_GET_ITEM
              && !is_weight(f, tvms_as_tuple_get_item(value)->tuple);
  return item ? TVMS_PATTERN_INJECTIVE : TVMS_PATTERN_OPAQUE;
}

static void add_node(fusion *f, const tvms_node *node, tvms_op_pattern pattern,
                     bool outer) {
  f->node_of[node->id] = tvms_fuse_graph_add_node(&f->graph, pattern, outer) + 1;
}

typedef struct {
  fusion *f;
  uint32_t user;
  tvms_op_pattern pattern;
  bool moves;  // something that it uses differs from run to run
} leaf_visit;

static tvms_walk_step add_leaf(void *self, tvms_node *node, tvms_field_role role) {
  leaf_visit *visit = self;
  fusion *f = visit->f;
  bool leaf = node->kind == TVMS_NODE_CONSTANT
              || (node->kind == TVMS_NODE_VAR && tvms_dtype_is_void(node->dtype));
  if (!leaf) return TVMS_WALK_ON;
  if (role != TVMS_ROLE_USE) return TVMS_WALK_SKIP;
  if (!f->node_of[node->id]) return TVMS_WALK_SKIP;
  uint32_t used = f->node_of[node->id] - 1;
  visit->moves |= !f->graph.nodes.items[used].fixed;
  tvms_fuse_graph_add_edge(&f->graph, used, visit->user, visit->pattern);
  return TVMS_WALK_SKIP;
}

// Constants get their node where they first stand, before their user.
static tvms_walk_step add_constant(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  fusion *f = self;
  if (node->kind != TVMS_NODE_CONSTANT || f->node_of[node->id]) return TVMS_WALK_ON;
  add_node(f, node, TVMS_PATTERN_OPAQUE, false);
  tvms_fuse_graph_fix(&f->graph, f->node_of[node->id] - 1);
  return TVMS_WALK_SKIP;
}

static tvms_walk_step add_definition(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  fusion *f = self;
  if (node->kind == TVMS_NODE_MATCH_CAST) {
    add_node(f, tvms_as_match_cast(node)->var, TVMS_PATTERN_OPAQUE, true);
    return TVMS_WALK_SKIP;
  }
  if (node->kind != TVMS_NODE_VAR_BINDING) return TVMS_WALK_ON;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  bool outer = !(binding->var->flags & TVMS_FLAG_DATAFLOW);
  tvms_op_pattern pattern = pattern_of_value(f, binding->value);
  bool nested = binding->value->kind == TVMS_NODE_IF;
  tvms_visitor constants = {.self = f, .enter = add_constant};
  if (!nested) tvms_walk(memory_of(f), binding->value, &constants);
  add_node(f, binding->var, pattern, outer);
  leaf_visit visit = {f, f->node_of[binding->var->id] - 1, pattern, nested};
  tvms_visitor leaves = {.self = &visit, .enter = add_leaf};
  if (!nested) tvms_walk(memory_of(f), binding->value, &leaves);
  if (!visit.moves && pattern != TVMS_PATTERN_OPAQUE)
    tvms_fuse_graph_fix(&f->graph, visit.user);
  bool enters = nested && TVMS_OPTION(f->run, FuseOps, branches).number;
  return enters ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static void build_graph(fusion *f, const tvms_function *function) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    add_node(f, function->params.items[i], TVMS_PATTERN_OPAQUE, true);
  }
  int64_t inputs;
  bool split =
      tvms_object_as_int(tvms_object_map_get(function->attrs, "num_input"), &inputs);
  if (!split)
    inputs = TVMS_OPTION(f->run, FuseOps, operands).number ? 0 : function->params.len;
  if (inputs >= 0 && inputs < function->params.len) {
    f->weights = function->params.items + inputs;
    f->weight_count = function->params.len - (uint32_t)inputs;
    for (uint32_t i = 0; i < f->weight_count; i++)
      tvms_fuse_graph_fix(&f->graph, f->node_of[f->weights[i]->id] - 1);
  }
  tvms_visitor visitor = {.self = f, .enter = add_definition};
  tvms_walk(memory_of(f), function->body, &visitor);
}

static bool is_fused_already(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  return tvms_relax_is_primitive(function) || tvms_object_map_get(attrs, "Codegen");
}

// By group, which is the node that stands for it: how many nodes are in it.
static uint32_t *count_nodes(const fusion *f, tvms_arena *arena,
                             const uint32_t *groups) {
  uint32_t count = f->graph.nodes.len;
  uint32_t *sizes = tvms_arena_array(arena, uint32_t, count);
  for (uint32_t i = 0; i < count; i++)
    sizes[groups[i]]++;
  return sizes;
}

// ---- Remarks ----

static const char *const reasons_in_words[] = {
    [TVMS_FUSE_JOINED] = "",
    [TVMS_FUSE_OPAQUE] = "its PrimFunc has no op_pattern, or an opaque one",
    [TVMS_FUSE_OUTER] = "its value leaves the dataflow block",
    [TVMS_FUSE_APART] = "the calls that use its value do not come together in one",
    [TVMS_FUSE_TOO_LARGE] = "the group would have more than max_depth bindings",
    [TVMS_FUSE_PATTERN] =
        "what uses its value is not simple enough for the kind of operator it is",
};

typedef struct {
  const fusion *f;
  const uint32_t *groups;
  const uint32_t *sizes;
  const tvms_fuse_reason *reasons;
} report;

static tvms_walk_step tell_call(void *self, tvms_node *node, tvms_field_role role) {
  const report *r = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR_BINDING) return TVMS_WALK_ON;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  tvms_opcode opcode = tvms_op_called(binding->value);
  if (opcode != TVMS_R_call_tir && opcode != TVMS_R_call_tir_inplace)
    return TVMS_WALK_ON;
  const tvms_pass_run *run = r->f->run;
  // Local functions, and branches that are left alone, have no nodes in the graph.
  if (!r->f->node_of[binding->var->id]) return TVMS_WALK_SKIP;
  uint32_t index = r->f->node_of[binding->var->id] - 1;
  uint32_t others = r->sizes[r->groups[index]] - 1;
  tvms_pass_count(run, others ? "calls in groups" : "calls alone", 1);
  if (others)
    tvms_pass_remark(run, TVMS_REMARK_PASSED, TVMS_D_fused, binding->value->span,
                     others, tvms_diag_plural(others));
  else
    tvms_pass_remark(run, TVMS_REMARK_MISSED, TVMS_D_not_fused, binding->value->span,
                     reasons_in_words[r->reasons[index]]);
  return TVMS_WALK_SKIP;
}

static void tell(const fusion *f, const tvms_function *function, const uint32_t *groups,
                 const uint32_t *sizes, const tvms_fuse_reason *reasons) {
  report r = {f, groups, sizes, reasons};
  for (uint32_t i = 0; i < f->graph.nodes.len; i++) {
    if (sizes[i] > 1) tvms_pass_count(f->run, "groups", 1);
  }
  tvms_visitor visitor = {.self = &r, .enter = tell_call};
  tvms_walk(memory_of(f), function->body, &visitor);
}

static tvms_node *fuse_function(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  if (is_fused_already(function)) return function;
  fusion f = {.run = run};
  tvms_fuse_graph_init(&f.graph, memory_of(&f));
  tvms_arena arena;
  tvms_arena_init(&arena, memory_of(&f));
  uint32_t ids = unit->next_id;
  f.node_of = tvms_arena_array(&arena, uint32_t, ids);
  build_graph(&f, tvms_as_function(function));
  uint32_t *groups = tvms_arena_array(&arena, uint32_t, f.graph.nodes.len);
  int64_t depth = TVMS_OPTION(run, FuseOps, max_depth).number;
  tvms_fuse_reason *reasons =
      tvms_arena_array(&arena, tvms_fuse_reason, f.graph.nodes.len);
  bool operands = TVMS_OPTION(run, FuseOps, operands).number != 0;
  tvms_fuse_graph_partition(&f.graph, depth > 0 ? (uint32_t)depth : UINT32_MAX,
                            operands, groups, reasons);
  uint32_t *sizes = count_nodes(&f, &arena, groups);
  tell(&f, tvms_as_function(function), groups, sizes, reasons);
  for (uint32_t i = 0; i < ids; i++) {
    if (f.node_of[i]) f.node_of[i] = groups[f.node_of[i] - 1] + 1;
  }
  tvms_fuse_groups given = {.group_of = f.node_of,
                            .ids = ids,
                            .count = f.graph.nodes.len,
                            .sizes = sizes,
                            .names = run->state};
  tvms_node *result = tvms_fuse_groups_apply(run, unit, function, &given);
  tvms_arena_fini(&arena);
  tvms_fuse_graph_fini(&f.graph);
  return result;
}

void tvms_pass_fuse_ops(tvms_pass_run *run) {
  tvms_relax_emitter names = {.memory = &run->context->memory};
  void *outer = run->state;
  run->state = &names;
  tvms_functions_change_by_name(run, TVMS_NODE_FUNCTION, fuse_function);
  run->state = outer;
  tvms_relax_emitter_fini(&names);
}
