// The arrays of a batch, from the blocks of its sequences.
#include "interp/paged_plan.h"

#include <string.h>

static const tvms_dl_type int32_type = {TVMS_DL_INT, 32, 1};
static const tvms_dl_type byte_type = {TVMS_DL_UINT, 8, 1};

// Blocks that are looked at more than so often are looked at once, by all their sequences.
enum { SHARED_OFTEN = 32 };

// Some tokens that stand one after the other in the batch, and the blocks that they look at.
typedef struct {
  int32_t block;  // TVMS_PAGED_NONE: none
  int64_t tokens;
  const int32_t *behind;  // blocks that are looked at together with it
  uint32_t behind_count;
} chunk;

typedef struct {
  tvms_paged *p;
  uint32_t count;
  const int64_t *lengths;  // new tokens
  tvms_paged_sequence **sequences;
  int32_t *before;  // tokens of its last block
  int32_t **traces;
  uint32_t *trace_lens;
  tvms_items *plan;
  tvms_paged_batch batch;
} work;

static int32_t *new_array(work *w, uint32_t item, int32_t ndim, const int64_t *shape) {
  tvms_tensor *made = tvms_interp_builtin_new_tensor(w->p->b, int32_type, ndim, shape);
  w->plan->items[item] = tvms_value_of_tensor(made);
  return made->view.data;
}

static int32_t *new_list(work *w, uint32_t item, int64_t count) {
  return new_array(w, item, 1, &count);
}

// ---- Which blocks ----

// The chunk of a sequence at a depth. The last depth has all that is left.
static chunk chunk_of(const work *w, uint32_t i, uint32_t depth) {
  chunk c = {.block = TVMS_PAGED_NONE, .tokens = w->lengths[i]};
  if (depth >= w->trace_lens[i]) return c;
  c.block = w->traces[i][depth];
  if (depth + 1 < TVMS_PAGED_DEPTHS) return c;
  c.behind = w->traces[i] + depth + 1;
  c.behind_count = w->trace_lens[i] - depth - 1;
  return c;
}

static int64_t pages_of(const work *w, int32_t block) {
  return block == TVMS_PAGED_NONE ? 0 : w->p->blocks[block].pages;
}

// The chunks of a depth. Sequences with the same block become one, unless each of them has one token and the block
// is not shared by many.
static chunk *chunks_of(work *w, uint32_t depth, uint32_t *count) {
  chunk *single = tvms_builtin_scratch(w->p->b, chunk, w->count);
  chunk *joined = tvms_builtin_scratch(w->p->b, chunk, w->count);
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
  w->batch.decodes[depth] = decodes && !often;
  bool joins = !w->batch.decodes[depth] && depth + 1 < TVMS_PAGED_DEPTHS;
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
  const tvms_paged_block *b = &w->p->blocks[block];
  memcpy(to, tvms_interp_paged_pages_of(w->p, b), (size_t)b->pages * sizeof *to);
  return to + b->pages;
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

static void plan_depth(work *w, uint32_t depth, const chunk *chunks, uint32_t count) {
  uint32_t item = TVMS_PLAN_DEPTHS + depth * TVMS_DEPTH_ITEMS;
  bool slides = w->p->head->slides;
  int32_t *queries = new_list(w, item + TVMS_DEPTH_QUERIES, (int64_t)count + 1);
  int32_t *begins = new_list(w, item + TVMS_DEPTH_PAGE_BEGINS, (int64_t)count + 1);
  int32_t *keys = new_list(w, item + TVMS_DEPTH_KEY_BEGINS, count);
  int64_t sizes[] = {3, count};
  int32_t *lengths = new_array(w, item + TVMS_DEPTH_LENGTHS, slides ? 2 : 1,
                               slides ? sizes : sizes + 1);
  queries[0] = begins[0] = 0;
  int64_t pages = 0;
  for (uint32_t i = 0; i < count; i++) {
    extent e = extent_of(w, &chunks[i]);
    pages += e.pages;
    if (pages > INT32_MAX)
      tvms_interp_builtin_refuse(w->p->b, "a smaller batch is expected");
    queries[i + 1] = queries[i] + (int32_t)chunks[i].tokens;
    begins[i + 1] = (int32_t)pages;
    keys[i] = e.last ? w->p->blocks[chunks[i].block].start : 0;
    lengths[i] = last_page_of(w, &e);
    if (!slides) continue;
    lengths[count + i] = e.last ? e.last->offset : 0;
    lengths[2 * count + i] = e.last ? e.last->sink : 0;
  }
  put_page_list(w, item + TVMS_DEPTH_PAGES, chunks, count, pages);
  w->batch.empty[depth] = !pages;
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
    slot = in_block - block->sink + block->offset;
  }
  if (slot < 0 || slot / size >= block->pages)
    tvms_interp_builtin_refuse(w->p->b, "a sequence is expected only once");
  return (int32_t)(pages[slot / size] * size + slot % size);
}

static void plan_tokens(work *w) {
  int32_t *places = new_list(w, TVMS_PLAN_APPEND_POSITIONS, w->batch.tokens);
  for (uint32_t i = 0; i < w->count; i++) {
    const tvms_paged_block *block = &w->p->blocks[w->sequences[i]->block];
    const int32_t *pages = tvms_interp_paged_pages_of(w->p, block);
    for (int64_t k = 0; k < w->lengths[i]; k++)
      *places++ = place_of(w, pages, block, w->before[i], w->lengths[i], k);
  }
}

// What is known before sequences grow; makes them longer.
static void plan_positions(work *w) {
  int32_t *tokens = new_list(w, TVMS_PLAN_TOKENS, (int64_t)w->count + 1);
  int32_t *keys = new_list(w, TVMS_PLAN_KEY_BEGINS, w->count);
  int32_t *positions = new_list(w, TVMS_PLAN_QUERY_POSITIONS, w->batch.tokens);
  tokens[0] = 0;
  for (uint32_t i = 0; i < w->count; i++) {
    tvms_paged_sequence *sequence = w->sequences[i];
    tokens[i + 1] = tokens[i] + (int32_t)w->lengths[i];
    keys[i] = sequence->length;
    for (int64_t k = 0; k < w->lengths[i]; k++)
      *positions++ = sequence->length + (int32_t)k;
    sequence->length += (int32_t)w->lengths[i];
  }
}

// ---- All of it ----

static void find_sequences(work *w, const tvms_tensor *ids, int64_t most) {
  const tvms_builtin *b = w->p->b;
  w->sequences = tvms_builtin_scratch(b, tvms_paged_sequence *, w->count);
  w->before = tvms_builtin_scratch(b, int32_t, w->count);
  w->traces = tvms_builtin_scratch(b, int32_t *, w->count);
  w->trace_lens = tvms_builtin_scratch(b, uint32_t, w->count);
  for (uint32_t i = 0; i < w->count; i++) {
    w->sequences[i] = tvms_interp_paged_sequence_of(w->p, ids->shape[i]);
    w->before[i] = w->p->blocks[w->sequences[i]->block].length;
    w->traces[i] = tvms_interp_paged_trace(w->p, w->sequences[i], &w->trace_lens[i]);
    if (w->trace_lens[i] > w->batch.depths) w->batch.depths = w->trace_lens[i];
    if (w->lengths[i] <= 0)
      tvms_interp_builtin_refuse(b, "Append with length 0 is not allowed.");
    if (w->lengths[i] > most - w->batch.tokens)
      tvms_interp_paged_refuse(b, "at most %lld tokens of a batch are expected",
                               (long long)most);
    w->batch.tokens += w->lengths[i];
  }
  if (w->batch.depths > TVMS_PAGED_DEPTHS) w->batch.depths = TVMS_PAGED_DEPTHS;
}

static void reserve(work *w) {
  for (uint32_t i = 0; i < w->count; i++)
    tvms_interp_paged_reserve(w->p, w->sequences[i], w->lengths[i]);
}

static void keep_batch(work *w) {
  int64_t size = sizeof w->batch;
  tvms_tensor *made = tvms_interp_builtin_new_tensor(w->p->b, byte_type, 1, &size);
  memcpy(made->view.data, &w->batch, sizeof w->batch);
  w->plan->items[TVMS_PLAN_BATCH] = tvms_value_of_tensor(made);
}

void tvms_interp_paged_begin(tvms_paged *p, const tvms_tensor *ids,
                             const tvms_tensor *lengths, int64_t most) {
  int32_t count = ids->view.ndim;
  if (count != lengths->view.ndim)
    tvms_interp_paged_refuse(
        p->b, "The seq_ids size (%d) and append_lengths size (%d) mismatch.", count,
        lengths->view.ndim);
  if (!count) tvms_interp_builtin_refuse(p->b, "a sequence is expected");
  work w = {.p = p, .count = (uint32_t)count, .lengths = lengths->shape};
  w.plan = tvms_tuple_new(p->b->frame->interp->heap,
                          TVMS_PLAN_DEPTHS + TVMS_PAGED_DEPTHS * TVMS_DEPTH_ITEMS);
  tvms_value_drop(p->state->items[TVMS_PAGED_PLAN]);
  p->state->items[TVMS_PAGED_PLAN] =
      (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = w.plan};
  find_sequences(&w, ids, most);
  plan_positions(&w);
  chunk *chunks[TVMS_PAGED_DEPTHS];
  uint32_t counts[TVMS_PAGED_DEPTHS];
  for (uint32_t d = 0; d < w.batch.depths; d++)
    chunks[d] = chunks_of(&w, d, &counts[d]);
  w.batch.appends_first = !p->head->slides && w.batch.decodes[w.batch.depths - 1];
  if (w.batch.appends_first) reserve(&w);
  for (uint32_t d = 0; d < w.batch.depths; d++)
    plan_depth(&w, d, chunks[d], counts[d]);
  if (!w.batch.appends_first) reserve(&w);
  plan_tokens(&w);
  keep_batch(&w);
}
