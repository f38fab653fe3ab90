// The signature of a PrimFunc: its parameters, the variables that quoted dims define, its
// return type.
#ifndef TVMS_PARSER_TIR_SIGNATURE_H
#define TVMS_PARSER_TIR_SIGNATURE_H

#include "parser/tir/tir.h"

// Reads type parameters, parameters and the return type into tvms_tir_of(reader), and binds the
// names in the innermost scope.
void tvms_tir_read_signature(tvms_reader *reader, const tvms_surf_definition *def);

// An annotation as a variable: `T.int32` uncalled is called. Unknown after a report.
tvms_eval_value tvms_tir_call_annotation(tvms_reader *reader,
                                         tvms_eval_value annotation, tvms_ref ref);

// The dim in a string of a shape: parsed and evaluated; in a signature of 0.26 on, names
// that nothing binds become variables.
tvms_eval_value tvms_tir_quoted_dim(tvms_reader *reader, tvms_ref string);

// What a TypeVar means where `name` stands for it: an int64 variable in the signature of a
// PrimFunc, elsewhere the TypeVar itself.
tvms_eval_value tvms_tir_type_var_dim(tvms_reader *reader, tvms_sym name,
                                      tvms_eval_value type_var, tvms_span span);

// The variable that a quoted dim defined under this name, or NULL.
tvms_node *TVMS_NULLABLE tvms_tir_signature_var(const tvms_reader *reader,
                                                tvms_sym name);

// Helps with a name that nothing binds (tvms_language.explain): a dimension of the signature, or
// of a buffer that is matched, is declared first.
void tvms_tir_explain_name(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                           tvms_span span, const char *TVMS_NULLABLE near);

#endif
