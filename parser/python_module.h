// Names of TVM's modules in the imports of a Python file.
#ifndef TVMS_PARSER_PYTHON_MODULE_H
#define TVMS_PARSER_PYTHON_MODULE_H

#include "parser/eval/eval.h"

// The dotted name of a module with its misspelt part as it was meant: `tmv.script`, `tvm.scripts`.
// Any other name as it is.
tvms_sym tvms_python_module_mended(tvms_context *context, tvms_sym path);

// What an import of the name from the package tvm was meant to import, or the name itself.
tvms_sym tvms_python_module_item(tvms_context *context, tvms_sym module, tvms_sym name);

// Reports the part of a module of TVM, or the name of the package tvm, that the IMPORT or
// IMPORT_FROM statement misspells. Once for each place.
void tvms_python_module_check(tvms_reader *reader, tvms_ref stmt);

#endif
