// The entry of a PrimFunc in C: TVM's calling convention around the body.
#ifndef TVMS_BACKEND_C_ENTRY_H
#define TVMS_BACKEND_C_ENTRY_H

#include "backend/c/emit.h"

// Do others see the entry of a function?
bool tvms_c_is_exported(const c_emitter *e, const tvms_member *member);

// The name of an entry in C.
const char *tvms_c_entry_name(c_emitter *e, const tvms_member *member);

// Writes the entry of a member, whose body stands before it.
void tvms_c_entry(c_emitter *e, const tvms_member *member);

// Writes the function for C of a PrimFunc that has a contract (ir/contract.h), if such are wanted:
// it takes the structs of driver/c_header.h.
void tvms_c_plain(c_emitter *e, const tvms_member *member);

#endif
