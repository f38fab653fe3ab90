// How a paged cache is made. TVM: src/runtime/vm/paged_kv_cache.cc, the constructor.
#ifndef TVMS_RUNTIME_PAGED_CREATE_H
#define TVMS_RUNTIME_PAGED_CREATE_H

#include "runtime/paged.h"

// Does the text in front of a function say that it is one of the module?
bool tvms_paged_is_own(const char *whose);

// How many areas a cache has that is made so. Leaves the call if it cannot be.
uint32_t tvms_paged_areas(tvms_paged_host *host, const tvms_paged_made *made);

// Makes a cache without sequences in empty areas; tvms_paged_areas has agreed.
void tvms_paged_create(tvms_paged_host *host, const tvms_paged_made *made);

#endif
