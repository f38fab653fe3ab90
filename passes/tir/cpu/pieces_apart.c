// Telling apart steps of loops by the elements that they touch.
//
// With i from 0 to 3 and j from 0 to 15, A[i * 16 + j] is another element in each step of both: i is a digit of 16, behind
// j. A[i * 8 + j] is not, and A[i * 16 + j + 1] may be that of another step of A[i * 16 + j].
#include "passes/tir/cpu/pieces_apart.h"

#include "ir/build.h"
#include "passes/tir/cpu/places.h"

#include <stdlib.h>

uint32_t tvms_cpu_pieces_shared_loops(const tvms_piece *a, const tvms_piece *b) {
  uint32_t least = a->depth < b->depth ? a->depth : b->depth, count = 0;
  while (count < least && a->loops[count] == b->loops[count])
    count++;
  return count;
}

// Widens [*low, *high] by `coefficient` times a variable from 0 up to `extent` - 1. False: how far is not known.
static bool widen(int64_t coefficient, int64_t extent, int64_t *low, int64_t *high) {
  int64_t most;
  if (!coefficient) return true;
  if (extent < 1 || __builtin_mul_overflow(coefficient, extent - 1, &most))
    return false;
  return coefficient > 0 ? !__builtin_add_overflow(*high, most, high)
                         : !__builtin_add_overflow(*low, most, low);
}

// What an index takes, but for the first `shared` loops.
static bool range_of(const tvms_piece *piece, const tvms_piece_index *index,
                     uint32_t shared, int64_t *low, int64_t *high) {
  *low = *high = index->base;
  for (uint32_t i = shared; i < piece->depth; i++) {
    int64_t extent = tvms_cpu_number(tvms_as_for(piece->loops[i])->extent);
    if (!widen(index->coefficients[i], extent, low, high)) return false;
  }
  return true;
}

typedef struct {
  uint64_t step;
  int64_t extent;
} digit;

// The one with the least step first.
static int by_step(const void *a, const void *b) {
  const digit *x = a, *y = b;
  return x->step < y->step ? -1 : x->step > y->step;
}

static int64_t outer_coefficient(const tvms_piece_index *index, const tvms_node *var) {
  for (uint32_t i = 0; i < index->outer_count; i++)
    if (index->outer[i] == var) return index->outer_coefficients[i];
  return 0;
}

// Do two indices have the same variables that do not change in the nest?
static bool same_outer(const tvms_piece_index *x, const tvms_piece_index *y) {
  for (uint32_t i = 0; i < x->outer_count; i++)
    if (x->outer_coefficients[i] != outer_coefficient(y, x->outer[i])) return false;
  for (uint32_t i = 0; i < y->outer_count; i++)
    if (y->outer_coefficients[i] != outer_coefficient(x, y->outer[i])) return false;
  return true;
}

// Do two accesses never meet in one dimension, as H[t + 1, j] and H[t, k] in one step of a loop over t further out?
static bool never_meet(const tvms_piece *a, const tvms_piece *b,
                       const tvms_piece_index *x, const tvms_piece_index *y) {
  int64_t low, high, least, most;
  return x->known && y->known && same_outer(x, y) && range_of(a, x, 0, &low, &high)
         && range_of(b, y, 0, &least, &most) && (high < least || most < low);
}

// Does one dimension tell the shared loops apart that it depends on? These are marked in `told`.
static void tell_by(const tvms_piece *a, const tvms_piece *b, const tvms_piece_index *x,
                    const tvms_piece_index *y, uint32_t shared, bool *told) {
  int64_t low, high, least, most, span;
  if (!x->known || !y->known || !same_outer(x, y)
      || !range_of(a, x, shared, &low, &high) || !range_of(b, y, shared, &least, &most))
    return;
  if (least < low) low = least;
  if (most > high) high = most;
  if (__builtin_sub_overflow(high, low, &span)) return;
  digit digits[TVMS_MOST_PIECE_LOOPS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < shared; i++) {
    int64_t c = x->coefficients[i];
    if (c != y->coefficients[i]) return;
    int64_t extent = tvms_cpu_number(tvms_as_for(a->loops[i])->extent);
    if (c) digits[count++] = (digit){c < 0 ? -(uint64_t)c : (uint64_t)c, extent};
  }
  qsort(digits, count, sizeof *digits, by_step);
  for (uint32_t i = 0; i < count; i++) {
    if (digits[i].step > INT64_MAX || (int64_t)digits[i].step <= span) return;
    bool last = i + 1 == count;
    int64_t low_end = 0;
    if (!last && !widen((int64_t)digits[i].step, digits[i].extent, &low_end, &span))
      return;
  }
  for (uint32_t i = 0; i < shared; i++)
    told[i] |= x->coefficients[i] != 0;
}

// Does an index change with no loop around, but for loop `but`?
static bool is_constant(const tvms_piece *piece, const tvms_piece_index *index,
                        uint32_t but) {
  for (uint32_t i = 0; i < piece->depth; i++)
    if (i != but && index->coefficients[i]) return false;
  return true;
}

// The one step of a loop in which an index may be that of the other access, which is the same in all steps; false: none says so.
static bool only_step(const tvms_piece *a, const tvms_piece_access *of,
                      const tvms_piece *b, const tvms_piece_access *other,
                      uint32_t loop, int64_t *step) {
  for (uint32_t i = 0; i < of->dims; i++) {
    const tvms_piece_index *x = &of->indices[i], *y = &other->indices[i];
    int64_t c = x->coefficients[loop], difference;
    if (!x->known || !y->known || !same_outer(x, y) || (c != 1 && c != -1)
        || !is_constant(a, x, loop) || !is_constant(b, y, TVMS_MOST_PIECE_LOOPS)
        || __builtin_sub_overflow(y->base, x->base, &difference))
      continue;
    *step = c * difference;
    return true;
  }
  return false;
}

// Do two accesses meet in one and the same step of a loop only, as V[i, j] and V[j, i] in a triangle do where i is j?
static bool meet_in_one_step(const tvms_piece *a, const tvms_piece_access *x,
                             const tvms_piece *b, const tvms_piece_access *y,
                             uint32_t loop) {
  int64_t first, second;
  return only_step(a, x, b, y, loop, &first) && only_step(b, y, a, x, loop, &second)
         && first == second;
}

bool tvms_cpu_pieces_tell_apart(const tvms_pieces *pieces, const tvms_piece_access *a,
                                const tvms_piece_access *b, uint32_t shared) {
  const tvms_piece *first = &pieces->pieces[a->piece];
  const tvms_piece *second = &pieces->pieces[b->piece];
  bool told[TVMS_MOST_PIECE_LOOPS] = {false};
  if (a->buffer != b->buffer || a->dims != b->dims) return false;
  for (uint32_t i = 0; i < a->dims; i++) {
    const tvms_piece_index *x = &a->indices[i], *y = &b->indices[i];
    if (never_meet(first, second, x, y)) return true;
    tell_by(first, second, x, y, shared, told);
  }
  for (uint32_t i = 0; i < shared; i++) {
    if (!told[i] && !tvms_node_is_int(tvms_as_for(first->loops[i])->extent, 1)
        && !meet_in_one_step(first, a, second, b, i))
      return false;
  }
  return true;
}
