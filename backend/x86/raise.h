// The function that raises errors, as machine code.
#ifndef TVMS_BACKEND_X86_RAISE_H
#define TVMS_BACKEND_X86_RAISE_H

#include "backend/x86/code.h"

// The function that an entry raises through: void (unused, kind, text, signature, bytes). It raises the text with the
// signature in the place of TVMS_SIGNATURE_MARK, put together in so many bytes, a multiple of 16.
#define TVMS_X86_REFUSE_NAME "tvms.refuse_arguments"

// Adds that function as a hidden symbol; `raise` is the name of the one below.
void tvms_x86_add_refuse(tvms_x86_code *c, const char *raise);

// Adds the function that raises, void (self, kind, text), as a hidden symbol: what self points to gets kind and
// text; without self the host's function is called, or that of tvm-ffi, or none
// (backend/llvm/failure.h).
void tvms_x86_add_raise(tvms_x86_code *c, const char *name);

#endif
