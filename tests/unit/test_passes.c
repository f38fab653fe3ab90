// Pipelines: how they are read, what the manager checks, what passes do to a module.
#include "ir/build.h"
#include "ir/object.h"
#include "ir/verify.h"
#include "passes/functions.h"
#include "passes/pipeline.h"
#include "passes/properties.h"
#include "passes/tables.h"
#include "support/diag_ids.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <string.h>

static tvms_context context;
static tvms_module *module;

static void open_context(void) {
  tvms_context_init(&context, &tvms_names);
  context.verifies = true;
  module = tvms_module_create(&context, TVMS_DIALECT_27, 0);
}
static void close_context(void) {
  tvms_module_destroy(module);
  tvms_context_fini(&context);
}

TestSuite(passes, .init = open_context, .fini = close_context);

static tvms_sym name(const char *text) {
  return tvms_symbol_intern(&context, text, strlen(text));
}

static tvms_pipeline parse(const char *text) {
  tvms_pipeline pipeline;
  cr_assert(tvms_pipeline_parse(&context, "--passes", text, &pipeline), "%s", text);
  return pipeline;
}

// The text of the only diagnostic that reading `text` gives.
static const tvms_diag *complaint(const char *text) {
  tvms_pipeline pipeline;
  tvms_diags_init(&context.diags, &context.arena);
  cr_assert_not(tvms_pipeline_parse(&context, "--passes", text, &pipeline), "%s", text);
  cr_assert_eq(context.diags.errors, 1, "%s", text);
  return context.diags.first;
}

// def f(A: Buffer((8,))): for i in range(8): with block: v = axis; init: A[v] = 0; A[v] = 1
static void add_reduction(void) {
  tvms_member *member = tvms_module_add(module, name("f"), TVMS_NO_SPAN);
  tvms_unit *unit = member->unit;
  tvms_dtype i64 = TVMS_DTYPE(INT, 64), f32 = TVMS_DTYPE(FLOAT, 32);
  tvms_node *zero = tvms_int_imm_new(unit, i64, 0, TVMS_NO_SPAN);
  tvms_node *eight = tvms_int_imm_new(unit, i64, 8, TVMS_NO_SPAN);
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = name("A");
  buffer->element = f32;
  buffer->data = tvms_pointer_var_new(unit, name("A"), f32, 0, TVMS_NO_SPAN);
  buffer->shape = tvms_list_copy(unit, &eight, 1);
  buffer->elem_offset = zero;
  tvms_node *loop_var = tvms_var_new(unit, name("i"), i64, TVMS_NO_SPAN);
  tvms_iter_var *iter = tvms_node_make(unit, ITER_VAR, TVMS_NO_SPAN);
  iter->dom = tvms_range_new(unit, zero, eight, TVMS_NO_SPAN);
  iter->var = tvms_var_new(unit, name("v"), i64, TVMS_NO_SPAN);
  iter->iter_type = TVMS_ITER_COMM_REDUCE;
  tvms_store *stores[2];
  for (int i = 0; i < 2; i++) {
    stores[i] = tvms_node_make(unit, STORE, TVMS_NO_SPAN);
    stores[i]->buffer = &buffer->head;
    stores[i]->value = tvms_float_imm_new(unit, f32, i, TVMS_NO_SPAN);
    stores[i]->indices = tvms_list_copy(unit, &iter->var, 1);
  }
  tvms_block *block = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  tvms_node *iter_node = &iter->head;
  block->iter_vars = tvms_list_copy(unit, &iter_node, 1);
  block->init = &stores[0]->head;
  block->body = &stores[1]->head;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(unit, &loop_var, 1);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  tvms_for *loop = tvms_node_make(unit, FOR, TVMS_NO_SPAN);
  loop->min = zero;
  loop->extent = eight;
  loop->var = loop_var;
  loop->body = &realize->head;
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE;
  tvms_node *param =
      tvms_pointer_var_new(unit, name("a"), (tvms_dtype){0}, 0, TVMS_NO_SPAN);
  tvms_node *node = &buffer->head;
  function->params = tvms_list_copy(unit, &param, 1);
  function->buffers = tvms_list_copy(unit, &node, 1);
  function->name = member->name;
  function->body = &loop->head;
  member->function = &function->head;
  tvms_verify_expect(module, "making it");
}

Test(passes, both_spellings_of_every_pass_are_found) {
  uint32_t count;
  const tvms_pass *rows = tvms_pass_rows(&count);
  for (uint32_t i = 0; i < count; i++) {
    char kebab[TVMS_KEBAB_SIZE];
    tvms_pass_kebab(rows[i].name, kebab);
    cr_assert_eq(tvms_pass_find(rows[i].name, strlen(rows[i].name)), &rows[i]);
    cr_assert_eq(tvms_pass_find(kebab, strlen(kebab)), &rows[i], "%s", kebab);
    cr_assert(rows[i].since <= rows[i].until);
  }
}

Test(passes, words_of_a_name_are_told_apart_as_people_read_them) {
  static const char *const names[][2] = {
      {"CallTIRRewrite", "call-tir-rewrite"},
      {"FuseTIR", "fuse-tir"},
      {"BF16ComputeLegalize", "bf16-compute-legalize"},
      {"VMShapeLower", "vm-shape-lower"},
      {"FoldBatchnormToConv2D", "fold-batchnorm-to-conv2d"},
      {"MakePackedAPI", "make-packed-api"},
      {"Normalize", "normalize"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char kebab[TVMS_KEBAB_SIZE];
    tvms_pass_kebab(names[i][0], kebab);
    cr_assert_str_eq(kebab, names[i][1]);
  }
}

Test(passes, every_named_pipeline_can_be_read) {
  uint32_t count;
  const tvms_pipeline_row *rows = tvms_pipeline_rows(&count);
  cr_assert(count > 0);
  for (uint32_t i = 0; i < count; i++) {
    tvms_pipeline pipeline = parse(rows[i].name);
    cr_assert(pipeline.count > 0);
    // What is inside a named pipeline stands where the user wrote its name.
    cr_assert_eq(pipeline.steps[0].span.end, strlen(rows[i].name));
  }
}

Test(passes, pipelines_may_have_blanks_and_named_parts) {
  tvms_pipeline pipeline = parse(" ToNonDataflow , lower-blocks,to-non-dataflow{} ");
  cr_assert_eq(pipeline.count, 6);
  cr_assert_eq(pipeline.steps[0].pass, pipeline.steps[5].pass);
  cr_assert_str_eq(pipeline.steps[1].pass->name, "LowerInitBlock");
}

Test(passes, wrong_pipelines_are_reported_at_their_place) {
  const tvms_diag *diag = complaint("ToNonDataflow,LowerInitBlok");
  cr_assert_eq(diag->id, TVMS_D_unknown_pass);
  cr_assert_eq(diag->span.begin, 14);
  cr_assert_str_eq(diag->notes->text, "did you mean 'LowerInitBlock'?");
  cr_assert_eq(complaint("ToNonDataflow{fast=1}")->id, TVMS_D_pass_option);
  cr_assert_eq(complaint("ToNonDataflow{fast}")->id, TVMS_D_pass_syntax);
  cr_assert_eq(complaint("ToNonDataflow LowerInitBlock")->id, TVMS_D_pass_syntax);
  cr_assert_eq(complaint("ToNonDataflow,")->id, TVMS_D_pass_syntax);
  cr_assert_eq(complaint("")->id, TVMS_D_pass_syntax);
  cr_assert_eq(complaint("FuseOps{max_depth=99999999999999999999}")->id,
               TVMS_D_pass_value);
}

// What a pass knew before holds only as long as nothing changes.
static void change_in_secret(tvms_pass_run *run) {
  tvms_prim_func *function = tvms_as_prim_func(run->module->members[0].function);
  tvms_as_for(function->body)->for_kind = TVMS_FOR_PARALLEL;
}
static void break_in_secret(tvms_pass_run *run) {
  run->module->members[0].name = name("other");
}
static void do_nothing(tvms_pass_run *run) {
  (void)run;
}

static void run_one(void *argument) {
  tvms_pass_step step = {.pass = argument};
  tvms_pipeline pipeline = {.steps = &step, .count = 1};
  cr_assert(tvms_pipeline_run(&context, module, &pipeline, UINT32_MAX, NULL, NULL));
}

// Runs a pass that is in no table, and says which defect it has; "": none.
static const char *defect_of(const char *title, void (*run)(tvms_pass_run *run)) {
  tvms_pass pass = {.name = title, .run = run};
  context.memory.catches_checks = true;
  context.memory.defect[0] = '\0';
  tvms_status status = tvms_memory_protect(&context.memory, run_one, &pass);
  cr_assert_eq(status == TVMS_OK, context.memory.defect[0] == 0);
  return context.memory.defect;
}

Test(passes, a_pass_that_changes_in_secret_is_a_defect) {
  add_reduction();
  cr_assert_str_empty(defect_of("Nothing", do_nothing));
  const char *found = defect_of("Secret", change_in_secret);
  cr_assert_not_null(strstr(found, "Secret changed the module"), "%s", found);
}

Test(passes, what_is_verified_does_not_depend_on_what_a_pass_says) {
  add_reduction();
  cr_assert_str_neq(defect_of("Breaker", break_in_secret), "");
  context.verifies = false;
  cr_assert_str_empty(defect_of("Breaker", break_in_secret));
}

Test(passes, a_pass_that_lacks_what_it_requires_does_not_run) {
  add_reduction();
  const tvms_node *before = module->members[0].function;
  tvms_pipeline pipeline = parse("ConvertBlocksToOpaque");
  uint32_t done;
  cr_assert_not(
      tvms_pipeline_run(&context, module, &pipeline, UINT32_MAX, NULL, &done));
  cr_assert_eq(done, 0);
  cr_assert_eq(context.diags.first->id, TVMS_D_pass_requires);
  cr_assert_eq(context.diags.first->source, pipeline.source);
  cr_assert_eq(module->members[0].function, before);
}

Test(passes, a_pipeline_stops_where_it_is_told) {
  add_reduction();
  tvms_pipeline pipeline = parse("lower-blocks");
  uint32_t done;
  cr_assert(tvms_pipeline_run(&context, module, &pipeline, 1, NULL, &done));
  cr_assert_eq(done, 1);
  cr_assert_not(
      tvms_pass_find_without(module, tvms_pass_property_of(TVMS_PROPERTY_NO_INIT)));
  cr_assert(
      tvms_pass_find_without(module, tvms_pass_property_of(TVMS_PROPERTY_OPAQUE)));
}

Test(passes, blocks_become_loops_with_the_first_step_guarded) {
  add_reduction();
  tvms_pipeline pipeline = parse("lower-blocks");
  cr_assert(tvms_pipeline_run(&context, module, &pipeline, UINT32_MAX, NULL, NULL));
  const tvms_for *loop =
      tvms_as_for(tvms_as_prim_func(module->members[0].function)->body);
  const tvms_seq *body = tvms_as_seq(loop->body);
  cr_assert_eq(body->stmts.len, 2);
  const tvms_if_then_else *guard = tvms_as_if_then_else(body->stmts.items[0]);
  cr_assert_eq(tvms_as_eq(guard->condition)->a, loop->var);
  cr_assert_eq(tvms_as_store(guard->then_case)->indices.items[0], loop->var);
  cr_assert_eq(tvms_as_store(body->stmts.items[1])->indices.items[0], loop->var);
}

static uint32_t changes;
static void count_changes(void *data, const tvms_pass_step *step, tvms_module *what,
                          bool changed, double seconds) {
  (void)step;
  cr_assert_eq(what, module);
  cr_assert(seconds >= 0);
  *(uint32_t *)data += changed;
}

Test(passes, hooks_hear_which_passes_changed_the_module) {
  add_reduction();
  tvms_pipeline pipeline = parse("LowerInitBlock,LowerInitBlock,AttachGlobalSymbol");
  tvms_pass_hooks hooks = {.data = &changes, .after = count_changes};
  cr_assert(tvms_pipeline_run(&context, module, &pipeline, UINT32_MAX, &hooks, NULL));
  cr_assert_eq(changes, 2);
  cr_assert_not(module->members[0].function->flags & TVMS_FLAG_PRIVATE);
}

Test(passes, functions_can_be_added_and_removed) {
  add_reduction();
  tvms_pass_run run = {.context = &context, .module = module};
  cr_assert_eq(tvms_functions_fresh_name(&run, "g"), name("g"));
  cr_assert_eq(tvms_functions_fresh_name(&run, "f"), name("f1"));
  tvms_unit *unit = tvms_functions_open_unit(&run);
  tvms_node *function = &tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN)->head;
  cr_assert_eq(tvms_functions_add(&run, name("f1"), unit, function), 1);
  cr_assert_eq(tvms_functions_fresh_name(&run, "f"), name("f2"));
  bool dead[] = {true, false};
  tvms_functions_remove(&run, dead);
  cr_assert_eq(module->member_count, 1);
  cr_assert_eq(module->members[0].function, function);
}

// ---- Packed calls: their text cannot be read again, so it is not for golden files ----

static tvms_node *llvm_config(tvms_unit *unit, tvms_node *TVMS_NULLABLE host) {
  tvms_node *kind = tvms_object_str_new(unit, "llvm", 4, TVMS_NO_SPAN);
  tvms_node *config = tvms_object_map_with(unit, host, "kind", kind);
  return host ? tvms_object_map_with(unit, config, "host", host) : config;
}

static void set_target(tvms_member *member) {
  tvms_object_target *target =
      tvms_node_make(member->unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config = llvm_config(member->unit, llvm_config(member->unit, NULL));
  member->function->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  tvms_prim_func *function = tvms_as_prim_func(member->function);
  function->name = member->name;
  function->attrs =
      tvms_object_map_with(member->unit, function->attrs, "target", &target->head);
}

static uint32_t count_of(tvms_list stmts, tvms_node_kind kind) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < stmts.len; i++) {
    count += stmts.items[i]->kind == kind;
  }
  return count;
}

Test(passes, packed_functions_check_every_argument) {
  add_reduction();
  set_target(&module->members[0]);
  tvms_pipeline pipeline = parse("MakePackedAPI");
  cr_assert(tvms_pipeline_run(&context, module, &pipeline, UINT32_MAX, NULL, NULL));
  const tvms_prim_func *packed = tvms_as_prim_func(module->members[0].function);
  cr_assert_eq(packed->params.len, 4);
  cr_assert_str_eq(
      tvms_object_as_text(tvms_object_map_get(packed->attrs, "global_symbol")),
      "__tvm_ffi_f");
  // TVM 0.27 makes of f(A: T.Buffer((8,), "float32")): eleven assertions, of which that of the
  // strides stands in a branch, two pointers, the handle and three numbers, and one buffer.
  tvms_list body = tvms_as_seq(packed->body)->stmts;
  cr_assert_eq(count_of(body, TVMS_NODE_ASSERT), 10);
  cr_assert_eq(count_of(body, TVMS_NODE_IF_THEN_ELSE), 1);
  cr_assert_eq(count_of(body, TVMS_NODE_BIND), 5);
  cr_assert_eq(count_of(body, TVMS_NODE_DECL_BUFFER), 1);
  cr_assert_eq(body.items[body.len - 1]->kind, TVMS_NODE_RETURN);
}
