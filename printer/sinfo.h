// StructInfo and the types of TIR variables.
#ifndef TVMS_PRINTER_SINFO_H
#define TVMS_PRINTER_SINFO_H

#include "printer/state.h"

// `{"a": 1}`; keys in `hidden` (ended by NULL) are left out. Returns false and writes
// nothing if no pair is left.
void tvms_print_sinfo(tvms_printer *p, const tvms_node *sinfo);
void tvms_print_pointer_type(tvms_printer *p, const tvms_node *TVMS_NULLABLE type,
                             bool as_value);
void tvms_print_shape_dim(tvms_printer *p, const tvms_node *dim);

#endif
