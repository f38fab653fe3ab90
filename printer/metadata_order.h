// The order of the keys of a metadata section.
#ifndef TVMS_PRINTER_METADATA_ORDER_H
#define TVMS_PRINTER_METADATA_ORDER_H

#include <stdint.h>

// Sorts different keys, given in the order in which the text mentions them first, into the
// order in which TVM writes them.
void tvms_print_sort_metadata_keys(const char **keys, uint32_t count);

#endif
