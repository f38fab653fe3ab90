// Decorators that have lost their `@`.
#ifndef TVMS_PARSER_BARE_DECORATOR_H
#define TVMS_PARSER_BARE_DECORATOR_H

#include "parser/eval/eval.h"

// Reports the EXPRESSION statement if it is `I.ir_module`, `T.prim_func(…)` or the like and a class
// or function without decorators begins on the next line. False: it is another one.
bool tvms_decoration_report_bare(tvms_reader *reader, tvms_ref stmt);

// True if that was reported of the line above `place`, the name of a definition.
bool tvms_decoration_is_bare_above(const tvms_reader *reader, uint32_t place);

#endif
