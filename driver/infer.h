// What is known of the values of a program: the type of every parameter, binding and
// result of Relax functions, and of their symbolic variables where each gets its value.
#ifndef TVMS_DRIVER_INFER_H
#define TVMS_DRIVER_INFER_H

#include "ir/module.h"

#include <tvms/types.h>

// A showing in progress.
typedef struct tvms_infer tvms_infer;

// Shows the facts of each module that is added, in order, with types as `dialect`
// writes them. `visit` gets `self`. tvms_infer_close must follow.
tvms_infer *tvms_infer_open(tvms_context *context, tvms_dialect dialect,
                            tvms_fact_visit *visit, void *self);

// Shows the facts of one more module. The module may be dropped afterwards.
void tvms_infer_add(tvms_infer *infer, const tvms_module *module);

// Ends the facts; `infer` dies.
void tvms_infer_close(tvms_infer *infer);

#endif
