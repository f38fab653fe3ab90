// The parser: trees, and what is reported where.
#include "grammar/surface.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static tvms_context context;
static tvms_surface surface;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(grammar, .init = open_context, .fini = close_context);

static void parse(const char *text) {
  tvms_source *source = tvms_source_create(&context.memory, "test", text, strlen(text));
  tvms_surface_parse(&surface, &context, source);
}

static const char *const kinds[] = {
    "invalid",
#define SURF(KIND, name, class, holds) #name,
#include "grammar/surface.def"
};

// Places and codes of all diagnostics as "3:7 E0119 …", to compare with one string.
static const char *findings(void) {
  static char text[4096];
  size_t len = 0;
  text[0] = '\0';
  tvms_diags_sort(&context.diags);
  for (const tvms_diag *diag = context.diags.first; diag; diag = diag->next) {
    tvms_place place =
        tvms_source_place(&context.memory, diag->source, diag->span.begin);
    len +=
        (size_t)snprintf(text + len, sizeof text - len, "%s%u:%u E%04u", len ? " " : "",
                         place.line, place.column, tvms_diag_row_of(diag->id)->code);
  }
  return text;
}

#define expect_findings(text, expected)                                                \
  do {                                                                                 \
    parse(text);                                                                       \
    cr_assert_str_eq(findings(), expected, "%s\ngave %s", text, findings());           \
  } while (0)

Test(grammar, a_sound_file_has_no_findings_and_its_statements) {
  expect_findings(
      "import a.b as c\n@d\nclass E:\n  def f(x: int = 1) -> g:\n    pass\n", "");
  const tvms_surf *import = tvms_surf_at(&surface, surface.body);
  cr_assert_str_eq(kinds[import->kind], "import");
  const tvms_surf *class = tvms_surf_at(&surface, import->next);
  cr_assert_str_eq(kinds[class->kind], "class");
  tvms_surf_definition def = tvms_surf_define(&surface, class->c);
  cr_assert_str_eq(tvms_text(&context, def.name), "f");
  cr_assert_eq(def.name_span.begin, 34);
  cr_assert_neq(def.returns, 0);
}

Test(grammar, every_wrong_statement_is_reported_once) {
  expect_findings("x = = 1\ny = 2\nf(a b)\n", "1:5 E0119 3:5 E0119");
}

Test(grammar, a_bracket_left_open_ends_where_a_statement_begins) {
  expect_findings("x = f(1, g(2)\ny = 3\nz = (4\nreturn z\n", "1:6 E0116 3:5 E0116");
  cr_assert_eq(tvms_surf_count(&surface, surface.body), 4);
}

Test(grammar, errors_in_separate_brackets_are_separate) {
  expect_findings("f(a, [1 2], {3 4})\n", "1:9 E0119 1:16 E0119");
}

Test(grammar, python_beyond_tvmscript_is_not_supported) {
  expect_findings("try:\n  x = 1\nexcept E:\n  y = = 2\nfinally:\n  pass\n",
                  "1:1 E0121 4:7 E0119");
}

Test(grammar, a_body_in_the_wrong_column_is_still_read) {
  expect_findings("@d\n def f():\n   x = 1\n   y = = 2\n", "2:2 E0114 4:8 E0119");
}
