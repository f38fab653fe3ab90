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
#define SURF(KIND, name, class, refs, holds) #name,
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
  const tvms_surf *import = tvms_surface_at(&surface, surface.body);
  cr_assert_str_eq(kinds[import->kind], "import");
  const tvms_surf *class = tvms_surface_at(&surface, import->next);
  cr_assert_str_eq(kinds[class->kind], "class");
  tvms_surf_definition def = tvms_surface_define(&surface, class->c);
  cr_assert_str_eq(tvms_symbol_text(&context, def.name), "f");
  cr_assert_eq(def.name_span.begin, 34);
  cr_assert_neq(def.returns, 0);
}

Test(grammar, every_wrong_statement_is_reported_once) {
  expect_findings("x = = 1\ny = 2\nf(a b)\n", "1:5 E0119 3:5 E0119");
}

Test(grammar, a_bracket_left_open_ends_where_a_statement_begins) {
  expect_findings("x = f(1, g(2)\ny = 3\nz = (4\nreturn z\n", "1:6 E0116 3:5 E0116");
  cr_assert_eq(tvms_surface_count(&surface, surface.body), 4);
}

Test(grammar, errors_in_separate_brackets_are_separate) {
  expect_findings("f(a, [1 2], {3 4})\n", "1:9 E0119 1:16 E0119");
}

// One line of wrong text each, with all it must give.
Test(grammar, what_python_refuses_is_refused) {
  static const char *const rows[][2] = {
      {"x = a + not b", "1:9 E0123"},
      {"x = a if b", "1:11 E0119"},
      {"x = lambda: y := 1", "1:13 E0123"},
      {"x := 1", "1:3 E0119"},
      {"f(a=1, b)", "1:8 E0124"},
      {"f() = 1", "1:1 E0122"},
      {"1 + a = 3", "1:1 E0122"},
      {"(a, b): int", "1:1 E0122"},
      {"a, b += 1", "1:1 E0122"},
      {"del f()", "1:5 E0122"},
      {"for f() in x: pass", "1:5 E0122"},
      {"[a for 1 in x]", "1:8 E0122"},
      {"def f(a=1, b): pass", "1:12 E0125"},
      {"def f(**a, b): pass", "1:12 E0125"},
      {"def f(*, *b): pass", "1:10 E0125"},
      {"def f(/): pass", "1:7 E0125"},
      {"def f(a, *): pass", "1:10 E0125"},
      {"def f() -> a := b: pass", "1:12 E0123"},
      {"with (a as b).c: pass", "1:6 E0126"},
      {"x = 'a' b'c'", "1:9 E0127"},
      {"if x", "1:5 E0120"},
      {"class A", "1:8 E0120"},
      {"return = 1", "1:8 E0119"},
      {"x = (1 +", "1:5 E0116"},
      {"f(a, b", "1:2 E0116"},
      {"else: pass", "1:1 E0119"},
      {"a b c d", "1:3 E0119"},
      {"def f(a b, c d): pass", "1:9 E0119"},
      {"import a.", "1:10 E0119"},
      {"from a import (b c, d)", "1:18 E0119"},
      {"x = yield y", "1:5 E0121"},
      {"x = [await y, b c]", "1:6 E0121"},
      {"match x:\n  case 1: pass\n  case 2: pass", "1:1 E0121"},
      {"type X = int", "1:1 E0121"},
      {"async def f(): pass", "1:1 E0121"},
      {"raise X", "1:1 E0121"},
      {"@a\nx = 1", "2:1 E0119"},
      {"def f():\nx = 1", "2:1 E0115"},
      {"x = 1\n  y = 2\nz = = 3", "2:3 E0114 3:5 E0119"},
      {"if a:\n  b\n c = = 2", "3:2 E0113 3:6 E0119"},
      {"f(a,\ndef g():\n  pass\n", "1:2 E0116"},
      {"def f(a, b\n  return a\nx = = 1", "1:6 E0116 3:5 E0119"},
      {"x = [1, 2\ny = 3\nz = 4 5", "1:5 E0116 3:7 E0119"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tvms_context_fini(&context);
    tvms_context_init(&context, &tvms_names);
    expect_findings(rows[i][0], rows[i][1]);
  }
}

Test(grammar, what_python_takes_is_taken) {
  static const char *const rows[] = {
      "x = y = z, = *a, b",
      "x: int",
      "x: int = 1, 2",
      "(x): int",
      "a.b[c]: d = e",
      "for x, in y, z: pass",
      "for (x, [y, *z]) in w: pass\nelse: pass",
      "while a: b; c;",
      "with a as b, c as (d, e): pass",
      "with (a as b, c,): pass",
      "with (a, b) as c: pass",
      "with (a).b: pass",
      "with (yy for yy in z): pass",
      "with (): pass",
      "x = lambda *a, b=1, **c: (a, b)",
      "x = lambda: (yield_)",
      "f(*a, b, *c, d=1, **e)",
      "f(a for b in c if d if e for f in g)",
      "x = {**a, 'b': 1}",
      "x = {1, *a}",
      "x = {a: b for a, b in c}",
      "x = [a if b else c for d in e if f]",
      "x[a:b, ::c, ..., *d]",
      "x[a := 1]",
      "x = not a in b",
      "x = -a ** -b",
      "x = a < b < c is not d",
      "x = a if b else lambda: c if d else e",
      "@(a := b)\ndef f(): pass",
      "x = (a := 1, b)",
      "def f[T: int, *U, **V](a, /, b: T = 1, *c: *U, d, **e) -> T: pass",
      "class A[T](B, c=D): pass",
      "class A(): x = 1",
      "global a, b",
      "del a, (b, c), d[e]",
      "assert a, b",
      "import a.b . c as d, e",
      "from . import a",
      "from ... import a as b",
      "from .a.b import (c, d as e,)",
      "from a import *",
      "match = case = type = 1",
      "match(x)",
      "print(match, case)",
      "type(x)",
      "x = 1 if a else 2 if b else 3",
      "if a: pass\nelif b: pass\nelse: pass",
      "x = 'a' \"b\" f'{c}'",
      "return",
      "x = a @ b @ c",
      "x = ~-+a",
      "x = a.b.c(d)(e)[f].g",
      "if x:\n\n  # c\n\n  y\n# d\n",
      "x = (\n a\n # b\n)",
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    expect_findings(rows[i], "");
  }
}

Test(grammar, python_beyond_tvmscript_is_not_supported) {
  expect_findings("try:\n  x = 1\nexcept E:\n  y = = 2\nfinally:\n  pass\n",
                  "1:1 E0121 4:7 E0119");
}

Test(grammar, a_body_in_the_wrong_column_is_still_read) {
  expect_findings("@d\n def f():\n   x = 1\n   y = = 2\n", "2:2 E0114 4:8 E0119");
}

// What is refused in a bracket lies in it, also where lines in front of the bracket begin with '@'.
Test(grammar, what_is_given_up_lies_where_it_was_written) {
  const char *const texts[] = {"(\n @)(", "(\n@a\n)(b c", "f(\n@d\ng(1,\n@e\nx = 1\n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    parse(texts[i]);
    for (uint32_t at = 1; at < surface.count; at++) {
      const tvms_surf *node = tvms_surface_at(&surface, at);
      bool inside = node->begin <= node->end && node->end <= strlen(texts[i]);
      cr_assert(inside, "node %u of text %zu: %u to %u", at, i, node->begin, node->end);
    }
  }
}
