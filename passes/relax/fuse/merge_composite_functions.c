// MergeCompositeFunctions: what one back end takes over becomes one function for it.
//
// Before: lv = cls.conv(x, w); gv = cls.relu(lv)     with {"Composite": "dnnl.conv2d"} and
//                                                    {"Composite": "dnnl.relu"}
// After:  gv = cls.fused_conv_relu_dnnl(x, w)        with {"Codegen": "dnnl"}, a public function
//                                                    in which both are local functions
//
// Calls in main are merged as long as no value would have to leave the back end and come back
// (composite_groups.h). Functions that nothing calls any more go.
// TVM: relax.transform.MergeCompositeFunctions.
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/relax/fuse/codegen_function.h"
#include "passes/relax/fuse/composite_groups.h"
#include "passes/relax/fuse/group_functions.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/mutator.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static const tvms_member *TVMS_NULLABLE main_of(tvms_pass_run *run) {
  tvms_sym name = tvms_symbol_intern(run->context, "main", 4);
  const tvms_member *member = tvms_module_find(run->module, name);
  bool relax =
      member && member->function && member->function->kind == TVMS_NODE_FUNCTION;
  return relax ? member : NULL;
}

static tvms_node *text_object(tvms_unit *unit, const char *text) {
  return tvms_object_str_new(unit, text, strlen(text), TVMS_NO_SPAN);
}

static tvms_sym name_of(const tvms_node *function) {
  return tvms_as_function(function)->name;
}

// ---- Groups become functions ----

static tvms_node *group_main(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const tvms_member *member = main_of(run);
  if (name_of(function) != member->name) return function;
  tvms_composite_groups found;
  tvms_fuse_composite_groups(run->module, unit, function, &found);
  tvms_node **attrs = tvms_arena_array(&unit->arena, tvms_node *, found.count + 1);
  for (uint32_t i = 0; i < found.count; i++) {
    attrs[i] = NULL;
    if (!found.codegen[i]) continue;
    tvms_node *text =
        text_object(unit, tvms_symbol_text(run->context, found.codegen[i]));
    attrs[i] = tvms_object_map_with(unit, NULL, "Codegen", text);
  }
  tvms_fuse_groups groups = {.group_of = found.group_of,
                             .ids = found.ids,
                             .count = found.count,
                             .sizes = found.sizes,
                             .attrs = attrs};
  tvms_node *changed = tvms_fuse_groups_apply(run, unit, function, &groups);
  tvms_fuse_composite_groups_fini(&run->context->memory, &found);
  return changed;
}

// ---- Their functions stand on their own ----

typedef struct {
  tvms_relax_mutator m;
  tvms_node_map local;  // composite FUNCTION of the module → variable of its copy
  uint32_t *names;      // drawn for copies so far, in all functions, as TVM counts them
} inliner;

static tvms_node *without(tvms_unit *unit, tvms_node *function, const char *key) {
  tvms_node *attrs = tvms_as_function(function)->attrs;
  tvms_as_function(function)->attrs = tvms_object_map_with(unit, attrs, key, NULL);
  return function;
}

// The variable of a local copy of a composite function, bound where it is first called.
static tvms_node *local_copy(inliner *s, tvms_node *composite) {
  tvms_node *known = tvms_node_map_get(&s->local, composite);
  if (known) return known;
  tvms_node *copy = tvms_clone(s->m.unit, composite, NULL);
  without(s->m.unit, copy, "Primitive");
  copy->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  const tvms_function *function = tvms_as_function(copy);
  copy->sinfo = tvms_sinfo_func_new_of_vars(s->m.unit, function->params, function->ret,
                                            copy->flags & TVMS_FLAG_PURE);
  char name[16];
  uint32_t number = (*s->names)++;
  snprintf(name, sizeof name, number ? "gv%u" : "gv", number);
  known = tvms_relax_emit(&s->m.emitter, &s->m.rewriter, copy, name);
  tvms_node_map_put(&s->local, composite, known);
  return known;
}

static tvms_node *inline_composite(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_mutator *m = r->self;
  inliner *s = m->self;
  const tvms_node *callee = tvms_as_call(node)->callee;
  if (!tvms_fuse_composite_codegen(m->run->module, callee)) return node;
  const tvms_member *member =
      tvms_module_find(m->run->module, tvms_as_global_var(callee)->name);
  tvms_node *local = local_copy(s, member->function);
  tvms_node *made = tvms_node_copy(m->unit, node);
  tvms_as_call(made)->callee = local;
  return made;
}

// The nodes are a fresh copy, which nobody else has seen.
static tvms_walk_step make_plain(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  bool marked = node->kind == TVMS_NODE_BINDING_BLOCK
                || (node->kind == TVMS_NODE_VAR && tvms_dtype_is_void(node->dtype));
  if (marked) node->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
  return TVMS_WALK_ON;
}

static tvms_node *stand_alone(tvms_pass_run *run, tvms_unit *unit,
                              const tvms_node *function, uint32_t *names) {
  tvms_node *copy = tvms_clone(unit, function, NULL);
  inliner s = {.names = names};
  tvms_visitor visitor = {.enter = make_plain};
  tvms_walk(&run->context->memory, copy, &visitor);
  tvms_relax_mutator_init(&s.m, run, unit, &s);
  tvms_node_map_init(&s.local, &run->context->memory);
  s.m.rewriter.leave[TVMS_NODE_CALL] = inline_composite;
  copy = tvms_node_copy(unit, tvms_relax_mutate(&s.m, copy));
  tvms_node_map_fini(&s.local);
  tvms_relax_mutator_fini(&s.m);
  copy->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  return without(unit, copy, "Primitive");
}

// ---- main calls them ----

typedef struct {
  tvms_pass_run *run;
  tvms_node_map
      renamed;  // FUNCTION of the module → GLOBAL_VAR of the one that replaces it
  uint32_t names;
} annotator;

static const char *TVMS_NULLABLE codegen_of(const tvms_node *function) {
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  return tvms_object_as_text(tvms_object_map_get(attrs, "Codegen"));
}

static tvms_node *rename_callee(tvms_rewriter *r, tvms_node *node) {
  annotator *a = r->self;
  const tvms_node *callee = tvms_as_call(node)->callee;
  const tvms_member *member =
      tvms_module_function_named(a->run->module, callee, TVMS_NODE_FUNCTION);
  const tvms_node *function = member ? member->function : NULL;
  const char *codegen = function ? codegen_of(function) : NULL;
  if (!codegen) return node;
  tvms_node *renamed = tvms_node_map_get(&a->renamed, function);
  if (!renamed) {
    tvms_unit *unit = tvms_functions_open_unit(a->run);
    tvms_node *made = stand_alone(a->run, unit, function, &a->names);
    tvms_sym name =
        tvms_fuse_add_codegen_function(a->run, name_of(function), codegen, unit, made);
    renamed = tvms_node_copy(r->unit, callee);
    tvms_as_global_var(renamed)->name = name;
    renamed->sinfo = NULL;
    tvms_node_map_put(&a->renamed, function, renamed);
  }
  tvms_node *made = tvms_node_copy(r->unit, node);
  tvms_as_call(made)->callee = renamed;
  return made;
}

static tvms_node *annotate_main(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  if (name_of(function) != main_of(run)->name) return function;
  annotator a = {.run = run};
  tvms_rewriter rewriter;
  tvms_node_map_init(&a.renamed, &run->context->memory);
  tvms_rewriter_init(&rewriter, unit, &a);
  rewriter.leave[TVMS_NODE_CALL] = rename_callee;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&a.renamed);
  return changed;
}

void tvms_pass_merge_composite_functions(tvms_pass_run *run) {
  if (!main_of(run)) {
    tvms_diag_report(&run->context->diags, TVMS_D_no_main, TVMS_NO_SPAN,
                     "MergeCompositeFunctions");
    return;
  }
  tvms_functions_change(run, TVMS_NODE_FUNCTION, group_main);
  tvms_functions_change(run, TVMS_NODE_FUNCTION, annotate_main);
  tvms_dead_code_eliminate(run, "main");
}
