// Which statements hold a body.
//
// Up to TVM 0.23 every definition does: `LetStmt(var, value, body)`, and so do allocations,
// declarations and assertions. Later they stand in a row, allocations of pointers and
// realizations are gone, and only an attribute is left with a body. tvms has them all in a row
// (docs/architecture.md, "Statements"); where a release gives one a body, the reader ends its
// scope with it and the printer chooses between `with` and flat text. Both ask here.
#include "ir/stmt.h"

// By kind: no body; one up to 0.23, later a row; a body wherever the statement exists.
typedef enum {
  BODY_NEVER,
  BODY_ONCE,
  BODY_ALWAYS,
} body_rule;

static body_rule rule_of(const tvms_node *stmt) {
  switch (stmt->kind) {
  case TVMS_NODE_ATTR_STMT:
  case TVMS_NODE_ALLOCATE:
  case TVMS_NODE_ALLOCATE_CONST:
  case TVMS_NODE_BUFFER_REALIZE: return BODY_ALWAYS;
  case TVMS_NODE_BIND:
  case TVMS_NODE_ASSERT:
  case TVMS_NODE_ALLOC_BUFFER:
  case TVMS_NODE_DECL_BUFFER: return BODY_ONCE;
  default: return BODY_NEVER;
  }
}

bool tvms_stmt_holds_body(const tvms_node *stmt, tvms_dialect dialect) {
  if (stmt->kind == TVMS_NODE_ATTR_STMT) return true;
  return rule_of(stmt) != BODY_NEVER
         && tvms_release_has(dialect, TVMS_FACT_definitions_hold_bodies);
}

bool tvms_stmt_always_holds_body(const tvms_node *stmt) {
  return rule_of(stmt) == BODY_ALWAYS;
}
