// Variables of Relax that are bound and never used.
//
// A call that does something besides its result may stand for itself, and so may a match_cast,
// which checks; variables of shapes and scalars may be needed by types only. Patterns of
// rewriters bind what they match.
#include "lint/relax.h"

#include "lint/relax_memory.h"
#include "lint/tir_values.h"
#include "structinfo/definitions.h"
#include "structinfo/infer.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_lint *lint;
  tvms_relax_definitions definitions;
  tvms_lint_calls calls;
} search;

// Whether nothing but the result of computing `value` can have been meant.
static bool is_vain(const tvms_lint *lint, const tvms_node *value) {
  switch ((int)value->kind) {
  case TVMS_NODE_CALL:
    return tvms_infer_call_is_pure(lint->module, tvms_as_call(value));
  case TVMS_NODE_TUPLE_GET_ITEM:  // one of several that are taken apart together
  case TVMS_NODE_IF:
  case TVMS_NODE_SEQ_EXPR: return false;
  default: return true;
  }
}

static bool may_serve_types(const tvms_node *var) {
  const tvms_node *type = var->sinfo;
  return !type || type->kind == TVMS_NODE_SINFO_SHAPE
         || type->kind == TVMS_NODE_SINFO_PRIM;
}

// Where a variable of an empty tuple is used, reading puts R.tuple(), as TVM does.
static bool is_empty_tuple(const tvms_node *var) {
  const tvms_node *type = var->sinfo;
  return type && type->kind == TVMS_NODE_SINFO_TUPLE
         && tvms_as_sinfo_tuple(type)->fields.len == 0;
}

static void report(const search *s, tvms_diag_id id, const tvms_node *var) {
  const char *name = tvms_symbol_text(s->lint->context, tvms_as_var(var)->name);
  if (name[0] == '_' || name[0] == '\0' || !var->span.end) return;
  tvms_diag_report(&s->lint->context->diags, id, var->span, name);
}

static void check_binding(const search *s, const tvms_relax_definition *found) {
  const tvms_var_binding *binding = tvms_as_var_binding(found->binding);
  bool used =
      found->uses || may_serve_types(binding->var) || is_empty_tuple(binding->var);
  if (!used && is_vain(s->lint, binding->value))
    report(s, TVMS_D_unused_binding, binding->var);
}

static void check_bindings(search *s) {
  for (uint32_t id = 0; id < s->definitions.len; id++) {
    const tvms_relax_definition *found = &s->definitions.items[id];
    if (!found->binding || found->binding->kind != TVMS_NODE_VAR_BINDING) continue;
    check_binding(s, found);
    const tvms_node *value = tvms_as_var_binding(found->binding)->value;
    if (value->kind == TVMS_NODE_CALL) tvms_lint_note_call(&s->calls, value);
  }
}

static void check_parameters(const search *s, const tvms_node *node) {
  tvms_diag_id id = tvms_lint_is_inner(s->lint) ? TVMS_D_unused_relax_parameter
                                                : TVMS_D_unused_public_relax_parameter;
  tvms_list params = tvms_as_function(node)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    const tvms_node *var = params.items[i];
    if (tvms_relax_definitions_of(&s->definitions, var).uses || may_serve_types(var)
        || is_empty_tuple(var))
      continue;
    report(s, id, var);
  }
}

static bool check_type(const search *s, const tvms_node *var) {
  const tvms_node *type = var->sinfo;
  return type && type->kind == TVMS_NODE_SINFO_TENSOR
         && tvms_lint_check_dtype(s->lint, TVMS_D_tensor_dtype_width, type->dtype,
                                  var->span);
}

// The first parameter or binding whose elements have a type that no machine has: what is
// computed of it has the type, too.
static void check_types(const search *s, const tvms_node *node) {
  tvms_list params = tvms_as_function(node)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    if (check_type(s, params.items[i])) return;
  }
  for (uint32_t id = 0; id < s->definitions.len; id++) {
    const tvms_node *binding = s->definitions.items[id].binding;
    if (!binding || binding->kind != TVMS_NODE_VAR_BINDING) continue;
    if (check_type(s, tvms_as_var_binding(binding)->var)) return;
  }
}

void tvms_lint_relax(tvms_lint *lint) {
  if (lint->module->rewriter) return;
  search s = {.lint = lint};
  tvms_relax_definitions_init(&s.definitions, lint->unit, lint->function);
  check_bindings(&s);
  check_parameters(&s, lint->function);
  check_types(&s, lint->function);
  tvms_relax_definitions_fini(&s.definitions);
  tvms_lint_check_calls(lint, &s.calls);
}
