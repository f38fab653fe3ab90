// Annotations that say what is known without them, or less; calls that no dataflow block holds.
//
// Passes look at dataflow blocks only, so what could stand in one and does not is not fused and
// not removed. One call alone is not worth a block.
#include "lint/relax_style.h"

#include "ir/walk.h"
#include "structinfo/infer.h"
#include "structinfo/relate.h"
#include "support/diag_ids.h"
#include "support/trial.h"

typedef struct {
  tvms_lint *lint;
  tvms_prover prover;
} search;

enum { FEWEST = 2 };  // calls that are worth a block

// ---- Annotations ----

// The annotation of the variable that is bound at `place`, with the colon; empty if there is none.
static tvms_span annotation_at(const tvms_surface *surface, uint32_t place) {
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    if (node->kind != TVMS_SURF_ANN_ASSIGN || !node->c) continue;
    if (tvms_surface_at(surface, node->a)->begin != place) continue;
    return (tvms_span){tvms_surface_at(surface, node->a)->end,
                       tvms_surface_at(surface, node->b)->end};
  }
  return (tvms_span){0, 0};
}

static void report(search *s, tvms_diag_id id, const tvms_node *var) {
  tvms_span span = annotation_at(s->lint->surface, var->span.begin);
  if (!span.end || !tvms_lint_wants(s->lint, id)) return;
  tvms_diags *diags = &s->lint->context->diags;
  const char *name = tvms_symbol_text(s->lint->context, tvms_as_var(var)->name);
  tvms_diag *diag = tvms_diag_report(diags, id, var->span, name);
  tvms_diag_fix(diags, diag, span, id == TVMS_D_redundant_annotation, "%s", "");
}

// What the type of a call would be without the annotation; NULL: nothing is known.
static tvms_node *TVMS_NULLABLE inferred(search *s, const tvms_node *value) {
  tvms_diags *diags = &s->lint->context->diags;
  tvms_inference in = {.prover = &s->prover,
                       .unit = s->lint->unit,
                       .module = s->lint->module,
                       .call = tvms_as_call(value)};
  tvms_trial_mute(diags);
  tvms_node *found = tvms_infer_call(&in);
  tvms_trial_unmute(diags);
  return found;
}

// Only calls take over what their annotation says.
static void check_annotation(search *s, const tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  bool annotated = node->flags & TVMS_FLAG_ANNOTATED && binding->var->span.end;
  if (!annotated || binding->value->kind != TVMS_NODE_CALL) return;
  tvms_node *said = binding->var->sinfo, *known = inferred(s, binding->value);
  if (!said || !known) return;
  if (tvms_sinfo_relate(&s->prover, said, known) != TVMS_FIT_PROVED) return;
  bool same = tvms_sinfo_relate(&s->prover, known, said) == TVMS_FIT_PROVED;
  report(s, same ? TVMS_D_redundant_annotation : TVMS_D_weaker_annotation,
         binding->var);
}

// ---- Dataflow ----

static bool could_flow(const search *s, const tvms_node *node) {
  if (node->kind != TVMS_NODE_VAR_BINDING) return false;
  const tvms_node *value = tvms_as_var_binding(node)->value;
  return value->kind == TVMS_NODE_CALL
         && tvms_infer_call_is_pure(s->lint->module, tvms_as_call(value));
}

static void check_block(search *s, const tvms_node *node) {
  tvms_list bindings = tvms_as_binding_block(node)->bindings;
  if (node->flags & TVMS_FLAG_DATAFLOW) return;
  for (uint32_t i = 0; i < bindings.len;) {
    uint32_t first = i;
    while (i < bindings.len && could_flow(s, bindings.items[i]))
      i++;
    uint32_t count = i - first;
    const tvms_node *var =
        count ? tvms_as_var_binding(bindings.items[first])->var : NULL;
    if (count >= FEWEST && var->span.end)
      tvms_diag_report(&s->lint->context->diags, TVMS_D_outside_dataflow, var->span,
                       count);
    i += !count;
  }
}

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  search *s = self;
  if (node->kind == TVMS_NODE_VAR_BINDING) check_annotation(s, node);
  if (node->kind == TVMS_NODE_BINDING_BLOCK
      && tvms_lint_wants(s->lint, TVMS_D_outside_dataflow))
    check_block(s, node);
  return TVMS_WALK_ON;
}

void tvms_lint_relax_style(tvms_lint *lint) {
  if (lint->module->rewriter) return;
  search s = {.lint = lint};
  tvms_prover_init(&s.prover, lint->unit);
  tvms_visitor visitor = {.self = &s, .enter = see};
  (void)tvms_walk(&lint->context->memory, lint->function, &visitor);
  tvms_prover_fini(&s.prover);
}
