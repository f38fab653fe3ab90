// Where an error of compiled code was, for its text: functions by their names, and the line of the program.
//
// What is called does not know by whom: it leaves its error to the caller, which adds what is said here.
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

// "\n  in 'matmul'": what stands behind an error of a kernel; "" for a Relax function, which has said so itself.
const char *tvms_place_of_callee(tvms_context *context, const tvms_member *callee);

// ", called by 'main' (line 7)": what stands behind the error of what `caller` has called at `span`. It lives as long.
const char *tvms_place_of_caller(tvms_context *context, const tvms_member *caller,
                                 tvms_span span);

#endif
