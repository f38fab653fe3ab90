// StructInfo and the types of TIR variables.
#ifndef TVMS_PRINTER_SINFO_H
#define TVMS_PRINTER_SINFO_H

#include "printer/state.h"

// A type of Relax, or of a value of TIR within one.
void tvms_print_sinfo(tvms_printer *p, const tvms_node *sinfo);

// T.handle, T.handle("float32", "shared"). `as_value`: what makes a variable of that
// type, T.handle(). NULL: an opaque pointer.
void tvms_print_pointer_type(tvms_printer *p, const tvms_node *TVMS_NULLABLE type,
                             bool as_value);

// A dimension: quoted in a signature where one of its symbolic variables is defined,
// but not a TypeVar alone.
void tvms_print_shape_dim(tvms_printer *p, const tvms_node *dim);

#endif
