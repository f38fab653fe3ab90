// What stands at the begin of a line by mistake: a misspelt keyword, a prompt of Python.
#ifndef TVMS_GRAMMAR_MISSPELT_H
#define TVMS_GRAMMAR_MISSPELT_H

#include "grammar/indentation.h"

// The keyword that the name was meant to be which begins a logical line: `whlie x < 4:`,
// `function f(`. What follows the name is looked at, since a line may begin with any name.
// Reports it; TVMS_TOK_NAME if nothing is wrong.
tvms_token_kind tvms_token_misspelt(tvms_lexer *lexer, tvms_token token);

// Whether a prompt of Python's shell, `>>> ` or `... `, stands at `at`, where a line begins.
bool tvms_lexer_is_prompt(const char *at);

// Bytes of a prompt.
enum { TVMS_PROMPT = 4 };

// Reports the prompt at `at`, which is to be left out; all of a text are one finding, `diag`,
// NULL for the first. Returns it.
tvms_diag *tvms_lexer_report_prompt(tvms_lexer *lexer, tvms_diag *TVMS_NULLABLE diag,
                                    const char *at);

#endif
