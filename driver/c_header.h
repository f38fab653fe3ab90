// The header of C for an object file: a function for each public Relax function.
#ifndef TVMS_DRIVER_C_HEADER_H
#define TVMS_DRIVER_C_HEADER_H

#include "ir/module.h"
#include "support/strbuf.h"

// The name of a library in C, made of the name of its file: "my-model.o" is my_model. Lives in the
// context's arena.
const char *tvms_build_header_prefix(tvms_context *context, const char *path);

// Appends the header of a module whose Relax functions have become PrimFuncs (LowerRelaxToTIR).
void tvms_build_header(tvms_context *context, const tvms_module *module,
                       const char *prefix, tvms_strbuf *out);

#endif
