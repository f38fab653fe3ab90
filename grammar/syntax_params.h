// Arguments and parameters in the syntax check. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_PARAMS_H
#define TVMS_GRAMMAR_SYNTAX_PARAMS_H

#include "grammar/syntax_reader.h"

// Arguments up to the bracket that closes.
void tvms_syntax_arguments(tvms_syntax *s);

// Parameters up to a token of the kind `shut`; a lambda's have no annotations.
void tvms_syntax_params(tvms_syntax *s, tvms_token_kind shut);

// `[T: int, *Ts, **P]`, if it stands here.
void tvms_syntax_type_params(tvms_syntax *s);

#endif
