// What several TIR passes do with statements.
#ifndef TVMS_PASSES_TIR_STMTS_H
#define TVMS_PASSES_TIR_STMTS_H

#include "ir/build.h"
#include "ir/rewrite.h"
#include "passes/edit.h"
#include "support/vec.h"

typedef struct {
  tvms_node **items;
  uint32_t len;
  uint32_t cap;
} tvms_stmt_vec;

// Appends a statement, or the statements of a sequence. A sequence that opens a scope of
// its own (an attribute holds for the rest of it) stays one statement.
void tvms_stmt_push(tvms_memory *memory, tvms_stmt_vec *stmts, tvms_node *stmt);

// As tvms_stmt_push for the last statement: nothing follows that a scope could take in.
void tvms_stmt_push_last(tvms_memory *memory, tvms_stmt_vec *stmts, tvms_node *stmt);

// The sequence of these statements, or the only one; the vector is emptied.
tvms_node *tvms_stmt_seq(tvms_unit *unit, tvms_stmt_vec *stmts, tvms_span span);

// `first` and then `second`, as one flat sequence.
tvms_node *tvms_stmt_pair(tvms_unit *unit, tvms_node *first, tvms_node *second);

// Evaluate(0): nothing.
tvms_node *tvms_stmt_none(tvms_unit *unit, tvms_span span);
bool tvms_stmt_is_none(const tvms_node *stmt);

// What holds in the else branch of `if condition`: its negation; for a number or a pointer,
// which TVM takes as conditions too, that it is zero.
tvms_node *tvms_otherwise(tvms_unit *unit, tvms_node *condition);

// A copy of a statement in its unit that defines variables and buffers of its own; what it
// uses from outside is shared.
tvms_node *tvms_stmt_copy(tvms_unit *unit, tvms_node *stmt);

// Sets up a rewriter for the body of a PrimFunc.
typedef void (*tvms_stmt_setup)(tvms_rewriter *rewriter);

// Rewrites every PrimFunc of the module with the hooks that `setup` installs.
void tvms_rewrite_prim_funcs(tvms_pass_run *run, tvms_stmt_setup setup);

#endif
