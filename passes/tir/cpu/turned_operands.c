// Turning operands of products that lie across the sum.
//
// Before: C[i, j] = sum over k of A[k, i] * B[k, j]
// After:  turned[i, k] = A[k, i]
//         C[i, j] = sum over k of turned[i, k] * B[k, j]
//
// A tile reads a few elements of a line of A at each step of its sum, and the next line lies a row further. Where the near
// caches do not hold A along with the other operand, each of those is a line from afar (and a page), and the same ones come
// again for the next tile of rows. With vectors of 32 bytes a copy in squares of registers saves a seventh of the time of
// products of 512 to 1000; with longer ones it costs 1 to 9 % of those of 384 to 4096.
#include "passes/tir/cpu/turned_operands.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/words.h"

typedef struct {
  tvms_unit *unit;
  const tvms_contraction *c;
  // The axes that the operand depends on, those of the rows and of the sum last.
  uint32_t axes[TVMS_MOST_STAGE_AXES], count;
  tvms_node *copy;  // a load of it
} turning;

static bool depends(const turning *t, uint32_t axis) {
  const tvms_buffer_load *load = tvms_as_buffer_load(t->c->resting);
  return tvms_cpu_depends(t->unit, load->indices, t->c->stage.axes[axis].var);
}

static void find_axes(turning *t) {
  const tvms_contraction *c = t->c;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    bool last = i == c->row || i == c->outermost_sum;
    if (!last && depends(t, i)) t->axes[t->count++] = i;
  }
  t->axes[t->count++] = c->row;
  t->axes[t->count++] = c->outermost_sum;
}

// Elements of the operand that one batch reads, or -1.
static int64_t elements_of_batch(const turning *t) {
  int64_t elements = 1;
  for (uint32_t i = 0; i < t->count; i++) {
    int64_t size = tvms_cpu_number(t->c->stage.axes[t->axes[i]].extent);
    if (size < 1 || elements > INT32_MAX / size) return -1;
    if (t->c->roles[t->axes[i]] != TVMS_AXIS_BATCH) elements *= size;
  }
  return elements;
}

static int64_t step_along(const turning *t, uint32_t axis) {
  const tvms_buffer_load *load = tvms_as_buffer_load(t->c->resting);
  int64_t step;
  return tvms_cpu_step_of(t->unit, load->buffer, load->indices,
                          t->c->stage.axes[axis].var, &step)
             ? step
             : 0;
}

static bool lies_across(const tvms_contraction *c) {
  return c->row != TVMS_MOST_STAGE_AXES && c->outermost_sum != TVMS_MOST_STAGE_AXES
         && c->one_sum && c->resting && c->resting->kind == TVMS_NODE_BUFFER_LOAD
         && !tvms_as_buffer_load(c->resting)->predicate && c->resting->dtype.bits >= 32;
}

// Do steps of a tile take less time than lines of the operand from the second cache? One of vectors of 64 bytes adds up to 24
// of them in each, while lines of the next tile are fetched (tile_fetch.c).
static bool waits_for_lines(const tvms_target *target) {
  return target->vector_bits < 8 * TVMS_CPU_CACHE_LINE;
}

// Each element of the copy must serve enough columns.
static bool pays(const turning *t, const tvms_target *target) {
  enum { FEWEST_COLUMNS = 256, USUAL_CACHE = 256 * 1024 };
  int64_t cache = tvms_target_cache(target, 1, USUAL_CACHE);
  int64_t elements = elements_of_batch(t);
  return elements > 0 && 2 * elements * (t->c->resting->dtype.bits / 8) >= cache
         && tvms_contraction_column_steps(t->c) >= FEWEST_COLUMNS
         && step_along(t, t->c->row) == 1 && step_along(t, t->c->outermost_sum) > 1
         && waits_for_lines(target);
}

// ---- Statements ----

static tvms_node *copy_statement(turning *t, tvms_node **buffer) {
  const tvms_buffer_load *load = tvms_as_buffer_load(t->c->resting);
  tvms_stage stage = {.nest = t->c->stage.nest, .name = "turn", .count = t->count};
  tvms_node *extents[TVMS_MOST_STAGE_AXES], *places[TVMS_MOST_STAGE_AXES];
  for (uint32_t i = 0; i < t->count; i++) {
    stage.axes[i] = t->c->stage.axes[t->axes[i]];
    stage.axes[i].sums = false;
    extents[i] = stage.axes[i].extent;
    places[i] = stage.axes[i].var;
  }
  *buffer =
      tvms_cpu_buffer(t->unit, "turned", load->head.dtype, "global", extents, t->count);
  tvms_list at = tvms_list_copy(t->unit, places, t->count);
  t->copy =
      tvms_buffer_load_new(t->unit, *buffer, places, t->count, NULL, TVMS_NO_SPAN);
  return tvms_stage_write(t->unit, &stage, stage.name,
                          tvms_cpu_store(t->unit, *buffer, at, t->c->resting), NULL);
}

static tvms_node *replace_operand(tvms_rewriter *r, tvms_node *node) {
  const turning *t = r->self;
  return r->old == t->c->resting ? t->copy : node;
}

static tvms_node *term_with_copy(turning *t) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, t->unit, t);
  r.leave[TVMS_NODE_BUFFER_LOAD] = replace_operand;
  tvms_node *term = tvms_rewrite(&r, t->c->term);
  tvms_rewriter_fini(&r);
  return term;
}

bool tvms_cpu_turn_operand(tvms_unit *unit, const tvms_target *target,
                           const tvms_stage *stage, tvms_node *stmts[2],
                           tvms_node **buffer) {
  tvms_contraction c;
  if (tvms_contraction_find(unit, stage, &c) || !lies_across(&c)) return false;
  turning t = {.unit = unit, .c = &c};
  find_axes(&t);
  if (!pays(&t, target)) return false;
  stmts[0] = copy_statement(&t, buffer);
  const tvms_store *out = c.stage.store;
  tvms_node *result = tvms_buffer_load_new(unit, out->buffer, out->indices.items,
                                           out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *sum =
      tvms_build_binary(unit, TVMS_NODE_ADD, result, term_with_copy(&t), TVMS_NO_SPAN);
  stmts[1] = tvms_stage_write(unit, &c.stage, stage->name,
                              tvms_cpu_store(unit, out->buffer, out->indices, sum),
                              tvms_cpu_store(unit, out->buffer, out->indices, c.init));
  tvms_stage made;
  return !tvms_stage_read(unit, stmts[1], &made);
}
