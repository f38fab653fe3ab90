// The metadata section: objects that have no text of their own, as TVM's JSON.
#ifndef TVMS_PRINTER_METADATA_H
#define TVMS_PRINTER_METADATA_H

#include "printer/state.h"

// metadata["key"][n]; the object stands in the metadata section from now on, each once.
void tvms_print_metadata_ref(tvms_printer *p, const tvms_node *object);

// Ends the life of ids in p->kept from number `first` on: another function begins.
void tvms_print_forget_kept(tvms_printer *p, uint32_t first);

// The section that holds p->kept; nothing if it is empty.
void tvms_print_metadata(tvms_printer *p, tvms_strbuf *out);

#endif
