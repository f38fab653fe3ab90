// Description of vision.non_max_suppression: boxes in the order of their scores, and statements
// that drop those that overlap a better one; with soft_nms_sigma these get lower scores, and the
// best of those that are left is chosen anew each time.
//
// TVM: topi/vision/nms.py, since 0.25.
#include "te/element.h"
#include "te/extern.h"
#include "te/legalize_sort.h"
#include "te/legalizers.h"

typedef struct {
  tvms_te *te;
  const tvms_call *call;
  tvms_node *data, *counts, *indices, *order;
  tvms_node *boxes, *places, *found;  // results
  tvms_node *images, *anchors, *width;
  tvms_node *i;             // the image
  tvms_node *kept, *valid;  // cells: boxes that are looked at, that stay
  tvms_node *best, *best_score, *spare, *spare_value;  // cells
  double sigma;                                        // 0: boxes are dropped
} nms;

static int64_t option(const nms *n, uint32_t place, int64_t otherwise) {
  return tvms_attr_int(n->call, place, otherwise);
}

// A number of float32 as TVM casts it to the dtype of the boxes, also if that is its own.
static tvms_node *real(const nms *n, double value) {
  tvms_cast *cast = tvms_node_make(n->te->unit, CAST, TVMS_NO_SPAN);
  cast->head.dtype = tvms_te_dtype(n->data);
  cast->value = tvms_te_const(n->te, TVMS_DTYPE(FLOAT, 32), value);
  return &cast->head;
}

static tvms_node *box(const nms *n, tvms_node *tensor, tvms_node *row, tvms_node *at) {
  tvms_node *all[] = {n->i, row, at};
  return tvms_te_load(n->te, tensor, all, 3);
}

static tvms_node *set_box(const nms *n, tvms_node *row, tvms_node *at,
                          tvms_node *value) {
  tvms_node *all[] = {n->i, row, at};
  return tvms_te_store(n->te, n->boxes, all, 3, value);
}

static tvms_node *place(const nms *n, tvms_node *tensor, tvms_node *row) {
  tvms_node *all[] = {n->i, row};
  return tvms_te_load(n->te, tensor, all, 2);
}

static tvms_node *set_place(const nms *n, tvms_node *row, tvms_node *value) {
  tvms_node *all[] = {n->i, row};
  return tvms_te_store(n->te, n->places, all, 2, value);
}

static tvms_node *each(const nms *n, tvms_node *var, tvms_node *extent,
                       tvms_node *body) {
  return tvms_te_loop(n->te, TVMS_FOR_SERIAL, var, extent, body);
}

static tvms_node *var(const nms *n, tvms_node *extent) {
  return tvms_te_loop_var(n->te, "j", extent);
}

static tvms_node *two(const nms *n, tvms_node *first, tvms_node *second) {
  tvms_node *both[] = {first, second};
  return tvms_te_sequence(n->te, both, 2);
}

// The row becomes a box that is none.
static tvms_node *drop(const nms *n, tvms_node *row) {
  tvms_te *te = n->te;
  tvms_node *k = var(n, n->width);
  tvms_node *fill = each(n, k, n->width, set_box(n, row, k, real(n, -1)));
  return two(n, fill, set_place(n, row, INT32(-1)));
}

// ---- In the order of scores ----

static tvms_node *copy_sorted(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *j = var(n, n->anchors), *k = var(n, n->width);
  tvms_node *from = place(n, n->order, j);
  tvms_node *copy = each(n, k, n->width, set_box(n, j, k, box(n, n->data, from, k)));
  tvms_node *body = tvms_te_when(te, LT(j, tvms_te_cell_get(te, n->kept)),
                                 two(n, copy, set_place(n, j, place(n, n->order, j))));
  tvms_node *otherwise = drop(n, j);
  if (!body || !otherwise) return NULL;
  tvms_as_if_then_else(body)->else_case = otherwise;
  return each(n, j, n->anchors, body);
}

// ---- Overlaps ----

typedef struct {
  tvms_node *left, *top, *right, *bottom;
} corners;

static corners corners_of(const nms *n, tvms_node *row) {
  tvms_te *te = n->te;
  int64_t first = option(n, TVMS_ATTR_nms_coord_start, 2);
#define AT(i) box(n, n->boxes, row, INT32(first + (i)))
  corners c = {MIN(AT(0), AT(2)), MIN(AT(1), AT(3)), MAX(AT(0), AT(2)),
               MAX(AT(1), AT(3))};
#undef AT
  return c;
}

static tvms_node *area(const nms *n, corners c) {
  tvms_te *te = n->te;
  return MUL(SUB(c.right, c.left), SUB(c.bottom, c.top));
}

// What two boxes share, of what they cover.
static tvms_node *overlap(const nms *n, tvms_node *one, tvms_node *other) {
  tvms_te *te = n->te;
  corners a = corners_of(n, one), b = corners_of(n, other);
  tvms_node *width = MAX(real(n, 0), SUB(MIN(a.right, b.right), MAX(a.left, b.left)));
  tvms_node *height = MAX(real(n, 0), SUB(MIN(a.bottom, b.bottom), MAX(a.top, b.top)));
  tvms_node *shared = MUL(height, width);
  tvms_node *covered = SUB(ADD(area(n, a), area(n, b)), shared);
  return tvms_te_select(te, LE(covered, real(n, 0)), real(n, 0), DIV(shared, covered));
}

// May box j drop box k?
static tvms_node *are_alike(const nms *n, tvms_node *j, tvms_node *k) {
  tvms_te *te = n->te;
  int64_t id = option(n, TVMS_ATTR_nms_id_index, 0);
  bool any = tvms_attr_bool(n->call, TVMS_ATTR_nms_force_suppress) || id < 0;
  if (any) return tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN);
  return EQ(box(n, n->boxes, j, INT32(id)), box(n, n->boxes, k, INT32(id)));
}

static tvms_node *score_at(const nms *n, tvms_node *row) {
  tvms_te *te = n->te;
  return box(n, n->boxes, row, INT32(option(n, TVMS_ATTR_nms_score_index, 1)));
}

static tvms_node *set_score(const nms *n, tvms_node *row, tvms_node *value) {
  tvms_te *te = n->te;
  return set_box(n, row, INT32(option(n, TVMS_ATTR_nms_score_index, 1)), value);
}

static tvms_node *most_overlap(const nms *n) {
  return tvms_te_const(n->te, tvms_te_dtype(n->data),
                       tvms_attr_float(n->call, TVMS_ATTR_nms_iou_threshold, 0.5));
}

// Drops box k if it overlaps box j too much.
static tvms_node *suppress(const nms *n, tvms_node *j, tvms_node *k) {
  tvms_te *te = n->te;
  tvms_node *gone = two(n, set_score(n, k, real(n, -1)), set_place(n, k, INT32(-1)));
  tvms_node *body = tvms_te_when(te, GE(overlap(n, j, k), most_overlap(n)), gone);
  return tvms_te_when(te, are_alike(n, j, k), body);
}

// Is there room for one more box?
static tvms_node *has_room(const nms *n) {
  tvms_te *te = n->te;
  int64_t most = option(n, TVMS_ATTR_nms_max_output_size, -1);
  return tvms_te_select(te, tvms_bool_imm_new(te->unit, most > 0, TVMS_NO_SPAN),
                        LT(tvms_te_cell_get(te, n->valid), INT32(most)),
                        tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN));
}

// ---- The best of those that are left ----

static tvms_node *least_score(const nms *n) {
  return real(n, tvms_attr_float(n->call, TVMS_ATTR_nms_score_threshold, 0));
}

static tvms_node *find_best(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *kept = tvms_te_cell_get(te, n->kept), *j = var(n, kept);
  tvms_node *is_left =
      AND(GE(j, tvms_te_cell_get(te, n->valid)), GE(place(n, n->places, j), INT32(0)));
  tvms_node *better =
      AND(is_left, GT(score_at(n, j), tvms_te_cell_get(te, n->best_score)));
  tvms_node *body = two(n, tvms_te_cell_set(te, n->best, j),
                        tvms_te_cell_set(te, n->best_score, score_at(n, j)));
  return each(n, j, kept, tvms_te_when(te, better, body));
}

// The best box and the first one that is not chosen change places.
static tvms_node *swap(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *first = tvms_te_cell_get(te, n->valid);
  tvms_node *best = tvms_te_cell_get(te, n->best), *k = var(n, n->width);
  tvms_node *elements[] = {
      tvms_te_cell_set(te, n->spare_value, box(n, n->boxes, first, k)),
      set_box(n, first, k, box(n, n->boxes, best, k)),
      set_box(n, best, k, tvms_te_cell_get(te, n->spare_value)),
  };
  tvms_node *all[] = {
      tvms_te_cell_set(te, n->spare, place(n, n->places, first)),
      set_place(n, first, place(n, n->places, best)),
      set_place(n, best, tvms_te_cell_get(te, n->spare)),
      each(n, k, n->width, tvms_te_sequence(te, elements, 3)),
  };
  return tvms_te_when(te, NE(best, first), tvms_te_sequence(te, all, 4));
}

// Box j overlaps the best one: it goes, or its score becomes lower.
static tvms_node *weaken(const nms *n, tvms_node *j) {
  tvms_te *te = n->te;
  tvms_node *shared = overlap(n, tvms_te_cell_get(te, n->valid), j);
  tvms_node *power = MUL(MUL(real(n, -0.5 / n->sigma), shared), shared);
  tvms_node *lower =
      power
          ? set_score(n, j, MUL(score_at(n, j), tvms_te_call(te, TVMS_TIR_exp, power)))
          : NULL;
  tvms_node *too_low =
      tvms_te_when(te, LE(score_at(n, j), least_score(n)), set_place(n, j, INT32(-1)));
  return two(n,
             tvms_te_when(te, GE(shared, most_overlap(n)), set_place(n, j, INT32(-1))),
             tvms_te_when(te, LT(shared, most_overlap(n)), two(n, lower, too_low)));
}

static tvms_node *weaken_others(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *kept = tvms_te_cell_get(te, n->kept), *j = var(n, kept);
  tvms_node *first = tvms_te_cell_get(te, n->valid);
  tvms_node *is_left = AND(GT(j, first), GE(place(n, n->places, j), INT32(0)));
  tvms_node *counts = AND(is_left, GT(score_at(n, j), least_score(n)));
  tvms_node *body = tvms_te_when(te, are_alike(n, first, j), weaken(n, j));
  return each(n, j, kept, tvms_te_when(te, counts, body));
}

static tvms_node *choose_softly(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *kept = tvms_te_cell_get(te, n->kept), *turn = var(n, kept);
  tvms_node *valid = tvms_te_cell_get(te, n->valid);
  tvms_node *chosen[] = {swap(n), weaken_others(n),
                         tvms_te_cell_set(te, n->valid, ADD(valid, INT32(1)))};
  tvms_node *all[] = {
      tvms_te_cell_set(te, n->best, INT32(-1)),
      tvms_te_cell_set(te, n->best_score, least_score(n)),
      find_best(n),
      tvms_te_when(te, GE(tvms_te_cell_get(te, n->best), INT32(0)),
                   tvms_te_sequence(te, chosen, 3)),
  };
  return each(n, turn, kept,
              tvms_te_when(te, has_room(n), tvms_te_sequence(te, all, 4)));
}

// Boxes that were not chosen are none; places of the others become those of the caller.
static tvms_node *finish_softly(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *j = var(n, n->anchors), *k = var(n, n->width);
  tvms_node *rest = GE(j, tvms_te_cell_get(te, n->valid));
  tvms_node *fill = each(n, k, n->width, set_box(n, j, k, real(n, -1)));
  if (!n->found) return each(n, j, n->anchors, tvms_te_when(te, rest, fill));
  tvms_node *own = set_place(n, j, place(n, n->indices, place(n, n->places, j)));
  tvms_node *body = two(n, tvms_te_when(te, LT(j, tvms_te_cell_get(te, n->valid)), own),
                        tvms_te_when(te, rest, drop(n, j)));
  tvms_node *at[] = {n->i, INT32(0)};
  return two(n, tvms_te_store(te, n->found, at, 2, tvms_te_cell_get(te, n->valid)),
             each(n, j, n->anchors, body));
}

// ---- All in the order of their scores ----

static tvms_node *choose(const nms *n) {
  tvms_te *te = n->te;
  tvms_node *score = INT32(option(n, TVMS_ATTR_nms_score_index, 1));
  tvms_node *kept = tvms_te_cell_get(te, n->kept);
  tvms_node *j = var(n, kept), *k = var(n, kept);
  tvms_node *valid = tvms_te_cell_get(te, n->valid);
  tvms_node *counts = AND(GT(box(n, n->boxes, j, score), real(n, 0)), has_room(n));
  tvms_node *later = AND(GT(k, j), GT(box(n, n->boxes, k, score), real(n, 0)));
  tvms_node *others = each(n, k, tvms_te_cell_get(te, n->kept),
                           tvms_te_when(te, later, suppress(n, j, k)));
  tvms_node *one_more = tvms_te_cell_set(te, n->valid, ADD(valid, INT32(1)));
  tvms_node *body = tvms_te_when(te, counts, two(n, one_more, others));
  tvms_node *otherwise = drop(n, j);
  if (!body || !otherwise) return NULL;
  tvms_as_if_then_else(body)->else_case = otherwise;
  return each(n, j, kept, body);
}

// ---- Results ----

// The places that are left move to the front, and become those of the caller.
static tvms_node *collect(const nms *n, tvms_node *next) {
  tvms_te *te = n->te;
  tvms_node *j = var(n, n->anchors);
  tvms_node *here = place(n, n->places, j);
  tvms_node *to = tvms_te_cell_get(te, next);
  tvms_node *body =
      two(n, set_place(n, to, place(n, n->indices, here)),
          tvms_te_cell_set(te, next, ADD(tvms_te_cell_get(te, next), INT32(1))));
  return each(n, j, n->anchors, tvms_te_when(te, GE(here, INT32(0)), body));
}

static tvms_node *clear_rest(const nms *n, tvms_node *next) {
  tvms_te *te = n->te;
  tvms_node *j = var(n, n->anchors);
  return each(
      n, j, n->anchors,
      tvms_te_when(te, GE(j, tvms_te_cell_get(te, next)), set_place(n, j, INT32(-1))));
}

static tvms_node *first_ones(nms *n) {
  tvms_te *te = n->te;
  int64_t top = option(n, TVMS_ATTR_nms_top_k, -1);
  tvms_node *fewer = top > 0 ? GT(tvms_te_cell_get(te, n->kept), INT32(top))
                             : tvms_bool_imm_new(te->unit, false, TVMS_NO_SPAN);
  return tvms_te_when(te, fewer, tvms_te_cell_set(te, n->kept, INT32(top)));
}

enum { CELLS = 4, MOST_STATEMENTS = 16 };

static tvms_node *statements(nms *n) {
  tvms_te *te = n->te;
  tvms_dtype i32 = TVMS_DTYPE(INT, 32), element = tvms_te_dtype(n->data);
  tvms_node *all[MOST_STATEMENTS];
  uint32_t count = 0;
  n->kept = tvms_te_cell(te, i32);
  n->valid = tvms_te_cell(te, i32);
  all[count++] = tvms_te_allocation(te, n->kept);
  all[count++] = tvms_te_cell_set(te, n->kept, tvms_te_load(te, n->counts, &n->i, 1));
  all[count++] = first_ones(n);
  all[count++] = copy_sorted(n);
  all[count++] = tvms_te_allocation(te, n->valid);
  all[count++] = tvms_te_cell_set(te, n->valid, INT32(0));
  tvms_node **cells[CELLS] = {&n->best, &n->best_score, &n->spare, &n->spare_value};
  for (uint32_t i = 0; i < CELLS; i++) {
    *cells[i] = tvms_te_cell(te, i % 2 ? element : i32);
    all[count++] = tvms_te_allocation(te, *cells[i]);
  }
  all[count++] = n->sigma > 0 ? choose_softly(n) : choose(n);
  if (n->sigma > 0) all[count++] = finish_softly(n);
  if (n->found && !(n->sigma > 0)) {
    tvms_node *next = tvms_te_cell(te, i32), *at[] = {n->i, INT32(0)};
    all[count++] = tvms_te_allocation(te, next);
    all[count++] = tvms_te_cell_set(te, next, INT32(0));
    all[count++] = collect(n, next);
    all[count++] = tvms_te_store(te, n->found, at, 2, tvms_te_cell_get(te, next));
    all[count++] = clear_rest(n, next);
  }
  return tvms_te_sequence(te, all, count);
}

// The boxes that are left, first.
static tvms_node *rearrange(nms *n) {
  tvms_te *te = n->te;
  tvms_node *out = tvms_te_extern_output(te, "rearranged", tvms_te_shape(n->boxes),
                                         tvms_te_dtype(n->boxes), false);
  tvms_node *score = INT32(option(n, TVMS_ATTR_nms_score_index, 1));
  n->i = tvms_te_loop_var(te, "i", n->images);
  tvms_node *from = n->boxes, *next = tvms_te_cell(te, TVMS_DTYPE(INT, 32));
  tvms_node *j = var(n, n->anchors), *k = var(n, n->width);
  n->boxes = out;
  tvms_node *to = tvms_te_cell_get(te, next);
  tvms_node *copy = each(n, k, n->width, set_box(n, to, k, box(n, from, j, k)));
  tvms_node *moved = two(n, copy, tvms_te_cell_set(te, next, ADD(to, INT32(1))));
  tvms_node *good = GE(box(n, from, j, score), real(n, 0));
  tvms_node *rest = var(n, n->anchors), *l = var(n, n->width);
  tvms_node *fill = each(n, l, n->width, set_box(n, rest, l, real(n, -1)));
  tvms_node *all[] = {
      tvms_te_allocation(te, next),
      tvms_te_cell_set(te, next, INT32(0)),
      each(n, j, n->anchors, tvms_te_when(te, good, moved)),
      each(n, rest, n->anchors,
           tvms_te_when(te, GE(rest, tvms_te_cell_get(te, next)), fill)),
  };
  tvms_node *body = tvms_te_sequence(te, all, 4);
  body = tvms_te_loop(te, TVMS_FOR_PARALLEL, n->i, n->images, body);
  if (!body) return NULL;
  tvms_te_extern_close(te, out, "rearrange_out", &body, 1);
  return out;
}

// The scores of all boxes.
static tvms_node *scores(nms *n) {
  static const char *const names[] = {"i", "j"};
  tvms_te *te = n->te;
  tvms_list shape = {tvms_te_shape(n->data).items, 2};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, shape, names);
  tvms_node *at[] = {stage.axes.items[0], stage.axes.items[1],
                     INT32(option(n, TVMS_ATTR_nms_score_index, 1))};
  return tvms_te_close(&stage, "score_tensor", tvms_te_load(te, n->data, at, 3));
}

static tvms_node *operand(tvms_legal *legal, uint32_t i, const char *name) {
  tvms_node *tensor = tvms_legal_tensor(legal, tvms_legal_arg(legal, i));
  tvms_te_extern_rename(&legal->te, tensor, name);
  return tensor;
}

static bool give(tvms_legal *legal, nms *n) {
  tvms_te *te = n->te;
  if (n->found) {
    tvms_node *all[] = {n->boxes, n->places, n->found};
    bool soft = n->sigma > 0;
    tvms_te_extern_number(te, all, 3, "non_max_suppression", 0);
    return (!soft || tvms_legal_return(legal, n->boxes))
           && tvms_legal_return(legal, n->places) && tvms_legal_return(legal, n->found);
  }
  tvms_te_extern_number(te, &n->boxes, 1, "non_max_suppression", 0);
  if (!tvms_attr_bool(n->call, TVMS_ATTR_nms_invalid_to_bottom))
    return tvms_legal_return(legal, n->boxes);
  return tvms_legal_return(legal, rearrange(n));
}

bool tvms_legalize_non_max_suppression(tvms_legal *legal) {
  legal->name = "non_max_suppression";
  tvms_te *te = &legal->te;
  nms n = {.te = te, .call = legal->call};
  n.sigma = tvms_attr_float(n.call, TVMS_ATTR_nms_soft_nms_sigma, 0);
  if (tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops)) return false;
  n.data = operand(legal, 0, "data");
  n.counts = operand(legal, 1, "valid_count");
  n.indices = operand(legal, 2, "indices");
  tvms_list shape = tvms_te_shape(n.data), rows = {shape.items, 2};
  n.images = shape.items[0];
  n.anchors = shape.items[1];
  n.width = shape.items[2];
  tvms_dtype i32 = TVMS_DTYPE(INT, 32);
  n.order = tvms_te_argsort_counted(te, scores(&n), n.counts, 1);
  n.boxes = tvms_te_extern_output(te, "out_data", shape, tvms_te_dtype(n.data), false);
  n.places = tvms_te_extern_output(te, "out_box_indices", rows, i32, false);
  if (tvms_attr_bool(n.call, TVMS_ATTR_nms_return_indices)) {
    tvms_node *one[] = {n.images, INDEX(1)};
    n.found = tvms_te_extern_output(te, "out_valid_box_count",
                                    tvms_list_copy(te->unit, one, 2), i32, false);
  }
  n.i = tvms_te_loop_var(te, "i", n.images);
  tvms_node *body = tvms_te_loop(te, TVMS_FOR_PARALLEL, n.i, n.images, statements(&n));
  if (!body) return false;
  tvms_te_extern_close(te, n.boxes, "non_max_suppression", &body, 1);
  return give(legal, &n);
}
