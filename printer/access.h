// Accesses of buffers: indices, regions, loads and stores with or without a mask.
#ifndef TVMS_PRINTER_ACCESS_H
#define TVMS_PRINTER_ACCESS_H

#include "printer/state.h"

// The name of a scalar buffer, which stands for its only element.
void tvms_print_indices(tvms_printer *p, tvms_list indices);

void tvms_print_load(tvms_printer *p, const tvms_buffer_load *load);
void tvms_print_store(tvms_printer *p, const tvms_store *store);
void tvms_print_region(tvms_printer *p, tvms_list ranges);

#endif
