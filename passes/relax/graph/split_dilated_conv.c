// SplitDilatedConv: a convolution whose window is mostly outside of its data becomes a sum of its steps.
//
// Before: y = R.nn.conv2d(x, w, padding=(24, 24), dilation=(24, 24)), of 28 x 28 elements and 3 x 3 steps
// After:  y = R.call_tir(cls.conv2d_steps, (x, w), …), and a private PrimFunc conv2d_steps (te/conv_steps.h)
//
// Before: y = R.nn.conv2d(x, w, padding=(4, 4), dilation=(4, 4)), of 5 x 5 elements
// After:  s0 = R.nn.conv2d(R.strided_slice(x, …), w0), w0 of 1 x 1 step, over what that step meets of the data
//         y = R.nn.pad(s0, …) + R.nn.pad(s1, …) + …
//
// Steps of a window that is dilated far meet padding at most places: element y of the result takes step k from
// element y + dilation * k - padding of the data, which exists for some y only. Each step is a product over those
// alone, which is added to the result there; a step that meets no data goes. So it is done where the steps meet data
// at no more than seven eighths of all places, strides are 1, sizes along the window are known and there are enough
// channels for the products to be what takes the time. Large images are read where they lie, and so are weights that
// are not constant, where the steps meet data at five eighths of all places at most; the steps of a constant weight are parts
// of it, which FoldConstant computes. Small images are cut and their products padded, which costs little memory, and
// leaves their layout to ConvertLayout: 3 % of ResNet-18, whose last images are of 7 x 7. With constant_weights=true
// small ones stay if their weight is not a constant. The result is rounded otherwise, and padding is not
// multiplied: a weight that is infinite or NaN does not reach the places whose step meets none of the data. TVM has no such pass.
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/lower/legalized_call.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "te/conv_steps.h"

#include <string.h>

// Steps of a window along an axis, each of which is a product, and elements: no more, so that no product of them overflows.
// Images of fewer places are small.
enum {
  AXES = 2,
  MOST_STEPS = 5,
  MOST_ELEMENTS = 1 << 24,
  FEWEST_CHANNELS = 64,
  LARGE = 256
};

typedef struct {
  int64_t data, result, window, padding, dilation;
} window_axis;

// Where a step meets data: elements of the result, and how far from there the data is.
typedef struct {
  int64_t begin, end, shift;
} reach;

typedef struct {
  tvms_relax_mutator *m;
  const tvms_call *call;
  int64_t channels;  // that each place of the result is a sum of
  window_axis axis[AXES];
} dilated_conv;

static reach reach_of(const window_axis *a, int64_t step) {
  reach r = {.shift = a->dilation * step - a->padding};
  r.begin = r.shift < 0 ? -r.shift : 0;
  r.end = a->data - r.shift < a->result ? a->data - r.shift : a->result;
  if (r.end < r.begin) r.end = r.begin;
  return r;
}

static bool layouts_are_known(const tvms_call *call) {
  tvms_bytes result = tvms_attr_text(call, TVMS_ATTR_conv2d_out_layout);
  return tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_data_layout), "NCHW")
         && tvms_bytes_is(tvms_attr_text(call, TVMS_ATTR_conv2d_kernel_layout), "OIHW")
         && (result.len == 0 || tvms_bytes_is(result, "NCHW"));
}

static bool read_axis(tvms_list data, tvms_list weight, tvms_list result, uint32_t i,
                      window_axis *a) {
  return tvms_sinfo_dim_int(data.items[i + 2], &a->data)
         && tvms_sinfo_dim_int(weight.items[i + 2], &a->window)
         && tvms_sinfo_dim_int(result.items[i + 2], &a->result) && a->data > 0
         && a->data <= MOST_ELEMENTS && a->window > 0 && a->window <= MOST_STEPS
         && a->result > 0 && a->result <= MOST_ELEMENTS && a->padding >= 0
         && a->padding <= MOST_ELEMENTS && a->dilation > 0
         && a->dilation <= MOST_ELEMENTS;
}

static bool read_conv(dilated_conv *c) {
  int64_t strides[AXES], padding[2 * AXES], dilation[AXES];
  tvms_list data, weight, result;
  if (!tvms_attr_ints(c->call, TVMS_ATTR_conv2d_strides, strides, AXES)
      || !tvms_attr_ints(c->call, TVMS_ATTR_conv2d_padding, padding, 2 * AXES)
      || !tvms_attr_ints(c->call, TVMS_ATTR_conv2d_dilation, dilation, AXES)
      || !tvms_sinfo_tensor_dims(c->call->args.items[0]->sinfo, &data)
      || !tvms_sinfo_tensor_dims(c->call->args.items[1]->sinfo, &weight)
      || !tvms_sinfo_tensor_dims(c->call->head.sinfo, &result) || data.len != AXES + 2
      || weight.len != AXES + 2 || result.len != AXES + 2
      || !tvms_sinfo_dim_int(weight.items[1], &c->channels)
      || c->channels < FEWEST_CHANNELS)
    return false;
  for (uint32_t i = 0; i < AXES; i++) {
    c->axis[i].padding = padding[i];
    c->axis[i].dilation = dilation[i];
    if (strides[i] != 1 || !read_axis(data, weight, result, i, &c->axis[i]))
      return false;
  }
  return true;
}

static bool is_constant(const dilated_conv *c) {
  return c->call->args.items[1]->kind == TVMS_NODE_CONSTANT;
}

static bool is_large(const dilated_conv *c) {
  return c->axis[0].result * c->axis[1].result >= LARGE;
}

// Do steps meet data at no more than seven eighths of all places, and at any? Weights that are not constant and are
// read where they lie are read in steps as long as the window, which three eighths of the products must pay for.
static bool is_worth(const dilated_conv *c) {
  double met = 1, all = 1;
  for (uint32_t i = 0; i < AXES; i++) {
    const window_axis *a = &c->axis[i];
    int64_t own = 0;
    for (int64_t k = 0; k < a->window; k++)
      own += reach_of(a, k).end - reach_of(a, k).begin;
    met *= (double)own;
    all *= (double)(a->window * a->result);
  }
  bool strided = is_large(c) && !is_constant(c);
  // Of small images parts are cut and padded, which takes as long as so many channels of all products.
  enum { CHANNELS_OF_COPIES = 24 };
  bool pays =
      is_large(c) || (double)c->channels * (all - met) >= CHANNELS_OF_COPIES * all;
  return met > 0 && 8 * met <= (strided ? 5 : 7) * all && pays;
}

static tvms_node *ints_tuple(const dilated_conv *c, int64_t first, int64_t second) {
  tvms_unit *unit = c->m->unit;
  tvms_node *fields[] = {
      tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), first, TVMS_NO_SPAN),
      tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), second, TVMS_NO_SPAN)};
  for (uint32_t i = 0; i < AXES; i++)
    fields[i] = tvms_relax_make_prim_value(unit, fields[i]);
  return tvms_relax_make_tuple(c->m, fields, AXES);
}

// The part of a tensor along its last two axes.
static tvms_node *part_of(const dilated_conv *c, tvms_node *x,
                          const int64_t begin[AXES], const int64_t end[AXES]) {
  tvms_node *args[] = {x, ints_tuple(c, 2, 3), ints_tuple(c, begin[0], begin[1]),
                       ints_tuple(c, end[0], end[1])};
  tvms_node *attr = tvms_object_bool_new(c->m->unit, false, TVMS_NO_SPAN);
  return tvms_relax_op_with(c->m, TVMS_R_strided_slice, args, 4, &attr);
}

static tvms_node *weight_for(const dilated_conv *c, const int64_t step[AXES]) {
  int64_t end[] = {step[0] + 1, step[1] + 1};
  tvms_node *weight = c->call->args.items[1];
  bool whole = c->axis[0].window == 1 && c->axis[1].window == 1;
  return whole ? weight : part_of(c, weight, step, end);
}

// ---- Large images ----

// The part of the weight that a step is, or where it is in there: parts of constants are computed beforehand.
static void read_weight(const dilated_conv *c, const int64_t place[AXES],
                        tvms_conv_step *step) {
  bool constant = is_constant(c);
  for (uint32_t i = 0; i < AXES; i++)
    step->at[i] = constant ? 0 : place[i];
  step->weight = constant ? tvms_relax_settle_leaf(c->m, weight_for(c, place))
                          : c->call->args.items[1];
}

// The step of the window at these places of its axes; false: it meets no data.
static bool read_step(const dilated_conv *c, const int64_t at[AXES],
                      tvms_conv_step *step) {
  *step = (tvms_conv_step){.whole = true};
  for (uint32_t i = 0; i < AXES; i++) {
    reach r = reach_of(&c->axis[i], at[i]);
    if (r.begin == r.end) return false;
    step->begin[i] = r.begin;
    step->end[i] = r.end;
    step->shift[i] = r.shift;
    step->whole &= r.begin == 0 && r.end == c->axis[i].result;
  }
  read_weight(c, at, step);
  return true;
}

static void read_steps(const dilated_conv *c, tvms_conv_steps *all) {
  for (int64_t k = 0; k < c->axis[0].window; k++) {
    for (int64_t l = 0; l < c->axis[1].window; l++) {
      tvms_conv_step step, first = all->steps[0];
      if (!read_step(c, (int64_t[]){k, l}, &step)) continue;
      all->steps[all->count] = step;
      if (step.whole && all->count) {
        all->steps[0] = step;
        all->steps[all->count] = first;
      }
      all->count++;
    }
  }
}

// NULL: it cannot be described.
static tvms_node *TVMS_NULLABLE sum_of_steps(const dilated_conv *c) {
  tvms_relax_mutator *m = c->m;
  tvms_conv_steps all = {.data = c->call->args.items[0]};
  all.groups = tvms_attr_int(c->call, TVMS_ATTR_conv2d_groups, 1);
  read_steps(c, &all);
  tvms_unit *unit = tvms_functions_open_unit(m->run);
  unit->origin = c->call->head.span;
  tvms_legalized made = {0};
  if (!tvms_legalize_conv_steps(unit, m->unit, c->call, &all, &made)) {
    tvms_functions_drop_unit(m->run, unit);
    return NULL;
  }
  tvms_sym name = tvms_functions_add_unique(m->run, made.name, unit, made.function);
  return tvms_relax_call_legalized(m->unit, c->call, name, &made);
}

// ---- Small images ----

static tvms_node *data_for(const dilated_conv *c, const reach r[AXES]) {
  int64_t begin[AXES], end[AXES];
  bool whole = true;
  for (uint32_t i = 0; i < AXES; i++) {
    begin[i] = r[i].begin + r[i].shift;
    end[i] = r[i].end + r[i].shift;
    whole &= begin[i] == 0 && end[i] == c->axis[i].data;
  }
  tvms_node *data = c->call->args.items[0];
  return whole ? data : part_of(c, data, begin, end);
}

static tvms_node *convolved(const dilated_conv *c, tvms_node *data, tvms_node *weight) {
  int64_t ones[] = {1, 1}, none[2 * AXES] = {0};
  tvms_node *attrs[TVMS_ATTR_conv2d_COUNT], *args[] = {data, weight};
  for (uint32_t i = 0; i < TVMS_ATTR_conv2d_COUNT; i++)
    attrs[i] = c->call->attrs.items[i];
  attrs[TVMS_ATTR_conv2d_padding] = tvms_relax_op_ints(c->m->unit, none, 2 * AXES);
  attrs[TVMS_ATTR_conv2d_dilation] = tvms_relax_op_ints(c->m->unit, ones, AXES);
  return tvms_relax_op_with(c->m, TVMS_R_nn_conv2d, args, 2, attrs);
}

// With zeros around it, as large as the result.
static tvms_node *placed(const dilated_conv *c, const reach r[AXES], tvms_node *x) {
  int64_t width[2 * (AXES + 2)] = {0};
  bool any = false;
  for (uint32_t i = 0; i < AXES; i++) {
    int64_t *around = &width[2 * (i + 2)];
    around[0] = r[i].begin;
    around[1] = c->axis[i].result - r[i].end;
    any |= around[0] > 0 || around[1] > 0;
  }
  if (!any) return x;
  tvms_unit *unit = c->m->unit;
  tvms_node *attrs[TVMS_ATTR_pad_COUNT] = {
      [TVMS_ATTR_pad_pad_width] = tvms_relax_op_ints(unit, width, 2 * (AXES + 2)),
      [TVMS_ATTR_pad_pad_value] = tvms_object_float_new(unit, 0.0, TVMS_NO_SPAN),
      [TVMS_ATTR_pad_pad_mode] =
          tvms_object_str_new(unit, "constant", strlen("constant"), TVMS_NO_SPAN),
  };
  return tvms_relax_op_with(c->m, TVMS_R_nn_pad, &x, 1, attrs);
}

static tvms_node *sum_of_convolutions(const dilated_conv *c) {
  tvms_node *sum = NULL;
  for (int64_t k = 0; k < c->axis[0].window; k++) {
    for (int64_t l = 0; l < c->axis[1].window; l++) {
      int64_t step[] = {k, l};
      reach r[] = {reach_of(&c->axis[0], k), reach_of(&c->axis[1], l)};
      if (r[0].begin == r[0].end || r[1].begin == r[1].end) continue;
      tvms_node *own = convolved(c, data_for(c, r), weight_for(c, step));
      own = placed(c, r, own);
      sum = sum ? tvms_relax_op_binary(c->m, TVMS_R_add, sum, own) : own;
    }
  }
  return tvms_relax_settle(c->m, sum);
}

// ---- The pass ----

static tvms_node *leave_call(tvms_rewriter *rewriter, tvms_node *node) {
  dilated_conv c = {.m = rewriter->self};
  node = tvms_relax_leave_call(rewriter, node);
  if (tvms_op_called(node) != TVMS_R_nn_conv2d) return node;
  c.call = tvms_as_call(node);
  if (!layouts_are_known(c.call) || !read_conv(&c) || !is_worth(&c)) return node;
  if (is_large(&c)) {
    tvms_node *made = sum_of_steps(&c);
    return made ? made : node;
  }
  bool stays = TVMS_OPTION(c.m->run, SplitDilatedConv, constant_weights).number != 0
               && !is_constant(&c);
  return stays ? node : sum_of_convolutions(&c);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, leave_call);
}

void tvms_pass_split_dilated_conv(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
