// Mapping, aligned and advised: what is half a huge page or more is a multiple of them.
#define _GNU_SOURCE
#include "support/pages.h"

#include <sys/mman.h>

#define PAGE      ((size_t)4096)
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)
// From this size on a huge page is cheaper than the small ones that it stands for.
#define HUGE_FROM (HUGE_PAGE / 2)

static size_t rounded(size_t size) {
  size_t unit = size < HUGE_FROM ? PAGE : HUGE_PAGE;
  return (size + unit - 1) & ~(unit - 1);
}

static void *map(size_t size) {
  void *pages =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

// Maps `size` bytes, a multiple of HUGE_PAGE, aligned to it.
static void *map_aligned(size_t size) {
  char *pages = map(size + HUGE_PAGE);
  if (!pages) return NULL;
  size_t before = (HUGE_PAGE - (uintptr_t)pages % HUGE_PAGE) % HUGE_PAGE;
  if (before) munmap(pages, before);
  munmap(pages + before + size, HUGE_PAGE - before);
  return pages + before;
}

void *tvms_pages_alloc(size_t *size) {
  *size = rounded(*size);
  if (*size < HUGE_FROM) return map(*size);
  void *pages = map_aligned(*size);
  // Failure only means small pages.
  if (pages) (void)madvise(pages, *size, MADV_HUGEPAGE);
  return pages;
}

void *tvms_pages_grow(void *pages, size_t size, size_t *grown) {
  *grown = rounded(*grown);
  if (*grown < HUGE_FROM) {
    void *moved = mremap(pages, size, *grown, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
  }
  void *place = map_aligned(*grown);
  if (!place) return NULL;
  void *moved = mremap(pages, size, *grown, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (moved == MAP_FAILED) {
    munmap(place, *grown);
    return NULL;
  }
  (void)madvise(moved, *grown, MADV_HUGEPAGE);
  return moved;
}

void tvms_pages_free(void *pages, size_t size) {
  munmap(pages, size);
}
