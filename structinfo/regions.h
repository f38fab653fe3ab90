// The regions of buffers that a block reads and writes, from the accesses in it.
#ifndef TVMS_STRUCTINFO_REGIONS_H
#define TVMS_STRUCTINFO_REGIONS_H

#include "ir/node.h"
#include "ir/node_map.h"

// What a map of buffers knows a buffer by: its data pointer, from 0.26 on, where buffers are
// variables themselves, the buffer.
const tvms_node *tvms_regions_buffer_key(const tvms_unit *unit,
                                         const tvms_node *buffer);

// Puts `value` under the key of a buffer, and from 0.26 on under its pointer, too: an
// expression may use either. NULL forgets it.
void tvms_regions_put_buffer(tvms_node_map *map, const tvms_unit *unit,
                             const tvms_node *buffer, tvms_node *TVMS_NULLABLE value);

// Sets the lists that TVMS_FLAG_READS_MISSING and TVMS_FLAG_WRITES_MISSING of the block ask
// for, as BlockReadWriteDetector of TVM does. `buffers` are those from outside the block that
// count, by tvms_regions_put_buffer. The lists of a root block stay empty. False after a report: a
// buffer is used in a way that no region describes.
bool tvms_regions_infer(tvms_unit *unit, const tvms_node_map *buffers,
                        tvms_block *block, bool is_root);

// Sets both lists of a block without T.init() from what is below it; a buffer whose pointer is
// used is read and written as a whole. TVM: GetSBlockReadWriteRegion.
void tvms_regions_infer_all(tvms_unit *unit, const tvms_node_map *buffers,
                            tvms_block *block);

#endif
