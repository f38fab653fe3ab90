// Adding up: the loops of a tile's sum, and what is fetched into the caches in them.
#include "passes/tir/cpu/contraction_sums.h"

#include "ir/fold.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction_element.h"
#include "passes/tir/cpu/contraction_fetch.h"
#include "passes/tir/cpu/contraction_rest.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/contraction_spare.h"
#include "passes/tir/cpu/contraction_words.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/words.h"

typedef tvms_contraction_writer writer;
typedef tvms_contraction_element element;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// ---- Lines that are far, at one step of many ----

// Lines of `count` rows of the result, each time that the variable `at` counts from `first` on. Where sums go on with what
// the block before stored, those of the next tile come, which it begins with.
static tvms_node *fetch_rows(writer *w, tvms_node *at, tvms_node *first,
                             int64_t count) {
  tvms_node_vec stmts = {0};
  tvms_node *row = w->row, *from = w->block && w->next_row ? w->next_row : row;
  tvms_node *behind = build(w, TVMS_NODE_SUB, at, first);
  behind = build(w, TVMS_NODE_MUL, behind, number(w, behind, count));
  behind = tvms_build_cast(w->unit, row->dtype, behind, TVMS_NO_SPAN);
  int64_t rows = w->rows;
  w->row = build(w, TVMS_NODE_ADD, from, behind);
  w->rows = count;
  tvms_contraction_fetch_far(w, &stmts);
  w->row = row;
  w->rows = rows;
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// `body` where `first` <= at < first + count.
static tvms_node *between(writer *w, tvms_node *at, tvms_node *first, int64_t count,
                          tvms_node *body) {
  tvms_node *end = build(w, TVMS_NODE_ADD, first, number(w, at, count));
  tvms_node *condition = build(w, TVMS_NODE_AND, build(w, TVMS_NODE_LE, first, at),
                               build(w, TVMS_NODE_LT, at, end));
  return tvms_cpu_choice(w->unit, condition, body, NULL);
}

// They come some steps before the end of the sum, those of a row at each: many at once wait for each other.
static tvms_node *fetch_at_step(writer *w, tvms_node *step) {
  tvms_node *lead = number(w, step, w->tile->result_lead);
  tvms_node *then = build(w, TVMS_NODE_SUB, tvms_contraction_flat_steps(w), lead);
  return between(w, step, then, w->rows, fetch_rows(w, step, then, 1));
}

static tvms_node *fetch_resting_at_step(writer *w, tvms_node *step) {
  tvms_node *fetched = tvms_contraction_fetch_resting(w);
  if (!fetched || w->tile->resting_across) return fetched;
  int64_t line = TVMS_CPU_CACHE_LINE * 8 / w->c->resting->dtype.bits;
  tvms_node *in_line = build(w, TVMS_NODE_FLOOR_MOD, step, number(w, step, line));
  return tvms_cpu_choice(w->unit, build(w, TVMS_NODE_EQ, in_line, number(w, step, 0)),
                         fetched, NULL);
}

// ---- Adding up ----

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

static tvms_node *add_terms(writer *w) {
  w->without_tail = w->columns->spare;
  tvms_node *vectors = tvms_contraction_each_element(w, add_term, NULL);
  w->without_tail = false;
  return vectors;
}

static tvms_node *add_step_by_step(writer *w) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  tvms_node *vectors = add_terms(w), *resting = fetch_resting_at_step(w, vars[0]);
  if (resting) vectors = tvms_stmt_pair(w->unit, resting, vectors);
  if (tvms_contraction_fetches_far(w, true))
    vectors = tvms_stmt_pair(w->unit, fetch_at_step(w, vars[0]), vectors);
  tvms_node *moving = fetch_moving(w);
  if (moving) vectors = tvms_stmt_pair(w->unit, moving, vectors);
  return tvms_contraction_close_sums(w, vectors, vars);
}

// ---- Rounds ----

// Steps of the innermost loop of the sum, or of all blocks but the last one, or -1.
static int64_t most_steps(writer *w) {
  int64_t steps = tvms_contraction_inner_steps(w);
  return steps < 0 && w->block && w->tile->flat_sum ? w->tile->sum_block : steps;
}

// Where lines are fetched at one step of many, the innermost loop of the sum is taken in rounds of as many steps as a line has
// elements, or a part of them that divides it, and lines come in front of rounds: what is done at each step has no
// branches then. 0: there is nothing to fetch, or no such number; few steps are no round. Rounds of other numbers than multiples
// of four, and such that leave steps over, are worth it for a panel.
static int64_t steps_of_round(writer *w) {
  enum { EVEN = 4 };
  bool ahead = tvms_contraction_fetches_ahead(w);
  if (!ahead && !tvms_contraction_fetches_far(w, true)
      && !tvms_contraction_fetches_resting(w))
    return 0;
  int64_t line = TVMS_CPU_CACHE_LINE * 8 / w->c->term->dtype.bits;
  int64_t steps = tvms_contraction_inner_steps(w);
  int64_t round = tvms_contraction_round_of(most_steps(w), line);
  bool even = round && round % EVEN == 0 && steps > 0 && steps % round == 0;
  return ahead || even ? round : 0;
}

// Lines of the result come in front of the rounds before the last one that begin within the lead, as many rows
// each time.
static tvms_node *fetch_at_round(writer *w, tvms_node *round, int64_t rounds,
                                 int64_t steps) {
  int64_t times = w->tile->result_lead / steps;
  if (times > rounds - 1) times = rounds - 1;
  while (w->rows % times)
    times--;
  tvms_node *first = number(w, round, rounds - 1 - times);
  return between(w, round, first, times, fetch_rows(w, round, first, w->rows / times));
}

// The round whose part of the next rows is fetched in front of a round: half of them away, if rows may not meet in the first cache.
static tvms_node *round_to_fetch(writer *w, tvms_node *round, int64_t rounds) {
  if (!w->tile->resting_apart || tvms_contraction_inner_steps(w) < 0) return round;
  tvms_node *behind = build(w, TVMS_NODE_ADD, round, number(w, round, rounds / 2));
  return build(w, TVMS_NODE_FLOOR_MOD, behind, number(w, round, rounds));
}

// What the next tile reads in the steps of a round; NULL if it is not fetched. The last row of it is in the last line.
static tvms_node *fetch_resting_for_round(writer *w, tvms_node *round, int64_t rounds,
                                          int64_t steps) {
  round = round_to_fetch(w, round, rounds);
  tvms_node *begin = build(w, TVMS_NODE_MUL, round, number(w, round, steps));
  bool across = w->tile->resting_across;
  tvms_node *step = across ? tvms_cpu_variable(w->unit, "step", round) : NULL;
  tvms_contraction_set_inner_step(w, across ? build(w, TVMS_NODE_ADD, begin, step)
                                            : begin);
  tvms_node *fetched = tvms_contraction_fetch_resting(w);
  if (!fetched || !across) return fetched;
  return tvms_cpu_loop(w->unit, step, number(w, step, steps), TVMS_FOR_SERIAL, fetched);
}

// What comes in front of a round.
static tvms_node *fetch_for_round(writer *w, tvms_node *round, int64_t rounds,
                                  int64_t steps) {
  tvms_node_vec stmts = {0};
  if (tvms_contraction_fetches_ahead(w))
    tvms_stmt_push(w->unit, &stmts,
                   tvms_contraction_fetch_ahead(w, round, rounds, steps));
  if (tvms_contraction_fetches_far(w, true))
    tvms_stmt_push(w->unit, &stmts, fetch_at_round(w, round, rounds, steps));
  tvms_node *resting = fetch_resting_for_round(w, round, rounds, steps);
  if (resting) tvms_stmt_push(w->unit, &stmts, resting);
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// So many steps of the innermost loop of the sum from `begin` on.
static tvms_node *add_steps(writer *w, tvms_node *begin, tvms_node *steps) {
  tvms_node *step = tvms_cpu_variable(w->unit, "step", begin);
  tvms_contraction_set_inner_step(w, build(w, TVMS_NODE_ADD, begin, step));
  tvms_node *body = add_terms(w), *moving = fetch_moving(w);
  if (moving) body = tvms_stmt_pair(w->unit, moving, body);
  return tvms_cpu_loop(w->unit, step, steps, TVMS_FOR_SERIAL, body);
}

// The rounds, and what they leave over, of a block of the sum that may be shorter than the others.
static tvms_node *add_in_rounds(writer *w, int64_t steps) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  bool flat = w->tile->flat_sum;
  tvms_node **inner = &vars[flat ? 0 : tvms_contraction_inner_sum(w)];
  tvms_node *round = *inner, *size = number(w, round, steps);
  int64_t known = tvms_contraction_inner_steps(w), rounds = most_steps(w) / steps;
  tvms_node *all = known < 0 ? tvms_contraction_flat_steps(w) : number(w, round, known);
  tvms_node *body = add_steps(w, build(w, TVMS_NODE_MUL, round, size), size);
  body = tvms_stmt_pair(w->unit, fetch_for_round(w, round, rounds, steps), body);
  body = tvms_cpu_loop(w->unit, round, build(w, TVMS_NODE_FLOOR_DIV, all, size),
                       TVMS_FOR_SERIAL, body);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, all, size);
  if (!tvms_node_is_int(rest, 0))
    body = tvms_stmt_pair(w->unit, body,
                          add_steps(w, build(w, TVMS_NODE_SUB, all, rest), rest));
  *inner = NULL;
  return flat ? body : tvms_contraction_close_sums(w, body, vars);
}

// Steps that are written out where the block has all of them, else a loop.
static tvms_node *add_written(writer *w) {
  tvms_node *steps = tvms_contraction_flat_steps(w);
  tvms_node *most = number(w, steps, w->tile->sum_block);
  w->full_block = true;
  tvms_node *full = add_step_by_step(w);
  w->full_block = false;
  tvms_node *is_full = build(w, TVMS_NODE_EQ, steps, most);
  return tvms_cpu_choice(w->unit, is_full, full, add_step_by_step(w));
}

tvms_node *tvms_contraction_add_up(writer *w) {
  if (tvms_contraction_has_words(w)) return tvms_contraction_add_words(w);
  if (w->tile->sum_written && tvms_contraction_inner_steps(w) < 0)
    return add_written(w);
  int64_t round = steps_of_round(w);
  tvms_node *added = round ? add_in_rounds(w, round) : add_step_by_step(w);
  return w->columns->spare
             ? tvms_stmt_pair(w->unit, added, tvms_contraction_add_spare(w))
             : added;
}
