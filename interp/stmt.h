// Statements of TIR.
#ifndef TVMS_INTERP_STMT_H
#define TVMS_INTERP_STMT_H

#include "interp/frame.h"

// Runs a statement, and says where it leaves to. What it returned is in the frame.
tvms_interp_flow tvms_interp_exec(tvms_interp_frame *f, const tvms_node *statement);

// Defines a buffer that a block declares on a part of another one (a MATCH_BUFFER_REGION): with
// the strides of that and a shape of its own.
void tvms_interp_match_region(tvms_interp_frame *f, const tvms_node *node);

// The fault of an assertion that does not hold.
TVMS_NORETURN void tvms_interp_fail_assertion(tvms_interp_frame *f,
                                              const tvms_node *node);

#endif
