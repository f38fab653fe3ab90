// Contractions of bytes: which axis of the sum is taken in fours, and by which statements.
//
// A processor multiplies bytes that count from 0 by bytes with a sign. Of two that are of one kind one is shifted by 128, which the
// sum of the other one, times 128, takes back; so does a zero that the text takes away from each byte:
//   (u - a) * (s - b) added up is u * s - a * s - b * u + a * b added up.
// What is shifted is an operand of which words are made anyway; the sum is that of a constant, or of the smaller operand.
#include "passes/tir/cpu/quads.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/quad_operand.h"

#include <string.h>

typedef struct {
  tvms_unit *unit;
  const tvms_prim_func *function;
  const tvms_contraction *c;
  tvms_quad_operand moving, resting;
  uint32_t axis;       // of the sum, taken in fours
  tvms_stage stage;    // with quads of that axis
  tvms_node *term[2];  // words of the moving and the resting operand
  tvms_replacement *made;
} quads;

static const tvms_dtype int32 = {TVMS_INT, 32, 1};

static tvms_node *build(quads *q, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(q->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(quads *q, int64_t value) {
  return tvms_int_imm_new(q->unit, int32, (int32_t)value, TVMS_NO_SPAN);
}

// ---- What is to be done ----

static bool moves(quads *q, const tvms_quad_operand *o) {
  const tvms_contraction *c = q->c;
  for (uint32_t i = 0; i < c->column_count; i++) {
    if (tvms_cpu_depends(q->unit, o->load->indices, c->stage.axes[c->columns[i]].var))
      return true;
  }
  return false;
}

static bool is_constant(const quads *q, const tvms_node *buffer) {
  const tvms_node *list =
      tvms_object_map_get(q->function->attrs, "layout_free_buffers");
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list items = tvms_as_object_array(list)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    int64_t at;
    if (tvms_object_as_int(items.items[i], &at) && at >= 0
        && at < q->function->buffers.len && q->function->buffers.items[at] == buffer)
      return true;
  }
  return false;
}

static bool find_operands(quads *q) {
  const tvms_node *term = q->c->term;
  if (term->kind != TVMS_NODE_MUL || !q->c->moving) return false;
  tvms_quad_operand a, b;
  if (!tvms_cpu_quad_read(tvms_as_binary(term)->a, &a)
      || !tvms_cpu_quad_read(tvms_as_binary(term)->b, &b))
    return false;
  bool first = moves(q, &a);
  q->moving = first ? a : b;
  q->resting = first ? b : a;
  // Words of what one row goes through are worth it if they are made beforehand.
  bool pays =
      q->c->row < TVMS_MOST_STAGE_AXES || is_constant(q, q->moving.load->buffer);
  return pays && moves(q, &q->moving) && !moves(q, &q->resting);
}

static bool has_dimension(quads *q, const tvms_quad_operand *o, uint32_t axis) {
  return tvms_cpu_quad_dimension(q->unit, o, &q->c->stage.axes[axis])
         < o->load->indices.len;
}

// Of a hundred steps, how many are no padding.
static int64_t use_of(int64_t steps) {
  return 100 * steps / ((steps + TVMS_QUAD - 1) / TVMS_QUAD * TVMS_QUAD);
}

// The axis along which the fewest bytes are padding, of these the innermost one.
static bool find_axis(quads *q) {
  enum { FEWEST = 3 };
  int64_t best = 0;
  for (uint32_t i = 0; i < q->c->stage.count; i++) {
    if (q->c->roles[i] != TVMS_AXIS_SUM) continue;
    int64_t steps = tvms_cpu_number(q->c->stage.axes[i].extent);
    if (steps < FEWEST || use_of(steps) < best || !has_dimension(q, &q->resting, i)
        || !has_dimension(q, &q->moving, i))
      continue;
    best = use_of(steps);
    q->axis = i;
  }
  return best > 0;
}

// Elements of the buffer of an operand; sizes that are not known are taken as usual ones.
static double size_of(const tvms_quad_operand *o) {
  enum { USUAL = 64 };
  tvms_list shape = tvms_as_buffer(o->load->buffer)->shape;
  double size = 1;
  for (uint32_t i = 0; i < shape.len; i++) {
    int64_t n = tvms_cpu_number(shape.items[i]);
    size *= n < 0 ? USUAL : (double)n;
  }
  return size;
}

static void choose_shift(quads *q) {
  tvms_quad_operand *m = &q->moving, *r = &q->resting;
  if (tvms_cpu_quad_counts_from_zero(m) != tvms_cpu_quad_counts_from_zero(r)) return;
  bool sums_moving = is_constant(q, m->load->buffer);
  if (!sums_moving && !is_constant(q, r->load->buffer))
    sums_moving = size_of(m) <= size_of(r);
  (sums_moving ? r : m)->shifted = true;
}

// ---- Statements ----

static void add(quads *q, tvms_node *stmt, tvms_node *TVMS_NULLABLE buffer) {
  q->made->stmts = tvms_list_with(q->unit, q->made->stmts, stmt);
  if (buffer) q->made->buffers = tvms_list_with(q->unit, q->made->buffers, buffer);
}

// Words of an operand, from a copy.
static tvms_node *copied(quads *q, const tvms_quad_operand *o) {
  uint32_t at = tvms_cpu_quad_dimension(q->unit, o, &q->c->stage.axes[q->axis]);
  tvms_node *words;
  tvms_node *copy = tvms_cpu_quad_copy(q->unit, o, q->c->stage.nest, at, &words);
  add(q, copy, words);
  tvms_list indices =
      tvms_list_copy(q->unit, o->load->indices.items, o->load->indices.len);
  indices.items[at] = q->stage.axes[q->axis].var;
  return tvms_buffer_load_new(q->unit, words, indices.items, indices.len, NULL,
                              TVMS_NO_SPAN);
}

// Are words of the moving operand made where it is packed? Those of constants are, and what is packed once and does not lie
// along the sum.
static bool joins(quads *q) {
  const tvms_quad_operand *m = &q->moving;
  if (is_constant(q, m->load->buffer)) return true;
  uint32_t at = tvms_cpu_quad_dimension(q->unit, m, &q->c->stage.axes[q->axis]);
  return q->c->one_sum && at + 1 < m->load->indices.len;
}

static void make_words(quads *q) {
  const tvms_stage_axis *old = &q->c->stage.axes[q->axis];
  tvms_stage_axis *quad = &q->stage.axes[q->axis];
  q->stage = q->c->stage;
  quad->var = tvms_cpu_variable(q->unit, "q", old->var);
  quad->extent = tvms_int_imm_new(
      q->unit, old->extent->dtype,
      (tvms_cpu_number(old->extent) + TVMS_QUAD - 1) / TVMS_QUAD, TVMS_NO_SPAN);
  q->term[1] = copied(q, &q->resting);
  q->term[0] = joins(q) ? tvms_cpu_quad_word(q->unit, &q->moving, old, quad->var)
                        : copied(q, &q->moving);
}

static tvms_node *load_at(tvms_unit *unit, tvms_node *buffer, tvms_list at) {
  return tvms_buffer_load_new(unit, buffer, at.items, at.len, NULL, TVMS_NO_SPAN);
}

// The axes of the stage, but for the sums, that `node` depends on: where its sum lies.
static tvms_list places_of(tvms_unit *unit, const tvms_stage *stage, tvms_node *node,
                           tvms_list *extents) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES], *sizes[TVMS_MOST_STAGE_AXES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (axis->sums || !tvms_walk_contains(&unit->context->memory, node, axis->var))
      continue;
    vars[count] = axis->var;
    sizes[count++] = axis->extent;
  }
  *extents = tvms_list_copy(unit, sizes, count);
  return tvms_list_copy(unit, vars, count);
}

// The statement that adds up `word` over all sums of the stage, in `ones`.
static tvms_node *sum_of(tvms_unit *unit, const tvms_stage *stage, tvms_node *word,
                         bool from_zero, tvms_node *ones) {
  tvms_list extents, at = places_of(unit, stage, word, &extents);
  tvms_stage sum = {.nest = stage->nest, .name = "ones"};
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    bool kept = axis->sums;
    for (uint32_t k = 0; k < at.len; k++)
      kept |= at.items[k] == axis->var;
    if (kept) sum.axes[sum.count++] = *axis;
  }
  tvms_node *one = tvms_int_imm_new(unit, int32, TVMS_QUAD_OF_ONES, TVMS_NO_SPAN);
  tvms_node *bytes = from_zero ? tvms_cpu_quad_product(unit, word, one)
                               : tvms_cpu_quad_product(unit, one, word);
  tvms_node *added = tvms_build_binary(unit, TVMS_NODE_ADD, load_at(unit, ones, at),
                                       bytes, TVMS_NO_SPAN);
  tvms_node *zero = tvms_int_imm_new(unit, int32, 0, TVMS_NO_SPAN);
  return tvms_stage_write(unit, &sum, sum.name, tvms_cpu_store(unit, ones, at, added),
                          tvms_cpu_store(unit, ones, at, zero));
}

// `value` without `offset` times the sum of an operand's words.
static tvms_node *without_sum(quads *q, tvms_node *value, const tvms_quad_operand *o,
                              tvms_node *word, int64_t offset) {
  if (offset == 0) return value;
  tvms_list extents, at = places_of(q->unit, &q->stage, word, &extents);
  tvms_node *ones =
      tvms_cpu_buffer(q->unit, "ones", int32, "global", extents.items, extents.len);
  add(q, sum_of(q->unit, &q->stage, word, tvms_cpu_quad_counts_from_zero(o), ones),
      ones);
  tvms_node *times =
      build(q, TVMS_NODE_MUL, load_at(q->unit, ones, at), number(q, offset));
  return build(q, TVMS_NODE_SUB, value, times);
}

static void write_contraction(quads *q, tvms_node *buffer) {
  const tvms_store *out = q->c->stage.store;
  bool first = tvms_cpu_quad_counts_from_zero(&q->moving);
  tvms_node *term =
      tvms_cpu_quad_product(q->unit, q->term[first ? 0 : 1], q->term[first ? 1 : 0]);
  tvms_node *sum =
      build(q, TVMS_NODE_ADD, load_at(q->unit, buffer, out->indices), term);
  add(q,
      tvms_stage_write(q->unit, &q->stage, q->stage.name,
                       tvms_cpu_store(q->unit, buffer, out->indices, sum),
                       tvms_cpu_store(q->unit, buffer, out->indices, q->c->init)),
      NULL);
}

static void write_statements(quads *q) {
  const tvms_store *out = q->c->stage.store;
  int64_t offsets[] = {tvms_cpu_quad_offset(&q->moving),
                       tvms_cpu_quad_offset(&q->resting)};
  make_words(q);
  if (!offsets[0] && !offsets[1]) {
    write_contraction(q, out->buffer);
    return;
  }
  const tvms_buffer *result = tvms_as_buffer(out->buffer);
  tvms_node *plain = tvms_cpu_buffer(q->unit, "plain", int32, "global",
                                     result->shape.items, result->shape.len);
  tvms_node *value = load_at(q->unit, plain, out->indices);
  value = without_sum(q, value, &q->resting, q->term[1], offsets[0]);
  value = without_sum(q, value, &q->moving, q->term[0], offsets[1]);
  int64_t both = tvms_contraction_steps(q->c) * offsets[0] * offsets[1];
  if (both) value = build(q, TVMS_NODE_ADD, value, number(q, both));
  write_contraction(q, plain);
  q->made->buffers = tvms_list_with(q->unit, q->made->buffers, plain);
  tvms_node *stored = tvms_cpu_store(q->unit, out->buffer, out->indices, value);
  add(q, tvms_stage_write_each(q->unit, &q->c->stage, "offset", stored), NULL);
}

bool tvms_cpu_take_quads(tvms_unit *unit, const tvms_target *target,
                         const tvms_prim_func *function, const tvms_stage *stage,
                         tvms_replacement *made) {
  tvms_dtype dtype = stage->store->value->dtype;
  tvms_contraction c;
  if (dtype.code != TVMS_INT || dtype.bits != 32
      || !tvms_target_has_quads(unit->context, target)
      || tvms_contraction_find(unit, stage, &c) || tvms_contraction_steps(&c) < 0)
    return false;
  quads q = {.unit = unit, .function = function, .c = &c, .made = made};
  if (!find_operands(&q) || !find_axis(&q)) return false;
  choose_shift(&q);
  write_statements(&q);
  return true;
}
