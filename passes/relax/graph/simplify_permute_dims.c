// SimplifyPermuteDims: permute_dims that are undone go, and others move to where there is less to move.
//
// Before: lv = R.permute_dims(x, axes=[0, 2, 1]); lv1 = R.reshape(lv, R.shape([1, 256, 16, 16]))    with x: (1, 256, 256)
//         lv2 = R.image.resize2d(lv1, R.shape([64, 64]), layout="NCHW"); lv3 = R.concat((lv2, y), axis=1); gv = R.permute_dims(lv3, axes=[0, 2, 3, 1])
// After:  lv = R.reshape(x, R.shape([1, 16, 16, 256])); lv1 = R.image.resize2d(lv, R.shape([64, 64]), layout="NHWC")
//         lv2 = R.permute_dims(y, axes=[0, 2, 3, 1]); gv = R.concat((lv1, lv2), axis=3)
//
// What comes in front of a permute_dims, permute_dims, reshape, expand_dims, squeeze and flatten, may give elements in an order that it
// turns back: then the result is a reshape of what they begin with. It moves in front of concat, of image.resize2d (whose layout is another then)
// and of what is computed element by element of tensors of one shape and scalars where that leaves three quarters of the elements to be moved at most, and nothing else uses these. Sizes must be numbers. Run it behind ConvertLayout, which
// moves images in front of convolutions. TVM has no such pass.
#include "ir/object.h"
#include "passes/relax/graph/moves.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/graph/simplifier.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 8, IMAGE_AXES = 4 };

typedef tvms_relax_simplifier simplifier;

static const int64_t to_last[IMAGE_AXES] = {0, 2, 3, 1},
                     to_first[IMAGE_AXES] = {0, 3, 1, 2};

// The call that a value is, if nothing else uses it; NULL otherwise.
static const tvms_call *TVMS_NULLABLE only_use(const simplifier *s,
                                               const tvms_node *value) {
  tvms_relax_definition definition = tvms_relax_definitions_of(&s->definitions, value);
  const tvms_node *call = tvms_relax_definitions_value(&s->definitions, value);
  bool only = call && definition.uses == 1 && !definition.elsewhere;
  return only && call->kind == TVMS_NODE_CALL ? tvms_as_call(call) : NULL;
}

// The tensors that concat joins.
static tvms_list fields_of(const simplifier *s, const tvms_call *concat) {
  const tvms_node *tuple =
      tvms_relax_definitions_unwrap(&s->definitions, concat->args.items[0]);
  return tuple->kind == TVMS_NODE_TUPLE ? tvms_as_tuple(tuple)->fields : (tvms_list){0};
}

// The layout of a resize2d whose result has its axes moved so; NULL: it has none.
static const char *TVMS_NULLABLE moved_layout(const tvms_call *resize,
                                              const int64_t *axes) {
  tvms_bytes layout = tvms_attr_text(resize, TVMS_ATTR_resize2d_layout);
  if (tvms_bytes_is(layout, "NCHW") && !memcmp(axes, to_last, sizeof to_last))
    return "NHWC";
  if (tvms_bytes_is(layout, "NHWC") && !memcmp(axes, to_first, sizeof to_first))
    return "NCHW";
  return NULL;
}

static bool is_scalar(const tvms_node *value) {
  return value->kind == TVMS_NODE_CONSTANT && tvms_as_constant(value)->shape.len == 0;
}

// Is a call computed element by element, of tensors of its own shape and scalars?
static bool is_elementwise(const tvms_call *call) {
  tvms_moved_shape shape, other;
  tvms_opcode op = tvms_op_called(&call->head);
  if ((!tvms_relax_moves_is_unary(op) && !tvms_infer_is_broadcast(op))
      || !tvms_relax_moves_shape(&call->head, &shape))
    return false;
  for (uint32_t i = 0; i < call->args.len; i++) {
    const tvms_node *arg = call->args.items[i];
    if (is_scalar(arg)) continue;
    if (!tvms_relax_moves_shape(arg, &other) || other.count != shape.count
        || memcmp(other.sizes, shape.sizes, shape.count * sizeof *shape.sizes) != 0)
      return false;
  }
  return true;
}

// ---- What it costs ----

static double elements(const tvms_node *value) {
  tvms_moved_shape shape;
  double count = 1;
  if (!tvms_relax_moves_shape(value, &shape)) return INFINITY;
  for (uint32_t i = 0; i < shape.count; i++)
    count *= (double)shape.sizes[i];
  return count;
}

static double cost(const simplifier *s, tvms_node *value, const int64_t *axes,
                   uint32_t depth);

// Elements to be moved in front of what `call` makes `value` of; INFINITY: it cannot be.
static double cost_in_front(const simplifier *s, const tvms_call *call,
                            const int64_t *axes, uint32_t depth) {
  double sum = 0;
  switch ((int)tvms_op_called(&call->head)) {
  case TVMS_R_concat: {
    tvms_list fields = fields_of(s, call);
    for (uint32_t i = 0; i < fields.len; i++)
      sum += cost(s, fields.items[i], axes, depth + 1);
    return fields.len ? sum : INFINITY;
  }
  case TVMS_R_image_resize2d:
    return moved_layout(call, axes) ? cost(s, call->args.items[0], axes, depth + 1)
                                    : INFINITY;
  default:
    if (!is_elementwise(call)) return INFINITY;
    for (uint32_t i = 0; i < call->args.len; i++)
      if (!is_scalar(call->args.items[i]))
        sum += cost(s, call->args.items[i], axes, depth + 1);
    return sum;
  }
}

// Elements that are moved at least to have `value` with its axes in another order.
static double cost(const simplifier *s, tvms_node *value, const int64_t *axes,
                   uint32_t depth) {
  if (tvms_relax_moves_origin(&s->definitions, value, axes)) return 0;
  const tvms_call *call = only_use(s, value);
  double here = elements(value);
  double front =
      call && depth < MOST_DEPTH ? cost_in_front(s, call, axes, depth) : INFINITY;
  return front <= here * 3 / 4 ? front : here;
}

// ---- The change ----

static tvms_node *moved(simplifier *s, tvms_node *value, const int64_t *axes,
                        uint32_t depth);

static tvms_node *reshape_of(simplifier *s, tvms_node *origin, const tvms_node *value,
                             const int64_t *axes) {
  tvms_list old, own;
  tvms_node *dims[TVMS_MOST_MOVED_AXES];
  bool same = tvms_sinfo_dims(value->sinfo, &old)
              && tvms_sinfo_dims(origin->sinfo, &own) && own.len == old.len;
  for (uint32_t i = 0; i < old.len; i++) {
    dims[i] = old.items[axes[i]];
    same &= own.len == old.len && tvms_dim_equal(&s->m.prover, dims[i], own.items[i]);
  }
  return same ? origin : tvms_relax_op_reshape(&s->m, origin, dims, old.len);
}

static tvms_node *moved_concat(simplifier *s, const tvms_call *call,
                               const int64_t *axes, uint32_t rank, uint32_t depth) {
  tvms_list fields = fields_of(s, call);
  tvms_node **made = tvms_arena_array(&s->m.unit->arena, tvms_node *, fields.len);
  for (uint32_t i = 0; i < fields.len; i++)
    made[i] = moved(s, fields.items[i], axes, depth + 1);
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_opt_axis_axis, 0), to = 0;
  if (axis < 0) axis += rank;
  while (to + 1 < rank && axes[to] != axis)
    to++;
  return tvms_relax_op_concat(&s->m, made, fields.len, to);
}

static tvms_node *moved_resize(simplifier *s, const tvms_call *call,
                               const int64_t *axes, uint32_t depth) {
  const char *layout = moved_layout(call, axes);
  tvms_node *args[] = {moved(s, call->args.items[0], axes, depth + 1),
                       call->args.items[1]};
  tvms_node *attrs[TVMS_ATTR_resize2d_COUNT];
  memcpy(attrs, call->attrs.items, sizeof attrs);
  attrs[TVMS_ATTR_resize2d_layout] =
      tvms_object_str_new(s->m.unit, layout, strlen(layout), TVMS_NO_SPAN);
  return tvms_relax_op_with(&s->m, TVMS_R_image_resize2d, args, 2, attrs);
}

static tvms_node *moved_elementwise(simplifier *s, const tvms_call *call,
                                    const int64_t *axes, uint32_t depth) {
  tvms_node **made =
      tvms_arena_array(&s->m.unit->arena, tvms_node *, call->args.len + 1);
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_node *arg = call->args.items[i];
    made[i] = is_scalar(arg) ? arg : moved(s, arg, axes, depth + 1);
  }
  return tvms_relax_recall(&s->m, &call->head, made);
}

// `value` with its axes in another order, in the way that cost() has counted.
static tvms_node *moved(simplifier *s, tvms_node *value, const int64_t *axes,
                        uint32_t depth) {
  tvms_node *origin = tvms_relax_moves_origin(&s->definitions, value, axes);
  if (origin) return reshape_of(s, origin, value, axes);
  uint32_t rank = (uint32_t)tvms_as_sinfo_tensor(value->sinfo)->ndim;
  if (cost(s, value, axes, depth) >= elements(value))
    return tvms_relax_op_permute(&s->m, value, axes, rank);
  const tvms_call *call = only_use(s, value);
  switch ((int)tvms_op_called(&call->head)) {
  case TVMS_R_concat: return moved_concat(s, call, axes, rank, depth);
  case TVMS_R_image_resize2d: return moved_resize(s, call, axes, depth);
  default: return moved_elementwise(s, call, axes, depth);
  }
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  tvms_relax_mutator *m = r->self;
  simplifier *s = m->self;
  tvms_node *value = tvms_relax_binding_value(binding);
  int64_t axes[TVMS_MOST_MOVED_AXES];
  if (!tvms_relax_moves_axes(value, axes)) return TVMS_REWRITE_BELOW;
  tvms_node *x = tvms_as_call(value)->args.items[0];
  if (cost(s, x, axes, 0) >= elements(x)) return TVMS_REWRITE_BELOW;
  s->any = true;
  tvms_node *made = tvms_relax_settle(m, moved(s, x, axes, 0));
  return tvms_relax_rebind(m, binding, made);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_simplify(run, unit, function, enter_binding);
}

void tvms_pass_simplify_permute_dims(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
