// The interpreter and native code: the same programs, made by hand, give the same bits.
#include "backend/backend.h"
#include "backend/load.h"
#include "driver/copy.h"
#include "driver/native.h"
#include "interp/prim.h"
#include "sexpr.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static tvms_context context;
static tvms_heap heap;
static tvms_module *module;
static const tvms_backend *native;

static void open_all(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_heap_init(&heap, &context.memory);
  module = tvms_module_create(&context, TVMS_DIALECT_27, 0);
  tvms_strbuf why;
  tvms_strbuf_init(&why, &context.memory);
  native = tvms_backend_open(getenv("TVMS_PLUGIN"), &why);
  cr_assert_neq(native, NULL, "%s", tvms_strbuf_text(&why));
}
static void close_all(void) {
  tvms_heap_fini(&heap);
  tvms_context_fini(&context);
}

TestSuite(native, .init = open_all, .fini = close_all);

static tvms_sym sym(const char *text) {
  return tvms_symbol_intern(&context, text, strlen(text));
}

static tvms_node *buffer_new(tvms_unit *unit, const char *name, tvms_dtype element,
                             tvms_node *const *shape, uint32_t ndim) {
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = sym(name);
  buffer->data = tvms_pointer_var_new(unit, sym(name), element, 0, TVMS_NO_SPAN);
  buffer->element = element;
  buffer->shape = tvms_list_copy(unit, shape, ndim);
  buffer->align = 64;
  buffer->offset_factor = 1;
  return &buffer->head;
}

static tvms_node *int64_new(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

static tvms_node *store_new(tvms_unit *unit, tvms_node *buffer, tvms_node *value,
                            tvms_node *const *indices, uint32_t count) {
  tvms_store *store = tvms_node_make(unit, STORE, ((tvms_span){7, 9}));
  store->buffer = buffer;
  store->value = value;
  store->indices = tvms_list_copy(unit, indices, count);
  return &store->head;
}

static tvms_member *function_new(const char *name, tvms_node *const *params,
                                 tvms_node *const *buffers, uint32_t count,
                                 tvms_node *body) {
  tvms_member *member = &module->members[module->member_count - 1];
  tvms_prim_func *function = tvms_node_make(member->unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->name = member->name = sym(name);
  function->params = tvms_list_copy(member->unit, params, count);
  function->buffers = tvms_list_copy(member->unit, buffers, count);
  function->body = body;
  member->function = &function->head;
  return member;
}

static const tvms_native_options traced = {.traced = true, .checked = true};

static tvms_safe_call find_kernel(void *state, const tvms_member *member) {
  return native->find(state, tvms_symbol_text(&context, member->name));
}

// A call on the deep stack that tvms_interp_call wants.
typedef struct {
  tvms_interp interp;
  const tvms_member *member;
  const tvms_value *args;
  uint32_t count;
  tvms_status status;
} deep_call;

static void run_deep(void *argument) {
  deep_call *call = argument;
  tvms_value result;
  call->status =
      tvms_interp_call(&call->interp, call->member, call->args, call->count, &result);
}

static tvms_status call(const tvms_member *member, const tvms_value *args,
                        uint32_t count, tvms_jit *jit) {
  deep_call request = {
      .interp = {.context = &context, .module = module, .heap = &heap},
      .member = member,
      .args = args,
      .count = count,
  };
  if (jit) {
    request.interp.kernel = find_kernel;
    request.interp.kernel_state = jit;
  }
  tvms_status failed = tvms_memory_protect_deep(&context.memory, run_deep, &request);
  return failed ? failed : request.status;
}

// The module as back ends read it, unchecked.
static const tvms_module *lowered(void) {
  cr_assert(tvms_native_lower(module, &(tvms_native_options){0}));
  return module;
}

static tvms_jit *compile(void) {
  tvms_jit *jit = NULL;
  tvms_module *copy = tvms_copy_module(module);
  cr_assert(tvms_native_lower(copy, &(tvms_native_options){.checked = true}));
  tvms_status status = native->compile(&context, copy, &traced, &jit);
  tvms_module_destroy(copy);
  cr_assert_eq(status, TVMS_OK, "%s",
               context.diags.first ? context.diags.first->text : "no reason");
  return jit;
}

static const char *const variables[] = {"i", "j", "l", "lm", "u", "f", "fg", "h", "b"};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static const double values[][VARIABLES] = {
    {7, 3, 1LL << 40, 5, 200, 0.3, -1.75, 1.5, 1},
    {-7, 3, -9, 4, 255, -2.5, 0.001, -0.1, 0},
    {2147483647, -1, -(double)(1LL << 62) * 2, -1, 17, 1e30, 3, 60000, 1},
    {-2147483647 - 1, -1, 12345, 7, 0, 100, 1e-30, 0.00006, 0},
};

static tvms_value value_of(const tvms_node *var, double value) {
  if (tvms_dtype_is_real(var->dtype)) {
    return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = value};
  }
  int64_t whole = value >= 9e18 ? INT64_MAX : (int64_t)value;
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = whole};
}

// Runs one expression of all variables both ways for each row of values.
static void compare(const char *text) {
  tvms_member *member = tvms_module_add(module, sym("f"), TVMS_NO_SPAN);
  tvms_unit *unit = member->unit;
  sexpr reader = {.unit = unit};
  tvms_node *params[VARIABLES + 1], *buffers[VARIABLES + 1] = {0};
  for (uint32_t i = 0; i < VARIABLES; i++) {
    params[i] = sexpr_var(&reader, variables[i]);
  }
  tvms_node *expr = sexpr_read(&reader, text);
  tvms_node *one = int64_new(unit, 1), *zero = int64_new(unit, 0);
  params[VARIABLES] =
      tvms_var_new(unit, sym("out"), TVMS_DTYPE(HANDLE, 64), TVMS_NO_SPAN);
  buffers[VARIABLES] = buffer_new(unit, "Out", expr->dtype, &one, 1);
  tvms_node *body = store_new(unit, buffers[VARIABLES], expr, &zero, 1);
  function_new("f", params, buffers, VARIABLES + 1, body);
  tvms_jit *jit = compile();
  int64_t shape = 1;
  tvms_dl_type type = tvms_interp_dl_type_of(expr->dtype);
  for (size_t row = 0; row < sizeof values / sizeof values[0]; row++) {
    tvms_tensor *out[2];
    tvms_status status[2];
    for (int way = 0; way < 2; way++) {
      tvms_value args[VARIABLES + 1];
      for (uint32_t i = 0; i < VARIABLES; i++) {
        args[i] = value_of(params[i], values[row][i]);
      }
      out[way] = tvms_tensor_new(&heap, type, 1, &shape);
      args[VARIABLES] = tvms_value_of_tensor(out[way]);
      status[way] = call(&module->members[0], args, VARIABLES + 1, way ? jit : NULL);
    }
    cr_assert_eq(status[0], status[1], "%s, row %zu: status %d and %d", text, row,
                 status[0], status[1]);
    tvms_scalar a = tvms_tensor_get(out[0], 0), b = tvms_tensor_get(out[1], 0);
    bool real = tvms_dtype_is_real(expr->dtype);
    bool same = real ? a.f == b.f || (isnan(a.f) && isnan(b.f)) : a.i == b.i;
    if (status[0] == TVMS_OK) {
      cr_assert(same, "%s, row %zu: %.17g (%lld) and %.17g (%lld)", text, row, a.f,
                (long long)a.i, b.f, (long long)b.i);
    }
  }
  native->close(jit);
  module->member_count = 0;
}

Test(native, expressions_agree) {
  static const char *const texts[] = {
      "(+ i j)",
      "(- i j)",
      "(* i j)",
      "(/ i j)",
      "(% i j)",
      "(// i j)",
      "(%% i j)",
      "(/ l lm)",
      "(% l lm)",
      "(// l lm)",
      "(%% l lm)",
      "(* l l)",
      "(/ i 2)",
      "(// i 2)",
      "(%% i 4)",
      "(// i -3)",
      "(// l 8L)",
      "(/ u (cast:uint8 3))",
      "(+ u u)",
      "(* u u)",
      "(- u (cast:uint8 201))",
      "(min u (cast:uint8 100))",
      "(< i j)",
      "(and (< i j) b)",
      "(or b (>= i j))",
      "(not b)",
      "(== (cast:int8 i) (cast:int8 7))",
      "(cast:int8 i)",
      "(cast:uint16 l)",
      "(cast:int64 u)",
      "(cast:int32 f)",
      "(cast:uint8 f)",
      "(cast:int64 (* f f))",
      "(cast:float32 l)",
      "(cast:float16 f)",
      "(cast:float32 h)",
      "(cast:bool f)",
      "(cast:float32 b)",
      "(+ f fg)",
      "(- f fg)",
      "(* f fg)",
      "(/ f fg)",
      "(% f fg)",
      "(max f fg)",
      "(min f fg)",
      "(< f fg)",
      "(+ h h)",
      "(* h h)",
      "(/ h (+ h h))",
      "(max h (cast:float16 f))",
      "(cast:bfloat16 f)",
      "(+ (cast:bfloat16 f) (cast:bfloat16 fg))",
      "(select b f fg)",
      "(if_then_else (!= j 0) (/ i j) 5)",
      "(select (> i 0) (// i j) 0)",
      "(likely (< i j))",
      "(cast:float64 f)",
      "(+ (cast:float64 f) (cast:float64 fg))",
      "(/ i (- j j))",
      "(%% l (- lm lm))",
      "(and (!= j j) (== (/ i (- j j)) 0))",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    compare(texts[i]);
  }
}

// ---- A matrix product with blocks, as people write it ----

static tvms_node *loop_new(tvms_unit *unit, tvms_node *var, tvms_node *extent,
                           tvms_node *body) {
  tvms_for *loop = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
  loop->var = var;
  loop->min = int64_new(unit, 0);
  loop->extent = extent;
  loop->body = body;
  return &loop->head;
}

static tvms_node *axis_new(tvms_unit *unit, tvms_node *var, tvms_node *extent,
                           tvms_iter_type type) {
  tvms_iter_var *axis = tvms_node_make(unit, ITER_VAR, TVMS_NO_SPAN);
  axis->dom = tvms_range_new(unit, int64_new(unit, 0), extent, TVMS_NO_SPAN);
  axis->var = var;
  axis->iter_type = type;
  return &axis->head;
}

static tvms_node *int64_var(tvms_unit *unit, const char *name) {
  return tvms_var_new(unit, sym(name), TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
}

static tvms_node *load_new(tvms_unit *unit, tvms_node *buffer, tvms_node *a,
                           tvms_node *b) {
  tvms_node *indices[] = {a, b};
  return tvms_buffer_load_new(unit, buffer, indices, 2, NULL, ((tvms_span){3, 5}));
}

// C[n, m] = A[n, k] @ B[k, m], n symbolic; `shift` makes the load of B run out of bounds.
static tvms_member *matmul_new(int64_t shift) {
  tvms_member *member = tvms_module_add(module, sym("matmul"), TVMS_NO_SPAN);
  tvms_unit *unit = member->unit;
  tvms_dtype f32 = TVMS_DTYPE(FLOAT, 32);
  tvms_node *n = int64_var(unit, "n"), *k = int64_new(unit, 20),
            *m = int64_new(unit, 10);
  tvms_node *shapes[][2] = {{n, k}, {k, m}, {n, m}};
  static const char *const names[] = {"A", "B", "C"};
  tvms_node *buffers[3], *params[3];
  for (int i = 0; i < 3; i++) {
    buffers[i] = buffer_new(unit, names[i], f32, shapes[i], 2);
    params[i] = tvms_var_new(unit, sym(names[i]), TVMS_DTYPE(HANDLE, 64), TVMS_NO_SPAN);
  }
  tvms_node *loops[] = {int64_var(unit, "i"), int64_var(unit, "j"),
                        int64_var(unit, "k")};
  tvms_node *v[] = {int64_var(unit, "vi"), int64_var(unit, "vj"),
                    int64_var(unit, "vk")};
  tvms_node *axes[] = {axis_new(unit, v[0], n, TVMS_ITER_DATA_PAR),
                       axis_new(unit, v[1], m, TVMS_ITER_DATA_PAR),
                       axis_new(unit, v[2], k, TVMS_ITER_COMM_REDUCE)};
  tvms_node *row =
      tvms_binary_new(unit, TVMS_NODE_ADD, v[2], int64_new(unit, shift), TVMS_NO_SPAN);
  tvms_node *product =
      tvms_binary_new(unit, TVMS_NODE_MUL, load_new(unit, buffers[0], v[0], v[2]),
                      load_new(unit, buffers[1], row, v[1]), TVMS_NO_SPAN);
  tvms_node *sum =
      tvms_binary_new(unit, TVMS_NODE_ADD, load_new(unit, buffers[2], v[0], v[1]),
                      product, TVMS_NO_SPAN);
  tvms_block *block = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  block->iter_vars = tvms_list_copy(unit, axes, 3);
  block->init =
      store_new(unit, buffers[2], tvms_float_imm_new(unit, f32, 0, TVMS_NO_SPAN), v, 2);
  block->body = store_new(unit, buffers[2], sum, v, 2);
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(unit, loops, 3);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  tvms_node *body = loop_new(unit, loops[2], k, &realize->head);
  body = loop_new(unit, loops[0], n, loop_new(unit, loops[1], m, body));
  return function_new("matmul", params, buffers, 3, body);
}

static tvms_tensor *matrix(int64_t rows, int64_t columns) {
  int64_t shape[] = {rows, columns};
  tvms_tensor *tensor =
      tvms_tensor_new(&heap, (tvms_dl_type){TVMS_DL_FLOAT, 32, 1}, 2, shape);
  for (int64_t i = 0; i < rows * columns; i++) {
    tvms_tensor_set(tensor, i, (tvms_scalar){.f = (double)((i * 37) % 11) - 5});
  }
  return tensor;
}

static tvms_status multiply(const tvms_member *member, tvms_jit *jit, int64_t n,
                            int64_t rows, tvms_tensor **c) {
  *c = matrix(rows, 10);
  tvms_value args[] = {tvms_value_of_tensor(matrix(n, 20)),
                       tvms_value_of_tensor(matrix(20, 10)), tvms_value_of_tensor(*c)};
  return call(member, args, 3, jit);
}

Test(native, blocks_with_init_and_symbolic_sizes_agree) {
  const tvms_member *member = matmul_new(0);
  tvms_jit *jit = compile();
  for (int64_t n = 0; n <= 33; n += 11) {
    tvms_tensor *c[2];
    cr_assert_eq(multiply(member, NULL, n, n, &c[0]), TVMS_OK);
    cr_assert_eq(multiply(member, jit, n, n, &c[1]), TVMS_OK);
    if (!c[0]->bytes) continue;
    cr_assert_eq(memcmp(c[0]->view.data, c[1]->view.data, c[0]->bytes), 0);
  }
  native->close(jit);
}

Test(native, sizes_that_differ_are_refused_and_both_are_named) {
  const tvms_member *member = matmul_new(0);
  tvms_jit *jit = compile();
  tvms_tensor *c;
  cr_assert_eq(multiply(member, NULL, 4, 5, &c), TVMS_FOUND_ERRORS);
  cr_assert_eq(context.diags.last->id, TVMS_D_size_mismatch);
  cr_assert_str_eq(context.diags.last->text, "dimension 0 of 'C' is 5, but must be 4");
  cr_assert_eq(multiply(member, jit, 4, 5, &c), TVMS_FOUND_ERRORS);
  cr_assert_eq(context.diags.last->id, TVMS_D_compiled_code_raised);
  cr_assert_str_eq(
      context.diags.last->text,
      "ValueError: Mismatched C.shape[0] on argument #2 when calling:\n"
      "  `matmul(A: Tensor([n, 20], float32), B: Tensor([20, 10], float32), "
      "C: Tensor([n, 10], float32))`,\n  expected to match A.shape[0]");
  cr_assert_str_eq(context.diags.last->notes->text, "the value is 5, the limit 4");
  native->close(jit);
}

Test(native, accesses_outside_a_buffer_are_found_where_they_stand) {
  const tvms_member *member = matmul_new(1);
  tvms_jit *jit = compile();
  tvms_tensor *c;
  for (int way = 0; way < 2; way++) {
    cr_assert_eq(multiply(member, way ? jit : NULL, 4, 4, &c), TVMS_FOUND_ERRORS);
    const tvms_diag *diag = context.diags.last;
    cr_assert_eq(diag->id,
                 way ? TVMS_D_compiled_code_raised : TVMS_D_index_out_of_bounds);
    cr_assert_eq(diag->span.begin, 3);
    cr_assert_eq(diag->span.end, 5);
  }
  native->close(jit);
}

Test(native, code_is_made_in_every_form) {
  matmul_new(0);
  static const tvms_native_options plain = {0};
  static const char *const marks[] = {"\177ELF", "__tvm_ffi_matmul:", "define"};
  static const tvms_native_form forms[] = {TVMS_NATIVE_OBJECT, TVMS_NATIVE_ASSEMBLY,
                                           TVMS_NATIVE_IR};
  const tvms_module *code = lowered();
  for (int i = 0; i < 3; i++) {
    tvms_strbuf out;
    tvms_strbuf_init(&out, &context.memory);
    cr_assert_eq(native->emit(&context, code, &plain, forms[i], &out), TVMS_OK);
    cr_assert_neq(strstr(tvms_strbuf_text(&out), marks[i]), NULL);
  }
}

Test(native, another_processor_can_be_asked_for) {
  matmul_new(0);
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context.memory);
  tvms_target cortex = {.triple = "aarch64-linux-gnu", .cpu = "cortex-a72"};
  tvms_native_options arm = {.target = &cortex};
  cr_assert_eq(native->emit(&context, lowered(), &arm, TVMS_NATIVE_ASSEMBLY, &out),
               TVMS_OK);
  cr_assert_neq(strstr(tvms_strbuf_text(&out), "fmul"), NULL);
  tvms_target nothing = {.triple = "no-such-machine"};
  tvms_native_options none = {.target = &nothing};
  cr_assert_eq(native->emit(&context, lowered(), &none, TVMS_NATIVE_ASSEMBLY, &out),
               TVMS_FOUND_ERRORS);
  cr_assert_eq(context.diags.last->id, TVMS_D_code_generation);
}

// What tvms finds out about this machine, LLVM finds, too.
Test(native, llvm_agrees_about_this_machine) {
  matmul_new(0);
  tvms_unit unit;
  tvms_target host;
  tvms_unit_init(&unit, &context, TVMS_DIALECT_CURRENT);
  tvms_target_from_host(&unit, &host);
  tvms_native_options options = {.target = &host};
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context.memory);
  cr_assert_eq(native->emit(&context, lowered(), &options, TVMS_NATIVE_IR, &out),
               TVMS_OK);
  const char *said = strstr(tvms_strbuf_text(&out), "\"target-features\"");
  char word[80];
  snprintf(word, sizeof word, "\"target-cpu\"=\"%s\"", host.cpu);
  bool level = strncmp(host.cpu, "x86-64", 6) == 0 || strcmp(host.cpu, "generic") == 0;
  cr_assert(level || strstr(out.text, word), "%s", host.cpu);
  for (const char *at = host.features; *at; at += *at == ',') {
    size_t len = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s,", (int)len, at);
    cr_assert_not_null(strstr(said, word), "%s", word);
    at += len;
  }
  tvms_unit_fini(&unit);
}

Test(native, failing_allocations_end_the_compilation) {
  matmul_new(0);
  const tvms_module *loops = lowered();
  static const tvms_native_options plain = {0};
  uint64_t begin = context.memory.count;
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context.memory);
  cr_assert_eq(native->emit(&context, loops, &plain, TVMS_NATIVE_OBJECT, &out),
               TVMS_OK);
  uint64_t count = context.memory.count - begin;
  cr_assert_gt(count, 0);
  for (uint64_t n = 1; n <= count; n++) {
    context.memory.fail_at = context.memory.count + n;
    tvms_status status =
        native->emit(&context, loops, &plain, TVMS_NATIVE_OBJECT, &out);
    context.memory.fail_at = 0;
    // Later rounds may need fewer: what was grown stays.
    cr_assert(status == TVMS_OVER_LIMIT || status == TVMS_OK);
    if (n == 1) cr_assert_eq(status, TVMS_OVER_LIMIT);
  }
}
