// Scopes of variables and buffers in functions of TIR.
#include "expression_suite.h"
#include "ir/fold.h"
#include "structinfo/well_formed_tir.h"
#include "support/diag_ids.h"

EXPRESSION_SUITE(well_formed_tir, TVMS_DIALECT_22);

static tvms_node *evaluate(const char *text) {
  return tvms_evaluate_new(&unit, read(text), TVMS_NO_SPAN);
}

static tvms_node *loop(const char *var, tvms_node *body) {
  tvms_for *made = tvms_node_make(&unit, FOR, TVMS_NO_SPAN);
  made->min = read("0");
  made->extent = read("16");
  made->var = sexpr_var(&reader, var);
  made->body = body;
  return &made->head;
}

static tvms_node *bind(const char *var, const char *value) {
  tvms_bind *made = tvms_node_make(&unit, BIND, TVMS_NO_SPAN);
  made->var = sexpr_var(&reader, var);
  made->value = read(value);
  return &made->head;
}

static tvms_node *seq(tvms_node *a, tvms_node *b) {
  tvms_node *stmts[] = {a, b};
  return tvms_seq_new(&unit, stmts, 2, TVMS_NO_SPAN);
}

static tvms_node *block(const char *axis, const char *value, tvms_node *body) {
  tvms_iter_var *iter = tvms_node_make(&unit, ITER_VAR, TVMS_NO_SPAN);
  iter->var = sexpr_var(&reader, axis);
  iter->dom = tvms_range_new(&unit, read("0"), read("16"), TVMS_NO_SPAN);
  tvms_node *axes[] = {&iter->head}, *values[] = {read(value)};
  tvms_block *made = tvms_node_make(&unit, BLOCK, TVMS_NO_SPAN);
  made->iter_vars = tvms_list_copy(&unit, axes, 1);
  made->body = body;
  tvms_block_realize *realize = tvms_node_make(&unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(&unit, values, 1);
  realize->predicate = read("true");
  realize->block = &made->head;
  return &realize->head;
}

static bool check(tvms_node *body, bool s_tir) {
  tvms_prim_func *func = tvms_node_make(&unit, PRIM_FUNC, TVMS_NO_SPAN);
  tvms_node *params[] = {sexpr_var(&reader, "n")};
  func->params = tvms_list_copy(&unit, params, 1);
  func->body = body;
  return tvms_well_formed_check_prim_func(&unit, &func->head, s_tir);
}

#define REPORTED(name) (context.diags.last->id == TVMS_D_##name)

Test(well_formed_tir, variables_in_scope_are_fine) {
  cr_assert(check(loop("i", evaluate("(+ i n)")), true));
  cr_assert(check(loop("i", block("vi", "i", evaluate("(+ vi n)"))), true));
  cr_assert(check(seq(bind("t", "(* n 2)"), evaluate("t")), true));
}

Test(well_formed_tir, undefined_and_ended) {
  cr_assert_not(check(evaluate("(+ q q)"), true));
  cr_assert_eq(context.diags.errors, 1, "one report per variable");
  cr_assert(REPORTED(undefined_in_tir));
  cr_assert_not(check(seq(loop("i", evaluate("i")), evaluate("i")), true));
  cr_assert(REPORTED(undefined_in_tir));
  cr_assert_not_null(context.diags.last->notes);
}

Test(well_formed_tir, all_findings_in_one_run) {
  cr_assert_not(check(seq(evaluate("p"), evaluate("(+ q p)")), true));
  cr_assert_eq(context.diags.errors, 2);
}

Test(well_formed_tir, one_definition_each) {
  cr_assert_not(check(seq(loop("i", evaluate("i")), loop("i", evaluate("i"))), true));
  cr_assert(REPORTED(defined_twice));
}

Test(well_formed_tir, blocks_see_loops_through_axes) {
  cr_assert_not(check(loop("i", block("vi", "i", evaluate("(+ vi i)"))), true));
  cr_assert(REPORTED(loop_var_in_block));
  tvms_node *inner = loop("k", evaluate("(+ vi k)"));
  cr_assert(check(loop("i", block("vi", "i", inner)), true), "loops inside are free");
}

Test(well_formed_tir, tile_programs_have_no_blocks) {
  unit.dialect = TVMS_DIALECT_26;
  cr_assert_not(check(loop("i", block("vi", "i", evaluate("vi"))), false));
  cr_assert(REPORTED(block_without_s_tir));
  cr_assert(check(evaluate("q"), false), "their variables are not checked");
}

Test(well_formed_tir, buffers_are_declared) {
  unit.dialect = TVMS_DIALECT_26;
  tvms_buffer *buffer = tvms_node_make(&unit, BUFFER, TVMS_NO_SPAN);
  buffer->element = TVMS_DTYPE(FLOAT, 32);
  buffer->data = tvms_pointer_var_new(&unit, 0, buffer->element, 0, TVMS_NO_SPAN);
  tvms_node *shape[] = {read("16")}, *index[] = {read("0")};
  buffer->shape = tvms_list_copy(&unit, shape, 1);
  tvms_node *load =
      tvms_buffer_load_new(&unit, &buffer->head, index, 1, NULL, TVMS_NO_SPAN);
  tvms_node *use = tvms_evaluate_new(&unit, load, TVMS_NO_SPAN);
  cr_assert_not(check(use, true));
  cr_assert(REPORTED(undeclared_buffer));
  tvms_alloc_buffer *alloc = tvms_node_make(&unit, ALLOC_BUFFER, TVMS_NO_SPAN);
  alloc->buffer = &buffer->head;
  cr_assert(check(seq(&alloc->head, use), true));
}

static tvms_node *scope_id(const char *name, const char *extent) {
  tvms_scope_id *made = tvms_node_make(&unit, SCOPE_ID, TVMS_NO_SPAN);
  made->scope = tvms_symbol_intern(&context, name, strlen(name));
  tvms_node *extents[] = {read(extent)};
  made->extents = tvms_list_copy(&unit, extents, 1);
  return &made->head;
}

static bool check_ids(const char *warps, const char *threads) {
  tvms_attr_stmt *entry = tvms_node_make(&unit, ATTR_STMT, TVMS_NO_SPAN);
  entry->node = read("0");
  entry->key = tvms_bytes_copy(&unit, "tirx.device_entry", 17);
  entry->value = read("true");
  tvms_node *ids = seq(scope_id("warp_id", warps), scope_id("thread_id", threads));
  return check(seq(&entry->head, ids), false);
}

Test(well_formed_tir, scope_ids_are_one_hierarchy) {
  unit.dialect = TVMS_DIALECT_26;
  cr_assert(check_ids("4", "128"));
  cr_assert_not(check_ids("3", "100"), "100 threads are not 3 warps of equal size");
  cr_assert(REPORTED(scope_ids));
  cr_assert_not(check_ids("4", "72"), "72 is not a multiple of 32");
}
