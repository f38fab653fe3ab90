// The formatter: one rule of layout a test, and the proof.
#include "format/check.h"
#include "format/format.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <string.h>

static tvms_context context;
static tvms_surface surface;
static tvms_strbuf out;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_strbuf_init(&out, &context.memory);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(format, .init = open_context, .fini = close_context);

static tvms_status format(const char *text) {
  tvms_source *source = tvms_source_create(&context.memory, "test", text, strlen(text));
  tvms_surface_parse(&surface, &context, source);
  out.len = 0;
  return tvms_format_checked(&surface, (tvms_format_options){0}, &out);
}

#define expect_format(text, expected)                                                  \
  do {                                                                                 \
    cr_assert_eq(format(text), TVMS_OK);                                               \
    cr_assert_str_eq(tvms_strbuf_text(&out), expected);                                \
  } while (0)

Test(format, spaces_stand_around_operators_and_after_commas) {
  expect_format("x=a+b *c\nf(a,b = 1)[1 :2,i+1:n]\ny = - x ** 2\n",
                "x = a + b * c\nf(a, b=1)[1:2, i + 1 : n]\ny = -x**2\n");
}

Test(format, a_long_call_is_split_at_its_last_bracket) {
  expect_format(
      "value = function_with_a_long_name(first_argument_of_it, second_argument_of_it, third_one)\n",
      "value = function_with_a_long_name(\n"
      "    first_argument_of_it, second_argument_of_it, third_one\n"
      ")\n");
}

Test(format, a_trailing_comma_keeps_a_list_open) {
  expect_format("f(a, b,)\n", "f(\n    a,\n    b,\n)\n");
}

Test(format, a_long_sum_gets_parentheses) {
  expect_format(
      "result = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb + cccccccccccccccccc\n",
      "result = (\n"
      "    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
      "    + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
      "    + cccccccccccccccccc\n"
      ")\n");
}

Test(format, comments_stay_where_they_belong) {
  expect_format("#a\nx = [1, # one\n  # two\n  2]   #b\nif x: pass # c\n# d\n",
                "# a\n"
                "x = [\n"
                "    1,  # one\n"
                "    # two\n"
                "    2,\n"
                "]  # b\n"
                "if x:\n"
                "    pass  # c\n"
                "# d\n");
}

Test(format, blank_lines_part_definitions) {
  expect_format(
      "import a\nclass A:\n  x = 1\n  def f(): pass\n\n\n\n  def g(): pass\ny = 1\n",
      "import a\n\n\nclass A:\n    x = 1\n\n    def f():\n        pass\n\n"
      "    def g():\n        pass\n\n\ny = 1\n");
}

Test(format, strings_get_double_quotes_unless_that_needs_escapes) {
  expect_format("x = 'a', 'b\"c', U'd', 'e\\'f', R'g', f'{a}'\n",
                "x = \"a\", 'b\"c', \"d\", \"e'f\", R\"g\", f\"{a}\"\n");
}

Test(format, regions_that_are_switched_off_are_copied) {
  expect_format("# fmt: off\nx  =  1\n# fmt: on\ny  =  2\nz  =  3  # fmt: skip\n",
                "# fmt: off\nx  =  1\n# fmt: on\ny = 2\nz  =  3  # fmt: skip\n");
}

Test(format, parentheses_around_a_whole_go) {
  expect_format(
      "(a, b) = (c)\nfor (d, e) in (f): g\nwith (h): i\nassert (j), (k)\n(l)\n",
      "a, b = c\nfor d, e in f:\n    g\nwith h:\n    i\nassert j, k\n(l)\n");
}

Test(format, a_header_that_is_skipped_keeps_its_text) {
  expect_format("if  a :  # fmt: skip\n  x  =  1\nelse :# fmt: skip\n  y\n",
                "if  a :  # fmt: skip\n    x = 1\nelse :  # fmt: skip\n    y\n");
  expect_format("@a( b )\ndef  f( x ):   # fmt: skip\n  y\n",
                "@a(b)\ndef  f( x ):  # fmt: skip\n    y\n");
}

Test(format, a_file_with_syntax_errors_is_refused) {
  cr_assert_eq(format("x = = 1\n"), TVMS_FOUND_ERRORS);
  cr_assert_eq(out.len, 0);
}

Test(format, line_ends_and_byte_order_mark_stay) {
  expect_format("\xEF\xBB\xBFx=1\r\ny=2", "\xEF\xBB\xBFx = 1\r\ny = 2\r\n");
}

Test(format, a_file_of_comments_alone_stays) {
  expect_format("#a\n\n\n\n  # b", "# a\n\n\n# b\n");
  expect_format("", "");
}

Test(format, large_files_are_proved_in_overlapping_pieces) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context.memory);
  for (int i = 0; i < 20000; i++) {
    if (i % 1000 == 0)
      tvms_strbuf_puts(&text, "# fmt: off\na  =  1\n\n\n\nb=2\n# fmt: on\n");
    tvms_strbuf_puts(&text, i % 7 ? "x=[1,2] # c\n" : "\n\n\n\ndef f(): pass\n");
  }
  cr_assert_eq(format(tvms_strbuf_text(&text)), TVMS_OK);
  cr_assert_gt(out.len, 300000);
  tvms_strbuf again;
  tvms_strbuf_init(&again, &context.memory);
  tvms_strbuf_add(&again, out.text, out.len);
  cr_assert_eq(format(tvms_strbuf_text(&again)), TVMS_OK);
  cr_assert_eq(out.len, again.len);
  cr_assert_eq(memcmp(out.text, again.text, out.len), 0);
}

// Text that parses to something else must not pass the proof.
Test(format, surfaces_that_differ_are_told_apart) {
  static const char *const pairs[][2] = {
      {"x = 1", "x = 2"},
      {"x = a", "x = b"},
      {"x = 'a'", "x = 'b'"},
      {"f(a)", "f(a, b)"},
      {"x = a.b", "x = a.c"},
      {"x = -1", "x = +1"},
      {"# a", "# b"},
      {"x", "x  # a"},
      {"if a:\n  b", "while a:\n  b"},
      {"x = b'a'", "x = 'a'"},
      {"(x): int", "x: int"},
      {"x = 'a' 'b'", "x = 'ab'"},
      {"import a", "import b"},
      {"def f(a): pass", "def f(*a): pass"},
      {"if a:\n  b\nelif c:\n  d", "if a:\n  b\nelse:\n  if c:\n    d"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    tvms_surface surfaces[2];
    for (int side = 0; side < 2; side++) {
      const char *text = pairs[i][side];
      tvms_source *source =
          tvms_source_create(&context.memory, "test", text, strlen(text));
      tvms_surface_parse(&surfaces[side], &context, source);
    }
    tvms_span where;
    cr_assert(tvms_surface_same(&surfaces[0], &surfaces[0], &where));
    cr_assert_not(tvms_surface_same(&surfaces[0], &surfaces[1], &where), "%s",
                  pairs[i][0]);
  }
}

// A tree that the text does not have stands for a formatter that changes the program.
Test(format, a_result_that_says_something_else_is_refused) {
  static const char text[] = "x  =  a + b\n";
  tvms_source *source =
      tvms_source_create(&context.memory, "test", text, sizeof text - 1);
  tvms_surface tree;
  tvms_surface_parse(&tree, &context, source);
  for (uint32_t i = 1; i < tree.count; i++) {
    if (tree.nodes[i].kind == TVMS_SURF_NAME) tree.nodes[i].a = TVMS_SYM_int;
  }
  tvms_strbuf formatted;
  tvms_strbuf_init(&formatted, &context.memory);
  cr_assert_eq(tvms_format_checked(&tree, (tvms_format_options){0}, &formatted),
               TVMS_INTERNAL);
  cr_assert_eq(formatted.len, 0);
  cr_assert_eq(context.diags.last->id, TVMS_D_format_changes);
}

static tvms_format_definition last_definition(const tvms_surface *tree,
                                              uint32_t indent) {
  tvms_format_definition found = {.indent = indent};
  for (tvms_ref ref = 1; ref < tree->count; ref++) {
    if (tree->nodes[ref].kind == TVMS_SURF_DEF) found.statement = ref;
  }
  tvms_span span = tvms_surface_span(tree, found.statement);
  found.lines = (tvms_span){span.begin - indent, span.end};
  return found;
}

Test(format, a_definition_is_laid_out_where_it_stands) {
  static const char text[] = "x  =  1  # first\nclass A:\n    @b\n    def  f( x ):\n"
                             "      # inside\n      return  x\n    y  =  2  # last\n";
  tvms_source *source =
      tvms_source_create(&context.memory, "test", text, sizeof text - 1);
  tvms_surface tree;
  tvms_surface_parse(&tree, &context, source);
  tvms_format_definition definition = last_definition(&tree, 4);
  tvms_strbuf lines;
  tvms_strbuf_init(&lines, &context.memory);
  cr_assert_eq(tvms_format_checked_definition(&tree, (tvms_format_options){0},
                                              &definition, &lines),
               TVMS_OK);
  cr_assert_str_eq(tvms_strbuf_text(&lines),
                   "    @b\n    def f(x):\n        # inside\n        return x");
  for (uint32_t i = 1; i < tree.count; i++) {
    if (tree.nodes[i].kind == TVMS_SURF_NAME) tree.nodes[i].a = TVMS_SYM_int;
  }
  lines.len = 0;
  cr_assert_eq(tvms_format_checked_definition(&tree, (tvms_format_options){0},
                                              &definition, &lines),
               TVMS_INTERNAL);
  cr_assert_eq(lines.len, 0);
}

// The n-th allocation fails, for every n: the work ends with a status and nothing leaks.
static void parse_and_format(void *argument) {
  static const char text[] =
      "@a\nclass B:\n  def f(x, y=(1, 2,)):  # c\n"
      "    return [x for x in y] + {'a': b'c', \xC3\xA9: 'd' 'e'}\n"
      "x = = 1 )\n";
  tvms_context *inner = argument;
  tvms_source *source =
      tvms_source_create(&inner->memory, "test", text, sizeof text - 1);
  tvms_surface tree;
  tvms_surface_parse(&tree, inner, source);
  tvms_surface_own_comments(&tree);
  tvms_strbuf formatted;
  tvms_strbuf_init(&formatted, &inner->memory);
  inner->diags.errors = 0;  // the errors are wanted, and so is what comes after them
  tvms_source *sound =
      tvms_source_create(&inner->memory, "test", text, sizeof text - 11);
  tvms_surface_parse(&tree, inner, sound);
  cr_assert_eq(tvms_format_checked(&tree, (tvms_format_options){0}, &formatted),
               TVMS_OK);
}

Test(format, every_allocation_may_fail) {
  uint32_t failed = 0;
  for (uint64_t n = 1;; n++) {
    tvms_context inner;
    tvms_context_init(&inner, &tvms_names);
    inner.memory.fail_at = n;
    tvms_status status = tvms_memory_protect(&inner.memory, parse_and_format, &inner);
    tvms_context_fini(&inner);
    if (status == TVMS_OK) break;
    cr_assert_eq(status, TVMS_OVER_LIMIT);
    failed++;
  }
  cr_assert_gt(failed, 20);
}
