// Findings about the syntax of a file: which of them count.
#ifndef TVMS_PARSER_PYTHON_SYNTAX_H
#define TVMS_PARSER_PYTHON_SYNTAX_H

#include "parser/python_file.h"

// What the grammar has reported of `surface` counts in TVMScript: in `script` of a Python file
// (`python`), everywhere else in other files. Around it and in functions that stay Python, findings are what Python
// refuses (grammar/syntax.h), as far as the file has definitions; all others are dropped. True if a statement around
// definitions is refused: nobody knows which names it would have bound.
bool tvms_python_syntax_judge(const tvms_surface *surface, const tvms_spans *script,
                              bool python);

#endif
