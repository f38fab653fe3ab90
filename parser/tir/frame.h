// Frames of a PrimFunc: opened, closed, and the statements in between.
#ifndef TVMS_PARSER_TIR_FRAME_H
#define TVMS_PARSER_TIR_FRAME_H

#include "parser/tir/tir.h"

// A frame of this kind, not yet opened, in the memory of the function's values.
// A frame of a kind that nothing has entered, made by the expression at `ref`. It lives until
// the function has been read.
tvms_frame *tvms_frame_new(tvms_reader *reader, tvms_frame_kind kind, tvms_ref ref);

// The frame as a value that `with` can open and `as` can name.
tvms_eval_value tvms_frame_value(tvms_frame *frame);

// A frame of one statement that holds for what follows it; `result` is what it names.
tvms_eval_value tvms_frame_binder(tvms_reader *reader, tvms_node *stmt,
                                  tvms_eval_value result, tvms_ref ref);

// Opens a frame, flat if it is entered without `with` and can be; false after a report (it is
// not open then).
bool tvms_frame_enter(tvms_reader *reader, tvms_frame *frame, bool flat);

// Closes `frame`, which is open, and first the flat ones above it.
void tvms_frame_exit(tvms_reader *reader, tvms_frame *frame);

// Adds a statement to the innermost frame.
void tvms_frame_emit(tvms_reader *reader, tvms_node *stmt);

// The statements from `begin` on as one body, taken off the stack.
tvms_node *tvms_frame_take_body(tvms_reader *reader, uint32_t begin, tvms_span span);

// The innermost frame if it is of `kind`; else NULL after a report that `what` must stand at
// the top of one.
tvms_frame *TVMS_NULLABLE tvms_frame_top(tvms_reader *reader, tvms_frame_kind kind,
                                         const char *what, tvms_ref ref);

// The innermost open frame of `kind`, or NULL.
tvms_frame *TVMS_NULLABLE tvms_frame_find(tvms_reader *reader, tvms_frame_kind kind);

#endif
