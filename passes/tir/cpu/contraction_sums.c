// Adding up: the loops of a tile's sum, and what is fetched into the caches in them.
#include "passes/tir/cpu/contraction_sums.h"

#include "ir/fold.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction_element.h"
#include "passes/tir/cpu/contraction_fetch.h"
#include "passes/tir/cpu/contraction_rest.h"
#include "passes/tir/cpu/contraction_spare.h"
#include "passes/tir/cpu/contraction_words.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;
typedef tvms_contraction_element element;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// They come some steps before the end of the sum, those of a row at each: many at once wait for each other. Where
// sums go on with what the block before stored, those of the next tile come, which it begins with.
static tvms_node *fetch_at(writer *w, tvms_node *step) {
  tvms_node *lead = number(w, step, w->tile->result_lead);
  tvms_node *then = build(w, TVMS_NODE_SUB, tvms_contraction_flat_steps(w), lead);
  tvms_node *end = build(w, TVMS_NODE_ADD, then, number(w, step, w->rows));
  tvms_if_then_else *choice = tvms_node_make(w->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  choice->condition = build(w, TVMS_NODE_AND, build(w, TVMS_NODE_LE, then, step),
                            build(w, TVMS_NODE_LT, step, end));
  tvms_node_vec stmts = {0};
  tvms_node *row = w->row, *first = w->block && w->next_row ? w->next_row : row;
  tvms_node *behind = build(w, TVMS_NODE_SUB, step, then);
  behind = tvms_build_cast(w->unit, row->dtype, behind, TVMS_NO_SPAN);
  int64_t rows = w->rows;
  w->row = build(w, TVMS_NODE_ADD, first, behind);
  w->rows = 1;
  tvms_contraction_fetch_far(w, &stmts);
  w->row = row;
  w->rows = rows;
  choice->then_case = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  return &choice->head;
}

static tvms_node *add_term(writer *w, const element *e) {
  tvms_node *term = tvms_contraction_as_now(w, tvms_contraction_with_rest(w, w->term));
  return tvms_contraction_set_sum(
      w, e, build(w, TVMS_NODE_ADD, tvms_contraction_sum_of(w, e), term));
}

typedef struct {
  const writer *w;
  tvms_node *found;
} moving_load;

static tvms_walk_step find_moving(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  moving_load *m = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_node *rests = tvms_as_buffer_load(m->w->c->resting)->buffer;
  if (tvms_as_buffer_load(node)->buffer != rests) m->found = node;
  return TVMS_WALK_SKIP;
}

static tvms_node *fetch_line(writer *w, const element *e) {
  tvms_node *load = tvms_contraction_as_now(w, (tvms_node *)(uintptr_t)e->data);
  int64_t row = w->tile->strip * (load->dtype.bits / 8);
  return tvms_cpu_prefetch_near(w->unit, load, w->tile->moving_lead * row);
}

// Statements by which lines of the panel come that are read some steps later, into the first cache; NULL if none do. Behind the
// end of a panel lies the next one.
static tvms_node *fetch_moving(writer *w) {
  const tvms_node *resting = w->c->resting;
  bool strips = w->tile->packs || w->tile->beforehand;
  if (!w->tile->moving_lead || !strips || !w->row || w->left_over || w->columns->tail
      || !resting || resting->kind != TVMS_NODE_BUFFER_LOAD)
    return NULL;
  moving_load m = {.w = w};
  tvms_visitor visitor = {.self = &m, .enter = find_moving};
  tvms_walk(&w->unit->context->memory, w->term, &visitor);
  if (!m.found) return NULL;
  tvms_node *row = w->row;
  w->row = NULL;
  tvms_node *made = tvms_contraction_each(
      w, fetch_line, (element){.data = m.found, .first = true, .written = true});
  w->row = row;
  return made;
}

tvms_node *tvms_contraction_add_up(writer *w) {
  if (tvms_contraction_has_words(w)) return tvms_contraction_add_words(w);
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  w->without_tail = w->columns->spare;
  tvms_node *vectors = tvms_contraction_each_element(w, add_term, NULL);
  w->without_tail = false;
  tvms_node *resting = tvms_contraction_fetch_resting(w, vars[0]);
  if (resting) vectors = tvms_stmt_pair(w->unit, resting, vectors);
  if (tvms_contraction_fetches_far(w, true))
    vectors = tvms_stmt_pair(w->unit, fetch_at(w, vars[0]), vectors);
  tvms_node *moving = fetch_moving(w);
  if (moving) vectors = tvms_stmt_pair(w->unit, moving, vectors);
  vectors = tvms_contraction_close_sums(w, vectors, vars);
  return w->columns->spare
             ? tvms_stmt_pair(w->unit, vectors, tvms_contraction_add_spare(w))
             : vectors;
}
