// FuseOps: runs of call_tir that belong together become functions of their own.
//
// Before: lv = R.call_tir(cls.matmul, …); gv = R.call_tir(cls.relu, (lv,), …)
// After:  gv = cls.fused_matmul_relu(x, w), and a private function with the two calls and
//         the attribute Primitive
//
// What belongs together decides passes/relax/fuse/fuse_graph.c by the attribute op_pattern of
// the PrimFuncs; constants become parameters. Only inside dataflow blocks.
// TVM: relax.transform.FuseOps.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/fuse/fuse_graph.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

// A group of bindings that becomes a function. Nodes are the caller's unless said.
typedef struct {
  tvms_node_vec bindings;
  tvms_node_vec args;     // what the call passes
  tvms_node_vec outputs;  // variables used outside the group
  tvms_strbuf name;
  tvms_node *last;  // the binding at which the call stands
} group;

typedef struct {
  tvms_pass_run *run;
  tvms_rewriter rewriter;  // self is this struct
  tvms_relax_emitter emitter;
  uint32_t functions;  // open ones: what is inside a local function stays, as in TVM
  tvms_node_vec made;  // bindings of the block being made
  tvms_fuse_graph graph;
  uint32_t *node_of;   // by id of a variable or constant: its node + 1
  uint32_t *groups;    // by node: the node that stands for its group
  group **group_of;    // by such a node; NULL: a single binding
  uint32_t *sizes;     // by such a node: bindings in its group
  tvms_node **single;  // by such a node: the binding that is its group alone
  bool *emitted;       // by such a node: its bindings stand in the new block
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

static tvms_op_pattern pattern_of_value(const fusion *f, const tvms_node *value) {
  if (value->kind == TVMS_NODE_CALL) return pattern_of_call(f, tvms_as_call(value));
  return value->kind == TVMS_NODE_TUPLE_GET_ITEM ? TVMS_PATTERN_INJECTIVE
                                                 : TVMS_PATTERN_OPAQUE;
}

static void add_node(fusion *f, const tvms_node *node, tvms_op_pattern pattern,
                     bool outer) {
  f->node_of[node->id] = tvms_fuse_graph_add_node(&f->graph, pattern, outer) + 1;
}

typedef struct {
  fusion *f;
  uint32_t user;
  tvms_op_pattern pattern;
} leaf_visit;

static tvms_walk_step add_leaf(void *self, tvms_node *node, tvms_field_role role) {
  leaf_visit *visit = self;
  fusion *f = visit->f;
  bool leaf = node->kind == TVMS_NODE_CONSTANT
              || (node->kind == TVMS_NODE_VAR && tvms_dtype_is_void(node->dtype));
  if (!leaf) return TVMS_WALK_ON;
  if (role != TVMS_ROLE_USE) return TVMS_WALK_SKIP;
  if (!f->node_of[node->id]) return TVMS_WALK_SKIP;
  tvms_fuse_graph_add_edge(&f->graph, f->node_of[node->id] - 1, visit->user,
                           visit->pattern);
  return TVMS_WALK_SKIP;
}

// Constants get their node where they first stand, before their user.
static tvms_walk_step add_constant(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  fusion *f = self;
  if (node->kind != TVMS_NODE_CONSTANT || f->node_of[node->id]) return TVMS_WALK_ON;
  add_node(f, node, TVMS_PATTERN_OPAQUE, false);
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
  leaf_visit visit = {f, f->node_of[binding->var->id] - 1, pattern};
  tvms_visitor leaves = {.self = &visit, .enter = add_leaf};
  if (!nested) tvms_walk(memory_of(f), binding->value, &leaves);
  return nested ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static void build_graph(fusion *f, const tvms_function *function) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    add_node(f, function->params.items[i], TVMS_PATTERN_OPAQUE, true);
  }
  tvms_visitor visitor = {.self = f, .enter = add_definition};
  tvms_walk(memory_of(f), function->body, &visitor);
}

// ---- Groups of one block ----

static tvms_node *var_of(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_VAR_BINDING ? tvms_as_var_binding(binding)->var
                                                : tvms_as_match_cast(binding)->var;
}

static uint32_t root_of(const fusion *f, const tvms_node *var) {
  return f->groups[f->node_of[var->id] - 1];
}

static bool holds(const tvms_node_vec *vec, const tvms_node *node) {
  for (uint32_t i = 0; i < vec->len; i++) {
    if (vec->items[i] == node) return true;
  }
  return false;
}

static bool defines(const group *g, const tvms_node *var) {
  for (uint32_t i = 0; i < g->bindings.len; i++) {
    if (var_of(g->bindings.items[i]) == var) return true;
  }
  return false;
}

static void add_argument(fusion *f, group *g, tvms_node *arg) {
  bool is_value = arg->kind == TVMS_NODE_VAR || arg->kind == TVMS_NODE_CONSTANT;
  if (is_value && !defines(g, arg) && !holds(&g->args, arg)) {
    tvms_vec_push(memory_of(f), &g->args, arg);
  }
}

static void name_after(fusion *f, group *g, const tvms_call *call) {
  const char *name = "";
  const tvms_node *callee = call->args.items[0];
  if (callee->kind == TVMS_NODE_GLOBAL_VAR) {
    name = tvms_symbol_text(f->run->context, tvms_as_global_var(callee)->name);
  }
  if (strncmp(name, "fused_", 6) == 0) name += 6;
  tvms_strbuf_printf(&g->name, "_%s", name);
}

static void add_binding(fusion *f, group *g, tvms_node *binding) {
  tvms_node *value = tvms_as_var_binding(binding)->value;
  if (value->kind == TVMS_NODE_CALL) {
    const tvms_call *call = tvms_as_call(value);
    name_after(f, g, call);
    tvms_list args = {NULL, 0};
    if (call->args.items[1]->kind == TVMS_NODE_TUPLE) {
      args = tvms_as_tuple(call->args.items[1])->fields;
    }
    for (uint32_t i = 0; i < args.len; i++)
      add_argument(f, g, args.items[i]);
  } else {
    add_argument(f, g, tvms_as_tuple_get_item(value)->tuple);
  }
  tvms_vec_push(memory_of(f), &g->bindings, binding);
  tvms_node *var = var_of(binding);
  if (!(var->flags & TVMS_FLAG_DATAFLOW)) tvms_vec_push(memory_of(f), &g->outputs, var);
  g->last = binding;
}

static void collect_groups(fusion *f, tvms_list bindings) {
  for (uint32_t i = 0; i < bindings.len; i++) {
    f->sizes[root_of(f, var_of(bindings.items[i]))]++;
  }
  for (uint32_t i = 0; i < bindings.len; i++) {
    uint32_t root = root_of(f, var_of(bindings.items[i]));
    if (f->sizes[root] < 2) {
      f->single[root] = bindings.items[i];
      continue;
    }
    if (!f->group_of[root]) {
      f->group_of[root] = tvms_memory_alloc(memory_of(f), sizeof(group));
      tvms_strbuf_init(&f->group_of[root]->name, memory_of(f));
      tvms_strbuf_puts(&f->group_of[root]->name, "fused");
    }
    add_binding(f, f->group_of[root], bindings.items[i]);
  }
}

// A use of a variable of another group makes it an output of that group.
typedef struct {
  fusion *f;
  uint32_t root;  // of the user
} use_visit;

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  use_visit *visit = self;
  fusion *f = visit->f;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  if (!f->node_of[node->id]) return TVMS_WALK_SKIP;
  uint32_t root = root_of(f, node);
  group *maker = f->group_of[root];
  if (root == visit->root || !maker) return TVMS_WALK_SKIP;
  if (!holds(&maker->outputs, node)) tvms_vec_push(memory_of(f), &maker->outputs, node);
  return TVMS_WALK_SKIP;
}

static tvms_node *value_of(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_VAR_BINDING ? tvms_as_var_binding(binding)->value
                                                : tvms_as_match_cast(binding)->value;
}

static void find_outputs(fusion *f, tvms_list bindings) {
  for (uint32_t i = 0; i < bindings.len; i++) {
    tvms_node *binding = bindings.items[i];
    use_visit visit = {f, root_of(f, var_of(binding))};
    tvms_visitor visitor = {.self = &visit, .enter = note_use};
    tvms_walk(memory_of(f), value_of(binding), &visitor);
  }
}

// ---- The function of a group ----

typedef struct {
  tvms_unit *unit;  // of the function
  tvms_node_map known;
  tvms_node_vec params;
  tvms_node_vec bindings;
  tvms_node_map bound;  // symbolic variables that parameters define
  tvms_node_vec free;
  uint32_t constants;
} maker;

static tvms_walk_step bind_symbol(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  maker *m = self;
  bool symbol = node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
  if (symbol) tvms_node_map_put(&m->bound, node, node);
  return TVMS_WALK_ON;
}

// Only a dimension that is a variable defines it.
static void bind_symbols(fusion *f, maker *m, const tvms_node *type) {
  tvms_visitor visitor = {.self = m, .enter = bind_symbol};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      bind_symbols(f, m, fields.items[i]);
    return;
  }
  tvms_list dims = {NULL, 0};
  if (type->kind == TVMS_NODE_SINFO_SHAPE) dims = tvms_as_sinfo_shape(type)->values;
  if (type->kind == TVMS_NODE_SINFO_TENSOR) {
    const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
    if (shape && shape->kind == TVMS_NODE_SHAPE_EXPR) {
      dims = tvms_as_shape_expr(shape)->values;
    }
  }
  for (uint32_t i = 0; i < dims.len; i++) {
    if (dims.items[i]->kind == TVMS_NODE_VAR) {
      tvms_walk(memory_of(f), dims.items[i], &visitor);
    }
  }
}

static tvms_walk_step find_free(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  struct {
    fusion *f;
    maker *m;
  } *pair = self;
  bool symbol = node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
  if (!symbol || tvms_node_map_get(&pair->m->bound, node)) return TVMS_WALK_ON;
  tvms_node_map_put(&pair->m->bound, node, node);
  tvms_vec_push(memory_of(pair->f), &pair->m->free, node);
  return TVMS_WALK_ON;
}

static tvms_node *shape_of(tvms_unit *unit, tvms_list values) {
  return tvms_sinfo_shape_value_new(unit, values.items, values.len, TVMS_NO_SPAN);
}

static void add_parameters(fusion *f, maker *m, group *g) {
  for (uint32_t i = 0; i < g->args.len; i++) {
    const tvms_node *arg = g->args.items[i];
    char text[32];
    snprintf(text, sizeof text, "param_%u", m->constants);
    bool constant = arg->kind == TVMS_NODE_CONSTANT;
    m->constants += constant;
    tvms_sym name = constant ? tvms_symbol_intern(f->run->context, text, strlen(text))
                             : tvms_as_var(arg)->name;
    tvms_node *param = tvms_var_new(m->unit, name, (tvms_dtype){0}, TVMS_NO_SPAN);
    tvms_node_map_put(&m->known, arg, param);
    param->sinfo = tvms_clone(m->unit, arg->sinfo, &m->known);
    bind_symbols(f, m, param->sinfo);
    tvms_vec_push(memory_of(f), &m->params, param);
  }
}

// Outputs are plain variables called gv, the others keep their names.
static void copy_binding(fusion *f, maker *m, const group *g, const tvms_node *node,
                         uint32_t *outputs) {
  tvms_node *copy = tvms_clone(m->unit, node, &m->known);
  tvms_node *var = tvms_as_var_binding(copy)->var;
  if (holds(&g->outputs, var_of(node))) {
    char text[32];
    int len = snprintf(text, sizeof text, *outputs ? "gv%u" : "gv", *outputs);
    tvms_as_var(var)->name = tvms_symbol_intern(f->run->context, text, (size_t)len);
    var->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
    ++*outputs;
  } else {
    var->flags |= TVMS_FLAG_DATAFLOW;
  }
  copy->flags = 0;
  tvms_vec_push(memory_of(f), &m->bindings, copy);
}

static tvms_node *result_of(maker *m, const group *g) {
  if (g->outputs.len == 1) return tvms_node_map_get(&m->known, g->outputs.items[0]);
  tvms_tuple *tuple = tvms_node_make(m->unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(m->unit, g->outputs.items, g->outputs.len);
  tvms_list types = tvms_list_copy(m->unit, g->outputs.items, g->outputs.len);
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    tuple->fields.items[i] = tvms_node_map_get(&m->known, g->outputs.items[i]);
    types.items[i] = tuple->fields.items[i]->sinfo;
  }
  tuple->head.sinfo = tvms_sinfo_tuple_new(m->unit, types.items, types.len);
  return &tuple->head;
}

// Sizes that no parameter has are handed over as a shape.
static void add_sizes(fusion *f, maker *m, group *g) {
  struct {
    fusion *f;
    maker *m;
  } pair = {f, m};
  tvms_visitor visitor = {.self = &pair, .enter = find_free};
  for (uint32_t i = 0; i < m->bindings.len; i++) {
    tvms_walk(memory_of(f), m->bindings.items[i], &visitor);
  }
  if (m->free.len == 0) return;
  tvms_node_map back;
  tvms_node_map_init(&back, memory_of(f));
  for (uint32_t i = 0; i < m->known.cap; i++) {
    const tvms_node_pair *pair_at = &m->known.pairs[i];
    if (pair_at->key && pair_at->value) {
      tvms_node_map_put(&back, pair_at->value, (tvms_node *)(uintptr_t)pair_at->key);
    }
  }
  tvms_list inner = tvms_list_copy(m->unit, m->free.items, m->free.len);
  tvms_list outer = tvms_list_copy(f->rewriter.unit, m->free.items, m->free.len);
  for (uint32_t i = 0; i < outer.len; i++) {
    outer.items[i] = tvms_node_map_get(&back, outer.items[i]);
  }
  tvms_node_map_fini(&back);
  tvms_sym name = tvms_symbol_intern(f->run->context, "tir_vars", 8);
  tvms_node *param = tvms_var_new(m->unit, name, (tvms_dtype){0}, TVMS_NO_SPAN);
  param->sinfo = shape_of(m->unit, inner)->sinfo;
  tvms_vec_push(memory_of(f), &m->params, param);
  tvms_vec_push(memory_of(f), &g->args, shape_of(f->rewriter.unit, outer));
}

static tvms_node *finish_function(maker *m, tvms_node *result) {
  tvms_unit *unit = m->unit;
  tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, TVMS_NO_SPAN);
  block->head.flags = TVMS_FLAG_DATAFLOW;
  block->bindings = tvms_list_copy(unit, m->bindings.items, m->bindings.len);
  tvms_seq_expr *body = tvms_node_make(unit, SEQ_EXPR, TVMS_NO_SPAN);
  tvms_node *only = &block->head;
  body->blocks = tvms_list_copy(unit, &only, 1);
  body->body = result;
  body->head.sinfo = result->sinfo;
  tvms_function *function = tvms_node_make(unit, FUNCTION, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_PURE;
  function->params = tvms_list_copy(unit, m->params.items, m->params.len);
  function->ret = result->sinfo;
  function->body = &body->head;
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  function->attrs = tvms_object_map_with(unit, NULL, "Primitive", yes);
  return &function->head;
}

// Adds the function of a group to the module and returns its name.
static tvms_sym make_function(fusion *f, group *g) {
  maker m = {.unit = tvms_functions_open_unit(f->run)};
  tvms_node_map_init(&m.known, memory_of(f));
  tvms_node_map_init(&m.bound, memory_of(f));
  add_parameters(f, &m, g);
  uint32_t outputs = 0;
  for (uint32_t i = 0; i < g->bindings.len; i++) {
    copy_binding(f, &m, g, g->bindings.items[i], &outputs);
  }
  add_sizes(f, &m, g);
  tvms_node *function = finish_function(&m, result_of(&m, g));
  tvms_sym name =
      tvms_functions_add_unique(f->run, tvms_strbuf_text(&g->name), m.unit, function);
  tvms_node_map_fini(&m.known);
  tvms_node_map_fini(&m.bound);
  tvms_vec_fini(memory_of(f), &m.params);
  tvms_vec_fini(memory_of(f), &m.bindings);
  tvms_vec_fini(memory_of(f), &m.free);
  return name;
}

// ---- The block anew ----

static tvms_node *emit_as(fusion *f, tvms_node *value, bool dataflow) {
  tvms_node *binding =
      tvms_relax_bind(&f->emitter, value, dataflow ? "lv" : "gv", dataflow);
  tvms_vec_push(memory_of(f), &f->made, binding);
  return tvms_as_var_binding(binding)->var;
}

static tvms_node *type_of_outputs(fusion *f, const group *g) {
  if (g->outputs.len == 1) return g->outputs.items[0]->sinfo;
  tvms_list types = tvms_list_copy(f->rewriter.unit, g->outputs.items, g->outputs.len);
  for (uint32_t i = 0; i < types.len; i++) {
    types.items[i] = types.items[i]->sinfo;
  }
  return tvms_sinfo_tuple_new(f->rewriter.unit, types.items, types.len);
}

static void emit_call(fusion *f, group *g) {
  tvms_unit *unit = f->rewriter.unit;
  tvms_rewriter *rewriter = &f->rewriter;
  tvms_global_var *callee = tvms_node_make(unit, GLOBAL_VAR, TVMS_NO_SPAN);
  callee->name = make_function(f, g);
  for (uint32_t i = 0; i < g->args.len; i++) {
    g->args.items[i] = tvms_rewrite(rewriter, g->args.items[i]);
  }
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, &callee->head, g->args.items,
                                  g->args.len, g->last->span);
  call->sinfo = type_of_outputs(f, g);
  if (g->outputs.len == 1) {
    tvms_node *old = g->outputs.items[0];
    bool dataflow = old->flags & TVMS_FLAG_DATAFLOW;
    tvms_node_map_put(&rewriter->known, old, emit_as(f, call, dataflow));
    return;
  }
  tvms_node *tuple = emit_as(f, call, true);
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    tvms_node *old = g->outputs.items[i];
    tvms_tuple_get_item *item = tvms_node_make(unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
    item->tuple = tuple;
    item->index = i;
    item->head.sinfo = old->sinfo;
    bool dataflow = old->flags & TVMS_FLAG_DATAFLOW;
    tvms_node_map_put(&rewriter->known, old, emit_as(f, &item->head, dataflow));
  }
}

static void emit_group(fusion *f, uint32_t root);

static tvms_walk_step emit_needed(void *self, tvms_node *node, tvms_field_role role) {
  fusion *f = self;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  if (f->node_of[node->id]) emit_group(f, root_of(f, node));
  return TVMS_WALK_SKIP;
}

// Emits what a binding uses before it: a group stands at its last binding, and others may
// use its results before that place.
static void emit_needs(fusion *f, tvms_node *binding) {
  tvms_visitor visitor = {.self = f, .enter = emit_needed};
  tvms_walk(memory_of(f), value_of(binding), &visitor);
}

static void emit_group(fusion *f, uint32_t root) {
  group *g = f->group_of[root];
  tvms_node *single = f->single[root];
  if (f->emitted[root] || (!g && !single)) return;
  f->emitted[root] = true;
  if (!tvms_memory_enter(memory_of(f)))
    tvms_memory_unwind(memory_of(f), TVMS_OVER_LIMIT);
  for (uint32_t i = 0; g && i < g->bindings.len; i++) {
    emit_needs(f, g->bindings.items[i]);
  }
  if (single) {
    emit_needs(f, single);
    tvms_vec_push(memory_of(f), &f->made, tvms_rewrite(&f->rewriter, single));
  } else if (g && g->outputs.len) {
    emit_call(f, g);
  }
  tvms_memory_leave(memory_of(f));
}

static void emit_bindings(fusion *f, tvms_list bindings) {
  for (uint32_t i = 0; i < bindings.len; i++) {
    uint32_t root = root_of(f, var_of(bindings.items[i]));
    group *g = f->group_of[root];
    if (!g || g->last == bindings.items[i]) emit_group(f, root);
  }
}

static void drop_groups(fusion *f, tvms_list bindings) {
  for (uint32_t i = 0; i < bindings.len; i++) {
    uint32_t root = root_of(f, var_of(bindings.items[i]));
    group *g = f->group_of[root];
    f->sizes[root] = 0;
    f->single[root] = NULL;
    if (!g) continue;
    tvms_vec_fini(memory_of(f), &g->bindings);
    tvms_vec_fini(memory_of(f), &g->args);
    tvms_vec_fini(memory_of(f), &g->outputs);
    tvms_strbuf_fini(&g->name);
    tvms_memory_free(memory_of(f), g);
    f->group_of[root] = NULL;
  }
}

static tvms_node *fuse_block(tvms_rewriter *rewriter, tvms_node *node) {
  fusion *f = rewriter->self;
  if (!(node->flags & TVMS_FLAG_DATAFLOW) || f->functions > 1)
    return TVMS_REWRITE_BELOW;
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  collect_groups(f, bindings);
  find_outputs(f, bindings);
  f->made.len = 0;
  emit_bindings(f, bindings);
  drop_groups(f, bindings);
  tvms_binding_block *block = tvms_node_make(rewriter->unit, BINDING_BLOCK, node->span);
  block->head.flags = node->flags;
  block->bindings = tvms_list_copy(rewriter->unit, f->made.items, f->made.len);
  return &block->head;
}

static tvms_node *enter_function(tvms_rewriter *rewriter, tvms_node *node) {
  (void)node;
  ((fusion *)rewriter->self)->functions++;
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_function(tvms_rewriter *rewriter, tvms_node *node) {
  ((fusion *)rewriter->self)->functions--;
  return node;
}

static bool is_fused_already(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  int64_t primitive = 0;
  (void)!tvms_object_as_int(tvms_object_map_get(attrs, "Primitive"), &primitive);
  return primitive != 0 || tvms_object_map_get(attrs, "Codegen");
}

static bool has_group(const fusion *f) {
  for (uint32_t i = 0; i < f->graph.nodes.len; i++) {
    if (f->groups[i] != i) return true;
  }
  return false;
}

static tvms_node *fuse_function(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  if (is_fused_already(function)) return function;
  fusion f = {.run = run};
  tvms_rewriter_init(&f.rewriter, unit, &f);
  tvms_relax_emitter_init(&f.emitter, unit);
  tvms_fuse_graph_init(&f.graph, memory_of(&f));
  tvms_arena arena;
  tvms_arena_init(&arena, memory_of(&f));
  f.node_of = tvms_arena_array(&arena, uint32_t, unit->next_id);
  build_graph(&f, tvms_as_function(function));
  uint32_t count = f.graph.nodes.len;
  f.groups = tvms_arena_array(&arena, uint32_t, count);
  f.group_of = tvms_arena_array(&arena, group *, count);
  f.sizes = tvms_arena_array(&arena, uint32_t, count);
  f.single = tvms_arena_array(&arena, tvms_node *, count);
  f.emitted = tvms_arena_array(&arena, bool, count);
  int64_t depth = TVMS_OPTION(run, FuseOps, max_depth).number;
  tvms_fuse_graph_partition(&f.graph, depth > 0 ? (uint32_t)depth : UINT32_MAX,
                            f.groups);
  tvms_node *result = function;
  if (has_group(&f)) {
    f.rewriter.enter[TVMS_NODE_BINDING_BLOCK] = fuse_block;
    f.rewriter.enter[TVMS_NODE_FUNCTION] = enter_function;
    f.rewriter.leave[TVMS_NODE_FUNCTION] = leave_function;
    result = tvms_rewrite(&f.rewriter, function);
  }
  tvms_arena_fini(&arena);
  tvms_fuse_graph_fini(&f.graph);
  tvms_rewriter_fini(&f.rewriter);
  tvms_relax_emitter_fini(&f.emitter);
  tvms_vec_fini(memory_of(&f), &f.made);
  return result;
}

void tvms_pass_fuse_ops(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, fuse_function);
}
