// The rows of rules.def as a table.
#include "lint/rules.h"

#include "lint/body_walk.h"
#include "lint/deprecated.h"
#include "lint/imports.h"
#include "lint/names.h"
#include "lint/private.h"
#include "lint/relax.h"
#include "lint/relax_style.h"
#include "lint/suppress.h"
#include "lint/tir.h"
#include "support/diag_ids.h"

static const tvms_lint_rule rules[] = {
#define ON  true
#define OFF false
#define RULE(name, default, kind, function)                                            \
  {TVMS_D_##name, default, TVMS_LINT_##kind, tvms_lint_##function},
#include "lint/rules.def"
#undef ON
#undef OFF
};

uint32_t tvms_lint_rule_count(void) {
  return sizeof rules / sizeof rules[0];
}

const tvms_lint_rule *tvms_lint_rule_at(uint32_t index) {
  return &rules[index];
}

const tvms_lint_rule *tvms_lint_rule_of(tvms_diag_id id) {
  for (uint32_t i = 0; i < tvms_lint_rule_count(); i++) {
    if (rules[i].id == id) return &rules[i];
  }
  return NULL;
}
