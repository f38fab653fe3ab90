// The arrays of a batch, from the blocks of its sequences.
#include "runtime/paged_plan.h"

#include "runtime/paged_arrays.h"
#include "runtime/paged_tree.h"

#include <string.h>

// Blocks that are looked at more than so often are looked at once, by all their sequences.
enum { SHARED_OFTEN = 32 };

// Some tokens that stand one after the other in the batch, and the blocks that they look at.
typedef struct {
  int32_t block;  // TVMS_PAGED_NONE: none
  int64_t tokens;
  uint32_t first;         // the sequence that it is of, or the first of several
  const int32_t *behind;  // blocks that are looked at together with it
  uint32_t behind_count;
} chunk;

// One sequence of the batch.
typedef struct {
  tvms_paged_sequence *sequence;
  int32_t before;  // tokens of its last block
  int32_t nodes;   // of its tree, without the new ones
  uint32_t depth;  // blocks
  int32_t *trace;
} member;

typedef struct {
  tvms_paged *p;
  tvms_paged_batch *batch;
  uint32_t count;
  const int64_t *lengths;  // new tokens
  member *members;
} work;

static int32_t *new_list(const work *w, uint32_t item, int64_t count) {
  return tvms_paged_new_array(w->p, item, 1, &count);
}

// ---- Which blocks ----

// The chunk of a sequence at a depth. The last depth has all that is left.
static chunk chunk_of(const work *w, uint32_t i, uint32_t depth) {
  chunk c = {.block = TVMS_PAGED_NONE, .tokens = w->lengths[i], .first = i};
  const member *m = &w->members[i];
  if (depth >= m->depth) return c;
  c.block = m->trace[depth];
  if (depth + 1 < TVMS_PAGED_DEPTHS) return c;
  c.behind = m->trace + depth + 1;
  c.behind_count = m->depth - depth - 1;
  return c;
}

static int64_t pages_of(const work *w, int32_t block) {
  return block == TVMS_PAGED_NONE ? 0 : w->p->blocks[block].pages;
}

// The chunks of a depth. Sequences with the same block become one, unless each of them has one token and the block
// is not shared by many. `room` is for twice as many chunks as there are sequences.
static chunk *chunks_of(work *w, uint32_t depth, chunk *room, uint32_t *count) {
  chunk *single = room, *joined = room + w->count;
  uint32_t joined_count = 0;
  int64_t single_pages = 0, joined_pages = 0;
  bool decodes = true;
  for (uint32_t i = 0; i < w->count; i++) {
    single[i] = chunk_of(w, i, depth);
    single_pages += pages_of(w, single[i].block);
    decodes = decodes && w->lengths[i] == 1;
    if (joined_count && joined[joined_count - 1].block == single[i].block) {
      joined[joined_count - 1].tokens += single[i].tokens;
      continue;
    }
    joined[joined_count++] = single[i];
    joined_pages += pages_of(w, single[i].block);
  }
  bool often = joined_pages && single_pages >= SHARED_OFTEN * joined_pages;
  w->batch->decodes[depth] = decodes && !often;
  bool joins = !w->batch->decodes[depth] && depth + 1 < TVMS_PAGED_DEPTHS;
  *count = joins ? joined_count : w->count;
  return joins ? joined : single;
}

// ---- Arrays of a depth ----

// What the last block of a chunk says.
typedef struct {
  int64_t pages;
  int64_t length;
  const tvms_paged_block *last;
} extent;

static extent extent_of(const work *w, const chunk *c) {
  extent e = {0};
  if (c->block == TVMS_PAGED_NONE) return e;
  e.last = &w->p->blocks[c->block];
  e.pages = e.last->pages;
  e.length = e.last->length;
  for (uint32_t i = 0; i < c->behind_count; i++) {
    e.last = &w->p->blocks[c->behind[i]];
    e.pages += e.last->pages;
    e.length += e.last->length;
  }
  return e;
}

static int32_t *put_pages(const work *w, int32_t *to, int32_t block) {
  return tvms_paged_list(w->p, &w->p->blocks[block], to);
}

static void put_page_list(work *w, uint32_t item, const chunk *chunks, uint32_t count,
                          int64_t pages) {
  int32_t *to = new_list(w, item, pages);
  for (uint32_t i = 0; pages && i < count; i++) {
    if (chunks[i].block != TVMS_PAGED_NONE) to = put_pages(w, to, chunks[i].block);
    for (uint32_t k = 0; k < chunks[i].behind_count; k++)
      to = put_pages(w, to, chunks[i].behind[k]);
  }
}

// Tokens of the last page.
static int32_t last_page_of(const work *w, const extent *e) {
  if (!e->length) return 0;
  int64_t slots = e->length - e->last->sink + e->last->offset;
  return (int32_t)((slots - 1) % w->p->head->page_size + 1);
}

// Where the window of a layer begins in its first page, for so many tokens.
static int64_t window_offset(const work *w, int64_t length) {
  int64_t window = w->p->head->window;
  return length > window ? (length - window) % w->p->head->page_size : 0;
}

// The pages that the window is in.
static int64_t window_pages(const work *w, const extent *e) {
  int64_t window = w->p->head->window, size = w->p->head->page_size;
  int64_t seen = e->length < window ? e->length : window;
  int64_t pages = (window_offset(w, e->length) + seen + size - 1) / size;
  return seen && pages < e->pages ? pages : seen ? e->pages : 0;
}

// What layers with windows look at: the last pages of each chunk, as they lie in the list of all pages.
static void plan_windows(work *w, uint32_t item, const chunk *chunks, uint32_t count) {
  uint32_t own = item + TVMS_DEPTH_WINDOWS;
  const tvms_paged_array *all = &w->batch->arrays[item + TVMS_DEPTH_PAGES];
  int64_t sizes[] = {3, count}, room = all->shape[0];
  int32_t *begins = new_list(w, own + TVMS_DEPTH_PAGE_BEGINS, (int64_t)count + 1);
  int32_t *pages = new_list(w, own + TVMS_DEPTH_PAGES, room);
  int32_t *lengths = tvms_paged_new_array(w->p, own + TVMS_DEPTH_LENGTHS, 2, sizes);
  int32_t *keys = new_list(w, own + TVMS_DEPTH_KEY_BEGINS, count);
  const int32_t *list = new_list(w, item + TVMS_DEPTH_PAGES, room);
  int64_t end = 0;
  begins[0] = 0;
  for (uint32_t i = 0; i < count; i++) {
    extent e = extent_of(w, &chunks[i]);
    int64_t seen = window_pages(w, &e);
    end += e.pages;
    if (seen)
      memcpy(pages + begins[i], list + end - seen, (size_t)seen * sizeof *pages);
    begins[i + 1] = begins[i] + (int32_t)seen;
    int64_t start = e.last ? w->p->blocks[chunks[i].block].start : 0;
    int64_t first = start + e.length - w->p->head->window;
    keys[i] = e.last && first > 0 ? (int32_t)first : 0;
    lengths[i] = last_page_of(w, &e);
    lengths[count + i] = (int32_t)window_offset(w, e.length);
    lengths[2 * count + i] = e.last ? e.last->sink : 0;
  }
  int64_t seen = begins[count];
  new_list(w, own + TVMS_DEPTH_PAGES, seen);
}

static void plan_depth(work *w, uint32_t depth, const chunk *chunks, uint32_t count) {
  uint32_t item = TVMS_PLAN_DEPTHS + depth * TVMS_DEPTH_ITEMS;
  bool slides = w->p->head->slides;
  int32_t *queries = new_list(w, item + TVMS_DEPTH_QUERIES, (int64_t)count + 1);
  int32_t *begins = new_list(w, item + TVMS_DEPTH_PAGE_BEGINS, (int64_t)count + 1);
  int32_t *keys = new_list(w, item + TVMS_DEPTH_KEY_BEGINS, count);
  int64_t sizes[] = {3, count};
  int32_t *lengths = tvms_paged_new_array(w->p, item + TVMS_DEPTH_LENGTHS,
                                          slides ? 2 : 1, slides ? sizes : sizes + 1);
  queries[0] = begins[0] = 0;
  int64_t pages = 0;
  for (uint32_t i = 0; i < count; i++) {
    extent e = extent_of(w, &chunks[i]);
    pages += e.pages;
    if (pages > INT32_MAX) tvms_paged_refuse(w->p, "a smaller batch is expected");
    queries[i + 1] = queries[i] + (int32_t)chunks[i].tokens;
    begins[i + 1] = (int32_t)pages;
    keys[i] = e.last ? w->p->blocks[chunks[i].block].start : 0;
    lengths[i] = last_page_of(w, &e);
    if (!slides) continue;
    lengths[count + i] = e.last ? e.last->offset : 0;
    lengths[2 * count + i] = e.last ? e.last->sink : 0;
  }
  put_page_list(w, item + TVMS_DEPTH_PAGES, chunks, count, pages);
  if (w->p->head->window) plan_windows(w, item, chunks, count);
  w->batch->empty[depth] = !pages;
}

// ---- Trees ----

// Whether the new tokens of a sequence do not all see those before them, or, where keys and values are in the pages
// first, might see those behind them.
static bool needs_ranges(const work *w, uint32_t i) {
  const tvms_paged_sequence *sequence = w->members[i].sequence;
  if (!sequence->nodes) return false;
  return (w->batch->appends_first && w->lengths[i] > 1)
         || !tvms_paged_tree_is_chain(w->p, sequence);
}

// The tree of a chunk, or without chunks of a sequence; NULL: none. It stands in the last block of its sequence.
static const tvms_paged_sequence *TVMS_NULLABLE
tree_of(const work *w, const chunk *TVMS_NULLABLE chunks, uint32_t i) {
  if (!chunks) return w->members[i].sequence;
  const chunk *c = &chunks[i];
  const tvms_paged_sequence *sequence = w->members[c->first].sequence;
  int32_t last = c->behind_count ? c->behind[c->behind_count - 1] : c->block;
  return last == sequence->block ? sequence : NULL;
}

// All trees, one behind the other.
static void put_trees(const work *w, uint32_t begins, uint32_t ranges,
                      const chunk *TVMS_NULLABLE chunks, uint32_t count) {
  int32_t *begin = new_list(w, begins, (int64_t)count + 1);
  begin[0] = 0;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_paged_sequence *tree = tree_of(w, chunks, i);
    begin[i + 1] = begin[i] + (tree ? tree->nodes : 0);
  }
  int64_t shape[] = {begin[count], 2};
  int32_t *range = tvms_paged_new_array(w->p, ranges, 2, shape);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_paged_sequence *tree = tree_of(w, chunks, i);
    if (tree) tvms_paged_tree_ranges(w->p, tree, range + (ptrdiff_t)2 * begin[i]);
  }
}

static void plan_depth_trees(const work *w, uint32_t depth, const chunk *chunks,
                             uint32_t count) {
  uint32_t item = TVMS_PLAN_DEPTHS + depth * TVMS_DEPTH_ITEMS;
  bool *needed = &w->batch->trees[depth];
  for (uint32_t i = 0; w->batch->appends_first && i < count; i++)
    *needed = *needed || (tree_of(w, chunks, i) && needs_ranges(w, chunks[i].first));
  if (*needed)
    put_trees(w, item + TVMS_DEPTH_TREES, item + TVMS_DEPTH_RANGES, chunks, count);
}

static void plan_batch_trees(const work *w) {
  for (uint32_t i = 0; i < w->count; i++)
    w->batch->tree = w->batch->tree || needs_ranges(w, i);
  if (w->batch->tree) put_trees(w, TVMS_PLAN_TREES, TVMS_PLAN_RANGES, NULL, w->count);
}

// ---- Arrays of tokens ----

// Where a new token of a sequence goes; -1: it has been slid over already.
static int32_t place_of(const work *w, const int32_t *pages,
                        const tvms_paged_block *block, int64_t first, int64_t appended,
                        int64_t token) {
  int64_t in_block = block->length - appended + token, slot = first + token;
  int64_t size = w->p->head->page_size;
  if (slot >= block->sink) {
    if (in_block < block->sink) return -1;
    slot = tvms_paged_slot(block, in_block);
  }
  if (slot < 0 || slot / size >= block->pages)
    tvms_paged_refuse(w->p, "a sequence is expected only once");
  return tvms_paged_place(w->p, pages, slot);
}

static void plan_tokens(work *w) {
  int32_t *places = new_list(w, TVMS_PLAN_APPEND_POSITIONS, w->batch->tokens);
  for (uint32_t i = 0; i < w->count; i++) {
    const member *m = &w->members[i];
    const tvms_paged_block *block = &w->p->blocks[m->sequence->block];
    const int32_t *pages = tvms_paged_pages_of(w->p, block);
    for (int64_t k = 0; k < w->lengths[i]; k++)
      *places++ = place_of(w, pages, block, m->before, w->lengths[i], k);
  }
}

// What is known before sequences grow; makes them longer.
static void plan_positions(work *w) {
  int32_t *tokens = new_list(w, TVMS_PLAN_TOKENS, (int64_t)w->count + 1);
  int32_t *keys = new_list(w, TVMS_PLAN_KEY_BEGINS, w->count);
  int32_t *positions = new_list(w, TVMS_PLAN_QUERY_POSITIONS, w->batch->tokens);
  tokens[0] = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    const member *m = &w->members[i];
    tvms_paged_sequence *sequence = m->sequence;
    tokens[i + 1] = tokens[i] + (int32_t)w->lengths[i];
    keys[i] = sequence->length - m->nodes;
    for (int32_t k = 0; k < (int32_t)w->lengths[i]; k++)
      *positions++ =
          keys[i]
          + (sequence->nodes ? tvms_paged_tree_depth(w->p, sequence, m->nodes + k) : k);
    sequence->length += (int32_t)w->lengths[i];
  }
}

// ---- All of it ----

static void count_tokens(work *w, int64_t length) {
  if (length <= 0) tvms_paged_refuse(w->p, "Append with length 0 is not allowed.");
  if (length > w->p->head->most_tokens - w->batch->tokens)
    tvms_paged_refuse(w->p, "at most %lld tokens of a batch are expected",
                      (long long)w->p->head->most_tokens);
  w->batch->tokens += length;
}

static void find_sequences(work *w, const int64_t *ids) {
  tvms_paged_host *host = w->p->host;
  uint64_t blocks = 1;
  w->members =
      host->area(host, TVMS_PAGED_WORK, (uint64_t)w->count * sizeof *w->members);
  for (uint32_t i = 0; i < w->count; i++) {
    member *m = &w->members[i];
    m->sequence = tvms_paged_sequence_of(w->p, ids[i]);
    m->before = w->p->blocks[m->sequence->block].length;
    m->nodes = m->sequence->nodes;
    m->depth = tvms_paged_depth(w->p, m->sequence);
    blocks += m->depth;
    if (m->depth > w->batch->depths) w->batch->depths = m->depth;
    count_tokens(w, w->lengths[i]);
  }
  if (w->batch->depths > TVMS_PAGED_DEPTHS) w->batch->depths = TVMS_PAGED_DEPTHS;
  int32_t *traces = host->area(host, TVMS_PAGED_TRACES, blocks * sizeof *traces);
  for (uint32_t i = 0; i < w->count; i++) {
    w->members[i].trace = traces;
    tvms_paged_trace(w->p, w->members[i].sequence, traces);
    traces += w->members[i].depth;
  }
}

static void reserve(work *w) {
  for (uint32_t i = 0; i < w->count; i++)
    tvms_paged_reserve(w->p, w->members[i].sequence, w->lengths[i]);
}

static void plan_depths(work *w) {
  tvms_paged_host *host = w->p->host;
  uint64_t room = (uint64_t)w->count * 2;
  chunk *all =
      host->area(host, TVMS_PAGED_CHUNKS, room * TVMS_PAGED_DEPTHS * sizeof *all);
  chunk *chunks[TVMS_PAGED_DEPTHS];
  uint32_t counts[TVMS_PAGED_DEPTHS];
  for (uint32_t d = 0; d < w->batch->depths; d++)
    chunks[d] = chunks_of(w, d, all + d * room, &counts[d]);
  w->batch->appends_first =
      !w->p->head->slides && w->batch->decodes[w->batch->depths - 1];
  for (uint32_t i = 0; i < w->count; i++)
    w->batch->appends_first = w->batch->appends_first || w->members[i].nodes;
  if (w->batch->appends_first) reserve(w);
  for (uint32_t d = 0; d < w->batch->depths; d++) {
    plan_depth(w, d, chunks[d], counts[d]);
    plan_depth_trees(w, d, chunks[d], counts[d]);
  }
  plan_batch_trees(w);
  if (!w->batch->appends_first) reserve(w);
}

static void keep_ids(const tvms_paged *p, tvms_paged_shape ids) {
  size_t bytes = (size_t)ids.count * sizeof *ids.sizes;
  memcpy(p->host->area(p->host, TVMS_PAGED_IDS, bytes), ids.sizes, bytes);
}

void tvms_paged_begin(tvms_paged *p, tvms_paged_shape ids, tvms_paged_shape lengths,
                      const tvms_paged_shape *parents) {
  if (ids.count != lengths.count)
    tvms_paged_refuse(
        p, "The seq_ids size (%lld) and append_lengths size (%lld) mismatch.",
        (long long)ids.count, (long long)lengths.count);
  if (ids.count <= 0 || ids.count > INT32_MAX)
    tvms_paged_refuse(p, "a sequence is expected");
  work w = {.p = p,
            .batch = &p->head->batch,
            .count = (uint32_t)ids.count,
            .lengths = lengths.sizes};
  *w.batch = (tvms_paged_batch){0};
  if (p->head->imports)
    tvms_paged_refuse(p, "PagedAttentionKVCache cannot begin a forward pass before "
                         "checkpoint import is finished.");
  if (parents && tvms_paged_kind_at(p, 0) == TVMS_LAYER_LATENT)
    tvms_paged_refuse(p, "Tree attention is not supported yet for MLA");
  find_sequences(&w, ids.sizes);
  if (parents)
    tvms_paged_tree_grow(p, ids, lengths, *parents);
  else
    tvms_paged_tree_check_none(p, ids);
  keep_ids(p, ids);
  plan_positions(&w);
  plan_depths(&w);
  plan_tokens(&w);
  w.batch->runs = true;
}
