// A module of PrimFuncs as one file of C11 that needs no other.
#ifndef TVMS_BACKEND_C_MODULE_H
#define TVMS_BACKEND_C_MODULE_H

#include "backend/backend.h"

// Appends the text of a module that the pipeline native has lowered. Private functions are
// exported if the module has Relax functions. Of the options `contract` counts. Reports what
// cannot be said and returns TVMS_FOUND_ERRORS.
tvms_status tvms_c_module(tvms_context *context, const tvms_module *module,
                          const tvms_native_options *options, tvms_strbuf *out);

#endif
