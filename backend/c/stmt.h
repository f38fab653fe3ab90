// Statements of TIR as statements of C.
#ifndef TVMS_BACKEND_C_STMT_H
#define TVMS_BACKEND_C_STMT_H

#include "backend/c/emit.h"

// Writes a statement. False if nothing behind it is reached.
bool tvms_c_stmt(c_emitter *e, const tvms_node *node);

#endif
