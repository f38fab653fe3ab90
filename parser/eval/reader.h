// Beginning and end of the evaluation of a file.
#ifndef TVMS_PARSER_EVAL_READER_H
#define TVMS_PARSER_EVAL_READER_H

#include "parser/eval/eval.h"

// Makes `reader` ready to evaluate expressions of `surface`, as text of `dialect`, with one
// open scope that binds nothing. `tables` is borrowed. Nodes need a unit, which the caller
// sets; everything else may stay as it is. The reader must not move.
void tvms_reader_init(tvms_reader *reader, tvms_context *context, tvms_surface *surface,
                      tvms_dialect dialect, const struct tvms_eval_tables *tables);

// Goes on as text of another release.
void tvms_reader_set_dialect(tvms_reader *reader, tvms_dialect dialect);

// Frees what the evaluation took; values are gone.
void tvms_reader_fini(tvms_reader *reader);

// What a call calls; anything else is itself.
tvms_ref tvms_reader_callee(const tvms_reader *reader, tvms_ref ref);

// The word that a statement begins with.
tvms_span tvms_reader_keyword(const tvms_reader *reader, tvms_ref stmt);

// True if an error was reported that begins within the span. What the parser has reported
// there takes names away, which are not those of Python then, and changes what the rest means.
bool tvms_reader_was_misread(const tvms_reader *reader, tvms_span span);

#endif
