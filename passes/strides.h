// What passes take for granted of buffers and TVM does not check where it reads a program.
#ifndef TVMS_PASSES_STRIDES_H
#define TVMS_PASSES_STRIDES_H

#include "ir/module.h"

// True if every buffer of the PrimFuncs that has strides has one per dimension; else each
// function that has others is reported, with the first such buffer.
bool tvms_pass_strides_fit(const tvms_module *module);

#endif
