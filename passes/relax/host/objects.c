// Objects are items of a list on the stack, in TVM's words for registers of its machine:
//
//   objects = T.tvm_stack_alloca("anylist", 1)
//   T.anylist_setitem_call_packed(objects, 0, "vm.builtin.attention_kv_cache_view", …)
//   T.call_packed("vm.builtin.check_tensor_info", T.anylist_getitem(objects, 0), 2, "float32", …)
//   object: T.handle = T.tvm_struct_get(objects, 0, 15, "handle")
//   …
//
// The list owns what it holds until the function is left, on whatever way. A parameter that is an object
// points to an item of a list of the caller, and so does a result, which is set at the end. What has a
// size that the caller cannot know is a tensor in the list; everything else is memory of the workspace.
#include "passes/relax/host/objects.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/choices.h"
#include "passes/relax/host/functions.h"
#include "passes/relax/host/values.h"
#include "passes/tir/host/packed_arguments.h"
#include "runtime/abi.h"
#include "structinfo/sinfo.h"

#include <stdio.h>
#include <string.h>

enum {
  SHAPE_ITEMS = TVMS_OBJECT_HEAD / 8
};  // a shape: where the pointer to its numbers is, in words

static const tvms_dtype handle_type = {.code = TVMS_HANDLE, .bits = 64, .lanes = 1};

static tvms_node *int32(tvms_host *h, int64_t value) {
  return tvms_int_imm_new(h->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *text_node(tvms_host *h, const char *text) {
  return tvms_string_imm_new(h->unit, text, strlen(text), TVMS_NO_SPAN);
}

static tvms_node *bound(tvms_host *h, tvms_node *var, tvms_node *value) {
  tvms_bind *bind = tvms_node_make(h->unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = value;
  tvms_host_push(h, &bind->head);
  return var;
}

static tvms_node *call(tvms_host *h, tvms_dtype dtype, tvms_tir_opcode op,
                       tvms_node **args, uint32_t count) {
  return tvms_call_new_of(h->unit, dtype, op, args, count, TVMS_NO_SPAN);
}

// ---- Lists ----

tvms_host_value *tvms_host_slot(tvms_host *h) {
  if (!h->objects) h->objects = tvms_host_number_var(h, "objects", handle_type);
  tvms_host_value *object = tvms_host_value_new(h, TVMS_HOST_OBJECT);
  object->data = h->objects;
  object->index = h->object_count++;
  return object;
}

tvms_host_value *tvms_host_object_param(tvms_host *h, tvms_node *param) {
  tvms_host_value *object = tvms_host_value_new(h, TVMS_HOST_OBJECT);
  object->data = param;
  return object;
}

void tvms_host_add_list(tvms_host *h) {
  if (!h->objects) return;
  tvms_node_vec around = h->stmts;
  h->stmts = h->constants;
  tvms_node *args[] = {text_node(h, "anylist"), int32(h, h->object_count)};
  bound(h, h->objects, call(h, handle_type, TVMS_TIR_tvm_stack_alloca, args, 2));
  h->constants = h->stmts;
  h->stmts = around;
}

tvms_node *tvms_host_item(tvms_host *h, const tvms_host_value *object) {
  tvms_node *args[] = {object->data, int32(h, object->index)};
  return call(h, handle_type, TVMS_TIR_anylist_getitem, args, 2);
}

tvms_node *tvms_host_item_pointer(tvms_host *h, const tvms_host_value *object) {
  if (!object->index) return object->data;
  tvms_node *args[] = {object->data,
                       int32(h, (int64_t)sizeof(tvms_any) * object->index)};
  return call(h, handle_type, TVMS_TIR_handle_add_byte_offset, args, 2);
}

void tvms_host_set(tvms_host *h, const tvms_host_value *to, const char *name,
                   const tvms_node_vec *args, tvms_span span) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_node_vec all = {0};
  tvms_vec_push(memory, &all, to->data);
  tvms_vec_push(memory, &all, int32(h, to->index));
  tvms_vec_push(memory, &all, text_node(h, name));
  for (uint32_t i = 0; i < args->len; i++)
    tvms_vec_push(memory, &all, args->items[i]);
  tvms_node *made = call(h, TVMS_DTYPE(INT, 32), TVMS_TIR_anylist_setitem_call_packed,
                         all.items, all.len);
  made->span = span;
  tvms_vec_fini(memory, &all);
  tvms_host_push(h, tvms_evaluate_new(h->unit, made, span));
}

tvms_host_value *tvms_host_make(tvms_host *h, const char *name,
                                const tvms_node_vec *args, tvms_span span) {
  tvms_host_value *object = tvms_host_slot(h);
  tvms_host_set(h, object, name, args, span);
  return object;
}

// ---- What packed functions are lent ----

static tvms_node *zero_of(tvms_host *h, tvms_dtype dtype) {
  if (tvms_dtype_is_real(dtype))
    return tvms_float_imm_new(h->unit, dtype, 0, TVMS_NO_SPAN);
  return tvms_int_imm_new(h->unit, dtype, 0, TVMS_NO_SPAN);
}

static tvms_node *stack_shape(tvms_host *h, tvms_list dims) {
  tvms_node *made =
      call(h, handle_type, TVMS_TIR_tvm_stack_make_shape, dims.items, dims.len);
  made->sinfo =
      tvms_pointer_var_new(h->unit, 0, TVMS_DTYPE(INT, 64), 0, TVMS_NO_SPAN)->sinfo;
  return made;
}

static tvms_node *stack_tensor(tvms_host *h, tvms_node *data, tvms_list dims,
                               tvms_dtype dtype) {
  tvms_dtype index = TVMS_DTYPE(INT, 32);
  tvms_node *args[] = {data,
                       stack_shape(h, dims),
                       zero_of(h, index),
                       int32(h, dims.len),
                       zero_of(h, dtype),
                       zero_of(h, TVMS_DTYPE(INT, 64))};
  return call(h, handle_type, TVMS_TIR_tvm_stack_make_array, args, 6);
}

tvms_node *tvms_host_lent_tensor(tvms_host *h, const tvms_host_value *tensor) {
  return stack_tensor(h, tensor->data, tensor->dims, tensor->dtype);
}

tvms_node *tvms_host_lent_shape(tvms_host *h, const tvms_host_value *shape) {
  tvms_node *count = tvms_host_int(h, shape->dims.len);
  return stack_tensor(h, stack_shape(h, shape->dims),
                      tvms_list_copy(h->unit, &count, 1), TVMS_DTYPE(INT, 64));
}

// ---- Boxes around values ----

bool tvms_host_push_boxed(tvms_host *h, tvms_host_value *value, tvms_node_vec *args) {
  tvms_memory *memory = tvms_host_memory(h);
  if (value->kind == TVMS_HOST_NUMBER) {
    tvms_vec_push(memory, args, value->number);
    return true;
  }
  const tvms_host_value *object = tvms_host_boxed(h, value);
  if (object) tvms_vec_push(memory, args, tvms_host_item(h, object));
  return object != NULL;
}

bool tvms_host_box_into(tvms_host *h, const tvms_host_value *value,
                        const tvms_host_value *to) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_node_vec args = {0};
  const char *name = "vm.builtin.copy";
  switch ((int)value->kind) {
  case TVMS_HOST_OBJECT: tvms_vec_push(memory, &args, tvms_host_item(h, value)); break;
  case TVMS_HOST_NUMBER: tvms_vec_push(memory, &args, value->number); break;
  case TVMS_HOST_TEXT:
    if (!tvms_dtype_is_void(value->dtype)) name = "tvms.data_type";
    tvms_vec_push(memory, &args, value->data);
    break;
  case TVMS_HOST_TENSOR:
    tvms_vec_push(memory, &args,
                  value->box ? tvms_host_item(h, value->box)
                             : tvms_host_lent_tensor(h, value));
    break;
  case TVMS_HOST_SHAPE:
    name = "ffi.Shape";
    for (uint32_t i = 0; i < value->dims.len; i++)
      tvms_vec_push(memory, &args, value->dims.items[i]);
    break;
  case TVMS_HOST_TUPLE:
    name = "vm.builtin.make_tuple";
    for (uint32_t i = 0; i < value->count && !h->failed; i++)
      tvms_host_push_boxed(h, value->fields[i], &args);
    break;
  case TVMS_HOST_NOTHING: {
    tvms_node *reset[] = {to->data, int32(h, to->index)};
    tvms_node *made =
        call(h, TVMS_DTYPE(INT, 32), TVMS_TIR_anylist_resetitem, reset, 2);
    tvms_host_push(h, tvms_evaluate_new(h->unit, made, TVMS_NO_SPAN));
    return true;
  }
  case TVMS_HOST_FUNCTION: return tvms_host_box_function(h, value, to);
  case TVMS_HOST_CHOICE: return tvms_host_box_choice(h, value, to);
  default: tvms_host_refuse(h, TVMS_NO_SPAN, "memory is passed as an object");
  }
  if (!h->failed) tvms_host_set(h, to, name, &args, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &args);
  return !h->failed;
}

tvms_host_value *tvms_host_boxed(tvms_host *h, tvms_host_value *value) {
  if (value->kind == TVMS_HOST_OBJECT) return value;
  // A tensor without a copy: nothing writes to one that is an object.
  bool whole = value->kind == TVMS_HOST_TENSOR && value->box;
  if (whole) return value->box;
  tvms_host_value *object = tvms_host_slot(h);
  if (value->kind == TVMS_HOST_NOTHING) return object;
  return tvms_host_box_into(h, value, object) ? object : NULL;
}

// ---- Values of boxes ----

static tvms_node *field_of(tvms_host *h, tvms_dtype dtype, tvms_node *base,
                           int64_t index, int64_t field) {
  tvms_node *args[] = {base, int32(h, index), int32(h, field)};
  return call(h, dtype, TVMS_TIR_tvm_struct_get, args, 3);
}

static tvms_node *value_of(tvms_host *h, const tvms_host_value *object,
                           tvms_dtype dtype) {
  bool padded =
      tvms_release_has(h->unit->dialect, TVMS_FACT_packed_arguments_have_padding);
  return field_of(h, dtype, object->data, object->index,
                  padded ? TVMS_FIELD_ANY_UNION_VALUE : TVMS_FIELD_ANY_ZERO_PADDING);
}

// Has the run time check an object: vm.builtin.<check>(object, rank or nothing, data type or
// nothing, who).
static void check(tvms_host *h, const char *name, const tvms_host_value *object,
                  int64_t rank, tvms_dtype dtype, const char *who) {
  char text[TVMS_DTYPE_TEXT];
  tvms_node *args[5], *made;
  uint32_t count = 0;
  args[count++] = text_node(h, name);
  args[count++] = tvms_host_item(h, object);
  if (rank >= 0) args[count++] = int32(h, rank);
  if (!tvms_dtype_is_void(dtype))
    args[count++] = text_node(h, tvms_dtype_text(dtype, text));
  args[count++] = text_node(h, who);
  made = call(h, TVMS_DTYPE(INT, 32), TVMS_TIR_tvm_call_packed, args, count);
  tvms_host_push(h, tvms_evaluate_new(h->unit, made, TVMS_NO_SPAN));
}

// Binds the numbers behind a pointer to int64.
static tvms_list numbers_at(tvms_host *h, tvms_node *pointer, int64_t count) {
  tvms_node_vec numbers = {0};
  for (int64_t i = 0; i < count; i++) {
    tvms_node *size = tvms_host_number_var(h, "size", TVMS_DTYPE(INT, 64));
    bound(h, size,
          field_of(h, TVMS_DTYPE(INT, 64), pointer, i, TVMS_FIELD_INT64_ELEMENT));
    tvms_vec_push(tvms_host_memory(h), &numbers, size);
  }
  tvms_list made = tvms_list_copy(h->unit, numbers.items, numbers.len);
  tvms_vec_fini(tvms_host_memory(h), &numbers);
  return made;
}

static tvms_node *object_pointer(tvms_host *h, const tvms_host_value *object) {
  return bound(h, tvms_host_number_var(h, "object", handle_type),
               value_of(h, object, handle_type));
}

// The elements of a tensor that is an object, as a pointer to such, and what it is in: a DLTensor.
static tvms_node *elements(tvms_host *h, const tvms_host_value *object,
                           const char *name, tvms_dtype dtype, tvms_node **tensor) {
  tvms_node *inside[] = {object_pointer(h, object), int32(h, TVMS_OBJECT_HEAD)};
  *tensor = bound(h, tvms_host_number_var(h, "tensor", handle_type),
                  call(h, handle_type, TVMS_TIR_handle_add_byte_offset, inside, 2));
  tvms_sym symbol = tvms_symbol_intern(h->run->context, name, strlen(name));
  tvms_node *data = tvms_pointer_var_new(h->unit, symbol, dtype, 0, TVMS_NO_SPAN);
  tvms_node *raw = field_of(h, handle_type, *tensor, 0, TVMS_FIELD_TENSOR_DATA);
  if (tvms_release_has(h->unit->dialect, TVMS_FACT_buffers_are_variables)) {
    raw = call(h, handle_type, TVMS_TIR_reinterpret, &raw, 1);
    raw->sinfo = data->sinfo;
  }
  return bound(h, data, raw);
}

static tvms_host_value *tensor_in(tvms_host *h, const tvms_node *type,
                                  const tvms_host_value *given, const char *who) {
  int64_t ndim = tvms_as_sinfo_tensor(type)->ndim;
  // An argument may be a tensor that is lent, of which the copy is an object.
  const bool own = given->data == h->objects;
  tvms_host_value *object =
      own ? tvms_host_value_new(h, TVMS_HOST_OBJECT) : tvms_host_slot(h);
  if (own)
    *object = *given;
  else
    tvms_host_box_into(h, given, object);
  check(h, "vm.builtin.check_tensor_info", object, ndim, type->dtype, who);
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_TENSOR);
  tvms_node *tensor;
  value->box = object;
  value->dtype = type->dtype;
  value->data = elements(h, object, "elements", type->dtype, &tensor);
  if (!ndim) return value;
  tvms_node *sizes =
      bound(h, tvms_host_number_var(h, "sizes", handle_type),
            field_of(h, handle_type, tensor, 0, TVMS_FIELD_TENSOR_SHAPE));
  value->dims = numbers_at(h, sizes, ndim);
  return value;
}

static tvms_host_value *shape_in(tvms_host *h, const tvms_node *type,
                                 const tvms_host_value *object, const char *who) {
  int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
  check(h, "vm.builtin.check_shape_info", object, ndim, (tvms_dtype){0}, who);
  tvms_node *raw = field_of(h, TVMS_DTYPE(INT, 64), object_pointer(h, object),
                            SHAPE_ITEMS, TVMS_FIELD_INT64_ELEMENT);
  tvms_node *sizes = bound(h, tvms_host_number_var(h, "sizes", handle_type),
                           call(h, handle_type, TVMS_TIR_reinterpret, &raw, 1));
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_SHAPE);
  value->dims = numbers_at(h, sizes, ndim);
  return value;
}

static tvms_host_value *number_in(tvms_host *h, const tvms_node *type,
                                  const tvms_host_value *object, const char *who) {
  tvms_dtype dtype =
      tvms_dtype_is_void(type->dtype) ? TVMS_DTYPE(INT, 64) : type->dtype;
  tvms_dtype wide =
      tvms_dtype_is_real(dtype) ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  check(h, "vm.builtin.check_prim_value_info", object, -1, dtype, who);
  tvms_node *number = value_of(h, object, wide);
  if (!tvms_dtype_same(dtype, wide))
    number = tvms_cast_new(h->unit, dtype, number, TVMS_NO_SPAN);
  return tvms_host_number(h,
                          bound(h, tvms_host_number_var(h, "number", dtype), number));
}

static tvms_host_value *function_in(tvms_host *h, const tvms_host_value *object,
                                    const char *who) {
  check(h, "vm.builtin.check_func_info", object, -1, (tvms_dtype){0}, who);
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_OBJECT);
  *value = *object;
  return value;
}

static tvms_host_value *TVMS_NULLABLE tuple_in(tvms_host *h, const tvms_node *type,
                                               const tvms_host_value *object,
                                               const char *who, tvms_span span) {
  tvms_list types = tvms_as_sinfo_tuple(type)->fields;
  tvms_host_value *tuple = tvms_host_value_of(h, TVMS_HOST_TUPLE, types.len);
  for (uint32_t i = 0; i < types.len && !h->failed; i++)
    tuple->fields[i] = tvms_host_unboxed(
        h, types.items[i], tvms_host_object_field(h, object, i, span), who, span);
  return h->failed ? NULL : tuple;
}

// Does a type say too little of a value to be read?
static bool stays_object(const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TENSOR)
    return tvms_as_sinfo_tensor(type)->ndim < 0 || tvms_dtype_is_void(type->dtype);
  if (type->kind == TVMS_NODE_SINFO_SHAPE) return tvms_as_sinfo_shape(type)->ndim < 0;
  return type->kind == TVMS_NODE_SINFO_OBJECT;
}

tvms_host_value *tvms_host_unboxed(tvms_host *h, const tvms_node *type,
                                   const tvms_host_value *object, const char *who,
                                   tvms_span span) {
  tvms_host_value *value = NULL;
  if (stays_object(type)) {
    value = tvms_host_value_new(h, TVMS_HOST_OBJECT);
    *value = *object;
    return value;
  }
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: value = tensor_in(h, type, object, who); break;
  case TVMS_NODE_SINFO_SHAPE: value = shape_in(h, type, object, who); break;
  case TVMS_NODE_SINFO_PRIM: value = number_in(h, type, object, who); break;
  case TVMS_NODE_SINFO_TUPLE: value = tuple_in(h, type, object, who, span); break;
  case TVMS_NODE_SINFO_FUNC: return function_in(h, object, who);
  default: return tvms_host_refuse(h, span, "a value has a type that none has");
  }
  return value ? tvms_host_match(h, type, value, who, span) : NULL;
}

tvms_host_value *tvms_host_object_field(tvms_host *h, const tvms_host_value *object,
                                        int64_t index, tvms_span span) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_node_vec args = {0};
  tvms_vec_push(memory, &args, tvms_host_item(h, object));
  tvms_vec_push(memory, &args, int32(h, index));
  tvms_host_value *field = tvms_host_make(h, "vm.builtin.tuple_getitem", &args, span);
  tvms_vec_fini(memory, &args);
  return field;
}

// ---- Sizes that are known only when it runs ----

static tvms_walk_step find_late(void *self, tvms_node *node, tvms_field_role role) {
  tvms_host *h = self;
  (void)role;
  bool late = tvms_relax_is_symbol(node) && !tvms_node_map_get(&h->told, node);
  return late ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_host_is_late(tvms_host *h, tvms_list sizes) {
  tvms_visitor visitor = {.self = h, .enter = find_late};
  for (uint32_t i = 0; i < sizes.len; i++) {
    if (!tvms_walk(tvms_host_memory(h), sizes.items[i], &visitor)) return true;
  }
  return false;
}

tvms_host_value *tvms_host_late_tensor(tvms_host *h, const char *name, tvms_dtype dtype,
                                       tvms_list dims) {
  tvms_memory *memory = tvms_host_memory(h);
  char text[TVMS_DTYPE_TEXT];
  tvms_node_vec args = {0};
  tvms_node *tensor;
  tvms_vec_push(memory, &args, text_node(h, tvms_dtype_text(dtype, text)));
  for (uint32_t i = 0; i < dims.len; i++)
    tvms_vec_push(memory, &args, dims.items[i]);
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_TENSOR);
  value->box = tvms_host_make(h, "tvms.new_tensor", &args, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &args);
  value->dtype = dtype;
  value->dims = dims;
  value->data = elements(h, value->box, name, dtype, &tensor);
  return value;
}
