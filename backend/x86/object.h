// The object of ELF of machine code that was written.
#ifndef TVMS_BACKEND_X86_OBJECT_H
#define TVMS_BACKEND_X86_OBJECT_H

#include "backend/x86/code.h"

// Appends the object: code, texts, zeroed memory, frames, symbols.
void tvms_x86_object(tvms_x86_code *c, tvms_strbuf *out);

#endif
