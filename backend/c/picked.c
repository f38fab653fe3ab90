// Loads of vectors whose lanes lie near each other in C text: whole vectors, and what is picked from them.
//
// Of every third element, with four lanes:
//
//   [0 . . 3]  [. . 6 .]  [. . . 9]      the last vector ends with the last element
#include "backend/c/picked.h"

#include "backend/c/masked.h"
#include "backend/c/vector.h"

enum { MOST_PARTS = 8 };

bool tvms_c_is_picked(tvms_dtype element, const tvms_lanes *lanes) {
  bool narrow = tvms_dtype_is_real(element) && element.bits < 32;
  bool same = element.code != TVMS_BOOL && element.lanes == 1
              && (!narrow || tvms_c_is_narrow(element));
  bool full = lanes->count > 1 && !(lanes->count & (lanes->count - 1));
  return same && full && lanes->span <= MOST_PARTS * (int64_t)lanes->count;
}

static const char *pointer(c_emitter *e, const char *at, int64_t offset) {
  return offset ? tvms_c_text(e, "(%s + %lld)", at, (long long)offset) : at;
}

// So many elements from an offset on; others are 0 and not touched.
static const char *load_first(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *at, int64_t offset, int64_t count) {
  at = pointer(e, at, offset);
  const char *text;
  if (count < dtype.lanes)
    text = tvms_c_load_lanes(e, dtype, span, at, (UINT64_C(1) << count) - 1);
  else
    text = tvms_c_load_whole(e, dtype, span, at);
  return tvms_c_whole(e, dtype, span, text);
}

// Adds the elements from `begin` on, which are those of lanes from `first` to `end`, to the lanes made so far.
static const char *add_part(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const tvms_lanes *lanes, const char *made, const char *next,
                            int64_t begin, bool is_second) {
  int indices[TVMS_MOST_LANES], count = dtype.lanes;
  int64_t from = is_second ? count : (begin + count - 1) / count * count;
  for (int i = 0; i < count; i++) {
    int64_t at = lanes->offsets[i] - lanes->least;
    if (at >= from && at < begin + count)
      indices[i] = (int)(count + at - begin);
    else
      indices[i] = is_second && at < count ? (int)at : i;
  }
  return tvms_c_pick(e, dtype, span, made, next, indices);
}

// All lanes from one vector, which is no longer than what they span wants: a shorter one needs no mask.
static const char *load_one(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *at, const tvms_lanes *lanes) {
  int indices[TVMS_MOST_LANES], count = (int)lanes->count;
  if (lanes->span == 1)
    return tvms_c_spread(e, dtype, span,
                         tvms_c_text(e, "%s[0]", pointer(e, at, lanes->least)));
  tvms_dtype source = tvms_dtype_with_lanes(
      dtype, tvms_c_room(tvms_dtype_with_lanes(dtype, (int)lanes->span)));
  const char *made = load_first(e, source, span, at, lanes->least, lanes->span);
  for (int i = 0; i < count; i++)
    indices[i] = (int)(lanes->offsets[i] - lanes->least);
  return source.lanes == count ? tvms_c_pick(e, dtype, span, made, made, indices)
                               : tvms_c_lanes_of(e, dtype, span, made, indices);
}

// Of elements that are in registers what they are in memory.
static const char *load_parts(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *at, const tvms_lanes *lanes) {
  int64_t count = lanes->count, parts = (lanes->span + count - 1) / count;
  if (parts == 1) return load_one(e, dtype, span, at, lanes);
  const char *made = load_first(e, dtype, span, at, lanes->least, lanes->span);
  for (int64_t part = 1; part < parts; part++) {
    int64_t begin = part + 1 < parts ? part * count : lanes->span - count;
    const char *next = load_first(e, dtype, span, at, lanes->least + begin, count);
    made = add_part(e, dtype, span, lanes, made, next, begin, part == 1);
  }
  return made;
}

const char *tvms_c_load_picked(c_emitter *e, tvms_dtype dtype, tvms_span span,
                               const char *at, const tvms_lanes *lanes) {
  if (!tvms_c_is_narrow(dtype)) return load_parts(e, dtype, span, at, lanes);
  tvms_dtype memory = {TVMS_UINT, 16, dtype.lanes};
  return tvms_c_widen(e, dtype, span, load_parts(e, memory, span, at, lanes));
}

// ---- Some lanes of every second element ----

// Where the lanes `bits` of such a load come from: of a vector that begins with the first one, and of a second one that
// ends with the last one. Neighbouring windows which leave out other lanes want the same elements then, and compilers
// join loads that are the same.
typedef struct {
  int from, behind;      // where the vectors begin, in elements
  uint64_t first, last;  // lanes of them that are loaded
  int indices
      [64];  // of each lane in both; of one that is left out, of one that is not loaded
} pair_parts;

// The lane of the vectors in which an element from the first one on lies; it is loaded.
static int note_lane(pair_parts *parts, int lanes, int at) {
  bool first = at < lanes;
  if (!first) at += parts->from - parts->behind;
  *(first ? &parts->first : &parts->last) |= 1ull << at;
  return first ? at : lanes + at;
}

// With the elements around each that loads beside this one want.
static pair_parts parts_of(int lanes, uint64_t bits, tvms_c_around around) {
  int low = __builtin_ctzll(bits), high = 63 - __builtin_clzll(bits),
      more = around.before + around.behind, length = 2 * (high - low) + 1 + more;
  pair_parts parts = {.from = 2 * low - around.before};
  parts.behind = parts.from + (length > lanes ? length - lanes : 0);
  for (int k = low; k <= high; k++)
    for (int i = 0; i <= more && bits >> k & 1; i++) {
      int lane = note_lane(&parts, lanes, 2 * (k - low) + i);
      if (i == around.before) parts.indices[k] = lane;
    }
  uint64_t whole = UINT64_MAX >> (64 - lanes);
  int none = parts.first != whole ? __builtin_ctzll(~parts.first)
                                  : lanes + __builtin_ctzll(~parts.last);
  for (int k = 0; k < lanes; k++)
    if (!(bits >> k & 1)) parts.indices[k] = none;
  return parts;
}

// These lanes of a vector; others are 0.
static const char *load_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *at, uint64_t lanes) {
  bool all = lanes == UINT64_MAX >> (64 - dtype.lanes);
  return all ? load_first(e, dtype, span, at, 0, dtype.lanes)
             : tvms_c_whole(e, dtype, span,
                            tvms_c_load_lanes(e, dtype, span, at, lanes));
}

const char *tvms_c_load_some_pairs(c_emitter *e, tvms_dtype dtype, tvms_span span,
                                   const char *at, uint64_t bits,
                                   tvms_c_around around) {
  pair_parts parts = parts_of(dtype.lanes, bits, around);
  const char *loaded[2];
  for (int k = 0; k < 2; k++) {
    const char *place = pointer(e, at, k ? parts.behind : parts.from);
    uint64_t lanes = k ? parts.last : parts.first;
    loaded[k] = k && !lanes ? loaded[0] : load_lanes(e, dtype, span, place, lanes);
  }
  return tvms_c_pick(e, dtype, span, loaded[0], loaded[1], parts.indices);
}
