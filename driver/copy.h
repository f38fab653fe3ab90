// Copies of programs that share nothing with the original.
#ifndef TVMS_DRIVER_COPY_H
#define TVMS_DRIVER_COPY_H

#include "ir/module.h"

// A copy of a module, which the caller destroys.
tvms_module *tvms_copy_module(const tvms_module *module);

// A copy of a program, to be changed or kept when the original goes.
tvms_program *tvms_copy_program(const tvms_program *program);

// Frees a copy and the module that driver/runnable.h made of it: one of the copy's, or the
// joined one, which has got their functions. NULL: it could not make one.
void tvms_copy_destroy(tvms_program *copy, tvms_module *TVMS_NULLABLE module);

#endif
