// Decorators: what kind of definition they make, and their keywords.
#ifndef TVMS_PARSER_DECORATOR_H
#define TVMS_PARSER_DECORATOR_H

#include "parser/module.h"

// Options of the decorators of modules; those of TIR are among them.
enum { TVMS_MODULE_OPTION_REWRITER = TVMS_OPTION_ROOM << 8 };

// What the decorators of the class or function `definition` say; a misspelt one says what
// it was meant to. Reports what is wrong with them, so it is called once per definition.
tvms_decoration tvms_decoration_of(tvms_reader *reader, tvms_ref definition);

// What a definition without decorators was to be, by the annotation of its first parameter;
// `*decoration` stays as it is if that does not show.
void tvms_decoration_guess(tvms_reader *reader, tvms_ref definition,
                           tvms_decoration *decoration);

// The last name of a dotted expression: `T.prim_func`, `prim_func`; 0 for anything else.
tvms_sym tvms_decoration_last_name(const tvms_reader *reader, tvms_ref expr);

#endif
