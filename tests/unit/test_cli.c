// Parts of the program that work on texts: differences, JSON, words.
#include "cli/options.h"
#include "support/context.h"
#include "support/json.h"
#include "support/names.h"
#include "support/textdiff.h"

#include <criterion/criterion.h>

static tvms_context context;
static tvms_strbuf out;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_strbuf_init(&out, &context.memory);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(cli, .init = open_context, .fini = close_context);

static const char *diff(const char *a, const char *b) {
  tvms_version before = {"a", a, strlen(a)}, after = {"b", b, strlen(b)};
  tvms_textdiff(&out, before, after, false);
  return tvms_strbuf_text(&out);
}

// Expectations are those of diff -u, which leaves out a count of 1.
Test(cli, equal_texts_have_no_difference) {
  cr_assert_str_empty(diff("x\ny\n", "x\ny\n"));
}

Test(cli, one_changed_line_stands_in_three_lines_of_context) {
  cr_assert_str_eq(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
                   "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

Test(cli, far_changes_are_two_hunks_and_near_ones_are_one) {
  cr_assert_str_eq(
      diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n"),
      "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n"
      " 5\n 6\n 7\n-b\n+B\n");
  tvms_strbuf_fini(&out);
  cr_assert_str_eq(
      diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n"),
      "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
}

Test(cli, everything_added_and_a_missing_end_of_line) {
  cr_assert_str_eq(diff("", "x\n"), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
  tvms_strbuf_fini(&out);
  cr_assert_str_eq(
      diff("x\n", "x"),
      "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file\n");
}

Test(cli, insertions_in_the_middle_of_repeated_lines_are_minimal) {
  cr_assert_str_eq(diff("a\nb\na\nb\n", "a\nb\nc\na\nb\n"),
                   "--- a\n+++ b\n@@ -1,4 +1,5 @@\n a\n b\n+c\n a\n b\n");
}

Test(cli, very_different_long_texts_are_replaced_as_a_whole) {
  tvms_strbuf a, b;
  tvms_strbuf_init(&a, &context.memory);
  tvms_strbuf_init(&b, &context.memory);
  for (int i = 0; i < 20000; i++) {
    tvms_strbuf_printf(&a, "left %d\n", i);
    tvms_strbuf_printf(&b, "right %d\n", i);
  }
  const char *text = diff(tvms_strbuf_text(&a), tvms_strbuf_text(&b));
  cr_assert_eq(strncmp(text, "--- a\n+++ b\n@@ -1,20000 +1,20000 @@\n-left 0\n", 44),
               0);
}

Test(cli, json_is_escaped_and_indented) {
  tvms_json json;
  tvms_json_init(&json, &out);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "a", "\"\\\n\x01\xC3\xA9\xFF");
  tvms_json_key(&json, "b");
  tvms_json_open(&json, '[');
  tvms_json_int(&json, -1);
  tvms_json_bool(&json, true);
  tvms_json_close(&json, ']');
  tvms_json_key(&json, "c");
  tvms_json_open(&json, '[');
  tvms_json_close(&json, ']');
  tvms_json_close(&json, '}');
  cr_assert_str_eq(
      tvms_strbuf_text(&out),
      "{\n  \"a\": \"\\\"\\\\\\n\\u0001\xC3\xA9\xEF\xBF\xBD\",\n  \"b\": [\n"
      "    -1,\n    true\n  ],\n  \"c\": []\n}");
}

Test(cli, words_are_split_at_spaces_and_quotes_keep_them) {
  char text[] = "  opt --passes 'a, b{k=v}'  -q ";
  tvms_texts words = {0};
  tvms_options_split_words(&words, &context.memory, text);
  cr_assert_eq(words.len, 4);
  cr_assert_str_eq(words.items[2], "a, b{k=v}");
  cr_assert_str_eq(words.items[3], "-q");
}
