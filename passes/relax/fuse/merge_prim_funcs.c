// Each call adds the body of its callee with the buffers of the caller in the place of the
// callee's own; a result becomes a buffer that the function allocates, unless it is one of
// the arguments (call_tir_inplace). What the function returns becomes a parameter.
//
// Names are TVM's: FusedTIRConstructor of fuse_tir.cc.
#include "passes/relax/fuse/merge_prim_funcs.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "ir/op.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/fuse/merge_blocks.h"
#include "structinfo/definitions.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// Buffers of the value of one variable of Relax: one, or those of a tuple's fields.
typedef struct {
  const tvms_node *var;
  tvms_list buffers;
} value;

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  const tvms_function *function;
  tvms_node_map known;  // from the Relax function: symbolic variables
  tvms_node_vec params;
  tvms_node_vec buffers;  // of the parameters; NULL: a scalar
  tvms_node_vec last;     // scalars that stand behind the results (see add_scalar)
  tvms_node_vec allocs;
  tvms_node_vec bodies;
  TVMS_VEC(value) values;
  tvms_node_vec inplace;  // OBJECT_INT, one for each result
  bool any_inplace;
} fuser;

static tvms_memory *memory_of(const fuser *f) {
  return &f->run->context->memory;
}

// Says why there is no such PrimFunc; false for the caller to hand on.
static bool refuse(const fuser *f, tvms_span span, const char *reason) {
  tvms_context *context = f->run->context;
  tvms_diag_report(&context->diags, TVMS_D_cannot_merge, span,
                   tvms_symbol_text(context, f->function->name), reason);
  return false;
}

static tvms_sym symbol(const fuser *f, const char *text) {
  return tvms_symbol_intern(f->run->context, text, strlen(text));
}

static tvms_node *new_buffer(fuser *f, const char *name, const tvms_node *type,
                             tvms_sym scope) {
  tvms_unit *unit = f->unit;
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = symbol(f, name);
  buffer->element = type->dtype;
  tvms_list dims = tvms_as_shape_expr(tvms_as_sinfo_tensor(type)->shape)->values;
  buffer->shape = tvms_list_copy(unit, dims.items, dims.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    buffer->shape.items[i] = tvms_clone(unit, dims.items[i], &f->known);
  }
  buffer->data =
      tvms_pointer_var_new(unit, buffer->name, type->dtype, scope, TVMS_NO_SPAN);
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

// Where call_tir has tir_vars, scalars are behind the results.
static void add_scalar(fuser *f, tvms_node *var) {
  if (tvms_release_has(f->unit->dialect, TVMS_FACT_call_tir_has_tir_vars)) {
    tvms_vec_push(memory_of(f), &f->last, var);
    return;
  }
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

// ---- Callees ----

static const tvms_prim_func *TVMS_NULLABLE find_callee(const fuser *f,
                                                       const tvms_call *call) {
  const tvms_node *name = call->args.items[0];
  const tvms_member *member =
      tvms_module_function_named(f->run->module, name, TVMS_NODE_PRIM_FUNC);
  return member ? tvms_as_prim_func(member->function) : NULL;
}

// The callee if it is of a form that can be merged; otherwise NULL after a report.
static const tvms_prim_func *TVMS_NULLABLE callee_of(const fuser *f,
                                                     const tvms_call *call) {
  const tvms_prim_func *callee = find_callee(f, call);
  if (!callee) {
    refuse(f, call->head.span, "it calls a function that is no PrimFunc of the module");
    return NULL;
  }
  bool root =
      callee->body->kind == TVMS_NODE_BLOCK_REALIZE
      && tvms_as_block(tvms_as_block_realize(callee->body)->block)->iter_vars.len == 0;
  if (!root) {
    refuse(f, call->head.span, "it calls a PrimFunc without a root block");
    return NULL;
  }
  return callee;
}

static bool is_call_tir(const tvms_node *node) {
  if (node->kind != TVMS_NODE_CALL) return false;
  tvms_opcode op = tvms_op_called(node);
  return op == TVMS_R_call_tir || op == TVMS_R_call_tir_inplace;
}

static tvms_list args_of(const tvms_call *call) {
  const tvms_node *args = call->args.items[1];
  return args->kind == TVMS_NODE_TUPLE ? tvms_as_tuple(args)->fields
                                       : (tvms_list){NULL, 0};
}

// ---- Parameters ----

// The scope in which the first callee that is given the parameter wants it.
static tvms_sym scope_of(const fuser *f, const tvms_node *param) {
  tvms_sym scope = 0;
  tvms_list blocks = tvms_as_seq_expr(f->function->body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      const tvms_node *bound = tvms_relax_binding_value(bindings.items[k]);
      if (!is_call_tir(bound)) continue;
      const tvms_prim_func *callee = find_callee(f, tvms_as_call(bound));
      tvms_list args = args_of(tvms_as_call(bound));
      for (uint32_t a = 0; callee && a < args.len && a < callee->params.len; a++) {
        const tvms_node *buffer = callee->buffers.items[a];
        if (args.items[a] != param || !buffer) continue;
        const tvms_node *type = tvms_as_buffer(buffer)->data->sinfo;
        if (type && type->kind == TVMS_NODE_SINFO_POINTER)
          scope = tvms_as_sinfo_pointer(type)->scope;
      }
    }
  }
  return scope;
}

static bool is_known_tensor(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TENSOR || tvms_dtype_is_void(type->dtype)) {
    return false;
  }
  const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
  return shape && shape->kind == TVMS_NODE_SHAPE_EXPR;
}

static bool add_tensor(fuser *f, const tvms_node *param) {
  const char *name = tvms_symbol_text(f->run->context, tvms_as_var(param)->name);
  tvms_node *buffer = new_buffer(f, name, param->sinfo, scope_of(f, param));
  tvms_mark mark = tvms_arena_mark(&f->run->context->scratch);
  char *text = tvms_arena_alloc(&f->run->context->scratch, strlen(name) + 3);
  sprintf(text, "p_%s", name);
  add_parameter(f, text, buffer);
  tvms_arena_reset(&f->run->context->scratch, mark);
  set_value(f, param, tvms_list_copy(f->unit, &buffer, 1));
  return true;
}

static bool add_relax_parameter(fuser *f, const tvms_node *param) {
  const tvms_node *type = param->sinfo;
  if (is_known_tensor(type)) return add_tensor(f, param);
  if (tvms_relax_is_symbol(param)) {
    tvms_node *var =
        tvms_var_new(f->unit, tvms_as_var(param)->name, param->dtype, TVMS_NO_SPAN);
    tvms_node_map_put(&f->known, param, var);
    add_scalar(f, var);
    return true;
  }
  if (type->kind != TVMS_NODE_SINFO_SHAPE || !(type->flags & TVMS_FLAG_KNOWN))
    return refuse(f, param->span, "a parameter is not a tensor of known shape");
  tvms_list sizes = tvms_as_sinfo_shape(type)->values;
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (sizes.items[i]->kind != TVMS_NODE_VAR)
      return refuse(f, param->span, "a parameter has a size that is an expression");
    add_scalar(f, tvms_clone(f->unit, sizes.items[i], &f->known));
  }
  return true;
}

// ---- Calls ----

// What the symbols of a callee are, by an expression of it and the one that is given for it.
static void match_expr(tvms_node_map *map, const tvms_node *inner, tvms_node *outer) {
  if (inner->kind == TVMS_NODE_VAR) {
    if (!tvms_node_map_get(map, inner)) tvms_node_map_put(map, inner, outer);
  } else if (tvms_node_is_binary(inner) && inner->kind == outer->kind) {
    match_expr(map, tvms_as_binary(inner)->a, tvms_as_binary(outer)->a);
    match_expr(map, tvms_as_binary(inner)->b, tvms_as_binary(outer)->b);
  } else if (inner->kind == TVMS_NODE_CAST && outer->kind == TVMS_NODE_CAST) {
    match_expr(map, tvms_as_cast(inner)->value, tvms_as_cast(outer)->value);
  }
}

// False: the two cannot be one, because they have sizes that are other numbers.
static bool map_buffer(tvms_node_map *map, const tvms_node *inner, tvms_node *outer) {
  tvms_list from = tvms_as_buffer(inner)->shape, to = tvms_as_buffer(outer)->shape;
  if (from.len != to.len) return false;
  for (uint32_t i = 0; i < from.len; i++) {
    bool numbers =
        tvms_node_is_int_imm(from.items[i]) && tvms_node_is_int_imm(to.items[i]);
    if (numbers
        && tvms_as_int_imm(from.items[i])->value != tvms_as_int_imm(to.items[i])->value)
      return false;
    match_expr(map, from.items[i], to.items[i]);
  }
  tvms_node_map_put(map, inner, outer);
  tvms_node_map_put(map, tvms_as_buffer(inner)->data, tvms_as_buffer(outer)->data);
  return true;
}

static bool has_alloc_named(const fuser *f, const char *name) {
  for (uint32_t i = 0; i < f->allocs.len; i++) {
    tvms_sym own = tvms_as_buffer(f->allocs.items[i])->name;
    if (strcmp(tvms_symbol_text(f->run->context, own), name) == 0) return true;
  }
  return false;
}

// A buffer like that of the callee, with the shape that the call says.
// TVM lengthens the last attempt: X_intermediate, X_intermediate_1, X_intermediate_1_2.
static tvms_node *add_intermediate(fuser *f, const tvms_node *inner,
                                   const tvms_node *type, tvms_node_map *map) {
  char text[256];
  const tvms_buffer *like = tvms_as_buffer(inner);
  snprintf(text, sizeof text, "%.200s_intermediate",
           tvms_symbol_text(f->run->context, like->name));
  for (uint32_t n = 1; has_alloc_named(f, text) && strlen(text) + 12 < sizeof text;
       n++) {
    size_t len = strlen(text);
    snprintf(text + len, sizeof text - len, "_%u", n);
  }
  const tvms_node *pointer = like->data->sinfo;
  bool scoped = pointer && pointer->kind == TVMS_NODE_SINFO_POINTER;
  tvms_node *buffer =
      new_buffer(f, text, type, scoped ? tvms_as_sinfo_pointer(pointer)->scope : 0);
  tvms_buffer *made = tvms_as_buffer(buffer);
  made->element = like->element;
  made->align = like->align;
  made->offset_factor = like->offset_factor;
  made->elem_offset = tvms_clone(f->unit, like->elem_offset, map);
  made->strides = tvms_list_copy(f->unit, like->strides.items, like->strides.len);
  for (uint32_t i = 0; i < made->strides.len; i++)
    made->strides.items[i] = tvms_clone(f->unit, made->strides.items[i], map);
  if (like->layout) made->layout = tvms_clone(f->unit, like->layout, map);
  tvms_vec_push(memory_of(f), &f->allocs, buffer);
  return buffer;
}

// Maps the parameters of the callee to what is passed.
static bool map_arguments(fuser *f, const tvms_prim_func *callee, const tvms_call *call,
                          tvms_node_map *map) {
  tvms_list args = args_of(call);
  for (uint32_t i = 0; i < args.len; i++) {
    const tvms_node *arg = args.items[i];
    if (i >= callee->params.len)
      return refuse(f, call->head.span, "it passes too many arguments");
    if (!callee->buffers.items[i]) {
      const tvms_node *scalar =
          arg->kind == TVMS_NODE_PRIM_VALUE ? tvms_as_prim_value(arg)->value : arg;
      if (tvms_dtype_is_void(scalar->dtype))
        return refuse(f, call->head.span, "it passes something else for a scalar");
      match_expr(map, callee->params.items[i], tvms_clone(f->unit, scalar, &f->known));
      continue;
    }
    tvms_list buffers = value_of(f, arg);
    if (buffers.len != 1)
      return refuse(f, call->head.span, "it passes something that is not in a buffer");
    if (!map_buffer(map, callee->buffers.items[i], buffers.items[0]))
      return refuse(f, call->head.span,
                    "an argument has another shape than its callee wants");
  }
  return true;
}

// The parameter of the callee that has result number `i`; `*fresh` counts the others.
static int64_t place_of_result(const tvms_call *call, uint32_t i, uint32_t *fresh) {
  if (tvms_op_called(&call->head) == TVMS_R_call_tir_inplace) {
    tvms_list places = tvms_attr_list(call, TVMS_ATTR_inplace_inplace_indices);
    int64_t place = i < places.len ? tvms_attr_item_int(places.items[i]) : -1;
    if (place >= 0) return place;
  }
  return (int64_t)args_of(call).len + (*fresh)++;
}

static bool map_results(fuser *f, const tvms_prim_func *callee, const tvms_call *call,
                        tvms_node_map *map, const tvms_node *var) {
  const tvms_node *type = call->type_args.items[0];
  tvms_node *single = (tvms_node *)(uintptr_t)type;
  tvms_list types = {&single, 1};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) types = tvms_as_sinfo_tuple(type)->fields;
  tvms_list results = tvms_list_copy(f->unit, types.items, types.len);
  uint32_t fresh = 0;
  for (uint32_t i = 0; i < types.len; i++) {
    int64_t place = place_of_result(call, i, &fresh);
    const tvms_node *inner =
        place < callee->params.len ? callee->buffers.items[place] : NULL;
    if (!inner || !is_known_tensor(types.items[i]))
      return refuse(f, call->head.span, "a result is not a tensor of known shape");
    results.items[i] = tvms_node_map_get(map, inner);
    if (results.items[i]) continue;  // it is an argument
    results.items[i] = add_intermediate(f, inner, types.items[i], map);
    if (!map_buffer(map, inner, results.items[i]))
      return refuse(f, call->head.span,
                    "a result has another shape than its callee gives");
  }
  set_value(f, var, results);
  return true;
}

// Maps the last parameters of the callee to the tir_vars.
static bool map_scalars(fuser *f, const tvms_prim_func *callee, const tvms_call *call,
                        tvms_node_map *map) {
  const tvms_node *shape = call->args.len > 2 ? call->args.items[2] : NULL;
  if (!shape) return true;
  if (shape->kind != TVMS_NODE_SHAPE_EXPR)
    return refuse(f, call->head.span, "its tir_vars are not written as a shape");
  tvms_list sizes = tvms_as_shape_expr(shape)->values;
  if (sizes.len > callee->params.len)
    return refuse(f, call->head.span, "it passes too many arguments");
  uint32_t first = callee->params.len - sizes.len;
  for (uint32_t i = 0; i < sizes.len; i++)
    match_expr(map, callee->params.items[first + i],
               tvms_clone(f->unit, sizes.items[i], &f->known));
  return true;
}

static bool add_call(fuser *f, const tvms_call *call, const tvms_node *var) {
  if (!is_call_tir(&call->head))
    return refuse(f, call->head.span, "it does not only call PrimFuncs by call_tir");
  const tvms_prim_func *callee = callee_of(f, call);
  if (!callee) return false;
  tvms_node_map map;
  tvms_node_map_init(&map, memory_of(f));
  const tvms_block *root = tvms_as_block(tvms_as_block_realize(callee->body)->block);
  bool fine = map_arguments(f, callee, call, &map);
  // TVM lists the buffers of the callee before those of its results, which may tell their
  // sizes.
  uint32_t first = f->allocs.len;
  for (uint32_t i = 0; i < root->alloc_buffers.len; i++)
    tvms_vec_push(memory_of(f), &f->allocs, root->alloc_buffers.items[i]);
  fine = fine && map_results(f, callee, call, &map, var)
         && map_scalars(f, callee, call, &map);
  for (uint32_t i = first; fine && i < first + root->alloc_buffers.len; i++)
    f->allocs.items[i] = tvms_clone(f->unit, f->allocs.items[i], &map);
  if (fine) tvms_stmt_push(f->unit, &f->bodies, tvms_clone(f->unit, root->body, &map));
  tvms_node_map_fini(&map);
  return fine;
}

// ---- Values without calls ----

// How many buffers a value of this type has.
static uint32_t count_buffers(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE) return 1;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  uint32_t count = 0;
  for (uint32_t i = 0; i < fields.len; i++)
    count += count_buffers(fields.items[i]);
  return count;
}

static tvms_list buffers_of(fuser *f, const tvms_node *node);

static tvms_list buffers_of_item(fuser *f, const tvms_tuple_get_item *item) {
  tvms_list all = buffers_of(f, item->tuple);
  const tvms_node *type = item->tuple->sinfo;
  tvms_list none = {NULL, 0};
  if (!type || type->kind != TVMS_NODE_SINFO_TUPLE) return none;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  if ((uint64_t)item->index >= fields.len) return none;
  uint32_t first = 0;
  for (int64_t i = 0; i < item->index; i++)
    first += count_buffers(fields.items[i]);
  uint32_t count = count_buffers(fields.items[item->index]);
  if (first + count > all.len) return none;
  return tvms_list_copy(f->unit, all.items + first, count);
}

static tvms_list buffers_of_tuple(fuser *f, const tvms_tuple *tuple) {
  tvms_node_vec all = {0};
  for (uint32_t i = 0; i < tuple->fields.len; i++) {
    tvms_list part = buffers_of(f, tuple->fields.items[i]);
    for (uint32_t k = 0; k < part.len; k++)
      tvms_vec_push(memory_of(f), &all, part.items[k]);
  }
  tvms_list list = tvms_list_copy(f->unit, all.items, all.len);
  tvms_vec_fini(memory_of(f), &all);
  return list;
}

static tvms_list buffers_of(fuser *f, const tvms_node *node) {
  if (node->kind == TVMS_NODE_TUPLE_GET_ITEM)
    return buffers_of_item(f, tvms_as_tuple_get_item(node));
  if (node->kind == TVMS_NODE_TUPLE) return buffers_of_tuple(f, tvms_as_tuple(node));
  return value_of(f, node);
}

static bool add_binding(fuser *f, const tvms_node *node) {
  if (node->kind != TVMS_NODE_VAR_BINDING)
    return refuse(f, node->span, "it has a match_cast");
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  if (binding->value->kind == TVMS_NODE_CALL)
    return add_call(f, tvms_as_call(binding->value), binding->var);
  tvms_list buffers = buffers_of(f, binding->value);
  set_value(f, binding->var, buffers);
  if (buffers.len) return true;
  return refuse(f, node->span, "it binds something that is not in a buffer");
}

// ---- Results ----

static uint32_t position(const tvms_node_vec *vec, const tvms_node *node) {
  uint32_t at = 0;
  while (at < vec->len && vec->items[at] != node)
    at++;
  return at;
}

// A buffer that is allocated becomes a parameter, one that is a parameter stays where it is.
static bool add_result(fuser *f, tvms_node *buffer, uint32_t inputs, uint32_t *fresh) {
  uint32_t at = position(&f->buffers, buffer);
  bool given = at < inputs;
  int64_t place = given ? (int64_t)at : -1;
  for (uint32_t i = 0; given && i < f->inplace.len; i++) {
    if (tvms_as_object_int(f->inplace.items[i])->value == place)
      return refuse(f, f->function->body->span, "it returns an argument twice");
  }
  tvms_vec_push(memory_of(f), &f->inplace,
                tvms_object_int_new(f->unit, place, TVMS_NO_SPAN));
  f->any_inplace |= given;
  if (given) return true;
  uint32_t alloc = position(&f->allocs, buffer);
  if (alloc == f->allocs.len)
    return refuse(f, f->function->body->span, "it returns a value twice");
  memmove(f->allocs.items + alloc, f->allocs.items + alloc + 1,
          (f->allocs.len - alloc - 1) * sizeof *f->allocs.items);
  f->allocs.len--;
  char text[32];
  snprintf(text, sizeof text, "p_output%u", (*fresh)++);
  add_parameter(f, text, buffer);
  return true;
}

static bool add_results(fuser *f, const tvms_node *result) {
  tvms_list buffers = buffers_of(f, result);
  if (buffers.len == 0)
    return refuse(f, result->span, "it returns something that is not in a buffer");
  uint32_t inputs = f->buffers.len, fresh = 0;
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!add_result(f, buffers.items[i], inputs, &fresh)) return false;
  }
  for (uint32_t i = 0; i < f->last.len; i++) {
    tvms_vec_push(memory_of(f), &f->params, f->last.items[i]);
    tvms_vec_push(memory_of(f), &f->buffers, (tvms_node *)NULL);
  }
  return true;
}

// ---- The function ----

static tvms_node *make_body(fuser *f) {
  tvms_unit *unit = f->unit;
  tvms_node *body =
      tvms_fuse_merge_blocks(unit, tvms_stmt_seq(unit, &f->bodies, TVMS_NO_SPAN));
  tvms_block *root = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  root->name = tvms_bytes_copy(unit, "root", 4);
  root->alloc_buffers = tvms_list_copy(unit, f->allocs.items, f->allocs.len);
  root->body = body;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &root->head;
  return &realize->head;
}

static tvms_node *finish(fuser *f) {
  tvms_unit *unit = f->unit;
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->name = f->function->name;
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  function->body = make_body(f);
  function->params = tvms_list_copy(unit, f->params.items, f->params.len);
  function->buffers = tvms_list_copy(unit, f->buffers.items, f->buffers.len);
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  const char *key = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx)
                        ? "tirx.noalias"
                        : "tir.noalias";
  function->attrs = tvms_object_map_with(unit, NULL, key, yes);
  return &function->head;
}

static bool add_function(fuser *f) {
  for (uint32_t i = 0; i < f->function->params.len; i++) {
    if (!add_relax_parameter(f, f->function->params.items[i])) return false;
  }
  const tvms_seq_expr *body = tvms_as_seq_expr(f->function->body);
  for (uint32_t i = 0; i < body->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(body->blocks.items[i])->bindings;
    for (uint32_t j = 0; j < bindings.len; j++) {
      if (!add_binding(f, bindings.items[j])) return false;
    }
  }
  return add_results(f, body->body);
}

tvms_node *tvms_fuse_merge_prim_funcs(tvms_pass_run *run, tvms_unit *unit,
                                      const tvms_node *function, tvms_list *inplace) {
  fuser f = {.run = run, .unit = unit, .function = tvms_as_function(function)};
  tvms_node_map_init(&f.known, memory_of(&f));
  tvms_node *made = add_function(&f) ? finish(&f) : NULL;
  *inplace = (tvms_list){NULL, 0};
  if (made && f.any_inplace)
    *inplace = tvms_list_copy(unit, f.inplace.items, f.inplace.len);
  tvms_node_map_fini(&f.known);
  tvms_vec_fini(memory_of(&f), &f.params);
  tvms_vec_fini(memory_of(&f), &f.buffers);
  tvms_vec_fini(memory_of(&f), &f.last);
  tvms_vec_fini(memory_of(&f), &f.allocs);
  tvms_vec_fini(memory_of(&f), &f.bodies);
  tvms_vec_fini(memory_of(&f), &f.values);
  tvms_vec_fini(memory_of(&f), &f.inplace);
  return made;
}
