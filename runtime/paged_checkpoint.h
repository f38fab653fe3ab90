// Checkpoints of a paged cache: what sequence 0 has in its pages goes out, one tensor per layer, and comes back into a
// cache of the same layout, later or in another process.
//
//   text of the checkpoint, tensor of each layer   ->   prepare, a tensor of each layer, finish
//
// Between prepare and finish the cache takes no batch. Tensors are (1, pages, 2, heads, page size, size of a head) and
// argument 3 of the call; places of the last page that no token has are zero.
// TVM 0.27: src/runtime/vm/paged_kv_cache.cc (GetCheckpointMetadata and what follows); the text is JSON, byte for byte.
#ifndef TVMS_RUNTIME_PAGED_CHECKPOINT_H
#define TVMS_RUNTIME_PAGED_CHECKPOINT_H

#include "runtime/paged.h"

enum { TVMS_PAGED_HASH = 17 };

// What caches have in common that read each other's checkpoints: 16 digits and a zero.
void tvms_paged_layout_hash(const tvms_paged *p, char hash[TVMS_PAGED_HASH]);

// The text of a checkpoint, until the cache is used again. Leaves the call if there is no such sequence or the cache
// has windows, trees, factors of rotary positions or layers of other kinds.
const char *tvms_paged_checkpoint(tvms_paged *p, int64_t id);

// Copies the pages of a layer, counted from 0, into the tensor.
void tvms_paged_export(tvms_paged *p, int64_t id, int64_t layer);

// Empties the cache and makes room for the sequence that a checkpoint of `len` bytes tells of. Leaves the call, and the
// cache as it is, if the text does not fit it.
void tvms_paged_prepare(tvms_paged *p, int64_t id, const char *text, uint64_t len);

// Copies the tensor into the pages of a layer.
void tvms_paged_import(tvms_paged *p, int64_t id, int64_t layer);

// Ends it, when all layers are there.
void tvms_paged_finish(tvms_paged *p, int64_t id);

// Tokens of a sequence; refused while it is imported.
int64_t tvms_paged_length_of(const tvms_paged *p, int64_t id);

// Refuses to send tokens to another machine, or to get some.
TVMS_NORETURN void tvms_paged_refuse_transfer(const tvms_paged *p);

// Bytes of a page of a layer.
int64_t tvms_paged_page_bytes(const tvms_paged *p);

// The pages that so many tokens take.
int64_t tvms_paged_pages_for(const tvms_paged *p, int64_t length);

// The name of the element type.
void tvms_paged_type_text(const tvms_paged *p, char text[24]);

// The name of where rotary positions are applied.
const char *tvms_paged_rotary_text(const tvms_paged *p);

extern const char tvms_paged_group_layout[];
extern const char tvms_paged_cache_type[];

#endif
