// Functions of C that a program calls and does not have: what a library of it must be linked with.
#ifndef TVMS_DRIVER_EXTERNS_H
#define TVMS_DRIVER_EXTERNS_H

#include "ir/module.h"
#include "support/vec.h"

// One of them, where it is called first.
typedef struct {
  const char *name;
  tvms_span span;
} tvms_extern;

typedef TVMS_VEC(tvms_extern) tvms_externs;

// Appends those of the PrimFuncs of a module, in order, once each. Names are the context's; the caller frees the vector.
void tvms_build_collect_externs(const tvms_module *module, tvms_externs *externs);

#endif
