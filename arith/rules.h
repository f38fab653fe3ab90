// Codes of the tables made from arith/rewrite.rules, shared with the matcher.
#ifndef TVMS_ARITH_RULES_H
#define TVMS_ARITH_RULES_H

#include "arith/internal.h"

// Prefix code of patterns and results: a node kind, followed by its operands, or …
enum {
  R_NOTHING = 0,
  R_VAR = 200,      // + number of the variable
  R_INT = 210,      // + number of the integer constant
  R_FLOAT = 214,    // the float constant
  R_LITERAL = 220,  // and its value, a signed byte; dtype of the neighbour
  R_LIKE = 221,     // variable, value: a constant with the dtype of the variable
  R_TRUE = 222,
  R_FALSE = 223,
};

// Prefix code of conditions.
enum {
  C_NUMBER = 1,  // signed byte
  C_INT,         // number of the integer constant
  C_FLOAT,       // 0 if the float constant is zero, else 1
  C_ADD,
  C_SUB,
  C_MUL,
  C_DIV,
  C_MOD,
  C_BITS,
  C_EQ,
  C_NE,
  C_LT,
  C_LE,
  C_GT,
  C_GE,
  C_AND,
  C_OR,
  C_PROVE_GE,  // expression, number
  C_PROVE_LT,
  C_PROVE_EQ,
  C_PURE,  // expression
  C_VSCALE,
  C_PROVES,
};

// The releases that have a rule.
enum { ALWAYS, SINCE, BEFORE, ONLY_IN, NOT_IN };

enum { GUARD_ANY, GUARD_VECTOR, GUARD_INDEX, GUARD_OTHER, GUARD_UNSIGNED };

typedef struct {
  uint16_t pattern;  // offsets in tvms_rule_code
  uint16_t result;
  uint16_t condition;  // 0: none
  uint8_t guard;
  uint8_t again;    // simplify the result again
  uint8_t where;    // ALWAYS, or relative to `release`
  uint8_t release;  // tvms_dialect
  // Kinds that the first two operands must have; R_NOTHING: any. Most rules end here.
  uint8_t operands[2];
  // A rule written in C; NULL: pattern and result. Returns NULL if it does not apply.
  tvms_node *TVMS_NULLABLE (*TVMS_NULLABLE function)(tvms_simplifier *, tvms_node *);
} tvms_rewrite_rule;

typedef struct {
  const tvms_rewrite_rule *begin;
  const tvms_rewrite_rule *end;
} tvms_rules;

extern const uint8_t tvms_rule_code[];
extern const tvms_rules tvms_rules_of[TVMS_NODE_COUNT];

#define RULE(name)                                                                     \
  tvms_node *TVMS_NULLABLE tvms_rule_##name(tvms_simplifier *, tvms_node *)
RULE(ramp_tdiv);
RULE(ramp_tmod);
RULE(ramp_floor_div);
RULE(ramp_floor_mod);
RULE(tmod_modular);
RULE(floor_div_product);
RULE(floor_div_unsigned);
RULE(floor_mod_range);
RULE(floor_mod_unsigned);
RULE(extreme_by_bounds);
RULE(equal_by_comparison);
RULE(less_by_comparison);
RULE(less_merge_constants);
RULE(less_common_factor);
#undef RULE

#endif
