// Lines, indentation and brackets, as Python's tokenizer makes and refuses them.
#include "lexing.h"

TestSuite(layout, .init = open_context, .fini = close_context);

Test(layout, blocks_are_indents_and_dedents) {
  expect_text(
      tokens("if a:\n  b\n  if c:\n     d\ne"),
      "IF NAME COLON NEWLINE INDENT NAME NEWLINE IF NAME COLON NEWLINE INDENT NAME NEWLINE "
      "DEDENT DEDENT NAME NEWLINE");
}

Test(layout, the_end_of_the_file_closes_line_and_blocks) {
  expect_text(tokens("a:\n b"), "NAME COLON NEWLINE INDENT NAME NEWLINE DEDENT");
  expect_text(tokens(""), "");
  expect_text(tokens("\n\n  # c\n   \n"), "");
}

Test(layout, lines_without_code_are_no_lines) {
  expect_text(tokens("a\n\n   # c\n\t\n  \nb # d\n# e"), "NAME NEWLINE NAME NEWLINE");
  expect_text(tokens("a\n\\\n\nb"), "NAME NEWLINE NAME NEWLINE");
}

Test(layout, lines_in_brackets_are_one) {
  expect_text(
      tokens("f(a,\n  [b\n],{\n\n# c\n})\nx"),
      "NAME OPEN_ROUND NAME COMMA OPEN_SQUARE NAME SHUT_SQUARE COMMA OPEN_CURLY SHUT_CURLY "
      "SHUT_ROUND NEWLINE NAME NEWLINE");
}

Test(layout, words_with_two_meanings_are_told_apart) {
  expect_text(tokens("for a in b in c"), "FOR NAME FOR_IN NAME IN NAME NEWLINE");
  expect_text(
      tokens("[a if b else c for d in e if f]"),
      "OPEN_SQUARE NAME IF NAME ELSE NAME FOR NAME FOR_IN NAME COMP_IF NAME SHUT_SQUARE NEWLINE");
  expect_text(
      tokens("[[a if b else c] for d in e]"),
      "OPEN_SQUARE OPEN_SQUARE NAME IF NAME ELSE NAME SHUT_SQUARE FOR NAME FOR_IN NAME SHUT_SQUARE NEWLINE");
  expect_text(tokens("a is not b not in c is d"),
              "NAME IS_NOT NAME NOT_IN NAME IS NAME NEWLINE");
  expect_text(tokens("a is \\\n not b"), "NAME IS_NOT NAME NEWLINE");
  expect_text(
      tokens("with (a): (b)"),
      "WITH OPEN_ITEMS NAME SHUT_ROUND COLON OPEN_ROUND NAME SHUT_ROUND NEWLINE");
  expect_text(tokens("with a(b): c"),
              "WITH NAME OPEN_ROUND NAME SHUT_ROUND COLON NAME NEWLINE");
}

Test(layout, a_byte_order_mark_and_form_feeds_have_no_column) {
  expect_text(tokens("\xEF\xBB\xBF"
                     "a\n  \fb"),
              "NAME NEWLINE NAME NEWLINE");
  expect_text(findings(), "");
}

Test(layout, tabs_go_to_multiples_of_eight) {
  expect_text(tokens("a:\n\tb\n\tc"),
              "NAME COLON NEWLINE INDENT NAME NEWLINE NAME NEWLINE DEDENT");
  expect_text(findings(), "");
  tokens("a:\n\tb\n        c");
  expect_text(findings(), "3:9 E0112");
}

Test(layout, a_line_between_two_levels_stays_in_the_inner_block) {
  expect_text(
      tokens("a:\n    b\n  c\n  d\ne"),
      "NAME COLON NEWLINE INDENT NAME NEWLINE NAME NEWLINE NAME NEWLINE DEDENT NAME NEWLINE");
  expect_text(findings(), "3:3 E0113");
}

Test(layout, brackets_that_close_nothing_are_dropped) {
  expect_text(tokens("a ) b"), "NAME NAME NEWLINE");
  expect_text(findings(), "1:3 E0117");
}

Test(layout, brackets_of_the_wrong_kind_close_all_the_same) {
  expect_text(tokens("(a]\nb"), "OPEN_ROUND NAME SHUT_ROUND NEWLINE NAME NEWLINE");
  expect_text(findings(), "1:3 E0118");
}

Test(layout, a_bracket_forgotten_inside_another_is_closed_with_it) {
  expect_text(
      tokens("([a)\nb"),
      "OPEN_ROUND OPEN_SQUARE NAME SHUT_SQUARE SHUT_ROUND NEWLINE NAME NEWLINE");
  expect_text(findings(), "1:2 E0116");
}
