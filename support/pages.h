// Pages from the kernel, for support/memory.c.
//
// A first touch of a small page costs as much as parsing what goes into it, and ten times
// as much as its share of a huge page. So what is large is aligned to huge pages and asks
// for them, and grows by moving its pages instead of its bytes.
#ifndef TVMS_SUPPORT_PAGES_H
#define TVMS_SUPPORT_PAGES_H

#include "support/base.h"

// Returns at least `*size` zeroed bytes, aligned to pages, and how many there are in
// `*size`; NULL if the kernel refuses.
void *TVMS_NULLABLE tvms_pages_alloc(size_t *size);

// Grows pages of `size` bytes to at least `*grown`; they may move. NULL if the kernel
// refuses: they are still there then.
void *TVMS_NULLABLE tvms_pages_grow(void *pages, size_t size, size_t *grown);

// Gives pages back to the kernel; `size` is what tvms_pages_alloc or tvms_pages_grow said.
void tvms_pages_free(void *pages, size_t size);

#endif
