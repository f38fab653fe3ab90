// Statements, and sequences of them: what is flat in tvms may be nested in the text.
#ifndef TVMS_PRINTER_STMT_H
#define TVMS_PRINTER_STMT_H

#include "printer/state.h"

// The statements of a scope, with the indentation that p->indent says; `T.evaluate(0)` if
// there are none.
void tvms_print_body(tvms_printer *p, const tvms_node *stmt);

// A statement with its line or lines, in any place but as the head of a scope.
void tvms_print_stmt(tvms_printer *p, const tvms_node *stmt);

// Does the rest of a sequence belong to the statement in the release that is written
// (ir/stmt.h)?
bool tvms_print_opens(const tvms_printer *p, const tvms_node *stmt);

// A line that binds the pointer of a DECL_BUFFER if its source is not something that could
// stand after `data=` up to 0.25; otherwise nothing.
void tvms_print_bind_data(tvms_printer *p, const tvms_node *stmt);

// What TVM has as one statement: the only item of a SEQ, the first one if the rest is its
// body, or the SEQ itself.
const tvms_node *tvms_print_only(const tvms_printer *p, const tvms_node *stmt);

#endif
