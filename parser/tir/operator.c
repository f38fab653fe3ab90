// Operators on values of TIR.
//
// Arithmetic promotes and folds (ir/fold.h). Comparisons and `and`, `or`, `not` that TVM's
// own evaluator sees build the node as it is; in lambdas and comprehensions, which Python
// evaluates, comparisons fold too.
#include "parser/tir/operator.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "parser/eval/assume.h"
#include "parser/eval/convert.h"
#include "parser/eval/meant_value.h"
#include "parser/eval/operator.h"
#include "parser/eval/python.h"
#include "parser/eval/scope.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/tir.h"

bool tvms_eval_is_tir_operand(tvms_eval_value value) {
  if (value.kind != TVMS_EVAL_NODE) return false;
  return tvms_node_class_of(value.as.node) == TVMS_CLASS_EXPR
         || value.as.node->kind == TVMS_NODE_ITER_VAR;
}

static bool is_region(tvms_eval_value value) {
  return tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
}

// What may stand beside a value of TIR in arithmetic.
static bool is_scalar_operand(tvms_eval_value value) {
  return tvms_eval_is_tir_operand(value) || value.kind == TVMS_EVAL_INT
         || value.kind == TVMS_EVAL_FLOAT || value.kind == TVMS_EVAL_BOOL
         || is_region(value);
}

// ---- Arithmetic -------------------------------------------------------------------------

static const uint8_t binary_kinds[] = {
    [TVMS_OP_ADD] = TVMS_NODE_ADD,       [TVMS_OP_SUB] = TVMS_NODE_SUB,
    [TVMS_OP_MUL] = TVMS_NODE_MUL,       [TVMS_OP_FLOOR_DIV] = TVMS_NODE_FLOOR_DIV,
    [TVMS_OP_MOD] = TVMS_NODE_FLOOR_MOD,
};

static tvms_tir_opcode bitwise_of(tvms_surf_op op) {
  switch ((int)op) {
  case TVMS_OP_SHIFT_LEFT: return TVMS_TIR_shift_left;
  case TVMS_OP_SHIFT_RIGHT: return TVMS_TIR_shift_right;
  case TVMS_OP_BIT_AND: return TVMS_TIR_bitwise_and;
  case TVMS_OP_BIT_OR: return TVMS_TIR_bitwise_or;
  case TVMS_OP_BIT_XOR: return TVMS_TIR_bitwise_xor;
  default: return TVMS_TIR_NONE;
  }
}

// A Python int beside bits of TIR takes their dtype; TVM passes 32 bits of it.
static tvms_node *TVMS_NULLABLE bits_beside(tvms_reader *reader, tvms_eval_value number,
                                            const tvms_node *other, tvms_ref ref) {
  tvms_dtype dtype = tvms_dtype_with_lanes(other->dtype, 1);
  bool whole =
      dtype.code == TVMS_INT || dtype.code == TVMS_UINT || dtype.code == TVMS_BOOL;
  if (!whole) return tvms_eval_to_expr(reader, number, ref);
  return tvms_build_int(reader->unit, dtype, (int32_t)number.as.i,
                        tvms_reader_span_of(reader, ref));
}

tvms_node *TVMS_NULLABLE tvms_eval_bits(tvms_reader *reader, tvms_tir_opcode op,
                                        tvms_eval_value left, tvms_eval_value right,
                                        tvms_ref ref) {
  tvms_node *a = tvms_eval_to_expr(reader, left, ref);
  tvms_node *b = a ? tvms_eval_to_expr(reader, right, ref) : NULL;
  if (!b) return NULL;
  if (left.kind == TVMS_EVAL_INT)
    a = bits_beside(reader, left, b, ref);
  else if (right.kind == TVMS_EVAL_INT)
    b = bits_beside(reader, right, a, ref);
  return a && b ? tvms_build_bitwise(reader->unit, op, a, b,
                                     tvms_reader_span_of(reader, ref))
                : NULL;
}

static tvms_eval_value arithmetic(tvms_reader *reader, tvms_surf_op op,
                                  tvms_eval_value left, tvms_eval_value right,
                                  tvms_ref ref) {
  if (!is_scalar_operand(left) || !is_scalar_operand(right)) {
    return tvms_eval_report_bad_operands(reader, op, left, right, ref);
  }
  tvms_tir_opcode bitwise = bitwise_of(op);
  if (bitwise)
    return tvms_eval_value_node(tvms_eval_bits(reader, bitwise, left, right, ref));
  tvms_eval_value assumed = tvms_eval_assume_operator(reader, op, left, right, ref);
  if (tvms_eval_value_is_known(assumed)) return assumed;
  tvms_node *a = tvms_eval_to_expr(reader, left, ref);
  tvms_node *b = a ? tvms_eval_to_expr(reader, right, ref) : NULL;
  if (!a || !b) return TVMS_UNKNOWN;
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (op == TVMS_OP_DIV) {
    // Python's True is an int: beside one it is as ambiguous.
    tvms_dtype int32 = TVMS_DTYPE(INT, 32);
    if (right.kind == TVMS_EVAL_BOOL && tvms_dtype_is_int(a->dtype))
      b = tvms_int_imm_new(reader->unit, int32, right.as.i, span);
    if (left.kind == TVMS_EVAL_BOOL && tvms_dtype_is_int(b->dtype))
      a = tvms_int_imm_new(reader->unit, int32, left.as.i, span);
    return tvms_eval_value_node(tvms_build_true_div(reader->unit, a, b, span));
  }
  uint8_t kind = op < sizeof binary_kinds ? binary_kinds[op] : 0;
  if (!kind) return tvms_eval_report_bad_operands(reader, op, left, right, ref);
  return tvms_eval_value_node(
      tvms_build_binary(reader->unit, (tvms_node_kind)kind, a, b, span));
}

// ---- Comparisons ------------------------------------------------------------------------

static tvms_node_kind compare_kind(tvms_surf_op op) {
  switch ((int)op) {
  case TVMS_OP_EQ: return TVMS_NODE_EQ;
  case TVMS_OP_NE: return TVMS_NODE_NE;
  case TVMS_OP_LT: return TVMS_NODE_LT;
  case TVMS_OP_LE: return TVMS_NODE_LE;
  case TVMS_OP_GT: return TVMS_NODE_GT;
  case TVMS_OP_GE: return TVMS_NODE_GE;
  default: return TVMS_NODE_INVALID;
  }
}

// Python's `==` of two values of TIR is a node that also has a truth. A constant `owner`,
// whose operator it is, compares numbers.
static tvms_eval_value native_compare(tvms_reader *reader, tvms_node_kind kind,
                                      tvms_node *a, tvms_node *b,
                                      const tvms_node *owner, tvms_ref ref) {
  tvms_eval_value value = tvms_eval_value_node(
      tvms_build_binary(reader->unit, kind, a, b, tvms_reader_span_of(reader, ref)));
  bool equality = kind == TVMS_NODE_EQ || kind == TVMS_NODE_NE;
  if (tvms_eval_value_is_known(value) && equality && owner->kind != TVMS_NODE_INT_IMM) {
    value.flags |= TVMS_TIR_VALUE_EQUALITY;
    if ((a == b) == (kind == TVMS_NODE_EQ)) value.flags |= TVMS_TIR_VALUE_SAME;
  }
  return value;
}

// A Python number beside `other` takes its scalar type where TVM does that: numbers beside
// integers become integers, beside floats (not bfloat) floats.
static tvms_node *number_beside(tvms_reader *reader, tvms_eval_value number,
                                tvms_dtype other, tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_dtype scalar = tvms_dtype_with_lanes(other, 1);
  bool is_float = number.kind == TVMS_EVAL_FLOAT;
  if (other.code == TVMS_FLOAT) {
    double value = is_float ? number.as.f : (double)number.as.i;
    return tvms_build_float(reader->unit, scalar, value, span);
  }
  bool integral =
      other.code == TVMS_INT || other.code == TVMS_UINT || other.code == TVMS_BOOL;
  if (integral && !is_float) {
    if (number.flags & TVMS_EVAL_LARGE) {
      return tvms_build_uint(reader->unit, scalar, (uint64_t)number.as.i, span);
    }
    return tvms_build_int(reader->unit, scalar, number.as.i, span);
  }
  return tvms_eval_to_expr(reader, number, ref);
}

static bool is_python_number(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
         || value.kind == TVMS_EVAL_BOOL;
}

// Both operands with equal lanes.
static bool widen(tvms_reader *reader, tvms_node **a, tvms_node **b, tvms_ref ref) {
  int lanes_a = (*a)->dtype.lanes, lanes_b = (*b)->dtype.lanes;
  if (lanes_a == lanes_b) return true;
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (lanes_a == 1)
    *a = tvms_broadcast_new(reader->unit, *a, lanes_b, span);
  else if (lanes_b == 1)
    *b = tvms_broadcast_new(reader->unit, *b, lanes_a, span);
  return true;
}

// Whether `a op b` is Python's own operator, which promotes and folds like arithmetic and
// loads regions. The rest goes through TVM's table for the script, which does neither
// (tirx/script/parser/operation.py); since 0.26 Relax replaces its rows for orderings of
// any expression on the left (relax/script/parser/parser.py).
static bool is_native(const tvms_reader *reader, tvms_surf_op op,
                      tvms_eval_value left) {
  bool ordering = op != TVMS_OP_EQ && op != TVMS_OP_NE;
  return tvms_scope_is_python(reader)
         || (tvms_release_has(reader->dialect, TVMS_FACT_relax_overrides_orderings)
             && ordering && left.kind == TVMS_EVAL_NODE && !is_region(left));
}

static tvms_eval_value comparison(tvms_reader *reader, tvms_surf_op op,
                                  tvms_eval_value left, tvms_eval_value right,
                                  tvms_ref ref) {
  bool native = is_native(reader, op, left);
  bool regions = !native && (is_region(left) || is_region(right));
  if (!is_scalar_operand(left) || !is_scalar_operand(right) || regions) {
    return tvms_eval_report_bad_operands(reader, op, left, right, ref);
  }
  tvms_node_kind kind = compare_kind(op);
  tvms_node *a = NULL, *b = NULL;
  if (native || !is_python_number(left)) a = tvms_eval_to_expr(reader, left, ref);
  if (native || !is_python_number(right)) b = tvms_eval_to_expr(reader, right, ref);
  if (native && a && b) {
    const tvms_node *owner = left.kind == TVMS_EVAL_NODE ? a : b;
    return native_compare(reader, kind, a, b, owner, ref);
  }
  if (!a && b) a = number_beside(reader, left, b->dtype, ref);
  if (!b && a) b = number_beside(reader, right, a->dtype, ref);
  if (!a || !b || !widen(reader, &a, &b, ref)) return TVMS_UNKNOWN;
  return tvms_eval_value_node(
      tvms_build_node(reader->unit, kind, a, b, tvms_reader_span_of(reader, ref)));
}

// ---- Entry points -------------------------------------------------------------------------

static tvms_eval_value same_object(tvms_surf_op op, tvms_eval_value a,
                                   tvms_eval_value b) {
  bool same = a.kind == b.kind && a.as.i == b.as.i;
  return tvms_eval_value_bool(same == (op == TVMS_OP_IS));
}

static bool is_vector_region(tvms_eval_value value) {
  tvms_node *node = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
  if (!node) return false;
  tvms_list region = tvms_as_buffer_region(node)->region;
  if (region.len == 0) return false;
  return !tvms_node_is_int(tvms_as_range(region.items[region.len - 1])->extent, 1);
}

// Two slices are loads of vectors here: TVM 0.25 and 0.26 write `A[0:4] + B[0:4]`, which
// they cannot read back.
static bool are_loads(const tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                      tvms_eval_value b) {
  return tvms_release_has(reader->dialect, TVMS_FACT_slices_are_vectors)
         && op != TVMS_OP_EQ && op != TVMS_OP_NE && is_vector_region(a)
         && is_vector_region(b);
}

tvms_eval_value tvms_tir_binary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                                tvms_eval_value b, tvms_ref ref) {
  if (op == TVMS_OP_IS || op == TVMS_OP_IS_NOT) return same_object(op, a, b);
  if (op == TVMS_OP_IN || op == TVMS_OP_NOT_IN) {
    return tvms_eval_python_binary(reader, op, a, b, ref);
  }
  if (!tvms_eval_is_tir_operand(a) && !tvms_eval_is_tir_operand(b)
      && !are_loads(reader, op, a, b)) {
    bool buffers = tvms_eval_value_node_of(a, TVMS_NODE_BUFFER)
                   && tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_compared);
    if ((op == TVMS_OP_EQ || op == TVMS_OP_NE) && !buffers) {
      return same_object(op == TVMS_OP_EQ ? TVMS_OP_IS : TVMS_OP_IS_NOT, a, b);
    }
    return tvms_eval_report_bad_operands(reader, op, a, b, ref);
  }
  if (op == TVMS_OP_EQ || op == TVMS_OP_NE) {
    // `x == "text"`, `x == None`: not equal, and no node.
    if (!is_scalar_operand(a) || !is_scalar_operand(b)) {
      return tvms_scope_is_python(reader)
                 ? tvms_eval_value_bool(op == TVMS_OP_NE)
                 : tvms_eval_report_bad_operands(reader, op, a, b, ref);
    }
  }
  if (compare_kind(op)) return comparison(reader, op, a, b, ref);
  return arithmetic(reader, op, a, b, ref);
}

tvms_eval_value tvms_tir_unary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                               tvms_ref ref) {
  if (!tvms_eval_is_tir_operand(a)) return tvms_eval_python_unary(reader, op, a, ref);
  bool python = tvms_scope_evaluator(reader) == TVMS_EVALUATOR_PYTHON;
  if (op == TVMS_OP_NOT && python) return tvms_eval_python_unary(reader, op, a, ref);
  tvms_node *node = tvms_eval_to_expr(reader, a, ref);
  if (!node) return TVMS_UNKNOWN;
  tvms_span span = tvms_reader_span_of(reader, ref);
  switch ((int)op) {
  case TVMS_OP_NEGATE:
    return tvms_eval_value_node(tvms_build_negative(reader->unit, node, span));
  case TVMS_OP_INVERT:
    return tvms_eval_value_node(tvms_build_bitwise_not(reader->unit, node, span));
  case TVMS_OP_NOT:
    return tvms_eval_value_node(
        tvms_build_node(reader->unit, TVMS_NODE_NOT, node, NULL, span));
  default:
    tvms_eval_explain_sign(reader,
                           tvms_reader_report(reader, bad_operand, ref,
                                              tvms_surface_operator_text(op),
                                              tvms_eval_describe(reader, a)),
                           ref);
    return TVMS_UNKNOWN;
  }
}

tvms_eval_value tvms_tir_logical(tvms_reader *reader, bool is_and, tvms_eval_value left,
                                 tvms_eval_value right, tvms_ref ref) {
  if (!tvms_eval_is_tir_operand(left) && !tvms_eval_is_tir_operand(right)) {
    return tvms_eval_python_logical(reader, is_and, left, right, ref);
  }
  bool native = tvms_scope_evaluator(reader) == TVMS_EVALUATOR_PYTHON;
  if (native || is_region(left) || is_region(right)) {
    return tvms_eval_report_bad_operands(reader, is_and ? TVMS_OP_AND : TVMS_OP_OR,
                                         left, right, ref);
  }
  tvms_node *a = tvms_eval_to_expr(reader, left, ref);
  tvms_node *b = a ? tvms_eval_to_expr(reader, right, ref) : NULL;
  if (!a || !b) return TVMS_UNKNOWN;
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (a->dtype.lanes != 1 || b->dtype.lanes != 1) {
    tvms_tir_opcode bits = is_and ? TVMS_TIR_bitwise_and : TVMS_TIR_bitwise_or;
    return tvms_eval_value_node(tvms_build_bitwise(reader->unit, bits, a, b, span));
  }
  tvms_node_kind kind = is_and ? TVMS_NODE_AND : TVMS_NODE_OR;
  return tvms_eval_value_node(tvms_build_node(reader->unit, kind, a, b, span));
}

tvms_eval_value tvms_tir_choose(tvms_reader *reader, tvms_eval_value test,
                                tvms_eval_value yes, tvms_eval_value no, tvms_ref ref) {
  tvms_node *condition = tvms_eval_to_expr(reader, test, ref);
  if (!condition) return TVMS_UNKNOWN;
  if (!tvms_dtype_is_bool(condition->dtype)) {
    tvms_eval_report_wrong_type(reader, ref, "a condition", "a boolean", test);
    return TVMS_UNKNOWN;
  }
  tvms_node *a = tvms_eval_to_expr(reader, yes, ref);
  tvms_node *b = a ? tvms_eval_to_expr(reader, no, ref) : NULL;
  if (!a || !b) return TVMS_UNKNOWN;
  return tvms_eval_value_node(tvms_build_if_then_else(
      reader->unit, condition, a, b, tvms_reader_span_of(reader, ref)));
}
