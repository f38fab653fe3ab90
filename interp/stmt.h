// Statements of TIR.
#ifndef TVMS_INTERP_STMT_H
#define TVMS_INTERP_STMT_H

#include "interp/frame.h"

// Runs a statement, and says where it leaves to. What it returned is in the frame.
tvms_interp_flow tvms_interp_exec(tvms_interp_frame *f, const tvms_node *statement);

#endif
