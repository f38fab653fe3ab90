// Faults of the interpreter that no text can provoke, because reading or verifying finds
// them first: programs made by hand, and calls with wrong arguments.
#include "interp/interp.h"
#include "interp/prim.h"
#include "ir/build.h"
#include "ir/op.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <criterion/criterion.h>

static tvms_context context;
static tvms_heap heap;
static tvms_module *module;
static tvms_member *member;
static tvms_unit *unit;

static tvms_sym sym(const char *text) {
  return tvms_symbol_intern(&context, text, strlen(text));
}

static void open_all(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_heap_init(&heap, &context.memory);
  module = tvms_module_create(&context, TVMS_DIALECT_27, 0);
  member = tvms_module_add(module, sym("main"), ((tvms_span){1, 5}));
  unit = member->unit;
}
static void close_all(void) {
  tvms_heap_fini(&heap);
  tvms_context_fini(&context);
}

TestSuite(faults, .init = open_all, .fini = close_all);

typedef struct {
  tvms_interp interp;
  const tvms_value *args;
  uint32_t count;
  tvms_status status;
} deep_call;

static void run_deep(void *argument) {
  deep_call *call = argument;
  tvms_value result;
  call->status =
      tvms_interp_call(&call->interp, member, call->args, call->count, &result);
}

static uint64_t step_limit;

// Calls main, which must end in this fault.
static void expect(tvms_diag_id id, const tvms_value *args, uint32_t count) {
  deep_call call = {.interp = {.context = &context,
                               .module = module,
                               .heap = &heap,
                               .step_limit = step_limit},
                    .args = args,
                    .count = count};
  cr_assert_eq(tvms_memory_protect_deep(&context.memory, run_deep, &call), TVMS_OK);
  cr_assert_eq(call.status, TVMS_FOUND_ERRORS);
  cr_assert_eq(context.diags.errors, 1);
  cr_assert_eq(context.diags.last->id, id, "%s", context.diags.last->text);
  // A fault leaves nothing behind that would stop the next call.
  cr_assert_eq(context.memory.resources, NULL);
  cr_assert_eq(context.memory.unwind, NULL);
}

static tvms_node *int_new(int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

static tvms_node *buffer_new(tvms_dtype element, int64_t size) {
  tvms_node *shape = int_new(size);
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = sym("A");
  buffer->data = tvms_pointer_var_new(unit, sym("A"), element, 0, TVMS_NO_SPAN);
  buffer->element = element;
  buffer->shape = tvms_list_copy(unit, &shape, 1);
  return &buffer->head;
}

static tvms_node *store_new(tvms_node *buffer, tvms_node *value, uint32_t indices) {
  tvms_node *zeros[] = {int_new(0), int_new(0)};
  tvms_store *store = tvms_node_make(unit, STORE, TVMS_NO_SPAN);
  store->buffer = buffer;
  store->value = value;
  store->indices = tvms_list_copy(unit, zeros, indices);
  return &store->head;
}

// main(A: float32[4]) with this body; without a body it does nothing.
static tvms_node *prim_new(tvms_node *TVMS_NULLABLE body) {
  tvms_node *buffer = buffer_new(TVMS_DTYPE(FLOAT, 32), 4);
  tvms_node *param = tvms_var_new(unit, sym("a"), TVMS_DTYPE(HANDLE, 64), TVMS_NO_SPAN);
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->params = tvms_list_copy(unit, &param, 1);
  function->buffers = tvms_list_copy(unit, &buffer, 1);
  function->body = body ? body : tvms_evaluate_new(unit, int_new(0), TVMS_NO_SPAN);
  member->function = &function->head;
  return buffer;
}

static tvms_value tensor(uint8_t code, uint8_t bits, int32_t ndim) {
  int64_t shape[] = {4, 4};
  tvms_dl_type type = {code, bits, 1};
  return tvms_value_of_tensor(tvms_tensor_new(&heap, type, ndim, shape));
}

static const tvms_value number = {.kind = TVMS_VALUE_INT, .i = 1};

static tvms_value good_tensor(void) {
  return tensor(TVMS_DL_FLOAT, 32, 1);
}

Test(faults, arguments_of_prim_funcs_are_checked) {
  prim_new(NULL);
  tvms_value good = good_tensor();
  expect(TVMS_D_wrong_argument_count, &good, 0);
}

Test(faults, a_number_is_no_tensor) {
  prim_new(NULL);
  expect(TVMS_D_wrong_argument, &number, 1);
}

Test(faults, ranks_are_checked) {
  prim_new(NULL);
  tvms_value matrix = tensor(TVMS_DL_FLOAT, 32, 2);
  expect(TVMS_D_rank_mismatch, &matrix, 1);
}

Test(faults, data_types_are_checked) {
  prim_new(NULL);
  tvms_value wide = tensor(TVMS_DL_FLOAT, 64, 1);
  expect(TVMS_D_dtype_mismatch, &wide, 1);
}

static void expect_of_statement(tvms_diag_id id, tvms_node *body) {
  tvms_prim_func *function = tvms_as_prim_func(member->function);
  function->body = body;
  tvms_value good = good_tensor();
  expect(id, &good, 1);
}

Test(faults, indices_are_counted) {
  tvms_node *buffer = prim_new(NULL);
  tvms_node *one = tvms_float_imm_new(unit, TVMS_DTYPE(FLOAT, 32), 1, TVMS_NO_SPAN);
  expect_of_statement(TVMS_D_wrong_index_count, store_new(buffer, one, 2));
}

Test(faults, a_buffer_needs_memory) {
  prim_new(NULL);
  tvms_node *one = tvms_float_imm_new(unit, TVMS_DTYPE(FLOAT, 32), 1, TVMS_NO_SPAN);
  tvms_node *other = buffer_new(TVMS_DTYPE(FLOAT, 32), 4);
  expect_of_statement(TVMS_D_buffer_without_memory, store_new(other, one, 1));
}

Test(faults, a_variable_needs_a_value) {
  prim_new(NULL);
  tvms_node *var = tvms_var_new(unit, sym("x"), TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  expect_of_statement(TVMS_D_no_value_yet, tvms_evaluate_new(unit, var, TVMS_NO_SPAN));
}

static tvms_for *loop_new(tvms_node *step) {
  tvms_for *loop = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
  loop->var = tvms_var_new(unit, sym("i"), TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
  loop->min = int_new(0);
  loop->extent = int_new(1 << 20);
  loop->step = step;
  loop->body = tvms_evaluate_new(unit, int_new(0), TVMS_NO_SPAN);
  return loop;
}

Test(faults, a_loop_goes_upwards) {
  prim_new(NULL);
  expect_of_statement(TVMS_D_step_not_positive, &loop_new(int_new(-1))->head);
}

Test(faults, steps_are_limited) {
  prim_new(NULL);
  step_limit = 1000;
  expect_of_statement(TVMS_D_too_many_steps, &loop_new(NULL)->head);
  step_limit = 0;
}

Test(faults, what_has_no_meaning_on_a_processor_is_refused) {
  prim_new(NULL);
  tvms_scope_id *threads = tvms_node_make(unit, SCOPE_ID, TVMS_NO_SPAN);
  expect_of_statement(TVMS_D_not_interpreted, &threads->head);
}

Test(faults, operators_need_their_arguments) {
  prim_new(NULL);
  tvms_node *call = tvms_call_new_of(unit, TVMS_DTYPE(FLOAT, 32), TVMS_TIR_exp, NULL, 0,
                                     TVMS_NO_SPAN);
  expect_of_statement(TVMS_D_too_few_arguments,
                      tvms_evaluate_new(unit, call, TVMS_NO_SPAN));
}

static tvms_node *allocation_new(tvms_dtype element, int64_t size) {
  tvms_alloc_buffer *statement = tvms_node_make(unit, ALLOC_BUFFER, TVMS_NO_SPAN);
  statement->buffer = buffer_new(element, size);
  return &statement->head;
}

Test(faults, allocations_are_limited) {
  prim_new(NULL);
  heap.largest = 1 << 20;
  expect_of_statement(TVMS_D_too_much_memory,
                      allocation_new(TVMS_DTYPE(FLOAT, 32), 1 << 20));
}

Test(faults, small_kinds_have_no_memory) {
  prim_new(NULL);
  expect_of_statement(TVMS_D_no_memory_of_kind, allocation_new(TVMS_DTYPE(INT, 4), 8));
}

// ---- Relax ----

static tvms_node *relax_var(const char *name, tvms_node *TVMS_NULLABLE type) {
  tvms_node *var = tvms_var_new(unit, sym(name), (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = type;
  return var;
}

static tvms_node *tensor_type(void) {
  tvms_sinfo_tensor *type = tvms_node_make(unit, SINFO_TENSOR, TVMS_NO_SPAN);
  type->ndim = -1;
  return &type->head;
}

// main(x: R.Tensor) that gives `body`.
static void function_new(tvms_node *param, tvms_node *body) {
  tvms_function *function = tvms_node_make(unit, FUNCTION, TVMS_NO_SPAN);
  function->params = tvms_list_copy(unit, &param, 1);
  function->body = body;
  member->function = &function->head;
}

Test(faults, kinds_of_relax_arguments_are_checked) {
  tvms_node *param = relax_var("x", tensor_type());
  function_new(param, param);
  expect(TVMS_D_kind_mismatch, &number, 1);
}

Test(faults, fields_of_tuples_are_checked) {
  tvms_node *param = relax_var("x", tensor_type());
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(unit, &param, 1);
  tvms_tuple_get_item *get = tvms_node_make(unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
  get->tuple = &tuple->head;
  get->index = 1;
  function_new(param, &get->head);
  tvms_value good = good_tensor();
  expect(TVMS_D_no_such_field, &good, 1);
}

Test(faults, a_condition_is_one_value) {
  tvms_node *param = relax_var("x", tensor_type());
  tvms_if *choice = tvms_node_make(unit, IF, TVMS_NO_SPAN);
  choice->condition = choice->true_branch = choice->false_branch = param;
  function_new(param, &choice->head);
  tvms_value good = good_tensor();
  expect(TVMS_D_condition_not_scalar, &good, 1);
}

static tvms_node *call_new(tvms_node *callee, tvms_node *const *args, uint32_t count) {
  return tvms_call_new(unit, (tvms_dtype){0}, callee, args, count, TVMS_NO_SPAN);
}

Test(faults, only_functions_are_called) {
  tvms_node *param = relax_var("x", tensor_type());
  function_new(param, call_new(param, &param, 1));
  tvms_value good = good_tensor();
  expect(TVMS_D_not_a_function, &good, 1);
}

// call_tir of a PrimFunc, with this type as the output's.
static void call_tir_new(tvms_node *type) {
  tvms_node *param = relax_var("x", tensor_type());
  tvms_member *callee = tvms_module_add(module, sym("f"), TVMS_NO_SPAN);
  member = &module->members[0];
  tvms_prim_func *function = tvms_node_make(callee->unit, PRIM_FUNC, TVMS_NO_SPAN);
  callee->function = &function->head;
  tvms_global_var *name = tvms_node_make(unit, GLOBAL_VAR, TVMS_NO_SPAN);
  name->name = sym("f");
  tvms_tuple *tuple = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
  tvms_node *args[] = {&name->head, &tuple->head};
  tvms_node *call = call_new(tvms_op_operator_new(unit, TVMS_R_call_tir), args, 2);
  tvms_as_call(call)->type_args = tvms_list_copy(unit, &type, 1);
  function_new(param, call);
}

Test(faults, outputs_need_a_shape) {
  call_tir_new(tensor_type());
  tvms_value good = good_tensor();
  expect(TVMS_D_shape_not_known, &good, 1);
}

Test(faults, outputs_must_be_possible) {
  tvms_node *type = tensor_type(), *size = int_new(-1);
  tvms_shape_expr *shape = tvms_node_make(unit, SHAPE_EXPR, TVMS_NO_SPAN);
  shape->values = tvms_list_copy(unit, &size, 1);
  tvms_as_sinfo_tensor(type)->shape = &shape->head;
  type->dtype = TVMS_DTYPE(FLOAT, 32);
  call_tir_new(type);
  tvms_value good = good_tensor();
  expect(TVMS_D_tensor_not_made, &good, 1);
}
