// What the text of a checkpoint must say to fit a cache (paged_checkpoint.h).
#ifndef TVMS_RUNTIME_PAGED_RESTORE_H
#define TVMS_RUNTIME_PAGED_RESTORE_H

#include "runtime/json_read.h"
#include "runtime/paged.h"

// The tokens of the sequence that a checkpoint tells of; refuses what does not fit the cache.
int64_t tvms_paged_read_checkpoint(const tvms_paged *p, int64_t id, tvms_part all);

#endif
