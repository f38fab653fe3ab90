// T.call_packed: arguments as TVM's run time gets them, tensors made on the way.
//
// A packed function trusts the shape of a tensor, so the memory behind it is looked at here.
#include "interp/packed_tir.h"

#include "interp/boxes.h"
#include "interp/buffer.h"
#include "interp/foreign.h"
#include "interp/meaning.h"
#include "interp/prim.h"
#include "ir/op.h"
#include "runtime/packed.h"
#include "support/diag_ids.h"

#include <string.h>

TVMS_NORETURN static void unsupported(tvms_interp_frame *f, const tvms_node *node) {
  fault(f, TVMS_D_call_not_interpreted, node->span, "call_packed");
}

// The numbers of a T.tvm_stack_make_shape, of which there must be `count`.
static int64_t *sizes_of(tvms_interp_frame *f, const tvms_node *node, int32_t count) {
  if (node->kind != TVMS_NODE_CALL
      || tvms_call_opcode(node) != TVMS_TIR_tvm_stack_make_shape) {
    return NULL;
  }
  tvms_list items = tvms_as_call(node)->args;
  if (items.len != (uint32_t)count) unsupported(f, node);
  int64_t *sizes =
      tvms_arena_array(&f->context->scratch, int64_t, items.len ? items.len : 1);
  for (uint32_t i = 0; i < items.len; i++) {
    sizes[i] = tvms_interp_eval_int(f, items.items[i]);
    if (sizes[i] < 0) sizes[i] = 0;
  }
  return sizes;
}

// Faults if the memory ends before the tensor does.
static void check_memory(tvms_interp_frame *f, const tvms_dl_tensor *tensor,
                         tvms_span span) {
  uint64_t bytes = tvms_dl_element_size(tensor->dtype) * tensor->dtype.lanes;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (__builtin_mul_overflow(bytes, (uint64_t)tensor->shape[i], &bytes))
      bytes = UINT64_MAX / 2;
  }
  if (!bytes) return;
  uint64_t there = tvms_interp_bytes_from(f, tensor->data);
  if (tensor->byte_offset > there || bytes > there - tensor->byte_offset) {
    fault(f, TVMS_D_tensor_beyond_memory, span, (unsigned long long)bytes,
          (unsigned long long)(tensor->byte_offset > there
                                   ? 0
                                   : there - tensor->byte_offset));
  }
}

// tvm_stack_make_array(data, shape, strides, ndim, an element, offset in elements)
static tvms_dl_tensor *tensor_of(tvms_interp_frame *f, const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  if (args.len != 6) unsupported(f, node);
  tvms_dl_tensor *tensor = tvms_arena_new(&f->context->scratch, tvms_dl_tensor);
  int64_t ndim = tvms_interp_eval_int(f, args.items[3]);
  if (ndim < 0 || ndim > INT32_MAX) unsupported(f, node);
  // A shape may be lent as a tensor of its numbers.
  const tvms_node *content = args.items[0];
  bool numbers = content->kind == TVMS_NODE_CALL
                 && tvms_call_opcode(content) == TVMS_TIR_tvm_stack_make_shape;
  int32_t count = numbers ? (int32_t)tvms_as_call(content)->args.len : 0;
  *tensor = (tvms_dl_tensor){
      .data = numbers ? (void *)sizes_of(f, content, count)
                      : tvms_interp_eval(f, content, 0).p,
      .device = {TVMS_DL_CPU, 0},
      .ndim = (int32_t)ndim,
      .dtype = tvms_interp_dl_type_of(args.items[4]->dtype),
      .shape = sizes_of(f, args.items[1], (int32_t)ndim),
      .strides = sizes_of(f, args.items[2], (int32_t)ndim),
  };
  if (!tensor->shape) unsupported(f, node);
  int64_t offset = tvms_interp_eval_int(f, args.items[5]);
  if (offset < 0) unsupported(f, node);
  tensor->byte_offset = (uint64_t)offset * tvms_dl_element_size(tensor->dtype);
  bool counted = numbers && tensor->ndim == 1 && tensor->shape[0] == count && !offset;
  if (!counted) check_memory(f, tensor, node->span);
  return tensor;
}

static tvms_any argument_of(tvms_interp_frame *f, const tvms_node *node) {
  tvms_any any = {0};
  if (node->kind == TVMS_NODE_STRING_IMM) {
    any.type_index = TVMS_ANY_TEXT;
    any.v.p = (void *)(uintptr_t)tvms_as_string_imm(node)->value.text;
    return any;
  }
  if (node->kind == TVMS_NODE_CALL
      && tvms_call_opcode(node) == TVMS_TIR_tvm_stack_make_array) {
    any.type_index = TVMS_ANY_DL_TENSOR;
    any.v.p = tensor_of(f, node);
    return any;
  }
  if (node->kind == TVMS_NODE_CALL
      && tvms_call_opcode(node) == TVMS_TIR_anylist_getitem)
    return *tvms_interp_boxes_place(f, tvms_as_call(node)).item;
  tvms_dtype dtype = node->dtype;
  if (dtype.lanes != 1) unsupported(f, node);
  tvms_scalar value = tvms_interp_eval(f, node, 0);
  if (tvms_dtype_is_handle(dtype)) {
    any.type_index = value.p ? TVMS_ANY_POINTER : TVMS_ANY_NONE;
    any.v.p = value.p;
  } else if (tvms_dtype_is_real(dtype)) {
    any.type_index = TVMS_ANY_FLOAT;
    any.v.f = value.f;
  } else {
    any.type_index = tvms_dtype_is_bool(dtype) ? TVMS_ANY_BOOL : TVMS_ANY_INT;
    any.v.i = value.i;
  }
  return any;
}

// ---- Functions of the module ----

// A tensor over the memory that it was made of, without strides.
static tvms_value tensor_value(tvms_interp_frame *f, const tvms_dl_tensor *tensor,
                               tvms_span span) {
  uint64_t bytes;
  bool good =
      !tensor->strides
      && tvms_tensor_measure(tensor->dtype, tensor->ndim, tensor->shape, &bytes);
  tvms_tensor *made = good ? tvms_tensor_over(
                          f->interp->heap, tensor->dtype, tensor->ndim, tensor->shape,
                          (char *)tensor->data + tensor->byte_offset, bytes)
                           : NULL;
  if (!made)
    fault(f, TVMS_D_wrong_argument, span, "of T.call_packed",
          "a tensor without strides is expected");
  return tvms_value_of_tensor(made);
}

static tvms_value value_of(tvms_interp_frame *f, tvms_any any, tvms_span span) {
  switch (any.type_index) {
  case TVMS_ANY_DL_TENSOR: return tensor_value(f, any.v.p, span);
  case TVMS_ANY_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = any.v.i};
  case TVMS_ANY_BOOL: return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = any.v.i};
  case TVMS_ANY_FLOAT: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = any.v.f};
  default: return (tvms_value){.kind = TVMS_VALUE_FUNCTION, .function = any.v.p};
  }
}

// A number as one of the type of the call.
static tvms_scalar as_value(const tvms_call *call, int64_t whole, double real) {
  if (tvms_dtype_is_real(call->head.dtype)) return (tvms_scalar){.f = real};
  return (tvms_scalar){.i = whole};
}

static tvms_scalar call_member(tvms_interp_frame *f, const tvms_call *call,
                               const tvms_member *member, const tvms_any *args,
                               uint32_t count) {
  tvms_span span = call->head.span;
  tvms_value *values =
      tvms_arena_array(&f->context->scratch, tvms_value, (size_t)count + 1);
  for (uint32_t i = 0; i < count; i++)
    values[i] = value_of(f, args[i], span);
  tvms_value result =
      tvms_interp_call_member(f->interp, member, values, count, span, f);
  for (uint32_t i = 0; i < count; i++)
    tvms_value_drop(values[i]);
  bool real = result.kind == TVMS_VALUE_FLOAT;
  return as_value(call, real ? (int64_t)result.f : result.i,
                  real ? result.f : (double)result.i);
}

// ---- Calls ----

// The arguments behind number `first`, which is the name.
static const tvms_any *arguments_of(tvms_interp_frame *f, const tvms_call *call,
                                    uint32_t first) {
  uint32_t count = call->args.len - first - 1;
  tvms_any *args = tvms_arena_array(&f->context->scratch, tvms_any, count ? count : 1);
  for (uint32_t i = 0; i < count; i++)
    args[i] = argument_of(f, call->args.items[i + first + 1]);
  return args;
}

static tvms_scalar call_foreign(tvms_interp_frame *f, const tvms_call *call,
                                const char *name, const tvms_any *args) {
  int64_t whole;
  double real;
  const char *kind, *wrong = tvms_interp_foreign_number(f->interp->foreign, name, args,
                                                        (int32_t)call->args.len - 1,
                                                        &whole, &real, &kind);
  if (wrong) fault(f, TVMS_D_compiled_code_raised, call->head.span, kind, wrong);
  return as_value(call, whole, real);
}

tvms_scalar tvms_interp_call_foreign(tvms_interp_frame *f, const tvms_call *call) {
  tvms_mark mark = tvms_arena_mark(&f->context->scratch);
  const char *name = tvms_as_string_imm(call->args.items[0])->value.text;
  tvms_scalar value = call_foreign(f, call, name, arguments_of(f, call, 0));
  tvms_arena_reset(&f->context->scratch, mark);
  return value;
}

tvms_scalar tvms_interp_call_packed_of_tir(tvms_interp_frame *f,
                                           const tvms_call *call) {
  tvms_span span = call->head.span;
  const tvms_node *first = call->args.len ? call->args.items[0] : &call->head;
  if (first->kind != TVMS_NODE_STRING_IMM) unsupported(f, &call->head);
  tvms_bytes name = tvms_as_string_imm(first)->value;
  const tvms_member *member = tvms_meaning_of_named(f->interp->module, first);
  tvms_packed_function *function = tvms_packed_find(name.text, name.len);
  bool foreign = tvms_interp_foreign_has(f->interp->foreign, name.text);
  bool box = tvms_box_find(name.text) != NULL;
  if (!member && !function && !foreign && !box)
    fault(f, TVMS_D_unknown_function, span, name.text);
  tvms_mark mark = tvms_arena_mark(&f->context->scratch);
  uint32_t count = call->args.len - 1;
  const tvms_any *args = arguments_of(f, call, 0);
  tvms_scalar value = {.i = 0};
  if (member) {
    value = call_member(f, call, member, args, count);
  } else if (function) {
    const char *wrong = function(&f->context->memory, args, (int32_t)count);
    if (wrong) fault(f, TVMS_D_packed_refused, span, name.text, wrong);
  } else if (box && !foreign) {
    tvms_any given = tvms_interp_boxes_call(f, name.text, args, (int32_t)count, span);
    value = as_value(call, given.v.i, given.v.f);
    tvms_box_drop(&given, 1);
  } else {
    value = call_foreign(f, call, name.text, args);
  }
  tvms_arena_reset(&f->context->scratch, mark);
  return value;
}

void tvms_interp_set_item(tvms_interp_frame *f, const tvms_call *call) {
  tvms_span span = call->head.span;
  const tvms_node *third = call->args.len > 2 ? call->args.items[2] : &call->head;
  if (third->kind != TVMS_NODE_STRING_IMM) unsupported(f, &call->head);
  const char *name = tvms_as_string_imm(third)->value.text;
  const tvms_foreign *foreign = f->interp->foreign;
  const bool found = tvms_interp_foreign_has(foreign, name);
  if (!found && !tvms_box_find(name)) fault(f, TVMS_D_unknown_function, span, name);
  // A closure of a function of the module is native code: its entry makes results.
  bool native = !strcmp(name, "vm.builtin.make_closure") && call->args.len > 3
                && call->args.items[3]->kind == TVMS_NODE_STRING_IMM;
  if (native) fault(f, TVMS_D_call_not_interpreted, span, name);
  tvms_mark mark = tvms_arena_mark(&f->context->scratch);
  const tvms_any *args = arguments_of(f, call, 2);
  // The item comes first: nobody would own the object if there is none.
  tvms_interp_place place = tvms_interp_boxes_place(f, call);
  const int32_t count = (int32_t)call->args.len - 3;
  tvms_any given = {0};
  const char *kind, *wrong = found ? tvms_interp_foreign_object(foreign, name, args,
                                                                count, &given, &kind)
                                   : NULL;
  if (wrong) fault(f, TVMS_D_compiled_code_raised, span, kind, wrong);
  if (!found) given = tvms_interp_boxes_call(f, name, args, count, span);
  tvms_interp_boxes_put(place, given);
  tvms_arena_reset(&f->context->scratch, mark);
}
