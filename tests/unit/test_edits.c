// Edits of source text: what is made of edits that meet, and fix-its.
#include "support/context.h"
#include "support/diag_ids.h"
#include "support/edits.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <string.h>

static tvms_context context;
static tvms_strbuf out;
static tvms_edits edits;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_strbuf_init(&out, &context.memory);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(edits, .init = open_context, .fini = close_context);

static void begin(const char *text) {
  tvms_source *source = tvms_source_create(&context.memory, "t", text, strlen(text));
  context.diags.source = source;
  tvms_edits_init(&edits, &context.memory, source);
}

static void replace(uint32_t from, uint32_t to, const char *text) {
  tvms_edits_replace(&edits, (tvms_span){from, to}, text);
}

static const char *applied(void) {
  tvms_edits_apply(&edits, &out);
  tvms_edits_fini(&edits);
  return tvms_strbuf_text(&out);
}

Test(edits, no_edit_leaves_the_text) {
  begin("abc\n");
  cr_assert_str_eq(applied(), "abc\n");
}

Test(edits, the_order_of_adding_does_not_matter) {
  begin("abcdef");
  replace(4, 5, "E");
  replace(0, 1, "");
  replace(6, 6, "!");
  replace(1, 3, "BCBC");
  cr_assert_str_eq(applied(), "BCBCdEf!");
}

Test(edits, insertions_at_one_place_are_made_in_order) {
  begin("ab");
  char texts[26][2] = {{0}};
  for (int i = 0; i < 26; i++) {
    texts[i][0] = (char)('a' + i);
    replace(1, 1, texts[i]);
  }
  cr_assert_str_eq(applied(), "aabcdefghijklmnopqrstuvwxyzb");
}

Test(edits, what_begins_inside_of_a_replacement_goes) {
  begin("abcdef");
  replace(3, 5, "no");
  replace(1, 4, "yes");
  replace(4, 4, ".");
  cr_assert_str_eq(applied(), "ayes.ef");
}

Test(edits, blanks_of_a_line_add_up) {
  begin("if a:\n    if b:\n        c\n      d\n");
  tvms_edits_unindent(&edits, (tvms_span){6, 34}, 4);
  tvms_edits_unindent(&edits, (tvms_span){16, 34}, 4);
  cr_assert_str_eq(applied(), "if a:\nif b:\nc\nd\n");
}

Test(edits, a_line_goes_with_its_blanks_whoever_takes_them_too) {
  begin("    a\n    b  \n    c\n");
  tvms_edits_remove_line(&edits, (tvms_span){10, 11});
  tvms_edits_unindent(&edits, (tvms_span){0, 20}, 2);
  tvms_edits_unindent(&edits, (tvms_span){0, 20}, 1);
  cr_assert_str_eq(applied(), " a\n c\n");
}

Test(edits, a_line_goes_with_its_end_whatever_that_is) {
  begin("a\r\n  b\r\nc\r\n");
  tvms_edits_remove_line(&edits, (tvms_span){5, 6});
  cr_assert_str_eq(applied(), "a\r\nc\r\n");
}

Test(edits, a_statement_that_shares_its_line_goes_without_it) {
  begin("  a; b\n");
  tvms_edits_remove_line(&edits, (tvms_span){2, 3});
  cr_assert_str_eq(applied(), "  ; b\n");
}

static tvms_diag *report_at(uint32_t from, uint32_t to, bool safe, const char *text) {
  tvms_span span = {from, to};
  tvms_diag *diag = tvms_diag_report(&context.diags, TVMS_D_too_deep, span, 1u);
  tvms_diag_fix(&context.diags, diag, span, safe, "%s", text);
  return diag;
}

Test(edits, safe_fixes_are_applied_and_overlapping_ones_wait) {
  begin("abcdef");
  report_at(0, 1, true, "X");
  report_at(2, 4, true, "YY");
  report_at(3, 5, true, "overlaps");
  report_at(4, 5, false, "unsafe");
  report_at(6, 6, true, "!");
  report_at(6, 6, true, "?");
  cr_assert_eq(tvms_edits_add_fixes(&edits, &context.diags, false), 3);
  cr_assert_str_eq(applied(), "XbYYef!");
}

Test(edits, fixes_of_one_finding_go_together) {
  begin("abcdef");
  report_at(4, 5, true, "E");
  tvms_diag *diag = report_at(0, 1, true, "A");
  tvms_diag_fix(&context.diags, diag, (tvms_span){4, 6}, true, "late");
  diag = report_at(1, 2, true, "B");
  tvms_diag_fix(&context.diags, diag, (tvms_span){2, 3}, false, "unsafe");
  cr_assert_eq(tvms_edits_add_fixes(&edits, &context.diags, false), 1);
  cr_assert_str_eq(applied(), "abcdEf");
}
