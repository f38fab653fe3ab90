// The call becomes the body of a function whose parameters are its tensors, with the types that these have;
// sizes and numbers are constants in it. LegalizeOps does the rest.
#include "driver/late.h"

#include "driver/native.h"
#include "interp/prim.h"
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "passes/manager.h"
#include "passes/pipeline.h"
#include "passes/relax/make.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "support/names.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_context *context;
  tvms_unit *unit;
  tvms_node_vec params;
} making;

// ---- Arguments ----

// Appends a text that is the same for values of the same type, and for the same sizes and numbers.
static void add_type(tvms_strbuf *text, tvms_value value) {
  bool tensor = value.kind == TVMS_VALUE_TENSOR;
  if (value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_BOOL)
    tvms_strbuf_printf(text, "%u:%lld,", value.kind, (long long)value.i);
  if (value.kind == TVMS_VALUE_FLOAT) tvms_strbuf_printf(text, "%a,", value.f);
  if (tensor)
    tvms_strbuf_printf(text, "%u.%u.%u", value.tensor->view.dtype.code,
                       value.tensor->view.dtype.bits, value.tensor->view.dtype.lanes);
  if (tensor || value.kind == TVMS_VALUE_SHAPE) {
    tvms_strbuf_putc(text, '[');
    for (int32_t i = 0; i < value.tensor->view.ndim; i++)
      tvms_strbuf_printf(text, "%lld,", (long long)value.tensor->shape[i]);
    tvms_strbuf_putc(text, ']');
  }
  if (value.kind != TVMS_VALUE_TUPLE) return;
  tvms_strbuf_putc(text, '(');
  for (uint32_t i = 0; i < value.tuple->len; i++)
    add_type(text, value.tuple->items[i]);
  tvms_strbuf_putc(text, ')');
}

static tvms_node *shape_node(making *m, const tvms_tensor *shape, tvms_span span) {
  tvms_node_vec sizes = {0};
  for (int32_t i = 0; i < shape->view.ndim; i++)
    tvms_vec_push(&m->context->memory, &sizes,
                  tvms_sinfo_dim_new(m->unit, shape->shape[i]));
  tvms_node *made = tvms_sinfo_shape_value_new(m->unit, sizes.items, sizes.len, span);
  tvms_vec_fini(&m->context->memory, &sizes);
  return made;
}

static tvms_node *tensor_node(making *m, const tvms_tensor *tensor, tvms_span span) {
  char name[16];
  snprintf(name, sizeof name, "x%u", m->params.len);
  tvms_node *var =
      tvms_var_new(m->unit, tvms_symbol_intern(m->context, name, strlen(name)),
                   (tvms_dtype){0}, span);
  tvms_dl_type type = tensor->view.dtype;
  tvms_dtype dtype = {type.code, type.code == TVMS_BOOL ? 1 : type.bits,
                      (int16_t)type.lanes};
  var->sinfo = tvms_sinfo_tensor_new(m->unit, shape_node(m, tensor, span), dtype, NULL);
  tvms_vec_push(&m->context->memory, &m->params, var);
  return var;
}

static tvms_node *number_node(making *m, const tvms_node *arg, tvms_value value) {
  tvms_dtype dtype = arg->sinfo ? arg->sinfo->dtype : arg->dtype;
  bool real = value.kind == TVMS_VALUE_FLOAT;
  if (tvms_dtype_is_void(dtype))
    dtype = real                            ? TVMS_DTYPE(FLOAT, 64)
            : value.kind == TVMS_VALUE_BOOL ? TVMS_DTYPE(BOOL, 1)
                                            : TVMS_DTYPE(INT, 64);
  tvms_node *number = real ? tvms_float_imm_new(m->unit, dtype, value.f, arg->span)
                           : tvms_int_imm_new(m->unit, dtype, value.i, arg->span);
  return tvms_relax_make_prim_value(m->unit, number);
}

// What stands for a field of a tuple.
static const tvms_node *written_field(const tvms_node *arg, uint32_t i) {
  return arg->kind == TVMS_NODE_TUPLE ? tvms_as_tuple(arg)->fields.items[i] : arg;
}

// An argument as the function has it.
static tvms_node *argument_node(making *m, const tvms_node *arg, tvms_value value);

static tvms_node *tuple_node(making *m, const tvms_node *arg, const tvms_items *items) {
  tvms_memory *memory = &m->context->memory;
  tvms_node_vec fields = {0}, types = {0};
  for (uint32_t i = 0; i < items->len; i++) {
    tvms_node *field = argument_node(m, written_field(arg, i), items->items[i]);
    tvms_vec_push(memory, &fields, field);
    tvms_vec_push(memory, &types, field->sinfo);
  }
  tvms_tuple *made = tvms_node_make(m->unit, TUPLE, arg->span);
  made->fields = tvms_list_copy(m->unit, fields.items, fields.len);
  made->head.sinfo = tvms_sinfo_tuple_new(m->unit, types.items, types.len);
  tvms_vec_fini(memory, &fields);
  tvms_vec_fini(memory, &types);
  return &made->head;
}

static tvms_node *argument_node(making *m, const tvms_node *arg, tvms_value value) {
  // Some descriptions ask for what is constant.
  if (arg->kind == TVMS_NODE_CONSTANT) return tvms_clone(m->unit, arg, NULL);
  switch (value.kind) {
  case TVMS_VALUE_TENSOR: return tensor_node(m, value.tensor, arg->span);
  case TVMS_VALUE_SHAPE: return shape_node(m, value.tensor, arg->span);
  case TVMS_VALUE_INT:
  case TVMS_VALUE_BOOL:
  case TVMS_VALUE_FLOAT: return number_node(m, arg, value);
  case TVMS_VALUE_TUPLE: return tuple_node(m, arg, value.tuple);
  default: return tvms_clone(m->unit, arg, NULL);
  }
}

// Puts the tensors among the arguments into `tensors`, in the order of tensor_node, and returns how many there
// are with those before; NULL: they are counted.
static uint32_t collect(const tvms_node *arg, tvms_value value, uint32_t count,
                        tvms_value *TVMS_NULLABLE tensors) {
  if (arg->kind == TVMS_NODE_CONSTANT) return count;
  if (value.kind == TVMS_VALUE_TENSOR) {
    if (tensors) tensors[count] = value;
    return count + 1;
  }
  for (uint32_t i = 0; value.kind == TVMS_VALUE_TUPLE && i < value.tuple->len; i++)
    count = collect(written_field(arg, i), value.tuple->items[i], count, tensors);
  return count;
}

static uint32_t collect_all(const tvms_call *call, const tvms_value *args,
                            tvms_value *TVMS_NULLABLE tensors) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < call->args.len; i++)
    count = collect(call->args.items[i], args[i], count, tensors);
  return count;
}

// ---- The function ----

static tvms_node *call_node(making *m, const tvms_call *call, const tvms_value *args) {
  tvms_call *made = tvms_as_call(tvms_node_copy(m->unit, &call->head));
  made->args = tvms_list_copy(m->unit, call->args.items, call->args.len);
  made->attrs = tvms_list_copy(m->unit, call->attrs.items, call->attrs.len);
  for (uint32_t i = 0; i < made->args.len; i++)
    made->args.items[i] = argument_node(m, call->args.items[i], args[i]);
  for (uint32_t i = 0; i < made->attrs.len; i++)
    if (made->attrs.items[i])
      made->attrs.items[i] = tvms_clone(m->unit, made->attrs.items[i], NULL);
  made->callee = tvms_clone(m->unit, call->callee, NULL);
  made->head.sinfo = NULL;
  tvms_relax_infer_call(m->unit, NULL, &made->head);
  return &made->head;
}

static tvms_node *function_node(making *m, tvms_node *value) {
  tvms_node *result = tvms_var_new(m->unit, tvms_symbol_intern(m->context, "result", 6),
                                   (tvms_dtype){0}, value->span);
  result->sinfo = value->sinfo;
  tvms_var_binding *binding = tvms_node_make(m->unit, VAR_BINDING, value->span);
  binding->var = result;
  binding->value = value;
  tvms_node *only = &binding->head;
  tvms_binding_block *block = tvms_node_make(m->unit, BINDING_BLOCK, value->span);
  block->bindings = tvms_list_copy(m->unit, &only, 1);
  tvms_seq_expr *body = tvms_node_make(m->unit, SEQ_EXPR, value->span);
  only = &block->head;
  body->blocks = tvms_list_copy(m->unit, &only, 1);
  body->body = result;
  body->head.sinfo = result->sinfo;
  tvms_function *function = tvms_node_make(m->unit, FUNCTION, value->span);
  bool pure = tvms_infer_call_is_pure(NULL, tvms_as_call(value));
  function->head.flags = pure ? TVMS_FLAG_PURE : 0;
  function->name = TVMS_SYM_main;
  function->params = tvms_list_copy(m->unit, m->params.items, m->params.len);
  function->ret = result->sinfo;
  function->body = &body->head;
  return &function->head;
}

// Lowers the call for these arguments. Errors are reported, and unwind.
static void lower(tvms_module *module, const tvms_call *call, const tvms_value *args) {
  static const char passes[] = "dispatch,LegalizeOps{inside=true}";
  tvms_context *context = module->context;
  tvms_member *member = tvms_module_add(module, TVMS_SYM_main, call->head.span);
  making m = {.context = context, .unit = member->unit};
  tvms_node *value = call_node(&m, call, args);
  if (value->sinfo) member->function = function_node(&m, value);
  tvms_vec_fini(&context->memory, &m.params);
  bool done = value->sinfo && !context->diags.errors
              && tvms_native_run_passes(module, passes, NULL);
  if (!done) tvms_memory_unwind(&context->memory, TVMS_FOUND_ERRORS);
}

// ---- Calls ----

static const tvms_late_call *TVMS_NULLABLE find(const tvms_late *late,
                                                const tvms_call *call,
                                                const char *types) {
  for (uint32_t i = 0; i < late->calls.len; i++) {
    const tvms_late_call *known = &late->calls.items[i];
    if (known->call == call && !strcmp(known->types, types)) return known;
  }
  return NULL;
}

static const tvms_module *lowered(tvms_late *late, const tvms_interp *interp,
                                  const tvms_call *call, const tvms_value *args) {
  tvms_memory *memory = &late->context->memory;
  tvms_strbuf types;
  tvms_strbuf_init(&types, memory);
  for (uint32_t i = 0; i < call->args.len; i++)
    add_type(&types, args[i]);
  const tvms_late_call *known = find(late, call, tvms_strbuf_text(&types));
  const char *text =
      known ? known->types : tvms_arena_text(&late->texts, types.text, types.len);
  tvms_strbuf_fini(&types);
  if (known) return known->module;
  tvms_module *module =
      tvms_module_create(late->context, interp->module->dialect, TVMS_SYM_main);
  tvms_vec_push(memory, &late->calls, ((tvms_late_call){call, text, module}));
  lower(module, call, args);
  return module;
}

static tvms_value run_late(void *state, tvms_interp *interp, const tvms_call *call,
                           const tvms_value *args) {
  tvms_late *late = state;
  tvms_memory *memory = &late->context->memory;
  tvms_interp inner = *interp;
  inner.module = lowered(late, interp, call, args);
  inner.late = NULL;
  inner.kernel = NULL;
  inner.observe = NULL;
  inner.codes = NULL;
  uint32_t count = collect_all(call, args, NULL);
  tvms_value *tensors = tvms_arena_array(&late->context->scratch, tvms_value, count);
  collect_all(call, args, tensors);
  tvms_value result = {0};
  const tvms_member *main = tvms_module_find(inner.module, TVMS_SYM_main);
  tvms_status status = tvms_interp_call(&inner, main, tensors, count, &result);
  interp->steps = inner.steps;
  interp->compiled = inner.compiled;
  if (status != TVMS_OK) tvms_memory_unwind(memory, status);
  return result;
}

void tvms_runnable_use_late(tvms_late *late, tvms_interp *interp) {
  late->context = interp->context;
  tvms_arena_init(&late->texts, &interp->context->memory);
  interp->late = run_late;
  interp->late_state = late;
}

void tvms_runnable_close_late(tvms_late *late) {
  if (!late->context) return;
  for (uint32_t i = 0; i < late->calls.len; i++)
    tvms_module_destroy(late->calls.items[i].module);
  tvms_vec_fini(&late->context->memory, &late->calls);
  tvms_arena_fini(&late->texts);
  late->context = NULL;
}
