// Calls of operators of TIR: generic ones by their row's rule, the special ones by hand.
#include "parser/tir/intrinsic.h"

#include "ir/fold.h"
#include "ir/object.h"
#include "ir/tir_op.h"
#include "parser/calls.h"
#include "parser/device/attributed.h"
#include "parser/eval/convert.h"
#include "parser/eval/internal.h"
#include "parser/eval/iterate.h"
#include "parser/tir/access.h"
#include "parser/tir/buffer_form.h"
#include "parser/tir/convert.h"

#include <string.h>

tvms_node *tvms_tir_pointer_type(tvms_reader *reader, tvms_dtype element,
                                 tvms_sym scope) {
  tvms_sinfo_pointer *type = tvms_node_make(reader->unit, SINFO_POINTER, TVMS_NO_SPAN);
  type->head.dtype = element;
  type->scope = scope;
  return &type->head;
}

// ---- Types of calls -------------------------------------------------------------------------

// What a call yields: a dtype, and for typed pointers (0.26 on) the type.
typedef struct {
  tvms_dtype dtype;
  tvms_node *TVMS_NULLABLE sinfo;
} call_type;

static const call_type VOID_TYPE = {{0}, NULL};

static call_type scalar_type(uint8_t code, uint8_t bits) {
  return (call_type){{code, bits, 1}, NULL};
}

static call_type pointer_to(tvms_reader *reader, tvms_dtype element, tvms_sym scope) {
  call_type type = scalar_type(TVMS_HANDLE, 64);
  if (reader->dialect >= TVMS_DIALECT_26) {
    type.sinfo = tvms_tir_pointer_type(reader, element, scope);
  }
  return type;
}

static call_type type_of(const tvms_node *node) {
  return (call_type){node->dtype, node->sinfo};
}

// A type given as argument: text, a data type, or `T.handle("float32").ty`.
static bool to_type(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                    call_type *type) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node
      && (node->kind == TVMS_NODE_SINFO_POINTER
          || node->kind == TVMS_NODE_SINFO_TENSOR_MAP)) {
    *type = scalar_type(TVMS_HANDLE, 64);
    type->sinfo = node;
    return true;
  }
  if (node && node->kind == TVMS_NODE_SINFO_TUPLE) {
    *type = VOID_TYPE;
    return true;
  }
  type->sinfo = NULL;
  return tvms_eval_to_dtype(reader, value, ref, &type->dtype);
}

bool tvms_tir_to_result_type(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                             tvms_dtype *dtype, tvms_node **sinfo) {
  call_type type = {0};
  if (!to_type(reader, value, ref, &type)) return false;
  *dtype = type.dtype;
  *sinfo = type.sinfo;
  return true;
}

static tvms_eval_value call_op(tvms_reader *reader, call_type type, tvms_tir_opcode op,
                               tvms_node *const *args, uint32_t count, tvms_ref ref) {
  tvms_node *call = tvms_call_new_of(reader->unit, type.dtype, op, args, count,
                                     tvms_reader_span_of(reader, ref));
  call->sinfo = type.sinfo;
  return tvms_eval_value_node(call);
}

// ---- Arguments ------------------------------------------------------------------------------

static tvms_node *to_argument(tvms_reader *reader, tvms_eval_value value,
                              tvms_ref ref) {
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node && node->kind == TVMS_NODE_BUFFER && reader->dialect >= TVMS_DIALECT_26) {
    return tvms_tir_is_scalar_buffer(reader, node) && !(value.flags & TVMS_EVAL_WHOLE)
               ? tvms_eval_to_expr(reader, value, ref)
               : node;
  }
  if (value.kind == TVMS_EVAL_DTYPE && reader->dialect < TVMS_DIALECT_26) {
    char buffer[TVMS_DTYPE_TEXT];
    const char *text = tvms_dtype_text(value.as.dtype, buffer);
    return tvms_string_imm_new(reader->unit, text, strlen(text), TVMS_NO_SPAN);
  }
  if (node && node->kind == TVMS_NODE_BUFFER_REGION
      && reader->dialect >= TVMS_DIALECT_26) {
    return tvms_tir_region_load(reader, node, ref);
  }
  return tvms_eval_to_expr(reader, value, ref);
}

bool tvms_tir_to_arguments(tvms_reader *reader, tvms_eval_value args, tvms_ref ref,
                           tvms_list *list) {
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, args.len);
  list->len = args.len;
  bool sound = true;
  for (uint32_t i = 0; i < args.len; i++) {
    list->items[i] = to_argument(reader, args.as.items[i], ref);
    sound = sound && list->items[i];
  }
  if (!sound) reader->failed = true;
  return sound;
}

// All arguments of a call from parameter `from` on as one flat list.
static bool flat_arguments(tvms_reader *reader, const tvms_call_args *call,
                           uint32_t from, tvms_list *list) {
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  tvms_nodes nodes = {0};
  tvms_memory *memory = &reader->context->memory;
  bool sound = true;
  for (uint32_t i = from; i < signature->count; i++) {
    if ((int32_t)i == signature->rest) {
      tvms_list rest;
      sound = tvms_tir_to_arguments(reader, call->args[i], call->ref, &rest) && sound;
      for (uint32_t k = 0; sound && k < rest.len; k++) {
        tvms_vec_push(memory, &nodes, rest.items[k]);
      }
      continue;
    }
    if (call->args[i].kind == TVMS_EVAL_NONE && !signature->params[i].required)
      continue;
    tvms_node *node = to_argument(reader, call->args[i], call->refs[i]);
    sound = sound && node;
    tvms_vec_push(memory, &nodes, node);
  }
  if (sound) *list = tvms_list_copy(reader->unit, nodes.items, nodes.len);
  tvms_vec_fini(memory, &nodes);
  if (!sound) reader->failed = true;
  return sound;
}

// ---- Packed calls ---------------------------------------------------------------------------

static tvms_node *make_shape(tvms_reader *reader, tvms_list dims, tvms_ref ref) {
  return call_op(reader, pointer_to(reader, TVMS_DTYPE(INT, 64), 0),
                 TVMS_TIR_tvm_stack_make_shape, dims.items, dims.len, ref)
      .as.node;
}

static tvms_node *int32(tvms_reader *reader, int64_t value) {
  return tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

tvms_node *tvms_tir_pack_buffer(tvms_reader *reader, tvms_node *buffer, tvms_ref ref) {
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  tvms_node *zero =
      tvms_dtype_is_real(fields->element)
          ? tvms_build_float(reader->unit, fields->element, 0, TVMS_NO_SPAN)
          : tvms_build_int(reader->unit, fields->element, 0, TVMS_NO_SPAN);
  if (!zero) return NULL;
  tvms_node *args[] = {
      fields->data,
      make_shape(reader, fields->shape, ref),
      fields->strides.len ? make_shape(reader, fields->strides, ref) : int32(reader, 0),
      int32(reader, fields->shape.len),
      zero,
      fields->elem_offset,
  };
  return call_op(reader, scalar_type(TVMS_HANDLE, 64), TVMS_TIR_tvm_stack_make_array,
                 args, 6, ref)
      .as.node;
}

static tvms_eval_value call_packed(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value rest = call->args[0];
  tvms_eval_value *items = tvms_eval_keep_items(reader, rest.as.items, rest.len);
  for (uint32_t i = 0; i < rest.len; i++) {
    tvms_node *buffer = tvms_eval_value_node_of(items[i], TVMS_NODE_BUFFER);
    if (!buffer) continue;
    items[i] = tvms_eval_value_node(tvms_tir_pack_buffer(reader, buffer, call->ref));
  }
  tvms_list args;
  if (!tvms_tir_to_arguments(reader,
                             tvms_eval_value_items(TVMS_EVAL_TUPLE, items, rest.len),
                             call->ref, &args)) {
    return tvms_reader_failed(reader);
  }
  return call_op(reader, scalar_type(TVMS_INT, 32), (tvms_tir_opcode)call->row->op,
                 args.items, args.len, call->ref);
}

// ---- Calls by rule --------------------------------------------------------------------------

// T.tvm_stack_alloca(kind, count): what its elements are, where TVM says so.
static call_type stack_type(tvms_reader *reader, tvms_eval_value kind) {
  if (tvms_eval_value_is_exactly(kind, "shape"))
    return pointer_to(reader, TVMS_DTYPE(INT, 64), 0);
  if (tvms_eval_value_is_exactly(kind, "arg_tcode")) {
    return pointer_to(reader, TVMS_DTYPE(INT, 32), 0);
  }
  return scalar_type(TVMS_HANDLE, 64);
}

static bool type_by_rule(tvms_reader *reader, const tvms_call_args *call,
                         tvms_list args, call_type *type) {
  *type = VOID_TYPE;
  switch (call->row->rule) {
  case TVMS_RULE_SAME:
  case TVMS_RULE_SAME_FLOAT:
  case TVMS_RULE_ARG0:
    if (args.len) *type = type_of(args.items[0]);
    if (reader->dialect < TVMS_DIALECT_26) type->sinfo = NULL;
    return true;
  case TVMS_RULE_ARG1:
    if (args.len > 1) *type = type_of(args.items[1]);
    return true;
  case TVMS_RULE_INT32: *type = scalar_type(TVMS_INT, 32); return true;
  case TVMS_RULE_UINT32: *type = scalar_type(TVMS_UINT, 32); return true;
  case TVMS_RULE_BOOL: *type = scalar_type(TVMS_BOOL, 1); return true;
  case TVMS_RULE_HANDLE: *type = scalar_type(TVMS_HANDLE, 64); return true;
  case TVMS_RULE_STACK: *type = stack_type(reader, call->args[0]); return true;
  case TVMS_RULE_SHAPE: *type = pointer_to(reader, TVMS_DTYPE(INT, 64), 0); return true;
  case TVMS_RULE_FIRST:
  case TVMS_RULE_LLVM: return to_type(reader, call->args[0], call->refs[0], type);
  case TVMS_RULE_VOID:
  case TVMS_RULE_ATTRIBUTED:
  case TVMS_RULE_PACKED:
  case TVMS_RULE_NONE: return true;
  }
  return true;
}

// Whose type the call takes must have one: a number of Python has none. From 0.26 on
// pointers are no values that functions are applied to.
static bool check_typed(tvms_reader *reader, const tvms_call_args *call,
                        tvms_list args) {
  tvms_rule rule = (tvms_rule)call->row->rule;
  uint32_t from = rule == TVMS_RULE_ARG1;
  if (rule == TVMS_RULE_ARG0 || rule == TVMS_RULE_ARG1) {
    tvms_eval_value value = call->args[from];
    const tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
    bool typed =
        node && tvms_node_class_of(node) == TVMS_CLASS_EXPR
        && (reader->dialect < TVMS_DIALECT_26 || !tvms_dtype_is_handle(node->dtype));
    if (typed) return true;
    tvms_eval_report_wrong_type(reader, call->refs[from], "this",
                                "an expression with a type", value);
    return false;
  }
  bool same = rule == TVMS_RULE_SAME || rule == TVMS_RULE_SAME_FLOAT;
  for (uint32_t i = 0; same && reader->dialect >= TVMS_DIALECT_26 && i < args.len;
       i++) {
    const tvms_node *arg = args.items[i];
    if (!tvms_dtype_is_handle(arg->dtype) && arg->kind != TVMS_NODE_BUFFER) continue;
    tvms_eval_report_wrong_type(reader, call->refs[i], "this", "a number",
                                call->args[i]);
    return false;
  }
  return true;
}

// sin, cos and tan take floats only, from 0.25 on.
static bool check_float(tvms_reader *reader, const tvms_call_args *call,
                        tvms_list args) {
  if (call->row->rule != TVMS_RULE_SAME_FLOAT || reader->dialect < TVMS_DIALECT_25) {
    return true;
  }
  if (args.len && tvms_dtype_is_real(args.items[0]->dtype)) return true;
  tvms_eval_report_wrong_type(reader, call->refs[0], "the argument", "a float",
                              call->args[0]);
  return false;
}

// A type that LLVM appends to the name of an overloaded intrinsic: i8, v4f32, p0, nxv2i64.
static bool is_type_suffix(const char *text, size_t len) {
  size_t at = 0;
  if (len > 2 && memcmp(text, "nx", 2) == 0) at = 2;
  if (at < len && text[at] == 'v') {
    size_t first = ++at;
    while (at < len && text[at] >= '0' && text[at] <= '9')
      at++;
    if (at == first) return false;
  }
  if (at >= len || !strchr("ifp", text[at])) return false;
  size_t first = ++at;
  while (at < len && text[at] >= '0' && text[at] <= '9')
    at++;
  return at == len && at > first;
}

// TVM keeps the number of an intrinsic, and prints its name without the types.
static tvms_node *base_intrinsic(tvms_reader *reader, tvms_node *name) {
  tvms_bytes text = tvms_as_string_imm(name)->value;
  static const char *const exact[] = {"llvm.nvvm.", "llvm.amdgcn.", "llvm.x86."};
  for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
    size_t len = strlen(exact[i]);
    if (text.len > len && memcmp(text.text, exact[i], len) == 0) return name;
  }
  size_t len = text.len;
  for (;;) {
    size_t dot = len;
    while (dot > 0 && text.text[dot - 1] != '.')
      dot--;
    if (dot < 6 || !is_type_suffix(text.text + dot, len - dot)) break;
    len = dot - 1;
  }
  if (len == text.len) return name;
  return tvms_string_imm_new(reader->unit, text.text, len, name->span);
}

tvms_eval_value tvms_call_operator(tvms_reader *reader, const tvms_call_args *call) {
  tvms_rule rule = (tvms_rule)call->row->rule;
  call_type type;
  tvms_list args;
  if (rule == TVMS_RULE_PACKED) return call_packed(reader, call);
  if (rule == TVMS_RULE_ATTRIBUTED) return tvms_attributed_call(reader, call);
  uint32_t from = rule == TVMS_RULE_FIRST || rule == TVMS_RULE_LLVM;
  if (!flat_arguments(reader, call, from, &args)) return tvms_reader_failed(reader);
  if (rule == TVMS_RULE_LLVM && args.items[0]->kind == TVMS_NODE_STRING_IMM) {
    args.items[0] = base_intrinsic(reader, args.items[0]);
  }
  if (rule == TVMS_RULE_LLVM && call->args[1].kind == TVMS_EVAL_INT) {
    args.items[0] =
        tvms_int_imm_new(reader->unit, TVMS_DTYPE(UINT, 32), call->args[1].as.i,
                         tvms_reader_span_of(reader, call->refs[1]));
  }
  if (!check_typed(reader, call, args) || !type_by_rule(reader, call, args, &type)
      || !check_float(reader, call, args)) {
    return tvms_reader_failed(reader);
  }
  return call_op(reader, type, (tvms_tir_opcode)call->row->op, args.items, args.len,
                 call->ref);
}

// T.dp4a(vec1, vec2, acc=0); printed with its dtype in front.
tvms_eval_value tvms_call_dp4a(tvms_reader *reader, const tvms_call_args *call) {
  bool printed = call->args[3].kind != TVMS_EVAL_NONE;
  tvms_node *args[3];
  for (uint32_t i = 0; i < 3; i++) {
    args[i] = to_argument(reader, call->args[i + printed], call->refs[i + printed]);
    if (!args[i]) return tvms_reader_failed(reader);
  }
  return call_op(reader, scalar_type(TVMS_INT, 32), TVMS_TIR_dp4a, args, 3, call->ref);
}

// The number of an intrinsic differs from one LLVM to the next; its name stands for it.
tvms_eval_value tvms_call_llvm_lookup_intrinsic_id(tvms_reader *reader,
                                                   const tvms_call_args *call) {
  if (call->args[0].kind == TVMS_EVAL_STR) return call->args[0];
  tvms_eval_report_wrong_type(reader, call->refs[0], "the name of an intrinsic",
                              "a str", call->args[0]);
  return tvms_reader_failed(reader);
}

// ---- Special operators ----------------------------------------------------------------------

static tvms_node *type_annotation(tvms_reader *reader, call_type type, tvms_ref ref) {
  return call_op(reader, type, TVMS_TIR_type_annotation, NULL, 0, ref).as.node;
}

tvms_eval_value tvms_call_type_annotation(tvms_reader *reader,
                                          const tvms_call_args *call) {
  call_type type;
  if (!to_type(reader, call->args[0], call->refs[0], &type))
    return tvms_reader_failed(reader);
  return tvms_eval_value_node(type_annotation(reader, type, call->ref));
}

// A data type where T.type_annotation(…) is meant.
static tvms_node *to_annotation(tvms_reader *reader, tvms_eval_value value,
                                tvms_ref ref) {
  bool named = value.kind == TVMS_EVAL_STR || value.kind == TVMS_EVAL_DTYPE
               || value.kind == TVMS_EVAL_DTYPE_NAME;
  if (!named) return tvms_eval_to_expr(reader, value, ref);
  call_type type;
  if (!to_type(reader, value, ref, &type)) return NULL;
  return type_annotation(reader, type, ref);
}

tvms_eval_value tvms_tir_access_ptr(tvms_reader *reader,
                                    const tvms_eval_value values[5],
                                    const tvms_ref refs[5], tvms_ref ref) {
  tvms_node *args[5];
  args[0] = to_annotation(reader, values[0], refs[0]);
  for (uint32_t i = 1; i < 5 && args[i - 1]; i++) {
    args[i] = to_argument(reader, values[i], refs[i]);
    if (!args[i]) return tvms_reader_failed(reader);
  }
  if (!args[0]) return tvms_reader_failed(reader);
  call_type type = pointer_to(reader, args[0]->dtype, tvms_tir_pointer_scope(args[1]));
  return call_op(reader, type, TVMS_TIR_tvm_access_ptr, args, 5, ref);
}

tvms_eval_value tvms_call_tvm_access_ptr(tvms_reader *reader,
                                         const tvms_call_args *call) {
  return tvms_tir_access_ptr(reader, call->args, call->refs, call->ref);
}

tvms_eval_value tvms_call_ptr_byte_offset(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_node *args[3];
  args[0] = to_argument(reader, call->args[0], call->refs[0]);
  args[1] = to_argument(reader, call->args[1], call->refs[1]);
  args[2] = to_annotation(reader, call->args[2], call->refs[2]);
  if (!args[0] || !args[1] || !args[2]) return tvms_reader_failed(reader);
  call_type type = pointer_to(reader, args[2]->dtype, tvms_tir_pointer_scope(args[0]));
  return call_op(reader, type, TVMS_TIR_ptr_byte_offset, args, 3, call->ref);
}

tvms_eval_value tvms_call_tvm_stack_make_array(tvms_reader *reader,
                                               const tvms_call_args *call) {
  tvms_node *args[6];
  for (uint32_t i = 0; i < 6; i++) {
    tvms_eval_value value = call->args[i];
    // Up to 0.25 the text is passed as it is.
    bool named = i == 4 && reader->dialect >= TVMS_DIALECT_26
                 && (value.kind == TVMS_EVAL_STR || value.kind == TVMS_EVAL_DTYPE);
    tvms_dtype dtype;
    if (!named) {
      args[i] = to_argument(reader, value, call->refs[i]);
    } else if (tvms_eval_to_dtype(reader, value, call->refs[i], &dtype)) {
      args[i] = tvms_dtype_is_real(dtype)
                    ? tvms_build_float(reader->unit, dtype, 0, TVMS_NO_SPAN)
                    : tvms_build_int(reader->unit, dtype, 0, TVMS_NO_SPAN);
    } else {
      args[i] = NULL;
    }
    if (!args[i]) return tvms_reader_failed(reader);
  }
  return call_op(reader, scalar_type(TVMS_HANDLE, 64), TVMS_TIR_tvm_stack_make_array,
                 args, 6, call->ref);
}

tvms_eval_value tvms_call_tvm_struct_get(tvms_reader *reader,
                                         const tvms_call_args *call) {
  call_type type;
  tvms_node *args[3];
  for (uint32_t i = 0; i < 3; i++) {
    args[i] = to_argument(reader, call->args[i], call->refs[i]);
    if (!args[i]) return tvms_reader_failed(reader);
  }
  if (!to_type(reader, call->args[3], call->refs[3], &type))
    return tvms_reader_failed(reader);
  return call_op(reader, type, TVMS_TIR_tvm_struct_get, args, 3, call->ref);
}

// A constant of TIR as the number that it is.
static tvms_eval_value plain_number(tvms_eval_value value) {
  tvms_node *imm = tvms_eval_value_node_of(value, TVMS_NODE_INT_IMM);
  return imm ? tvms_eval_value_int(tvms_as_int_imm(imm)->value) : value;
}

tvms_eval_value tvms_call_print_buffer(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_eval_value shape = call->args[5];
  if (shape.len == 1 && tvms_eval_value_is_sequence(shape.as.items[0])) {
    shape = shape.as.items[0];
  }
  bool text, scalar;
  int64_t rank;
  call_type type;
  tvms_list dims;
  tvms_node *buffer = to_argument(reader, call->args[0], call->refs[0]);
  if (!buffer || !to_type(reader, call->args[1], call->refs[1], &type)
      || !tvms_eval_to_flag(reader, plain_number(call->args[2]), call->refs[2], &text)
      || !tvms_eval_to_flag(reader, plain_number(call->args[3]), call->refs[3], &scalar)
      || !tvms_eval_to_int(reader, plain_number(call->args[4]), call->refs[4], &rank)
      || !tvms_tir_to_arguments(reader, shape, call->ref, &dims)) {
    return tvms_reader_failed(reader);
  }
  char name[TVMS_DTYPE_TEXT];
  const char *dtype = tvms_dtype_text(type.dtype, name);
  tvms_unit *unit = reader->unit;
  tvms_node **args = tvms_arena_array(&reader->values, tvms_node *, dims.len + 5);
  args[0] = buffer;
  args[1] = tvms_string_imm_new(unit, dtype, strlen(dtype), TVMS_NO_SPAN);
  args[2] = tvms_bool_imm_new(unit, text, TVMS_NO_SPAN);
  args[3] = tvms_bool_imm_new(unit, scalar, TVMS_NO_SPAN);
  args[4] = tvms_int_imm_new(unit, TVMS_DTYPE(UINT, 32), rank, TVMS_NO_SPAN);
  memcpy(args + 5, dims.items, dims.len * sizeof *args);
  return call_op(reader, type, TVMS_TIR_print_buffer, args, dims.len + 5, call->ref);
}

tvms_eval_value tvms_call_handle_add_byte_offset(tvms_reader *reader,
                                                 const tvms_call_args *call) {
  tvms_node *args[2];
  args[0] = to_argument(reader, call->args[0], call->refs[0]);
  args[1] = args[0] ? to_argument(reader, call->args[1], call->refs[1]) : NULL;
  if (!args[1]) return tvms_reader_failed(reader);
  call_type type = pointer_to(reader, (tvms_dtype){0}, tvms_tir_pointer_scope(args[0]));
  return call_op(reader, type, TVMS_TIR_handle_add_byte_offset, args, 2, call->ref);
}

static tvms_eval_value address_of_load(tvms_reader *reader, tvms_node *load,
                                       tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_buffer_load(load)->buffer);
  tvms_sym scope = tvms_tir_pointer_scope(buffer->data);
  return call_op(reader, pointer_to(reader, buffer->element, scope),
                 TVMS_TIR_address_of, &load, 1, ref);
}

tvms_eval_value tvms_tir_address_of(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref) {
  tvms_node *buffer = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  tvms_node *var = tvms_eval_value_node_of(value, TVMS_NODE_VAR);
  tvms_node *region = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
  if (buffer) {
    uint32_t rank = tvms_as_buffer(buffer)->shape.len;
    tvms_node **zeros = tvms_arena_array(&reader->values, tvms_node *, rank);
    for (uint32_t i = 0; i < rank; i++) {
      zeros[i] = int32(reader, 0);
    }
    tvms_node *load = tvms_buffer_load_new(reader->unit, buffer, zeros, rank, NULL,
                                           tvms_reader_span_of(reader, ref));
    return address_of_load(reader, load, ref);
  }
  // 0.25 and 0.26 print vectors so, which they do not read.
  if (region && reader->dialect <= TVMS_DIALECT_26) {
    tvms_node *load = tvms_tir_region_load(reader, region, ref);
    return load ? address_of_load(reader, load, ref) : tvms_reader_failed(reader);
  }
  if (tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_LOAD)) {
    return address_of_load(reader, value.as.node, ref);
  }
  if (var) {
    bool map = var->sinfo && var->sinfo->kind == TVMS_NODE_SINFO_TENSOR_MAP;
    if (!map && tvms_dtype_is_handle(var->dtype)
        && reader->dialect >= TVMS_DIALECT_26) {
      tvms_eval_report_wrong_type(reader, ref, "what T.address_of takes the address of",
                                  "an element, a scalar or a tensor map", value);
      return TVMS_UNKNOWN;
    }
    call_type type = map && reader->dialect >= TVMS_DIALECT_25
                         ? scalar_type(TVMS_UINT, 64)
                         : pointer_to(reader, var->dtype, 0);
    return call_op(reader, type, TVMS_TIR_address_of, &var, 1, ref);
  }
  tvms_eval_report_wrong_type(reader, ref, "what T.address_of takes",
                              "a buffer, an element or a variable", value);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_call_address_of(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_tir_address_of(reader, call->args[0], call->refs[0]);
}

// Four-bit floats are compared in bytes, which a single one fills half.
static bool same_size(tvms_reader *reader, tvms_dtype a, tvms_dtype b) {
  if (a.lanes < 0 || b.lanes < 0) return true;
  int truth = reader->dialect <= TVMS_DIALECT_24 ? 1 : 8;
  if (tvms_dtype_is_bool(a)) a.bits = (uint8_t)truth;
  if (tvms_dtype_is_bool(b)) b.bits = (uint8_t)truth;
  int bits_a = a.bits * a.lanes, bits_b = b.bits * b.lanes;
  bool packed = a.code == TVMS_FLOAT4_E2M1FN || b.code == TVMS_FLOAT4_E2M1FN;
  bool bytes = (a.bits + 7) / 8 * a.lanes == (b.bits + 7) / 8 * b.lanes;
  return bits_a == bits_b
         || (packed && (bytes || (bits_a + 7) / 8 == (bits_b + 7) / 8));
}

// From 0.26 on pointers are read as integers of 64 bits and as pointers only.
static bool pointer_fits(const tvms_reader *reader, tvms_dtype a, tvms_dtype b) {
  bool pointer = tvms_dtype_is_handle(a);
  if (reader->dialect < TVMS_DIALECT_26 || pointer == tvms_dtype_is_handle(b)) {
    return true;
  }
  tvms_dtype other = pointer ? b : a;
  return (other.code == TVMS_INT || other.code == TVMS_UINT) && other.lanes == 1;
}

tvms_eval_value tvms_call_reinterpret(tvms_reader *reader, const tvms_call_args *call) {
  call_type type;
  tvms_node *value = to_argument(reader, call->args[1], call->refs[1]);
  if (!value || !to_type(reader, call->args[0], call->refs[0], &type)) {
    return tvms_reader_failed(reader);
  }
  if (!pointer_fits(reader, type.dtype, value->dtype)) {
    tvms_eval_report_wrong_type(reader, call->refs[1],
                                "what a pointer is read as or from",
                                "an integer of 64 bits", call->args[1]);
    return tvms_reader_failed(reader);
  }
  if (!same_size(reader, type.dtype, value->dtype)) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, size_changes, call->ref, tvms_dtype_text(type.dtype, a),
                       tvms_dtype_text(value->dtype, b));
    return tvms_reader_failed(reader);
  }
  bool same = tvms_dtype_same(type.dtype, value->dtype) && !type.sinfo;
  bool opaque = !value->sinfo && !tvms_dtype_is_handle(type.dtype);
  if (same && (opaque || reader->dialect <= TVMS_DIALECT_25))
    return tvms_eval_value_node(value);
  return call_op(reader, type, TVMS_TIR_reinterpret, &value, 1, call->ref);
}

static tvms_eval_value masked(tvms_reader *reader, const tvms_call_args *call,
                              tvms_node *buffer, tvms_eval_value rest,
                              tvms_node *value) {
  tvms_eval_value all = tvms_eval_value_items(TVMS_EVAL_TUPLE, rest.as.items, rest.len);
  tvms_list list;
  if (rest.len < 1 || !tvms_tir_to_arguments(reader, all, call->ref, &list)) {
    return tvms_reader_failed(reader);
  }
  uint32_t rank = list.len - 1;
  tvms_node *mask = list.items[rank];
  if (!value) {
    return tvms_eval_value_node(
        tvms_tir_load(reader, buffer, list.items, rank, mask, call->ref));
  }
  tvms_tir_store_stmt(reader, buffer, list.items, rank, value, mask, call->ref);
  return TVMS_NOTHING;
}

static tvms_eval_value not_a_buffer(tvms_reader *reader, const tvms_call_args *call,
                                    uint32_t i) {
  tvms_eval_report_wrong_type(reader, call->refs[i], "what is accessed", "a buffer",
                              call->args[i]);
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_masked_load(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[1], TVMS_NODE_BUFFER);
  if (!buffer) return not_a_buffer(reader, call, 1);
  return masked(reader, call, buffer, call->args[2], NULL);
}

tvms_eval_value tvms_call_masked_store(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[0], TVMS_NODE_BUFFER);
  if (!buffer) return not_a_buffer(reader, call, 0);
  tvms_node *value = tvms_eval_to_expr(reader, call->args[1], call->refs[1]);
  if (!value) return tvms_reader_failed(reader);
  return masked(reader, call, buffer, call->args[2], value);
}

// ---- Calls by registry name -----------------------------------------------------------------

static tvms_node *callee_of(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  if (value.kind == TVMS_EVAL_NODE
      && (value.as.node->kind == TVMS_NODE_OPERATOR
          || value.as.node->kind == TVMS_NODE_GLOBAL_VAR)) {
    return value.as.node;
  }
  if (value.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, ref, "what is called",
                                "the name of an operator", value);
    return NULL;
  }
  tvms_tir_opcode opcode = tvms_tir_op_find(value.as.text, value.len);
  if (!opcode) {
    tvms_reader_report(reader, unknown_operator, ref, (int)value.len, value.as.text);
    return NULL;
  }
  return tvms_tir_operator_new(reader->unit, opcode);
}

static tvms_eval_value call_by_name(tvms_reader *reader, tvms_eval_value name,
                                    tvms_eval_value args, call_type type,
                                    tvms_eval_value attrs, tvms_ref ref) {
  tvms_node *callee = callee_of(reader, name, ref);
  tvms_list list;
  tvms_node *map;
  if (!callee || !tvms_tir_to_arguments(reader, args, ref, &list)
      || !tvms_eval_to_map(reader, attrs, ref, &map)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *node = tvms_call_new(reader->unit, type.dtype, callee, list.items,
                                  list.len, tvms_reader_span_of(reader, ref));
  node->sinfo = type.sinfo;
  if (map) tvms_as_call(node)->attrs = tvms_list_copy(reader->unit, &map, 1);
  return tvms_eval_value_node(node);
}

tvms_eval_value tvms_call_call_intrin(tvms_reader *reader, const tvms_call_args *call) {
  call_type type;
  if (!to_type(reader, call->args[0], call->refs[0], &type))
    return tvms_reader_failed(reader);
  return call_by_name(reader, call->args[1], call->args[2], type,
                      tvms_args_get(reader, call, TVMS_SYM_attrs), call->ref);
}

tvms_eval_value tvms_call_Call(tvms_reader *reader, const tvms_call_args *call) {
  call_type type = VOID_TYPE;
  bool dtype_first = reader->dialect < TVMS_DIALECT_26;
  tvms_eval_value returns =
      dtype_first ? call->args[0] : tvms_args_get(reader, call, TVMS_SYM_ret_ty);
  if (returns.kind != TVMS_EVAL_NONE && !to_type(reader, returns, call->ref, &type)) {
    return tvms_reader_failed(reader);
  }
  tvms_eval_items items;
  uint32_t at = dtype_first ? 1 : 0;
  if (!tvms_eval_iterate(reader, call->args[at + 1], call->ref, &items)) {
    return tvms_reader_failed(reader);
  }
  return call_by_name(reader, call->args[at],
                      tvms_eval_value_items(TVMS_EVAL_TUPLE, items.items, items.len),
                      type, tvms_args_get(reader, call, TVMS_SYM_attrs), call->ref);
}
