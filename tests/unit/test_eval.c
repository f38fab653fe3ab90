// The evaluation alone: Python's own semantics, scopes, signatures, and whom it asks.
//
// It is linked without the other rooms of parser/, so the tables it works with are made
// here: Python's kinds have their operations, one kind has operations of this test, and
// nothing else has any. What expressions of Python are worth stands in eval_cases.txt, which
// tests/eval_cases.py checks against CPython.
#include "parser/eval/attribute.h"
#include "parser/eval/call.h"
#include "parser/eval/closure.h"
#include "parser/eval/comprehension.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/operator.h"
#include "parser/eval/ops.h"
#include "parser/eval/origin.h"
#include "parser/eval/python.h"
#include "parser/eval/reader.h"
#include "parser/eval/repr.h"
#include "parser/eval/scope.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tvms_context context;
static tvms_surface surface;
static tvms_reader reader;
static tvms_unit unit;
static bool is_open;

// ---- A room of this test's own ----------------------------------------------------------

enum {
  ROOM = 1,
  PROBE = TVMS_EVAL_KINDS_OF(ROOM),  // its operations note what they were asked
  MENTIONED,
};

static char asked[64];

static tvms_eval_value note(const char *what) {
  snprintf(asked, sizeof asked, "%s", what);
  return tvms_eval_value_text(asked, (uint32_t)strlen(asked));
}

static tvms_eval_value probe_attribute(tvms_reader *r, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref) {
  (void)ref;
  if (name == TVMS_SYM_index) return tvms_eval_bound_method(r, object, name);
  return note(tvms_symbol_text(r->context, name));
}

static tvms_eval_value probe_method(tvms_reader *r, tvms_eval_value receiver,
                                    tvms_sym name, tvms_ref call) {
  (void)r, (void)receiver, (void)call, (void)name;
  return note("method");
}

static tvms_eval_value probe_subscript_method(tvms_reader *r, tvms_eval_value method,
                                              tvms_eval_value index, tvms_ref ref) {
  (void)r, (void)index, (void)ref;
  bool own =
      method.kind == TVMS_EVAL_METHOD && method.as.method->receiver->kind == PROBE;
  return note(own ? "subscript of a method" : "something else");
}

static tvms_eval_value probe_call(tvms_reader *r, tvms_eval_value callee,
                                  tvms_ref call) {
  (void)r, (void)callee, (void)call;
  return note("call");
}

static tvms_eval_value probe_subscript(tvms_reader *r, tvms_eval_value object,
                                       tvms_eval_value index, tvms_ref ref) {
  (void)r, (void)object, (void)ref;
  if (index.kind != TVMS_EVAL_SLICE) return note("subscript");
  return note(index.as.items[2].kind == TVMS_EVAL_NONE ? "slice" : "slice with step");
}

static tvms_eval_value probe_binary(tvms_reader *r, tvms_surf_op op, tvms_eval_value a,
                                    tvms_eval_value b, tvms_ref ref) {
  (void)r, (void)b, (void)ref;
  char text[16];
  snprintf(text, sizeof text, "%s%s", a.kind == PROBE ? "" : "r",
           tvms_surface_operator_text(op));
  return note(text);
}

static tvms_eval_value probe_unary(tvms_reader *r, tvms_surf_op op, tvms_eval_value a,
                                   tvms_ref ref) {
  (void)r, (void)a, (void)ref;
  return note(tvms_surface_operator_text(op));
}

static tvms_eval_value probe_logical(tvms_reader *r, bool is_and, tvms_eval_value a,
                                     tvms_eval_value b, tvms_ref ref) {
  (void)r, (void)a, (void)b, (void)ref;
  return note(is_and ? "and" : "or");
}

static tvms_eval_value probe_choose(tvms_reader *r, tvms_eval_value test,
                                    tvms_eval_value yes, tvms_eval_value no,
                                    tvms_ref ref) {
  (void)r, (void)test, (void)yes, (void)no, (void)ref;
  return note("choose");
}

static bool probe_truth(tvms_eval_value value, bool *known) {
  (void)value;
  *known = false;
  return false;
}

static tvms_eval_value probe_constant(tvms_eval_value value) {
  (void)value;
  return tvms_eval_value_int(7);
}

static const char *probe_describe(tvms_reader *r, tvms_eval_value value) {
  (void)r, (void)value;
  return "a probe";
}

static const tvms_eval_value_ops probe = {
    .rank = ROOM,
    .describe = probe_describe,
    .attribute = probe_attribute,
    .method = probe_method,
    .call = probe_call,
    .subscript = probe_subscript,
    .binary = probe_binary,
    .subscript_method = probe_subscript_method,
    .unary = probe_unary,
    .logical = probe_logical,
    .choose = probe_choose,
    .truth = probe_truth,
    .constant = probe_constant,
};

// A MENTIONED stands for the place that mentions it.
static tvms_eval_value mention(tvms_reader *r, tvms_eval_value value, tvms_ref ref) {
  (void)value;
  return tvms_eval_value_int(tvms_reader_span_of(r, ref).begin);
}
static const tvms_eval_value_ops mentioned = {.mention = mention};

// ---- The tables -------------------------------------------------------------------------

static const tvms_row *no_row(tvms_namespace namespace_, tvms_sym name,
                              tvms_dialect dialect) {
  (void)namespace_, (void)name, (void)dialect;
  return NULL;
}

static const tvms_eval_value_ops *plain_node(const tvms_node *node) {
  (void)node;
  return &tvms_eval_plain_ops;
}

static const tvms_eval_kind_row own[TVMS_EVAL_KINDS] = {
#define VALUE(kind, member, text, ops) [TVMS_EVAL_##kind] = {&tvms_##ops##_ops, text},
#include "parser/eval/values.def"
    [PROBE] = {&probe, "a probe"},
    [MENTIONED] = {&mentioned, "a place"},
};
static tvms_eval_tables tables;

// ---- One text after the other -----------------------------------------------------------

static void open_context(void) {
  memcpy(tables.kinds, own, sizeof own);
  tables.find_row = no_row;
  tables.node_ops = plain_node;
  tvms_context_init(&context, &tvms_names);
}

static void close_reader(void) {
  if (!is_open) return;
  tvms_reader_fini(&reader);
  tvms_unit_fini(&unit);
  tvms_surface_fini(&surface);
  is_open = false;
}

static void close_context(void) {
  close_reader();
  tvms_context_fini(&context);
}

TestSuite(eval, .init = open_context, .fini = close_context);

// Begins to read `text`, of the current release.
static void begin(const char *text) {
  close_reader();
  tvms_context_fini(&context);
  tvms_context_init(&context, &tvms_names);
  tvms_source *source = tvms_source_create(&context.memory, "test", text, strlen(text));
  context.diags.source = source;
  tvms_surface_parse(&surface, &context, source);
  tvms_reader_init(&reader, &context, &surface, TVMS_DIALECT_CURRENT, &tables);
  tvms_unit_init(&unit, &context, TVMS_DIALECT_CURRENT);
  reader.unit = &unit;
  is_open = true;
}

static tvms_sym symbol(const char *name) {
  return tvms_symbol_intern(&context, name, strlen(name));
}

static void bind(const char *name, tvms_eval_value value) {
  tvms_scope_bind(&reader, symbol(name), value, (tvms_span){0, 0});
}

static void bind_probe(void) {
  bind("probe", (tvms_eval_value){.kind = PROBE, .as.sym = symbol("probe")});
}

// The expression that the first statement of the text is.
static tvms_ref expression(void) {
  return tvms_reader_at(&reader, surface.body)->a;
}

// What the findings so far are called: "E0219 E0301".
static const char *findings(void) {
  static char text[256];
  size_t len = 0;
  text[0] = '\0';
  for (const tvms_diag *diag = context.diags.first; diag; diag = diag->next) {
    len += (size_t)snprintf(text + len, sizeof text - len, "%sE%04u", len ? " " : "",
                            tvms_diag_row_of(diag->id)->code);
  }
  return text;
}

// repr(value), or the findings if it is unknown.
static const char *shown(tvms_eval_value value) {
  static char text[512];
  uint32_t len;
  if (!tvms_eval_value_is_known(value)) return findings();
  if (context.diags.first) return "a value, and findings";
  tvms_eval_value list = tvms_eval_value_items(TVMS_EVAL_LIST, &value, 1);
  const char *printed = tvms_eval_str(&reader, list, expression(), &len);
  if (!printed) return "a value without text";
  snprintf(text, sizeof text, "%.*s", (int)len - 2, printed + 1);
  return text;
}

// The value of `text` where Python evaluates it.
static const char *in_python(const char *text) {
  begin(text);
  tvms_scope_push_for(&reader, TVMS_EVALUATOR_PYTHON);
  const char *result = shown(tvms_eval(&reader, expression()));
  tvms_scope_pop(&reader);
  return result;
}

// The same with the name `probe` bound, by either evaluator.
static const char *with_probe(const char *text, tvms_evaluator evaluator) {
  begin(text);
  tvms_scope_push_for(&reader, evaluator);
  bind_probe();
  const char *result = shown(tvms_eval(&reader, expression()));
  tvms_scope_pop(&reader);
  return result;
}

#define expect_text(actual, expected)                                                  \
  do {                                                                                 \
    const char *gave = (actual);                                                       \
    cr_expect_str_eq(gave, expected, "%s gave %s, not %s", #actual, gave, expected);   \
  } while (0)

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

// ---- Scopes -----------------------------------------------------------------------------

static int64_t value_of(const char *name) {
  const tvms_binding *binding = tvms_scope_lookup(&reader, symbol(name));
  return binding ? binding->value.as.i : -1;
}

Test(eval, inner_scopes_hide_outer_bindings_until_they_end) {
  begin("0");
  bind("x", tvms_eval_value_int(1));
  tvms_scope_push(&reader);
  cr_assert_eq(value_of("x"), 1);
  cr_assert(!tvms_scope_binds_here(&reader, symbol("x")));
  bind("x", tvms_eval_value_int(2));
  bind("x", tvms_eval_value_int(3));
  bind("y", tvms_eval_value_int(4));
  cr_assert(tvms_scope_binds_here(&reader, symbol("x")));
  cr_assert_eq(value_of("x"), 3);
  tvms_scope_pop(&reader);
  cr_assert_eq(value_of("x"), 1);
  cr_assert_eq(value_of("y"), -1);
}

Test(eval, names_of_a_comprehension_end_with_it) {
  begin("[x for x in [5]][0] + x");
  tvms_scope_push_for(&reader, TVMS_EVALUATOR_PYTHON);
  bind("x", tvms_eval_value_int(100));
  expect_text(shown(tvms_eval(&reader, expression())), "105");
  tvms_scope_pop(&reader);
}

Test(eval, a_lambda_sees_the_scopes_of_its_definition) {
  begin("lambda: x");
  tvms_scope_push(&reader);
  bind("x", tvms_eval_value_int(1));
  tvms_eval_value lambda = tvms_eval(&reader, expression());
  tvms_scope_push(&reader);
  bind("x", tvms_eval_value_int(2));
  tvms_eval_value result = tvms_closure_call_lambda(
      &reader, lambda, TVMS_EVALUATOR_PYTHON, NULL, 0, expression());
  tvms_scope_pop(&reader);
  cr_assert_eq(result.kind, TVMS_EVAL_INT);
  cr_assert_eq(result.as.i, 1);
  tvms_scope_pop(&reader);
}

Test(eval, who_evaluates_is_a_property_of_the_scope) {
  begin("0");
  cr_assert_eq(tvms_scope_evaluator(&reader), TVMS_EVALUATOR_TVM);
  tvms_scope_push_for(&reader, TVMS_EVALUATOR_PYTHON);
  tvms_scope_push(&reader);
  cr_assert(tvms_scope_is_python(&reader));
  tvms_scope_push_for(&reader, TVMS_EVALUATOR_TVM);
  cr_assert(!tvms_scope_is_python(&reader));
  tvms_scope_pop(&reader);
  tvms_scope_pop(&reader);
  cr_assert(tvms_scope_is_python(&reader));
  tvms_scope_pop(&reader);
  cr_assert(!tvms_scope_is_python(&reader));
}

Test(eval, a_near_name_is_suggested_for_one_that_nothing_binds) {
  begin("lenght");
  bind("length", tvms_eval_value_int(1));
  tvms_eval_value value = tvms_eval(&reader, expression());
  cr_assert(!tvms_eval_value_is_known(value));
  cr_assert(reader.failed);
  expect_text(findings(), "E0201");
  const tvms_note *note_of = context.diags.first->notes;
  cr_assert(note_of && strstr(note_of->text, "'length'"));
}

Test(eval, a_lenient_reader_knows_that_names_may_be_those_of_Python) {
  begin("divmod(1, 2)");
  reader.lenient = true;
  tvms_eval(&reader, expression());
  expect_text(findings(), "");
}

Test(eval, a_lenient_reader_reports_names_that_nothing_binds) {
  begin("anything.at(all)");
  reader.lenient = true;
  tvms_eval(&reader, expression());
  expect_text(findings(), "E0201");
}

Test(eval, where_anything_may_be_bound_no_name_is_a_mistake) {
  begin("anything.at(all)");
  reader.open = true;
  tvms_eval(&reader, expression());
  expect_text(findings(), "");
}

// ---- Macros -----------------------------------------------------------------------------

static tvms_eval_value expand(tvms_reader *r, tvms_ref body, uint32_t calls,
                              tvms_ref call) {
  (void)body, (void)call;
  const tvms_binding *x = tvms_scope_lookup(r, tvms_symbol_intern(r->context, "x", 1));
  return tvms_eval_value_int(x->value.as.i * 10 + calls);
}

// Calls `m(7)` twice where the macro is `def m(x)`; `y` is bound around the calls.
static int64_t expanded_twice(const tvms_language *language) {
  begin("def m(x):\n  pass\nm(7)\n");
  reader.language = language;
  tvms_decoration macro = {.kind = TVMS_DECORATED_MACRO};
  bind("m", tvms_closure_make_macro(&reader, surface.body, &macro));
  tvms_ref call =
      tvms_reader_at(&reader, tvms_reader_at(&reader, surface.body)->next)->a;
  tvms_eval(&reader, call);
  return tvms_eval(&reader, call).as.i;
}

Test(eval, the_language_of_the_definition_expands_macros) {
  static const tvms_language language = {.expand = expand};
  cr_assert_eq(expanded_twice(&language), 71);
  expect_text(findings(), "");
}

Test(eval, outside_of_a_definition_nothing_can_be_expanded) {
  expanded_twice(NULL);
  cr_assert_neq(context.diags.errors, 0);
}

// ---- Signatures -------------------------------------------------------------------------

// The arguments of the call `text` bound to `signature`, as repr of a tuple.
static const char *bound(const char *text, const char *signature, unsigned traits) {
  begin(text);
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  const tvms_signature *parsed = tvms_signature_parse(&reader, signature);
  bool known = tvms_signature_bind(&reader, parsed, "f", traits, expression(), args,
                                   refs, &given);
  return known ? shown(tvms_eval_value_items(TVMS_EVAL_TUPLE, args, parsed->count))
               : findings();
}

Test(eval, arguments_are_bound_as_python_binds_them) {
  expect_text(bound("f(1, 2)", "a, b", 0), "(1, 2)");
  expect_text(bound("f(1, b=2)", "a, b", 0), "(1, 2)");
  expect_text(bound("f(b=2, a=1)", "a, b", 0), "(1, 2)");
  expect_text(bound("f(1)", "a, b=None", 0), "(1, None)");
  expect_text(bound("f()", "a=-1, b='x', c=2.5, d=True", 0), "(-1, 'x', 2.5, True)");
  expect_text(bound("f(1, 2, 3)", "a, *rest", 0), "(1, (2, 3))");
  expect_text(bound("f(1, c=3)", "a, *, c", 0), "(1, 3)");
  expect_text(bound("f(1, k=2)", "a, **kwargs", 0), "(1, {'k': 2})");
  expect_text(bound("f(*[1, 2])", "a, b", 0), "(1, 2)");
  expect_text(bound("f(**{'b': 2, 'a': 1})", "a, b", 0), "(1, 2)");
}

Test(eval, arguments_that_do_not_fit_are_reported) {
  expect_text(bound("f()", "a", 0), "E0205");
  expect_text(bound("f(1, 2)", "a", 0), "E0207");
  expect_text(bound("f(1, a=1)", "a", 0), "E0208");
  expect_text(bound("f(1, zz=1)", "a", 0), "E0206");
  expect_text(bound("f(1, 2)", "a, *, c=0", 0), "E0207");
}

Test(eval, a_type_may_be_named_for_nothing_where_the_traits_say_so) {
  expect_text(bound("f(1, dtype='int8')", "a", 0), "E0206");
  expect_text(bound("f(1, dtype='int8')", "a", TVMS_TRAIT_DROPS_DTYPE), "(1,)");
}

Test(eval, slices_among_operands_have_a_step_up_to_024_unless_they_are_regions) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  for (int regions = 0; regions < 2; regions++) {
    begin("m.f(probe[1:2])");
    reader.dialect = TVMS_DIALECT_24;
    bind_probe();
    const tvms_signature *parsed = tvms_signature_parse(&reader, "a");
    asked[0] = '\0';
    cr_assert(tvms_signature_bind(&reader, parsed, "f",
                                  regions ? TVMS_TRAIT_REGIONS : 0, expression(), args,
                                  refs, &given));
    expect_text(asked, regions ? "slice" : "slice with step");
  }
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
