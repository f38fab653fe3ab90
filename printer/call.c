// Calls of TIR: operators under T, functions of the module, pointer types as values.
//
// The name of an operator under T is a function of Python that may fold its arguments:
// T.shift_left(x, 0) is x. Where the text would be read as something else, the call is
// written as it stands, T.call_intrin or T.Call. Operators whose name or arguments
// differ between releases are written in the words of the one that is asked for.
#include "printer/call.h"

#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/tir_op.h"
#include "printer/buffer.h"
#include "printer/changed.h"
#include "printer/expr.h"
#include "printer/hints.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/relax.h"
#include "printer/relax_call.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/text.h"
#include "support/trial.h"

#include <stdio.h>

// The row of the TIR operator that a call calls, or TVMS_TIR_NONE.
static tvms_tir_opcode opcode_of(const tvms_printer *p, const tvms_node *callee) {
  if (callee->kind != TVMS_NODE_OPERATOR) return TVMS_TIR_NONE;
  const tvms_operator *op = tvms_as_operator(callee);
  const tvms_name *name = tvms_interner_name(&p->context->names, op->name);
  if (op->opcode > 0 && op->opcode < TVMS_TIR_COUNT
      && strcmp(tvms_tir_op_row_of((tvms_tir_opcode)op->opcode)->name, name->text)
             == 0) {
    return (tvms_tir_opcode)op->opcode;
  }
  return tvms_tir_op_find(name->text, name->len);
}

// As opcode_of, in the words of the release that is written.
static tvms_tir_opcode written_opcode(const tvms_printer *p, const tvms_node *callee) {
  tvms_tir_opcode opcode = opcode_of(p, callee);
  if (!opcode) return opcode;
  tvms_dialect from = p->module ? p->module->dialect : p->dialect;
  return tvms_tir_op_same(opcode, from, p->dialect);
}

// What the reader makes of a call whose name folds its arguments; NULL for other names.
static const tvms_node *TVMS_NULLABLE rebuilt(tvms_printer *p, tvms_list args,
                                              tvms_tir_opcode opcode) {
  tvms_unit *unit = &p->scratch;
  tvms_node **a = args.items;
  switch ((int)opcode) {
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right:
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
    return tvms_build_bitwise(unit, opcode, a[0], a[1], TVMS_NO_SPAN);
  case TVMS_TIR_if_then_else:
    return tvms_build_if_then_else(unit, a[0], a[1], a[2], TVMS_NO_SPAN);
  case TVMS_TIR_likely: return tvms_build_likely(unit, a[0], TVMS_NO_SPAN);
  default: return NULL;
  }
}

// How many arguments the name of such a call takes; 0 for other names.
static uint32_t folded_arity(tvms_tir_opcode opcode) {
  switch ((int)opcode) {
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right:
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor: return 2;
  case TVMS_TIR_if_then_else: return 3;
  case TVMS_TIR_likely: return 1;
  default: return 0;
  }
}

// True if the name of a call would be read as something else: `T.shift_left(x, 0)` is x.
static bool is_misread(tvms_printer *p, const tvms_node *node, tvms_tir_opcode opcode) {
  const tvms_call *call = tvms_as_call(node);
  uint32_t arity = folded_arity(opcode);
  if (arity != call->args.len) return arity > 0;
  tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
  tvms_trial_mute(&p->context->diags);
  const tvms_node *again = rebuilt(p, call->args, opcode);
  tvms_trial_unmute(&p->context->diags);
  bool misread = again
                 && (again->kind != TVMS_NODE_CALL
                     || opcode_of(p, tvms_as_call(again)->callee) != opcode);
  tvms_arena_reset(&p->scratch.arena, mark);
  return misread;
}

// Operators that are written as Python's from 0.27 on; `unfolded` builds them as they are.
static const struct {
  tvms_tir_opcode opcode;
  const char *sugar;
  print_level level;
  const char *unfolded;
} bit_operators[] = {
    {TVMS_TIR_shift_left, " << ", LEVEL_SHIFT, "LShift"},
    {TVMS_TIR_shift_right, " >> ", LEVEL_SHIFT, "RShift"},
    {TVMS_TIR_bitwise_and, " & ", LEVEL_BIT_AND, "BitwiseAnd"},
    {TVMS_TIR_bitwise_or, " | ", LEVEL_BIT_OR, "BitwiseOr"},
    {TVMS_TIR_bitwise_xor, " ^ ", LEVEL_BIT_XOR, "BitwiseXor"},
    {TVMS_TIR_bitwise_not, "~", LEVEL_UNARY, "BitwiseNot"},
};

// Index in bit_operators of a call that 0.27 has no name for, or -1.
static int bit_operation(const tvms_printer *p, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  if (!tvms_release_has(p->dialect, TVMS_FACT_bit_operators_have_no_name)
      || call->attrs.len)
    return -1;
  if (call->args.len < 1 || call->args.len > 2) return -1;
  tvms_tir_opcode opcode = opcode_of(p, call->callee);
  if (opcode == TVMS_TIR_NONE) return -1;
  for (int i = 0; i < (int)(sizeof bit_operators / sizeof bit_operators[0]); i++) {
    if (bit_operators[i].opcode != opcode) continue;
    uint32_t operands = opcode == TVMS_TIR_bitwise_not ? 1 : 2;
    return call->args.len == operands ? i : -1;
  }
  return -1;
}

// Index in bit_operators of a call that is written as an operator, or -1.
static int bit_operator(tvms_printer *p, const tvms_node *node) {
  int at = bit_operation(p, node);
  if (at < 0) return at;
  // Python itself computes `~4`.
  tvms_node *first = tvms_as_call(node)->args.items[0];
  bool literal = bit_operators[at].opcode == TVMS_TIR_bitwise_not
                 && first->kind == TVMS_NODE_INT_IMM
                 && tvms_dtype_same(first->dtype, TVMS_DTYPE(INT, 32));
  return literal || is_misread(p, node, bit_operators[at].opcode) ? -1 : at;
}

bool tvms_print_is_bit_operator(tvms_printer *p, const tvms_node *node) {
  return !tvms_print_is_relax_call(node) && bit_operation(p, node) >= 0;
}

print_level tvms_print_call_level(tvms_printer *p, const tvms_node *node) {
  if (tvms_print_is_relax_call(node)) return LEVEL_ATOM;
  int at = bit_operator(p, node);
  return at < 0 ? LEVEL_ATOM : bit_operators[at].level;
}

const tvms_node *tvms_print_buffer_of_data(const tvms_printer *p,
                                           const tvms_node *node) {
  if (node->kind != TVMS_NODE_CALL) return NULL;
  const tvms_call *call = tvms_as_call(node);
  bool data = call->args.len == 1 && call->args.items[0]->kind == TVMS_NODE_BUFFER
              && opcode_of(p, call->callee) == TVMS_TIR_buffer_data;
  return data ? call->args.items[0] : NULL;
}

static void print_bit_operator(tvms_printer *p, const tvms_call *call, int at) {
  print_level level = bit_operators[at].level;
  if (call->args.len == 1) {
    tvms_print_put(p, bit_operators[at].sugar);
    tvms_print_expr(p, call->args.items[0], level);
    return;
  }
  tvms_print_expr(p, call->args.items[0], level);
  tvms_print_put(p, bit_operators[at].sugar);
  tvms_print_expr(p, call->args.items[1], level + 1);
}

// The result type where it stands among the arguments.
static void print_result_type(tvms_printer *p, const tvms_node *node) {
  if (!tvms_dtype_is_handle(node->dtype)
      || !tvms_release_has(p->dialect, TVMS_FACT_expressions_have_types)) {
    tvms_print_quoted_dtype(p, node->dtype);
    return;
  }
  const tvms_node *type = node->sinfo ? node->sinfo : p->expected;
  tvms_print_pointer_type(p, type, true);
  PUT(p, ".ty");
}

static void print_callee(tvms_printer *p, const tvms_node *callee,
                         tvms_tir_opcode opcode) {
  const char *name = tvms_symbol_text(p->context, tvms_as_operator(callee)->name);
  const char *spelling = opcode ? tvms_tir_op_spelling(opcode, p->dialect) : "";
  if (!spelling) {
    tvms_print_cannot(p, callee, name);
    spelling = name;
  }
  if (*spelling) {
    tvms_print_t(p, spelling);
    return;
  }
  // An operator without a name of its own: its registry name.
  tvms_print_t(p, opcode ? tvms_tir_op_prefix(opcode, p->dialect) : "");
  tvms_print_put(p, name);
}

// T.Call("tirx.name", [args], attrs={…}, ret_ty="…").
static void print_with_attrs(tvms_printer *p, const tvms_node *node,
                             tvms_tir_opcode opcode) {
  const tvms_call *call = tvms_as_call(node);
  bool type_first = tvms_release_has(p->dialect, TVMS_FACT_calls_say_dtype_first);
  if (!tvms_release_has(p->dialect, TVMS_FACT_calls_have_attrs))
    tvms_print_cannot(p, node, "attributes of a call");
  tvms_print_t(p, "Call");
  PUT(p, "(");
  if (type_first) {
    print_result_type(p, node);
    PUT(p, ", ");
  }
  if (call->callee->kind == TVMS_NODE_OPERATOR) {
    PUT(p, "\"");
    tvms_print_put(p, opcode ? tvms_tir_op_prefix(opcode, p->dialect) : "");
    tvms_print_sym(p, tvms_as_operator(call->callee)->name);
    PUT(p, "\"");
  } else {
    tvms_print_any(p, call->callee);
  }
  PUT(p, ", [");
  tvms_print_list(p, call->args);
  PUT(p, "], attrs=");
  tvms_print_object(p, call->attrs.items[0]);
  if (!type_first) {
    PUT(p, ", ret_ty=");
    print_result_type(p, node);
  }
  PUT(p, ")");
}

// Calls whose attributes are keywords of their own, all of them written (0.27).
static bool has_keyword_attrs(tvms_tir_opcode opcode) {
  return opcode == TVMS_TIR_call_ffi_kernel
         || opcode == TVMS_TIR_tensormap_encode_tiled;
}

static void print_keyword_attrs(tvms_printer *p, const tvms_node *node,
                                tvms_tir_opcode opcode) {
  static const char *const keys[] = {
      "launch_params", "descriptor_dtype", "rank",     "interleave",
      "swizzle",       "l2_promotion",     "oob_fill", "force_cu_dtype",
  };
  const tvms_call *call = tvms_as_call(node);
  print_callee(p, call->callee, opcode);
  PUT(p, "(");
  tvms_print_list(p, call->args);
  bool first = call->args.len == 0;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const tvms_node *value = tvms_object_map_get(call->attrs.items[0], keys[i]);
    if (!value) continue;
    tvms_print_comma(p, &first);
    tvms_print_put(p, keys[i]);
    PUT(p, "=");
    tvms_print_object(p, value);
  }
  if (opcode == TVMS_TIR_call_ffi_kernel) {
    PUT(p, ", ret_ty=");
    print_result_type(p, node);
  }
  PUT(p, ")");
}

// How many arguments of a call the release reads; the others must say what it implies.
static uint32_t count_read(tvms_printer *p, const tvms_node *node,
                           tvms_tir_opcode opcode) {
  tvms_list args = tvms_as_call(node)->args;
  uint32_t kept;
  const char *implied =
      opcode ? tvms_tir_op_surplus(opcode, args.len, p->dialect, &kept) : NULL;
  if (!implied) return args.len;
  tvms_strbuf text;
  tvms_strbuf_init(&text, p->memory);
  tvms_strbuf *before = tvms_print_redirect(p, &text);
  tvms_list rest = {args.items + kept, args.len - kept};
  tvms_print_list(p, rest);
  tvms_print_redirect(p, before);
  bool same = text.len == strlen(implied) && memcmp(text.text, implied, text.len) == 0;
  tvms_strbuf_fini(&text);
  if (!same) tvms_print_cannot(p, node, "arguments of this call");
  return kept;
}

static void print_args(tvms_printer *p, const tvms_node *node, tvms_tir_opcode opcode) {
  const tvms_call *call = tvms_as_call(node);
  unsigned location =
      opcode ? tvms_tir_op_row_of(opcode)->location : TVMS_LOCATION_NONE;
  const char *more =
      opcode ? tvms_tir_op_more(opcode, call->args.len, p->dialect) : NULL;
  bool older = p->module && tvms_release_is_older(p->module->dialect, p->dialect);
  bool first = true;
  if (!more && opcode && p->module && tvms_tir_op_is_instruction(opcode)
      && (!tvms_release_has(p->module->dialect, TVMS_FACT_ptx_has_forms))
             != (!tvms_release_has(p->dialect, TVMS_FACT_ptx_has_forms))) {
    tvms_print_cannot(p, node, tvms_tir_op_row_of(opcode)->name);
  }
  PUT(p, "(");
  if (location == TVMS_LOCATION_FIRST) {
    tvms_print_comma(p, &first);
    print_result_type(p, node);
  }
  const tvms_node *expected = p->expected;
  p->expected = NULL;
  uint32_t count = count_read(p, node, opcode);
  for (uint32_t i = 0; i < count; i++) {
    tvms_print_comma(p, &first);
    tvms_print_object(p, call->args.items[i]);
  }
  p->expected = expected;
  if (more && older) {
    tvms_print_comma(p, &first);
    tvms_print_put(p, more);
  }
  if (location == TVMS_LOCATION_LAST) {
    tvms_print_comma(p, &first);
    print_result_type(p, node);
  }
  PUT(p, ")");
}

// T.cuda.func_call(args, source_code="…", return_type="…"): the source stays a literal.
static void print_func_call(tvms_printer *p, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  PUT(p, "(");
  uint32_t last = call->args.len - 1;
  tvms_list args = {call->args.items, last};
  tvms_print_list(p, args);
  tvms_bytes source = tvms_as_string_imm(call->args.items[last])->value;
  if (last) PUT(p, ", ");
  PUT(p, "source_code=");
  tvms_print_quoted(p, source.text, source.len);
  if (!tvms_dtype_is_void(node->dtype)) {
    PUT(p, ", return_type=");
    print_result_type(p, node);
  }
  PUT(p, ")");
}

static bool is_func_call(const tvms_call *call, tvms_tir_opcode opcode) {
  return opcode == TVMS_TIR_cuda__func_call && call->args.len
         && call->args.items[call->args.len - 1]->kind == TVMS_NODE_STRING_IMM;
}

// Up to 0.25 all pointers have one type: seeing one as another is nothing.
static bool is_idle(const tvms_printer *p, const tvms_node *node,
                    tvms_tir_opcode opcode) {
  if (opcode != TVMS_TIR_reinterpret
      || tvms_release_has(p->dialect, TVMS_FACT_expressions_have_types))
    return false;
  tvms_list args = tvms_as_call(node)->args;
  return args.len == 1 && tvms_dtype_is_handle(node->dtype)
         && tvms_dtype_is_handle(args.items[0]->dtype);
}

// T.call_intrin("int32", "tirx.shift_left", x, 0): the call as it stands.
static void print_plainly(tvms_printer *p, const tvms_node *node,
                          tvms_tir_opcode opcode) {
  const tvms_call *call = tvms_as_call(node);
  int bits = bit_operation(p, node);
  if (bits >= 0) {
    tvms_print_t(p, bit_operators[bits].unfolded);
    PUT(p, "(");
    tvms_print_list(p, call->args);
    PUT(p, ")");
    return;
  }
  tvms_print_t(p, "call_intrin");
  PUT(p, "(");
  tvms_print_quoted_dtype(p, node->dtype);
  PUT(p, ", \"");
  tvms_print_put(p, tvms_tir_op_prefix(opcode, p->dialect));
  tvms_print_sym(p, tvms_as_operator(call->callee)->name);
  PUT(p, "\", ");
  tvms_print_list(p, call->args);
  PUT(p, ")");
}

// From 0.27 on a number past INT64_MAX is one: T.uint64(18446744073709551615).
static bool print_large_number(tvms_printer *p, const tvms_node *node,
                               tvms_tir_opcode opcode) {
  tvms_list halves = tvms_as_call(node)->args;
  bool large = opcode == TVMS_TIR_large_uint_imm
               && tvms_release_has(p->dialect, TVMS_FACT_large_numbers_are_literals)
               && halves.len == 2 && halves.items[0]->kind == TVMS_NODE_INT_IMM
               && halves.items[1]->kind == TVMS_NODE_INT_IMM;
  if (!large) return false;
  uint64_t low = (uint64_t)tvms_as_int_imm(halves.items[0])->value;
  uint64_t high = (uint64_t)tvms_as_int_imm(halves.items[1])->value;
  char dtype[TVMS_DTYPE_TEXT], number[32];
  (void)snprintf(number, sizeof number, "(%llu)",
                 (unsigned long long)(high << 32 | low));
  tvms_print_t(p, tvms_dtype_text(node->dtype, dtype));
  tvms_print_put(p, number);
  return true;
}

void tvms_print_call(tvms_printer *p, const tvms_node *node, print_level level) {
  if (tvms_print_is_relax_call(node)) {
    tvms_print_relax_call(p, node);
    return;
  }
  const tvms_call *call = tvms_as_call(node);
  tvms_tir_opcode opcode = written_opcode(p, call->callee);
  int bit = bit_operator(p, node);
  if (bit >= 0) {
    print_bit_operator(p, call, bit);
    return;
  }
  if (print_large_number(p, node, opcode)) return;
  if (is_idle(p, node, opcode)) {
    tvms_print_expr(p, call->args.items[0], level);
    return;
  }
  const tvms_node *buffer = tvms_print_buffer_of_data(p, node);
  if (buffer) {
    const tvms_node *data = tvms_as_buffer(buffer)->data;
    if (data && tvms_print_root(p, data) != data) {
      tvms_print_var(p, data);
      return;
    }
    tvms_print_buffer(p, buffer);
    PUT(p, ".data");
    return;
  }
  if (call->attrs.len && call->attrs.items[0]) {
    if (has_keyword_attrs(opcode))
      print_keyword_attrs(p, node, opcode);
    else
      print_with_attrs(p, node, opcode);
    return;
  }
  if (call->callee->kind != TVMS_NODE_OPERATOR) {
    tvms_print_any(p, call->callee);
    print_args(p, node, TVMS_TIR_NONE);
    return;
  }
  if (bit_operation(p, node) >= 0 || (opcode && is_misread(p, node, opcode))) {
    print_plainly(p, node, opcode);
    return;
  }
  if (opcode && tvms_print_changed(p, node, opcode_of(p, call->callee))) return;
  print_callee(p, call->callee, opcode);
  if (is_func_call(call, opcode))
    print_func_call(p, node);
  else
    print_args(p, node, opcode);
}

void tvms_print_global_var(tvms_printer *p, const tvms_node *node) {
  tvms_sym name = tvms_as_global_var(node)->name;
  if (p->module && !p->module->bare && tvms_print_symbol(p, name)->member) {
    if (p->token == PRINT_RELAX)
      tvms_print_alias_name(p);
    else
      PUT(p, "Module");
    PUT(p, ".");
  }
  tvms_print_sym(p, name);
}
