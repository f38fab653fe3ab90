// What recovery asks of tokens: what to call one that the grammar refuses, and where a statement
// begins.
#ifndef TVMS_GRAMMAR_REFUSED_H
#define TVMS_GRAMMAR_REFUSED_H

#include "grammar/indentation.h"

// Writes what a token of `source` is called in a message: in quotes as it is written, cut if
// it is long, or in words. `nested`: it is of an expression in a string.
void tvms_token_say(const char *source, tvms_token token, bool nested, char *text,
                    size_t size);

// The statement of Python that begins with `first` or has `token`, in words, if it is one that
// TVMScript does not have; else NULL.
const char *TVMS_NULLABLE tvms_token_unsupported(const char *source, tvms_token token,
                                                 tvms_token first);

// Does a statement that has a block begin with it?
bool tvms_token_is_header(tvms_token_kind kind);

// Is it a word that stands nowhere but at the begin of a statement?
bool tvms_token_only_begins_statement(tvms_token_kind kind);

// Where the header of a definition ends that begins with the token `first` and goes on behind the line of
// `place`: the ':' at the end of a line before one that stands as far out. 0 if there is none, or the line
// of `place` has it.
uint32_t tvms_token_header_end(const char *source, tvms_token first, uint32_t place);

// The end of the last line of a statement without a body that begins with `first` and goes on behind the line of
// `place`: its other lines stand deeper, or close brackets. 0 if that line is the last.
uint32_t tvms_token_statement_end(const char *source, tvms_token first, uint32_t place);

// Whether what was refused stands behind the ':' of a header whose block follows on the next lines, as
// in `for i in range(4):  // copy`: without it the statement is whole.
bool tvms_token_heads_block(const char *source, tvms_token token, tvms_token first);

#endif
