// Buffers that are views of another one: A.view(…), A.permute(…), A.local(…) … instead of
// T.decl_buffer with all attributes (since 0.25).
#ifndef TVMS_PRINTER_ALIAS_H
#define TVMS_PRINTER_ALIAS_H

#include "printer/state.h"

// Writes A.view(…) and the like, and returns true, if a declaration is the same as that
// view of a buffer that is declared already. `source`: what it is declared over, or
// NULL. See alias.c.
bool tvms_print_alias(tvms_printer *p, const tvms_node *buffer,
                      const tvms_node *TVMS_NULLABLE source);

// Notes a buffer that was declared: later ones may be views of it.
void tvms_print_note_view(tvms_printer *p, const tvms_node *buffer);

// The declared buffer whose pointer `data` is, as a variable or as T.buffer_data; NULL:
// none.
const tvms_node *TVMS_NULLABLE tvms_print_data_owner(tvms_printer *p,
                                                     const tvms_node *data);

#endif
