// Fusing: i * 12 + j * 4 + k with k in [0, 4) and j in [0, 3) is one iterator, because each scale is
// the extent of what is below it times the scale there.
//
// Parts are taken from the smallest scale on. A scale that is larger than expected leaves gaps,
// which only widens the result. A part of the sum that has a condition of its own counts as a
// whole with the extent that the condition leaves.
#include "arith/iter_sum.h"

#include "arith/internal.h"
#include "ir/equal.h"
#include "ir/fold.h"

#include <string.h>

// ---- Expressions ----

tvms_node *tvms_iter_build(tvms_iter_mapper *m, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b) {
  tvms_node *made = tvms_build_binary(m->unit, kind, a, b, TVMS_NO_SPAN);
  if (made) return made;
  m->failed = true;
  return a;
}

tvms_node *tvms_iter_number(tvms_iter_mapper *m, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(m->unit, like->dtype, value, TVMS_NO_SPAN);
}

// The factors of a product: constants into *constant, the others into *rest.
static void collect_factors(tvms_iter_mapper *m, tvms_node *node, int64_t *constant,
                            tvms_node **rest) {
  while (node->kind == TVMS_NODE_MUL) {
    collect_factors(m, tvms_as_binary(node)->a, constant, rest);
    node = tvms_as_binary(node)->b;
  }
  if (node->kind == TVMS_NODE_INT_IMM)
    *constant = tvms_arith_wrap_mul(*constant, tvms_as_int_imm(node)->value);
  else
    *rest = tvms_iter_build(m, TVMS_NODE_MUL, *rest, node);
}

tvms_node *tvms_iter_multiply(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  int64_t constant = 1;
  tvms_node *rest = tvms_iter_number(m, a, 1);
  collect_factors(m, a, &constant, &rest);
  collect_factors(m, b, &constant, &rest);
  if (constant == 1) return rest;
  return tvms_iter_build(m, TVMS_NODE_MUL, rest, tvms_iter_number(m, rest, constant));
}

static bool prove_equal(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  return tvms_analyzer_can_prove_equal(m->analyzer, a, b);
}

bool tvms_iter_divides(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  if (tvms_node_is_int(b, 0)) return false;
  if (a->kind == TVMS_NODE_INT_IMM && b->kind == TVMS_NODE_INT_IMM)
    return tvms_as_int_imm(a)->value % tvms_as_int_imm(b)->value == 0;
  if (prove_equal(m, a, b)) return true;
  tvms_node *rest = tvms_iter_build(m, TVMS_NODE_FLOOR_MOD, a, b);
  tvms_node *none =
      tvms_iter_build(m, TVMS_NODE_EQ, rest, tvms_iter_number(m, rest, 0));
  return tvms_analyzer_can_prove(m->analyzer, none);
}

// ---- Splits and sums ----

tvms_iter_split tvms_iter_split_of(tvms_iter_mapper *m, tvms_iter_mark *mark,
                                   tvms_node *scale) {
  return (tvms_iter_split){mark, tvms_iter_number(m, scale, 1), mark->extent, scale};
}

tvms_iter_sum *tvms_iter_sum_new(tvms_iter_mapper *m, const tvms_iter_split *args,
                                 uint32_t len, tvms_node *base) {
  tvms_iter_sum *sum = tvms_arena_new(&m->unit->arena, tvms_iter_sum);
  sum->args = tvms_arena_array(&m->unit->arena, tvms_iter_split, len);
  if (len) memcpy(sum->args, args, len * sizeof *args);
  sum->len = len;
  sum->base = base;
  return sum;
}

bool tvms_iter_mark_same(const tvms_iter_mark *a, const tvms_iter_mark *b) {
  if (a == b) return true;
  return a->split && b->split && tvms_iter_split_same(a->split, b->split, true)
         && tvms_node_same_expr(a->extent, b->extent);
}

bool tvms_iter_split_same(const tvms_iter_split *a, const tvms_iter_split *b,
                          bool scales) {
  return tvms_iter_mark_same(a->source, b->source)
         && tvms_node_same_expr(a->lower_factor, b->lower_factor)
         && (!scales || tvms_node_same_expr(a->scale, b->scale))
         && tvms_node_same_expr(a->extent, b->extent);
}

static void add_split(tvms_iter_mapper *m, tvms_iter_sum *sum, tvms_iter_split part,
                      bool subtract) {
  tvms_node_kind kind = subtract ? TVMS_NODE_SUB : TVMS_NODE_ADD;
  for (uint32_t i = 0; i < sum->len; i++) {
    if (!tvms_iter_split_same(&sum->args[i], &part, false)) continue;
    part.scale = tvms_iter_build(m, kind, sum->args[i].scale, part.scale);
    sum->args[i] = part;
    return;
  }
  if (subtract) {
    tvms_node *zero = tvms_iter_number(m, part.scale, 0);
    part.scale = tvms_iter_build(m, kind, zero, part.scale);
  }
  sum->args[sum->len++] = part;
}

tvms_iter_sum *tvms_iter_sum_add(tvms_iter_mapper *m, const tvms_iter_sum *a,
                                 const tvms_iter_sum *b, bool subtract) {
  tvms_iter_sum *sum = tvms_arena_new(&m->unit->arena, tvms_iter_sum);
  sum->args = tvms_arena_array(&m->unit->arena, tvms_iter_split, a->len + b->len);
  sum->len = a->len;
  if (a->len) memcpy(sum->args, a->args, a->len * sizeof *a->args);
  for (uint32_t i = 0; i < b->len; i++)
    add_split(m, sum, b->args[i], subtract);
  sum->base =
      tvms_iter_build(m, subtract ? TVMS_NODE_SUB : TVMS_NODE_ADD, a->base, b->base);
  return sum;
}

// ---- Search ----

#define NOWHERE UINT32_MAX

static uint32_t count_factors(const tvms_node *node) {
  uint32_t count = 1;
  while (node->kind == TVMS_NODE_MUL) {
    count += count_factors(tvms_as_binary(node)->b);
    node = tvms_as_binary(node)->a;
  }
  return count;
}

static bool is_left_out(const tvms_iter_sum *sum, const bool *seen, uint32_t i,
                        const tvms_iter_mark *TVMS_NULLABLE source) {
  return seen[i] || (source && sum->args[i].source != source);
}

// The part with the smallest scale among [0, end); constants before products of symbols.
static uint32_t find_base(const tvms_iter_sum *sum, const bool *seen,
                          const tvms_iter_mark *TVMS_NULLABLE source, uint32_t end) {
  uint32_t found = NOWHERE;
  int64_t least = 0;
  for (uint32_t i = end; i-- > 0;) {
    const tvms_iter_split *part = &sum->args[i];
    if (is_left_out(sum, seen, i, source) || part->scale->kind != TVMS_NODE_INT_IMM)
      continue;
    int64_t scale = tvms_as_int_imm(part->scale)->value;
    bool tie = found != NOWHERE && scale == least && tvms_node_is_int(part->extent, 1)
               && !tvms_node_is_int(sum->args[found].extent, 1);
    if (found != NOWHERE && scale >= least && !tie) continue;
    least = scale;
    found = i;
  }
  uint32_t factors = 0;
  for (uint32_t i = end; i-- > 0;) {
    if (is_left_out(sum, seen, i, source)) continue;
    uint32_t count = count_factors(sum->args[i].scale);
    if (found != NOWHERE && count >= factors) continue;
    factors = count;
    found = i;
  }
  return found;
}

// The part with exactly this scale; one step is preferred, since it changes no scale.
static uint32_t find_exact(tvms_iter_mapper *m, const tvms_iter_sum *sum,
                           const bool *seen, tvms_node *scale,
                           const tvms_iter_mark *TVMS_NULLABLE source, uint32_t end) {
  uint32_t found = NOWHERE;
  for (uint32_t i = end; i-- > 0;) {
    if (is_left_out(sum, seen, i, source)) continue;
    if (!prove_equal(m, sum->args[i].scale, scale)) continue;
    if (tvms_node_is_int(sum->args[i].extent, 1)) return i;
    if (found == NOWHERE) found = i;
  }
  return found;
}

// The part whose scale is below and closest to this one.
static uint32_t find_closest(tvms_iter_mapper *m, const tvms_iter_sum *sum,
                             const bool *seen, tvms_node *scale) {
  uint32_t found = NOWHERE;
  for (uint32_t i = sum->len; i-- > 0;) {
    tvms_node *own = sum->args[i].scale;
    if (seen[i]) continue;
    tvms_node *above = tvms_iter_build(m, TVMS_NODE_SUB, scale, own);
    if (!tvms_analyzer_can_prove_ge(m->analyzer, above, 0)) continue;
    if (!tvms_analyzer_can_prove_ge(m->analyzer, own, 0)) continue;
    if (found != NOWHERE) {
      tvms_node *less = tvms_iter_build(m, TVMS_NODE_SUB, sum->args[found].scale, own);
      if (!tvms_analyzer_can_prove_lt(m->analyzer, less, 0)) continue;
    }
    found = i;
  }
  return found;
}

// ---- Parts of one source ----

static bool shares_source(const tvms_iter_sum *sum, uint32_t i) {
  for (uint32_t k = 0; k < sum->len; k++) {
    if (k != i && sum->args[k].source == sum->args[i].source) return true;
  }
  return false;
}

// ((x // (c * s)) % m) * s + (x // c) % s is (x // c) % (m * s). NULL: nothing to combine.
static const tvms_iter_sum *TVMS_NULLABLE combine(tvms_iter_mapper *m,
                                                  const tvms_iter_sum *sum) {
  bool any = false;
  for (uint32_t i = 0; i < sum->len; i++)
    any |= shares_source(sum, i);
  if (!any) return NULL;
  bool *seen = tvms_arena_array(&m->unit->arena, bool, sum->len);
  memset(seen, 0, sum->len);
  tvms_iter_split *parts = tvms_arena_array(&m->unit->arena, tvms_iter_split, sum->len);
  uint32_t first = sum->len;
  for (uint32_t end = sum->len; end > 0;) {
    if (seen[end - 1]) {
      end--;
      continue;
    }
    const tvms_iter_mark *source = sum->args[end - 1].source;
    uint32_t at =
        shares_source(sum, end - 1) ? find_base(sum, seen, source, end) : end - 1;
    seen[at] = true;
    tvms_iter_split part = sum->args[at];
    while (shares_source(sum, at)) {
      tvms_node *scale = tvms_iter_multiply(m, part.extent, part.scale);
      uint32_t next = find_exact(m, sum, seen, scale, source, end);
      if (next == NOWHERE) break;
      tvms_node *factor = tvms_iter_multiply(m, part.lower_factor, part.extent);
      if (!prove_equal(m, sum->args[next].lower_factor, factor)) break;
      seen[next] = true;
      part.extent = tvms_iter_multiply(m, sum->args[next].extent, part.extent);
    }
    parts[--first] = part;
  }
  return tvms_iter_sum_new(m, parts + first, sum->len - first, sum->base);
}

// ---- All parts as one ----

// A fusion at work; parts are collected from the innermost on.
typedef struct {
  tvms_iter_mapper *m;
  const tvms_iter_sum *sum;
  bool *seen;
  tvms_iter_split *flat, *grouped;
  uint32_t flat_len, grouped_len;
  tvms_node *base_scale, *scale;  // of the first part, and expected of the next
  tvms_node *offset, *tail;
} fusion;

// The longest condition that begins at a part.
static const tvms_iter_sum *TVMS_NULLABLE find_constraint(const fusion *f,
                                                          const tvms_iter_split *part) {
  const tvms_iter_sum *found = NULL;
  for (uint32_t i = 0; i < f->m->constrained.len; i++) {
    const tvms_iter_sum *other = &f->m->constrained.items[i];
    if (!tvms_iter_split_same(part, &other->args[other->len - 1], false)) continue;
    if (!found || found->len < other->len) found = other;
  }
  return found;
}

static bool same_sum(const tvms_iter_sum *a, const tvms_iter_sum *b) {
  if (a->len != b->len || !tvms_node_same_expr(a->base, b->base)) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    if (!tvms_iter_split_same(&a->args[i], &b->args[i], true)) return false;
  }
  return true;
}

static tvms_iter_fused *TVMS_NULLABLE find_fused(const tvms_iter_mapper *m,
                                                 const tvms_iter_sum *flat) {
  for (uint32_t i = 0; i < m->fused.len; i++) {
    if (same_sum(&m->fused.items[i].flat, flat)) return &m->fused.items[i];
  }
  return NULL;
}

// Takes the parts that a condition is about as one.
static bool take_constrained(fusion *f, const tvms_iter_sum *constraint,
                             tvms_node *scale) {
  tvms_iter_mapper *m = f->m;
  for (uint32_t i = constraint->len; i-- > 0;) {
    uint32_t k = 0;
    for (; k < f->sum->len; k++) {
      const tvms_iter_split *part = &f->sum->args[k];
      if (f->seen[k] || !tvms_iter_split_same(part, &constraint->args[i], false))
        continue;
      tvms_node *wanted =
          tvms_iter_build(m, TVMS_NODE_MUL, constraint->args[i].scale, scale);
      if (prove_equal(m, wanted, part->scale)) break;
    }
    if (k == f->sum->len) return false;
    f->seen[k] = true;
    f->flat[f->flat_len++] = f->sum->args[k];
  }
  const tvms_iter_fused *whole = find_fused(m, constraint);
  if (!whole) return false;
  tvms_node *grouped = tvms_iter_build(m, TVMS_NODE_FLOOR_DIV, scale, f->base_scale);
  f->grouped[f->grouped_len++] = tvms_iter_split_of(m, whole->mark, grouped);
  tvms_node *behind = tvms_iter_build(m, TVMS_NODE_MUL, whole->offset, scale);
  f->offset = tvms_iter_build(m, TVMS_NODE_ADD, f->offset, behind);
  f->scale = tvms_iter_multiply(m, whole->mark->extent, scale);
  return true;
}

static void take_part(fusion *f, uint32_t at, tvms_node *scale) {
  tvms_iter_mapper *m = f->m;
  tvms_iter_split part = f->sum->args[at];
  f->seen[at] = true;
  tvms_node *relative =
      tvms_iter_build(m, TVMS_NODE_FLOOR_DIV, part.scale, f->base_scale);
  part.scale = tvms_analyzer_simplify(m->analyzer, relative);
  f->flat[f->flat_len++] = part;
  f->grouped[f->grouped_len++] = part;
  f->scale = tvms_iter_multiply(m, part.extent, scale);
}

static bool take_next(fusion *f, uint32_t base) {
  tvms_iter_mapper *m = f->m;
  uint32_t at = f->flat_len == 0
                    ? base
                    : find_exact(m, f->sum, f->seen, f->scale, NULL, f->sum->len);
  tvms_node *scale = f->scale;
  bool exact = at != NOWHERE;
  if (!exact && tvms_node_is_int(f->base_scale, 1)) {
    at = find_closest(m, f->sum, f->seen, f->scale);
    if (at != NOWHERE) scale = f->sum->args[at].scale;
  }
  if (at == NOWHERE) return false;
  tvms_node *expected = f->scale;
  const tvms_iter_sum *constraint = find_constraint(f, &f->sum->args[at]);
  if (!constraint)
    take_part(f, at, scale);
  else if (!take_constrained(f, constraint, scale))
    return false;
  if (!exact) {
    tvms_node *gap = tvms_iter_build(m, TVMS_NODE_SUB, expected, scale);
    f->tail = tvms_iter_build(m, TVMS_NODE_ADD, f->tail, gap);
  }
  return true;
}

static void reverse(tvms_iter_split *items, uint32_t len) {
  for (uint32_t i = 0; i + 1 < len - i; i++) {
    tvms_iter_split other = items[i];
    items[i] = items[len - 1 - i];
    items[len - 1 - i] = other;
  }
}

// The iterator of the parts that were taken; the same as before for the same parts.
static tvms_iter_sum *TVMS_NULLABLE finish(fusion *f) {
  tvms_iter_mapper *m = f->m;
  tvms_node *zero = tvms_iter_number(m, f->sum->base, 0);
  reverse(f->flat, f->flat_len);
  reverse(f->grouped, f->grouped_len);
  tvms_iter_sum flat = {f->flat, f->flat_len, zero};
  const tvms_iter_fused *old = find_fused(m, &flat);
  tvms_iter_mark *mark;
  if (old) {
    tvms_node *offset = tvms_iter_build(m, TVMS_NODE_MUL, old->offset, f->base_scale);
    if (!prove_equal(m, f->offset, offset)) return NULL;
    mark = old->mark;
  } else {
    mark = tvms_arena_new(&m->unit->arena, tvms_iter_mark);
    *mark = (tvms_iter_mark){0};
    mark->sum = tvms_iter_sum_new(m, f->grouped, f->grouped_len, zero);
    mark->extent = tvms_iter_build(m, TVMS_NODE_DIV, f->scale, f->base_scale);
    mark->extent = tvms_iter_build(m, TVMS_NODE_ADD, mark->extent, f->tail);
    tvms_iter_fused made = {flat, mark, f->offset};
    tvms_vec_push(m->memory, &m->fused, made);
  }
  tvms_iter_split whole = tvms_iter_split_of(m, mark, f->base_scale);
  tvms_node *base = tvms_iter_build(m, TVMS_NODE_ADD, f->sum->base, f->offset);
  return tvms_iter_sum_new(m, &whole, 1, base);
}

tvms_iter_sum *TVMS_NULLABLE tvms_iter_sum_fuse(tvms_iter_mapper *m,
                                                const tvms_iter_sum *sum, bool early) {
  const tvms_iter_sum *combined = combine(m, sum);
  if (combined) sum = combined;
  if (combined && sum->len <= 1 && early) return (tvms_iter_sum *)(uintptr_t)sum;
  if (sum->len == 0) return NULL;
  fusion f = {.m = m, .sum = sum};
  f.seen = tvms_arena_array(&m->unit->arena, bool, sum->len);
  memset(f.seen, 0, sum->len);
  f.flat = tvms_arena_array(&m->unit->arena, tvms_iter_split, sum->len);
  f.grouped = tvms_arena_array(&m->unit->arena, tvms_iter_split, sum->len);
  uint32_t base = find_base(sum, f.seen, NULL, sum->len);
  f.base_scale = f.scale = sum->args[base].scale;
  f.offset = f.tail = tvms_iter_number(m, sum->base, 0);
  while (f.flat_len < sum->len) {
    if (!take_next(&f, base) || m->failed) return NULL;
  }
  return finish(&f);
}

// ---- The way back ----

static tvms_node *write_split(tvms_iter_mapper *m, const tvms_iter_split *split);

static tvms_node *write_mark(tvms_iter_mapper *m, const tvms_iter_mark *mark) {
  if (mark->expr) return mark->expr;
  return mark->sum ? tvms_iter_sum_write(m, mark->sum) : write_split(m, mark->split);
}

static bool is_whole(tvms_iter_mapper *m, const tvms_iter_split *split, tvms_node *a,
                     tvms_node *b) {
  tvms_node *size = tvms_iter_build(m, TVMS_NODE_MUL, a, b);
  return tvms_analyzer_can_prove(
      m->analyzer, tvms_iter_build(m, TVMS_NODE_EQ, split->source->extent, size));
}

static tvms_node *write_split(tvms_iter_mapper *m, const tvms_iter_split *split) {
  tvms_node *source = write_mark(m, split->source);
  tvms_node *same =
      tvms_iter_build(m, TVMS_NODE_EQ, split->extent, split->source->extent);
  bool full = tvms_analyzer_can_prove(m->analyzer, same)
              && tvms_node_is_int(split->lower_factor, 1);
  if (full) return tvms_iter_build(m, TVMS_NODE_MUL, source, split->scale);
  bool outermost = is_whole(m, split, split->lower_factor, split->extent)
                   || is_whole(m, split, split->extent, split->lower_factor);
  if (outermost && tvms_node_is_int(split->extent, 1)
      && !tvms_node_is_int(split->source->extent, 1))
    return tvms_iter_number(m, split->extent, 0);
  if (!outermost) {
    tvms_node *size =
        tvms_iter_build(m, TVMS_NODE_MUL, split->extent, split->lower_factor);
    size = tvms_analyzer_canonical_simplify(m->analyzer, size);
    source = tvms_iter_build(m, TVMS_NODE_FLOOR_MOD, source, size);
  }
  source = tvms_iter_build(m, TVMS_NODE_FLOOR_DIV, source, split->lower_factor);
  return tvms_iter_build(m, TVMS_NODE_MUL, source, split->scale);
}

// TVM adds to zero, which for vectors is not folded.
static tvms_node *added_to_zero(tvms_iter_mapper *m, tvms_node *base) {
  tvms_dtype element = tvms_dtype_with_lanes(base->dtype, 1);
  tvms_node *zero = tvms_int_imm_new(m->unit, element, 0, TVMS_NO_SPAN);
  zero = tvms_broadcast_new(m->unit, zero, base->dtype.lanes, TVMS_NO_SPAN);
  return tvms_binary_new(m->unit, TVMS_NODE_ADD, zero, base, TVMS_NO_SPAN);
}

tvms_node *tvms_iter_sum_write(tvms_iter_mapper *m, const tvms_iter_sum *sum) {
  tvms_node *made = NULL;
  for (uint32_t i = 0; i < sum->len; i++) {
    tvms_node *part = write_split(m, &sum->args[i]);
    made = made ? tvms_iter_build(m, TVMS_NODE_ADD, made, part) : part;
  }
  if (!made && !tvms_dtype_is_scalar(sum->base->dtype))
    return added_to_zero(m, sum->base);
  return made ? tvms_iter_build(m, TVMS_NODE_ADD, made, sum->base) : sum->base;
}
