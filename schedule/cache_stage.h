// Copies of buffers: a block that copies, where it stands, and who uses the copy. What cache_read and its like have in common.
#ifndef TVMS_SCHEDULE_CACHE_STAGE_H
#define TVMS_SCHEDULE_CACHE_STAGE_H

#include "schedule/schedule.h"
#include "schedule/scope.h"

typedef struct {
  tvms_sched *sched;
  tvms_node *read, *write;  // the copy goes from one to the other
  tvms_node *own;           // the one that is new
  const char *scope_name;   // where it is stored
  int32_t scope;            // block whose scope it is in
  int32_t place;            // block or loop whose body gets the copying block …
  uint32_t index;           // … as this statement
  tvms_list region;         // ranges of the old buffer that are copied
  bool full;                // the new buffer is as large as the old one
  tvms_site_vec consumers;  // that use the copy; empty: all
} tvms_cache;

// Reads the list of consumers of a step, with the blocks in them. False after a refusal.
TVMS_NODISCARD bool tvms_cache_consumers(tvms_step *step, uint32_t argument,
                                         tvms_cache *cache);

// Is the name that of a place where buffers can be? Refuses otherwise.
TVMS_NODISCARD bool tvms_cache_check_scope(tvms_sched *sched, const char *name);

// Buffer `index` of the reads or writes of a block; NULL after a refusal.
tvms_node *TVMS_NULLABLE tvms_cache_buffer(tvms_sched *sched, int32_t block,
                                           int64_t index, bool written);

// The only block of the scope that writes a buffer, or TVMS_NO_SITE. False after a refusal: there are several.
TVMS_NODISCARD bool tvms_cache_writer(tvms_sched *sched, int32_t scope,
                                      const tvms_node *buffer, int32_t *writer);

// Finds where the copy stands: between `block` and the first of the related blocks.
void tvms_cache_locate(tvms_cache *cache, int32_t block, const tvms_site_vec *related);

// The same for a copy of what `block` writes: in front of the first block that reads it and is not one of the consumers.
void tvms_cache_write_place(tvms_cache *cache, int32_t block);

// Is a BLOCK one of the consumers?
bool tvms_cache_is_consumer(const tvms_cache *cache, const tvms_node *block);

// Decides whether the whole buffer is copied, and makes the new one.
void tvms_cache_make_buffer(tvms_cache *cache, const tvms_node *old);

// The loops and the block that copy; the BLOCK comes back in `*block`.
tvms_node *tvms_cache_stage(tvms_cache *cache, tvms_node **block);

// Puts `scope_block`, which came of the scope's block by rewriting, in its place, with the new buffer and the copying loops.
void tvms_cache_insert(tvms_cache *cache, tvms_node *scope_block, tvms_node *stage);

// The same with two nests: one in front of the statement at the place, one behind it.
void tvms_cache_insert_pair(tvms_cache *cache, tvms_node *scope_block,
                            tvms_node *const *stages);

// Do the blocks of a scope that read a buffer read only what others have written before? Refuses otherwise.
TVMS_NODISCARD bool tvms_cache_check_cover(tvms_sched *sched, int32_t scope,
                                           const tvms_node *buffer);

#endif
