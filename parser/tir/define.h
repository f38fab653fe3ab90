// Defining names in a PrimFunc: what a name becomes when a value is bound to it.
#ifndef TVMS_PARSER_TIR_DEFINE_H
#define TVMS_PARSER_TIR_DEFINE_H

#include "parser/tir/stmt.h"

// Binds `name` in the innermost scope; a different value there is an error.
void tvms_tir_define(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                     tvms_span span);

// The variable that `name = T.int32()` has named in text of TVM's printer, if nothing has
// defined it since; else NULL. The printer names a variable so where it is used in front of its
// definition: the node of a pragma around a loop, a size of a buffer above the let. TVM takes
// the definition that follows for one of another variable, so that it does not read its text;
// a reader that reads what TVM writes asks here before it makes a variable.
tvms_node *TVMS_NULLABLE tvms_tir_declared_early(tvms_reader *reader, tvms_sym name);

// Notes that a pragma names a node. NarrowDataType narrows the variable of a loop, but not the
// node of a pragma, so that TVM's text may name one there that nothing defines.
void tvms_tir_name_in_pragma(tvms_reader *reader, tvms_node *node);

// Notes that a variable that was declared early is defined here.
void tvms_tir_define_early(tvms_node *var);

// Binds the names of a target to a value or to its parts. `source` is the expression that
// gave the value, or 0.
void tvms_tir_bind_targets(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                           tvms_binder *bind, tvms_ref source);

// Names part `i` of something that `name` stands for: name_i.
void tvms_tir_name_part(tvms_reader *reader, tvms_eval_value part, tvms_sym name,
                        uint32_t i);

// The value of `name = value`.
tvms_eval_value tvms_tir_assigned(tvms_reader *reader, tvms_sym name,
                                  tvms_eval_value value, tvms_ref ref);

// Binds the names of a target to the unknown value: what they stand for has been reported.
void tvms_tir_bind_unknown(tvms_reader *reader, tvms_ref target);

#endif
