// Strips of columns: whole ones, and what these leave over.
#include "passes/tir/cpu/contraction_strips.h"

#include "ir/fold.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// ---- Columns whose number is known ----

// Lanes for the last columns: a power of two, if a vector of that many can begin further left.
static int64_t lanes_for(int64_t rest, int64_t columns) {
  int64_t lanes = 4;
  while (lanes < rest)
    lanes *= 2;
  return lanes <= columns ? lanes : rest;
}

// `columns` columns from `first` on as one tile.
static tvms_tile_columns columns_at(writer *w, int64_t first, int64_t columns) {
  int64_t lanes = w->tile->lanes;
  tvms_tile_columns made = {.first = first, .width = lanes, .vectors = columns / lanes};
  int64_t rest = columns % lanes;
  if (!rest) return made;
  made.spare = rest == 1 && w->tile->spares && made.vectors > 0;
  made.tail = made.spare ? 1 : lanes_for(rest, columns);
  made.tail_at = number(w, tvms_contraction_column_var(w), columns - made.tail);
  return made;
}

static tvms_strip *add_strip(writer *w, tvms_strips *all, tvms_node *count,
                             int64_t first, int64_t columns) {
  tvms_strip *s = &all->items[all->count++];
  *s = (tvms_strip){.count = count, .first = first, .columns = columns};
  int64_t lanes = w->tile->lanes, left = (columns + lanes - 1) / lanes, done = 0;
  int64_t parts = (columns / lanes + w->tile->vectors - 1) / w->tile->vectors;
  if (!parts) parts = 1;
  for (; parts > 0; parts--) {
    int64_t vectors = (left + parts - 1) / parts, width = vectors * lanes;
    if (width > columns - done) width = columns - done;
    s->parts[s->part_count++] = columns_at(w, done, width);
    left -= vectors;
    done += width;
  }
  return s;
}

tvms_strips tvms_contraction_strips(writer *w) {
  tvms_strips all = {.count = 0};
  int64_t columns = w->group_columns, one = w->tile->strip;
  int64_t full = columns / one, rest = columns % one;
  if (full && rest && rest < w->tile->lanes && !w->tile->lines
      && !w->tile->beforehand) {
    full--;
    rest += one;
  }
  const tvms_node *like = tvms_contraction_column_var(w);
  if (full) add_strip(w, &all, number(w, like, full), 0, one);
  if (rest) add_strip(w, &all, number(w, like, 1), full * one, rest);
  return all;
}

// ---- Columns whose number is not known ----

static tvms_node *columns_of(writer *w) {
  return tvms_contraction_columns(w->unit, w->c);
}

// Columns that strips of `one` columns leave over.
static tvms_node *rest_of(writer *w, int64_t one) {
  tvms_node *columns = columns_of(w);
  return build(w, TVMS_NODE_FLOOR_MOD, columns, number(w, columns, one));
}

static tvms_node *ceil_div(writer *w, tvms_node *a, int64_t b) {
  tvms_node *up = build(w, TVMS_NODE_ADD, a, number(w, a, b - 1));
  return build(w, TVMS_NODE_FLOOR_DIV, up, number(w, a, b));
}

// Whole strips but the one that the last strip has.
static tvms_node *count_whole(writer *w) {
  tvms_node *columns = columns_of(w), *one = number(w, columns, w->tile->strip);
  if (!w->tile->last_takes_whole) return build(w, TVMS_NODE_FLOOR_DIV, columns, one);
  tvms_node *before = number(w, columns, w->tile->lanes + 1);
  before = build(w, TVMS_NODE_SUB, columns, before);
  return build(w, TVMS_NODE_MAX, build(w, TVMS_NODE_FLOOR_DIV, before, one),
               number(w, columns, 0));
}

tvms_strip tvms_contraction_whole_strips(writer *w) {
  tvms_strips all = {.count = 0};
  return *add_strip(w, &all, count_whole(w), 0, w->tile->strip);
}

// Half a vector and less of them is left to a narrower strip.
static tvms_node *count_widest(writer *w, int64_t lanes) {
  tvms_node *rest = rest_of(w, w->tile->strip);
  bool halves = lanes / 2 >= tvms_tile_least_lanes(w->tile);
  tvms_node *up = build(w, TVMS_NODE_ADD, rest,
                        number(w, rest, halves ? lanes / 2 - 1 : lanes - 1));
  return build(w, TVMS_NODE_FLOOR_DIV, up, number(w, rest, lanes));
}

// One where half a vector and less is left over, or all columns that are not as many as a vector.
static tvms_node *count_halves(writer *w, int64_t lanes) {
  tvms_node *columns = columns_of(w), *vector = number(w, columns, 2 * lanes);
  tvms_node *one = number(w, columns, lanes), *rest = rest_of(w, 2 * lanes);
  tvms_node *up = build(w, TVMS_NODE_ADD, rest, number(w, columns, lanes - 1));
  tvms_node *all = build(w, TVMS_NODE_FLOOR_DIV, up, one);
  up = build(w, TVMS_NODE_FLOOR_MOD, up, vector);
  return tvms_select_new(w->unit, build(w, TVMS_NODE_LE, vector, columns),
                         build(w, TVMS_NODE_FLOOR_DIV, up, one), all, TVMS_NO_SPAN);
}

tvms_strip tvms_contraction_narrow_strips(writer *w, int64_t lanes) {
  tvms_node *columns = columns_of(w);
  bool widest = lanes == w->tile->lanes, halves = 2 * lanes == w->tile->lanes;
  tvms_node *count = widest   ? count_widest(w, lanes)
                     : halves ? count_halves(w, lanes)
                              : ceil_div(w, columns, lanes);
  tvms_node *rest = rest_of(w, widest ? w->tile->strip : w->tile->lanes);
  return (tvms_strip){.count = count,
                      .behind = build(w, TVMS_NODE_SUB, columns, rest),
                      .last =
                          build(w, TVMS_NODE_SUB, columns, number(w, columns, lanes)),
                      .columns = lanes,
                      .parts = {{.width = lanes, .vectors = 1}},
                      .part_count = 1};
}

tvms_node *tvms_contraction_has_narrow_strips(writer *w, int64_t lanes) {
  tvms_node *columns = columns_of(w);
  tvms_node *fits = build(w, TVMS_NODE_GE, columns, number(w, columns, lanes));
  if (2 * lanes >= w->tile->lanes) return fits;
  tvms_node *few = build(w, TVMS_NODE_LT, columns, number(w, columns, 2 * lanes));
  return lanes == tvms_tile_least_lanes(w->tile) ? few
                                                 : build(w, TVMS_NODE_AND, fits, few);
}

int64_t tvms_contraction_most_last_vectors(const writer *w) {
  return w->tile->vectors + w->tile->last_takes_whole;
}

static tvms_node *begin_of_last(writer *w) {
  tvms_node *columns = columns_of(w);
  return build(w, TVMS_NODE_MUL, count_whole(w), number(w, columns, w->tile->strip));
}

static tvms_node *columns_of_last(writer *w) {
  return build(w, TVMS_NODE_SUB, columns_of(w), begin_of_last(w));
}

tvms_strip tvms_contraction_last_strip(writer *w, int64_t vectors) {
  int64_t lanes = w->tile->lanes;
  tvms_node *columns = columns_of(w);
  tvms_strip made = {.count = number(w, columns, 1),
                     .behind = begin_of_last(w),
                     .columns = vectors * lanes,
                     .parts = {{.width = lanes, .vectors = 1}},
                     .part_count = 1};
  tvms_node *width = number(w, columns, lanes);
  if (vectors == 1) {
    made.behind = build(w, TVMS_NODE_SUB, columns, width);
    return made;
  }
  made.parts[0].vectors = vectors - 1;
  made.parts[0].tail = lanes;
  made.parts[0].tail_at = build(w, TVMS_NODE_SUB, columns_of_last(w), width);
  return made;
}

tvms_node *tvms_contraction_last_strip_has(writer *w, int64_t vectors) {
  tvms_node *all = ceil_div(w, columns_of_last(w), w->tile->lanes);
  return build(w, TVMS_NODE_EQ, all, number(w, all, vectors));
}
