// Each block is made anew: a pass over its bindings collects the groups, another the values
// that leave them, and then each group is written behind what it needs.
//
// A tuple from outside of which a group takes only items is not handed over: the items are,
// and are taken in front of the call (TVM: FunctionCreator and OperatorFusor of fuse_ops.cc).
#include "passes/relax/fuse/group_functions.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/fuse/group_collect.h"
#include "passes/relax/retype.h"
#include "structinfo/make.h"
#include "structinfo/relate.h"
#include "structinfo/sinfo.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_fuse_collector in;
  tvms_rewriter rewriter;  // self is this struct
  tvms_relax_emitter emitter;
  uint32_t functions;  // open ones: what is inside a local function stays, as in TVM
  tvms_rewrite_hook *retype_function;  // of passes/relax/retype.h
  tvms_node_vec made;                  // bindings of the block being made
} fusion;

static tvms_memory *memory_of(const fusion *f) {
  return &f->in.run->context->memory;
}

// ---- The function of a group ----

typedef struct {
  fusion *f;
  tvms_fuse_group *g;
  tvms_unit *unit;  // of the function
  tvms_node_map known;
  tvms_node_vec params;
  tvms_node_vec bindings;
  tvms_node_map bound;  // symbolic variables that parameters define
  tvms_node_vec free;
  tvms_node *TVMS_NULLABLE sizes;  // what is handed over for them
} maker;

static bool is_symbol(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(node->dtype);
}

// Only a dimension that is a variable defines it.
static void bind_symbols(maker *m, tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      bind_symbols(m, fields.items[i]);
    return;
  }
  tvms_list dims = {NULL, 0};
  bool sized =
      type->kind == TVMS_NODE_SINFO_SHAPE || type->kind == TVMS_NODE_SINFO_TENSOR;
  if (!sized || !tvms_sinfo_dims(type, &dims)) return;
  for (uint32_t i = 0; i < dims.len; i++) {
    if (is_symbol(dims.items[i]))
      tvms_node_map_put(&m->bound, dims.items[i], dims.items[i]);
  }
}

static tvms_walk_step find_free(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  maker *m = self;
  if (!is_symbol(node) || tvms_node_map_get(&m->bound, node)) return TVMS_WALK_ON;
  tvms_node_map_put(&m->bound, node, node);
  tvms_vec_push(memory_of(m->f), &m->free, node);
  return TVMS_WALK_ON;
}

static tvms_node *shape_of(tvms_unit *unit, tvms_list values) {
  return tvms_sinfo_shape_value_new(unit, values.items, values.len, TVMS_NO_SPAN);
}

static tvms_node *add_parameter(maker *m, const char *name, const tvms_node *type) {
  tvms_sym symbol = tvms_symbol_intern(m->f->in.run->context, name, strlen(name));
  bool scalar = type->kind == TVMS_NODE_SINFO_PRIM
                && tvms_release_has(m->unit->dialect, TVMS_FACT_scalars_are_tir);
  tvms_dtype dtype = scalar ? type->dtype : (tvms_dtype){0};
  tvms_node *param = tvms_var_new(m->unit, symbol, dtype, TVMS_NO_SPAN);
  param->sinfo = scalar ? tvms_sinfo_prim_new(m->unit, dtype, NULL)
                        : tvms_clone(m->unit, type, &m->known);
  bind_symbols(m, param->sinfo);
  if (scalar) tvms_node_map_put(&m->bound, param, param);
  tvms_vec_push(memory_of(m->f), &m->params, param);
  return param;
}

static void add_item_parameters(maker *m, const tvms_fuse_argument *arg) {
  tvms_list types = tvms_as_sinfo_tuple(arg->value->sinfo)->fields;
  const char *name =
      tvms_symbol_text(m->f->in.run->context, tvms_as_var(arg->value)->name);
  tvms_strbuf text;
  tvms_strbuf_init(&text, memory_of(m->f));
  for (uint32_t i = 0; i < arg->items.len; i++) {
    int64_t index = arg->items.items[i];
    text.len = 0;
    tvms_strbuf_printf(&text, "%s_%d", name, (int)index);
    add_parameter(m, tvms_strbuf_text(&text), types.items[index]);
  }
  tvms_strbuf_fini(&text);
}

static void add_parameters(maker *m) {
  for (uint32_t i = 0; i < m->g->args.len; i++) {
    const tvms_fuse_argument *arg = &m->g->args.items[i];
    if (arg->items_only) {
      add_item_parameters(m, arg);
      continue;
    }
    char text[32];
    const char *name = text;
    if (arg->value->kind == TVMS_NODE_VAR) {
      name = tvms_symbol_text(m->f->in.run->context, tvms_as_var(arg->value)->name);
    } else {
      snprintf(text, sizeof text, "param_%u", m->g->constants++);
    }
    const tvms_node *type = tvms_sinfo_of(m->f->rewriter.unit, arg->value);
    tvms_node_map_put(&m->known, arg->value, add_parameter(m, name, type));
  }
}

// The parameter for an item that is taken from a tuple outside, or NULL.
static tvms_node *TVMS_NULLABLE parameter_of_item(const maker *m,
                                                  const tvms_node *value) {
  if (value->kind != TVMS_NODE_TUPLE_GET_ITEM) return NULL;
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
  uint32_t at = 0;
  for (uint32_t i = 0; i < m->g->args.len; i++) {
    const tvms_fuse_argument *arg = &m->g->args.items[i];
    if (arg->value != item->tuple || !arg->items_only) {
      at += arg->items_only ? arg->items.len : 1;
      continue;
    }
    // Of an item that is taken twice the last parameter counts.
    for (uint32_t k = arg->items.len; k > 0; k--) {
      if (arg->items.items[k - 1] == item->index) return m->params.items[at + k - 1];
    }
  }
  return NULL;
}

// A literal bound outside stands where the variable was used.
static tvms_walk_step inline_literal(void *self, tvms_node *node,
                                     tvms_field_role role) {
  maker *m = self;
  if (node->kind != TVMS_NODE_VAR || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  if (tvms_node_map_get(&m->known, node) || tvms_fuse_group_defines(m->g, node))
    return TVMS_WALK_ON;
  tvms_node *literal = tvms_fuse_group_literal(&m->f->in, node);
  if (literal)
    tvms_node_map_put(&m->known, node, tvms_clone(m->unit, literal, &m->known));
  return TVMS_WALK_ON;
}

// Outputs are plain variables called gv, the others keep their names.
static void copy_binding(maker *m, const tvms_node *node, uint32_t *outputs) {
  tvms_node *var = tvms_relax_binding_var(node);
  tvms_node *param = parameter_of_item(m, tvms_relax_binding_value(node));
  if (param) {
    tvms_node_map_put(&m->known, var, param);
    return;
  }
  tvms_visitor visitor = {.self = m, .enter = inline_literal};
  tvms_walk(memory_of(m->f), tvms_relax_binding_value(node), &visitor);
  tvms_node *copy = tvms_clone(m->unit, node, &m->known);
  tvms_node *made = tvms_relax_binding_var(copy);
  if (tvms_fuse_group_gives(m->g, var)) {
    char text[32];
    int len = snprintf(text, sizeof text, *outputs ? "gv%u" : "gv", *outputs);
    tvms_as_var(made)->name =
        tvms_symbol_intern(m->f->in.run->context, text, (size_t)len);
    made->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
    ++*outputs;
  } else {
    made->flags |= TVMS_FLAG_DATAFLOW;
  }
  copy->flags = 0;
  tvms_vec_push(memory_of(m->f), &m->bindings, copy);
}

static tvms_node *result_of(maker *m) {
  const tvms_node_vec *outputs = &m->g->outputs;
  if (outputs->len == 1) return tvms_node_map_get(&m->known, outputs->items[0]);
  tvms_tuple *tuple = tvms_node_make(m->unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(m->unit, outputs->items, outputs->len);
  tvms_list types = tvms_list_copy(m->unit, outputs->items, outputs->len);
  for (uint32_t i = 0; i < outputs->len; i++) {
    tuple->fields.items[i] = tvms_node_map_get(&m->known, outputs->items[i]);
    types.items[i] = tuple->fields.items[i]->sinfo;
  }
  tuple->head.sinfo = tvms_sinfo_tuple_new(m->unit, types.items, types.len);
  return &tuple->head;
}

// Sizes that no parameter has are handed over as a shape.
static void add_sizes(maker *m) {
  fusion *f = m->f;
  tvms_visitor visitor = {.self = m, .enter = find_free};
  for (uint32_t i = 0; i < m->bindings.len; i++)
    tvms_walk(memory_of(f), m->bindings.items[i], &visitor);
  if (m->free.len == 0) return;
  tvms_relax_symbols_latest_first(&m->free);
  tvms_node_map back;
  tvms_node_map_init(&back, memory_of(f));
  for (uint32_t i = 0; i < m->known.cap; i++) {
    const tvms_node_pair *pair = &m->known.pairs[i];
    if (pair->key && pair->value)
      tvms_node_map_put(&back, pair->value, (tvms_node *)(uintptr_t)pair->key);
  }
  tvms_list inner = tvms_list_copy(m->unit, m->free.items, m->free.len);
  tvms_list outer = tvms_list_copy(f->rewriter.unit, m->free.items, m->free.len);
  for (uint32_t i = 0; i < outer.len; i++)
    outer.items[i] = tvms_node_map_get(&back, outer.items[i]);
  tvms_node_map_fini(&back);
  tvms_sym name = tvms_symbol_intern(f->in.run->context, "tir_vars", 8);
  tvms_node *param = tvms_var_new(m->unit, name, (tvms_dtype){0}, TVMS_NO_SPAN);
  param->sinfo = shape_of(m->unit, inner)->sinfo;
  tvms_vec_push(memory_of(f), &m->params, param);
  m->sizes = shape_of(f->rewriter.unit, outer);
}

static tvms_node *finish_function(maker *m, tvms_node *result,
                                  const tvms_node *TVMS_NULLABLE attrs) {
  tvms_unit *unit = m->unit;
  tvms_seq_expr *body = tvms_node_make(unit, SEQ_EXPR, TVMS_NO_SPAN);
  if (m->bindings.len) {
    tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, TVMS_NO_SPAN);
    block->head.flags = TVMS_FLAG_DATAFLOW;
    block->bindings = tvms_list_copy(unit, m->bindings.items, m->bindings.len);
    tvms_node *only = &block->head;
    body->blocks = tvms_list_copy(unit, &only, 1);
  }
  body->body = result;
  body->head.sinfo = result->sinfo;
  tvms_function *function = tvms_node_make(unit, FUNCTION, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_PURE;
  function->params = tvms_list_copy(unit, m->params.items, m->params.len);
  function->ret = result->sinfo;
  function->body = &body->head;
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  tvms_node *own = attrs ? tvms_clone(unit, attrs, &m->known) : NULL;
  function->attrs = tvms_object_map_with(unit, own, "Primitive", yes);
  return &function->head;
}

// Adds the function of a group to the module and returns its name. `*sizes` gets what the
// call passes at the end, if anything.
static tvms_sym make_function(fusion *f, uint32_t index, tvms_node **sizes) {
  tvms_fuse_group *g = &f->in.groups[index];
  maker m = {.f = f, .g = g, .unit = tvms_functions_open_unit(f->in.run)};
  tvms_node_map_init(&m.known, memory_of(f));
  tvms_node_map_init(&m.bound, memory_of(f));
  add_parameters(&m);
  uint32_t outputs = 0;
  for (uint32_t i = 0; i < g->bindings.len; i++)
    copy_binding(&m, g->bindings.items[i], &outputs);
  add_sizes(&m);
  const tvms_node *attrs = f->in.given->attrs ? f->in.given->attrs[index] : NULL;
  tvms_node *function = finish_function(&m, result_of(&m), attrs);
  *sizes = m.sizes;
  tvms_sym name = tvms_functions_add_unique(f->in.run, tvms_strbuf_text(&g->name),
                                            m.unit, function);
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

static tvms_node *item_of(fusion *f, tvms_node *tuple, int64_t index) {
  tvms_tuple_get_item *item =
      tvms_node_make(f->rewriter.unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
  item->tuple = tuple;
  item->index = index;
  item->head.sinfo = tvms_as_sinfo_tuple(tuple->sinfo)->fields.items[index];
  return &item->head;
}

static tvms_node *type_of_output(tvms_unit *unit, const tvms_node *output) {
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  tvms_node *type = tvms_sinfo_simplify(&prover, output->sinfo);
  tvms_prover_fini(&prover);
  return type;
}

// As what the function returns is inferred for a call of it.
static tvms_node *type_of_outputs(fusion *f, const tvms_fuse_group *g) {
  tvms_unit *unit = f->rewriter.unit;
  if (g->outputs.len == 1) return type_of_output(unit, g->outputs.items[0]);
  tvms_list types = tvms_list_copy(unit, g->outputs.items, g->outputs.len);
  for (uint32_t i = 0; i < types.len; i++)
    types.items[i] = type_of_output(unit, types.items[i]);
  return tvms_sinfo_tuple_new(unit, types.items, types.len);
}

static tvms_node *call_of_group(fusion *f, uint32_t index) {
  tvms_fuse_group *g = &f->in.groups[index];
  tvms_unit *unit = f->rewriter.unit;
  tvms_node *sizes = NULL;
  tvms_global_var *callee = tvms_node_make(unit, GLOBAL_VAR, TVMS_NO_SPAN);
  callee->name = make_function(f, index, &sizes);
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < g->args.len; i++) {
    const tvms_fuse_argument *arg = &g->args.items[i];
    tvms_node *value = tvms_rewrite(&f->rewriter, arg->value);
    if (!arg->items_only) tvms_vec_push(memory_of(f), &args, value);
    for (uint32_t k = 0; k < arg->items.len && arg->items_only; k++) {
      tvms_node *item = item_of(f, value, arg->items.items[k]);
      tvms_vec_push(memory_of(f), &args, emit_as(f, item, true));
    }
  }
  if (sizes) tvms_vec_push(memory_of(f), &args, sizes);
  tvms_node *call =
      tvms_call_new(unit, (tvms_dtype){0}, &callee->head, args.items, args.len,
                    g->bindings.items[g->bindings.len - 1]->span);
  tvms_vec_fini(memory_of(f), &args);
  call->sinfo = type_of_outputs(f, g);
  return call;
}

// Several outputs are taken from the tuple in the order in which they were bound.
static void write_call(fusion *f, uint32_t index) {
  tvms_fuse_group *g = &f->in.groups[index];
  tvms_node_map *known = &f->rewriter.known;
  tvms_node *call = call_of_group(f, index);
  if (g->outputs.len == 1) {
    tvms_node *old = g->outputs.items[0];
    bool dataflow = old->flags & TVMS_FLAG_DATAFLOW;
    tvms_node_map_put(known, old, emit_as(f, call, dataflow));
    return;
  }
  tvms_node *tuple = emit_as(f, call, true);
  for (uint32_t i = 0; i < g->bindings.len; i++) {
    const tvms_node *old = tvms_relax_binding_var(g->bindings.items[i]);
    for (uint32_t k = 0; k < g->outputs.len; k++) {
      if (g->outputs.items[k] != old) continue;
      bool dataflow = old->flags & TVMS_FLAG_DATAFLOW;
      tvms_node_map_put(known, old, emit_as(f, item_of(f, tuple, k), dataflow));
    }
  }
}

// Writes a group behind the groups that it needs.
static void write_group(fusion *f, uint32_t index) {
  tvms_fuse_group *g = &f->in.groups[index];
  if (g->written) return;
  g->written = true;
  if (!tvms_memory_enter(memory_of(f)))
    tvms_memory_unwind(memory_of(f), TVMS_OVER_LIMIT);
  for (uint32_t i = 0; i < g->needs.len; i++)
    write_group(f, g->needs.items[i]);
  if (!tvms_fuse_group_is_made(&f->in, index)) {
    for (uint32_t i = 0; i < g->bindings.len; i++)
      tvms_vec_push(memory_of(f), &f->made,
                    tvms_rewrite(&f->rewriter, g->bindings.items[i]));
  } else if (g->outputs.len && g->bindings.len) {
    write_call(f, index);
  }
  tvms_memory_leave(memory_of(f));
}

static tvms_node *rewrite_block(tvms_rewriter *rewriter, tvms_node *node) {
  fusion *f = rewriter->self;
  if (!(node->flags & TVMS_FLAG_DATAFLOW) || f->functions > 1)
    return TVMS_REWRITE_BELOW;
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  tvms_fuse_groups_collect(&f->in, bindings);
  f->made.len = 0;
  for (uint32_t i = 0; i < bindings.len; i++) {
    uint32_t index =
        tvms_fuse_group_of(&f->in, tvms_relax_binding_var(bindings.items[i]));
    if (index != UINT32_MAX) {
      write_group(f, index);
    } else {
      tvms_vec_push(memory_of(f), &f->made, tvms_rewrite(rewriter, bindings.items[i]));
    }
  }
  for (uint32_t i = 0; i < bindings.len; i++) {
    uint32_t index =
        tvms_fuse_group_of(&f->in, tvms_relax_binding_var(bindings.items[i]));
    if (index != UINT32_MAX) tvms_fuse_group_drop(&f->in, &f->in.groups[index]);
  }
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
  fusion *f = rewriter->self;
  f->functions--;
  return f->retype_function(rewriter, node);
}

tvms_node *tvms_fuse_groups_apply(tvms_pass_run *run, tvms_unit *unit,
                                  tvms_node *function, const tvms_fuse_groups *groups) {
  fusion f = {.in = {.run = run, .given = groups}};
  bool any = false;
  for (uint32_t i = 0; i < groups->count && !any; i++)
    any = tvms_fuse_group_is_made(&f.in, i);
  if (!any) return function;
  tvms_rewriter_init(&f.rewriter, unit, &f);
  tvms_relax_emitter_init(&f.emitter, unit);
  if (groups->names) f.emitter.names = groups->names->names;
  tvms_relax_definitions_init(&f.in.definitions, unit, function);
  tvms_arena arena;
  tvms_arena_init(&arena, memory_of(&f));
  f.in.groups = tvms_arena_array(&arena, tvms_fuse_group, groups->count);
  tvms_relax_retype(&f.rewriter);
  f.retype_function = f.rewriter.leave[TVMS_NODE_FUNCTION];
  f.rewriter.enter[TVMS_NODE_BINDING_BLOCK] = rewrite_block;
  f.rewriter.enter[TVMS_NODE_FUNCTION] = enter_function;
  f.rewriter.leave[TVMS_NODE_FUNCTION] = leave_function;
  tvms_node *result = tvms_rewrite(&f.rewriter, function);
  tvms_arena_fini(&arena);
  tvms_relax_definitions_fini(&f.in.definitions);
  tvms_rewriter_fini(&f.rewriter);
  if (groups->names)
    groups->names->names = f.emitter.names;
  else
    tvms_relax_emitter_fini(&f.emitter);
  tvms_vec_fini(memory_of(&f), &f.made);
  return result;
}
