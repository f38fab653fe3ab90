// The function that raises errors, as machine code.
#ifndef TVMS_BACKEND_X86_RAISE_H
#define TVMS_BACKEND_X86_RAISE_H

#include "backend/x86/code.h"

// Adds the function that raises, void (self, kind, text), as a hidden symbol: what self points to gets kind and
// text; without self the host's function is called, or that of tvm-ffi, or none
// (backend/llvm/failure.h).
void tvms_x86_add_raise(tvms_x86_code *c, const char *name);

#endif
