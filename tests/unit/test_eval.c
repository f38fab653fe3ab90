// The evaluation alone: what expressions of Python are worth, which other rooms it asks for their values, and where its
// texts come from. What expressions are worth stands in eval_cases.txt, which tests/eval_cases.py checks against CPython.
#include "eval_suite.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/origin.h"
#include "parser/eval/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EVAL_SUITE;

// ---- Expressions of Python --------------------------------------------------------------

static void check_case(char *line, unsigned number) {
  char *arrow = strstr(line, " => ");
  cr_assert(arrow, "line %u has no =>", number);
  *arrow = '\0';
  const char *expected = arrow + 4, *gave = in_python(line);
  // After an exception the code of the finding: "TypeError E0219".
  const char *code = strstr(expected, "Error E");
  if (code) expected = code + strlen("Error ");
  cr_expect_str_eq(gave, expected, "line %u: %s gave %s, not %s", number, line, gave,
                   expected);
}

Test(eval, expressions_are_worth_what_python_says) {
  const char *root = getenv("TVMS_SOURCE");
  char path[1024], line[1024];
  snprintf(path, sizeof path, "%s/tests/unit/eval_cases.txt", root ? root : ".");
  FILE *file = fopen(path, "r");
  cr_assert(file, "%s is missing", path);
  unsigned number = 0, cases = 0;
  while (fgets(line, sizeof line, file)) {
    number++;
    line[strcspn(line, "\n")] = '\0';
    if (!*line || *line == '#') continue;
    check_case(line, number);
    cases++;
  }
  fclose(file);
  cr_assert(cases > 300);
}

// ---- Values -----------------------------------------------------------------------------

Test(eval, numbers_past_64_bits_are_refused_and_not_wrapped) {
  expect_text(in_python("18446744073709551615"), "18446744073709551615");
  expect_text(in_python("18446744073709551615 + 1"), "E0218");
  expect_text(in_python("9223372036854775807 * 3"), "E0218");
  expect_text(in_python("-9223372036854775807 - 2"), "E0218");
  expect_text(in_python("-18446744073709551615"), "E0218");
  expect_text(in_python("18446744073709551615 * 18446744073709551615"), "E0218");
  expect_text(in_python("2 ** 64"), "E0218");
  expect_text(in_python("(-2) ** 1000000000"), "E0218");
  expect_text(in_python("3 << 63"), "E0218");
  expect_text(in_python("1 << 64"), "E0218");
  expect_text(in_python("10 ** 30"), "E0218");
}

Test(eval, what_is_built_on_an_unknown_value_is_unknown_and_silent) {
  static const char *const texts[] = {
      "gone + 1",   "1 + gone",          "-gone",
      "gone.x",     "gone(1)",           "gone[0]",
      "gone and 1", "1 if gone else 2",  "(gone, 1)[0]",
      "len(gone)",  "[x for x in gone]", "{gone: 1}",
      "f'{gone}'",  "[*gone]",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    begin(texts[i]);
    tvms_scope_push_for(&reader, TVMS_EVALUATOR_PYTHON);
    bind("gone", TVMS_UNKNOWN);
    tvms_eval_value value = tvms_eval(&reader, expression());
    tvms_scope_pop(&reader);
    cr_expect(!tvms_eval_value_is_known(value), "%s", texts[i]);
    expect_text(findings(), "");
  }
}

Test(eval, data_types_equal_their_text_and_have_parts) {
  begin("t == 'int8x4', t == 'int8', t.bits, t.lanes, t, {t: 1}['int8x4']");
  bind("t", tvms_eval_value_dtype((tvms_dtype){TVMS_INT, 8, 4}));
  expect_text(shown(tvms_eval(&reader, expression())),
              "(True, False, 8, 4, int8x4, 1)");
}

// ---- Operations of other rooms ----------------------------------------------------------

Test(eval, operations_of_a_value_are_asked_of_its_table) {
  tvms_evaluator tvm = TVMS_EVALUATOR_TVM;
  expect_text(with_probe("probe.shape", tvm), "'shape'");
  expect_text(with_probe("probe.index(1)", tvm), "'method'");
  expect_text(with_probe("probe.index[1]", tvm), "'subscript of a method'");
  expect_text(with_probe("[1].index[1]", tvm), "E0215");
  expect_text(with_probe("probe(1)", tvm), "'call'");
  expect_text(with_probe("probe[1]", tvm), "'subscript'");
  expect_text(with_probe("probe[1:2]", tvm), "'slice'");
  expect_text(with_probe("-probe", tvm), "'-'");
  expect_text(with_probe("not probe", tvm), "'not'");
}

Test(eval, the_operand_of_the_higher_rank_decides_on_either_side) {
  tvms_evaluator tvm = TVMS_EVALUATOR_TVM;
  expect_text(with_probe("probe + 1", tvm), "'+'");
  expect_text(with_probe("1 - probe", tvm), "'r-'");
  expect_text(with_probe("1 < probe", tvm), "'r<'");
  expect_text(with_probe("probe == 'x'", tvm), "'=='");
  expect_text(with_probe("1 + 2", tvm), "3");
}

Test(eval, tvm_overloads_and_or_and_conditions_where_python_does_not) {
  expect_text(with_probe("probe and 1", TVMS_EVALUATOR_TVM), "'and'");
  expect_text(with_probe("1 or probe", TVMS_EVALUATOR_TVM), "'or'");
  expect_text(with_probe("True and probe", TVMS_EVALUATOR_TVM), "'and'");
  expect_text(with_probe("False and probe", TVMS_EVALUATOR_TVM), "False");
  expect_text(with_probe("1 if probe else 2", TVMS_EVALUATOR_TVM), "'choose'");
  expect_text(with_probe("1 or probe", TVMS_EVALUATOR_PYTHON), "1");
  expect_text(with_probe("1 if probe else 2", TVMS_EVALUATOR_PYTHON), "E0216");
}

Test(eval, comparisons_chain_by_and) {
  expect_text(with_probe("1 < probe < 3", TVMS_EVALUATOR_TVM), "'<'");
  cr_assert_str_eq(asked, "<");
}

Test(eval, what_a_table_lacks_is_reported_with_its_description) {
  expect_text(with_probe("len(probe)", TVMS_EVALUATOR_TVM), "E0212");
  const tvms_diag *diag = context.diags.first;
  cr_assert(strstr(diag->text, "a probe"), "%s", diag->text);
}

Test(eval, a_constant_of_another_room_counts_as_its_number) {
  begin("probe");
  bind_probe();
  tvms_eval_value value = tvms_eval(&reader, expression());
  cr_assert(tvms_eval_values_equal(&reader, value, tvms_eval_value_int(7)));
  cr_assert(!tvms_eval_values_equal(&reader, value, tvms_eval_value_int(8)));
}

Test(eval, a_value_may_stand_for_something_else_where_it_is_mentioned) {
  begin("(n, n)");
  bind("n", (tvms_eval_value){.kind = MENTIONED});
  expect_text(shown(tvms_eval(&reader, expression())), "(1, 4)");
}

// ---- Conversions ------------------------------------------------------------------------

Test(eval, short_names_of_data_types_are_those_of_the_release) {
  begin("0");
  tvms_dtype dtype;
  tvms_eval_value brief = tvms_eval_value_text("f16x2", 5);
  cr_assert(tvms_eval_to_dtype(&reader, brief, expression(), &dtype));
  cr_assert(tvms_dtype_same(dtype, (tvms_dtype){TVMS_FLOAT, 16, 2}));
  reader.dialect = TVMS_DIALECT_25;
  cr_assert(!tvms_eval_to_dtype(&reader, brief, expression(), &dtype));
  cr_assert_neq(context.diags.errors, 0);
}

// ---- Where a text comes from ------------------------------------------------------------

Test(eval, a_line_that_ends_inside_brackets_was_written_by_hand) {
  begin("# from tvm.script import tirx as T\n\n@T.prim_func\ndef f(): return g(1)\n");
  cr_assert(tvms_reader_is_printed(&reader));
  cr_assert(tvms_reader_has_printed_header(&reader));
  begin("@T.prim_func\ndef f(): return g(1)\n");
  cr_assert(tvms_reader_is_printed(&reader));
  cr_assert(!tvms_reader_has_printed_header(&reader));
  begin("@T.prim_func\ndef f(): return g(\n  1)\n");
  cr_assert(!tvms_reader_is_printed(&reader));
}

Test(eval, every_text_has_a_nul_behind_it) {
  static const char *const texts[] = {"'abc'[1]",
                                      "'abc'[:2]",
                                      "'a-b'.split('-')[0]",
                                      "[c for c in 'abc'][0]",
                                      "'ab' * 2",
                                      "'a' + 'b'",
                                      "f'{1}'",
                                      "'äbc'[0]",
                                      "'x'.join(['a', 'b'])"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    begin(texts[i]);
    tvms_eval_value value = tvms_eval(&reader, expression());
    cr_assert_eq(value.kind, TVMS_EVAL_STR, "%s", texts[i]);
    cr_expect_eq(strlen(value.as.text), value.len, "%s", texts[i]);
  }
}
