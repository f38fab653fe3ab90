// opt --check-semantics: passes that change what a function computes are found. The broken
// passes stand here and nowhere else.
#include "driver/optimize.h"
#include "driver/program.h"
#include "ir/build.h"
#include "passes/functions.h"
#include "passes/pipeline.h"
#include "support/diag_ids.h"
#include "support/names.h"
#include "support/protect.h"

#include <criterion/criterion.h>
#include <string.h>

static const char text[] =
    "from tvm.script import ir as I\n"
    "from tvm.script import relax as R\n"
    "from tvm.script import tirx as T\n"
    "@I.ir_module\n"
    "class Module:\n"
    "    @T.prim_func(s_tir=True)\n"
    "    def add_one(x: T.Buffer((4, 3), \"float32\"), y: T.Buffer((4, 3), \"float32\")):\n"
    "        for i, j in T.grid(4, 3):\n"
    "            y[i, j] = x[i, j] + T.if_then_else(i * 3 + j == 7, T.float32(1), T.float32(3))\n"
    "    @T.prim_func(s_tir=True)\n"
    "    def outside(x: T.Buffer((4,), \"int32\"), f: T.handle):\n"
    "        T.evaluate(T.call_extern(\"int32\", \"unknown\", f))\n";

// ---- Passes that do wrong ----

static tvms_node *other_number(tvms_rewriter *r, tvms_node *node) {
  if (tvms_as_float_imm(node)->value != 1.0) return node;
  return tvms_float_imm_new(r->unit, node->dtype, 2.0, node->span);
}
static void setup_other_number(tvms_rewriter *r) {
  r->leave[TVMS_NODE_FLOAT_IMM] = other_number;
}
static void break_number(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup_other_number);
}

static tvms_node *longer_loop(tvms_rewriter *r, tvms_node *node) {
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_for(copy)->extent =
      tvms_int_imm_new(r->unit, tvms_as_for(node)->var->dtype, 9, TVMS_NO_SPAN);
  return copy;
}
static void setup_longer_loop(tvms_rewriter *r) {
  r->leave[TVMS_NODE_FOR] = longer_loop;
}
static void break_loop(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup_longer_loop);
}

// Adds zero: another text, the same result.
static tvms_node *add_zero(tvms_rewriter *r, tvms_node *node) {
  tvms_node *zero = tvms_float_imm_new(r->unit, node->dtype, 0.0, TVMS_NO_SPAN);
  return tvms_binary_new(r->unit, TVMS_NODE_ADD, node, zero, node->span);
}
static void setup_add_zero(tvms_rewriter *r) {
  r->leave[TVMS_NODE_BUFFER_LOAD] = add_zero;
}
static void keep_meaning(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup_add_zero);
}

// ---- Running them ----

typedef struct {
  tvms_context context;
  void (*passes[2])(tvms_pass_run *run);
  bool good;
} work;

static void run_passes(void *argument) {
  work *w = argument;
  tvms_context *context = &w->context;
  tvms_source *source =
      tvms_source_create(&context->memory, "text", text, sizeof text - 1);
  context->diags.source = source;
  tvms_load_options load = {0};
  tvms_program *program = tvms_program_load(context, source, &load);
  cr_assert_eq(context->diags.errors, 0, "%s",
               context->diags.first ? context->diags.first->text : "");
  static tvms_pass rows[2] = {{.name = "First"}, {.name = "Second"}};
  tvms_pass_step steps[2] = {0};
  for (int i = 0; i < 2; i++) {
    rows[i].run = w->passes[i];
    steps[i] = (tvms_pass_step){.pass = &rows[i], .span = {0, 5}};
  }
  tvms_pipeline pipeline = {
      .source = tvms_source_create(&context->memory, "--passes", "First,Second", 12),
      .steps = steps,
      .count = 2};
  tvms_optimize_options options = {
      .dialect = program->dialect, .stop_after = UINT32_MAX, .check_semantics = true};
  w->good = tvms_optimize(program, &pipeline, &options);
}

static void open_work(work *w, void (*first)(tvms_pass_run *),
                      void (*second)(tvms_pass_run *)) {
  *w = (work){.passes = {first, second}};
  tvms_context_init(&w->context, &tvms_names);
  tvms_status status = tvms_memory_protect_deep(&w->context.memory, run_passes, w);
  cr_assert_eq(status, TVMS_OK);
}

static const tvms_diag *first_error(const work *w) {
  const tvms_diag *diag = w->context.diags.first;
  while (diag && tvms_diag_row_of(diag->id)->severity != TVMS_SEVERITY_ERROR)
    diag = diag->next;
  return diag;
}

Test(semantics, a_pass_that_computes_something_else) {
  work w;
  open_work(&w, keep_meaning, break_number);
  const tvms_diag *diag = first_error(&w);
  cr_assert_not(w.good);
  cr_assert(diag);
  cr_assert_eq(diag->id, TVMS_D_semantics_differ);
  cr_assert(strstr(diag->text, "'add_one' computes something else behind Second: "
                               "y[2, 1] is "),
            "%s", diag->text);
  cr_assert_str_eq(diag->source->name, "--passes");
  tvms_context_fini(&w.context);
}

Test(semantics, a_pass_that_breaks_a_function) {
  work w;
  open_work(&w, break_loop, keep_meaning);
  const tvms_diag *diag = first_error(&w);
  cr_assert_not(w.good);
  cr_assert(diag);
  cr_assert_eq(diag->id, TVMS_D_semantics_fault);
  cr_assert(strstr(diag->text, "'add_one' fails behind First: index "), "%s",
            diag->text);
  tvms_context_fini(&w.context);
}

Test(semantics, passes_that_keep_the_meaning) {
  work w;
  open_work(&w, keep_meaning, keep_meaning);
  cr_assert(w.good);
  cr_assert_eq(w.context.diags.errors, 0);
  // What cannot be run is named, once.
  cr_assert(w.context.diags.first);
  cr_assert_eq(w.context.diags.first->id, TVMS_D_semantics_unknown);
  cr_assert(strstr(w.context.diags.first->text, "'outside' is not compared: "));
  cr_assert_null(w.context.diags.first->next);
  tvms_context_fini(&w.context);
}
