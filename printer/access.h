// Accesses of buffers: indices, regions, loads and stores with or without a mask.
#ifndef TVMS_PRINTER_ACCESS_H
#define TVMS_PRINTER_ACCESS_H

#include "printer/state.h"

// [i, 0:4] of an element: a Ramp of step 1 is written as a slice, whatever the release
// reads it as. Without indices [()].
void tvms_print_indices(tvms_printer *p, tvms_list indices);

// A[i], and what a load with a mask is in the release. The name alone of a scalar
// buffer.
void tvms_print_load(tvms_printer *p, const tvms_buffer_load *load);

// A[i] = value, or a call that stores under a mask; without the end of the line.
void tvms_print_store(tvms_printer *p, const tvms_store *store);

// [i, 0:4] of a region: ranges of one element by their beginning.
void tvms_print_region(tvms_printer *p, tvms_list ranges);

#endif
