// The metadata section: objects that have no text of their own, as TVM's JSON.
#ifndef TVMS_PRINTER_METADATA_H
#define TVMS_PRINTER_METADATA_H

#include "printer/state.h"

// Writes what stands for an object in the text, `metadata["ir.GenericConst"][0]`, and keeps
// the object for the section. One that was kept before gets the same number.
void tvms_print_metadata_ref(tvms_printer *p, const tvms_node *object);

// Ends the life of ids in p->kept from number `first` on: another function begins.
void tvms_print_forget_kept(tvms_printer *p, uint32_t first);

// The section that holds p->kept; nothing if it is empty.
void tvms_print_metadata(tvms_printer *p, tvms_strbuf *out);

#endif
