// The lexer: every class of token, and everything that Python refuses in one.
#include "grammar/literal_values.h"
#include "grammar/nested.h"
#include "lexing.h"

#include <stdio.h>

TestSuite(lexer, .init = open_context, .fini = close_context);

static const char *literals(const char *text) {
  const char *all = tokens_of_bytes(text, strlen(text), true);
  size_t len = strlen(all);
  // The line end that every text gets says nothing here.
  static char copy[1024];
  snprintf(copy, sizeof copy, "%.*s", (int)(len > 8 ? len - 8 : 0), all);
  return copy;
}

Test(lexer, every_word_and_mark_of_the_table_is_its_own_token) {
  static const struct {
    const char *spelling;
    tvms_token_kind kind;
  } rows[] = {
#define TOKEN(KIND, spelling, terminal, value) {spelling, TVMS_TOK_##KIND},
#include "grammar/tokens.def"
  };
  uint32_t checked = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tvms_token_kind kind = rows[i].kind;
    bool made = kind <= TVMS_TOK_NEWLINE
                || (kind >= TVMS_TOK_SHUT_ROUND && kind <= TVMS_TOK_SHUT_CURLY)
                || (kind >= TVMS_TOK_INDENT && kind <= TVMS_TOK_NOT_IN)
                || (kind >= TVMS_TOK_MISFIT && kind <= TVMS_TOK_HOLE)
                || kind == TVMS_TOK_STRAY;
    if (made) continue;
    char text[32];
    snprintf(text, sizeof text, "x %s", rows[i].spelling);
    const char *got = tokens(text) + strlen("NAME ");
    size_t len = strlen(token_names[kind]);
    cr_assert(strncmp(got, token_names[kind], len) == 0, "%s gave %s", text, got);
    checked++;
  }
  cr_assert_gt(checked, 70);
  expect_text(findings(), "");
}

Test(lexer, words_that_begin_like_keywords_are_names) {
  expect_text(literals("x = ifx for_ None1 _in classs"),
              "NAME:x ASSIGN NAME:ifx NAME:for_ NAME:None1 NAME:_in NAME:classs");
  expect_text(literals("fn @ ix"), "NAME:fn AT NAME:ix");
}

Test(lexer, numbers_of_every_form) {
  expect_text(
      literals("0 00 0_0 12 1_000 0x1F 0XaB_c 0o17 0B1_0 0x_1"),
      "INT:0 INT:00 INT:0_0 INT:12 INT:1_000 INT:0x1F INT:0XaB_c INT:0o17 INT:0B1_0 INT:0x_1");
  expect_text(
      literals("1. .5 1.5e3 1e-5 1_0.0_1E+1_0 012.5 00e1"),
      "FLOAT:1. FLOAT:.5 FLOAT:1.5e3 FLOAT:1e-5 FLOAT:1_0.0_1E+1_0 FLOAT:012.5 FLOAT:00e1");
  expect_text(literals("1j 1.5J 012j 1e3j"),
              "IMAGINARY:1j IMAGINARY:1.5J IMAGINARY:012j IMAGINARY:1e3j");
  expect_text(findings(), "");
}

Test(lexer, words_may_stand_close_behind_numbers) {
  expect_text(tokens("1if 2else 0x1for x"), "INT IF INT ELSE INT OR NAME NEWLINE");
  expect_text(findings(), "");
}

Test(lexer, numbers_that_python_refuses) {
  static const char *const bad[] = {"012",  "1abc", "0x",   "0b12", "0o8",  "1__0",
                                    "1_",   "1.e",  "1e5x", "1jx",  "0_1",  "0xg",
                                    "1._5", "0b",   "12é",  "1.5_", "0o1_", "1e_5"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    uint32_t before = context.diags.errors;
    tokens(bad[i]);
    cr_assert_gt(context.diags.errors, before, "%s was taken", bad[i]);
  }
}

Test(lexer, strings_of_every_form) {
  static const char *const prefixes[] = {"",  "r",  "R",  "u",  "U",  "b",
                                         "B", "br", "bR", "Rb", "RB", "f",
                                         "F", "fr", "Rf", "rF", "FR"};
  static const char *const bodies[] = {"''",
                                       "\"\"",
                                       "'a'",
                                       "\"a'b\"",
                                       "'a\\'b'",
                                       "\"a\\\nb\"",
                                       "'''a\n'b''c'''",
                                       "\"\"\"a\n\"\\\"\"\"\""};
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    for (size_t j = 0; j < sizeof bodies / sizeof bodies[0]; j++) {
      char text[64];
      snprintf(text, sizeof text, "%s%s", prefixes[i], bodies[j]);
      expect_text(tokens(text), "STRING NEWLINE");
    }
  }
  expect_text(findings(), "");
  expect_text(tokens("x'a'"), "NAME STRING NEWLINE");
}

Test(lexer, braces_of_f_strings_may_hold_their_own_quotes) {
  expect_text(tokens("f\"{d[\"a\"]}\" 1"), "STRING INT NEWLINE");
  expect_text(tokens("f'{x!r:>{w}} {{ }}' 1"), "STRING INT NEWLINE");
  expect_text(tokens("f'{f\"{'a'}\"}' 1"), "STRING INT NEWLINE");
  expect_text(tokens("f'''{\n  a\n}''' 1"), "STRING INT NEWLINE");
  expect_text(tokens("f'{ {1: '}'}[1] }' 1"), "STRING INT NEWLINE");
  expect_text(findings(), "");
}

Test(lexer, strings_without_an_end_stop_at_the_line_or_the_file) {
  expect_text(tokens("x = 'a\ny = 1"),
              "NAME ASSIGN BROKEN NEWLINE NAME ASSIGN INT NEWLINE");
  expect_text(findings(), "1:5 E0104");
  expect_text(tokens("\n\n'''a\nb"), "BROKEN NEWLINE");
  expect_text(findings(), "1:5 E0104 3:1 E0105");
}

Test(lexer, escapes_are_checked_where_they_stand) {
  tokens("'\\x1' '\\u12' '\\U00110000' '\\N{DASH}' '\\N' r'\\x' b'\\u' '\\q\\7\\\\'");
  expect_text(findings(), "1:2 E0106 1:8 E0106 1:15 E0106 1:28 E0107 1:39 E0106");
}

Test(lexer, bytes_hold_ascii_only) {
  tokens("b'\xC3\xA9'");
  expect_text(findings(), "1:3 E0108");
}

Test(lexer, names_are_compared_by_their_nfkc_form) {
  const char *text = "\xEF\xAC\x81 fi \xC3\xA9 e\xCC\x81 \xE5\x8F\x98\xE9\x87\x8F";
  expect_text(tokens(text), "WIDE_NAME NAME WIDE_NAME WIDE_NAME WIDE_NAME NEWLINE");
  cr_assert_neq(tvms_interner_find(&context.names, "fi", 2), 0);
  cr_assert_neq(tvms_interner_find(&context.names, "\xC3\xA9", 2), 0);
  cr_assert_eq(tvms_interner_find(&context.names, "e\xCC\x81", 3), 0);
  expect_text(findings(), "");
}

Test(lexer, characters_without_a_token_are_reported_and_lexing_goes_on) {
  expect_text(tokens("a $ b ? c \xE2\x80\x9C d \x01 e \xC2\xA0 f"),
              "NAME STRAY NAME STRAY NAME STRAY NAME STRAY NAME STRAY NAME NEWLINE");
  expect_text(findings(), "1:3 E0103 1:7 E0103 1:11 E0103 1:15 E0103 1:19 E0103");
}

Test(lexer, bytes_that_are_no_text_are_reported_wherever_they_stand) {
  tokens_of_bytes("a b # \xFF\n'\xC3(' \xED\xA0\x80", 16, false);
  expect_text(findings(), "1:7 E0101 2:2 E0101 2:6 E0101");
}

Test(lexer, of_a_file_that_is_no_text_the_first_zero_byte_is_reported) {
  tokens_of_bytes("a\0b # \xFF\n'\xC3(' \xED\xA0\x80", 16, false);
  expect_text(findings(), "1:2 E0102");
}

Test(lexer, lines_are_joined_by_backslashes_only_at_their_end) {
  expect_text(tokens("a + \\\n b \\\r\n c"), "NAME PLUS NAME NAME NEWLINE");
  expect_text(findings(), "");
  tokens("a + \\ b");
  expect_text(findings(), "1:5 E0111");
}

Test(lexer, line_ends_of_every_system_count_once) {
  expect_text(tokens("a\nb\r\nc\rd"),
              "NAME NEWLINE NAME NEWLINE NAME NEWLINE NAME NEWLINE");
}

static uint32_t parse_one(tvms_surface *surface, const char *text) {
  tvms_source *source = tvms_source_create(&context.memory, "test", text, strlen(text));
  tvms_surface_parse(surface, &context, source);
  return tvms_surface_at(surface, surface->body)->a;
}

Test(lexer, values_of_integers_fit_64_bits_or_are_refused) {
  static const struct {
    const char *text;
    uint64_t value;
  } rows[] = {{"0", 0},     {"1_000", 1000}, {"0xfF", 255},
              {"0o17", 15}, {"0b1_01", 5},   {"18446744073709551615", UINT64_MAX}};
  tvms_surface surface;
  uint64_t value;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint32_t ref = parse_one(&surface, rows[i].text);
    cr_assert(tvms_surface_int(&surface, ref, &value));
    cr_assert_eq(value, rows[i].value);
  }
  cr_assert_not(
      tvms_surface_int(&surface, parse_one(&surface, "18446744073709551616"), &value));
  cr_assert_eq(tvms_surface_float(&surface, parse_one(&surface, "1_0.5e-1")), 1.05);
}

Test(lexer, values_of_strings_are_decoded) {
  tvms_surface surface;
  uint32_t ref = parse_one(
      &surface, "'a\\n\\x41\\u00e9\\U0001F600\\101\\q\\\nz' r'\\n' \"\"\"b\r\nc\"\"\"");
  tvms_surf_text text = tvms_surface_string(&surface, ref, &context.arena);
  expect_text(text.text, "a\nA\xC3\xA9\xF0\x9F\x98\x80"
                         "A\\qz\\nb\nc");
  cr_assert_not(text.is_bytes);
  ref = parse_one(&surface, "b'\\xff\\0'");
  text = tvms_surface_string(&surface, ref, &context.arena);
  cr_assert(text.is_bytes);
  cr_assert_eq(text.len, 2);
  cr_assert_eq((unsigned char)text.text[0], 0xFF);
}

Test(lexer, expressions_inside_strings_have_true_places) {
  tvms_surface surface;
  uint32_t ref = parse_one(&surface, "\"n + 1\"");
  tvms_span inside;
  cr_assert(tvms_surface_string_inside(&surface, ref, &inside));
  tvms_ref sum = tvms_surface_parse_expression(&surface, inside);
  cr_assert_neq(sum, 0);
  cr_assert_eq(tvms_surface_at(&surface, sum)->kind, TVMS_SURF_BINARY);
  cr_assert_eq(tvms_surface_at(&surface, sum)->begin, 1);
  cr_assert_eq(tvms_surface_at(&surface, sum)->end, 6);
  expect_text(findings(), "");
  ref = parse_one(&surface, "\"n + \"");
  cr_assert(tvms_surface_string_inside(&surface, ref, &inside));
  cr_assert_eq(tvms_surface_parse_expression(&surface, inside), 0);
  expect_text(findings(), "1:6 E0119");
  // Through escapes and joints, and what is wrong behind them.
  ref = parse_one(&surface, "\"\\x6e +\" \"\\t1\\x30\"");
  sum = tvms_surface_parse_string(&surface, ref);
  uint64_t ten;
  tvms_ref right = tvms_surface_at(&surface, sum)->b;
  cr_assert_eq(tvms_surface_at(&surface, sum)->begin, 1);
  cr_assert(tvms_surface_int(&surface, right, &ten));
  cr_assert_eq(ten, 10);
  cr_assert_eq(tvms_surface_at(&surface, right)->begin, 12);
  cr_assert_eq(tvms_surface_at(&surface, right)->end, 17);
  ref = parse_one(&surface, "\"n + \\x22a\\x22 b\"");
  cr_assert_eq(tvms_surface_parse_string(&surface, ref), 0);
  expect_text(findings(), "1:6 E0119 1:16 E0119");
  ref = parse_one(&surface, "\"b\"");
  cr_assert(tvms_surface_string_inside(&surface, ref, &inside));
  sum = tvms_surface_parse_expression(&surface, inside);
  cr_assert_eq(tvms_surface_at(&surface, sum)->kind, TVMS_SURF_NAME);
}
