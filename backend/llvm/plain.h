// Functions for C: the arguments of a Relax function as a struct.
#ifndef TVMS_BACKEND_LLVM_PLAIN_H
#define TVMS_BACKEND_LLVM_PLAIN_H

#include "backend/llvm/emit.h"

// Makes `<prefix>_<name>(in, out, workspace)` (backend/core/plain.h) of a function that has a contract
// (ir/contract.h): it loads the fields of the structs, in the order of the parameters with the
// sizes behind the arguments, and calls the body.
void tvms_emit_plain(emitter *e, const tvms_member *member, const char *prefix);

#endif
