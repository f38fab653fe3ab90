// Modules: members in TVM's order, attributes, global infos; header comments.
#ifndef TVMS_PRINTER_MODULE_H
#define TVMS_PRINTER_MODULE_H

#include "printer/state.h"

// A module with its decorator, or the function of one that stands alone.
void tvms_print_module(tvms_printer *p, const tvms_module *module);

// The comment lines with the imports that the prefixes in `used` need, and an empty
// line; nothing if there are none.
void tvms_print_header(tvms_strbuf *out, tvms_dialect dialect, uint32_t used,
                       uint32_t indent);

// Declares p->type_vars from number `first` on, at offset `head`, and forgets them. Each
// name once per module unless `again`.
void tvms_print_type_vars(tvms_printer *p, size_t head, uint32_t first, bool again);

#endif
