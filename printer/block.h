// Blocks: axes, predicate, regions, annotations, buffers, initialisation, body.
#ifndef TVMS_PRINTER_BLOCK_H
#define TVMS_PRINTER_BLOCK_H

#include "printer/state.h"

// A block with all its lines. `realize`: the BLOCK_REALIZE around it, which has its
// predicate and the values of its axes; NULL for a block that stands alone.
void tvms_print_block(tvms_printer *p, const tvms_node *block,
                      const tvms_node *TVMS_NULLABLE realize);

// The line of a buffer that a block allocates.
void tvms_print_allocated(tvms_printer *p, const tvms_node *buffer);

#endif
