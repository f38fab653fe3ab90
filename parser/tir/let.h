// Let statements: a variable that has a value for the rest of its scope.
#ifndef TVMS_PARSER_TIR_LET_H
#define TVMS_PARSER_TIR_LET_H

#include "parser/tir/tir.h"

// False after a report that `var` has another type than its value: dtypes up to 0.25, also
// what pointers point to later.
TVMS_NODISCARD bool tvms_tir_check_let(tvms_reader *reader, const tvms_node *var,
                                       const tvms_node *value, tvms_ref ref);

// Enters the let statement: `var` has `value` for the rest of the scope. Nothing, after a
// report, if their types differ.
void tvms_tir_enter_let(tvms_reader *reader, tvms_node *var, tvms_node *value,
                        tvms_ref ref);

#endif
