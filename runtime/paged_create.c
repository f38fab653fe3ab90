// How a paged cache is made: what it must be made of, and the sizes of its areas.
#include "runtime/paged_create.h"

#include "runtime/paged_arrays.h"

#include <string.h>

// Tokens that a cache may have, so that positions are numbers of 32 bits.
enum { MOST_TOKENS = INT32_MAX / 4 };

bool tvms_paged_is_own(const char *whose) {
  return strcmp(whose, "tirx") == 0 || strcmp(whose, "tir") == 0;
}

static int64_t size_at(const tvms_paged *p, const tvms_paged_made *made, uint32_t i,
                       int64_t least) {
  int64_t size = made->sizes.sizes[i];
  if (size < least || size > MOST_TOKENS)
    tvms_paged_refuse(p, "size %u of a cache is %lld", i, (long long)size);
  return size;
}

static void check_numbers(const tvms_paged *p, const tvms_paged_made *made) {
  const int64_t numbers[] = {made->query_heads, made->key_heads, made->key_size,
                             made->value_size};
  for (uint32_t i = 0; i < 4; i++) {
    if (numbers[i] < 1 || numbers[i] > MOST_TOKENS)
      tvms_paged_refuse(p, "argument %u of a cache is %lld", TVMS_MADE_QUERY_HEADS + i,
                        (long long)numbers[i]);
  }
  if (made->transfers)
    tvms_paged_refuse(p, "a cache that is not transferred is expected: TVM needs "
                         "NVSHMEM, which CPUs do not have, for one that is");
  if (made->rotary_mode < TVMS_ROTARY_NONE || made->rotary_mode > TVMS_ROTARY_INLINE)
    tvms_paged_refuse(p, "a mode of rotary positions is 0, 1 or 2");
  bool slides = made->sizes.sizes[4] != 0;
  if (made->rotary_factors && (made->rotary_mode != TVMS_ROTARY_APART || slides))
    tvms_paged_refuse(
        p, "The RoPE mode must be normal to support RoPE extension factors.");
  if (made->functions[TVMS_MADE_MERGE] == TVMS_PAGED_NO_FUNCTION)
    tvms_paged_refuse(p, "Merge inplace function is not defined.");
}

// Does a layer have a window? Then those of sequences do not slide.
static bool has_windows(const tvms_paged_made *made) {
  for (int64_t i = 0; i < made->kinds.count; i++) {
    if (made->kinds.sizes[i] == TVMS_LAYER_WINDOW) return true;
  }
  return false;
}

// What a cache of layers with windows says they are long.
static int64_t window_of(const tvms_paged *p, const tvms_paged_made *made) {
  int64_t window =
      made->sizes.count == 6 ? made->sizes.sizes[5] : TVMS_LAYER_WINDOW_SIZE;
  if (window <= 0 || window > MOST_TOKENS)
    tvms_paged_refuse(p, "Per-layer sliding window size must be positive.");
  return window;
}

static uint32_t layers_of(const tvms_paged *p, const tvms_paged_made *made) {
  const int64_t *layers = made->layers.sizes;
  bool good = made->layers.count == 2 && layers[0] >= 0 && layers[0] < layers[1]
              && layers[1] <= made->kinds.count;
  if (!good) tvms_paged_refuse(p, "the layers of one group of workers are expected");
  for (int64_t i = 0; i < made->kinds.count; i++) {
    int64_t kind = made->kinds.sizes[i];
    if (kind != TVMS_LAYER_HEADS && kind != TVMS_LAYER_LATENT
        && kind != TVMS_LAYER_WINDOW)
      tvms_paged_refuse(
          p, "attention of the kind 'mha', 'mla' or 'mha_sliding' is expected");
    if (kind == TVMS_LAYER_LATENT && made->sizes.sizes[4] != 0 && !has_windows(made))
      tvms_paged_refuse(p, "Sliding window not supported yet for MLA");
  }
  return (uint32_t)(layers[1] - layers[0]);
}

static int64_t pages_of(const tvms_paged *p, const tvms_paged_made *made) {
  int64_t sequences = size_at(p, made, 0, 0), tokens = size_at(p, made, 1, 0);
  int64_t page_size = size_at(p, made, 3, 1);
  bool slides = size_at(p, made, 4, 0) != 0;
  int64_t pages =
      (tokens + page_size - 1) / page_size + 1 + (slides ? 2 * sequences : 0);
  if (pages > MOST_TOKENS / page_size)
    tvms_paged_refuse(p, "a smaller cache is expected");
  return pages;
}

uint32_t tvms_paged_areas(tvms_paged_host *host, const tvms_paged_made *made) {
  tvms_paged p = {.host = host};
  if (made->sizes.count != 5 && made->sizes.count != 6)
    tvms_paged_refuse(&p, "5 or 6 sizes of a cache are expected, not %lld",
                      (long long)made->sizes.count);
  check_numbers(&p, made);
  pages_of(&p, made);
  return TVMS_PAGED_PAGES + layers_of(&p, made);
}

static void new_area(const tvms_paged *p, uint32_t area, uint32_t bits,
                     const int64_t *sizes, uint32_t count) {
  uint64_t bytes = (bits + 7) / 8;
  for (uint32_t i = 0; i < count; i++) {
    if (__builtin_mul_overflow(bytes, (uint64_t)sizes[i], &bytes))
      tvms_paged_refuse(p, "a smaller cache is expected");
  }
  p->host->area(p->host, area, bytes);
}

static void make_rooms(const tvms_paged *p) {
  const tvms_paged_made *made = &p->head->made;
  uint32_t bits = (uint32_t)made->type.bits * made->type.lanes;
  int64_t queries[] = {p->head->most_tokens, made->query_heads, made->key_size};
  int64_t keys[] = {queries[0], made->key_heads, made->key_size};
  new_area(p, TVMS_PAGED_QUERIES, bits, queries, 3);
  new_area(p, TVMS_PAGED_KEYS, bits, keys, 3);
  new_area(p, TVMS_PAGED_VALUES, bits, keys, 3);
  for (uint32_t i = 0; i < p->head->layers; i++) {
    tvms_paged_argument pages = tvms_paged_pages_at(p, i);
    new_area(p, pages.at, bits, pages.shape, (uint32_t)pages.ndim);
  }
  queries[2] = made->value_size;
  new_area(p, TVMS_PAGED_OUTPUT, bits, queries, 3);
  new_area(p, TVMS_PAGED_SUMS, 32, queries, 2);
  new_area(p, TVMS_PAGED_ALL_SUMS, 32, queries, 2);
}

static void keep_kinds(const tvms_paged *p, const tvms_paged_made *made) {
  uint8_t *kinds = p->host->area(p->host, TVMS_PAGED_KINDS, p->head->layers);
  for (uint32_t i = 0; i < p->head->layers; i++)
    kinds[i] = (uint8_t)made->kinds.sizes[p->head->first_layer + i];
}

void tvms_paged_create(tvms_paged_host *host, const tvms_paged_made *made) {
  tvms_paged p = {.host = host};
  int64_t pages = pages_of(&p, made);
  uint64_t list = (uint64_t)pages * sizeof(int32_t);
  host->area(host, TVMS_PAGED_NEXT, list);
  host->area(host, TVMS_PAGED_FREE, list);
  p = tvms_paged_open(host);
  *p.head = (tvms_paged_head){.kind = TVMS_STATE_PAGED,
                              .made = *made,
                              .most_tokens = size_at(&p, made, 2, 1),
                              .most_sequences = made->sizes.sizes[0],
                              .page_size = made->sizes.sizes[3],
                              .total_pages = pages,
                              .first_layer = made->layers.sizes[0],
                              .layers = layers_of(&p, made),
                              .slides = made->sizes.sizes[4] != 0 && !has_windows(made),
                              .window = has_windows(made) ? window_of(&p, made) : 0};
  int64_t mode = made->rotary_mode;
  p.head->inlines =
      mode == TVMS_ROTARY_INLINE || (made->sizes.sizes[4] && mode != TVMS_ROTARY_NONE);
  keep_kinds(&p, made);
  p.head->made.sizes = p.head->made.layers = p.head->made.kinds = (tvms_paged_shape){0};
  tvms_paged_clear(&p);
  make_rooms(&p);
}
