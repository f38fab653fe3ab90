// Statements of TIR.
#ifndef TVMS_INTERP_STMT_H
#define TVMS_INTERP_STMT_H

#include "interp/frame.h"

// Runs a statement of TIR, and says how it ended: on, break, continue, return.
tvms_interp_flow tvms_interp_exec(tvms_interp_frame *f, const tvms_node *statement);

#endif
