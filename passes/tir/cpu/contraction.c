// Telling contractions from other reductions, by the variables in their accesses.
#include "passes/tir/cpu/contraction.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"

#include <string.h>

enum { MOST_LOADS = 8 };

// The loads of a term, and whether it consists of them and plain arithmetic.
typedef struct {
  tvms_node *loads[MOST_LOADS];
  uint32_t count;
  bool arithmetic;
} operands;

static bool is_arithmetic(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
  case TVMS_NODE_MUL:
  case TVMS_NODE_CAST:
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM: return true;
  default: return false;
  }
}

static tvms_walk_step note_operand(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  operands *o = self;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    bool fits = o->count < MOST_LOADS && !tvms_as_buffer_load(node)->predicate;
    if (fits) o->loads[o->count++] = node;
    o->arithmetic &= fits;
    return TVMS_WALK_SKIP;
  }
  o->arithmetic &= is_arithmetic(node);
  return TVMS_WALK_ON;
}

static bool same_indices(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_node_same_expr(a.items[i], b.items[i])) return false;
  }
  return true;
}

static bool is_result(const tvms_stage *stage, const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  return load->buffer == stage->store->buffer && !load->predicate
         && same_indices(load->indices, stage->store->indices);
}

// What is added to the result, or NULL if something else is done with it.
static tvms_node *TVMS_NULLABLE term_of(const tvms_stage *stage) {
  const tvms_node *value = stage->store->value;
  if (value->kind != TVMS_NODE_ADD) return NULL;
  const tvms_binary *sum = tvms_as_binary(value);
  if (is_result(stage, sum->a)) return sum->b;
  return is_result(stage, sum->b) ? sum->a : NULL;
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

static bool moves(tvms_memory *memory, tvms_list indices, const tvms_node *var) {
  for (uint32_t i = 0; i < indices.len; i++) {
    if (tvms_walk_contains(memory, indices.items[i], var)) return true;
  }
  return false;
}

// Do the elements lie one after the other along the variable? Dimensions behind that are 1.
static bool is_contiguous(tvms_memory *memory, const tvms_node *buffer,
                          tvms_list indices, const tvms_node *var) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  if (b->strides.len || indices.len != b->shape.len) return false;
  uint32_t last = indices.len;
  while (last > 0 && tvms_node_is_int(b->shape.items[last - 1], 1))
    last--;
  if (last == 0 || !follows(memory, indices.items[last - 1], var)) return false;
  for (uint32_t i = 0; i + 1 < last; i++) {
    if (tvms_walk_contains(memory, indices.items[i], var)) return false;
  }
  return true;
}

// The axis along which the result is stored one element after the other.
static uint32_t column_of(tvms_memory *memory, const tvms_stage *stage) {
  uint32_t i = 0;
  for (; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (axis->sums || tvms_stage_axis_is_single(axis)) continue;
    if (is_contiguous(memory, stage->store->buffer, stage->store->indices, axis->var))
      return i;
  }
  return TVMS_MOST_STAGE_AXES;
}

typedef struct {
  tvms_memory *memory;
  const operands *all;
  tvms_contraction *c;
} finder;

static tvms_list indices_of(const tvms_node *load) {
  return tvms_as_buffer_load(load)->indices;
}

static bool load_moves(const finder *f, const tvms_node *load, uint32_t axis) {
  return moves(f->memory, indices_of(load), f->c->stage.axes[axis].var);
}

static void find_moving(finder *f) {
  uint32_t count = 0;
  f->c->contiguous = true;
  for (uint32_t i = 0; i < f->all->count; i++) {
    tvms_node *load = f->all->loads[i];
    if (!load_moves(f, load, f->c->column)) continue;
    f->c->moving = count++ == 0 ? load : NULL;
    f->c->contiguous &=
        is_contiguous(f->memory, tvms_as_buffer_load(load)->buffer, indices_of(load),
                      f->c->stage.axes[f->c->column].var);
  }
}

// Does a load that moves with the column depend on the axis, too?
static bool with_column(const finder *f, uint32_t axis) {
  for (uint32_t i = 0; i < f->all->count; i++) {
    const tvms_node *load = f->all->loads[i];
    if (load_moves(f, load, f->c->column) && load_moves(f, load, axis)) return true;
  }
  return false;
}

static void find_roles(finder *f) {
  tvms_contraction *c = f->c;
  c->row = TVMS_MOST_STAGE_AXES;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    c->roles[i] = axis->sums          ? TVMS_AXIS_SUM
                  : i == c->column    ? TVMS_AXIS_COLUMN
                  : with_column(f, i) ? TVMS_AXIS_BATCH
                                      : TVMS_AXIS_OUTER;
    if (c->roles[i] == TVMS_AXIS_OUTER && !tvms_stage_axis_is_single(axis)) c->row = i;
  }
  if (c->row == TVMS_MOST_STAGE_AXES) return;
  c->roles[c->row] = TVMS_AXIS_ROW;
  for (uint32_t i = f->all->count; i-- > 0;) {
    if (load_moves(f, f->all->loads[i], c->row)) c->resting = f->all->loads[i];
  }
}

static bool dtype_fits(tvms_dtype d) {
  return d.lanes == 1 && (d.code == TVMS_FLOAT || d.code == TVMS_INT)
         && (d.bits == 32 || d.bits == 64);
}

static bool is_constant(const tvms_node *node) {
  return node->kind == TVMS_NODE_FLOAT_IMM || node->kind == TVMS_NODE_INT_IMM;
}

static const char *TVMS_NULLABLE find(finder *f) {
  tvms_contraction *c = f->c;
  c->column = column_of(f->memory, &c->stage);
  if (c->column == TVMS_MOST_STAGE_AXES)
    return "its result is not stored one element after the other";
  find_moving(f);
  bool resting = false;
  for (uint32_t i = 0; i < f->all->count; i++)
    resting |= !load_moves(f, f->all->loads[i], c->column);
  if (!resting) return "every operand moves along the innermost axis of the result";
  if (!c->contiguous && !c->moving)
    return "several operands move along the innermost axis of the result";
  find_roles(f);
  return NULL;
}

const char *TVMS_NULLABLE tvms_contraction_find(tvms_unit *unit,
                                                const tvms_stage *stage,
                                                tvms_contraction *found) {
  *found = (tvms_contraction){.stage = *stage};
  bool sums = false;
  for (uint32_t i = 0; i < stage->count; i++)
    sums |= stage->axes[i].sums;
  if (!sums) return "it sums over nothing";
  if (!stage->init || !is_constant(stage->init))
    return "it does not begin with a constant";
  if (!dtype_fits(stage->store->value->dtype))
    return "its sums have an unsuitable dtype";
  tvms_node *term = term_of(stage);
  if (!term) return "it does not add up";
  found->init = stage->init;
  found->term = term;
  operands all = {.arithmetic = true};
  tvms_visitor visitor = {.self = &all, .enter = note_operand};
  tvms_walk(&unit->context->memory, term, &visitor);
  if (!all.arithmetic) return "what it adds up is more than products of elements";
  finder f = {&unit->context->memory, &all, found};
  return find(&f);
}
