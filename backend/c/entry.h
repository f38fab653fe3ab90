// The entry of a PrimFunc in C: TVM's calling convention around the body.
#ifndef TVMS_BACKEND_C_ENTRY_H
#define TVMS_BACKEND_C_ENTRY_H

#include "backend/c/emit.h"

// Writes the entry of a member, whose body stands before it.
void tvms_c_entry(c_emitter *e, const tvms_member *member);

#endif
