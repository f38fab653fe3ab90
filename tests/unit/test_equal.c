// Walk, rewrite, clone, equality and hash over the schema.
#include "expression_suite.h"
#include "ir/clone.h"
#include "ir/equal.h"
#include "ir/rewrite.h"
#include "ir/verify.h"
#include "ir/walk.h"

EXPRESSION_SUITE(equal, TVMS_DIALECT_CURRENT);

// for NAME in range(EXTENT): evaluate(NAME + other), with a fresh loop variable
static tvms_node *loop(const char *name, tvms_node *extent, tvms_node *other) {
  tvms_sym sym = tvms_symbol_intern(&context, name, strlen(name));
  tvms_node *var = tvms_var_new(&unit, sym, TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  tvms_for *node = tvms_node_make(&unit, FOR, TVMS_NO_SPAN);
  node->min = read("0");
  node->extent = extent;
  node->var = var;
  tvms_node *sum = tvms_binary_new(&unit, TVMS_NODE_ADD, var, other, TVMS_NO_SPAN);
  node->body = tvms_evaluate_new(&unit, sum, TVMS_NO_SPAN);
  return &node->head;
}

Test(equal, names_of_definitions_do_not_count) {
  tvms_node *a = loop("i", read("8"), read("x")), *b = loop("j", read("8"), read("x"));
  cr_assert(tvms_node_equal(&context, a, b));
  cr_assert_eq(tvms_node_hash(&context, a), tvms_node_hash(&context, b));
  cr_assert_not(tvms_node_equal(&context, a, loop("i", read("9"), read("x"))));
  cr_assert_not(tvms_node_equal(&context, a, loop("i", read("8"), read("y"))));
  tvms_equal_options free_vars = {.map_free = true};
  tvms_node *c = loop("i", read("8"), read("y"));
  cr_assert(tvms_node_equal_with(&context, a, c, &free_vars));
}

Test(equal, mapping_is_one_to_one) {
  tvms_equal_options free_vars = {.map_free = true};
  cr_assert(
      tvms_node_equal_with(&context, read("(+ x y)"), read("(+ y x)"), &free_vars));
  cr_assert_not(
      tvms_node_equal_with(&context, read("(+ x y)"), read("(+ x x)"), &free_vars));
}

typedef struct {
  int count;
  const char *last;
} differences;

static void note(void *self, const tvms_node *a, const tvms_node *b, const char *what) {
  (void)a;
  (void)b;
  differences *found = self;
  found->count++;
  found->last = tvms_arena_text(&unit.arena, what, strlen(what));
}

Test(equal, all_differences_are_reported) {
  differences found = {0};
  tvms_equal_options options = {.report = note, .self = &found};
  tvms_node *a = read("(+ (* x 2) (min y 3))"), *b = read("(+ (* x 4) (max y 3))");
  cr_assert_not(tvms_node_equal_with(&context, a, b, &options));
  cr_assert_eq(found.count, 2);
  cr_assert_str_eq(found.last, "kind");
}

static tvms_node *halve(tvms_rewriter *r, tvms_node *node) {
  int64_t value = tvms_as_int_imm(node)->value;
  return tvms_int_imm_new(r->unit, node->dtype, value / 2, node->span);
}

Test(equal, rewriting_copies_only_what_changes) {
  tvms_node *node = read("(+ (* x y) (min z 8))");
  tvms_rewriter r;
  tvms_rewriter_init(&r, &unit, NULL);
  cr_assert_eq(tvms_rewrite(&r, node), node);
  r.leave[TVMS_NODE_INT_IMM] = halve;
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  cr_assert_str_eq(sexpr_text(&unit, made), "(+ (* x y) (min z 4))");
  cr_assert_str_eq(sexpr_text(&unit, node), "(+ (* x y) (min z 8))");
  cr_assert_eq(tvms_as_binary(made)->a, tvms_as_binary(node)->a);
}

Test(equal, substitution) {
  tvms_node *node = read("(+ (* x y) x)"), *x = sexpr_var(&reader, "x");
  tvms_node *made = tvms_substitute_one(&unit, node, x, read("(- y 1)"));
  cr_assert_str_eq(sexpr_text(&unit, made), "(+ (* (- y 1) y) (- y 1))");
  cr_assert_not(tvms_walk_contains(&context.memory, made, x));
}

Test(equal, clones_keep_sharing_and_leave_their_unit) {
  tvms_node *node = loop("i", read("8"), read("5"));
  tvms_unit other;
  tvms_unit_init(&other, &context, TVMS_DIALECT_CURRENT);
  tvms_node *copy = tvms_clone_fresh(&other, node);
  cr_assert(tvms_node_equal(&context, node, copy));
  tvms_for *made = tvms_as_for(copy);
  cr_assert_neq(made->var, tvms_as_for(node)->var);
  cr_assert_eq(tvms_as_binary(tvms_as_evaluate(made->body)->value)->a, made->var);
  tvms_unit_fini(&other);
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  ++*(int *)self;
  return node->kind == TVMS_NODE_MUL ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

Test(equal, walk_visits_in_order_and_skips) {
  int count = 0;
  tvms_visitor visitor = {.self = &count, .enter = count_node};
  cr_assert(tvms_walk(&context.memory, read("(+ (* x y) (min z 8))"), &visitor));
  cr_assert_eq(count, 5);
}

Test(equal, invariants_are_verified) {
  tvms_node *node = loop("i", read("8"), read("x"));
  cr_assert_null(tvms_verify(&unit, node));
  tvms_node *sum = read("(+ x 1)");
  tvms_as_binary(sum)->b = read("1L");
  cr_assert_not_null(
      strstr(tvms_verify(&unit, loop("i", read("8"), read("2L"))), "add"));
  cr_assert_not_null(tvms_verify(&unit, sum));
}

enum { LONG = 100 * 1000 };

static tvms_node *chain(void) {
  tvms_node *node = read("x"), *one = read("1");
  for (int i = 0; i < LONG; i++) {
    node = tvms_binary_new(&unit, TVMS_NODE_ADD, node, one, TVMS_NO_SPAN);
  }
  return node;
}

static void work_on_long_chains(void *unused) {
  (void)unused;
  tvms_node *a = chain(), *b = chain();
  cr_assert(tvms_node_equal(&context, a, b));
  cr_assert_eq(tvms_node_hash(&context, a), tvms_node_hash(&context, b));
  tvms_node *x = sexpr_var(&reader, "x"), *y = sexpr_var(&reader, "y");
  tvms_node *made = tvms_substitute_one(&unit, a, x, y);
  cr_assert(tvms_walk_contains(&context.memory, made, y));
  cr_assert_not(tvms_walk_contains(&context.memory, made, x));
  cr_assert_not_null(tvms_clone_fresh(&unit, a));
}

Test(equal, long_chains_work) {
  cr_assert_eq(tvms_memory_protect_deep(&context.memory, work_on_long_chains, NULL),
               TVMS_OK);
}
