// Gradients of pooling in two dimensions.
//
// An element of the data gathers from the windows that cover it: of a maximum what it was
// chosen for, which a first stage finds out, and of an average its share.
#include "structinfo/windows.h"
#include "te/element.h"
#include "te/legalizers.h"

#include <string.h>

enum { H, W, SPATIAL };

typedef struct {
  tvms_te *te;
  tvms_windows attrs;
  tvms_node *gradient, *data;
  tvms_list shape;           // of the data
  uint32_t places[SPATIAL];  // of height and width
  int64_t kernel[SPATIAL], stride[SPATIAL], before[SPATIAL], after[SPATIAL];
} pool_grad;

static int64_t item(tvms_list list, uint32_t i) {
  return tvms_attr_item_int(list.items[i]);
}

// Height and width in a layout whose parts are of other axes.
static bool find_places(pool_grad *p) {
  tvms_bytes layout = p->attrs.data_layout;
  bool found[SPATIAL] = {false, false};
  uint32_t axis = 0;
  for (uint32_t i = 0; i < layout.len; i++) {
    char c = layout.text[i];
    if (c >= '0' && c <= '9') continue;
    if (c == 'h' || c == 'w' || c == 'd') return false;
    if (c == 'H' || c == 'W') {
      uint32_t k = c == 'H' ? H : W;
      if (found[k]) return false;
      found[k] = true;
      p->places[k] = axis;
    }
    axis++;
  }
  return found[H] && found[W] && axis == p->shape.len;
}

// False for dilated windows, which have no description.
static bool open_grad(pool_grad *p, tvms_legal *legal) {
  *p = (pool_grad){.te = &legal->te, .attrs = tvms_windows_of(legal->call)};
  for (uint32_t i = 0; i < SPATIAL; i++) {
    if (item(p->attrs.dilation, i) != 1) return false;
    p->kernel[i] = item(p->attrs.window, i);
    p->stride[i] = item(p->attrs.strides, i);
    p->before[i] = item(p->attrs.padding, i);
    p->after[i] = item(p->attrs.padding, SPATIAL + i);
    if (p->attrs.ceil_mode) p->after[i] += p->stride[i] - 1;
  }
  p->gradient = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  p->data = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  p->shape = tvms_te_shape(p->data);
  return find_places(p);
}

// The shape of the result of pooling.
static tvms_list pooled_shape(const pool_grad *p) {
  tvms_te *te = p->te;
  tvms_list shape = tvms_list_copy(te->unit, p->shape.items, p->shape.len);
  for (uint32_t i = 0; i < SPATIAL; i++) {
    tvms_node *length = SUB(shape.items[p->places[i]], INT32(p->kernel[i]));
    length = ADD(ADD(length, INT32(p->before[i])), INT32(p->after[i]));
    length = ADD(DIV(length, INT32(p->stride[i])), INT32(1));
    shape.items[p->places[i]] = tvms_analyzer_simplify(te->analyzer, length);
  }
  return shape;
}

// The windows that cover an element: the last one, less `step`.
typedef struct {
  tvms_node *padded;  // place of the element in the padded data
  tvms_node *window;
  tvms_node *first;  // the first window that covers it
} cover;

static cover open_cover(const pool_grad *p, tvms_stage *stage, uint32_t i) {
  static const char *const names[] = {"wh", "ww"};
  tvms_te *te = p->te;
  tvms_node *stride = INT32(p->stride[i]), *kernel = INT32(p->kernel[i]);
  int64_t most = (p->kernel[i] + p->stride[i] - 1) / p->stride[i];
  tvms_node *step = tvms_te_reduce(stage, names[i], INT32(most));
  cover c = {.padded = ADD(stage->axes.items[p->places[i]], INT32(p->before[i]))};
  c.window = SUB(DIV(c.padded, stride), step);
  tvms_node *begin = ADD(DIV(SUB(c.padded, kernel), stride), INT32(1));
  c.first = tvms_te_select(te, LT(c.padded, kernel), INDEX(0), begin);
  return c;
}

static tvms_node *ravel(tvms_te *te, tvms_node *const *indices, tvms_list shape) {
  tvms_node *place = indices[0];
  for (uint32_t i = 1; i < shape.len; i++)
    place = ADD(MUL(place, shape.items[i]), indices[i]);
  return place;
}

// Which element of the padded data each window has chosen.
static tvms_node *chosen(const pool_grad *p, tvms_list padded_shape) {
  tvms_te *te = p->te;
  uint32_t rank = p->shape.len;
  int64_t *before = tvms_arena_array(&te->unit->arena, int64_t, 2 * rank);
  memset(before, 0, 2 * rank * sizeof *before);
  bool any = false;
  for (uint32_t i = 0; i < SPATIAL; i++) {
    before[p->places[i]] = p->before[i];
    before[rank + p->places[i]] = p->after[i];
    any = any || p->before[i] || p->after[i];
  }
  tvms_node *least =
      tvms_build_min_value(te->unit, tvms_te_dtype(p->data), TVMS_NO_SPAN);
  tvms_node *data = any && least ? tvms_te_pad(te, p->data, before, before + rank,
                                               least, "pad_temp", "ax", true)
                                 : p->data;
  if (!data || !least) return NULL;
  static const char *const names[] = {"dh", "dw"};
  tvms_stage stage;
  tvms_te_open(te, &stage, pooled_shape(p), "ax");
  tvms_node *steps[SPATIAL];
  for (uint32_t i = 0; i < SPATIAL; i++)
    steps[i] = tvms_te_reduce(&stage, names[i], INT32(p->kernel[i]));
  tvms_list at = tvms_list_copy(te->unit, stage.axes.items, rank);
  for (uint32_t i = 0; i < SPATIAL; i++) {
    tvms_node *start = MUL(at.items[p->places[i]], INT32(p->stride[i]));
    at.items[p->places[i]] = ADD(start, steps[i]);
  }
  tvms_node *values[] = {ravel(te, at.items, padded_shape),
                         tvms_te_load(te, data, at.items, rank)};
  tvms_node *init[] = {tvms_te_const(te, values[0]->dtype, -1), least}, *found[2];
  tvms_te_close_pair(&stage, "maxpool_grad_argmax", tvms_te_pick_greater, init, values,
                     found);
  return found[0];
}

bool tvms_legalize_max_pool2d_backward(tvms_legal *legal) {
  pool_grad p;
  if (!open_grad(&p, legal)) return false;
  legal->name = "max_pool2d_backward";
  tvms_te *te = p.te;
  tvms_list padded = tvms_list_copy(te->unit, p.shape.items, p.shape.len);
  for (uint32_t i = 0; i < SPATIAL; i++) {
    tvms_node *length = ADD(padded.items[p.places[i]], INT32(p.before[i]));
    padded.items[p.places[i]] = ADD(length, INT32(p.after[i]));
  }
  tvms_node *winners = chosen(&p, padded);
  if (!winners) return false;
  tvms_stage stage;
  tvms_te_open(te, &stage, p.shape, "ax");
  tvms_node *covered = NULL;
  cover covers[] = {open_cover(&p, &stage, H), open_cover(&p, &stage, W)};
  tvms_list at = tvms_list_copy(te->unit, stage.axes.items, p.shape.len);
  tvms_list window = tvms_list_copy(te->unit, stage.axes.items, p.shape.len);
  for (uint32_t i = 0; i < SPATIAL; i++) {
    at.items[p.places[i]] = covers[i].padded;
    window.items[p.places[i]] = covers[i].window;
    tvms_node *reached = GE(covers[i].window, covers[i].first);
    covered = covered ? AND(covered, reached) : reached;
  }
  tvms_node *winner = tvms_te_load(te, winners, window.items, window.len);
  covered = AND(covered, EQ(winner, ravel(te, at.items, padded)));
  tvms_node *value = tvms_te_load(te, p.gradient, window.items, window.len);
  value = IF(covered, value, tvms_te_const(te, tvms_te_dtype(p.data), 0));
  return tvms_legal_return(
      legal, tvms_te_close_fold(&stage, "T_pool_grad", TVMS_FOLD_SUM, value));
}

// How many elements a window shares its gradient among.
static tvms_node *shares(const pool_grad *p, const cover *covers) {
  tvms_te *te = p->te;
  if (p->attrs.count_include_pad) return INT32(p->kernel[H] * p->kernel[W]);
  tvms_node *extents[SPATIAL];
  for (uint32_t i = 0; i < SPATIAL; i++) {
    tvms_node *start =
        SUB(MUL(covers[i].window, INT32(p->stride[i])), INT32(p->before[i]));
    tvms_node *end = MIN(ADD(start, INT32(p->kernel[i])), p->shape.items[p->places[i]]);
    extents[i] = SUB(end, MAX(start, INDEX(0)));
  }
  return MAX(MUL(extents[H], extents[W]), INDEX(1));
}

bool tvms_legalize_avg_pool2d_backward(tvms_legal *legal) {
  pool_grad p;
  if (!open_grad(&p, legal)) return false;
  legal->name = "avg_pool2d_backward";
  tvms_te *te = p.te;
  tvms_list pooled = pooled_shape(&p);
  tvms_stage stage;
  tvms_te_open(te, &stage, p.shape, "ax");
  cover covers[] = {open_cover(&p, &stage, H), open_cover(&p, &stage, W)};
  tvms_list window = tvms_list_copy(te->unit, stage.axes.items, p.shape.len);
  tvms_node *covered = NULL;
  for (uint32_t i = 0; i < SPATIAL; i++) {
    window.items[p.places[i]] = covers[i].window;
    tvms_node *inside = AND(GE(covers[i].window, covers[i].first),
                            LT(covers[i].window, pooled.items[p.places[i]]));
    covered = covered ? AND(covered, inside) : inside;
  }
  tvms_node *value = tvms_te_load(te, p.gradient, window.items, window.len);
  value = DIV(value, shares(&p, covers));
  value = IF(covered, value, tvms_te_const(te, tvms_te_dtype(p.gradient), 0));
  return tvms_legal_return(
      legal, tvms_te_close_fold(&stage, "T_pool_grad", TVMS_FOLD_SUM, value));
}
