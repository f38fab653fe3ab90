// Well-formedness of Relax on programs that reading never makes: passes might.
#include "ir/build.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "structinfo/well_formed_relax.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <criterion/criterion.h>

#define F32 TVMS_DTYPE(FLOAT, 32)

typedef struct {
  tvms_context context;
  tvms_module *module;
  tvms_member *member;
  tvms_unit *unit;
  tvms_node *x;  // the parameter
} fixture;

static tvms_node *value(fixture *f) {
  tvms_node *two = tvms_sinfo_dim_new(f->unit, 2);
  tvms_node *shape = tvms_sinfo_shape_value_new(f->unit, &two, 1, TVMS_NO_SPAN);
  tvms_node *var = tvms_var_new(f->unit, TVMS_SYM_x, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = tvms_sinfo_tensor_new(f->unit, shape, F32, NULL);
  return var;
}

static void open_fixture(fixture *f) {
  tvms_context_init(&f->context, &tvms_names);
  f->module = tvms_module_create(&f->context, TVMS_DIALECT_27, 0);
  f->member = tvms_module_add(f->module, TVMS_SYM_main, TVMS_NO_SPAN);
  f->unit = f->member->unit;
  f->x = value(f);
}

static void close_fixture(fixture *f) {
  tvms_module_destroy(f->module);
  tvms_context_fini(&f->context);
}

static tvms_node *bind(fixture *f, tvms_node *var, tvms_node *bound) {
  tvms_var_binding *binding = tvms_node_make(f->unit, VAR_BINDING, TVMS_NO_SPAN);
  binding->var = var;
  binding->value = bound;
  return &binding->head;
}

static tvms_node *block(fixture *f, bool dataflow, tvms_node *const *bindings,
                        uint32_t count) {
  tvms_binding_block *made = tvms_node_make(f->unit, BINDING_BLOCK, TVMS_NO_SPAN);
  made->bindings = tvms_list_copy(f->unit, bindings, count);
  if (dataflow) made->head.flags |= TVMS_FLAG_DATAFLOW;
  return &made->head;
}

static tvms_node *sine(fixture *f, tvms_node *of) {
  tvms_call *call = tvms_node_make(f->unit, CALL, TVMS_NO_SPAN);
  call->callee = tvms_op_operator_new(f->unit, TVMS_R_sin);
  call->args = tvms_list_copy(f->unit, &of, 1);
  call->head.sinfo = f->x->sinfo;
  return &call->head;
}

// Checks the function of one block with this result.
static bool check(fixture *f, tvms_node *binding_block, tvms_node *result) {
  tvms_seq_expr *seq = tvms_node_make(f->unit, SEQ_EXPR, TVMS_NO_SPAN);
  seq->blocks = tvms_list_copy(f->unit, &binding_block, binding_block ? 1 : 0);
  seq->body = result;
  seq->head.sinfo = result->sinfo;
  tvms_function *function = tvms_node_make(f->unit, FUNCTION, TVMS_NO_SPAN);
  function->name = TVMS_SYM_main;
  function->params = tvms_list_copy(f->unit, &f->x, 1);
  function->ret = f->x->sinfo;
  function->body = &seq->head;
  f->member->function = &function->head;
  return tvms_well_formed_check_relax(f->module);
}

static void expect(const fixture *f, tvms_diag_id id) {
  cr_assert_eq(f->context.diags.errors, 1);
  cr_assert_eq(f->context.diags.first->id, id);
}

Test(well_formed_relax, a_sound_function_is_silent) {
  fixture f;
  open_fixture(&f);
  tvms_node *y = value(&f), *made = bind(&f, y, sine(&f, f.x));
  cr_assert(check(&f, block(&f, false, &made, 1), y));
  cr_assert_eq(f.context.diags.errors, 0);
  close_fixture(&f);
}

Test(well_formed_relax, variables_are_defined_before_their_use) {
  fixture f;
  open_fixture(&f);
  cr_assert_not(check(&f, NULL, value(&f)));
  expect(&f, TVMS_D_var_undefined);
  close_fixture(&f);
}

Test(well_formed_relax, variables_are_defined_once) {
  fixture f;
  open_fixture(&f);
  tvms_node *y = value(&f);
  tvms_node *made[] = {bind(&f, y, sine(&f, f.x)), bind(&f, y, sine(&f, f.x))};
  cr_assert_not(check(&f, block(&f, false, made, 2), y));
  expect(&f, TVMS_D_var_twice);
  close_fixture(&f);
}

Test(well_formed_relax, variables_of_a_dataflow_block_end_with_it) {
  fixture f;
  open_fixture(&f);
  tvms_node *y = value(&f), *made = bind(&f, y, sine(&f, f.x));
  y->flags |= TVMS_FLAG_DATAFLOW;
  cr_assert_not(check(&f, block(&f, true, &made, 1), y));
  expect(&f, TVMS_D_var_ended);
  close_fixture(&f);
}

Test(well_formed_relax, arguments_are_leaves) {
  fixture f;
  open_fixture(&f);
  tvms_node *y = value(&f), *made = bind(&f, y, sine(&f, sine(&f, f.x)));
  cr_assert_not(check(&f, block(&f, false, &made, 1), y));
  expect(&f, TVMS_D_not_a_leaf);
  close_fixture(&f);
}

Test(well_formed_relax, global_variables_are_members) {
  fixture f;
  open_fixture(&f);
  tvms_global_var *other = tvms_node_make(f.unit, GLOBAL_VAR, TVMS_NO_SPAN);
  other->name = TVMS_SYM_x;
  other->head.sinfo = tvms_sinfo_func_new_opaque(f.unit, f.x->sinfo, true);
  cr_assert_not(check(&f, NULL, &other->head));
  expect(&f, TVMS_D_global_undefined);
  close_fixture(&f);
}
