// SplitReducedAxes: reductions along axes that a reshape has joined go along these axes themselves.
//
// Before: lv = R.reshape(x, R.shape([1, 32, 4096])); lv1 = R.mean(lv, axis=[2], keepdims=True)    with x: (1, 128, 32, 32)
//         lv2 = R.subtract(lv, lv1); gv = R.reshape(lv2, R.shape([1, 128, 32, 32]))
// After:  lv = R.reshape(x, R.shape([1, 32, 4, 32, 32])); lv1 = R.mean(lv, axis=[2, 3, 4], keepdims=True)
//         lv2 = R.subtract(lv, lv1); gv = R.reshape(lv2, R.shape([1, 128, 32, 32]))
//
// Norms over groups of channels are exported so. A reshape that only splits axes lets ConvertLayout have channels last, which one that
// joins them does not. Between the reshapes stand reductions that keep their axes and what is computed element by element; what else
// takes part is reshaped to as many axes. Sizes must be numbers. TVM has no such pass.
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/moves.h"
#include "passes/relax/graph/op_calls.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

enum { MOST_MEMBERS = 32 };

// Values between two reshapes, and how their axes are split.
typedef struct {
  tvms_moved_shape whole;                // sizes behind the reshape
  tvms_moved_shape fine;                 // sizes of all parts, in order
  uint32_t parts[TVMS_MOST_MOVED_AXES];  // how many each axis has
  tvms_node *members[MOST_MEMBERS];      // variables, that of the reshape first
  uint32_t uses[MOST_MEMBERS];           // that have been seen
  uint32_t count;
  bool reduces;  // along an axis that has parts
} region;

typedef struct {
  tvms_relax_mutator m;
  tvms_relax_definitions definitions;
  TVMS_VEC(region *) regions;  // that were found so far
  bool any;
} splitter;

// ---- Parts ----

// The parts that both shapes are made of. False: there are none.
static bool split_axes(const tvms_moved_shape *from, const tvms_moved_shape *to,
                       region *made) {
  int64_t left = 1, right = 1;
  uint32_t at = 0;
  made->whole = *to;
  for (uint32_t i = 0; i < to->count; i++) {
    right = to->sizes[i];
    made->parts[i] = 0;
    do {
      if (left == 1 && right > 1) {
        if (at == from->count) return false;
        left = from->sizes[at++];
        if (left == 1) continue;
      }
      int64_t part = left < right ? left : right;
      if (left % part || right % part || made->fine.count == TVMS_MOST_MOVED_AXES)
        return false;
      left /= part;
      right /= part;
      made->fine.sizes[made->fine.count++] = part;
      made->parts[i]++;
    } while (right > 1);
  }
  return left == 1;
}

// Where the parts of an axis begin.
static uint32_t first_part(const region *g, uint32_t axis) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < axis; i++)
    first += g->parts[i];
  return first;
}

// ---- Members ----

static uint32_t member_at(const region *g, const tvms_node *value) {
  uint32_t i = 0;
  while (i < g->count && g->members[i] != value)
    i++;
  return i;
}

static bool is_member(const region *g, const tvms_node *value) {
  return member_at(g, value) < g->count;
}

static bool is_reduction(tvms_opcode op) {
  return op == TVMS_R_mean || op == TVMS_R_variance || op == TVMS_R_sum
         || op == TVMS_R_max || op == TVMS_R_min;
}

// The axes of a reduction, counted from 0. Returns how many; 0: it takes all, or they are none.
static uint32_t axes_of(const region *g, const tvms_call *call,
                        int64_t axes[TVMS_MOST_MOVED_AXES]) {
  tvms_list list = tvms_attr_list(call, TVMS_ATTR_reduction_axis);
  if (list.len > g->whole.count) return 0;
  for (uint32_t i = 0; i < list.len; i++) {
    axes[i] = tvms_attr_item_int(list.items[i]);
    if (axes[i] < 0) axes[i] += g->whole.count;
    if (axes[i] < 0 || axes[i] >= g->whole.count) return 0;
  }
  return list.len;
}

static bool takes_reduction(region *g, const tvms_call *call) {
  int64_t axes[TVMS_MOST_MOVED_AXES];
  uint32_t count = axes_of(g, call, axes);
  for (uint32_t i = 0; i < count; i++)
    g->reduces |= g->parts[axes[i]] > 1;
  return count > 0 && tvms_attr_bool(call, TVMS_ATTR_reduction_keepdims);
}

// Can an operand from outside be given the axes of the region?
static bool fits(const region *g, const tvms_node *operand) {
  tvms_moved_shape shape;
  if (!tvms_relax_moves_shape(operand, &shape) || shape.count > g->whole.count)
    return false;
  for (uint32_t i = 0; i < shape.count; i++) {
    int64_t whole = g->whole.sizes[g->whole.count - shape.count + i];
    if (shape.sizes[i] != 1 && shape.sizes[i] != whole) return false;
  }
  return true;
}

static bool takes_elements(const region *g, const tvms_call *call) {
  tvms_opcode op = tvms_op_called(&call->head);
  tvms_moved_shape shape;
  if ((!tvms_relax_moves_is_unary(op) && !tvms_infer_is_broadcast(op))
      || !tvms_relax_moves_shape(&call->head, &shape) || shape.count != g->whole.count)
    return false;
  for (uint32_t i = 0; i < call->args.len; i++)
    if (!is_member(g, call->args.items[i]) && !fits(g, call->args.items[i]))
      return false;
  return true;
}

// A reshape of a member back to the sizes that there were in front of the region.
static bool leaves(const tvms_call *call, const tvms_moved_shape *before) {
  tvms_moved_shape shape;
  return tvms_op_called(&call->head) == TVMS_R_reshape
         && tvms_relax_moves_shape(&call->head, &shape) && shape.count == before->count
         && !memcmp(shape.sizes, before->sizes, shape.count * sizeof *shape.sizes);
}

// Looks at a binding behind the reshape. False: it uses a member otherwise than can be changed.
static bool look_at(region *g, const tvms_node *binding,
                    const tvms_moved_shape *before) {
  const tvms_node *value = tvms_relax_binding_value(binding);
  if (value->kind != TVMS_NODE_CALL) return true;  // its uses stay unseen
  const tvms_call *call = tvms_as_call(value);
  bool uses = false;
  for (uint32_t i = 0; i < call->args.len; i++) {
    uint32_t at = member_at(g, call->args.items[i]);
    if (at == g->count) continue;
    g->uses[at]++;
    uses = true;
  }
  if (!uses || leaves(call, before)) return true;
  bool taken = is_reduction(tvms_op_called(value)) ? takes_reduction(g, call)
                                                   : takes_elements(g, call);
  if (!taken || g->count == MOST_MEMBERS) return false;
  g->members[g->count++] = tvms_relax_binding_var(binding);
  return true;
}

static bool all_seen(const splitter *s, const region *g) {
  for (uint32_t i = 0; i < g->count; i++) {
    tvms_relax_definition d = tvms_relax_definitions_of(&s->definitions, g->members[i]);
    if (d.elsewhere || d.uses != g->uses[i]) return false;
  }
  return true;
}

// Does a region begin with this reshape?
static bool find_region(const splitter *s, const tvms_node *binding, region *g) {
  tvms_node *var = tvms_relax_binding_var(binding);
  const tvms_call *reshape = tvms_as_call(tvms_relax_binding_value(binding));
  tvms_moved_shape before, behind;
  *g = (region){.members = {var}, .count = 1};
  if (!tvms_relax_moves_shape(reshape->args.items[0], &before)
      || !tvms_relax_moves_shape(var, &behind) || !split_axes(&before, &behind, g))
    return false;
  const tvms_node *block = tvms_relax_definitions_of(&s->definitions, var).block;
  if (!block || g->fine.count <= behind.count) return false;
  tvms_list bindings = tvms_as_binding_block(block)->bindings;
  uint32_t at = 0;
  while (at < bindings.len && bindings.items[at] != binding)
    at++;
  while (++at < bindings.len && !all_seen(s, g))
    if (!look_at(g, bindings.items[at], &before)) return false;
  return g->reduces && all_seen(s, g);
}

// ---- The change ----

static tvms_node *reshaped(splitter *s, tvms_node *value,
                           const tvms_moved_shape *shape) {
  tvms_node *dims[TVMS_MOST_MOVED_AXES];
  for (uint32_t i = 0; i < shape->count; i++)
    dims[i] = tvms_sinfo_dim_new(s->m.unit, shape->sizes[i]);
  return tvms_relax_op_reshape(&s->m, value, dims, shape->count);
}

// An operand from outside with the axes of the region.
static tvms_node *widened(splitter *s, const region *g, tvms_node *operand) {
  tvms_moved_shape old, made = {.count = g->fine.count};
  if (!tvms_relax_moves_shape(operand, &old) || !old.count) return operand;
  uint32_t missing = g->whole.count - old.count;
  for (uint32_t i = 0; i < g->whole.count; i++) {
    bool whole = i >= missing && old.sizes[i - missing] != 1;
    for (uint32_t k = 0, at = first_part(g, i); k < g->parts[i]; k++)
      made.sizes[at + k] = whole ? g->fine.sizes[at + k] : 1;
  }
  return reshaped(s, tvms_rewrite(&s->m.rewriter, operand), &made);
}

static tvms_node *split_reduction(splitter *s, const region *g, const tvms_call *call) {
  int64_t axes[TVMS_MOST_MOVED_AXES], fine[TVMS_MOST_MOVED_AXES];
  uint32_t count = axes_of(g, call, axes), fine_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t axis = (uint32_t)axes[i];
    for (uint32_t k = 0; k < g->parts[axis]; k++)
      fine[fine_count++] = first_part(g, axis) + k;
  }
  tvms_node *x = tvms_rewrite(&s->m.rewriter, call->args.items[0]);
  return tvms_relax_op_reduce(&s->m, tvms_op_called(&call->head), x, fine, fine_count,
                              true);
}

static tvms_node *split_elements(splitter *s, const region *g, const tvms_call *call) {
  tvms_node **args =
      tvms_arena_array(&s->m.unit->arena, tvms_node *, call->args.len + 1);
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_node *arg = call->args.items[i];
    args[i] =
        is_member(g, arg) ? tvms_rewrite(&s->m.rewriter, arg) : widened(s, g, arg);
  }
  return tvms_relax_recall(&s->m, &call->head, args);
}

// The region of which a variable is a member.
static const region *TVMS_NULLABLE region_of(const splitter *s, const tvms_node *var) {
  for (uint32_t i = s->regions.len; i-- > 0;)
    if (is_member(s->regions.items[i], var)) return s->regions.items[i];
  return NULL;
}

// The region that begins with a binding.
static const region *TVMS_NULLABLE begin_region(splitter *s, tvms_node *binding) {
  region *g = tvms_arena_new(&s->m.unit->arena, region);
  if (!find_region(s, binding, g)) return NULL;
  tvms_vec_push(&s->m.run->context->memory, &s->regions, g);
  s->any = true;
  return g;
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  tvms_relax_mutator *m = r->self;
  splitter *s = m->self;
  const tvms_node *value = tvms_relax_binding_value(binding);
  if (value->kind != TVMS_NODE_CALL || !tvms_relax_in_dataflow(m))
    return TVMS_REWRITE_BELOW;
  const tvms_call *call = tvms_as_call(value);
  const region *g = region_of(s, tvms_relax_binding_var(binding));
  tvms_node *made;
  if (g) {
    made = is_reduction(tvms_op_called(value)) ? split_reduction(s, g, call)
                                               : split_elements(s, g, call);
  } else {
    g = tvms_op_called(value) == TVMS_R_reshape ? begin_region(s, binding) : NULL;
    if (!g) return TVMS_REWRITE_BELOW;
    made = reshaped(s, tvms_rewrite(r, call->args.items[0]), &g->fine);
  }
  return tvms_relax_rebind(m, binding, tvms_relax_settle(m, made));
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  splitter s = {0};
  tvms_relax_mutator_init(&s.m, run, unit, &s);
  tvms_relax_mutator_assume(&s.m, function);
  tvms_relax_definitions_init(&s.definitions, unit, function);
  s.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  tvms_node *made = tvms_relax_mutate(&s.m, function);
  tvms_vec_fini(&run->context->memory, &s.regions);
  tvms_relax_definitions_fini(&s.definitions);
  tvms_relax_mutator_fini(&s.m);
  return s.any ? tvms_dead_code_clean(run, unit, made) : function;
}

void tvms_pass_split_reduced_axes(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
