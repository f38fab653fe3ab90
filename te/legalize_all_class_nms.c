// Description of vision.all_class_non_max_suppression: the scores of every class in order, a
// search for how many are above the threshold, statements that drop boxes which overlap a better
// one of their class, and the places of those that are left behind one another.
//
// Where the result is ONNX's, only its first rows count (te/legalize_trim.c).
// TVM: topi/vision/nms.py and nms_util.py, since 0.24.
#include "te/dispatch_scan.h"
#include "te/element.h"
#include "te/extern.h"
#include "te/legalize_sort.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

#define I32 TVMS_DTYPE(INT, 32)
#define I64 TVMS_DTYPE(INT, 64)
#define F32 TVMS_DTYPE(FLOAT, 32)

typedef struct {
  tvms_te *te;
  tvms_node *boxes, *iou_threshold,
      *score_threshold;                // the thresholds: one number each
  tvms_node *batch, *classes, *count;  // sizes of the scores
  tvms_node *rows;                     // batch * classes
  tvms_node *order, *sorted;  // places and scores of the boxes of each row, best first
  tvms_node *candidates;      // per row: boxes above the threshold
  tvms_node *selected;        // per row: places of the boxes that stay
  tvms_node *TVMS_NULLABLE selected_scores;
  tvms_node *found;  // per row: how many stay
  int64_t most;      // that may stay per row
} suppression;

static tvms_node *real(tvms_te *te, double value) {
  return tvms_te_const(te, F32, value);
}

static tvms_node *at2(tvms_te *te, tvms_node *tensor, tvms_node *row, tvms_node *at) {
  tvms_node *both[] = {row, at};
  return row && at ? tvms_te_load(te, tensor, both, 2) : NULL;
}

static tvms_node *set2(tvms_te *te, tvms_node *tensor, tvms_node *row, tvms_node *at,
                       tvms_node *value) {
  tvms_node *both[] = {row, at};
  return row && at ? tvms_te_store(te, tensor, both, 2, value) : NULL;
}

static tvms_node *with_else(tvms_node *branch, tvms_node *otherwise) {
  if (!branch || !otherwise) return NULL;
  tvms_as_if_then_else(branch)->else_case = otherwise;
  return branch;
}

static tvms_node *table(tvms_te *te, const char *name, tvms_node *rows,
                        tvms_node *TVMS_NULLABLE width, tvms_dtype dtype, bool floats) {
  tvms_node *dims[] = {rows, width};
  tvms_list shape = tvms_list_copy(te->unit, dims, width ? 2 : 1);
  return tvms_te_extern_output(te, name, shape, dtype, floats);
}

// ---- How many scores are above the threshold ----

static tvms_node *search(const suppression *s, tvms_node *row, tvms_node *low,
                         tvms_node *high) {
  tvms_te *te = s->te;
  tvms_node *sum = ADD(tvms_te_cell_get(te, high), tvms_te_cell_get(te, low));
  tvms_node *middle = sum ? tvms_build_bitwise(te->unit, TVMS_TIR_shift_right, sum,
                                               INT32(1), TVMS_NO_SPAN)
                          : NULL;
  tvms_node *above = GT(at2(te, s->sorted, row, middle), s->score_threshold);
  tvms_node *turn = with_else(
      tvms_te_when(te, above, tvms_te_cell_set(te, low, ADD(middle, INT32(1)))),
      tvms_te_cell_set(te, high, middle));
  tvms_while *loop = tvms_node_make(te->unit, WHILE, TVMS_NO_SPAN);
  loop->condition = LT(tvms_te_cell_get(te, low), tvms_te_cell_get(te, high));
  loop->body = turn;
  return loop->condition && turn ? &loop->head : NULL;
}

static bool find_candidates(suppression *s) {
  tvms_te *te = s->te;
  s->candidates = table(te, "searchsorted", s->rows, NULL, I32, false);
  tvms_as_buffer(s->candidates)->align = 8;
  tvms_node *row = tvms_te_loop_var(te, "i", s->rows);
  tvms_node *low = tvms_te_cell(te, I32), *high = tvms_te_cell(te, I32);
  tvms_cast *all = tvms_node_make(te->unit, CAST, TVMS_NO_SPAN);
  all->head.dtype = I32;
  all->value = s->count;
  tvms_node *stmts[] = {
      tvms_te_allocation(te, low),
      tvms_te_allocation(te, high),
      tvms_te_cell_set(te, low, INT32(0)),
      tvms_te_cell_set(te, high, &all->head),
      search(s, row, low, high),
      tvms_te_store(te, s->candidates, &row, 1, tvms_te_cell_get(te, low)),
  };
  tvms_node *body = tvms_te_sequence(te, stmts, 6);
  body = tvms_te_loop(te, TVMS_FOR_PARALLEL, row, s->rows, body);
  if (body) tvms_te_extern_close(te, s->candidates, "searchsorted", &body, 1);
  return body != NULL;
}

// ---- Overlaps ----

typedef struct {
  tvms_node *left, *top, *right, *bottom;
} corners;

// Of the box that stands at place `at` of a row.
static corners corners_of(const suppression *s, tvms_node *row, tvms_node *at) {
  tvms_te *te = s->te;
  tvms_list shape = tvms_te_shape(s->boxes);
  tvms_node *image = FLOOR_DIV(row, FLOOR_DIV(s->rows, shape.items[0]));
  tvms_node *first = MUL(MUL(image, shape.items[1]), INT32(4));
  first = ADD(first, MUL(at2(te, s->order, row, at), INT32(4)));
#define AT(i) tvms_te_flat_load(te, s->boxes, (i) ? ADD(first, INT32(i)) : first)
  corners c = {MIN(AT(0), AT(2)), MIN(AT(1), AT(3)), MAX(AT(0), AT(2)),
               MAX(AT(1), AT(3))};
#undef AT
  return c;
}

static tvms_node *area(tvms_te *te, corners c) {
  return MUL(SUB(c.right, c.left), SUB(c.bottom, c.top));
}

// What two boxes of a row share, of what they cover.
static tvms_node *overlap(const suppression *s, tvms_node *row, tvms_node *one,
                          tvms_node *other) {
  tvms_te *te = s->te;
  corners a = corners_of(s, row, one), b = corners_of(s, row, other);
  tvms_node *width = MAX(real(te, 0), SUB(MIN(a.right, b.right), MAX(a.left, b.left)));
  tvms_node *height = MAX(real(te, 0), SUB(MIN(a.bottom, b.bottom), MAX(a.top, b.top)));
  tvms_node *shared = MUL(height, width);
  tvms_node *covered = SUB(ADD(area(te, a), area(te, b)), shared);
  return tvms_te_select(te, LE(covered, real(te, 0)), real(te, 0),
                        DIV(shared, covered));
}

// ---- The boxes that stay ----

// Those behind box j that overlap it too much are no candidates any longer.
static tvms_node *drop_others(const suppression *s, tvms_node *row, tvms_node *j,
                              tvms_node *kept) {
  tvms_te *te = s->te;
  tvms_node *others = SUB(kept, ADD(j, INT32(1)));
  if (!others) return NULL;
  tvms_node *turn = tvms_te_loop_var(te, "_k", others);
  tvms_node *k = ADD(ADD(j, INT32(1)), turn);
  tvms_node *valid = AND(LT(k, kept), GT(at2(te, s->sorted, row, k), INT32(0)));
  tvms_node *gone = tvms_te_when(te, GE(overlap(s, row, j, k), s->iou_threshold),
                                 set2(te, s->sorted, row, k, real(te, -1)));
  return tvms_te_loop(te, TVMS_FOR_PARALLEL, turn, others,
                      tvms_te_when(te, valid, gone));
}

// Box j stays.
static tvms_node *keep(const suppression *s, tvms_node *row, tvms_node *j,
                       tvms_node *kept, tvms_node *next) {
  tvms_te *te = s->te;
  tvms_node *to = tvms_te_cell_get(te, next);
  tvms_node *stores[] = {
      set2(te, s->selected, row, to, at2(te, s->order, row, j)),
      s->selected_scores
          ? set2(te, s->selected_scores, row, to, at2(te, s->sorted, row, j))
          : NULL,
  };
  // TVM asks for the first thread, of which there is one.
  tvms_node *always = tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN);
  tvms_node *stmts[] = {
      tvms_te_when(te, always,
                   tvms_te_sequence(te, stores, s->selected_scores ? 2 : 1)),
      tvms_te_cell_set(te, next, ADD(to, INT32(1))),
      drop_others(s, row, j, kept),
  };
  return tvms_te_sequence(te, stmts, 3);
}

static tvms_node *choose(const suppression *s, tvms_node *row) {
  tvms_te *te = s->te;
  tvms_node *kept = tvms_te_load(te, s->candidates, &row, 1);
  tvms_node *next = tvms_te_cell(te, I32), *j = tvms_te_loop_var(te, "j", kept);
  tvms_node *score = at2(te, s->sorted, row, j);
  tvms_node *counts =
      AND(GT(score, real(te, -1)), LT(tvms_te_cell_get(te, next), INT32(s->most)));
  tvms_node *good =
      tvms_te_when(te, GT(score, s->score_threshold), keep(s, row, j, kept, next));
  tvms_node *stmts[] = {
      tvms_te_allocation(te, next),
      tvms_te_cell_set(te, next, INT32(0)),
      tvms_te_loop(te, TVMS_FOR_SERIAL, j, kept, tvms_te_when(te, counts, good)),
      tvms_te_store(te, s->found, &row, 1, tvms_te_cell_get(te, next)),
  };
  tvms_node *any = AND(GT(s->iou_threshold, INT32(0)), GT(kept, INT32(0)));
  return with_else(tvms_te_when(te, any, tvms_te_sequence(te, stmts, 4)),
                   tvms_te_store(te, s->found, &row, 1, INT32(0)));
}

static bool suppress(suppression *s, bool scores) {
  tvms_te *te = s->te;
  tvms_node *width = tvms_te_shape(s->boxes).items[1];
  // TVM declares the results where it makes two of them, and then their names and alignment.
  const char *first = scores ? "all_class_nms" : "all_class_nms0";
  const char *last = scores ? "all_class_nms" : "all_class_nms1";
  s->selected = table(te, first, s->rows, width, I32, scores);
  if (scores) s->selected_scores = table(te, first, s->rows, width, F32, true);
  s->found = table(te, last, s->rows, NULL, I32, scores);
  if (!scores) tvms_as_buffer(s->selected)->align = 8;
  if (!scores) tvms_as_buffer(s->found)->align = 8;
  tvms_node *row = tvms_te_loop_var(te, "i", s->rows);
  tvms_node *body = tvms_te_loop(te, TVMS_FOR_SERIAL, row, s->rows, choose(s, row));
  if (body) tvms_te_extern_close(te, s->selected, "all_class_nms", &body, 1);
  return body != NULL;
}

// ---- ONNX: one row per box, and how many there are ----

// Image, class and place of the j-th box of a row.
static tvms_node *collect_row(const suppression *s, tvms_node *out, tvms_node *first,
                              tvms_node *row) {
  tvms_te *te = s->te;
  tvms_node *limit = MIN(tvms_te_load(te, s->found, &row, 1), INT32(s->most));
  if (!limit) return NULL;
  tvms_node *j = tvms_te_loop_var(te, "j", limit);
  tvms_node *to = ADD(tvms_te_load(te, first, &row, 1), j);
  tvms_node *place = tvms_te_convert(te, I64, at2(te, s->selected, row, j));
  tvms_node *stmts[] = {
      set2(te, out, to, INT32(0), FLOOR_DIV(row, s->classes)),
      set2(te, out, to, INT32(1), FLOOR_MOD(row, s->classes)),
      set2(te, out, to, INT32(2), place),
  };
  return tvms_te_loop(te, TVMS_FOR_SERIAL, j, limit, tvms_te_sequence(te, stmts, 3));
}

static tvms_node *collect(const suppression *s, tvms_node *first) {
  tvms_te *te = s->te;
  tvms_node *all = MUL(s->rows, INT32(s->most)), *width = INT32(3);
  if (!all || !first) return NULL;
  tvms_node *dims[] = {all, width};
  tvms_node *out = tvms_te_extern_output(te, "collect_indices",
                                         tvms_list_copy(te->unit, dims, 2), I64, true);
  tvms_node *i = tvms_te_loop_var(te, "i", all), *j = tvms_te_loop_var(te, "j", width);
  tvms_node *clear =
      tvms_te_loop(te, TVMS_FOR_SERIAL, j, width, set2(te, out, i, j, INT32(0)));
  tvms_node *row = tvms_te_loop_var(te, "i", s->rows);
  tvms_node *stmts[] = {
      tvms_te_extern_scope(te),
      tvms_te_loop(te, TVMS_FOR_SERIAL, i, all, clear),
      tvms_te_loop(te, TVMS_FOR_PARALLEL, row, s->rows,
                   collect_row(s, out, first, row)),
  };
  if (!stmts[1] || !stmts[2]) return NULL;
  tvms_te_extern_close(te, out, "collect_indices", stmts, 3);
  return out;
}

// How many boxes stay in all rows together.
static tvms_node *count_all(const suppression *s) {
  static const char *const names[] = {"i"};
  tvms_te *te = s->te;
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_te_shape(s->found), names);
  tvms_node *one = tvms_te_load(te, s->found, stage.axes.items, 1);
  tvms_node *clamped = tvms_te_close(&stage, "clamped_num", MIN(one, INT32(s->most)));
  tvms_node *wide = tvms_te_cast(te, clamped, I64, "compute", "i"), *single = INT32(1);
  bool all[] = {true};
  tvms_node *sum = tvms_te_reduce_axes(te, wide, all, false, TVMS_FOLD_SUM);
  return tvms_te_reshape(te, sum, tvms_list_copy(te->unit, &single, 1));
}

static bool give_onnx(tvms_legal *legal, suppression *s) {
  tvms_node *first = tvms_te_cumsum(s->te, s->found, NULL, true, I64);
  tvms_node *indices = collect(s, first);
  return tvms_legal_return(legal, indices) && tvms_legal_return(legal, count_all(s));
}

// ---- TensorFlow: a table per image ----

typedef struct {
  const suppression *s;
  tvms_node *found, *first, *total;  // per image and class, and per image
  tvms_node *indices, *scores;       // results
} by_image;

static tvms_node *set_row(const by_image *t, tvms_node *image, tvms_node *to,
                          tvms_node *class, tvms_node *place, tvms_node *score) {
  tvms_te *te = t->s->te;
  tvms_node *at[] = {image, to, INT32(0)}, *then[] = {image, to, INT32(1)};
  if (!image || !to || !class || !place) return NULL;
  tvms_node *stmts[] = {
      tvms_te_store(te, t->indices, at, 3, class),
      tvms_te_store(te, t->indices, then, 3, place),
      set2(te, t->scores, image, to, score),
  };
  return tvms_te_sequence(te, stmts, 3);
}

static tvms_node *collect_by_image(const by_image *t) {
  const suppression *s = t->s;
  tvms_te *te = s->te;
  tvms_node *width = tvms_te_shape(s->selected).items[1];
  tvms_node *row = tvms_te_loop_var(te, "i", s->rows);
  tvms_node *j = tvms_te_loop_var(te, "j", width);
  tvms_node *image = FLOOR_DIV(row, s->classes), *class = FLOOR_MOD(row, s->classes);
  tvms_node *found = at2(te, t->found, image, class);
  tvms_node *first = at2(te, t->first, image, class);
  if (!found || !first) return NULL;
  tvms_node *place = tvms_te_convert(te, I64, at2(te, s->selected, row, j));
  tvms_node *to = ADD(first, j);
  tvms_node *taken =
      set_row(t, image, to, class, place, at2(te, s->selected_scores, row, j));
  // Behind those of all classes stand rows of zeros.
  tvms_node *rest = ADD(tvms_te_load(te, t->total, &image, 1), MUL(class, width));
  rest = SUB(ADD(SUB(rest, first), j), found);
  tvms_node *zero = tvms_te_const(te, I64, 0);
  tvms_node *empty = set_row(t, image, rest, zero, zero, real(te, 0));
  tvms_node *body = with_else(tvms_te_when(te, LT(j, found), taken), empty);
  body = tvms_te_loop(te, TVMS_FOR_SERIAL, j, width, body);
  return tvms_te_loop(te, TVMS_FOR_PARALLEL, row, s->rows, body);
}

static bool give_tensorflow(tvms_legal *legal, suppression *s) {
  static const char name[] = "collect_indices_and_scores";
  tvms_te *te = s->te;
  by_image t = {.s = s};
  tvms_node *both[] = {s->batch, s->classes}, *one = INT32(1);
  t.found = tvms_te_reshape(te, s->found, tvms_list_copy(te->unit, both, 2));
  t.first = t.found ? tvms_te_cumsum(te, t.found, &(uint32_t){1}, true, I64) : NULL;
  bool last[] = {false, true};
  tvms_node *wide = tvms_te_cast(te, t.found, I64, "compute", "i");
  t.total = tvms_te_reduce_axes(te, wide, last, false, TVMS_FOLD_SUM);
  tvms_node *each = MUL(s->classes, tvms_te_shape(s->selected).items[1]);
  if (!t.first || !t.total || !each || !one) return false;
  tvms_node *dims[] = {s->batch, each, INT32(2)};
  tvms_list shape = tvms_list_copy(te->unit, dims, 3);
  t.indices = tvms_te_extern_output(te, name, shape, I64, true);
  t.scores = tvms_te_extern_output(te, name, (tvms_list){shape.items, 2}, F32, true);
  tvms_node *body = collect_by_image(&t);
  if (!body) return false;
  tvms_te_extern_close(te, t.indices, name, &body, 1);
  tvms_node *results[] = {t.indices, t.scores};
  tvms_te_extern_number(te, results, 2, name, 0);
  return tvms_legal_return(legal, t.indices) && tvms_legal_return(legal, t.scores)
         && tvms_legal_return(legal, t.total);
}

// ---- Operands ----

// The one number of a tensor; NULL if it has another form.
static tvms_node *number_of(tvms_te *te, tvms_node *tensor) {
  tvms_list shape = tvms_te_shape(tensor);
  tvms_node *zero = INT32(0);
  if (shape.len > 1) return NULL;
  bool one = shape.len == 0
             || (tvms_node_is_int_imm(shape.items[0])
                 && tvms_as_int_imm(shape.items[0])->value == 1);
  return one ? tvms_te_load(te, tensor, &zero, shape.len) : NULL;
}

// How many boxes may stay per row: a constant, or as many as there are, where that is more than an int32 can say, too (ONNX's
// models ask for all by the greatest int64). False: not known.
static bool take_limit(tvms_legal *legal, suppression *s) {
  tvms_node *given = tvms_legal_constant(legal, tvms_legal_arg(legal, 2));
  tvms_node *most = given ? given : s->count;
  if (!tvms_node_is_int_imm(most)) return false;
  s->most = tvms_as_int_imm(most)->value;
  if (s->most > INT32_MAX && tvms_node_is_int_imm(s->count))
    s->most = tvms_as_int_imm(s->count)->value;
  return s->most >= INT32_MIN && s->most <= INT32_MAX;
}

bool tvms_legalize_all_class_non_max_suppression(tvms_legal *legal) {
  legal->name = "all_class_non_max_suppression";
  tvms_te *te = &legal->te;
  if (tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops)) return false;
  suppression s = {.te = te};
  s.boxes = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *scores = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *iou = tvms_legal_tensor(legal, tvms_legal_arg(legal, 3));
  tvms_node *least = tvms_legal_tensor(legal, tvms_legal_arg(legal, 4));
  tvms_te_extern_input(te, s.boxes);
  tvms_te_extern_input(te, least);
  s.iou_threshold = number_of(te, iou);
  s.score_threshold = number_of(te, least);
  tvms_list shape = tvms_te_shape(scores);
  if (!s.iou_threshold || !s.score_threshold || shape.len != 3) return false;
  s.batch = shape.items[0];
  s.classes = shape.items[1];
  s.count = shape.items[2];
  s.rows = MUL(s.batch, s.classes);
  if (!s.rows || !take_limit(legal, &s)) return false;
  tvms_node *dims[] = {s.rows, s.count};
  scores = tvms_te_reshape(te, scores, tvms_list_copy(te->unit, dims, 2));
  if (!scores) return false;
  s.order = tvms_te_argsort(te, scores, 1, false, I32);
  s.sorted = tvms_te_gather(te, scores, 1, s.order);
  bool tables = tvms_bytes_is(
      tvms_attr_text(legal->call, TVMS_ATTR_all_class_nms_output_format), "tensorflow");
  if (!s.sorted || !find_candidates(&s) || !suppress(&s, tables)) return false;
  return tables ? give_tensorflow(legal, &s) : give_onnx(legal, &s);
}
