// Sums of splits: adding, merging, ordering, and back to expressions.
//
// A sum is kept in the order in which its indices were met; adding a split looks for the
// index by its structure, in a hash table once there are many. Merging waits until the sum
// becomes an expression, because dividing a merged split may cost what its parts would have
// kept. The expression has TVM's order: terms that are added, largest scale first, a
// positive constant, terms that are subtracted, a negative constant.
#include "arith/canonical_sum.h"

#include "arith/bound.h"
#include "arith/canonical.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "support/trial.h"

#include <string.h>

// ---- Splits ----

tvms_canonical_split tvms_canonical_split_of(tvms_node *index) {
  return (tvms_canonical_split){
      .index = index, .lower = 1, .upper = TVMS_POS_INF, .scale = 1};
}

bool tvms_canonical_split_fits(const tvms_canonical_split *split, bool floor) {
  return split->floor == floor || (split->lower == 1 && split->upper == TVMS_POS_INF);
}

static tvms_node *binary(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                         int64_t value) {
  return tvms_arith_fold_binary(unit, kind, a,
                                tvms_arith_number(unit, a->dtype, value));
}

static tvms_node *modulo_of(tvms_unit *unit, const tvms_canonical_split *split) {
  tvms_node_kind kind = split->floor ? TVMS_NODE_FLOOR_MOD : TVMS_NODE_MOD;
  if (split->upper == TVMS_POS_INF) return split->index;
  return binary(unit, kind, split->index, split->upper);
}

static tvms_node *quotient_of(tvms_unit *unit, const tvms_canonical_split *split,
                              tvms_node *value) {
  tvms_node_kind kind = split->floor ? TVMS_NODE_FLOOR_DIV : TVMS_NODE_DIV;
  return split->lower == 1 ? value : binary(unit, kind, value, split->lower);
}

tvms_node *tvms_canonical_split_node(tvms_unit *unit, const tvms_canonical_split *split,
                                     int64_t scale) {
  if (split->scale == 0) return tvms_arith_number(unit, split->index->dtype, 0);
  tvms_node *value = quotient_of(unit, split, modulo_of(unit, split));
  scale = tvms_arith_wrap_mul(scale, split->scale);
  return scale == 1 ? value : binary(unit, TVMS_NODE_MUL, value, scale);
}

static bool same_index(const tvms_canonical_split *a, const tvms_canonical_split *b) {
  return tvms_node_same_expr(a->index, b->index);
}

// ---- Sums ----

enum { LONG_SUM = 16, DEEPEST_HASHED = 4 };

static uint64_t mix(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

// Equal for what tvms_node_same_expr holds for equal; looks at a few nodes only.
static uint64_t hash_of(const tvms_node *node, int depth) {
  uint64_t hash = mix(node->kind, node->dtype.bits);
  if (node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_BUFFER) {
    return mix(hash, (uintptr_t)node);
  }
  if (node->kind == TVMS_NODE_INT_IMM) {
    return mix(hash, (uint64_t)tvms_as_int_imm(node)->value);
  }
  const tvms_node *child;
  int count = 0;
  for (tvms_child_at at = {0}; depth < DEEPEST_HASHED && count < DEEPEST_HASHED
                               && (child = tvms_walk_next_child(node, &at));
       count++) {
    hash = mix(hash, hash_of(child, depth + 1));
  }
  return hash;
}

// Where the splits of the index at `position` begin, or a free slot for it.
static uint32_t *slot_of(const tvms_sum *sum, const tvms_canonical_split *split) {
  uint32_t at = (uint32_t)hash_of(split->index, 0);
  for (;; at++) {
    uint32_t *slot = &sum->slots[at & sum->slot_mask];
    if (!*slot || same_index(&sum->args[*slot - 1], split)) return slot;
  }
}

// Makes `slots` know all splits; takes time for the new ones only, unless it is too small.
static void place_splits(tvms_unit *unit, tvms_sum *sum) {
  if (!sum->slots || sum->len * 2 > sum->slot_mask) {
    uint32_t size = 4 * LONG_SUM;
    while (size < sum->len * 4) {
      size *= 2;
    }
    sum->slots = tvms_arena_array(&unit->arena, uint32_t, size);
    sum->slot_mask = size - 1;
    sum->placed = 0;
  }
  if (sum->placed == 0) memset(sum->slots, 0, sizeof(uint32_t) * (sum->slot_mask + 1));
  for (; sum->placed < sum->len; sum->placed++) {
    uint32_t *slot = slot_of(sum, &sum->args[sum->placed]);
    if (!*slot) *slot = sum->placed + 1;
  }
}

// The first split with the index of `split`, or the end.
static uint32_t find_index(tvms_unit *unit, tvms_sum *sum,
                           const tvms_canonical_split *split) {
  uint32_t at = 0;
  if (sum->len >= LONG_SUM) {
    place_splits(unit, sum);
    uint32_t slot = *slot_of(sum, split);
    return slot ? slot - 1 : sum->len;
  }
  while (at < sum->len && !same_index(&sum->args[at], split)) {
    at++;
  }
  return at;
}

tvms_sum *tvms_canonical_sum_new(tvms_unit *unit, tvms_dtype dtype) {
  tvms_sum *sum = tvms_arena_new(&unit->arena, tvms_sum);
  sum->dtype = dtype;
  return sum;
}

static void grow(tvms_unit *unit, tvms_sum *sum) {
  if (sum->len < sum->cap) return;
  sum->cap = sum->cap ? sum->cap * 2 : 4;
  tvms_canonical_split *args =
      tvms_arena_array(&unit->arena, tvms_canonical_split, sum->cap);
  if (sum->len) memcpy(args, sum->args, sum->len * sizeof *args);
  sum->args = args;
}

void tvms_canonical_sum_append(tvms_unit *unit, tvms_sum *sum,
                               tvms_canonical_split split) {
  grow(unit, sum);
  sum->args[sum->len++] = split;
}

static void insert(tvms_unit *unit, tvms_sum *sum, uint32_t at,
                   tvms_canonical_split split) {
  grow(unit, sum);
  memmove(sum->args + at + 1, sum->args + at, (sum->len - at) * sizeof *sum->args);
  sum->args[at] = split;
  sum->len++;
  sum->placed = 0;  // what stands behind has moved
}

void tvms_canonical_sum_add(tvms_unit *unit, tvms_sum *sum, tvms_canonical_split split,
                            int64_t scale) {
  if (split.scale == 0) return;
  split.scale = tvms_arith_wrap_mul(split.scale, scale);
  for (uint32_t at = find_index(unit, sum, &split); at < sum->len; at++) {
    tvms_canonical_split *other = &sum->args[at];
    if (!same_index(other, &split) || split.lower > other->lower) {
      insert(unit, sum, at, split);
      return;
    }
    if (split.lower == other->lower && split.upper == other->upper
        && tvms_canonical_split_fits(&split, other->floor)) {
      other->scale = tvms_arith_wrap_add(other->scale, split.scale);
      return;
    }
  }
  tvms_canonical_sum_append(unit, sum, split);
}

void tvms_canonical_sum_add_sum(tvms_unit *unit, tvms_sum *sum, const tvms_sum *other,
                                int64_t scale) {
  for (uint32_t i = 0; i < other->len; i++) {
    tvms_canonical_sum_add(unit, sum, other->args[i], scale);
  }
  sum->base = tvms_arith_wrap_add(sum->base, tvms_arith_wrap_mul(other->base, scale));
}

void tvms_canonical_sum_scale(tvms_sum *sum, int64_t scale) {
  sum->base = tvms_arith_wrap_mul(sum->base, scale);
  for (uint32_t i = 0; i < sum->len; i++) {
    sum->args[i].scale = tvms_arith_wrap_mul(sum->args[i].scale, scale);
  }
}

void tvms_canonical_sum_divide(tvms_sum *sum, int64_t by) {
  sum->base /= by;
  for (uint32_t i = 0; i < sum->len; i++)
    sum->args[i].scale /= by;
}

bool tvms_canonical_sum_is_zero(const tvms_sum *sum) {
  return sum->base == 0 && sum->len == 0;
}

void tvms_canonical_sum_separate(tvms_unit *unit, const tvms_sum *sum, int64_t by,
                                 tvms_sum **divisible, tvms_sum **rest) {
  *divisible = tvms_canonical_sum_new(unit, sum->dtype);
  *rest = tvms_canonical_sum_new(unit, sum->dtype);
  (sum->base % by == 0 ? *divisible : *rest)->base = sum->base;
  for (uint32_t i = 0; i < sum->len; i++) {
    tvms_sum *part = sum->args[i].scale % by == 0 ? *divisible : *rest;
    tvms_canonical_sum_append(unit, part, sum->args[i]);
  }
}

// ---- Back to an expression ----

// Merges neighbours: (x div (c * s)) * s + (x mod (c * s)) div c  is  x div c.
static bool merge_pair(tvms_canonical_split *left, tvms_canonical_split *right) {
  bool fits = tvms_canonical_split_fits(left, right->floor);
  if (left->upper == right->upper && left->lower == right->lower && fits) {
    right->scale = tvms_arith_wrap_add(right->scale, left->scale);
    left->scale = 0;
    return false;  // go on: further neighbours may merge, too
  }
  if (left->lower != right->upper || right->scale == 0 || !fits) return false;
  if (left->scale % right->scale != 0) return false;
  int64_t factor = left->scale / right->scale;
  if (left->lower != tvms_arith_wrap_mul(factor, right->lower)) return false;
  right->upper = left->upper;
  // The merged one has the rounding of the one that divides.
  if (right->lower == 1 && right->upper == TVMS_POS_INF) right->floor = left->floor;
  left->scale = 0;
  return true;
}

static void merge_splits(tvms_canonical_split *args, uint32_t len) {
  for (uint32_t i = 0; i < len; i++) {
    if (args[i].scale == 0) continue;
    for (uint32_t j = i + 1; j < len; j++) {
      if (!same_index(&args[i], &args[j]) || args[i].upper < args[j].lower) break;
      if (merge_pair(&args[i], &args[j])) break;
    }
  }
}

// Order of printing: large scales first, then factors.
static bool comes_before(const tvms_canonical_split *a, const tvms_canonical_split *b) {
  if (a->scale != b->scale) return a->scale > b->scale;
  if (a->lower != b->lower) return a->lower > b->lower;
  if (a->upper != b->upper) return a->upper > b->upper;
  return a->floor && !b->floor;
}

// Stable, in O(n log n): merges runs of doubling length.
static void sort_splits(tvms_canonical_split *args, tvms_canonical_split *spare,
                        uint32_t len) {
  for (uint32_t width = 1; width < len; width *= 2) {
    for (uint32_t begin = 0; begin < len; begin += 2 * width) {
      uint32_t middle = begin + width < len ? begin + width : len;
      uint32_t end = middle + width < len ? middle + width : len;
      uint32_t i = begin, j = middle, at = begin;
      while (i < middle || j < end) {
        bool right = i == middle || (j < end && comes_before(&args[j], &args[i]));
        spare[at++] = right ? args[j++] : args[i++];
      }
    }
    memcpy(args, spare, len * sizeof *args);
  }
}

// The terms with scales of one sign, added or subtracted.
static tvms_node *add_terms(tvms_unit *unit, tvms_node *result,
                            const tvms_canonical_split *args, uint32_t len, int sign) {
  tvms_node_kind kind = sign > 0 ? TVMS_NODE_ADD : TVMS_NODE_SUB;
  for (uint32_t i = 0; i < len; i++) {
    if (args[i].scale == 0 || (args[i].scale > 0) != (sign > 0)) continue;
    tvms_node *term = tvms_canonical_split_node(unit, &args[i], sign);
    result = tvms_arith_fold_binary(unit, kind, result, term);
  }
  return result;
}

tvms_node *tvms_canonical_sum_node(tvms_unit *unit, const tvms_sum *sum) {
  tvms_dtype dtype = sum->dtype;
  if (sum->len == 0) return tvms_arith_number(unit, dtype, sum->base);
  tvms_canonical_split *args =
      tvms_arena_array(&unit->arena, tvms_canonical_split, sum->len * 2);
  memcpy(args, sum->args, sum->len * sizeof *args);
  merge_splits(args, sum->len);
  sort_splits(args, args + sum->len, sum->len);
  int64_t lowest = dtype.bits >= 64 ? INT64_MIN : -((int64_t)1 << (dtype.bits - 1));
  bool up = sum->base > 0 || sum->base == lowest;
  tvms_node *result = tvms_arith_number(unit, dtype, 0);
  result = add_terms(unit, result, args, sum->len, 1);
  if (up) result = binary(unit, TVMS_NODE_ADD, result, sum->base);
  result = add_terms(unit, result, args, sum->len, -1);
  return up || sum->base == 0 ? result
                              : binary(unit, TVMS_NODE_SUB, result, -sum->base);
}

// ---- Casts ----

static bool is_safe(tvms_analyzer *analyzer, const tvms_node *value, tvms_dtype dtype) {
  if (!tvms_dtype_is_index(dtype)) return false;
  if (value->dtype.bits <= dtype.bits) return true;
  tvms_bound bound = tvms_analyzer_const_int_bound(analyzer, value);
  return bound.min >= INT32_MIN && bound.max <= INT32_MAX;
}

bool tvms_canonical_split_takes_cast(tvms_analyzer *analyzer,
                                     const tvms_canonical_split *split,
                                     tvms_dtype dtype) {
  tvms_unit *unit = analyzer->unit;
  if (dtype.bits >= split->index->dtype.bits || split->scale == 0) return true;
  if (!is_safe(analyzer, split->index, dtype)) return false;
  tvms_node *value = modulo_of(unit, split);
  if (!is_safe(analyzer, value, dtype)) return false;
  value = quotient_of(unit, split, value);
  if (!is_safe(analyzer, value, dtype)) return false;
  value = binary(unit, TVMS_NODE_MUL, value, split->scale);
  return is_safe(analyzer, value, dtype);
}

bool tvms_canonical_sum_takes_cast(tvms_analyzer *analyzer, const tvms_sum *sum,
                                   tvms_dtype dtype) {
  if (dtype.bits >= sum->dtype.bits) return true;
  tvms_unit *unit = analyzer->unit;
  tvms_node *partial = tvms_arith_number(unit, sum->dtype, 0);
  for (int sign = 1; sign >= -1; sign -= 2) {
    tvms_node_kind kind = sign > 0 ? TVMS_NODE_ADD : TVMS_NODE_SUB;
    for (uint32_t i = 0; i < sum->len; i++) {
      const tvms_canonical_split *split = &sum->args[i];
      if (split->scale == 0 || (split->scale > 0) != (sign > 0)) continue;
      tvms_node *term = tvms_canonical_split_node(unit, split, sign);
      partial = tvms_arith_fold_binary(unit, kind, partial, term);
      if (!is_safe(analyzer, partial, dtype)) return false;
    }
    if (sum->base != 0 && (sum->base > 0) == (sign > 0)) {
      partial = binary(unit, TVMS_NODE_ADD, partial, sum->base);
      if (!is_safe(analyzer, partial, dtype)) return false;
    }
  }
  for (uint32_t i = 0; i < sum->len; i++) {
    if (!tvms_canonical_split_takes_cast(analyzer, &sum->args[i], dtype)) return false;
  }
  return true;
}

void tvms_canonical_split_cast(tvms_unit *unit, tvms_canonical_split *split,
                               tvms_dtype dtype) {
  tvms_diags *diags = &unit->context->diags;
  tvms_trial_mute(diags);
  tvms_node *index = tvms_build_cast(unit, dtype, split->index, split->index->span);
  tvms_trial_unmute(diags);
  split->index =
      index ? index : tvms_cast_new(unit, dtype, split->index, split->index->span);
}

void tvms_canonical_sum_cast(tvms_unit *unit, tvms_sum *sum, tvms_dtype dtype) {
  sum->placed = 0;  // the splits have other indices
  for (uint32_t i = 0; i < sum->len; i++)
    tvms_canonical_split_cast(unit, &sum->args[i], dtype);
  sum->dtype = dtype;
}
