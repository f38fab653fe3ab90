// Packed calls, tensors and shapes on stacks.
//
// The stacks are sized when all calls are known: the variables exist before, and the statement
// that makes a stack is written last.
#include "passes/tir/host/builtin_stack.h"

#include "ir/fold.h"
#include "ir/object.h"
#include "passes/tir/host/packed_arguments.h"

#include <string.h>

#define INT32 TVMS_DTYPE(INT, 32)

static tvms_sym symbol(const tvms_unit *unit, const char *name) {
  return tvms_symbol_intern(unit->context, name, strlen(name));
}

static tvms_node *integer(tvms_unit *unit, tvms_dtype dtype, int64_t value) {
  return tvms_int_imm_new(unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *pointer(tvms_unit *unit, const char *name) {
  return tvms_var_new(unit, symbol(unit, name), TVMS_DTYPE(HANDLE, 64), TVMS_NO_SPAN);
}

static tvms_node *call(tvms_unit *unit, tvms_dtype dtype, tvms_tir_opcode opcode,
                       tvms_node **args, uint32_t count) {
  return tvms_call_new_of(unit, dtype, opcode, args, count, TVMS_NO_SPAN);
}

// ---- Stacks ----

void tvms_builtin_stack_init(tvms_builtin_stack *stack, tvms_unit *unit,
                             bool scheduled) {
  *stack =
      (tvms_builtin_stack){.unit = unit, .now = {.shape = -1}, .most = {.shape = -1}};
  stack->any = pointer(unit, "stack_ffi_any");
  stack->array = pointer(unit, "stack_array");
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = symbol(unit, "stack_shape");
  bool named = tvms_release_has(unit->dialect, TVMS_FACT_pointers_have_scope);
  buffer->data =
      tvms_pointer_var_new(unit, buffer->name, TVMS_DTYPE(INT, 64),
                           symbol(unit, named ? "global" : ""), TVMS_NO_SPAN);
  buffer->element = TVMS_DTYPE(INT, 64);
  buffer->elem_offset = integer(unit, TVMS_DTYPE(INT, 64), 0);
  buffer->align = 64;
  buffer->offset_factor = 1;
  if (!scheduled) buffer->layout = tvms_object_none_new(unit, TVMS_NO_SPAN);
  stack->shape = &buffer->head;
}

static tvms_node *allocate(tvms_unit *unit, const char *what, int64_t size) {
  tvms_node *args[] = {tvms_string_imm_new(unit, what, strlen(what), TVMS_NO_SPAN),
                       integer(unit, INT32, size)};
  return call(unit, TVMS_DTYPE(HANDLE, 64), TVMS_TIR_tvm_stack_alloca, args, 2);
}

static void push_bind(tvms_unit *unit, tvms_node_vec *out, tvms_node *var,
                      tvms_node *value) {
  tvms_bind *bind = tvms_node_make(unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = value;
  tvms_vec_push(&unit->context->memory, out, &bind->head);
}

void tvms_builtin_stack_declare(tvms_builtin_stack *stack, tvms_node_vec *out) {
  tvms_unit *unit = stack->unit;
  const tvms_builtin_sizes *most = &stack->most;
  if (most->any)
    push_bind(unit, out, stack->any, allocate(unit, "tvm_ffi_any", most->any));
  if (most->array)
    push_bind(unit, out, stack->array, allocate(unit, "array", most->array));
  if (most->shape < 0) return;
  tvms_node *size = integer(unit, TVMS_DTYPE(INT, 64), most->shape);
  tvms_as_buffer(stack->shape)->shape = tvms_list_copy(unit, &size, 1);
  tvms_node *data = tvms_as_buffer(stack->shape)->data;
  tvms_node *memory = allocate(unit, "shape", most->shape);
  tvms_decl_buffer *declare = tvms_node_make(unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = stack->shape;
  if (tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables)) {
    declare->source = memory;
    memory->sinfo = data->sinfo;
  } else {
    push_bind(unit, out, data, memory);
  }
  tvms_vec_push(&unit->context->memory, out, &declare->head);
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void note_most(tvms_builtin_stack *stack) {
  stack->most.shape = larger(stack->most.shape, stack->now.shape);
  stack->most.array = larger(stack->most.array, stack->now.array);
  stack->most.any = larger(stack->most.any, stack->now.any);
}

// ---- Arguments ----

static tvms_node *set_field(tvms_unit *unit, tvms_node *stack, int64_t index,
                            tvms_packed_field field, tvms_node *value) {
  tvms_node *args[] = {stack, integer(unit, INT32, index), integer(unit, INT32, field),
                       value};
  return tvms_evaluate_new(unit, call(unit, INT32, TVMS_TIR_tvm_struct_set, args, 4),
                           TVMS_NO_SPAN);
}

static void emit_field(tvms_builtin_stack *stack, tvms_rewriter *r, int64_t index,
                       tvms_packed_field field, tvms_node *value) {
  tvms_rewrite_emit(r, set_field(stack->unit, stack->any, index, field, value));
}

// What stands behind the kind: padding, where the release has it, and the value.
static void emit_value(tvms_builtin_stack *stack, tvms_rewriter *r, int64_t index,
                       tvms_node *value) {
  tvms_packed_field field = TVMS_FIELD_ANY_ZERO_PADDING;
  if (tvms_release_has(stack->unit->dialect, TVMS_FACT_packed_arguments_have_padding)) {
    emit_field(stack, r, index, field, integer(stack->unit, INT32, 0));
    field = TVMS_FIELD_ANY_UNION_VALUE;
  }
  emit_field(stack, r, index, field, value);
}

// The address of a tensor, as T.tvm_struct_get gives it.
static bool is_tensor(const tvms_node *arg) {
  return tvms_call_opcode(arg) == TVMS_TIR_tvm_struct_get
         && tvms_node_is_int(tvms_as_call(arg)->args.items[2], 0);
}

// How a value is passed; it is brought to the dtype of that.
static tvms_packed_kind passed_as(tvms_unit *unit, tvms_node **arg) {
  if ((*arg)->kind == TVMS_NODE_STRING_IMM) {
    if (tvms_release_has(unit->dialect, TVMS_FACT_dtypes_are_types))
      *arg = call(unit, TVMS_DTYPE(HANDLE, 64), TVMS_TIR_reinterpret, arg, 1);
    return TVMS_PACKED_RAW_STRING;
  }
  tvms_dtype dtype = (*arg)->dtype;
  if (tvms_dtype_is_handle(dtype))
    return is_tensor(*arg) ? TVMS_PACKED_DL_TENSOR : TVMS_PACKED_POINTER;
  tvms_dtype api =
      tvms_dtype_is_float(dtype) ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  if (!tvms_dtype_same(dtype, api)) *arg = tvms_cast_new(unit, api, *arg, TVMS_NO_SPAN);
  return tvms_dtype_is_float(dtype) ? TVMS_PACKED_FLOAT : TVMS_PACKED_INT;
}

// An element of a list of any values goes from the list to the stack as it is.
static void emit_element(tvms_builtin_stack *stack, tvms_rewriter *r, int64_t index,
                         const tvms_call *element) {
  tvms_unit *unit = stack->unit;
  tvms_node *args[] = {element->args.items[0], element->args.items[1], stack->any,
                       integer(unit, INT32, index)};
  tvms_node *set = call(unit, INT32, TVMS_TIR_TVMBackendAnyListSetPackedArg, args, 4);
  tvms_rewrite_emit(r, tvms_evaluate_new(unit, set, TVMS_NO_SPAN));
}

static void emit_argument(tvms_builtin_stack *stack, tvms_rewriter *r, int64_t index,
                          tvms_node *arg) {
  tvms_unit *unit = stack->unit;
  if (tvms_call_opcode(arg) == TVMS_TIR_anylist_getitem) {
    emit_element(stack, r, index, tvms_as_call(arg));
    return;
  }
  tvms_packed_kind kind = passed_as(unit, &arg);
  tvms_node *set = set_field(unit, stack->any, index, TVMS_FIELD_ANY_TYPE_INDEX,
                             integer(unit, INT32, kind));
  if (kind == TVMS_PACKED_POINTER) {
    // A pointer to nothing is None.
    tvms_if_then_else *choice = tvms_node_make(unit, IF_THEN_ELSE, TVMS_NO_SPAN);
    choice->condition = call(unit, TVMS_DTYPE(BOOL, 1), TVMS_TIR_isnullptr, &arg, 1);
    choice->then_case = set_field(unit, stack->any, index, TVMS_FIELD_ANY_TYPE_INDEX,
                                  integer(unit, INT32, TVMS_PACKED_NONE));
    choice->else_case = set;
    set = &choice->head;
  }
  tvms_rewrite_emit(r, set);
  emit_value(stack, r, index, arg);
}

// The place of the result is emptied. TVM takes the number of arguments for its index, wherever
// they begin.
static void emit_result(tvms_builtin_stack *stack, tvms_rewriter *r, int64_t index) {
  tvms_unit *unit = stack->unit;
  emit_field(stack, r, index, TVMS_FIELD_ANY_TYPE_INDEX,
             integer(unit, INT32, TVMS_PACKED_NONE));
  emit_value(stack, r, index, integer(unit, TVMS_DTYPE(INT, 64), 0));
}

// The lowered call, of what stands from `name_at` on.
static tvms_node *lower_from(tvms_builtin_stack *stack, tvms_rewriter *r,
                             tvms_node *node, uint32_t name_at,
                             tvms_tir_opcode opcode) {
  tvms_unit *unit = stack->unit;
  tvms_builtin_sizes before = stack->now;
  int64_t begin = before.any,
          count = (int64_t)tvms_as_call(node)->args.len - name_at - 1;
  stack->now.any += count + 1;
  tvms_list args = tvms_as_call(tvms_rewrite_below(r, node))->args;
  for (int64_t i = 0; i < count; i++)
    emit_argument(stack, r, begin + i, args.items[name_at + 1 + i]);
  emit_result(stack, r, count);
  note_most(stack);
  stack->now = before;
  tvms_node *lowered[] = {args.items[name_at], stack->any, integer(unit, INT32, begin),
                          integer(unit, INT32, begin + count),
                          args.items[args.len - 1]};
  bool traced = opcode == TVMS_TIR_tvm_call_trace_packed_lowered;
  tvms_node *new = call(unit, node->dtype, opcode, lowered, traced ? 5 : 4);
  new->sinfo = node->sinfo;
  return new;
}

tvms_node *tvms_builtin_stack_call(tvms_builtin_stack *stack, tvms_rewriter *r,
                                   tvms_node *node, tvms_tir_opcode opcode) {
  return lower_from(stack, r, node, 0, opcode);
}

tvms_node *tvms_builtin_stack_set_item(tvms_builtin_stack *stack, tvms_rewriter *r,
                                       tvms_node *node, tvms_tir_opcode opcode) {
  tvms_unit *unit = stack->unit;
  tvms_node *lowered = lower_from(stack, r, node, 2, opcode);
  tvms_rewrite_emit(r, tvms_evaluate_new(unit, lowered, TVMS_NO_SPAN));
  tvms_node *const *list = tvms_as_call(node)->args.items;
  tvms_node *args[] = {list[0], list[1], stack->any,
                       tvms_as_call(lowered)->args.items[3]};
  return call(unit, INT32, TVMS_TIR_TVMBackendAnyListMoveFromPackedReturn, args, 4);
}

// ---- Tensors and shapes ----

// Where the dimensions begin. Before 0.26 that is an element of a view that nothing declares.
static tvms_node *address_of_shape(const tvms_builtin_stack *stack, int64_t begin) {
  tvms_unit *unit = stack->unit;
  bool typed = tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables);
  tvms_node *shape = stack->shape;
  if (!typed) {
    shape = tvms_node_copy(unit, stack->shape);
    tvms_node *size = integer(unit, INT32, begin + 1);
    tvms_as_buffer(shape)->shape = tvms_list_copy(unit, &size, 1);
    tvms_as_buffer(shape)->elem_offset = integer(unit, INT32, 0);
  }
  tvms_node *first = integer(unit, INT32, begin);
  tvms_node *load = tvms_buffer_load_new(unit, shape, &first, 1, NULL, TVMS_NO_SPAN);
  tvms_node *address =
      call(unit, TVMS_DTYPE(HANDLE, 64), TVMS_TIR_address_of, &load, 1);
  if (typed) address->sinfo = tvms_as_buffer(shape)->data->sinfo;
  return address;
}

tvms_node *tvms_builtin_stack_shape(tvms_builtin_stack *stack, tvms_rewriter *r,
                                    tvms_node *node) {
  tvms_unit *unit = stack->unit;
  if (stack->now.shape < 0) stack->now.shape = 0;
  int64_t begin = stack->now.shape;
  stack->now.shape += tvms_as_call(node)->args.len;
  note_most(stack);
  tvms_list args = tvms_as_call(tvms_rewrite_below(r, node))->args;
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_store *store = tvms_node_make(unit, STORE, TVMS_NO_SPAN);
    tvms_node *index = integer(unit, INT32, begin + i);
    store->buffer = stack->shape;
    store->value =
        tvms_build_cast(unit, TVMS_DTYPE(INT, 64), args.items[i], TVMS_NO_SPAN);
    store->indices = tvms_list_copy(unit, &index, 1);
    tvms_rewrite_emit(r, &store->head);
  }
  return address_of_shape(stack, begin);
}

static tvms_node *null_pointer(tvms_unit *unit) {
  tvms_node *zero = integer(unit, TVMS_DTYPE(UINT, 64), 0);
  return call(unit, TVMS_DTYPE(HANDLE, 64), TVMS_TIR_reinterpret, &zero, 1);
}

tvms_node *tvms_builtin_stack_array(tvms_builtin_stack *stack, tvms_rewriter *r,
                                    tvms_node *node, tvms_node *device_id,
                                    tvms_node *device_type) {
  tvms_unit *unit = stack->unit;
  int64_t index = stack->now.array++;
  note_most(stack);
  tvms_list args = tvms_as_call(tvms_rewrite_below(r, node))->args;
  tvms_dtype dtype = args.items[4]->dtype;
  tvms_node *strides =
      tvms_node_is_int(args.items[2], 0) ? null_pointer(unit) : args.items[2];
  tvms_node *offset = args.items[5];
  int64_t bytes = ((int64_t)dtype.bits * dtype.lanes + 7) / 8;
  if (!tvms_node_is_int(offset, 0))
    offset = tvms_build_binary(unit, TVMS_NODE_MUL, offset,
                               integer(unit, offset->dtype, bytes), TVMS_NO_SPAN);
  offset = tvms_build_cast(unit, TVMS_DTYPE(UINT, 64), offset, TVMS_NO_SPAN);
  const struct {
    tvms_packed_field field;
    tvms_node *value;
  } fields[] = {
      {TVMS_FIELD_TENSOR_DATA, args.items[0]},
      {TVMS_FIELD_TENSOR_SHAPE, args.items[1]},
      {TVMS_FIELD_TENSOR_STRIDES, strides},
      {TVMS_FIELD_TENSOR_NDIM, args.items[3]},
      {TVMS_FIELD_TENSOR_TYPE_CODE, integer(unit, TVMS_DTYPE(UINT, 8), dtype.code)},
      {TVMS_FIELD_TENSOR_TYPE_BITS, integer(unit, TVMS_DTYPE(UINT, 8), dtype.bits)},
      {TVMS_FIELD_TENSOR_TYPE_LANES, integer(unit, TVMS_DTYPE(UINT, 16), dtype.lanes)},
      {TVMS_FIELD_TENSOR_BYTE_OFFSET, offset},
      {TVMS_FIELD_TENSOR_DEVICE_ID, device_id},
      {TVMS_FIELD_TENSOR_DEVICE_TYPE, device_type},
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    tvms_rewrite_emit(
        r, set_field(unit, stack->array, index, fields[i].field, fields[i].value));
  tvms_node *address[] = {stack->array, integer(unit, INT32, index),
                          integer(unit, INT32, 0)};
  return call(unit, TVMS_DTYPE(HANDLE, 64), TVMS_TIR_tvm_struct_get, address, 3);
}
