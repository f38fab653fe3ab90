// The canonical printer on programs built by hand. The texts are those of stock TVM.
#include "ir/build.h"
#include "ir/object.h"
#include "printer/print.h"
#include "support/names.h"
#include "tests/unit/sexpr.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct {
  tvms_context context;
  tvms_program program;
  tvms_unit *unit;
} fixture;

static void start(fixture *f) {
  memset(f, 0, sizeof *f);
  tvms_context_init(&f->context, &tvms_names);
  f->program.context = &f->context;
}

static void finish(fixture *f) {
  for (uint32_t i = 0; i < f->program.count; i++) {
    tvms_module_destroy(f->program.modules[i]);
  }
  tvms_context_fini(&f->context);
}

static tvms_sym sym(fixture *f, const char *text) {
  return tvms_symbol_intern(&f->context, text, strlen(text));
}

static tvms_member *add_function(fixture *f, tvms_dialect dialect, const char *name) {
  tvms_module *module = tvms_module_create(&f->context, dialect, sym(f, "M"));
  module->bare = true;
  tvms_program_add(&f->program, module);
  tvms_member *member = tvms_module_add(module, sym(f, name), TVMS_NO_SPAN);
  f->unit = member->unit;
  return member;
}

static void expect_program(fixture *f, tvms_dialect dialect, const char *expected) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &f->context.memory);
  tvms_print_options options = {.dialect = dialect};
  tvms_print_program(&f->program, &options, &text);
  cr_expect_str_eq(tvms_strbuf_text(&text), expected);
  tvms_strbuf_fini(&text);
}

// ---- Expressions ----

static void expect_expr(const char *source, tvms_dialect dialect,
                        const char *expected) {
  tvms_context context;
  tvms_context_init(&context, &tvms_names);
  tvms_unit unit;
  tvms_unit_init(&unit, &context, dialect);
  sexpr reader = {.unit = &unit};
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context.memory);
  tvms_print_node(&context, &unit, sexpr_read(&reader, source), dialect, &text);
  cr_expect_str_eq(tvms_strbuf_text(&text), expected, "%s: %s", source,
                   tvms_strbuf_text(&text));
  tvms_unit_fini(&unit);
  tvms_context_fini(&context);
}

Test(print, parentheses) {
  expect_expr("(- x (- y z))", TVMS_DIALECT_26, "x - (y - z)");
  expect_expr("(- (- x y) z)", TVMS_DIALECT_26, "x - y - z");
  expect_expr("(* (+ x y) z)", TVMS_DIALECT_26, "(x + y) * z");
  expect_expr("(* x (// y z))", TVMS_DIALECT_26, "x * (y // z)");
  expect_expr("(and (or bx by) (not bz))", TVMS_DIALECT_26, "(bx or by) and not bz");
  expect_expr("(not (and bx by))", TVMS_DIALECT_26, "not (bx and by)");
  expect_expr("(or (and bx by) bz)", TVMS_DIALECT_26, "bx and by or bz");
  expect_expr("(+ (* (+ x y) z) w)", TVMS_DIALECT_26, "(x + y) * z + w");
  expect_expr("(== (< x 3) (> y 2))", TVMS_DIALECT_26, "x < 3 == (y > 2)");
}

// An operator is written as such only if building it again gives the same node.
Test(print, sugar) {
  expect_expr("(+ n 0)", TVMS_DIALECT_26, "T.Add(n, 0)");
  expect_expr("(* n 1)", TVMS_DIALECT_26, "T.Mul(n, 1)");
  expect_expr("(+ 1 2)", TVMS_DIALECT_26, "T.Add(1, 2)");
  expect_expr("(- 0 n)", TVMS_DIALECT_26, "0 - n");
  expect_expr("(* n 2)", TVMS_DIALECT_26, "n * 2");
  expect_expr("(+ m 1L)", TVMS_DIALECT_26, "T.Add(m, T.int64(1))");
  expect_expr("(/ x y)", TVMS_DIALECT_26, "T.Div(x, y)");
  expect_expr("(/ fa fb)", TVMS_DIALECT_26, "fa / fb");
  expect_expr("(% x y)", TVMS_DIALECT_26, "T.truncmod(x, y)");
  expect_expr("(min x y)", TVMS_DIALECT_26, "T.min(x, y)");
}

Test(print, literals) {
  expect_expr("1.5", TVMS_DIALECT_26, "T.float32(1.5)");
  expect_expr("3.0", TVMS_DIALECT_26, "T.float32(3.0)");
  expect_expr("0.1", TVMS_DIALECT_26, "T.float32(0.10000000000000001)");
  expect_expr("7", TVMS_DIALECT_26, "7");
  expect_expr("7L", TVMS_DIALECT_26, "T.int64(7)");
  expect_expr("true", TVMS_DIALECT_26, "T.bool(True)");
  expect_expr("(cast:int8 a)", TVMS_DIALECT_26, "T.Cast(\"int8\", a)");
}

Test(print, long_chain) {
  fixture f;
  start(&f);
  tvms_unit unit;
  tvms_unit_init(&unit, &f.context, TVMS_DIALECT_26);
  tvms_node *x = tvms_var_new(&unit, sym(&f, "x"), TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  tvms_node *sum = x;
  enum { TERMS = 100000 };
  for (int i = 1; i < TERMS; i++) {
    sum = tvms_binary_new(&unit, TVMS_NODE_ADD, sum, x, TVMS_NO_SPAN);
  }
  tvms_strbuf text;
  tvms_strbuf_init(&text, &f.context.memory);
  tvms_print_node(&f.context, &unit, sum, TVMS_DIALECT_26, &text);
  cr_expect_eq(text.len, 4u * TERMS - 3);
  tvms_unit_fini(&unit);
  finish(&f);
}

// ---- A function in every dialect ----

// for i in range(8): B[i] = A[i] + 1.0, with a variable that nothing defines.
static void build_add_one(fixture *f, tvms_dialect dialect) {
  tvms_member *member = add_function(f, dialect, "add_one");
  tvms_unit *unit = f->unit;
  tvms_node *params[2];
  tvms_node *buffers[2];
  static const char *const names[] = {"A", "B"};
  tvms_node *eight = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 8, TVMS_NO_SPAN);
  for (int i = 0; i < 2; i++) {
    params[i] =
        tvms_var_new(unit, sym(f, i ? "b" : "a"), TVMS_DTYPE(HANDLE, 64), TVMS_NO_SPAN);
    tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
    buffer->name = sym(f, names[i]);
    buffer->data = tvms_pointer_var_new(unit, sym(f, names[i]), TVMS_DTYPE(FLOAT, 32),
                                        0, TVMS_NO_SPAN);
    buffer->element = TVMS_DTYPE(FLOAT, 32);
    buffer->shape = tvms_list_copy(unit, &eight, 1);
    buffer->elem_offset = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
    buffer->align = 64;
    buffer->offset_factor = 1;
    buffers[i] = &buffer->head;
  }
  tvms_node *var = tvms_var_new(unit, sym(f, "i"), TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  tvms_node *free_var =
      tvms_var_new(unit, sym(f, "k"), TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  tvms_node *index = tvms_binary_new(unit, TVMS_NODE_ADD, var, free_var, TVMS_NO_SPAN);
  tvms_node *load =
      tvms_buffer_load_new(unit, buffers[0], &index, 1, NULL, TVMS_NO_SPAN);
  tvms_node *one = tvms_float_imm_new(unit, TVMS_DTYPE(FLOAT, 32), 1.0, TVMS_NO_SPAN);
  tvms_store *store = tvms_node_make(unit, STORE, TVMS_NO_SPAN);
  store->buffer = buffers[1];
  store->value = tvms_binary_new(unit, TVMS_NODE_ADD, load, one, TVMS_NO_SPAN);
  store->indices = tvms_list_copy(unit, &var, 1);
  tvms_for *loop = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
  loop->var = var;
  loop->min = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  loop->extent = eight;
  tvms_node *body = &store->head;
  loop->body = tvms_seq_new(unit, &body, 1, TVMS_NO_SPAN);
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->name = member->name;
  function->params = tvms_list_copy(unit, params, 2);
  function->buffers = tvms_list_copy(unit, buffers, 2);
  tvms_node *top = &loop->head;
  function->body = tvms_seq_new(unit, &top, 1, TVMS_NO_SPAN);
  member->function = &function->head;
}

Test(print, function_with_free_variable) {
  fixture f;
  start(&f);
  build_add_one(&f, TVMS_DIALECT_22);
  expect_program(&f, TVMS_DIALECT_22,
                 "# from tvm.script import tir as T\n"
                 "\n"
                 "@T.prim_func\n"
                 "def add_one(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), "
                 "\"float32\")):\n"
                 "    for i in range(8):\n"
                 "        k = T.int32()\n"
                 "        B[i] = A[i + k] + T.float32(1.0)\n");
  finish(&f);
}

Test(print, tirx_header) {
  fixture f;
  start(&f);
  build_add_one(&f, TVMS_DIALECT_26);
  expect_program(&f, TVMS_DIALECT_26,
                 "# from tvm.script import tirx as T\n"
                 "# from tvm.tirx.layout import Axis\n"
                 "\n"
                 "@T.prim_func\n"
                 "def add_one(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), "
                 "\"float32\")):\n"
                 "    for i in range(8):\n"
                 "        k = T.int32()\n"
                 "        B[i] = A[i + k] + T.float32(1.0)\n");
  finish(&f);
}
