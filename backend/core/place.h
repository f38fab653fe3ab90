// Where an error of compiled code was, for its text: functions by their names, and the line of the program.
//
// Kernels are called by Relax functions, whose names and lines a kernel does not know: it leaves its error to the
// Relax function, which raises it with what is said here.
#ifndef TVMS_BACKEND_CORE_PLACE_H
#define TVMS_BACKEND_CORE_PLACE_H

#include "ir/module.h"

// Was this PrimFunc a Relax function (LowerRelaxToTIR)?
bool tvms_place_is_relax(const tvms_node *function);

// The text of an error at `span` of a Relax function, with "\n  in 'main' (line 7)" behind it; with `numbers` as a
// format of printf, which gets two numbers of 64 bits for "{left}" and "{right}" (interp/meaning.h). It lives
// until the scratch arena is reset.
const char *tvms_place_text(tvms_context *context, const tvms_member *function,
                            tvms_span span, const char *text, bool numbers);

// "\n  in 'matmul', called by 'main' (line 7)": what an error of `callee` ends with that `caller`, a Relax
// function, has called at `span`. It lives as long.
const char *tvms_place_of_call(tvms_context *context, const tvms_member *caller,
                               const tvms_member *callee, tvms_span span);

#endif
