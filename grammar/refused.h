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

#endif
