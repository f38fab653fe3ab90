// How much memory buffers take.
#ifndef TVMS_PASSES_TIR_MEMORY_STORAGE_BYTES_H
#define TVMS_PASSES_TIR_MEMORY_STORAGE_BYTES_H

#include "ir/node.h"

// The number of bytes of a buffer without strides whose sizes are numbers; -1: it is not known.
int64_t tvms_storage_bytes(const tvms_buffer *buffer);

#endif
