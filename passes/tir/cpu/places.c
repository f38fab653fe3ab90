// Steps of accesses: linear forms of indices times sizes of dimensions.
#include "passes/tir/cpu/places.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

int64_t tvms_cpu_number(const tvms_node *extent) {
  return tvms_node_is_int_imm(extent) ? tvms_as_int_imm(extent)->value : -1;
}

bool tvms_cpu_depends(tvms_unit *unit, tvms_list indices, const tvms_node *var) {
  for (uint32_t i = 0; i < indices.len; i++) {
    if (tvms_walk_contains(&unit->context->memory, indices.items[i], var)) return true;
  }
  return false;
}

bool tvms_cpu_is_inside(tvms_analyzer *analyzer, tvms_unit *unit,
                        const tvms_node *buffer, tvms_list indices) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  bool inside = shape.len == indices.len;
  for (uint32_t i = 0; inside && i < shape.len; i++) {
    tvms_node *index = indices.items[i];
    inside = tvms_analyzer_can_prove_ge(analyzer, index, 0)
             && tvms_analyzer_can_prove(
                 analyzer, tvms_build_binary(unit, TVMS_NODE_LT, index, shape.items[i],
                                             TVMS_NO_SPAN));
  }
  return inside;
}

bool tvms_cpu_index_step(tvms_unit *unit, tvms_node *index, const tvms_node *var,
                         int64_t *step) {
  *step = index == var;
  if (index == var) return true;
  if (!tvms_walk_contains(&unit->context->memory, index, var)) return true;
  if (index->kind < TVMS_NODE_ADD || index->kind > TVMS_NODE_MUL) return false;
  const tvms_binary *binary = tvms_as_binary(index);
  int64_t a, b;
  if (!tvms_cpu_index_step(unit, binary->a, var, &a)
      || !tvms_cpu_index_step(unit, binary->b, var, &b))
    return false;
  if (index->kind == TVMS_NODE_MUL) {
    if (b)
      return !a && tvms_node_is_int_imm(binary->a)
             && !__builtin_mul_overflow(b, tvms_cpu_number(binary->a), step);
    return tvms_node_is_int_imm(binary->b)
           && !__builtin_mul_overflow(a, tvms_cpu_number(binary->b), step);
  }
  bool minus = index->kind == TVMS_NODE_SUB;
  return minus ? !__builtin_sub_overflow(a, b, step)
               : !__builtin_add_overflow(a, b, step);
}

bool tvms_cpu_step_of(tvms_unit *unit, const tvms_node *buffer, tvms_list indices,
                      const tvms_node *var, int64_t *step) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  *step = 0;
  if (!tvms_cpu_depends(unit, indices, var)) return true;
  if (b->strides.len || b->layout || indices.len != b->shape.len) return false;
  int64_t size = 1;  // elements of the dimensions behind; -1: not known
  for (uint32_t i = indices.len; i-- > 0;) {
    int64_t here, moved;
    if (!tvms_cpu_index_step(unit, indices.items[i], var, &here)) return false;
    if (here && size < 0) return false;
    if (here
        && (__builtin_mul_overflow(here, size, &moved)
            || __builtin_add_overflow(*step, moved, step)))
      return false;
    int64_t extent = tvms_cpu_number(b->shape.items[i]);
    if (size >= 0 && (extent < 0 || __builtin_mul_overflow(size, extent, &size)))
      size = -1;
  }
  return true;
}

// Does `index` grow by 1 with each step of the variable?
static bool follows(tvms_memory *memory, tvms_node *index, const tvms_node *var) {
  if (index == var) return true;
  if (index->kind != TVMS_NODE_ADD && index->kind != TVMS_NODE_SUB) return false;
  const tvms_binary *sum = tvms_as_binary(index);
  bool left = tvms_walk_contains(memory, sum->a, var);
  bool right = tvms_walk_contains(memory, sum->b, var);
  if (left && right) return false;
  if (left) return follows(memory, sum->a, var);
  return index->kind == TVMS_NODE_ADD && follows(memory, sum->b, var);
}

bool tvms_cpu_mentions_axes(tvms_memory *memory, const tvms_stage *stage,
                            tvms_node *node, const uint32_t *axes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (tvms_walk_contains(memory, node, stage->axes[axes[i]].var)) return true;
  }
  return false;
}

bool tvms_cpu_goes_through(tvms_memory *memory, const tvms_stage *stage,
                           const tvms_node *buffer, tvms_list indices,
                           const uint32_t *axes, uint32_t count) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  if (b->strides.len || indices.len != b->shape.len) return false;
  uint32_t at = indices.len;
  for (uint32_t n = count; n-- > 0; at--) {
    const tvms_stage_axis *axis = &stage->axes[axes[n]];
    while (at > 0 && tvms_node_is_int(b->shape.items[at - 1], 1))
      at--;
    if (at == 0) return false;
    tvms_node *index = indices.items[at - 1];
    if (n == 0) {
      if (!follows(memory, index, axis->var)) return false;
      if (tvms_cpu_mentions_axes(memory, stage, index, axes + 1, count - 1))
        return false;
      continue;
    }
    bool whole =
        index == axis->var && tvms_node_same_expr(b->shape.items[at - 1], axis->extent);
    if (!whole) return false;
  }
  for (uint32_t i = 0; i < at; i++) {
    if (tvms_cpu_mentions_axes(memory, stage, indices.items[i], axes, count))
      return false;
  }
  return true;
}

// What variables of a stage's axes take, in an analyzer. With `fresh` others stand for them.
static void bind_axes(tvms_unit *unit, tvms_analyzer *analyzer, const tvms_stage *stage,
                      tvms_node_map *TVMS_NULLABLE fresh) {
  for (uint32_t i = 0; i < stage->count; i++) {
    tvms_node *var = stage->axes[i].var;
    tvms_node *zero = tvms_int_imm_new(unit, var->dtype, 0, TVMS_NO_SPAN);
    if (fresh) {
      tvms_node *now =
          tvms_var_new(unit, tvms_as_var(var)->name, var->dtype, TVMS_NO_SPAN);
      tvms_node_map_put(fresh, var, now);
      var = now;
    }
    tvms_analyzer_bind_range(analyzer, var, zero, stage->axes[i].extent);
  }
}

tvms_analyzer *tvms_stage_analyzer(tvms_unit *unit, const tvms_stage *stage) {
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  bind_axes(unit, analyzer, stage, NULL);
  return analyzer;
}

// Are places in steps of two stages different ones, whatever these steps are?
static bool is_apart(tvms_unit *unit, const tvms_stage *a, tvms_list x,
                     const tvms_stage *b, tvms_list y) {
  if (x.len != y.len) return false;
  tvms_analyzer *analyzer = tvms_stage_analyzer(unit, a);
  tvms_node_map fresh;
  tvms_node_map_init(&fresh, &unit->context->memory);
  bind_axes(unit, analyzer, b, &fresh);
  bool apart = false;
  for (uint32_t i = 0; i < x.len && !apart; i++) {
    tvms_node *index = tvms_substitute(unit, y.items[i], &fresh);
    if (!tvms_dtype_same(index->dtype, x.items[i]->dtype)) continue;
    tvms_node *rest =
        tvms_build_binary(unit, TVMS_NODE_SUB, x.items[i], index, TVMS_NO_SPAN);
    apart = tvms_analyzer_can_prove_ge(analyzer, rest, 1)
            || tvms_analyzer_can_prove_lt(analyzer, rest, 0);
  }
  tvms_node_map_fini(&fresh);
  tvms_analyzer_free(analyzer);
  return apart;
}

bool tvms_cpu_store_apart(tvms_unit *unit, const tvms_stage *a, const tvms_stage *b) {
  return a->store->buffer == b->store->buffer
         && is_apart(unit, a, a->store->indices, b, b->store->indices);
}

bool tvms_cpu_load_apart(tvms_unit *unit, const tvms_stage *stage,
                         const tvms_buffer_load *load) {
  return stage->store->buffer == load->buffer
         && is_apart(unit, stage, stage->store->indices, stage, load->indices);
}

static bool counts(const tvms_stage_axis *axis) {
  return !axis->sums && !tvms_stage_axis_is_single(axis);
}

// Does an index change by a constant with each step of one axis, and with no other that counts?
static bool is_index_of(tvms_unit *unit, const tvms_stage *stage, tvms_node *index,
                        const tvms_stage_axis *own) {
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    int64_t step;
    if (!counts(axis)) continue;
    if (!tvms_cpu_index_step(unit, index, axis->var, &step)
        || (step != 0) != (axis == own))
      return false;
  }
  return true;
}

// Do the axes have indices of their own?
static bool has_own_indices(tvms_unit *unit, const tvms_stage *stage) {
  tvms_list indices = stage->store->indices;
  for (uint32_t i = 0; i < stage->count; i++) {
    uint32_t at = 0;
    if (!counts(&stage->axes[i])) continue;
    while (at < indices.len
           && !is_index_of(unit, stage, indices.items[at], &stage->axes[i]))
      at++;
    if (at == indices.len) return false;
  }
  return true;
}

bool tvms_cpu_is_injective(tvms_unit *unit, const tvms_stage *stage) {
  if (has_own_indices(unit, stage)) return true;
  int64_t steps[TVMS_MOST_STAGE_AXES], extents[TVMS_MOST_STAGE_AXES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (!counts(axis)) continue;
    int64_t step, extent = tvms_cpu_number(axis->extent);
    if (!tvms_cpu_step_of(unit, stage->store->buffer, stage->store->indices, axis->var,
                          &step)
        || step <= 0)
      return false;
    uint32_t at = count++;
    for (; at > 0 && steps[at - 1] > step; at--) {
      steps[at] = steps[at - 1];
      extents[at] = extents[at - 1];
    }
    steps[at] = step;
    extents[at] = extent;
  }
  int64_t span = 0;  // farthest place that the axes so far reach
  for (uint32_t i = 0; i < count; i++) {
    if (steps[i] <= span) return false;
    int64_t more;
    bool last = i + 1 == count;
    if (last) break;
    if (extents[i] < 0 || __builtin_mul_overflow(steps[i], extents[i] - 1, &more)
        || __builtin_add_overflow(span, more, &span))
      return false;
  }
  return true;
}
