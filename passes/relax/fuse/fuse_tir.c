// FuseTIR: the PrimFuncs that a fused function calls become one PrimFunc.
//
// Before: def fused_add_relu: lv = call_tir(add, …); gv = call_tir(relu, (lv,), …)
// After:  a PrimFunc fused_add_relu with the loops of both, the value between them in a
//         buffer T_add_intermediate; callers use call_tir
//
// Functions with other calls, or whose PrimFuncs have no root block, stay as they are.
// Loops are not merged: that is scheduling. TVM: relax.transform.FuseTIR.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Buffers of the value of one variable of Relax: one, or those of a tuple's fields.
typedef struct {
  const tvms_node *var;
  tvms_list buffers;
} value;

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  tvms_node_map known;  // from the Relax function: symbolic variables
  tvms_node_vec params;
  tvms_node_vec buffers;  // of the parameters; NULL: a scalar
  tvms_node_vec allocs;
  tvms_node_vec bodies;
  TVMS_VEC(value) values;
  TVMS_VEC(tvms_bytes) names;  // of blocks
} fuser;

static tvms_memory *memory_of(const fuser *f) {
  return &f->run->context->memory;
}

static tvms_sym symbol(const fuser *f, const char *text) {
  return tvms_symbol_intern(f->run->context, text, strlen(text));
}

static tvms_node *new_buffer(fuser *f, const char *name, const tvms_node *type) {
  tvms_unit *unit = f->unit;
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = symbol(f, name);
  buffer->element = type->dtype;
  tvms_list dims = tvms_as_shape_expr(tvms_as_sinfo_tensor(type)->shape)->values;
  buffer->shape = tvms_list_copy(unit, dims.items, dims.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    buffer->shape.items[i] = tvms_clone(unit, dims.items[i], &f->known);
  }
  buffer->data = tvms_pointer_var_new(unit, buffer->name, type->dtype, 0, TVMS_NO_SPAN);
  tvms_dtype index = dims.len ? dims.items[0]->dtype : TVMS_DTYPE(INT, 32);
  buffer->elem_offset = tvms_int_imm_new(unit, index, 0, TVMS_NO_SPAN);
  buffer->align = 64;
  buffer->offset_factor = 1;
  return &buffer->head;
}

static void add_parameter(fuser *f, const char *name, tvms_node *buffer) {
  tvms_node *param =
      tvms_pointer_var_new(f->unit, symbol(f, name), (tvms_dtype){0}, 0, TVMS_NO_SPAN);
  tvms_vec_push(memory_of(f), &f->params, param);
  tvms_vec_push(memory_of(f), &f->buffers, buffer);
}

static void add_scalar(fuser *f, tvms_node *var) {
  tvms_vec_push(memory_of(f), &f->params, var);
  tvms_vec_push(memory_of(f), &f->buffers, (tvms_node *)NULL);
}

static void set_value(fuser *f, const tvms_node *var, tvms_list buffers) {
  tvms_vec_push(memory_of(f), &f->values, ((value){var, buffers}));
}

static tvms_list value_of(const fuser *f, const tvms_node *var) {
  for (uint32_t i = f->values.len; i > 0; i--) {
    if (f->values.items[i - 1].var == var) return f->values.items[i - 1].buffers;
  }
  return (tvms_list){NULL, 0};
}

static bool is_known_tensor(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TENSOR || tvms_dtype_is_void(type->dtype)) {
    return false;
  }
  const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
  return shape && shape->kind == TVMS_NODE_SHAPE_EXPR;
}

static bool add_relax_parameter(fuser *f, const tvms_node *param) {
  const char *name = tvms_symbol_text(f->run->context, tvms_as_var(param)->name);
  const tvms_node *type = param->sinfo;
  if (is_known_tensor(type)) {
    char text[160];
    snprintf(text, sizeof text, "p_%s", name);
    tvms_node *buffer = new_buffer(f, name, type);
    add_parameter(f, text, buffer);
    set_value(f, param, tvms_list_copy(f->unit, &buffer, 1));
    return true;
  }
  if (type->kind != TVMS_NODE_SINFO_SHAPE) return false;
  tvms_list sizes = tvms_as_sinfo_shape(type)->values;
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind != TVMS_NODE_VAR) return false;
    add_scalar(f, tvms_clone(f->unit, sizes.items[i], &f->known));
  }
  return true;
}

// The dimensions of a callee's buffer are those of the fused function's.
static void match_shape(tvms_node_map *map, const tvms_node *inner,
                        const tvms_node *outer) {
  tvms_list from = tvms_as_buffer(inner)->shape, to = tvms_as_buffer(outer)->shape;
  for (uint32_t i = 0; i < from.len && i < to.len; i++) {
    bool open =
        from.items[i]->kind == TVMS_NODE_VAR && !tvms_node_map_get(map, from.items[i]);
    if (open) tvms_node_map_put(map, from.items[i], to.items[i]);
  }
}

static void map_buffer(tvms_node_map *map, const tvms_node *inner, tvms_node *outer) {
  tvms_node_map_put(map, inner, outer);
  tvms_node_map_put(map, tvms_as_buffer(inner)->data, tvms_as_buffer(outer)->data);
  match_shape(map, inner, outer);
}

static bool has_alloc_named(const fuser *f, const char *name) {
  for (uint32_t i = 0; i < f->allocs.len; i++) {
    tvms_sym own = tvms_as_buffer(f->allocs.items[i])->name;
    if (strcmp(tvms_symbol_text(f->run->context, own), name) == 0) return true;
  }
  return false;
}

// TVM lengthens the last attempt: X_intermediate, X_intermediate_1, X_intermediate_1_2.
static tvms_node *add_intermediate(fuser *f, const tvms_node *inner,
                                   const tvms_node *type) {
  char text[256];
  const char *base = tvms_symbol_text(f->run->context, tvms_as_buffer(inner)->name);
  snprintf(text, sizeof text, "%s_intermediate", base);
  for (uint32_t n = 1; has_alloc_named(f, text) && strlen(text) + 12 < sizeof text;
       n++) {
    size_t len = strlen(text);
    snprintf(text + len, sizeof text - len, "_%u", n);
  }
  tvms_node *buffer = new_buffer(f, text, type);
  tvms_vec_push(memory_of(f), &f->allocs, buffer);
  return buffer;
}

static const tvms_prim_func *callee_of(const fuser *f, const tvms_call *call) {
  const tvms_node *name = call->args.items[0];
  if (name->kind != TVMS_NODE_GLOBAL_VAR) return NULL;
  const tvms_member *member =
      tvms_module_find(f->run->module, tvms_as_global_var(name)->name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC) {
    return NULL;
  }
  const tvms_prim_func *callee = tvms_as_prim_func(member->function);
  if (callee->body->kind != TVMS_NODE_BLOCK_REALIZE) return NULL;
  const tvms_block *root = tvms_as_block(tvms_as_block_realize(callee->body)->block);
  return root->iter_vars.len == 0 ? callee : NULL;
}

// Maps the parameters of the callee to what is passed. False: not of a form that fuses.
static bool map_arguments(fuser *f, const tvms_prim_func *callee, tvms_list args,
                          tvms_node_map *map) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < args.len; i++, at++) {
    const tvms_node *arg = args.items[i];
    if (at >= callee->params.len) return false;
    if (!callee->buffers.items[at]) {
      const tvms_node *scalar =
          arg->kind == TVMS_NODE_PRIM_VALUE ? tvms_as_prim_value(arg)->value : arg;
      if (tvms_dtype_is_void(scalar->dtype)) return false;
      tvms_node_map_put(map, callee->params.items[at],
                        tvms_clone(f->unit, scalar, &f->known));
      continue;
    }
    tvms_list buffers = value_of(f, arg);
    if (buffers.len != 1) return false;
    map_buffer(map, callee->buffers.items[at], buffers.items[0]);
  }
  return true;
}

static bool map_outputs(fuser *f, const tvms_prim_func *callee, tvms_list types,
                        uint32_t first, tvms_node_map *map, const tvms_node *var) {
  if (first + types.len != callee->params.len) return false;
  tvms_list outputs = tvms_list_copy(f->unit, types.items, types.len);
  for (uint32_t i = 0; i < types.len; i++) {
    tvms_node *inner = callee->buffers.items[first + i];
    if (!inner || !is_known_tensor(types.items[i])) return false;
    outputs.items[i] = add_intermediate(f, inner, types.items[i]);
    map_buffer(map, inner, outputs.items[i]);
  }
  set_value(f, var, outputs);
  return true;
}

static bool add_call(fuser *f, const tvms_call *call, const tvms_node *var) {
  if (tvms_op_called(&call->head) != TVMS_R_call_tir) return false;
  const tvms_prim_func *callee = callee_of(f, call);
  if (!callee || call->args.items[1]->kind != TVMS_NODE_TUPLE) return false;
  tvms_list args = tvms_as_tuple(call->args.items[1])->fields;
  const tvms_node *type = call->type_args.items[0];
  tvms_node *single = (tvms_node *)(uintptr_t)type;
  tvms_list types = {&single, 1};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) types = tvms_as_sinfo_tuple(type)->fields;
  tvms_node_map map;
  tvms_node_map_init(&map, memory_of(f));
  const tvms_block *root = tvms_as_block(tvms_as_block_realize(callee->body)->block);
  bool fine = map_arguments(f, callee, args, &map);
  // TVM lists the buffers of the callee before those of its results.
  for (uint32_t i = 0; fine && i < root->alloc_buffers.len; i++) {
    tvms_node *copy = tvms_clone(f->unit, root->alloc_buffers.items[i], &map);
    tvms_vec_push(memory_of(f), &f->allocs, copy);
  }
  fine = fine && map_outputs(f, callee, types, args.len, &map, var);
  if (fine) {
    tvms_stmt_push(memory_of(f), &f->bodies, tvms_clone(f->unit, root->body, &map));
  }
  tvms_node_map_fini(&map);
  return fine;
}

static bool add_binding(fuser *f, const tvms_node *node) {
  if (node->kind != TVMS_NODE_VAR_BINDING) return false;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  const tvms_node *bound = binding->value;
  if (bound->kind == TVMS_NODE_CALL)
    return add_call(f, tvms_as_call(bound), binding->var);
  tvms_list buffers = {NULL, 0};
  if (bound->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    const tvms_tuple_get_item *item = tvms_as_tuple_get_item(bound);
    tvms_list all = value_of(f, item->tuple);
    if ((uint64_t)item->index < all.len) {
      buffers = tvms_list_copy(f->unit, all.items + item->index, 1);
    }
  } else if (bound->kind == TVMS_NODE_VAR) {
    buffers = value_of(f, bound);
  }
  set_value(f, binding->var, buffers);
  return buffers.len > 0;
}

static bool add_results(fuser *f, const tvms_node *result) {
  tvms_node *single = (tvms_node *)(uintptr_t)result;
  tvms_list results = {&single, 1};
  if (result->kind == TVMS_NODE_TUPLE) results = tvms_as_tuple(result)->fields;
  for (uint32_t i = 0; i < results.len; i++) {
    tvms_list buffers = value_of(f, results.items[i]);
    if (buffers.len == 0) return false;
    for (uint32_t j = 0; j < buffers.len; j++) {
      uint32_t at = 0;
      while (at < f->allocs.len && f->allocs.items[at] != buffers.items[j])
        at++;
      if (at == f->allocs.len) return false;  // a parameter, or given twice
      memmove(f->allocs.items + at, f->allocs.items + at + 1,
              (f->allocs.len - at - 1) * sizeof *f->allocs.items);
      f->allocs.len--;
      char text[32];
      snprintf(text, sizeof text, "p_output%u", i + j);
      add_parameter(f, text, buffers.items[j]);
    }
  }
  return true;
}

static bool is_taken(const fuser *f, const char *name) {
  for (uint32_t i = 0; i < f->names.len; i++) {
    if (tvms_bytes_is(f->names.items[i], name)) return true;
  }
  return false;
}

// A name with a number counts it up, others get one: compute, compute1, compute2 …
static tvms_node *rename_block(tvms_rewriter *rewriter, tvms_node *node) {
  fuser *f = rewriter->self;
  const tvms_block *block = tvms_as_block(node);
  const char *name = block->name.len ? block->name.text : "";
  size_t base = strlen(name);
  while (base > 0 && isdigit((unsigned char)name[base - 1]))
    base--;
  long number = strtol(name + base, NULL, 10);
  size_t room = base + 24;
  char *text =
      tvms_arena_alloc(&f->unit->arena, room > strlen(name) ? room : strlen(name) + 1);
  strcpy(text, name);
  while (is_taken(f, text))
    snprintf(text + base, room - base, "%ld", ++number);
  tvms_bytes unique = {text, (uint32_t)strlen(text)};
  tvms_vec_push(memory_of(f), &f->names, unique);
  if (tvms_bytes_same(unique, block->name)) return node;
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_block(copy)->name = unique;
  return copy;
}

static tvms_node *finish(fuser *f) {
  tvms_unit *unit = f->unit;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, f);
  rewriter.leave[TVMS_NODE_BLOCK] = rename_block;
  tvms_node *body = tvms_stmt_seq(unit, &f->bodies, TVMS_NO_SPAN);
  body = tvms_rewrite(&rewriter, body);
  tvms_rewriter_fini(&rewriter);
  tvms_block *root = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  root->name = tvms_bytes_copy(unit, "root", 4);
  root->alloc_buffers = tvms_list_copy(unit, f->allocs.items, f->allocs.len);
  root->body = body;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &root->head;
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  function->params = tvms_list_copy(unit, f->params.items, f->params.len);
  function->buffers = tvms_list_copy(unit, f->buffers.items, f->buffers.len);
  function->body = &realize->head;
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  const char *key = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx)
                        ? "tirx.noalias"
                        : "tir.noalias";
  function->attrs = tvms_object_map_with(unit, NULL, key, yes);
  return &function->head;
}

static bool add_body(fuser *f, const tvms_function *function) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (!add_relax_parameter(f, function->params.items[i])) return false;
  }
  const tvms_seq_expr *body = tvms_as_seq_expr(function->body);
  for (uint32_t i = 0; i < body->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(body->blocks.items[i])->bindings;
    for (uint32_t j = 0; j < bindings.len; j++) {
      if (!add_binding(f, bindings.items[j])) return false;
    }
  }
  return add_results(f, body->body);
}

static void drop(fuser *f) {
  tvms_node_map_fini(&f->known);
  tvms_vec_fini(memory_of(f), &f->params);
  tvms_vec_fini(memory_of(f), &f->buffers);
  tvms_vec_fini(memory_of(f), &f->allocs);
  tvms_vec_fini(memory_of(f), &f->bodies);
  tvms_vec_fini(memory_of(f), &f->values);
  tvms_vec_fini(memory_of(f), &f->names);
}

static bool is_primitive(const tvms_node *function) {
  if (!function || function->kind != TVMS_NODE_FUNCTION) return false;
  int64_t primitive;
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  return tvms_object_as_int(tvms_object_map_get(attrs, "Primitive"), &primitive)
         && primitive;
}

// Puts a PrimFunc in the place of a fused function. False: it stays.
static bool fuse_member(tvms_pass_run *run, uint32_t index) {
  fuser f = {.run = run, .unit = tvms_functions_open_unit(run)};
  tvms_node_map_init(&f.known, memory_of(&f));
  const tvms_node *old = run->module->members[index].function;
  bool fine = add_body(&f, tvms_as_function(old));
  if (fine) {
    tvms_node *function = finish(&f);
    tvms_as_prim_func(function)->name = tvms_as_function(old)->name;
    tvms_functions_replace(run, index, f.unit, function);
  } else {
    tvms_functions_drop_unit(run, f.unit);
  }
  drop(&f);
  return fine;
}

typedef struct {
  TVMS_VEC(tvms_sym) fused;  // members that became PrimFuncs
} callers;

// Sizes in a shape are passed one by one.
static void push_argument(tvms_memory *memory, tvms_node_vec *args, tvms_node *arg) {
  if (arg->kind != TVMS_NODE_SHAPE_EXPR) {
    tvms_vec_push(memory, args, arg);
    return;
  }
  tvms_list sizes = tvms_as_shape_expr(arg)->values;
  for (uint32_t i = 0; i < sizes.len; i++)
    tvms_vec_push(memory, args, sizes.items[i]);
}

static tvms_node *call_fused(tvms_rewriter *rewriter, tvms_node *node) {
  callers *state = rewriter->self;
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind != TVMS_NODE_GLOBAL_VAR) return node;
  tvms_sym name = tvms_as_global_var(call->callee)->name;
  uint32_t at = 0;
  while (at < state->fused.len && state->fused.items[at] != name)
    at++;
  if (at == state->fused.len) return node;
  tvms_memory *memory = &rewriter->unit->context->memory;
  tvms_node_vec args = {0};
  for (uint32_t i = 0; i < call->args.len; i++) {
    push_argument(memory, &args, call->args.items[i]);
  }
  tvms_list list = {args.items, args.len};
  tvms_node *made =
      tvms_relax_make_call_tir(rewriter->unit, name, list, node->sinfo, node->span);
  tvms_vec_fini(memory, &args);
  return made;
}

static tvms_node *change_caller(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run->state);
  rewriter.leave[TVMS_NODE_CALL] = call_fused;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_fuse_tir(tvms_pass_run *run) {
  callers state = {0};
  for (uint32_t i = 0; i < run->module->member_count; i++) {
    const tvms_member *member = &run->module->members[i];
    if (!is_primitive(member->function) || !fuse_member(run, i)) continue;
    tvms_vec_push(&run->context->memory, &state.fused, run->module->members[i].name);
  }
  run->state = &state;
  if (state.fused.len) tvms_functions_change(run, TVMS_NODE_FUNCTION, change_caller);
  tvms_vec_fini(&run->context->memory, &state.fused);
  tvms_dead_code_eliminate(run, "");
}
