// What was touched of a buffer, as one region.
#ifndef TVMS_PASSES_TIR_ANALYSIS_TOUCHED_SETTLE_H
#define TVMS_PASSES_TIR_ANALYSIS_TOUCHED_SETTLE_H

#include "passes/tir/analysis/touched_sets.h"

// Puts the region of a buffer that was touched into the regions of the collector.
void tvms_touched_settle(tvms_touched_collector *c, tvms_touched_buffer *t);

// The same for the buffers that statements of a scope allocated, where the scope ends: those
// from `from` on in `flat`. Buffers that nothing touched have no region.
void tvms_touched_settle_flat(tvms_touched_collector *c, uint32_t from);

#endif
