// Blocks: axes, predicate, regions, annotations, buffers, initialisation, body.
#ifndef TVMS_PRINTER_BLOCK_H
#define TVMS_PRINTER_BLOCK_H

#include "printer/state.h"

// A line that binds the data of a DECL_BUFFER, where its source is not a pointer that up to
// 0.25 could stand after `data=`.
void tvms_print_block(tvms_printer *p, const tvms_node *block,
                      const tvms_node *TVMS_NULLABLE realize);
void tvms_print_allocated(tvms_printer *p, const tvms_node *buffer);

#endif
