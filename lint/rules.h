// The table of lint rules.
#ifndef TVMS_LINT_RULES_H
#define TVMS_LINT_RULES_H

#include "lint/lint.h"

typedef enum {
  TVMS_LINT_FILE,
  TVMS_LINT_SURFACE,
  TVMS_LINT_MODULE,
  TVMS_LINT_PRIM_FUNC,
  TVMS_LINT_RELAX,
  TVMS_LINT_COMMENTS,
} tvms_lint_looks_at;

// Reports what a rule, or several that share their work, find.
typedef void tvms_lint_function(tvms_lint *lint);

// A row of rules.def.
typedef struct {
  tvms_diag_id id;
  bool on;  // by default
  tvms_lint_looks_at looks_at;
  tvms_lint_function *function;
} tvms_lint_rule;

// The number of rows.
uint32_t tvms_lint_rule_count(void);

// Row `index`, in the order of the table.
const tvms_lint_rule *tvms_lint_rule_at(uint32_t index);

// The row of a diagnostic, or NULL if it is not a lint.
const tvms_lint_rule *TVMS_NULLABLE tvms_lint_rule_of(tvms_diag_id id);

#endif
