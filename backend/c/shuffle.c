// Lanes of vectors in another order: one operation of GCC's where lanes are whole vectors' or lie beside each other,
// else a list.
#include "backend/c/shuffle.h"

#include "backend/c/division.h"
#include "backend/c/expr.h"
#include "backend/c/vector.h"
#include "ir/build.h"

// The lane that index `i` of a shuffle names: its vector's number, and which lane of it.
static uint32_t shuffled(c_emitter *e, const tvms_node *node, uint32_t i, int *lane) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  int64_t wanted;
  if (!tvms_node_int_in_lanes(source->indices.items[i], &wanted))
    tvms_c_refuse(e, node->span, "a computed shuffle");
  for (uint32_t from = 0; from < source->vectors.len && wanted >= 0; from++) {
    int lanes = source->vectors.items[from]->dtype.lanes;
    *lane = (int)wanted;
    if (wanted < lanes) return from;
    wanted -= lanes;
  }
  tvms_c_refuse(e, node->span, "a shuffle of lanes that are not there");
}

// Of one vector or two that have as many lanes as the result; NULL if it is none of these.
static const char *TVMS_NULLABLE shuffle_whole(c_emitter *e, const tvms_node *node) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  int indices[64], lanes = node->dtype.lanes;
  bool fits = tvms_c_is_whole(node->dtype) && !(lanes & (lanes - 1))
              && !tvms_dtype_is_bool(node->dtype) && source->vectors.len <= 2;
  for (uint32_t i = 0; i < source->vectors.len; i++)
    fits &= source->vectors.items[i]->dtype.lanes == lanes;
  if (!fits) return NULL;
  for (uint32_t i = 0; i < source->indices.len; i++) {
    int lane;
    uint32_t from = shuffled(e, node, i, &lane);
    indices[i] = (int)from * lanes + lane;
  }
  const char *a = tvms_c_expr(e, source->vectors.items[0]);
  const char *b =
      source->vectors.len == 2 ? tvms_c_expr(e, source->vectors.items[1]) : a;
  return tvms_c_pick(e, node->dtype, node->span, a, b, indices);
}

// Lanes beside each other of one longer vector; NULL if it is anything else.
static const char *TVMS_NULLABLE shuffle_part(c_emitter *e, const tvms_node *node) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  int first = 0, lane, lanes = node->dtype.lanes;
  bool part = source->vectors.len == 1 && tvms_c_is_whole(node->dtype)
              && !(lanes & (lanes - 1))
              && tvms_c_is_whole(source->vectors.items[0]->dtype);
  for (uint32_t i = 0; part && i < source->indices.len; i++) {
    shuffled(e, node, i, &lane);
    if (i == 0) first = lane;
    part = lane == first + (int)i;
  }
  return part ? tvms_c_part(e, node->dtype, node->span,
                            tvms_c_expr(e, source->vectors.items[0]), first)
              : NULL;
}

// Two vectors of half as many lanes, one behind the other; NULL if it is anything else.
static const char *TVMS_NULLABLE shuffle_join(c_emitter *e, const tvms_node *node) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  int lane, lanes = node->dtype.lanes;
  bool joins = source->vectors.len == 2 && tvms_c_is_whole(node->dtype) && lanes >= 8
               && !(lanes & (lanes - 1)) && !tvms_dtype_is_bool(node->dtype);
  for (uint32_t i = 0; i < source->vectors.len; i++)
    joins &= source->vectors.items[i]->dtype.lanes == lanes / 2;
  for (uint32_t i = 0; joins && i < source->indices.len; i++)
    joins = shuffled(e, node, i, &lane) * (uint32_t)(lanes / 2) + (uint32_t)lane == i;
  if (!joins) return NULL;
  const char *first = tvms_c_expr(e, source->vectors.items[0]);
  return tvms_c_join(e, node->dtype, node->span, first,
                     tvms_c_expr(e, source->vectors.items[1]));
}

const char *tvms_c_shuffle(c_emitter *e, const tvms_node *node) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  const char *whole = shuffle_whole(e, node), *list = "";
  if (!whole) whole = shuffle_part(e, node);
  if (!whole) whole = shuffle_join(e, node);
  if (whole) return whole;
  const char **values =
      tvms_arena_array(&e->context->scratch, const char *, source->vectors.len);
  for (uint32_t i = 0; i < source->vectors.len; i++)
    values[i] = tvms_c_expr(e, source->vectors.items[i]);
  for (uint32_t i = 0; i < source->indices.len; i++) {
    int lane;
    uint32_t from = shuffled(e, node, i, &lane);
    bool vector = source->vectors.items[from]->dtype.lanes > 1;
    const char *item =
        vector ? tvms_c_text(e, "%s[%d]", values[from], lane) : values[from];
    if (tvms_c_mask_bits(values[from])) item = tvms_c_text(e, "(%s != 0)", item);
    list = tvms_c_text(e, "%s%s%s", list, i ? ", " : "", item);
  }
  bool is_scalar = node->dtype.lanes == 1;
  return tvms_c_whole(e, node->dtype, node->span,
                      is_scalar ? list : tvms_c_text(e, "{%s}", list));
}
