// Blocks, pages and sequences: numbers that are moved about, and lists in arrays.
#include "runtime/paged.h"

#include "runtime/paged_arrays.h"
#include "runtime/paged_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_ROOM = 8 };

static TVMS_NORETURN void leave(tvms_paged_host *host, const char *text) {
  host->refuse(host, text);
  __builtin_unreachable();
}

void tvms_paged_refuse(const tvms_paged *p, const char *format, ...) {
  enum { ROOM = 400 };
  char text[ROOM];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, ROOM, format, arguments);
  va_end(arguments);
  leave(p->host, text);
}

// ---- Memory ----

static void find_arrays(tvms_paged *p) {
  p->head = p->host->area(p->host, TVMS_PAGED_HEAD, sizeof *p->head);
  p->blocks = p->host->area(p->host, TVMS_PAGED_BLOCKS, sizeof *p->blocks);
  p->sequences = p->host->area(p->host, TVMS_PAGED_SEQUENCES, sizeof *p->sequences);
  p->next = p->host->area(p->host, TVMS_PAGED_NEXT, sizeof *p->next);
  p->free = p->host->area(p->host, TVMS_PAGED_FREE, sizeof *p->free);
  p->trees = p->host->area(p->host, TVMS_PAGED_TREES, sizeof *p->trees);
}

// Makes room for one more element of an array that has `count`.
static void reserve_one(tvms_paged *p, uint32_t area, uint32_t count, size_t size) {
  uint64_t room = FIRST_ROOM;
  while (room <= count)
    room *= 2;
  p->host->area(p->host, area, room * size);
  find_arrays(p);
}

tvms_paged tvms_paged_open(tvms_paged_host *host) {
  tvms_paged p = {.host = host};
  find_arrays(&p);
  return p;
}

void tvms_paged_clear(tvms_paged *p) {
  tvms_paged_head *head = p->head;
  head->sequences = head->blocks = head->trees = 0;
  head->free_block = head->free_tree = TVMS_PAGED_NONE;
  head->free_pages = (int32_t)head->total_pages;
  for (int32_t i = 0; i < head->free_pages; i++)
    p->free[i] = head->free_pages - 1 - i;
  head->batch.runs = head->imports = false;
}

// ---- Pages ----

static int32_t take_page(tvms_paged *p) {
  if (!p->head->free_pages)
    tvms_paged_refuse(p, "The KV cache is full. No page can be allocated.");
  return p->free[--p->head->free_pages];
}

static void append_page(tvms_paged *p, tvms_paged_block *block, int32_t page) {
  p->next[page] = TVMS_PAGED_NONE;
  if (block->pages++)
    p->next[block->last_page] = page;
  else
    block->first_page = page;
  block->last_page = page;
}

// Frees `count` pages of a block that stand behind `kept` others.
static void free_pages(tvms_paged *p, tvms_paged_block *block, int32_t kept,
                       int32_t count) {
  int32_t before = TVMS_PAGED_NONE, page = block->first_page;
  for (int32_t i = 0; i < kept; i++) {
    before = page;
    page = p->next[page];
  }
  for (int32_t i = 0; i < count; i++) {
    p->free[p->head->free_pages++] = page;
    page = p->next[page];
  }
  block->pages -= count;
  if (kept)
    p->next[before] = page;
  else
    block->first_page = page;
  if (block->pages == kept) block->last_page = before;
}

int32_t *tvms_paged_list(const tvms_paged *p, const tvms_paged_block *block,
                         int32_t *pages) {
  int32_t page = block->first_page;
  for (int32_t i = 0; i < block->pages; i++) {
    *pages++ = page;
    page = p->next[page];
  }
  return pages;
}

int32_t *tvms_paged_pages_of(const tvms_paged *p, const tvms_paged_block *block) {
  int32_t *pages = p->host->area(p->host, TVMS_PAGED_LIST,
                                 ((uint32_t)block->pages + 1) * sizeof *pages);
  tvms_paged_list(p, block, pages);
  return pages;
}

int32_t tvms_paged_place(const tvms_paged *p, const int32_t *pages, int64_t slot) {
  int64_t size = p->head->page_size;
  return (int32_t)(pages[slot / size] * size + slot % size);
}

int64_t tvms_paged_slot(const tvms_paged_block *block, int64_t token) {
  return token < block->sink ? token : token - block->sink + block->offset;
}

// How many pages a block needs for its tokens and `more`.
static int64_t pages_for(const tvms_paged *p, const tvms_paged_block *block,
                         int64_t more) {
  int64_t slots = (int64_t)block->length - block->sink + block->offset + more;
  return (slots + p->head->page_size - 1) / p->head->page_size;
}

// ---- Blocks ----

static int32_t new_block(tvms_paged *p) {
  int32_t at = p->head->free_block;
  if (at != TVMS_PAGED_NONE) {
    p->head->free_block = p->blocks[at].parent;
  } else {
    reserve_one(p, TVMS_PAGED_BLOCKS, p->head->blocks, sizeof *p->blocks);
    at = (int32_t)p->head->blocks++;
  }
  p->blocks[at] = (tvms_paged_block){.first_page = TVMS_PAGED_NONE,
                                     .last_page = TVMS_PAGED_NONE,
                                     .parent = TVMS_PAGED_NONE};
  return at;
}

// Frees a block with its pages; returns the one before it.
static int32_t free_block(tvms_paged *p, int32_t at) {
  tvms_paged_block *block = &p->blocks[at];
  int32_t parent = block->parent;
  free_pages(p, block, 0, block->pages);
  block->parent = p->head->free_block;
  p->head->free_block = at;
  return parent;
}

uint32_t tvms_paged_depth(const tvms_paged *p, const tvms_paged_sequence *sequence) {
  uint32_t count = 0;
  for (int32_t at = sequence->block; at != TVMS_PAGED_NONE; at = p->blocks[at].parent)
    count++;
  return count;
}

void tvms_paged_trace(const tvms_paged *p, const tvms_paged_sequence *sequence,
                      int32_t *trace) {
  uint32_t i = tvms_paged_depth(p, sequence);
  for (int32_t at = sequence->block; at != TVMS_PAGED_NONE; at = p->blocks[at].parent)
    trace[--i] = at;
}

// ---- Sequences ----

static tvms_paged_sequence *find(const tvms_paged *p, int64_t id) {
  for (uint32_t i = 0; i < p->head->sequences; i++) {
    if (p->sequences[i].id == id) return &p->sequences[i];
  }
  return NULL;
}

tvms_paged_sequence *tvms_paged_sequence_of(const tvms_paged *p, int64_t id) {
  tvms_paged_sequence *sequence = find(p, id);
  if (!sequence)
    tvms_paged_refuse(p, "The sequence \"%lld\" cannot be found in KV cache.",
                      (long long)id);
  return sequence;
}

int64_t tvms_paged_length(const tvms_paged *p) {
  int64_t length = 0;
  for (uint32_t i = 0; i < p->head->sequences; i++)
    length += p->sequences[i].length;
  return length;
}

static void insert(tvms_paged *p, int64_t id, int32_t block) {
  reserve_one(p, TVMS_PAGED_SEQUENCES, p->head->sequences, sizeof *p->sequences);
  tvms_paged_sequence *sequence = &p->sequences[p->head->sequences++];
  *sequence =
      (tvms_paged_sequence){.id = id, .block = block, .window = TVMS_PAGED_NONE};
  p->blocks[block].users++;
  for (int32_t at = block; at != TVMS_PAGED_NONE; at = p->blocks[at].parent)
    sequence->length += p->blocks[at].length;
}

void tvms_paged_add(tvms_paged *p, int64_t id) {
  if (find(p, id))
    tvms_paged_refuse(p, "The sequence \"%lld\" is already in the KV cache.",
                      (long long)id);
  insert(p, id, new_block(p));
}

void tvms_paged_remove(tvms_paged *p, int64_t id) {
  tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  int32_t at = sequence->block;
  while (at != TVMS_PAGED_NONE && p->blocks[at].users == 1)
    at = free_block(p, at);
  if (at != TVMS_PAGED_NONE) p->blocks[at].users--;
  tvms_paged_tree_cut(p, sequence, sequence->nodes);
  *sequence = p->sequences[--p->head->sequences];
}

// ---- Forks ----

// Copies the first tokens of a page to another one, in all layers.
static void copy_page(const tvms_paged *p, int32_t from, int32_t to, int32_t length) {
  for (uint32_t layer = 0; length && layer < p->head->layers; layer++) {
    tvms_paged_argument args[] = {tvms_paged_pages_at(p, layer),
                                  {.kind = TVMS_PAGED_INT, .i = from},
                                  {.kind = TVMS_PAGED_INT, .i = to},
                                  {.kind = TVMS_PAGED_INT, .i = length}};
    tvms_paged_run(p, TVMS_MADE_COPY_PAGE, args, 4);
  }
}

// Puts the first pages of a block, all full, into a new one before it, which two blocks use.
static int32_t split(tvms_paged *p, tvms_paged_sequence *sequence, int32_t at,
                     int32_t pages) {
  int32_t front = new_block(p);
  tvms_paged_block *before = &p->blocks[front], *block = &p->blocks[at];
  int32_t tokens = (int32_t)(pages * p->head->page_size);
  before->parent = block->parent;
  before->users = 2;
  before->start = block->start;
  before->length = tokens;
  for (int32_t i = 0; i < pages; i++) {
    int32_t page = block->first_page;
    block->first_page = p->next[page];
    block->pages--;
    append_page(p, before, page);
  }
  if (!block->pages) block->last_page = TVMS_PAGED_NONE;
  block->parent = front;
  block->start += tokens;
  block->length -= tokens;
  bool slides = sequence->window != TVMS_PAGED_NONE && at == sequence->block;
  if (!slides) return front;
  sequence->sink -= tokens;
  if (!block->sink) return front;
  block->sink -= tokens;
  block->offset -= tokens;
  return front;
}

// The block of a sequence in which a position lies, and where in it.
static int32_t block_at(const tvms_paged *p, const tvms_paged_sequence *sequence,
                        int32_t *position) {
  uint32_t count = tvms_paged_depth(p, sequence);
  int32_t *trace =
      p->host->area(p->host, TVMS_PAGED_TRACE, (count + 1) * sizeof *trace);
  tvms_paged_trace(p, sequence, trace);
  for (uint32_t i = 0; i + 1 < count; i++) {
    int32_t length = p->blocks[trace[i]].length;
    if (*position < length) return trace[i];
    *position -= length;
  }
  return trace[count - 1];
}

// Tokens of a page that stand in another one, too.
typedef struct {
  int32_t from;
  int32_t to;
  int32_t length;  // 0: nothing to copy
} page_copy;

// A block for a sequence that shares what stands before a position.
static int32_t fork_block(tvms_paged *p, tvms_paged_sequence *parent, int32_t position,
                          page_copy *copy) {
  int32_t child = new_block(p), inside = position;
  int32_t at = block_at(p, parent, &inside);
  int32_t rest = (int32_t)(inside % p->head->page_size);
  int32_t pages = (int32_t)(inside / p->head->page_size);
  int32_t front = pages ? split(p, parent, at, pages) : p->blocks[at].parent;
  if (!pages && front != TVMS_PAGED_NONE) p->blocks[front].users++;
  tvms_paged_block *block = &p->blocks[child];
  block->parent = front;
  block->start = position - rest;
  block->length = rest;
  *copy = (page_copy){.length = rest};
  if (rest) {
    copy->from = p->blocks[at].first_page;
    copy->to = take_page(p);
    append_page(p, block, copy->to);
  }
  return child;
}

// What is forked at its end goes on in a block of its own.
static void close_block(tvms_paged *p, tvms_paged_sequence *sequence) {
  int32_t added = new_block(p);
  p->blocks[added].start = sequence->length;
  p->blocks[added].parent = sequence->block;
  p->blocks[added].users = 1;
  sequence->block = added;
}

static void check_fork(tvms_paged *p, const tvms_paged_sequence *parent,
                       int64_t position) {
  if (position < TVMS_PAGED_NONE)
    tvms_paged_refuse(p, "The forked position should be non-negative, or -1 for "
                         "last position as default.");
  if (position > parent->length)
    tvms_paged_refuse(p, "The forked position should not exceed the total length of "
                         "parent sequence.");
  if (parent->nodes)
    tvms_paged_refuse(p, "The parent sequence's token tree computed in the last round "
                         "of forward has not been committed with accepted nodes.");
  if (parent->window == TVMS_PAGED_NONE) return;
  if (position == TVMS_PAGED_NONE) position = parent->length;
  int32_t sink = parent->length - p->blocks[parent->block].length + parent->sink;
  if (position > sink)
    tvms_paged_refuse(p,
                      "The parent sequence \"%lld\" is enabled with sliding window and "
                      "thus only can be forked within sink size = %d. But the forked "
                      "position = %lld.",
                      (long long)parent->id, sink, (long long)position);
}

void tvms_paged_fork(tvms_paged *p, int64_t parent_id, int64_t child_id,
                     int64_t position) {
  tvms_paged_sequence *parent = find(p, parent_id);
  if (!parent)
    tvms_paged_refuse(p, "The parent sequence \"%lld\" cannot be found in KV cache.",
                      (long long)parent_id);
  if (find(p, child_id))
    tvms_paged_refuse(p, "The child sequence \"%lld\" is already in the KV cache.",
                      (long long)child_id);
  check_fork(p, parent, position);
  if (position == TVMS_PAGED_NONE) position = parent->length;
  if (position == parent->length && position % p->head->page_size == 0
      && p->blocks[parent->block].length > 0)
    close_block(p, parent);
  page_copy copy;
  insert(p, child_id, fork_block(p, parent, (int32_t)position, &copy));
  copy_page(p, copy.from, copy.to, copy.length);
}

// Takes tokens from the end of blocks that nobody else uses; returns how many are left to take.
static int32_t pop_own(tvms_paged *p, tvms_paged_sequence *sequence, int32_t count) {
  while (sequence->block != TVMS_PAGED_NONE && p->blocks[sequence->block].users == 1) {
    tvms_paged_block *block = &p->blocks[sequence->block];
    if (count > block->length) {
      count -= block->length;
      sequence->length -= block->length;
      sequence->block = free_block(p, sequence->block);
      continue;
    }
    sequence->length -= count;
    block->length -= count;
    if (block->length <= block->sink) block->sink = block->offset = 0;
    int32_t pages = (int32_t)pages_for(p, block, 0);
    if (block->pages > pages) free_pages(p, block, pages, block->pages - pages);
    return 0;
  }
  return count;
}

void tvms_paged_pop(tvms_paged *p, int64_t id, int64_t count) {
  tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  if (count < 0)
    tvms_paged_refuse(p, "The length of popping %lld cannot be negative.",
                      (long long)count);
  if (count > sequence->length)
    tvms_paged_refuse(p,
                      "The sequence only has length %d, while the length of pop is "
                      "%lld which exceeds the whole sequence length.",
                      sequence->length, (long long)count);
  tvms_paged_tree_cut(p, sequence, (int32_t)count);
  int32_t left = count ? pop_own(p, sequence, (int32_t)count) : 0;
  if (!left) return;
  page_copy copy;
  check_fork(p, sequence, sequence->length - left);
  int32_t block = fork_block(p, sequence, sequence->length - left, &copy);
  tvms_paged_remove(p, id);
  insert(p, id, block);
  copy_page(p, copy.from, copy.to, copy.length);
}

// ---- Room at the end, and windows ----

void tvms_paged_set_window(tvms_paged *p, int64_t id, int64_t window, int64_t sink) {
  if (!p->head->slides && !p->head->window)
    tvms_paged_refuse(p, "The KV cache does not support sliding window.");
  tvms_paged_sequence *sequence = tvms_paged_sequence_of(p, id);
  if (sink < 0)
    tvms_paged_refuse(
        p, "The specified attention sink size is expected to be non negative");
  if (window <= 0 || window > INT32_MAX)
    tvms_paged_refuse(p, "The specified sliding window size should be positive.");
  if (sink >= window)
    tvms_paged_refuse(
        p, "The attn sink size should be less than the sliding window size.");
  if (sequence->window != TVMS_PAGED_NONE)
    tvms_paged_refuse(p, "A sequence cannot be enabled twice for sliding window.");
  int32_t shared = sequence->length - p->blocks[sequence->block].length;
  sequence->sink = sink > shared ? (int32_t)sink - shared : 0;
  sequence->window = (int32_t)window;
}

// Moves the window of a sequence that is longer than it. `pages` is how many pages the block needs before that;
// returns how many it needs then. Those that nothing is left in are freed.
static int64_t slide(tvms_paged *p, tvms_paged_sequence *sequence, int64_t pages) {
  tvms_paged_block *block = &p->blocks[sequence->block];
  int64_t size = p->head->page_size;
  int32_t more = sequence->length - sequence->window;
  if (sequence->sink > 0 && block->sink == 0)
    block->sink = block->offset = sequence->sink;
  int64_t sinks = (block->sink + size - 1) / size,
          begin = (int64_t)block->offset + more;
  int64_t gone = begin / size > sinks ? begin / size - sinks : 0;
  if (more > block->length - block->sink)
    tvms_paged_refuse(p, "The sliding window is shorter than what it cannot slide "
                         "over.");
  int64_t there = block->pages > sinks ? block->pages - sinks : 0;
  free_pages(p, block, (int32_t)(block->pages - there),
             (int32_t)(gone < there ? gone : there));
  sequence->length = sequence->window;
  block->length -= more;
  block->offset = (int32_t)(begin - gone * size);
  return pages - gone;
}

void tvms_paged_reserve(tvms_paged *p, tvms_paged_sequence *sequence, int64_t count) {
  tvms_paged_block *block = &p->blocks[sequence->block];
  if (block->users != 1)
    tvms_paged_refuse(p,
                      "The block is %d-time referenced by other blocks, thus cannot "
                      "accept new KV values.",
                      block->users - 1);
  int64_t pages = pages_for(p, block, count);
  block->length += (int32_t)count;
  bool slides = p->head->slides && sequence->window != TVMS_PAGED_NONE
                && sequence->length > sequence->window;
  if (slides) pages = slide(p, sequence, pages);
  while (block->pages < pages)
    append_page(p, block, take_page(p));
}
