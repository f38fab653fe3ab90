// Fields of structures in memory. A program may have any pointer, so each access is looked up
// among the memory that it may touch.
#include "interp/structs.h"

#include "interp/boxes.h"
#include "interp/buffer.h"
#include "interp/meaning.h"
#include "ir/op.h"
#include "runtime/abi.h"
#include "support/diag_ids.h"

#include <stddef.h>
#include <string.h>

// Numbers of fields in all releases but those of TVMFFIAny behind its kind.
enum {
  TENSOR_ADDRESS = 0,
  TENSOR_DEVICE_TYPE = 10,
  ANY_KIND = 13,
  INT64_ELEMENT = 17,
};

#define AT(struct, field, code, bits)                                                  \
  { sizeof(struct), offsetof(struct, field), {code, bits, 1}, false }

static const tvms_interp_field tensor_fields[] = {
    [1] = AT(tvms_dl_tensor, data, TVMS_DL_HANDLE, 64),
    [2] = AT(tvms_dl_tensor, shape, TVMS_DL_HANDLE, 64),
    [3] = AT(tvms_dl_tensor, strides, TVMS_DL_HANDLE, 64),
    [4] = AT(tvms_dl_tensor, ndim, TVMS_DL_INT, 32),
    [5] = AT(tvms_dl_tensor, dtype.code, TVMS_DL_UINT, 8),
    [6] = AT(tvms_dl_tensor, dtype.bits, TVMS_DL_UINT, 8),
    [7] = AT(tvms_dl_tensor, dtype.lanes, TVMS_DL_UINT, 16),
    [8] = AT(tvms_dl_tensor, byte_offset, TVMS_DL_UINT, 64),
    [9] = AT(tvms_dl_tensor, device.id, TVMS_DL_INT, 32),
    [TENSOR_DEVICE_TYPE] = AT(tvms_dl_tensor, device.type, TVMS_DL_INT, 32),
};

tvms_interp_field tvms_interp_field_of(tvms_dialect dialect, int64_t field) {
  static const tvms_interp_field kind = AT(tvms_any, type_index, TVMS_DL_INT, 32);
  static const tvms_interp_field padding = AT(tvms_any, padding, TVMS_DL_UINT, 32);
  static const tvms_interp_field element = {
      sizeof(int64_t), 0, {TVMS_DL_INT, 64, 1}, false};
  tvms_interp_field value = {
      sizeof(tvms_any), offsetof(tvms_any, v), {TVMS_DL_INT, 64, 1}, true};
  bool padded = tvms_release_has(dialect, TVMS_FACT_packed_arguments_have_padding);
  if (field > TENSOR_ADDRESS && field <= TENSOR_DEVICE_TYPE)
    return tensor_fields[field];
  if (field == ANY_KIND) return kind;
  if (field == ANY_KIND + 1) return padded ? padding : value;
  if (field == ANY_KIND + 2 && padded) return value;
  if (field == INT64_ELEMENT) return element;
  return (tvms_interp_field){0};
}

tvms_dtype tvms_interp_field_dtype(const tvms_interp_field *field, tvms_dtype wanted) {
  if (field->is_union && tvms_dtype_is_handle(wanted)) return TVMS_DTYPE(HANDLE, 64);
  if (field->is_union && tvms_dtype_is_real(wanted)) return TVMS_DTYPE(FLOAT, 64);
  uint8_t bits = field->type.bits;
  if (field->type.code == TVMS_DL_HANDLE) return TVMS_DTYPE(HANDLE, 64);
  return field->type.code == TVMS_DL_INT ? TVMS_DTYPE(INT, bits)
                                         : TVMS_DTYPE(UINT, bits);
}

TVMS_NORETURN static void unsupported(tvms_interp_frame *f, const tvms_call *call) {
  const tvms_operator *callee = tvms_as_operator(call->callee);
  fault(f, TVMS_D_call_not_interpreted, call->head.span,
        tvms_symbol_text(f->context, callee->name));
}

static int64_t int_argument(tvms_interp_frame *f, const tvms_call *call, uint32_t i) {
  return tvms_interp_eval_int(f, call->args.items[i]);
}

// How much memory there is from a pointer on that a call may use.
static uint64_t bytes_for(const tvms_interp_frame *f, const tvms_call *call,
                          const void *base) {
  return tvms_call_opcode(&call->head) == TVMS_TIR_tvm_struct_set
             ? tvms_interp_bytes_from(f, base)
             : tvms_interp_readable_from(f, base);
}

// The address of the field that a call is about; *type is that of what is there.
static char *address_of(tvms_interp_frame *f, const tvms_call *call,
                        tvms_dl_type wanted, tvms_dl_type *type) {
  char *base = tvms_interp_eval(f, call->args.items[0], 0).p;
  int64_t index = int_argument(f, call, 1), field = int_argument(f, call, 2);
  tvms_interp_field at = tvms_interp_field_of(f->member->unit->dialect, field);
  if (!at.type.lanes) unsupported(f, call);
  *type = at.type;
  if (at.is_union && wanted.code == TVMS_DL_HANDLE) type->code = TVMS_DL_HANDLE;
  if (at.is_union && tvms_scalar_kind_is_real(wanted.code)) type->code = TVMS_DL_FLOAT;
  int64_t offset, end;
  uint64_t there = bytes_for(f, call, base);
  size_t size = tvms_dl_element_size(at.type);
  bool inside = base && index >= 0
                && !__builtin_mul_overflow(index, (int64_t)at.stride, &offset)
                && !__builtin_add_overflow(offset, (int64_t)(at.offset + size), &end)
                && (uint64_t)end <= there;
  if (!inside)
    fault(f, TVMS_D_outside_struct, call->head.span, (long long)field,
          (long long)index);
  return base + offset + at.offset;
}

tvms_scalar tvms_interp_struct_get(tvms_interp_frame *f, const tvms_call *call) {
  tvms_dl_type wanted = tvms_interp_dl_type_of(call->head.dtype), type;
  if (call->args.len < 3) unsupported(f, call);
  if (int_argument(f, call, 2) == TENSOR_ADDRESS) {
    char *base = tvms_interp_eval(f, call->args.items[0], 0).p;
    int64_t offset = tvms_interp_eval_int(f, call->args.items[1]);
    if (__builtin_mul_overflow(offset, (int64_t)sizeof(tvms_dl_tensor), &offset)
        || !base || offset < 0 || (uint64_t)offset > tvms_interp_readable_from(f, base))
      fault(f, TVMS_D_outside_struct, call->head.span, (long long)TENSOR_ADDRESS,
            (long long)int_argument(f, call, 1));
    return (tvms_scalar){.p = base + offset};
  }
  const char *at = address_of(f, call, wanted, &type);
  tvms_scalar value = tvms_dl_element_get(at, type);
  return wanted.code == TVMS_DL_HANDLE ? value
                                       : tvms_scalar_convert(value, type, wanted);
}

// The value of a text is its address.
static tvms_scalar value_of(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_node *text = node;
  if (tvms_call_opcode(node) == TVMS_TIR_reinterpret
      && tvms_as_call(node)->args.len == 1)
    text = tvms_as_call(node)->args.items[0];
  if (text->kind != TVMS_NODE_STRING_IMM) return tvms_interp_eval(f, node, 0);
  return (tvms_scalar){.p = (void *)(uintptr_t)tvms_as_string_imm(text)->value.text};
}

void tvms_interp_struct_set(tvms_interp_frame *f, const tvms_call *call) {
  if (call->args.len < 4) unsupported(f, call);
  const tvms_node *node = call->args.items[3];
  tvms_dl_type given = tvms_interp_dl_type_of(node->dtype), type;
  if (node->kind == TVMS_NODE_STRING_IMM) given = (tvms_dl_type){TVMS_DL_HANDLE, 64, 1};
  tvms_scalar value = value_of(f, node);
  char *at = address_of(f, call, given, &type);
  bool pointers = type.code == TVMS_DL_HANDLE || given.code == TVMS_DL_HANDLE;
  tvms_dl_element_set(at, type,
                      pointers ? value : tvms_scalar_convert(value, given, type));
}

tvms_scalar tvms_interp_stack_alloca(tvms_interp_frame *f, const tvms_call *call) {
  static const struct {
    const char *what;
    int16_t words;  // of eight bytes
  } kinds[] = {{"shape", 1},
               {"arg_value", 1},
               {"tvm_ffi_any", sizeof(tvms_any) / 8},
               {"array", sizeof(tvms_dl_tensor) / 8}};
  const tvms_node *what = call->args.len == 2 ? call->args.items[0] : NULL;
  if (!what || what->kind != TVMS_NODE_STRING_IMM) unsupported(f, call);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(kinds[i].what, tvms_as_string_imm(what)->value.text) != 0) continue;
    tvms_dtype word = {TVMS_INT, 64, kinds[i].words};
    tvms_list count = {(tvms_node **)(uintptr_t)&call->args.items[1], 1};
    return (tvms_scalar){.p = tvms_interp_allocate(f, word, count, call->head.span)};
  }
  if (tvms_bytes_is(tvms_as_string_imm(what)->value, "anylist"))
    return (tvms_scalar){
        .p = tvms_interp_boxes_new(f, int_argument(f, call, 1), call->head.span)};
  unsupported(f, call);
}
