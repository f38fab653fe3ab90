// Pieces get their places in a workspace by size: the largest first.
//
// Where threads share a loop, each works on the rows of its part, and what it has written lies in the cache of its
// processor. Memory that belonged to another thread before must come from there: between processors without a common
// cache, a MobileNetV2 of two threads spends a fifth of its time on that, as its tensors become smaller and
// smaller. Two threads meet in the middle of each tensor, so the middles of tensors should lie on each other:
//
//     |        thread 0        |        thread 1        |
//               |   thread 0   |   thread 1   |
#include "passes/tir/memory/lift_place.h"

#include "passes/tir/memory/lift_allocations.h"

enum {
  PER_CONFLICT = 2,  // a byte that changes hands, in bytes of memory
  MOST_SHARES = 64,
  MOST_STEPS = 1 << 27,  // of the search: some tenths of a second
};

int64_t tvms_lift_place_aligned(int64_t bytes) {
  return (bytes + TVMS_FRAME_ALIGNMENT - 1) / TVMS_FRAME_ALIGNMENT
         * TVMS_FRAME_ALIGNMENT;
}

static int64_t end_of(const tvms_lift_piece *piece) {
  return piece->begin + piece->bytes;
}

static tvms_lift_piece *largest_without_place(tvms_lift_pieces *pieces) {
  tvms_lift_piece *largest = NULL;
  for (uint32_t i = 0; i < pieces->len; i++) {
    tvms_lift_piece *one = &pieces->items[i];
    if (one->begin < 0 && (!largest || one->bytes > largest->bytes)) largest = one;
  }
  return largest;
}

// Does a piece that has a place lie in the way of one at `place`?
static bool is_in_the_way(const tvms_lift_piece *other, const tvms_lift_piece *one,
                          int64_t place) {
  return other->begin >= 0 && other->first <= one->last && other->last >= one->first
         && end_of(other) > place && other->begin < place + one->bytes;
}

// The first place of a piece among those that have one.
static int64_t first_place(const tvms_lift_pieces *pieces, const tvms_lift_piece *one) {
  int64_t place = 0, before = -1;
  while (place != before) {
    before = place;
    for (uint32_t i = 0; i < pieces->len; i++) {
      const tvms_lift_piece *other = &pieces->items[i];
      if (is_in_the_way(other, one, place))
        place = tvms_lift_place_aligned(end_of(other));
    }
  }
  return place;
}

int64_t tvms_lift_place_first(tvms_lift_pieces *pieces) {
  int64_t end = 0;
  for (tvms_lift_piece *one; (one = largest_without_place(pieces));) {
    one->begin = first_place(pieces, one);
    if (end_of(one) > end) end = end_of(one);
  }
  return tvms_lift_place_aligned(end);
}

// ---- Shares ----

typedef struct {
  tvms_lift_pieces *pieces;
  tvms_lift_pieces places;  // different ones that pieces have, whatever the time
  uint32_t shares;
  int64_t limit, end;  // of all
  int64_t steps;       // of the search so far
} search;

typedef struct {
  const tvms_lift_piece *piece;
  int64_t place, cost;  // -1: there is none yet
} choice;

// Where the part of a thread begins.
static int64_t share_begin(const search *s, const tvms_lift_piece *piece,
                           uint32_t thread) {
  return piece->bytes / s->shares * thread
         + piece->bytes % s->shares * thread / s->shares;
}

static int64_t common(int64_t a, int64_t a_end, int64_t b, int64_t b_end) {
  int64_t begin = a > b ? a : b, end = a_end < b_end ? a_end : b_end;
  return end > begin ? end - begin : 0;
}

// Bytes of both that belong to different threads.
static int64_t conflict(const search *s, const tvms_lift_piece *one, int64_t place,
                        const tvms_lift_piece *other) {
  int64_t both = common(place, place + one->bytes, other->begin, end_of(other));
  for (uint32_t i = 0; both && i < s->shares; i++)
    both -= common(place + share_begin(s, one, i), place + share_begin(s, one, i + 1),
                   other->begin + share_begin(s, other, i),
                   other->begin + share_begin(s, other, i + 1));
  return both;
}

static bool is_free(const search *s, const tvms_lift_piece *one, int64_t place) {
  for (uint32_t i = 0; i < s->pieces->len; i++) {
    if (is_in_the_way(&s->pieces->items[i], one, place)) return false;
  }
  return true;
}

// Takes a place if it is free and better than the best so far: of two that are equally good, the first.
static void consider(search *s, choice *best, int64_t place) {
  place -= place % TVMS_FRAME_ALIGNMENT;
  int64_t end = place + best->piece->bytes;
  if (place < 0 || tvms_lift_place_aligned(end) > s->limit) return;
  int64_t cost = end > s->end ? end - s->end : 0;
  s->steps += s->shares * s->places.len;
  for (uint32_t i = 0; i < s->places.len; i++) {
    cost += PER_CONFLICT * conflict(s, best->piece, place, &s->places.items[i]);
    if (best->place >= 0 && cost > best->cost) return;
  }
  if (best->place >= 0 && cost == best->cost && place >= best->place) return;
  if (!is_free(s, best->piece, place)) return;
  best->place = place;
  best->cost = cost;
}

// The best of the places beside others, and of those where parts begin as others' do.
static int64_t best_place(search *s, const tvms_lift_piece *one) {
  choice best = {one, -1, 0};
  consider(s, &best, 0);
  for (uint32_t i = 0; i < s->places.len && s->steps < MOST_STEPS; i++) {
    const tvms_lift_piece *other = &s->places.items[i];
    consider(s, &best, tvms_lift_place_aligned(end_of(other)));
    consider(s, &best, other->begin - one->bytes);
    for (uint32_t t = 1; t < s->shares; t++)
      consider(s, &best,
               other->begin + share_begin(s, other, t) - share_begin(s, one, t));
  }
  return s->steps < MOST_STEPS ? best.place : -1;
}

static void note_place(tvms_memory *memory, search *s, const tvms_lift_piece *one) {
  if (end_of(one) > s->end) s->end = end_of(one);
  for (uint32_t i = 0; i < s->places.len; i++) {
    const tvms_lift_piece *other = &s->places.items[i];
    if (other->begin == one->begin && other->bytes == one->bytes) return;
  }
  tvms_vec_push(memory, &s->places, *one);
}

int64_t tvms_lift_place_shares(tvms_memory *memory, tvms_lift_pieces *pieces,
                               uint32_t shares, int64_t limit) {
  search s = {.pieces = pieces, .shares = shares, .limit = limit};
  if (shares > MOST_SHARES) s.shares = MOST_SHARES;
  for (tvms_lift_piece *one; (one = largest_without_place(pieces));) {
    int64_t place = best_place(&s, one);
    if (place < 0) {
      s.end = -1;
      break;
    }
    one->begin = place;
    note_place(memory, &s, one);
  }
  for (uint32_t i = 0; s.end < 0 && i < pieces->len; i++)
    pieces->items[i].begin = -1;
  tvms_vec_fini(memory, &s.places);
  return s.end < 0 ? -1 : tvms_lift_place_aligned(s.end);
}
