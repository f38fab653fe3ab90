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
// (objects.c). What cannot be said so is an error at its place. TVM has no such pass.
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
#include "passes/relax/host/values.h"
#include "structinfo/make.h"
#include "support/diag.h"

#include <stdio.h>
#include <string.h>

// ---- Parameters ----

static void add_param(tvms_host *h, tvms_node *param, tvms_node *TVMS_NULLABLE buffer) {
  tvms_vec_push(tvms_host_memory(h), &h->params, param);
  tvms_vec_push(tvms_host_memory(h), &h->buffers, buffer);
}

static void add_buffer_param(tvms_host *h, tvms_node *buffer) {
  tvms_sym name = tvms_as_buffer(buffer)->name;
  add_param(h, tvms_pointer_var_new(h->unit, name, (tvms_dtype){0}, 0, TVMS_NO_SPAN),
            buffer);
}

static tvms_node *number_var(tvms_host *h, const char *name, tvms_dtype dtype) {
  tvms_sym symbol = tvms_symbol_intern(h->run->context, name, strlen(name));
  return tvms_var_new(h->unit, symbol, dtype, TVMS_NO_SPAN);
}

// A symbol that this place defines, or NULL.
static bool defines(tvms_host *h, const tvms_node *size) {
  return tvms_relax_is_symbol(size) && !tvms_node_map_get(&h->known, size);
}

static void learn(tvms_host *h, const tvms_node *type) {
  tvms_list dims;
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      learn(h, fields.items[i]);
  }
  bool sized =
      type->kind == TVMS_NODE_SINFO_TENSOR || type->kind == TVMS_NODE_SINFO_SHAPE;
  tvms_node *number =
      type->kind == TVMS_NODE_SINFO_PRIM ? tvms_as_sinfo_prim(type)->value : NULL;
  if (number) dims = (tvms_list){&number, 1};
  if (!number && !(sized && tvms_sinfo_dims(type, &dims))) return;
  for (uint32_t i = 0; i < dims.len; i++) {
    if (!defines(h, dims.items[i])) continue;
    tvms_node_map_put(&h->known, dims.items[i], tvms_var_like(h->unit, dims.items[i]));
  }
}

// A parameter that is an object.
static tvms_host_value *object_param(tvms_host *h, const char *name) {
  tvms_strbuf_putc(&h->inputs, 'o');
  h->plain = false;
  tvms_node *param = number_var(h, name, TVMS_DTYPE(HANDLE, 64));
  add_param(h, param, NULL);
  return tvms_host_object_param(h, param);
}

static tvms_host_value *TVMS_NULLABLE tensor_param(tvms_host *h, const tvms_node *type,
                                                   const char *name, tvms_span span) {
  tvms_list dims, made;
  int64_t ndim = tvms_as_sinfo_tensor(type)->ndim;
  if (tvms_dtype_is_void(type->dtype) || ndim < 0) return object_param(h, name);
  tvms_strbuf_putc(&h->inputs, 't');
  if (tvms_sinfo_dims(type, &dims)) {
    if (!tvms_host_exprs(h, dims, span, &made)) return NULL;
  } else {
    tvms_node_vec sizes = {0};
    for (int64_t i = 0; i < ndim; i++) {
      char text[96];
      snprintf(text, sizeof text, "%.64s_%lld", name, (long long)i);
      tvms_vec_push(tvms_host_memory(h), &sizes,
                    number_var(h, text, TVMS_DTYPE(INT, 64)));
    }
    made = tvms_list_copy(h->unit, sizes.items, sizes.len);
    tvms_vec_fini(tvms_host_memory(h), &sizes);
  }
  tvms_node *buffer = tvms_host_buffer(h, name, type->dtype, made);
  add_buffer_param(h, buffer);
  tvms_host_value *value =
      tvms_host_tensor(h, name, type->dtype, made, tvms_as_buffer(buffer)->data);
  value->buffer = buffer;
  return value;
}

// A number: a symbol of the type itself, unless it is known otherwise; then it must be the same.
static tvms_node *number_param(tvms_host *h, tvms_node *TVMS_NULLABLE size,
                               const char *name, tvms_dtype dtype, tvms_span span) {
  tvms_node *known =
      size && tvms_relax_is_symbol(size) ? tvms_node_map_get(&h->known, size) : NULL;
  bool taken = !known || known->kind != TVMS_NODE_VAR;
  for (uint32_t i = 0; i < h->params.len && !taken; i++)
    taken = h->params.items[i] == known;
  tvms_node *param = taken ? number_var(h, name, dtype) : known;
  add_param(h, param, NULL);
  if (!taken || !size) return param;
  tvms_node *wanted = tvms_host_expr(h, size, span);
  if (!wanted) return param;
  tvms_host_assert(
      h, tvms_binary_new(h->unit, TVMS_NODE_EQ, param, wanted, TVMS_NO_SPAN),
      "ValueError", "a number that was passed is not the size that it stands for");
  return param;
}

static tvms_host_value *TVMS_NULLABLE shape_param(tvms_host *h, const tvms_node *type,
                                                  const char *name, tvms_span span) {
  int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
  tvms_list dims = {NULL, 0};
  bool known = tvms_sinfo_dims(type, &dims);
  if (ndim < 0) return object_param(h, name);
  tvms_node_vec sizes = {0};
  for (int64_t i = 0; i < ndim; i++) {
    char text[96];
    snprintf(text, sizeof text, "%.64s_%lld", name, (long long)i);
    tvms_vec_push(
        tvms_host_memory(h), &sizes,
        number_param(h, known ? dims.items[i] : NULL, text, TVMS_DTYPE(INT, 64), span));
  }
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_SHAPE);
  value->dims = tvms_list_copy(h->unit, sizes.items, sizes.len);
  tvms_vec_fini(tvms_host_memory(h), &sizes);
  tvms_strbuf_printf(&h->inputs, "s%lld", (long long)ndim);
  h->plain = false;
  return value;
}

static tvms_host_value *TVMS_NULLABLE param_of(tvms_host *h, const tvms_node *type,
                                               const char *name, tvms_span span);

static tvms_host_value *TVMS_NULLABLE tuple_param(tvms_host *h, const tvms_node *type,
                                                  const char *name, tvms_span span) {
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_TUPLE);
  value->count = fields.len;
  value->fields =
      tvms_arena_array(&h->run->context->scratch, tvms_host_value *, fields.len);
  h->plain = false;
  tvms_strbuf_putc(&h->inputs, '(');
  for (uint32_t i = 0; i < fields.len && !h->failed; i++) {
    char text[96];
    snprintf(text, sizeof text, "%.64s_%u", name, i);
    value->fields[i] = param_of(h, fields.items[i], text, span);
  }
  tvms_strbuf_putc(&h->inputs, ')');
  return h->failed ? NULL : value;
}

static tvms_host_value *TVMS_NULLABLE param_of(tvms_host *h, const tvms_node *type,
                                               const char *name, tvms_span span) {
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: return tensor_param(h, type, name, span);
  case TVMS_NODE_SINFO_TUPLE: return tuple_param(h, type, name, span);
  case TVMS_NODE_SINFO_SHAPE: return shape_param(h, type, name, span);
  case TVMS_NODE_SINFO_PRIM: {
    tvms_strbuf_putc(&h->inputs, 'n');
    tvms_dtype dtype =
        tvms_dtype_is_void(type->dtype) ? TVMS_DTYPE(INT, 64) : type->dtype;
    return tvms_host_number(
        h, number_param(h, tvms_as_sinfo_prim(type)->value, name, dtype, span));
  }
  case TVMS_NODE_SINFO_OBJECT: return object_param(h, name);
  default: return tvms_host_refuse(h, span, "a parameter is a function");
  }
}

// What callers know: the numbers and sizes of the arguments.
static void learn_told(tvms_host *h) {
  for (uint32_t i = 0; i < h->params.len; i++) {
    tvms_node *buffer = h->buffers.items[i], *param = h->params.items[i];
    if (!buffer) tvms_node_map_put(&h->told, param, param);
    for (uint32_t k = 0; buffer && k < tvms_as_buffer(buffer)->shape.len; k++) {
      tvms_node *size = tvms_as_buffer(buffer)->shape.items[k];
      tvms_node_map_put(&h->told, size, size);
    }
  }
}

static void add_params(tvms_host *h) {
  tvms_list params = h->source->params;
  tvms_context *context = h->run->context;
  for (uint32_t i = 0; i < params.len; i++) {
    const tvms_node *param = params.items[i];
    if (!tvms_dtype_is_void(param->dtype) && defines(h, param))
      tvms_node_map_put(&h->known, param, tvms_var_like(h->unit, param));
    if (param->sinfo) learn(h, param->sinfo);
  }
  for (uint32_t i = 0; i < params.len && !h->failed; i++) {
    tvms_node *param = params.items[i];
    const char *name = tvms_symbol_text(context, tvms_as_var(param)->name);
    if (!tvms_dtype_is_void(param->dtype)) {
      tvms_strbuf_putc(&h->inputs, 'n');
      number_param(h, param, name, param->dtype, param->span);
    } else if (param->sinfo) {
      h->values[param->id] = param_of(h, param->sinfo, name, param->span);
    } else {
      tvms_host_refuse(h, param->span, "a parameter has no type");
    }
  }
  learn_told(h);
}

// ---- Results ----

// A result that is an object: the pointer to an item of a list of the caller.
static tvms_node *object_result(tvms_host *h, uint32_t at, bool single) {
  char name[32];
  snprintf(name, sizeof name, single ? "result" : "result_%u", at);
  return number_var(h, name, TVMS_DTYPE(HANDLE, 64));
}

// Does nothing tell where a result of this type would be written?
static bool is_object_type(const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TENSOR) return tvms_dtype_is_void(type->dtype);
  if (type->kind == TVMS_NODE_SINFO_SHAPE) return tvms_as_sinfo_shape(type)->ndim < 0;
  return type->kind == TVMS_NODE_SINFO_OBJECT;
}

// A buffer for a leaf of the result, NULL for an object. Its sizes are those of the value, which is not
// there yet.
static tvms_node *TVMS_NULLABLE result_param(tvms_host *h, const tvms_node *type,
                                             uint32_t at, bool single,
                                             tvms_strbuf *pattern) {
  char name[32];
  snprintf(name, sizeof name, single ? "result" : "result_%u", at);
  tvms_span span = h->source->head.span;
  tvms_list dims = {NULL, 0};
  tvms_dtype dtype = type->dtype;
  if (is_object_type(type)) {
    tvms_strbuf_putc(pattern, 'o');
    add_param(h, object_result(h, at, single), NULL);
    return NULL;
  }
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: tvms_strbuf_putc(pattern, 't'); break;
  case TVMS_NODE_SINFO_PRIM:
    tvms_strbuf_putc(pattern, 'n');
    if (tvms_dtype_is_void(dtype)) dtype = TVMS_DTYPE(INT, 64);
    break;
  case TVMS_NODE_SINFO_SHAPE: {
    int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
    tvms_strbuf_printf(pattern, "s%lld", (long long)ndim);
    tvms_node *count = tvms_host_int(h, ndim);
    dims = tvms_list_copy(h->unit, &count, 1);
    dtype = TVMS_DTYPE(INT, 64);
    break;
  }
  default: return tvms_host_refuse(h, span, "a result is a function");
  }
  tvms_node *buffer = tvms_host_buffer(h, name, dtype, dims);
  add_buffer_param(h, buffer);
  return buffer;
}

static void result_params(tvms_host *h, const tvms_node *type, bool single,
                          tvms_node_vec *results, tvms_strbuf *pattern) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    tvms_strbuf_putc(pattern, '(');
    for (uint32_t i = 0; i < fields.len && !h->failed; i++)
      result_params(h, fields.items[i], false, results, pattern);
    tvms_strbuf_putc(pattern, ')');
    return;
  }
  tvms_node *buffer = result_param(h, type, results->len, single, pattern);
  tvms_vec_push(tvms_host_memory(h), results, buffer);
}

static const tvms_node *TVMS_NULLABLE result_type(const tvms_host *h) {
  const tvms_node *value = tvms_as_seq_expr(h->source->body)->body;
  return value->sinfo ? value->sinfo : h->source->ret;
}

// Result `at`, a tensor, is an object: callers cannot know its sizes.
static void make_object(tvms_host *h, uint32_t at, tvms_node_vec *results,
                        tvms_strbuf *pattern) {
  uint32_t letter = 0;
  for (uint32_t left = at + 1; left; letter++)
    left -= strchr("tnso", pattern->text[letter]) != NULL;
  pattern->text[letter - 1] = 'o';
  h->params.items[h->input_count + at] = object_result(h, at, results->len == 1);
  h->buffers.items[h->input_count + at] = NULL;
  results->items[at] = NULL;
}

// Callers know the results of a recursive function before its body is there: a tensor of which the type does
// not say the sizes, by those of the parameters, is an object.
static void size_results(tvms_host *h, tvms_node_vec *results, tvms_strbuf *pattern) {
  const tvms_node *ret = h->source->ret;
  for (uint32_t i = 0; i < results->len && !h->failed; i++) {
    if (!results->items[i]) continue;
    tvms_buffer *buffer = tvms_as_buffer(results->items[i]);
    bool typed = ret && i < tvms_host_leaves(ret);
    const tvms_node *type = typed ? tvms_host_leaf_type(ret, i) : NULL;
    if (type && type->kind != TVMS_NODE_SINFO_TENSOR) continue;
    tvms_list dims;
    if (!type || !tvms_sinfo_dims(type, &dims) || !tvms_host_knows(h, dims))
      make_object(h, i, results, pattern);
    else
      tvms_host_exprs(h, dims, h->source->head.span, &buffer->shape);
  }
}

// Do callers not know what memory a leaf of the result needs?
static bool is_made_late(tvms_host *h, const tvms_host_value *leaf) {
  if (leaf->kind == TVMS_HOST_TENSOR) return tvms_host_is_late(h, leaf->dims);
  return leaf->kind == TVMS_HOST_OBJECT;
}

// Result `at` is set to a leaf, if it is an object.
static bool deliver_object(tvms_host *h, uint32_t at, tvms_host_value *leaf,
                           const tvms_node_vec *results) {
  if (results->items[at]) return false;
  tvms_node *param = h->params.items[h->input_count + at];
  tvms_host_deliver(h, leaf, tvms_host_object_param(h, param));
  return true;
}

static void deliver_results(tvms_host *h, tvms_host_value *value, bool single,
                            tvms_node_vec *results, tvms_strbuf *pattern) {
  for (uint32_t i = 0; i < results->len && !h->failed; i++) {
    // An object may be a tuple.
    bool whole = single && !results->items[i];
    tvms_host_value *leaf = whole ? value : tvms_host_leaf(value, i);
    if (leaf && results->items[i] && is_made_late(h, leaf))
      make_object(h, i, results, pattern);
    if (leaf && deliver_object(h, i, leaf, results)) continue;
    tvms_buffer *buffer = leaf ? tvms_as_buffer(results->items[i]) : NULL;
    if (!leaf || leaf->kind == TVMS_HOST_NOTHING || leaf->kind == TVMS_HOST_STORAGE
        || leaf->kind == TVMS_HOST_FUNCTION || leaf->kind == TVMS_HOST_CHOICE) {
      tvms_host_refuse(h, h->source->head.span,
                       "a result is not a value of native code");
      return;
    }
    if (leaf->kind == TVMS_HOST_TENSOR && !buffer->shape.len)
      buffer->shape = leaf->dims;
    if (leaf->kind == TVMS_HOST_TENSOR && buffer->shape.len
        && buffer->shape.items[0]->dtype.bits == 64)
      buffer->elem_offset = tvms_host_int(h, 0);
    tvms_host_value to = {.kind = TVMS_HOST_TENSOR,
                          .dtype = buffer->element,
                          .dims = buffer->shape,
                          .data = buffer->data,
                          .buffer = results->items[i]};
    tvms_host_deliver(h, leaf, &to);
  }
}

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
    add_buffer_param(h, h->workspace);
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

static void make_function(tvms_host *h, tvms_host_function *made) {
  const tvms_node *type = result_type(h);
  tvms_node_vec results = {0};
  tvms_strbuf pattern;
  tvms_strbuf_init(&pattern, tvms_host_memory(h));
  add_params(h);
  h->input_count = h->params.len;
  if (!h->failed && !type)
    tvms_host_refuse(h, h->source->head.span, "the type of its result is not known");
  if (!h->failed)
    result_params(h, type, type->kind != TVMS_NODE_SINFO_TUPLE, &results, &pattern);
  made->input_count = h->input_count;
  made->result_count = results.len;
  tvms_prim_func *function = tvms_node_make(h->unit, PRIM_FUNC, h->source->head.span);
  function->name = h->source->name;
  function->head.flags = (h->source->head.flags & TVMS_FLAG_PRIVATE) | TVMS_FLAG_S_TIR;
  if (made->recursive && !h->failed) {
    size_results(h, &results, &pattern);
    set_params(h, function);
    made->made = function;
  }
  const tvms_node *body = tvms_as_seq_expr(h->source->body)->body;
  for (uint32_t i = 0; i < results.len && !h->failed; i++)
    if (results.items[i])
      tvms_host_send(h, body, i, tvms_as_buffer(results.items[i])->data);
  tvms_host_value *value = h->failed ? NULL : tvms_host_eval(h, h->source->body);
  bool single = type && type->kind != TVMS_NODE_SINFO_TUPLE;
  if (value) deliver_results(h, value, single, &results, &pattern);
  if (!h->failed) add_workspace(h, made);
  if (!h->failed) {
    tvms_host_add_list(h);
    set_params(h, function);
    function->attrs = attrs_of(h, &pattern);
    function->body = body_of(h);
    made->made = function;
    made->unit = h->unit;
  } else {
    made->made = NULL;
    tvms_functions_drop_unit(h->run, h->unit);
  }
  tvms_vec_fini(tvms_host_memory(h), &results);
  tvms_strbuf_fini(&pattern);
}

static void close_function(tvms_host *h) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_vec_fini(memory, &h->params);
  tvms_vec_fini(memory, &h->buffers);
  tvms_vec_fini(memory, &h->constants);
  tvms_vec_fini(memory, &h->kept);
  tvms_vec_fini(memory, &h->stmts);
  tvms_vec_fini(memory, &h->destinations);
  tvms_strbuf_fini(&h->inputs);
  tvms_node_map_fini(&h->known);
  tvms_node_map_fini(&h->told);
  tvms_relax_definitions_fini(&h->definitions);
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

// Lowers member `index`.
static void lower_function(tvms_pass_run *run, tvms_host_function *functions,
                           uint32_t count, uint32_t index) {
  const tvms_member *member = &run->module->members[index];
  tvms_node *source = member->function;
  tvms_unit *unit = tvms_functions_open_unit(run);
  member = &run->module->members[index];
  tvms_host h = {.run = run,
                 .functions = functions,
                 .function_count = count,
                 .member = index,
                 .source = tvms_as_function(source),
                 .unit = unit,
                 .plain = true};
  tvms_node_map_init(&h.known, &run->context->memory);
  tvms_node_map_init(&h.told, &run->context->memory);
  tvms_strbuf_init(&h.inputs, &run->context->memory);
  tvms_relax_definitions_init(&h.definitions, member->unit, source);
  h.values = tvms_arena_array(&run->context->scratch, tvms_host_value *,
                              member->unit->next_id);
  count_uses(&h, member->unit->next_id);
  tvms_node *none = tvms_host_int(&h, 0);
  h.workspace = tvms_host_buffer(&h, "workspace", TVMS_DTYPE(UINT, 8),
                                 tvms_list_copy(unit, &none, 1));
  make_function(&h, &functions[index]);
  close_function(&h);
}

// ---- The module ----

static bool is_lowered(const tvms_module *module, uint32_t index) {
  const tvms_node *function = module->members[index].function;
  return function && function->kind == TVMS_NODE_FUNCTION;
}

// Callees first, so that callers know what memory they need.
static void visit(tvms_pass_run *run, tvms_host_function *functions,
                  const tvms_relax_call_graph *graph, uint32_t index) {
  if (functions[index].visited || !is_lowered(run->module, index)) return;
  functions[index].visited = true;
  bool shallow = tvms_memory_enter(&run->context->memory);
  for (uint32_t i = 0; i < graph->callees[index].members.len && shallow; i++)
    visit(run, functions, graph, graph->callees[index].members.items[i]);
  tvms_memory_leave(&run->context->memory);
  lower_function(run, functions, graph->count, index);
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
  for (uint32_t i = 0; i < count; i++)
    visit(run, functions, &graph, i);
  put_in_place(run, functions, count);
  if (run->changed) tvms_fuse_drop_packed(run, called, count);
  tvms_relax_call_graph_fini(&graph);
  tvms_memory_free(memory, recursive);
  tvms_memory_free(memory, functions);
  tvms_memory_free(memory, called);
}
