// What is true of statements whatever stands in them, sequences, and the statement that does
// nothing.
//
// A scope is a SEQ, and what one of its statements defines holds to its end. So statements
// of an inner SEQ may move to the outer one unless what follows there would get into a scope
// that it was outside of (docs/architecture.md, "Statements").
#ifndef TVMS_IR_STMT_H
#define TVMS_IR_STMT_H

#include "ir/node.h"

// Does what `stmt` defines hold a body in this release? Then its scope is that body, and the
// text may write it as `with …:`. Otherwise it stands in a row and holds to the end of its
// sequence.
bool tvms_stmt_holds_body(const tvms_node *stmt, tvms_dialect dialect);

// Does it hold a body in every release that has such a statement?
bool tvms_stmt_always_holds_body(const tvms_node *stmt);

// ---- Sequences ----

// Appends a statement, or the statements of a SEQ. A SEQ that opens a scope of its own (an
// attribute holds for the rest of it, and whatever holds a body in this release) stays one statement.
void tvms_stmt_push(tvms_unit *unit, tvms_node_vec *stmts, tvms_node *stmt);

// As tvms_stmt_push for the last statement: nothing follows that a scope could take in.
void tvms_stmt_push_last(tvms_memory *memory, tvms_node_vec *stmts, tvms_node *stmt);

// The SEQ of these statements, the only one, or tvms_stmt_none; the vector is emptied.
tvms_node *tvms_stmt_seq(tvms_unit *unit, tvms_node_vec *stmts, tvms_span span);

// `first` and then `second`, as one flat SEQ.
tvms_node *tvms_stmt_pair(tvms_unit *unit, tvms_node *first, tvms_node *second);

// T.evaluate(0), which stands where a statement must and there is none to make.
tvms_node *tvms_stmt_none(tvms_unit *unit, tvms_span span);

// The function ends here with `value`: the statement, or in older releases T.evaluate of T.ret.
tvms_node *tvms_stmt_return(tvms_unit *unit, tvms_node *value, tvms_span span);

// Evaluates a constant?
bool tvms_stmt_is_none(const tvms_node *stmt);

// Is a value the element of a buffer, as `unit`'s release sees it? Where masked accesses are
// calls (0.27), a masked load is none.
bool tvms_stmt_is_plain_load(const tvms_unit *unit, const tvms_node *value);

// A copy of a statement in its unit that defines variables and buffers of its own; what it
// uses from outside is shared.
tvms_node *tvms_stmt_copy(tvms_unit *unit, tvms_node *stmt);

// `count` such copies, number i of which has `values[i]` in the place of `var`. Expressions that are the same in all of them
// are shared.
void tvms_stmt_copies(tvms_unit *unit, tvms_node *stmt, const tvms_node *var,
                      tvms_node *const *values, uint32_t count, tvms_node **copies);

// ---- Loops ----

// May a jump (T.break_loop, T.continue_loop) leave the step of a loop with this body early?
bool tvms_stmt_jumps(tvms_memory *memory, tvms_node *body);

// A loop like `like` over another variable, of another kind, with `extent` steps and another body.
tvms_node *tvms_stmt_loop_like(tvms_unit *unit, const tvms_for *like, tvms_node *var,
                               uint8_t kind, int64_t extent, tvms_node *body);

#endif
