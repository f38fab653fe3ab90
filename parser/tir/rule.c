// Calls of operators by the rule of their row in ir/calls.def: how the arguments become
// nodes, and which type the call has.
#include "parser/tir/rule.h"

#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/tir/call.h"
#include "parser/tir/handlers.h"

#include <string.h>

// The operators of the rows OP, by the number of the row: what a call builds.
static const struct {
  uint16_t op;   // tvms_tir_opcode
  uint8_t rule;  // tvms_rule
} operators[TVMS_ENTRIES] = {
#define CALL(ns, name, signature, since, until, handler)
#define OP(ns, name, signature, since, until, op, rule)                                \
  [TVMS_ENTRY_##ns##_##name] = {TVMS_TIR_##op, TVMS_RULE_##rule},
#define OP_ALSO(ns, name, signature, since, until, op, rule)                           \
  [TVMS_ENTRY_##ns##_##name##_##since] = {TVMS_TIR_##op, TVMS_RULE_##rule},
#include "ir/calls.def"
};

static tvms_tir_opcode opcode_of(const tvms_call_args *call) {
  return (tvms_tir_opcode)operators[call->row->index].op;
}

static tvms_rule rule_of(const tvms_call_args *call) {
  return (tvms_rule)operators[call->row->index].rule;
}

// ---- Arguments ------------------------------------------------------------------------------

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
    tvms_node *node = tvms_tir_to_argument(reader, call->args[i], call->refs[i]);
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
  return tvms_tir_call_new(reader,
                           tvms_call_result_pointer(reader, TVMS_DTYPE(INT, 64), 0),
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
  return tvms_tir_call_new(reader, tvms_call_result_scalar(TVMS_HANDLE, 64),
                           TVMS_TIR_tvm_stack_make_array, args, 6, ref)
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
  return tvms_tir_call_new(reader, tvms_call_result_scalar(TVMS_INT, 32),
                           opcode_of(call), args.items, args.len, call->ref);
}

// ---- Calls by rule --------------------------------------------------------------------------

// T.tvm_stack_alloca(kind, count): what its elements are, where TVM says so.
static tvms_call_result stack_type(tvms_reader *reader, tvms_eval_value kind) {
  if (tvms_eval_value_is_exactly(kind, "shape"))
    return tvms_call_result_pointer(reader, TVMS_DTYPE(INT, 64), 0);
  if (tvms_eval_value_is_exactly(kind, "arg_tcode")) {
    return tvms_call_result_pointer(reader, TVMS_DTYPE(INT, 32), 0);
  }
  return tvms_call_result_scalar(TVMS_HANDLE, 64);
}

static bool type_by_rule(tvms_reader *reader, const tvms_call_args *call,
                         tvms_list args, tvms_call_result *type) {
  *type = TVMS_RESULT_VOID;
  switch (rule_of(call)) {
  case TVMS_RULE_SAME:
  case TVMS_RULE_SAME_FLOAT:
  case TVMS_RULE_ARG0:
    if (args.len) *type = tvms_call_result_of(args.items[0]);
    if (!tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types))
      type->sinfo = NULL;
    return true;
  case TVMS_RULE_ARG1:
    if (args.len > 1) *type = tvms_call_result_of(args.items[1]);
    return true;
  case TVMS_RULE_INT32: *type = tvms_call_result_scalar(TVMS_INT, 32); return true;
  case TVMS_RULE_UINT32: *type = tvms_call_result_scalar(TVMS_UINT, 32); return true;
  case TVMS_RULE_BOOL: *type = tvms_call_result_scalar(TVMS_BOOL, 1); return true;
  case TVMS_RULE_HANDLE: *type = tvms_call_result_scalar(TVMS_HANDLE, 64); return true;
  case TVMS_RULE_STACK: *type = stack_type(reader, call->args[0]); return true;
  case TVMS_RULE_SHAPE:
    *type = tvms_call_result_pointer(reader, TVMS_DTYPE(INT, 64), 0);
    return true;
  case TVMS_RULE_FIRST:
  case TVMS_RULE_LLVM:
    return tvms_tir_to_result(reader, call->args[0], call->refs[0], type);
  case TVMS_RULE_VOID:
  case TVMS_RULE_PACKED:
  case TVMS_RULE_NONE: return true;
  }
  return true;
}

// Whose type the call takes must have one: a number of Python has none. From 0.26 on
// pointers are not values that functions are applied to.
static bool check_typed(tvms_reader *reader, const tvms_call_args *call,
                        tvms_list args) {
  tvms_rule rule = rule_of(call);
  uint32_t from = rule == TVMS_RULE_ARG1;
  if (rule == TVMS_RULE_ARG0 || rule == TVMS_RULE_ARG1) {
    tvms_eval_value value = call->args[from];
    const tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
    bool typed = node && tvms_node_class_of(node) == TVMS_CLASS_EXPR
                 && (tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers)
                     || !tvms_dtype_is_handle(node->dtype));
    if (typed) return true;
    tvms_eval_report_wrong_type(reader, call->refs[from], NULL,
                                "an expression with a type", value);
    return false;
  }
  bool same = rule == TVMS_RULE_SAME || rule == TVMS_RULE_SAME_FLOAT;
  for (uint32_t i = 0;
       same && !tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers)
       && i < args.len;
       i++) {
    const tvms_node *arg = args.items[i];
    if (!tvms_dtype_is_handle(arg->dtype) && arg->kind != TVMS_NODE_BUFFER) continue;
    tvms_eval_report_wrong_type(reader, call->refs[i], NULL, "a number", call->args[i]);
    return false;
  }
  return true;
}

// sin, cos and tan take floats only, from 0.25 on.
static bool check_float(tvms_reader *reader, const tvms_call_args *call,
                        tvms_list args) {
  if (rule_of(call) != TVMS_RULE_SAME_FLOAT
      || !tvms_release_has(reader->dialect, TVMS_FACT_trigonometry_takes_floats)) {
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
  tvms_rule rule = rule_of(call);
  tvms_call_result type;
  tvms_list args;
  if (rule == TVMS_RULE_PACKED) return call_packed(reader, call);
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
  return tvms_tir_call_new(reader, type, opcode_of(call), args.items, args.len,
                           call->ref);
}
