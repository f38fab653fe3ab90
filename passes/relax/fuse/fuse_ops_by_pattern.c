// FuseOpsByPattern: calls that look like a pattern become a function with its name.
//
//   @R.rewriter
//   class gemm_relu:                       the pattern stands in the text of the program
//       @R.function
//       def pattern(x: R.Tensor("float32", ndim=2), w: R.Tensor("float32", ndim=2)):
//           R.func_attr({"Composite": "blas.gemm_relu"})
//           return R.nn.relu(R.matmul(x, w))
//
// Before: lv = R.matmul(x, w); gv = R.nn.relu(lv)
// After:  gv = cls.fused_relax_matmul_relax_nn_relu(x, w), a private function with
//         {"Composite": "blas.gemm_relu"}
//
// `patterns` names such classes, or a file that has them, by a name that ends in .tvms:
// FuseOpsByPattern{patterns=blas.tvms}. Patterns are tried in the order of `patterns`, or of the text; the first is the strongest: what
// is in a group stays, unless a later match of the same pattern contains all of it. Attributes of
// operators do not count, types of parameters do. `bind_constants` keeps constants inside,
// `annotate_codegen` wraps each function for its back end, which is the name up to the dot. The
// replacement of a rewriter is not used. TVM: relax.transform.FuseOpsByPattern, whose patterns are
// built in Python.
#include "passes/relax/fuse/annotate_codegen.h"
#include "passes/relax/fuse/pattern_groups.h"
#include "passes/relax/pattern/rewriter_class.h"
#include "support/diag_ids.h"

#include <string.h>

static bool is_listed(const tvms_literal *names, const char *name) {
  for (uint32_t i = 0; i < names->len; i++)
    if (strcmp(names->items[i].text, name) == 0) return true;
  return names->len == 0;
}

typedef struct {
  const tvms_module *rewriter;
  tvms_relax_emitter names;
} state;

static tvms_pattern *build(const tvms_fuse_pattern *self, tvms_pattern_set *set,
                           tvms_unit *unit) {
  return tvms_relax_pattern_of_class(set, unit, ((state *)self->data)->rewriter);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const tvms_literal *entries =
      TVMS_OPTION(run, FuseOpsByPattern, entry_functions).literal;
  const char *name = tvms_symbol_text(run->context, tvms_as_function(function)->name);
  state *s = run->state;
  tvms_fuse_pattern pattern = {
      .name = tvms_relax_pattern_class_name(s->rewriter),
      .names = &s->names,
      .keep_constants = TVMS_OPTION(run, FuseOpsByPattern, bind_constants).number != 0,
      .data = s,
      .build = build};
  return is_listed(entries, name)
             ? tvms_fuse_pattern_groups(run, unit, function, &pattern)
             : function;
}

static void apply(tvms_pass_run *run, const tvms_module *rewriter) {
  void *outer = run->state;
  state s = {.rewriter = rewriter, .names = {.memory = &run->context->memory}};
  run->state = &s;
  tvms_functions_change_by_name(run, TVMS_NODE_FUNCTION, change);
  run->state = outer;
  tvms_relax_emitter_fini(&s.names);
}

// Applies the rewriters of the program with this name, NULL: all. False if there is none.
static bool apply_named(tvms_pass_run *run, const tvms_program *TVMS_NULLABLE program,
                        const char *TVMS_NULLABLE name) {
  bool found = false;
  for (uint32_t i = 0; program && i < program->count; i++) {
    const tvms_module *module = program->modules[i];
    if (!module->rewriter) continue;
    if (name && strcmp(tvms_symbol_text(run->context, module->name), name) != 0)
      continue;
    found = true;
    apply(run, module);
  }
  return found;
}

static bool is_file(const char *name) {
  static const char ending[] = ".tvms";
  size_t len = strlen(name), tail = sizeof ending - 1;
  return len > tail && strcmp(name + len - tail, ending) == 0;
}

// Applies what an item of the option `patterns` says: a file of rewriters, or the name of one.
static void apply_item(tvms_pass_run *run, const char *name) {
  bool file = is_file(name) && run->read;
  const tvms_program *program = file ? run->read(run->data, name) : run->program;
  if (file && !program) return;
  if (apply_named(run, program, file ? NULL : name)) return;
  tvms_diag_report(&run->context->diags, TVMS_D_no_such_pattern, run->module->name_span,
                   name);
}

void tvms_pass_fuse_ops_by_pattern(tvms_pass_run *run) {
  if (run->module->rewriter) return;
  const tvms_literal *names = TVMS_OPTION(run, FuseOpsByPattern, patterns).literal;
  if (names->len == 0) apply_named(run, run->program, NULL);
  for (uint32_t i = 0; i < names->len; i++) {
    if (names->items[i].text) apply_item(run, names->items[i].text);
  }
  if (TVMS_OPTION(run, FuseOpsByPattern, annotate_codegen).number)
    tvms_fuse_annotate_codegen(run);
}
