// Telling contractions from other reductions, by the variables in their accesses.
#include "passes/tir/cpu/contraction.h"

#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/quad_operand.h"
#include "passes/tir/cpu/unknown_digits.h"

#include <string.h>

enum { MOST_LOADS = 8 };

// The loads of a term, and whether it consists of them and plain arithmetic.
typedef struct {
  tvms_memory *memory;
  tvms_node *loads[MOST_LOADS];
  uint32_t count;
  // What is shifted, or by how much, where that follows from axes alone.
  const tvms_node *amounts[MOST_LOADS];
  uint32_t amount_count;
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
  case TVMS_NODE_CALL:
    switch ((int)tvms_call_opcode(node)) {
    case TVMS_TIR_bitwise_and:
    case TVMS_TIR_bitwise_or:
    case TVMS_TIR_shift_left:
    case TVMS_TIR_shift_right: return true;
    default: return tvms_cpu_quad_factors(node) != NULL;
    }
  default: return false;
  }
}

static tvms_walk_step stop_at_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Which of the numbers in a word is meant, T.shift_right(W[j // 8], j % 8 * 4), and whether it counts, T.shift_right(k - 7, 31).
static void note_amounts(operands *o, const tvms_node *node) {
  tvms_tir_opcode op = tvms_call_opcode(node);
  if (op != TVMS_TIR_shift_left && op != TVMS_TIR_shift_right) return;
  tvms_list args = tvms_as_call(node)->args;
  tvms_visitor visitor = {.enter = stop_at_load};
  for (uint32_t i = 0; i < args.len; i++) {
    if (!tvms_node_is_int_imm(args.items[i]) && o->amount_count < MOST_LOADS
        && tvms_walk(o->memory, args.items[i], &visitor))
      o->amounts[o->amount_count++] = args.items[i];
  }
}

static bool is_amount(const operands *o, const tvms_node *node) {
  uint32_t i = 0;
  while (i < o->amount_count && o->amounts[i] != node)
    i++;
  return i < o->amount_count;
}

static tvms_walk_step note_operand(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  operands *o = self;
  if (is_amount(o, node)) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_CALL) note_amounts(o, node);
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    bool fits = o->count < MOST_LOADS && !tvms_as_buffer_load(node)->predicate;
    if (fits) o->loads[o->count++] = node;
    o->arithmetic &= fits;
    return TVMS_WALK_SKIP;
  }
  o->arithmetic &= is_arithmetic(node) || node->kind == TVMS_NODE_OPERATOR;
  return TVMS_WALK_ON;
}

bool tvms_contraction_is_arithmetic(tvms_memory *memory, tvms_node *expr) {
  operands all = {.memory = memory, .arithmetic = true};
  tvms_visitor visitor = {.self = &all, .enter = note_operand};
  tvms_walk(memory, expr, &visitor);
  return all.arithmetic;
}

static bool moves(tvms_memory *memory, tvms_list indices, const tvms_node *var) {
  for (uint32_t i = 0; i < indices.len; i++) {
    if (tvms_walk_contains(memory, indices.items[i], var)) return true;
  }
  return false;
}

typedef struct {
  tvms_memory *memory;
  const operands *all;
  tvms_contraction *c;
} finder;

static const tvms_node *var_of(const finder *f, uint32_t axis) {
  return f->c->stage.axes[axis].var;
}

static bool mentions_any(const finder *f, tvms_node *node, const uint32_t *axes,
                         uint32_t count) {
  return tvms_cpu_mentions_axes(f->memory, &f->c->stage, node, axes, count);
}

// Do the elements lie one after the other along the axes, the last one innermost, counted as one?
static bool is_contiguous(const finder *f, const tvms_node *buffer, tvms_list indices,
                          const uint32_t *axes, uint32_t count) {
  return tvms_cpu_goes_through(f->memory, &f->c->stage, buffer, indices, axes, count);
}

// The axis along which the result is stored one element after the other.
static uint32_t column_of(const finder *f) {
  const tvms_stage *stage = &f->c->stage;
  uint32_t i = 0;
  for (; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (axis->sums || tvms_stage_axis_is_single(axis)) continue;
    if (is_contiguous(f, stage->store->buffer, stage->store->indices, &i, 1)) return i;
  }
  return TVMS_MOST_STAGE_AXES;
}

static tvms_list indices_of(const tvms_node *load) {
  return tvms_as_buffer_load(load)->indices;
}

static bool load_moves(const finder *f, const tvms_node *load, uint32_t axis) {
  return moves(f->memory, indices_of(load), var_of(f, axis));
}

// Does a load that moves with the column, or does not, depend on the axis?
static bool depends(const finder *f, bool with_column, uint32_t axis) {
  for (uint32_t i = 0; i < f->all->count; i++) {
    const tvms_node *load = f->all->loads[i];
    if (load_moves(f, load, f->c->column) == with_column && load_moves(f, load, axis))
      return true;
  }
  return false;
}

static bool is_known(const finder *f, uint32_t axis) {
  return tvms_node_is_int_imm(f->c->stage.axes[axis].extent);
}

// Axes around the columns that the result is stored along without a gap, and that go with the
// columns in each operand, are columns, too; those of unknown length if that is asked for.
static void find_columns(finder *f, bool unknown) {
  tvms_contraction *c = f->c;
  const tvms_store *out = c->stage.store;
  tvms_list shape = tvms_as_buffer(out->buffer)->shape;
  uint32_t found[TVMS_MOST_STAGE_AXES] = {c->column}, count = 1, at = out->indices.len;
  while (out->indices.items[at - 1] != var_of(f, c->column)) {
    if (--at == 0) break;
  }
  while (at > 1) {
    const tvms_stage_axis *inner = &c->stage.axes[found[count - 1]];
    bool whole = (unknown || is_known(f, found[count - 1]))
                 && tvms_node_same_expr(shape.items[at - 1], inner->extent);
    if (!whole) break;
    do
      at--;
    while (at > 0 && tvms_node_is_int(shape.items[at - 1], 1));
    if (at == 0) break;
    uint32_t axis = tvms_stage_axis_of(&c->stage, out->indices.items[at - 1]);
    bool goes_along =
        axis < TVMS_MOST_STAGE_AXES && !c->stage.axes[axis].sums
        && (unknown || is_known(f, axis))
        && tvms_dtype_same(var_of(f, axis)->dtype, var_of(f, c->column)->dtype)
        && depends(f, true, axis) && !depends(f, false, axis);
    if (!goes_along) break;
    found[count++] = axis;
  }
  c->column_count = count;
  for (uint32_t i = 0; i < count; i++)
    c->columns[i] = found[count - 1 - i];
}

static void find_contiguity(finder *f) {
  tvms_contraction *c = f->c;
  c->contiguous = true;
  for (uint32_t i = 0; i < f->all->count; i++) {
    tvms_node *load = f->all->loads[i];
    bool along = false;
    for (uint32_t n = 0; n < c->column_count; n++)
      along |= load_moves(f, load, c->columns[n]);
    if (!along) continue;
    c->contiguous &= is_contiguous(f, tvms_as_buffer_load(load)->buffer,
                                   indices_of(load), c->columns, c->column_count);
  }
}

// Lines of which some are of unknown length, or unknown in number, are columns together only if they lie one
// behind the other in each operand, or if that is asked for.
static void find_all_columns(finder *f) {
  tvms_contraction_lines lines = f->c->lines;
  find_columns(f, lines == TVMS_LINES_TOGETHER);
  find_contiguity(f);
  if (lines != TVMS_LINES_AS_THEY_LIE) return;
  tvms_contraction known = *f->c;
  find_columns(f, true);
  if (f->c->column_count > known.column_count) find_contiguity(f);
  if (f->c->column_count == known.column_count || !f->c->contiguous) *f->c = known;
}

// Steps of a window that slides along the columns: of the axes of the sum along which an index moves that moves with
// these, too. 1: there is none.
static int64_t taps_along(const finder *f) {
  const tvms_contraction *c = f->c;
  int64_t taps = 1;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    if (!axis->sums || !tvms_node_is_int_imm(axis->extent)) continue;
    bool slides = false;
    for (uint32_t l = 0; l < f->all->count; l++) {
      tvms_list indices = indices_of(f->all->loads[l]);
      for (uint32_t n = 0; n < indices.len; n++)
        slides |= mentions_any(f, indices.items[n], &i, 1)
                  && mentions_any(f, indices.items[n], c->columns, c->column_count);
    }
    int64_t steps = tvms_as_int_imm(axis->extent)->value;
    if (slides && __builtin_mul_overflow(taps, steps, &taps)) return 1;
  }
  return taps > 0 ? taps : 1;
}

// Are there rows: an axis that moves with the columns in no operand?
static bool has_rows(const finder *f) {
  const tvms_contraction *c = f->c;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    if (!axis->sums && !tvms_stage_axis_is_single(axis) && !depends(f, true, i))
      return true;
  }
  return false;
}

static void take_as_columns(finder *f, uint32_t axis) {
  f->c->column_count = 1;
  f->c->columns[0] = axis;
  find_contiguity(f);
}

// Of several axes of columns whose elements are no neighbours in memory, the last one is taken alone if it is long enough
// by itself, or if whole vectors make it up, the last one perhaps half of one, so that windows that slide along it read it
// where it lies: copies of an element for each step of a window take as long as four or five rows of sums (3 x 3 windows
// over 128 channels of 64 x 64 take 3 % less time, to 32 filters of 192 channels of 56 x 56 a tenth).
static void take_lines_apart(finder *f) {
  enum { HALF_VECTOR = 8, SHORTEST = 32 };
  tvms_contraction *c = f->c;
  const tvms_node *extent = c->stage.axes[c->column].extent;
  if (c->column_count < 2 || c->contiguous || !tvms_node_is_int_imm(extent)) return;
  int64_t length = tvms_as_int_imm(extent)->value;
  tvms_contraction together = *c;
  bool even = c->lines != TVMS_LINES_TOGETHER && length % HALF_VECTOR == 0
              && length >= SHORTEST && taps_along(f) > 1 && has_rows(f);
  if (length <= TVMS_LONGEST_LINE && !even) return;
  take_as_columns(f, c->column);
  if (length <= TVMS_LONGEST_LINE && !c->contiguous) *c = together;
}

static void find_roles(finder *f) {
  tvms_contraction *c = f->c;
  c->row = TVMS_MOST_STAGE_AXES;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    c->roles[i] = axis->sums            ? TVMS_AXIS_SUM
                  : i == c->column      ? TVMS_AXIS_COLUMN
                  : depends(f, true, i) ? TVMS_AXIS_BATCH
                                        : TVMS_AXIS_OUTER;
    if (c->roles[i] == TVMS_AXIS_OUTER && !tvms_stage_axis_is_single(axis)) c->row = i;
  }
  for (uint32_t n = 0; n < c->column_count; n++)
    c->roles[c->columns[n]] = TVMS_AXIS_COLUMN;
  if (c->row == TVMS_MOST_STAGE_AXES) return;
  c->roles[c->row] = TVMS_AXIS_ROW;
  for (uint32_t i = f->all->count; i-- > 0;) {
    if (load_moves(f, f->all->loads[i], c->row)) c->resting = f->all->loads[i];
  }
}

static bool has_role(const finder *f, tvms_node *node, tvms_axis_role role) {
  for (uint32_t i = 0; i < f->c->stage.count; i++) {
    if (f->c->roles[i] == role && tvms_walk_contains(f->memory, node, var_of(f, i)))
      return true;
  }
  return false;
}

// The largest factor of `node` that moves with the columns and with no row.
static tvms_node *TVMS_NULLABLE moving_factor(const finder *f, tvms_node *node) {
  for (;;) {
    tvms_node *const *words = tvms_cpu_quad_factors(node);
    if (!words && node->kind != TVMS_NODE_MUL) break;
    tvms_node *a = words ? words[0] : tvms_as_binary(node)->a;
    tvms_node *b = words ? words[1] : tvms_as_binary(node)->b;
    bool left = has_role(f, a, TVMS_AXIS_COLUMN),
         right = has_role(f, b, TVMS_AXIS_COLUMN);
    if (left == right) break;
    node = left ? a : b;
  }
  bool rests = has_role(f, node, TVMS_AXIS_ROW) || has_role(f, node, TVMS_AXIS_OUTER);
  return rests ? NULL : node;
}

static void find_sums(finder *f) {
  tvms_contraction *c = f->c;
  uint32_t sums[TVMS_MOST_STAGE_AXES], count = 0;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] == TVMS_AXIS_SUM && !tvms_stage_axis_is_single(&c->stage.axes[i]))
      sums[count++] = i;
  }
  c->outermost_sum = count ? sums[0] : TVMS_MOST_STAGE_AXES;
  c->one_sum = count <= 1;
  c->sums_in_order = tvms_contraction_steps(c) >= 0;
  for (uint32_t i = 0; i < f->all->count && count; i++) {
    tvms_node *load = f->all->loads[i];
    if (has_role(f, load, TVMS_AXIS_COLUMN)) continue;
    if (!has_role(f, load, TVMS_AXIS_SUM)) continue;
    c->sums_in_order &= is_contiguous(f, tvms_as_buffer_load(load)->buffer,
                                      indices_of(load), sums, count);
  }
}

static int64_t steps_of(const tvms_contraction *c, tvms_axis_role role) {
  int64_t steps = 1;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] != role) continue;
    const tvms_node *extent = c->stage.axes[i].extent;
    if (!tvms_node_is_int_imm(extent)) return -1;
    if (__builtin_mul_overflow(steps, tvms_as_int_imm(extent)->value, &steps))
      return -1;
  }
  return steps;
}

int64_t tvms_contraction_column_steps(const tvms_contraction *c) {
  return steps_of(c, TVMS_AXIS_COLUMN);
}

tvms_node *tvms_contraction_columns(tvms_unit *unit, const tvms_contraction *c) {
  tvms_node *product = c->stage.axes[c->columns[0]].extent;
  for (uint32_t n = 1; n < c->column_count; n++)
    product = tvms_build_binary(unit, TVMS_NODE_MUL, product,
                                c->stage.axes[c->columns[n]].extent, TVMS_NO_SPAN);
  return c->column_count > 1 ? tvms_arith_simplify(unit, product) : product;
}

int64_t tvms_contraction_steps(const tvms_contraction *c) {
  return steps_of(c, TVMS_AXIS_SUM);
}

static bool dtype_fits(tvms_dtype d) {
  return d.lanes == 1 && (d.code == TVMS_FLOAT || d.code == TVMS_INT)
         && (d.bits == 32 || d.bits == 64);
}

static bool is_constant(const tvms_node *node) {
  return node->kind == TVMS_NODE_FLOAT_IMM || node->kind == TVMS_NODE_INT_IMM;
}

// The innermost axis of the sum of more than one step; the number of axes: there is none.
static uint32_t innermost_sum(const tvms_contraction *c) {
  for (uint32_t i = c->stage.count; i-- > 0;) {
    if (c->roles[i] == TVMS_AXIS_SUM && !tvms_stage_axis_is_single(&c->stage.axes[i]))
      return i;
  }
  return c->stage.count;
}

static bool moves_with_columns(const finder *f, tvms_node *load, uint32_t sum) {
  return has_role(f, load, TVMS_AXIS_COLUMN) && load_moves(f, load, sum);
}

// Does what moves with the columns lie in memory along the sum instead?
static bool lies_along_sum(const finder *f) {
  const tvms_contraction *c = f->c;
  uint32_t sum = innermost_sum(c);
  if (c->contiguous || sum == c->stage.count) return false;
  for (uint32_t i = 0; i < f->all->count; i++) {
    tvms_node *load = f->all->loads[i];
    if (moves_with_columns(f, load, sum)
        && !is_contiguous(f, tvms_as_buffer_load(load)->buffer, indices_of(load), &sum,
                          1))
      return false;
  }
  return true;
}

// The same of words in which several of its steps lie: W[j, k // 8]. Dimensions behind that are 1.
static bool goes_along_sum(const finder *f) {
  const tvms_contraction *c = f->c;
  uint32_t sum = innermost_sum(c);
  if (c->contiguous || sum == c->stage.count) return false;
  for (uint32_t i = 0; i < f->all->count; i++) {
    tvms_node *load = f->all->loads[i];
    tvms_list indices = indices_of(load);
    if (indices.len == 0 || !moves_with_columns(f, load, sum)) continue;
    tvms_list shape = tvms_as_buffer(tvms_as_buffer_load(load)->buffer)->shape;
    uint32_t at = indices.len - 1;
    while (at > 0 && tvms_node_is_int(shape.items[at], 1))
      at--;
    tvms_node *last = indices.items[at];
    if (!mentions_any(f, last, &sum, 1)
        || mentions_any(f, last, c->columns, c->column_count))
      return false;
  }
  return true;
}

// Is the axis in front of the columns one whose length is not known?
static bool has_unknown_lines(const tvms_contraction *c) {
  return c->columns[0] > 0 && !c->stage.axes[c->columns[0] - 1].sums
         && !tvms_node_is_int_imm(c->stage.axes[c->columns[0] - 1].extent);
}

// A window of few taps that slides over lines which are no neighbours in memory, and nothing else that
// would use a copy of them: copying costs more than the sums. Lines of a number that is not known are no columns
// together where they are no neighbours.
static bool copies_for_itself(const tvms_contraction *c) {
  enum { MOST_TAPS = 64 };
  int64_t taps = tvms_contraction_steps(c), length = tvms_contraction_column_steps(c);
  bool together = !c->contiguous && c->column_count > 1;
  bool apart = c->taps > 1 && length <= TVMS_LONGEST_LINE && has_unknown_lines(c);
  return (together || apart) && taps >= 0 && taps <= MOST_TAPS
         && steps_of(c, TVMS_AXIS_ROW) == 1 && steps_of(c, TVMS_AXIS_OUTER) == 1;
}

// Rows of a number of columns that is not known are tiled if there are enough of them, or if they are those of a product.
static bool has_rows_of_unknown_length(const tvms_contraction *c) {
  enum { FEWEST = 8 };
  if (c->one_sum && (c->contiguous || c->along_sum)) return true;
  if (c->row == TVMS_MOST_STAGE_AXES) return false;
  const tvms_node *rows = c->stage.axes[c->row].extent;
  return !tvms_node_is_int_imm(rows) || tvms_as_int_imm(rows)->value >= FEWEST;
}

static const char *TVMS_NULLABLE find(finder *f) {
  tvms_contraction *c = f->c;
  c->column = column_of(f);
  if (c->column == TVMS_MOST_STAGE_AXES)
    return "its result is not stored one element after the other";
  bool resting = false;
  for (uint32_t i = 0; i < f->all->count; i++)
    resting |= !load_moves(f, f->all->loads[i], c->column);
  if (!resting) return "every operand moves along the innermost axis of the result";
  find_all_columns(f);
  take_lines_apart(f);
  c->taps = taps_along(f);
  find_roles(f);
  c->moving = moving_factor(f, c->term);
  if (!c->contiguous && !c->moving)
    return "several operands move along the innermost axis of the result";
  find_sums(f);
  c->along_sum = lies_along_sum(f);
  if (c->row == TVMS_MOST_STAGE_AXES && goes_along_sum(f))
    return "its one row is summed along what lies in memory";
  if (copies_for_itself(c)) return "its one row is a window that slides along lines";
  return tvms_contraction_column_steps(c) < 0 && !has_rows_of_unknown_length(c)
             ? "the size of its innermost axis is not known"
             : NULL;
}

typedef struct {
  const tvms_stage *stage;
  tvms_analyzer *TVMS_NULLABLE analyzer;  // knows the axes; made when it is needed
} settling;

static tvms_walk_step find_digit(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  bool digit = node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  return digit ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Digits of a sum that are those of one axis: copies that were taken in have come through reshapes. What is known of the axes may show that
// there are only two, (j // 64 + b * m + k) // m, and what these are may have digits again.
static tvms_node *settle(tvms_unit *unit, settling *s, tvms_node *index) {
  enum { TURNS = 3 };
  tvms_visitor visitor = {.enter = find_digit};
  for (uint32_t turn = 0; turn < TURNS; turn++) {
    index = tvms_stage_settle_digits(unit, s->stage, index);
    if (tvms_walk(&unit->context->memory, index, &visitor)) return index;
    if (!s->analyzer) s->analyzer = tvms_stage_analyzer(unit, s->stage);
    tvms_node *made = tvms_analyzer_simplify(s->analyzer, index);
    if (tvms_node_same_expr(made, index)) return index;
    index = made;
  }
  return index;
}

static tvms_node *simplify_indices(tvms_rewriter *r, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_list made = tvms_list_copy(r->unit, load->indices.items, load->indices.len);
  bool same = node == r->old;
  for (uint32_t i = 0; i < made.len; i++) {
    made.items[i] = settle(r->unit, r->self, made.items[i]);
    same &= made.items[i] == load->indices.items[i];
  }
  if (same) return node;
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_arith_simplify(r->unit, made.items[i]);
  return tvms_buffer_load_new(r->unit, load->buffer, made.items, made.len,
                              load->predicate, node->span);
}

// The term with 0 in the place of axes that have one step.
static tvms_node *without_single_axes(tvms_unit *unit, const tvms_stage *stage,
                                      tvms_node *term) {
  settling s = {.stage = stage};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.leave[TVMS_NODE_BUFFER_LOAD] = simplify_indices;
  for (uint32_t i = 0; i < stage->count; i++) {
    tvms_node *var = stage->axes[i].var;
    if (tvms_stage_axis_is_single(&stage->axes[i]))
      tvms_node_map_put(&r.known, var,
                        tvms_int_imm_new(unit, var->dtype, 0, TVMS_NO_SPAN));
  }
  term = tvms_rewrite(&r, term);
  tvms_rewriter_fini(&r);
  if (s.analyzer) tvms_analyzer_free(s.analyzer);
  return term;
}

static const char *TVMS_NULLABLE find_in(tvms_unit *unit, const tvms_stage *stage,
                                         tvms_contraction_lines lines,
                                         tvms_contraction *found) {
  *found = (tvms_contraction){.stage = *stage, .lines = lines};
  bool sums = false;
  for (uint32_t i = 0; i < stage->count; i++) {
    sums |= stage->axes[i].sums;
    if (tvms_cpu_number(stage->axes[i].extent) == 0) return "it has no elements";
  }
  if (!sums) return "it sums over nothing";
  if (!stage->init || !is_constant(stage->init))
    return "it does not begin with a constant";
  if (!dtype_fits(stage->store->value->dtype))
    return "its sums have an unsuitable dtype";
  tvms_node *term = tvms_stage_term(stage, TVMS_NODE_ADD);
  if (!term) return "it does not add up";
  if (tvms_cpu_mentions(unit, term, stage->store->buffer))
    return "what it adds up depends on its result";
  found->init = stage->init;
  found->term = without_single_axes(unit, stage, term);
  operands all = {.memory = &unit->context->memory, .arithmetic = true};
  tvms_visitor visitor = {.self = &all, .enter = note_operand};
  tvms_walk(&unit->context->memory, found->term, &visitor);
  if (!all.arithmetic) return "what it adds up is more than products of elements";
  finder f = {&unit->context->memory, &all, found};
  return find(&f);
}

const char *TVMS_NULLABLE tvms_contraction_find(tvms_unit *unit,
                                                const tvms_stage *stage,
                                                tvms_contraction *found) {
  return find_in(unit, stage, TVMS_LINES_AS_THEY_LIE, found);
}

const char *TVMS_NULLABLE tvms_contraction_find_like(tvms_unit *unit,
                                                     const tvms_contraction *like,
                                                     const tvms_stage *stage,
                                                     tvms_contraction *found) {
  const char *why_not = find_in(unit, stage, like->lines, found);
  found->apart = like->apart;
  found->changes = like->changes;
  return why_not;
}

const char *TVMS_NULLABLE tvms_contraction_find_lines(tvms_unit *unit,
                                                      const tvms_contraction *c,
                                                      tvms_contraction_lines lines,
                                                      tvms_contraction *found) {
  tvms_contraction like = *c;
  like.lines = lines;
  return tvms_contraction_find_like(unit, &like, &like.stage, found);
}

const char *TVMS_NULLABLE tvms_contraction_find_for(tvms_unit *unit,
                                                    const tvms_contraction *c,
                                                    uint32_t axis, int64_t steps,
                                                    tvms_contraction *found) {
  tvms_stage stage = c->stage;
  tvms_stage_axis *settled = &stage.axes[axis];
  settled->extent = tvms_int_imm_new(unit, settled->var->dtype, steps, TVMS_NO_SPAN);
  return tvms_contraction_find_like(unit, c, &stage, found);
}
