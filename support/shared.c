// A sorted list of ranges that do not overlap.
#define _POSIX_C_SOURCE 200809L
#include "support/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

// How many begin at `at` or in front of it.
static uint32_t count_before(const tvms_shares *shares, const char *at) {
  uint32_t low = 0, high = shares->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((uintptr_t)shares->items[middle]->bytes <= (uintptr_t)at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void insert(tvms_memory *memory, tvms_shares *shares, tvms_shared *shared) {
  uint32_t place = count_before(shares, shared->bytes);
  tvms_vec_push(memory, shares, shared);
  memmove(&shares->items[place + 1], &shares->items[place],
          (shares->len - 1 - place) * sizeof *shares->items);
  shares->items[place] = shared;
}

tvms_shared *tvms_shared_new(tvms_memory *memory, tvms_shares *shares, size_t size) {
  tvms_shared *shared = tvms_memory_alloc(memory, sizeof *shared);
  char *block = tvms_memory_alloc(memory, size + ALIGNMENT);
  size_t rest = (uintptr_t)block % ALIGNMENT;
  char *bytes = rest ? block + (ALIGNMENT - rest) : block;
  *shared = (tvms_shared){bytes, size, block, 1};
  insert(memory, shares, shared);
  return shared;
}

// The file as memory; its size goes to *size. NULL: errno says why.
static char *TVMS_NULLABLE map_file(const char *path, size_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat status;
  char *bytes = NULL;
  if (fstat(file, &status) == 0) {
    bool plain = S_ISREG(status.st_mode) && status.st_size > 0;
    *size = (size_t)status.st_size;
    if (plain) bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (!plain) errno = EINVAL;
  }
  int reason = errno;
  close(file);
  errno = reason;
  return bytes == MAP_FAILED ? NULL : bytes;
}

tvms_shared *TVMS_NULLABLE tvms_shared_map(tvms_memory *memory, tvms_shares *shares,
                                           const char *path) {
  tvms_shared *shared = tvms_memory_alloc(memory, sizeof *shared);
  *shared = (tvms_shared){.holders = 1};
  // All memory is taken before the file is mapped.
  tvms_vec_push(memory, shares, NULL);
  shares->len--;
  shared->bytes = map_file(path, &shared->size);
  if (!shared->bytes) {
    int reason = errno;
    tvms_memory_free(memory, shared);
    errno = reason;
    return NULL;
  }
  insert(memory, shares, shared);
  return shared;
}

tvms_shared *TVMS_NULLABLE tvms_shared_find(const tvms_shares *shares, const char *at,
                                            size_t size) {
  uint32_t place = count_before(shares, at);
  if (!place) return NULL;
  tvms_shared *shared = shares->items[place - 1];
  size_t from = (size_t)((uintptr_t)at - (uintptr_t)shared->bytes);
  bool inside = from <= shared->size && size <= shared->size - from;
  return inside ? shared : NULL;
}

void tvms_shared_hold(tvms_shared *shared) {
  shared->holders++;
}

void tvms_shared_drop(tvms_memory *memory, tvms_shares *shares, tvms_shared *shared) {
  if (--shared->holders) return;
  uint32_t place = count_before(shares, shared->bytes) - 1;
  shares->len--;
  memmove(&shares->items[place], &shares->items[place + 1],
          (shares->len - place) * sizeof *shares->items);
  if (!shared->block) munmap(shared->bytes, shared->size);
  tvms_memory_free(memory, shared->block);
  tvms_memory_free(memory, shared);
}

void tvms_shares_fini(tvms_shares *shares) {
  for (uint32_t i = 0; i < shares->len; i++) {
    tvms_shared *shared = shares->items[i];
    if (!shared->block) munmap(shared->bytes, shared->size);
  }
  shares->len = 0;
}
