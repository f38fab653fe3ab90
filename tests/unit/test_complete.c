// Root block and detected regions. Expectations are what stock TVM prints for the same
// programs; corpus/ has them as text.
#include "expression_suite.h"
#include "ir/fold.h"
#include "structinfo/complete.h"
#include "support/diag_ids.h"

#include <stdio.h>

EXPRESSION_SUITE(complete, TVMS_DIALECT_22);

static tvms_node *buffer(const char *name, int rows, int columns) {
  tvms_sym sym = tvms_symbol_intern(&context, name, strlen(name));
  tvms_buffer *made = tvms_node_make(&unit, BUFFER, TVMS_NO_SPAN);
  made->name = sym;
  made->element = TVMS_DTYPE(FLOAT, 32);
  made->data = tvms_pointer_var_new(&unit, sym, made->element, 0, TVMS_NO_SPAN);
  tvms_dtype int32 = TVMS_DTYPE(INT, 32);
  tvms_node *shape[] = {tvms_int_imm_new(&unit, int32, rows, TVMS_NO_SPAN),
                        tvms_int_imm_new(&unit, int32, columns, TVMS_NO_SPAN)};
  made->shape = tvms_list_copy(&unit, shape, 2);
  return &made->head;
}

static tvms_node *load(tvms_node *from, const char *row, const char *column) {
  tvms_node *indices[] = {read(row), read(column)};
  return tvms_buffer_load_new(&unit, from, indices, 2, NULL, TVMS_NO_SPAN);
}

static tvms_node *store(tvms_node *to, const char *row, const char *column,
                        tvms_node *value) {
  tvms_node *indices[] = {read(row), read(column)};
  tvms_store *made = tvms_node_make(&unit, STORE, TVMS_NO_SPAN);
  made->buffer = to;
  made->value = value;
  made->indices = tvms_list_copy(&unit, indices, 2);
  return &made->head;
}

static tvms_node *loop(const char *var, const char *extent, tvms_node *body) {
  tvms_for *made = tvms_node_make(&unit, FOR, TVMS_NO_SPAN);
  made->min = read("0");
  made->extent = read(extent);
  made->var = sexpr_var(&reader, var);
  made->body = body;
  return &made->head;
}

// A block with one axis vi bound to i, which does not say what it reads and writes.
static tvms_node *realize(tvms_node *body, tvms_node *init, tvms_block **block) {
  tvms_iter_var *axis = tvms_node_make(&unit, ITER_VAR, TVMS_NO_SPAN);
  axis->var = sexpr_var(&reader, "vi");
  axis->dom = tvms_range_new(&unit, read("0"), read("16"), TVMS_NO_SPAN);
  tvms_node *axes[] = {&axis->head};
  *block = tvms_node_make(&unit, BLOCK, TVMS_NO_SPAN);
  (*block)->iter_vars = tvms_list_copy(&unit, axes, 1);
  (*block)->body = body;
  (*block)->init = init;
  (*block)->head.flags = TVMS_FLAG_READS_MISSING | TVMS_FLAG_WRITES_MISSING;
  tvms_block_realize *made = tvms_node_make(&unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  tvms_node *values[] = {sexpr_var(&reader, "i")};
  made->iter_values = tvms_list_copy(&unit, values, 1);
  made->predicate = tvms_bool_imm_new(&unit, true, TVMS_NO_SPAN);
  made->block = &(*block)->head;
  return &made->head;
}

// Completes `loop i: realize` with the buffers as parameters.
static bool complete(tvms_node *stmt, tvms_node *a, tvms_node *b) {
  tvms_prim_func *func = tvms_node_make(&unit, PRIM_FUNC, TVMS_NO_SPAN);
  tvms_node *buffers[] = {a, b};
  func->buffers = tvms_list_copy(&unit, buffers, 2);
  func->body = loop("i", "16", stmt);
  bool fine = tvms_complete_prim_func(&unit, &func->head, NULL, 0);
  if (fine) {
    tvms_node *root = tvms_as_block_realize(func->body)->block;
    cr_assert(tvms_bytes_is(tvms_as_block(root)->name, "root"));
    cr_assert_eq(tvms_as_block(root)->reads.len, 0);
  }
  return fine;
}

// "A[min extent, min extent] …" of a list of regions.
static const char *regions(tvms_list list) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context.memory);
  for (uint32_t i = 0; i < list.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(list.items[i]);
    if (i) tvms_strbuf_putc(&out, ' ');
    tvms_strbuf_puts(&out,
                     tvms_symbol_text(&context, tvms_as_buffer(region->buffer)->name));
    for (uint32_t j = 0; j < region->region.len; j++) {
      const tvms_range *range = tvms_as_range(region->region.items[j]);
      tvms_strbuf_printf(&out, "%s%s %s", j ? ", " : "[", sexpr_text(&unit, range->min),
                         sexpr_text(&unit, range->extent));
    }
    tvms_strbuf_putc(&out, ']');
  }
  return tvms_arena_text(&unit.arena, out.text, out.len);
}

Test(complete, loops_inside_the_block_are_relaxed) {
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_block *block;
  tvms_node *body = store(b, "vi", "(+ (* k 4) 1)", load(a, "vi", "k"));
  cr_assert(complete(realize(loop("k", "8", body), NULL, &block), a, b));
  cr_assert_str_eq(regions(block->reads), "A[vi 1, 0 8]");
  cr_assert_str_eq(regions(block->writes), "B[vi 1, 1 29]");
  cr_assert_eq(block->head.flags, 0);
}

Test(complete, several_accesses_give_their_hull) {
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_block *block;
  tvms_node *both = tvms_build_binary(&unit, TVMS_NODE_ADD, load(a, "vi", "3"),
                                      load(a, "(+ vi 2)", "7"), TVMS_NO_SPAN);
  cr_assert(complete(realize(store(b, "vi", "0", both), NULL, &block), a, b));
  cr_assert_str_eq(regions(block->reads), "A[vi 3, 3 5]");
  cr_assert_str_eq(regions(block->writes), "B[vi 1, 0 1]");
}

Test(complete, a_reduction_does_not_read_what_it_writes) {
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_block *block;
  tvms_node *sum = tvms_build_binary(&unit, TVMS_NODE_ADD, load(b, "vi", "0"),
                                     load(a, "vi", "vi"), TVMS_NO_SPAN);
  tvms_node *init = store(b, "vi", "0", read("0.0"));
  cr_assert(complete(realize(store(b, "vi", "0", sum), init, &block), a, b));
  cr_assert_str_eq(regions(block->reads), "A[vi 1, vi 1]");
  cr_assert(complete(realize(store(b, "vi", "0", sum), NULL, &block), a, b));
  cr_assert_str_eq(regions(block->reads), "B[vi 1, 0 1] A[vi 1, vi 1]");
}

Test(complete, conditions_narrow_the_loops_they_are_in) {
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_block *block;
  tvms_if_then_else *branch = tvms_node_make(&unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = read("(< (+ (* k 2) 1) 9)");
  branch->then_case = store(b, "vi", "k", load(a, "vi", "k"));
  tvms_node *body = loop("k", "8", &branch->head);
  cr_assert(complete(realize(body, NULL, &block), a, b));
  cr_assert_str_eq(regions(block->reads), "A[vi 1, 0 4]");
  branch->else_case = store(b, "vi", "k", read("0.0"));
  cr_assert(complete(realize(body, NULL, &block), a, b));
  cr_assert_str_eq(regions(block->writes), "B[vi 1, 0 8]");
}

Test(complete, unknown_indices_give_the_whole_dimension) {
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_block *block;
  tvms_node *index =
      tvms_cast_new(&unit, TVMS_DTYPE(INT, 32), load(b, "vi", "vi"), TVMS_NO_SPAN);
  tvms_node *indices[] = {read("vi"), index};
  tvms_node *value = tvms_buffer_load_new(&unit, a, indices, 2, NULL, TVMS_NO_SPAN);
  cr_assert(complete(realize(store(b, "vi", "0", value), NULL, &block), a, b));
  cr_assert_str_eq(regions(block->reads), "A[vi 1, 0 64] B[vi 1, vi 1]");
}

Test(complete, pointers_hide_accesses) {
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_block *block;
  tvms_node *data = tvms_as_buffer(a)->data;
  tvms_node *call = tvms_call_new_of(&unit, TVMS_DTYPE(INT, 32),
                                     TVMS_TIR_tvm_call_packed, &data, 1, TVMS_NO_SPAN);
  tvms_node *body = tvms_evaluate_new(&unit, call, TVMS_NO_SPAN);
  cr_assert_not(complete(realize(body, NULL, &block), a, b));
  cr_assert_eq(context.diags.last->id, TVMS_D_opaque_access);
}

Test(complete, functions_without_s_tir_stay_as_they_are) {
  unit.dialect = TVMS_DIALECT_26;
  tvms_node *a = buffer("A", 16, 64), *b = buffer("B", 16, 64);
  tvms_prim_func *func = tvms_node_make(&unit, PRIM_FUNC, TVMS_NO_SPAN);
  tvms_block *block;
  tvms_node *body = realize(store(b, "vi", "0", load(a, "vi", "vi")), NULL, &block);
  func->body = loop("i", "16", body);
  cr_assert(tvms_complete_prim_func(&unit, &func->head, NULL, 0));
  cr_assert_eq(func->body->kind, TVMS_NODE_FOR);
  cr_assert_eq(block->reads.len, 0);
}
