// The register code of functions while a call from outside is in progress.
#ifndef TVMS_INTERP_CODES_H
#define TVMS_INTERP_CODES_H

#include "interp/code.h"

// One function that was called.
typedef struct {
  const tvms_member *TVMS_NULLABLE member;     // NULL: a free entry
  const tvms_interp_code *TVMS_NULLABLE code;  // NULL: none yet, or the tree runs it
  uint32_t calls;  // so far, while the tree runs it because it is short
  bool tried;      // to compile it
  bool shorts;     // no more than a few iterations in all
} tvms_interp_entry;

// All of them, hashed by their address.
typedef struct tvms_interp_codes {
  tvms_arena arena;
  tvms_interp_entry *entries;
  uint32_t room;  // a power of 2
  uint32_t count;
  tvms_interp_entry first[4];  // room for a start
} tvms_interp_codes;

// An empty table, which takes its memory from `memory`.
void tvms_interp_codes_init(tvms_interp_codes *codes, tvms_memory *memory);

// Frees all code.
void tvms_interp_codes_fini(tvms_interp_codes *codes);

// The code to run the function of `f` with, whose arguments are bound; it is compiled when it is
// worth the time. NULL: the tree is to run it.
const tvms_interp_code *TVMS_NULLABLE tvms_interp_codes_find(tvms_interp_frame *f);

#endif
