// The simplifier against stock TVM's text: cases recorded by tests/oracle/simplify.py.
#include "arith/analyzer.h"
#include "sexpr.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64 * 1024 };

static tvms_context context;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
}
static void close_context(void) {
  tvms_context_fini(&context);
}

TestSuite(arith, .init = open_context, .fini = close_context);

typedef struct {
  tvms_dialect dialect;
  sexpr reader;
  tvms_analyzer *analyzer;
} bench;

static void open_bench(bench *b, tvms_unit *unit, tvms_dialect dialect) {
  static const struct {
    const char *name;
    int extent;
  } ranges[] = {{"i", 16}, {"j", 32}, {"k", 128}};
  tvms_unit_init(unit, &context, dialect);
  b->reader = (sexpr){.unit = unit};
  b->analyzer = tvms_analyzer_new(unit);
  for (int i = 0; i < 3; i++) {
    tvms_dtype int32 = TVMS_DTYPE(INT, 32);
    tvms_node *zero = tvms_int_imm_new(unit, int32, 0, TVMS_NO_SPAN);
    tvms_node *extent = tvms_int_imm_new(unit, int32, ranges[i].extent, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(b->analyzer, sexpr_var(&b->reader, ranges[i].name), zero,
                             extent);
  }
}

// Simplifies `text`; the result lives until the next call.
static const char *simplified(const char *text, tvms_dialect dialect, char out[LINE]) {
  tvms_unit unit;
  bench b;
  open_bench(&b, &unit, dialect);
  tvms_node *result = tvms_analyzer_simplify(b.analyzer, sexpr_read(&b.reader, text));
  snprintf(out, LINE, "%s", sexpr_text(&unit, result));
  tvms_analyzer_free(b.analyzer);
  tvms_unit_fini(&unit);
  return out;
}

// Runs the cases of one file; returns how many differ.
static int run_file(const char *path, tvms_dialect dialect, int *count) {
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "cannot open %s", path);
  char line[LINE], out[LINE];
  int failed = 0;
  while (fgets(line, sizeof line, file)) {
    char *arrow = strstr(line, " => ");
    if (line[0] == '#' || !arrow) continue;
    *arrow = 0;
    char *expected = arrow + 4;
    expected[strcspn(expected, "\n")] = 0;
    ++*count;
    if (strcmp(simplified(line, dialect, out), expected) == 0) continue;
    failed++;
    fprintf(stderr, "%s\n  TVM  %s\n  tvms %s\n", line, expected, out);
  }
  fclose(file);
  return failed;
}

Test(arith, recorded_cases_of_the_current_releases) {
  // For long comparisons: a file of more cases, and the generation that made it.
  const char *more = getenv("TVMS_ARITH_CASES");
  const char *release = getenv("TVMS_ARITH_DIALECT");
  const char *root = getenv("TVMS_SOURCE");
  char path[LINE];
  snprintf(path, sizeof path, "%s/tests/unit/arith_cases.txt", root ? root : ".");
  int count = 0;
  int failed =
      run_file(more ? more : path,
               release ? tvms_dialect_parse(release) : TVMS_DIALECT_CURRENT, &count);
  cr_assert_eq(failed, 0, "%d of %d cases differ", failed, count);
  cr_assert_gt(count, 100);
}

static void simplify_long_sum(void *self) {
  enum { TERMS = 100 * 1000 };
  tvms_unit *unit = self;
  sexpr reader = {.unit = unit};
  tvms_node *sum = sexpr_var(&reader, "x"), *y = sexpr_var(&reader, "y");
  tvms_node *three = sexpr_read(&reader, "3");
  for (int i = 0; i < TERMS; i++) {
    tvms_node *term = i % 2 ? y : three;
    sum = tvms_binary_new(unit, TVMS_NODE_ADD, sum, term, TVMS_NO_SPAN);
  }
  const char *text = sexpr_text(unit, tvms_arith_simplify(unit, sum));
  cr_assert_str_eq(text, "(+ (+ (* y 50000) x) 150000)");
}

Test(arith, long_sums_are_simplified) {
  tvms_unit unit;
  tvms_unit_init(&unit, &context, TVMS_DIALECT_CURRENT);
  cr_assert_eq(tvms_memory_protect_deep(&context.memory, simplify_long_sum, &unit),
               TVMS_OK);
  tvms_unit_fini(&unit);
}

Test(arith, conditions_hold_in_their_scope) {
  tvms_unit unit;
  bench b;
  open_bench(&b, &unit, TVMS_DIALECT_CURRENT);
  tvms_node *condition = sexpr_read(&b.reader, "(< x y)");
  cr_assert_not(tvms_analyzer_can_prove(b.analyzer, sexpr_read(&b.reader, "(<= x y)")));
  tvms_scope_mark mark = tvms_analyzer_enter(b.analyzer, condition);
  cr_assert(tvms_analyzer_can_prove(b.analyzer, sexpr_read(&b.reader, "(<= x y)")));
  cr_assert(
      tvms_analyzer_can_prove(b.analyzer, sexpr_read(&b.reader, "(not (== x y))")));
  tvms_analyzer_leave(b.analyzer, mark);
  cr_assert_not(tvms_analyzer_can_prove(b.analyzer, sexpr_read(&b.reader, "(<= x y)")));
  mark = tvms_analyzer_enter(b.analyzer, sexpr_read(&b.reader, "(== (%% x 8) 0)"));
  const char *text = "(%% x 4)";
  cr_assert_str_eq(sexpr_text(&unit, tvms_analyzer_simplify(
                                         b.analyzer, sexpr_read(&b.reader, text))),
                   "0");
  tvms_analyzer_leave(b.analyzer, mark);
  tvms_analyzer_free(b.analyzer);
  tvms_unit_fini(&unit);
}
