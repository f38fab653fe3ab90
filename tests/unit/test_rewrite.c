// The frame of rewriting: what the head of ir/rewrite.h promises, one promise per test.
#include "ir/build.h"
#include "ir/rewrite.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <string.h>

static tvms_context context;
static tvms_unit unit;

static void open_unit(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_unit_init(&unit, &context, TVMS_DIALECT_27);
}
static void close_unit(void) {
  tvms_unit_fini(&unit);
  tvms_context_fini(&context);
}

TestSuite(rewrite, .init = open_unit, .fini = close_unit);

static const tvms_dtype i32 = {TVMS_INT, 32, 1};

static tvms_sym name(const char *text) {
  return tvms_symbol_intern(&context, text, strlen(text));
}
static tvms_node *number(int64_t value) {
  return tvms_int_imm_new(&unit, i32, value, TVMS_NO_SPAN);
}
static tvms_node *variable(const char *text) {
  return tvms_var_new(&unit, name(text), i32, TVMS_NO_SPAN);
}
static tvms_node *sum(tvms_node *a, tvms_node *b) {
  return tvms_binary_new(&unit, TVMS_NODE_ADD, a, b, TVMS_NO_SPAN);
}
static tvms_node *evaluate(tvms_node *value) {
  return tvms_evaluate_new(&unit, value, TVMS_NO_SPAN);
}
static tvms_node *seq(tvms_node *a, tvms_node *b) {
  tvms_node *both[] = {a, b};
  return tvms_seq_new(&unit, both, 2, TVMS_NO_SPAN);
}
static tvms_node *loop(tvms_node *var, tvms_node *extent, tvms_node *body) {
  tvms_for *made = tvms_node_make(&unit, FOR, TVMS_NO_SPAN);
  made->var = var;
  made->min = number(0);
  made->extent = extent;
  made->body = body;
  return &made->head;
}
static tvms_node *buffer(tvms_node *size) {
  tvms_buffer *made = tvms_node_make(&unit, BUFFER, TVMS_NO_SPAN);
  made->name = name("A");
  made->element = i32;
  made->data = tvms_pointer_var_new(&unit, made->name, i32, 0, TVMS_NO_SPAN);
  made->shape = tvms_list_copy(&unit, &size, 1);
  made->elem_offset = number(0);
  return &made->head;
}
static tvms_node *load(tvms_node *from, tvms_node *index) {
  return tvms_buffer_load_new(&unit, from, &index, 1, NULL, TVMS_NO_SPAN);
}

static tvms_rewriter r;

static void begin(void *self) {
  tvms_rewriter_init(&r, &unit, self);
}
static tvms_node *end(tvms_node *node) {
  tvms_node *result = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return result;
}

// ---- Hooks ----

static tvms_node *fold_zero(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  const tvms_binary *op = tvms_as_binary(node);
  return tvms_node_is_int(op->b, 0) ? op->a : node;
}

Test(rewrite, what_no_hook_changes_stays_the_same_pointer) {
  tvms_node *x = variable("x");
  tvms_node *node = loop(variable("i"), x, evaluate(sum(x, number(1))));
  begin(NULL);
  r.leave[TVMS_NODE_ADD] = fold_zero;
  cr_assert_eq(end(node), node);
}

Test(rewrite, what_is_above_a_change_is_copied_and_nothing_else) {
  tvms_node *x = variable("x"), *kept = evaluate(sum(x, number(1)));
  tvms_node *node = seq(kept, evaluate(sum(x, number(0))));
  begin(NULL);
  r.leave[TVMS_NODE_ADD] = fold_zero;
  const tvms_seq *made = tvms_as_seq(end(node));
  cr_assert_neq(&made->head, node);
  cr_assert_eq(made->stmts.items[0], kept);
  cr_assert_eq(tvms_as_evaluate(made->stmts.items[1])->value, x);
  cr_assert_eq(tvms_as_seq(node)->stmts.items[0], kept);
}

static tvms_node *remember_old(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_node **seen = rewriter->self;
  if (tvms_as_add(node)->b->kind == TVMS_NODE_VAR) *seen = rewriter->old;
  return node;
}

Test(rewrite, a_leave_hook_sees_the_node_as_it_was) {
  tvms_node *x = variable("x"), *y = variable("y");
  tvms_node *node = sum(sum(y, number(1)), x);
  const tvms_node *seen = NULL;
  begin(&seen);
  tvms_node_map_put(&r.known, y, x);
  r.leave[TVMS_NODE_ADD] = remember_old;
  cr_assert_neq(end(node), node);
  cr_assert_eq(seen, node);
}

static tvms_node *stop_here(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return node;
}

Test(rewrite, what_an_enter_hook_returns_is_not_gone_into) {
  tvms_node *node =
      loop(variable("i"), number(4), evaluate(sum(variable("x"), number(0))));
  begin(NULL);
  r.enter[TVMS_NODE_FOR] = stop_here;
  r.leave[TVMS_NODE_ADD] = fold_zero;
  cr_assert_eq(end(node), node);
}

// ---- Roles ----

typedef struct {
  const tvms_node *node;
  tvms_field_role role;
} sighting;

static struct {
  sighting items[32];
  uint32_t len;
} seen;

static tvms_node *sight(tvms_rewriter *rewriter, tvms_node *node) {
  seen.items[seen.len++] = (sighting){node, rewriter->role};
  return TVMS_REWRITE_BELOW;
}

static tvms_field_role role_of(const tvms_node *node) {
  for (uint32_t i = 0; i < seen.len; i++) {
    if (seen.items[i].node == node) return seen.items[i].role;
  }
  return TVMS_ROLE_NAME;
}

Test(rewrite, hooks_are_told_what_a_node_is_there_for) {
  tvms_node *i = variable("i"), *n = variable("n"), *m = variable("m"),
            *k = variable("k");
  tvms_node *from = buffer(n);
  tvms_node *body = evaluate(load(from, k));
  tvms_for *node = tvms_as_for(loop(i, m, body));
  seen.len = 0;
  begin(NULL);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, sight);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_STMT, sight);
  cr_assert_eq(end(&node->head), &node->head);
  cr_assert_eq(role_of(i), TVMS_ROLE_DEFINE);
  cr_assert_eq(role_of(m), TVMS_ROLE_USE);
  cr_assert_eq(role_of(k), TVMS_ROLE_USE);
  cr_assert_eq(role_of(body), TVMS_ROLE_BODY);
  cr_assert_eq(role_of(n), TVMS_ROLE_TYPE, "the buffer is defined elsewhere");
}

Test(rewrite, a_rewriter_stays_out_of_the_roles_that_it_is_not_asked_into) {
  tvms_node *n = variable("n"), *k = variable("k");
  tvms_node *node = evaluate(load(buffer(n), k));
  seen.len = 0;
  begin(NULL);
  r.roles = TVMS_IN(USE);
  r.enter[TVMS_NODE_VAR] = sight;
  end(node);
  cr_assert_eq(seen.len, 1);
  cr_assert_eq(role_of(k), TVMS_ROLE_USE);
}

// ---- Identity ----

Test(rewrite, a_buffer_is_rewritten_once_and_the_same_everywhere) {
  tvms_node *n = variable("n"), *from = buffer(n);
  tvms_node *node =
      seq(evaluate(load(from, number(0))), evaluate(load(from, number(1))));
  const tvms_seq *made = tvms_as_seq(tvms_substitute_one(&unit, node, n, number(8)));
  const tvms_node *a = tvms_as_evaluate(made->stmts.items[0])->value,
                  *b = tvms_as_evaluate(made->stmts.items[1])->value;
  cr_assert_neq(tvms_as_buffer_load(a)->buffer, from);
  cr_assert_eq(tvms_as_buffer_load(a)->buffer, tvms_as_buffer_load(b)->buffer);
}

Test(rewrite, a_variable_is_replaced_in_types_too) {
  tvms_node *n = variable("n"), *m = variable("m");
  tvms_node *x = tvms_var_new(&unit, name("x"), (tvms_dtype){0}, TVMS_NO_SPAN);
  tvms_shape_expr *shape = tvms_node_make(&unit, SHAPE_EXPR, TVMS_NO_SPAN);
  shape->values = tvms_list_copy(&unit, &n, 1);
  tvms_sinfo_tensor *type = tvms_node_make(&unit, SINFO_TENSOR, TVMS_NO_SPAN);
  type->shape = &shape->head;
  type->ndim = 1;
  x->sinfo = &type->head;
  tvms_node *two[] = {x, x};
  tvms_tuple *tuple = tvms_node_make(&unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(&unit, two, 2);
  const tvms_tuple *made =
      tvms_as_tuple(tvms_substitute_one(&unit, &tuple->head, n, m));
  const tvms_node *y = made->fields.items[0];
  cr_assert_neq(y, x);
  cr_assert_eq(made->fields.items[1], y);
  const tvms_node *dims = tvms_as_sinfo_tensor(y->sinfo)->shape;
  cr_assert_eq(tvms_as_shape_expr(dims)->values.items[0], m);
}

Test(rewrite, a_variable_whose_type_mentions_it_ends_the_way_down) {
  tvms_node *n = variable("n");
  tvms_sinfo_prim *type = tvms_node_make(&unit, SINFO_PRIM, TVMS_NO_SPAN);
  type->value = n;
  n->sinfo = &type->head;
  begin(NULL);
  cr_assert_eq(end(n), n);
}

static tvms_node *count_up(tvms_rewriter *rewriter, tvms_node *node) {
  (void)node;
  int64_t *count = rewriter->self;
  return rewriter->role == TVMS_ROLE_USE ? number((*count)++) : TVMS_REWRITE_BELOW;
}

static tvms_node *rename_definition(tvms_rewriter *rewriter, tvms_node *node) {
  return rewriter->role == TVMS_ROLE_DEFINE ? variable("new") : node;
}

static tvms_node *count_type(tvms_rewriter *rewriter, tvms_node *node) {
  (void)node;
  ++*(int *)rewriter->self;
  return TVMS_REWRITE_BELOW;
}

Test(rewrite, a_type_that_stays_where_its_variable_is_defined_is_looked_at_once) {
  tvms_node *n = variable("n"), *x = variable("x"), *body = evaluate(x);
  tvms_sinfo_prim *type = tvms_node_make(&unit, SINFO_PRIM, TVMS_NO_SPAN);
  type->value = n;
  x->sinfo = &type->head;
  for (int i = 0; i < 8; i++)
    body = seq(evaluate(sum(x, number(i))), body);
  tvms_node *all = loop(x, number(4), body);
  int looks = 0;
  begin(&looks);
  r.enter[TVMS_NODE_SINFO_PRIM] = count_type;
  cr_assert_eq(end(all), all);
  cr_assert_eq(looks, 1);
}

Test(rewrite, what_a_hook_says_of_a_use_holds_there_and_of_a_definition_everywhere) {
  tvms_node *x = variable("x");
  int64_t count = 7;
  begin(&count);
  r.enter[TVMS_NODE_VAR] = count_up;
  const tvms_binary *made = tvms_as_binary(end(sum(x, x)));
  cr_assert(tvms_node_is_int(made->a, 7));
  cr_assert(tvms_node_is_int(made->b, 8));
  begin(NULL);
  r.enter[TVMS_NODE_VAR] = rename_definition;
  const tvms_for *renamed = tvms_as_for(end(loop(x, number(4), evaluate(x))));
  cr_assert_neq(renamed->var, x);
  cr_assert_eq(tvms_as_evaluate(renamed->body)->value, renamed->var);
}

// ---- Sequences ----

static tvms_node *drop_number(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return tvms_node_is_int_imm(tvms_as_evaluate(node)->value) ? NULL : node;
}

Test(rewrite, statements_that_a_hook_removes_go_and_one_alone_is_no_sequence) {
  tvms_node *kept = evaluate(variable("x"));
  begin(NULL);
  r.leave[TVMS_NODE_EVALUATE] = drop_number;
  cr_assert_eq(end(seq(evaluate(number(1)), kept)), kept);
}

Test(rewrite, a_body_that_goes_becomes_the_statement_that_does_nothing) {
  begin(NULL);
  r.leave[TVMS_NODE_EVALUATE] = drop_number;
  tvms_node *made = end(loop(variable("i"), number(4), evaluate(number(1))));
  cr_assert(tvms_stmt_is_none(tvms_as_for(made)->body));
}

static tvms_node *unroll(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  tvms_node *body = tvms_as_for(node)->body;
  return seq(body, evaluate(variable("again")));
}

Test(rewrite, a_sequence_in_the_place_of_a_statement_is_spliced_in) {
  tvms_node *node = seq(loop(variable("i"), number(2), evaluate(variable("x"))),
                        evaluate(variable("y")));
  begin(NULL);
  r.leave[TVMS_NODE_FOR] = unroll;
  cr_assert_eq(tvms_as_seq(end(node))->stmts.len, 3);
}

// x + 1 anywhere: its value is bound in front of the statement.
static tvms_node *bind_sum(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_bind *bind = tvms_node_make(&unit, BIND, TVMS_NO_SPAN);
  bind->value = node;
  bind->var = variable("t");
  tvms_rewrite_emit(rewriter, &bind->head);
  return bind->var;
}

Test(rewrite, what_is_emitted_stands_in_front_of_the_statement_at_hand) {
  tvms_node *x = variable("x"), *first = evaluate(x);
  tvms_node *inner = loop(variable("i"), number(4), evaluate(sum(x, number(1))));
  begin(NULL);
  r.leave[TVMS_NODE_ADD] = bind_sum;
  const tvms_seq *made = tvms_as_seq(end(seq(first, inner)));
  cr_assert_eq(made->stmts.len, 2);
  cr_assert_eq(made->stmts.items[0], first);
  const tvms_seq *body = tvms_as_seq(tvms_as_for(made->stmts.items[1])->body);
  const tvms_bind *bind = tvms_as_bind(body->stmts.items[0]);
  cr_assert_eq(tvms_as_evaluate(body->stmts.items[1])->value, bind->var);
  begin(NULL);
  r.leave[TVMS_NODE_ADD] = bind_sum;
  made = tvms_as_seq(end(seq(first, evaluate(sum(x, number(2))))));
  cr_assert_eq(made->stmts.len, 3);
  cr_assert_eq(made->stmts.items[1]->kind, TVMS_NODE_BIND);
}

static tvms_node *drop_binding(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  (void)node;
  return NULL;
}

Test(rewrite, a_block_of_bindings_that_is_empty_goes) {
  tvms_var_binding *binding = tvms_node_make(&unit, VAR_BINDING, TVMS_NO_SPAN);
  binding->value = binding->var = variable("x");
  tvms_binding_block *block = tvms_node_make(&unit, BINDING_BLOCK, TVMS_NO_SPAN);
  tvms_node *item = &binding->head, *only = &block->head;
  block->bindings = tvms_list_copy(&unit, &item, 1);
  tvms_seq_expr *body = tvms_node_make(&unit, SEQ_EXPR, TVMS_NO_SPAN);
  body->blocks = tvms_list_copy(&unit, &only, 1);
  body->body = variable("y");
  begin(NULL);
  r.leave[TVMS_NODE_VAR_BINDING] = drop_binding;
  cr_assert_eq(tvms_as_seq_expr(end(&body->head))->blocks.len, 0);
}

// ---- Watches ----

typedef struct {
  tvms_rewrite_watch watch;
  int depth, deepest, entered;
  const tvms_node *extent_at_body;
} watcher;

static void hear_enter(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part) {
  watcher *w = (watcher *)watch;
  w->entered++;
  if (++w->depth > w->deepest) w->deepest = w->depth;
  if (parent->kind == TVMS_NODE_FOR && strcmp(field->name, "body") == 0) {
    cr_assert_eq(part->kind, TVMS_NODE_EVALUATE);
    w->extent_at_body = tvms_as_for(parent)->extent;
  }
}

static void hear_leave(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part,
                       const tvms_node *made) {
  (void)parent;
  (void)field;
  (void)part;
  (void)made;
  ((watcher *)watch)->depth--;
}

Test(rewrite, a_watch_hears_of_every_part_with_the_earlier_ones_rewritten) {
  tvms_node *x = variable("x");
  watcher w = {.watch = {.enter = hear_enter, .leave = hear_leave}};
  begin(NULL);
  r.watch = &w.watch;
  r.leave[TVMS_NODE_ADD] = fold_zero;
  end(loop(variable("i"), sum(x, number(0)), evaluate(x)));
  cr_assert_eq(w.depth, 0);
  cr_assert_eq(w.deepest, 2);
  cr_assert_eq(w.entered, 7);
  cr_assert_eq(w.extent_at_body, x);
}
