// Values of Relax: constants, tuples, shapes, variables, functions.
#ifndef TVMS_PRINTER_RELAX_H
#define TVMS_PRINTER_RELAX_H

#include "printer/state.h"

// An expression that only Relax has.
void tvms_print_relax_value(tvms_printer *p, const tvms_node *node);

// R.const(1.0, "float32") of a scalar, else an entry of the metadata.
void tvms_print_constant(tvms_printer *p, const tvms_node *node);

// A variable of Relax that nothing has defined: a line `x: type` in front of the
// statement, which defines it. The caller writes its name.
void tvms_print_relax_var(tvms_printer *p, const tvms_node *var);

// Defines a symbolic variable that is seen for the first time: as part of the signature
// that is being written, else by a line `n = T.int64()` at the top of the function that
// holds them (TVMS_FACT_dims_belong_to_outermost).
void tvms_print_tir_var_in_relax(tvms_printer *p, const tvms_node *var);

// `cls`, which the function defines by `cls = Module` at its top when it is used first.
void tvms_print_alias_name(tvms_printer *p);

// R.ExternFunc("name"), with its type where a release writes it.
void tvms_print_extern_func(tvms_printer *p, const tvms_node *function);

#endif
