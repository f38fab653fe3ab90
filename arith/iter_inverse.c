// Values go from the sums to their parts and from these to their sources, in the order in which
// all that uses a source comes in front of it.
#include "arith/iter_inverse.h"

#include "arith/internal.h"

// A sum or a part of one, and what is known of its value.
typedef struct {
  const tvms_iter_sum *TVMS_NULLABLE sum;
  const tvms_iter_split *TVMS_NULLABLE split;
  tvms_node *TVMS_NULLABLE value;  // NULL: 0
} place;

typedef struct {
  tvms_iter_mapper *m;
  TVMS_VEC(place) places;  // what uses something stands behind it
  tvms_node_map *found;
} inversion;

static tvms_node *build(inversion *v, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_iter_build(v->m, kind, a, b);
}

static place *TVMS_NULLABLE place_of(const inversion *v, const void *part) {
  for (uint32_t i = 0; i < v->places.len; i++) {
    place *p = &v->places.items[i];
    if (p->sum == part || p->split == part) return p;
  }
  return NULL;
}

static void order(inversion *v, const tvms_iter_sum *sum) {
  if (place_of(v, sum)) return;
  if (!tvms_memory_enter(v->m->memory))
    tvms_memory_unwind(v->m->memory, TVMS_OVER_LIMIT);
  for (uint32_t i = 0; i < sum->len; i++) {
    const tvms_iter_mark *source = sum->args[i].source;
    if (source->sum) order(v, source->sum);
    tvms_vec_push(v->m->memory, &v->places, ((place){.split = &sum->args[i]}));
  }
  tvms_memory_leave(v->m->memory);
  tvms_vec_push(v->m->memory, &v->places, ((place){.sum = sum}));
}

static void add(inversion *v, const void *part, tvms_node *value) {
  place *p = place_of(v, part);
  p->value = p->value ? build(v, TVMS_NODE_ADD, p->value, value) : value;
}

// The parts of one sum follow each other without gaps, the last one innermost.
static bool are_digits(inversion *v, const tvms_iter_sum *sum) {
  tvms_node *scale = sum->args[sum->len - 1].scale;
  for (uint32_t i = sum->len; i-- > 0;) {
    const tvms_iter_split *part = &sum->args[i];
    if (!tvms_analyzer_can_prove_equal(v->m->analyzer, part->scale, scale))
      return false;
    scale = build(v, TVMS_NODE_MUL, scale, part->extent);
  }
  return true;
}

static bool invert_sum(inversion *v, const tvms_iter_sum *sum, tvms_node *value) {
  tvms_analyzer *analyzer = v->m->analyzer;
  if (sum->len == 0) return true;
  if (value) value = build(v, TVMS_NODE_SUB, value, sum->base);
  if (!value) value = tvms_iter_number(v->m, sum->base, 0);
  if (sum->len == 1) {
    tvms_node *scale = sum->args[0].scale;
    tvms_node *one = tvms_iter_number(v->m, scale, 1),
              *minus = tvms_iter_number(v->m, scale, -1);
    add(v, &sum->args[0], build(v, TVMS_NODE_MUL, value, scale));
    return tvms_analyzer_can_prove_equal(analyzer, scale, one)
           || tvms_analyzer_can_prove_equal(analyzer, scale, minus);
  }
  if (!are_digits(v, sum)) return false;
  for (uint32_t i = sum->len; i-- > 0;) {
    const tvms_iter_split *part = &sum->args[i];
    tvms_node *digit = build(v, TVMS_NODE_FLOOR_DIV, value, part->scale);
    if (i > 0) digit = build(v, TVMS_NODE_FLOOR_MOD, digit, part->extent);
    add(v, part, digit);
  }
  return true;
}

static bool invert_split(inversion *v, const tvms_iter_split *split, tvms_node *value) {
  const tvms_iter_mark *source = split->source;
  if (!value) value = tvms_iter_number(v->m, split->extent, 0);
  value = build(v, TVMS_NODE_MUL, value, split->lower_factor);
  if (source->sum) {
    add(v, source->sum, value);
    return true;
  }
  if (!source->expr || source->expr->kind != TVMS_NODE_VAR) return false;
  tvms_node *other = tvms_node_map_get(v->found, source->expr);
  if (other) value = build(v, TVMS_NODE_ADD, other, value);
  tvms_node_map_put(v->found, source->expr, value);
  return true;
}

bool tvms_iter_invert(tvms_iter_mapper *m, const tvms_iter_sum *const *sums,
                      uint32_t count, tvms_node *const *values, tvms_node_map *found) {
  inversion v = {.m = m, .found = found};
  bool fine = true;
  for (uint32_t i = 0; i < count; i++)
    order(&v, sums[i]);
  for (uint32_t i = 0; i < count; i++)
    add(&v, sums[i], values[i]);
  for (uint32_t i = v.places.len; i-- > 0 && fine;) {
    const place p = v.places.items[i];
    fine = p.sum ? invert_sum(&v, p.sum, p.value) : invert_split(&v, p.split, p.value);
  }
  tvms_vec_fini(m->memory, &v.places);
  return fine && !m->failed;
}
