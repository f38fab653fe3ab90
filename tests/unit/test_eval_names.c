// What names are bound to: scopes, macros, and the arguments of calls.
#include "eval_suite.h"
#include "parser/eval/call.h"
#include "parser/eval/closure.h"
#include "parser/eval/expr.h"

#include <string.h>

EVAL_SUITE;

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
