// Promotion and folding at construction. Expectations are what stock TVM builds.
#include "expression_suite.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "support/diag_ids.h"

EXPRESSION_SUITE(fold, TVMS_DIALECT_CURRENT);

typedef struct {
  tvms_node_kind kind;
  const char *a, *b;
  const char *TVMS_NULLABLE result;  // NULL: the diagnostic `id` is reported
  tvms_diag_id id;
} binary_case;

#define OK(kind, a, b, result)                                                         \
  { TVMS_NODE_##kind, a, b, result, (tvms_diag_id)0 }
#define BAD(kind, a, b, id)                                                            \
  { TVMS_NODE_##kind, a, b, NULL, TVMS_D_##id }

static const binary_case cases[] = {
    OK(ADD, "2", "3", "5"),
    OK(ADD, "2147483647", "1", "-2147483648"),
    OK(ADD, "x", "0", "x"),
    OK(ADD, "0", "x", "x"),
    OK(ADD, "x", "1", "(+ x 1)"),
    OK(ADD, "f", "0.0", "f"),
    OK(ADD, "f", "2", "(+ f 2.00000000)"),
    OK(ADD, "l", "1", "(+ l 1L)"),
    OK(ADD, "x", "l", "(+ (cast:int64 x) l)"),
    OK(ADD, "u", "x", "(+ (cast:int32 u) x)"),
    OK(ADD, "h", "f", "(+ (cast:float32 h) f)"),
    OK(ADD, "b", "x", "(+ (cast:int32 b) x)"),
    OK(ADD, "(ramp x 1 4)", "y", "(+ (ramp x 1 4) (broadcast:4 y))"),
    OK(ADD, "(ramp x 1 4)", "l", "(+ (ramp (cast:int64 x) 1L 4) (broadcast:4 l))"),
    BAD(ADD, "(ramp x 1 4)", "(ramp x 1 8)", dtypes_differ),
    OK(SUB, "x", "0", "x"),
    OK(SUB, "0", "x", "(- 0 x)"),
    OK(MUL, "x", "0", "0"),
    OK(MUL, "1", "x", "x"),
    OK(MUL, "0.0", "f", "0.00000000"),
    OK(DIV, "-7", "2", "-3"),
    OK(DIV, "0", "x", "0"),
    BAD(DIV, "x", "0", folded_division_by_zero),
    BAD(DIV, "1.0", "0.0", folded_division_by_zero),
    OK(FLOOR_DIV, "-7", "2", "-4"),
    OK(FLOOR_DIV, "x", "1", "x"),
    BAD(FLOOR_DIV, "f", "x", wants_integer),
    BAD(FLOOR_MOD, "x", "0", folded_division_by_zero),
    OK(FLOOR_MOD, "-7", "4", "1"),
    OK(FLOOR_MOD, "x", "1", "0"),
    OK(MOD, "-7", "4", "-3"),
    OK(MIN, "3", "2", "2"),
    OK(MAX, "x", "x", "x"),
    OK(MAX, "x", "y", "(max x y)"),
    OK(EQ, "x", "x", "(== x x)"),
    OK(LT, "2", "3", "true"),
    OK(GE, "2", "3", "false"),
    OK(NE, "1.0", "1.5", "true"),
    OK(AND, "true", "b", "b"),
    OK(AND, "b", "false", "false"),
    OK(OR, "b", "false", "b"),
    OK(OR, "true", "b", "true"),
    BAD(AND, "x", "b", wants_bool),
};

Test(fold, binary_operators) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const binary_case *c = &cases[i];
    tvms_node *a = read(c->a), *b = read(c->b);
    uint32_t errors = context.diags.errors;
    tvms_node *node = tvms_build_binary(&unit, c->kind, a, b, TVMS_NO_SPAN);
    cr_assert_eq(node == NULL, c->result == NULL, "case %zu", i);
    if (node) cr_assert_str_eq(sexpr_text(&unit, node), c->result);
    cr_assert_eq(context.diags.errors, errors + !c->result);
    if (!c->result) cr_assert_eq(context.diags.last->id, c->id);
  }
}

Test(fold, operands_are_kept_as_they_are) {
  tvms_node *x = sexpr_var(&reader, "x"), *one = read("1");
  tvms_node *sum = tvms_build_binary(&unit, TVMS_NODE_ADD, x, one, TVMS_NO_SPAN);
  cr_assert_eq(tvms_as_binary(sum)->a, x);
  cr_assert_eq(tvms_as_binary(sum)->b, one);
  cr_assert(tvms_build_is_possible(&unit, sum));
  cr_assert_not(tvms_build_is_possible(&unit, read("(+ x 0)")));
  cr_assert_not(tvms_build_is_possible(&unit, read("(* 2 3)")));
}

Test(fold, python_operators) {
  tvms_node *x = sexpr_var(&reader, "x"), *f = sexpr_var(&reader, "f");
  tvms_node *u = sexpr_var(&reader, "u");
  cr_assert_null(tvms_build_true_div(&unit, x, x, TVMS_NO_SPAN));
  cr_assert_eq(context.diags.last->id, TVMS_D_ambiguous_division);
  cr_assert_str_eq(sexpr_text(&unit, tvms_build_true_div(&unit, x, f, TVMS_NO_SPAN)),
                   "(/ (cast:float32 x) f)");
  cr_assert_str_eq(sexpr_text(&unit, tvms_build_negative(&unit, x, TVMS_NO_SPAN)),
                   "(* x -1)");
  cr_assert_null(tvms_build_negative(&unit, u, TVMS_NO_SPAN));
  cr_assert_str_eq(sexpr_text(&unit, tvms_build_abs(&unit, x, TVMS_NO_SPAN)),
                   "(select (>= x 0) x (- 0 x))");
  cr_assert_str_eq(sexpr_text(&unit, tvms_build_abs(&unit, f, TVMS_NO_SPAN)),
                   "(fabs f)");
  tvms_node *four = read("4");
  cr_assert_str_eq(sexpr_text(&unit, tvms_build_ceil_div(&unit, x, four, TVMS_NO_SPAN)),
                   "(// (- (+ x 4) 1) 4)");
}

Test(fold, shifts_and_bits) {
  tvms_node *x = sexpr_var(&reader, "x"), *f = sexpr_var(&reader, "f");
  tvms_node *two = read("2"), *zero = read("0");
  tvms_node *many = read("32");
  tvms_span none = TVMS_NO_SPAN;
  cr_assert_eq(tvms_build_bitwise(&unit, TVMS_TIR_shift_left, x, zero, none), x);
  cr_assert_null(tvms_build_bitwise(&unit, TVMS_TIR_shift_left, x, many, none));
  cr_assert_eq(context.diags.last->id, TVMS_D_shift_amount);
  cr_assert_null(tvms_build_bitwise(&unit, TVMS_TIR_bitwise_and, f, two, none));
  tvms_node *node = tvms_build_bitwise(&unit, TVMS_TIR_shift_left, two, two, none);
  cr_assert_str_eq(sexpr_text(&unit, node), "8");
  node = tvms_build_bitwise(&unit, TVMS_TIR_bitwise_xor, x, two, none);
  cr_assert_str_eq(sexpr_text(&unit, node), "(bitwise_xor x 2)");
}

Test(fold, casts) {
  tvms_node *x = sexpr_var(&reader, "x");
  tvms_span none = TVMS_NO_SPAN;
  tvms_dtype int8 = TVMS_DTYPE(INT, 8), wide = TVMS_DTYPE(INT, 64);
  cr_assert_eq(tvms_build_cast(&unit, x->dtype, x, none), x);
  cr_assert_null(tvms_build_cast(&unit, int8, read("300"), none));
  cr_assert_eq(context.diags.last->id, TVMS_D_constant_out_of_range);
  tvms_node *node = tvms_build_cast(&unit, int8, read("3.7"), none);
  cr_assert(tvms_node_is_int(node, 3));
  node = tvms_build_cast(&unit, tvms_dtype_with_lanes(wide, 4), x, none);
  cr_assert_str_eq(sexpr_text(&unit, node), "(broadcast:4 (cast:int64 x))");
}

Test(fold, bool_is_an_integer_in_the_classic_dialect_only) {
  tvms_node *b = sexpr_var(&reader, "b"), *x = sexpr_var(&reader, "x");
  cr_assert_null(tvms_build_binary(&unit, TVMS_NODE_FLOOR_DIV, b, x, TVMS_NO_SPAN));
  unit.dialect = TVMS_DIALECT_22;
  cr_assert_not_null(tvms_build_binary(&unit, TVMS_NODE_FLOOR_DIV, b, x, TVMS_NO_SPAN));
}

Test(fold, choice_by_a_constant) {
  tvms_node *x = sexpr_var(&reader, "x"), *f = sexpr_var(&reader, "f");
  tvms_node *yes = read("true");
  tvms_node *node = tvms_build_if_then_else(&unit, yes, x, f, TVMS_NO_SPAN);
  cr_assert_str_eq(sexpr_text(&unit, node), "(cast:float32 x)");
  cr_assert_null(tvms_build_if_then_else(&unit, x, x, x, TVMS_NO_SPAN));
  cr_assert_null(tvms_build_select(&unit, yes, x, f, TVMS_NO_SPAN));
  tvms_node *not = tvms_build_node(&unit, TVMS_NODE_NOT, yes, NULL, TVMS_NO_SPAN);
  cr_assert_str_eq(sexpr_text(&unit, not ), "(not true)");
  cr_assert_null(tvms_build_node(&unit, TVMS_NODE_NOT, x, NULL, TVMS_NO_SPAN));
}
