// One tile of a contraction: its sums in registers, and what is done with them there.
#include "passes/tir/cpu/contraction_tile.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction_fetch.h"
#include "passes/tir/cpu/contraction_rest.h"
#include "passes/tir/cpu/contraction_spare.h"
#include "passes/tir/cpu/contraction_turn.h"
#include "passes/tir/cpu/contraction_words.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// ---- Elements ----

// The elements of a tile at hand: rows and vectors are written out, lanes are one vector.
typedef struct {
  tvms_node *indices[2];  // in the buffer of sums
  const void *data;
  bool
      first;  // the element is the first one of its vector, and stands for all; loops stay loops
  bool written;  // but that over vectors
} element;

typedef tvms_node *element_writer(writer *w, const element *e);

// Elements of `vectors` vectors from column `at` of the tile on.
static tvms_node *write_vectors(writer *w, element *e, element_writer *write,
                                int64_t at, int64_t slot, int64_t width,
                                int64_t vectors) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *vector = NULL, *lane = NULL, *in_row = number(w, like, 0);
  if (vectors > 1) {
    vector = tvms_cpu_variable(w->unit, "j", like);
    tvms_analyzer_bind_range(w->lanes, vector, number(w, like, 0),
                             number(w, like, vectors));
    in_row = build(w, TVMS_NODE_MUL, vector, number(w, like, width));
  }
  if (width > 1 && !e->first) {
    lane = tvms_cpu_variable(w->unit, "lane", like);
    tvms_analyzer_bind_range(w->lanes, lane, number(w, like, 0),
                             number(w, like, width));
    in_row = build(w, TVMS_NODE_ADD, in_row, lane);
  }
  e->indices[1] = build(w, TVMS_NODE_ADD, in_row, number(w, like, slot));
  if (w->word_order && vector && lane)
    in_row = tvms_contraction_word_column(w, vector, lane);
  tvms_node *place =
      build(w, TVMS_NODE_ADD, in_row, tvms_contraction_tile_column(w, at));
  if (w->place) tvms_node_map_put(&w->now, w->place, place);
  tvms_node *flat = build(w, TVMS_NODE_ADD, w->strip_begin, place);
  tvms_contraction_set_column(w, flat);
  tvms_node *body = write(w, e);
  if (lane)
    body =
        tvms_cpu_loop(w->unit, lane, number(w, like, width), TVMS_FOR_VECTORIZED, body);
  if (vector)
    body = tvms_cpu_loop(w->unit, vector, number(w, like, vectors),
                         e->first && !e->written ? TVMS_FOR_SERIAL : TVMS_FOR_UNROLLED,
                         body);
  return body;
}

static tvms_node *each(writer *w, element_writer *write, element e) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *row = NULL;
  e.indices[0] = number(w, like, 0);
  if (w->rest_row) tvms_node_map_put(&w->now, w->rest_row, number(w, w->rest_row, 0));
  if (w->row) {
    const tvms_node *axis = w->c->stage.axes[w->c->row].var;
    tvms_node *at = w->row;
    if (w->rows > 1) {
      row = e.indices[0] = tvms_cpu_variable(w->unit, "i", axis);
      at = build(w, TVMS_NODE_ADD, at, row);
      if (w->rest_row) tvms_node_map_put(&w->now, w->rest_row, row);
    }
    tvms_node_map_put(&w->now, axis, at);
  }
  const tvms_tile_columns *c = w->columns;
  tvms_node_vec stmts = {0};
  if (c->vectors)
    tvms_stmt_push(w->unit, &stmts,
                   write_vectors(w, &e, write, 0, 0, c->width, c->vectors));
  if (c->tail && !w->without_tail)
    tvms_stmt_push(
        w->unit, &stmts,
        write_vectors(w, &e, write, c->tail_at, c->width * c->vectors, c->tail, 1));
  tvms_node *body = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  if (!row) return body;
  return tvms_cpu_loop(w->unit, row, number(w, row, w->rows),
                       e.first ? TVMS_FOR_SERIAL : TVMS_FOR_UNROLLED, body);
}

static tvms_node *each_element(writer *w, element_writer *write, const void *data) {
  return each(w, write, (element){.data = data});
}

static tvms_node *sum_of(writer *w, const element *e) {
  return tvms_buffer_load_new(w->unit, w->sums, e->indices, 2, NULL, TVMS_NO_SPAN);
}

static tvms_node *set_sum(writer *w, const element *e, tvms_node *value) {
  return tvms_cpu_store(w->unit, w->sums, tvms_list_copy(w->unit, e->indices, 2),
                        value);
}

// ---- Sums ----

static void enter_epilogue(writer *w, const tvms_epilogue *epilogue) {
  for (uint32_t i = 0; i < epilogue->stage.count; i++) {
    const tvms_node *axis = w->c->stage.axes[epilogue->axis_of[i]].var;
    tvms_node_map_put(&w->now, epilogue->stage.axes[i].var,
                      tvms_node_map_get(&w->now, axis));
  }
}

static tvms_node *set_to_init(writer *w, const element *e) {
  return set_sum(w, e, w->c->init);
}

// Where sums are to be stored that are not ready.
static const tvms_store *between_blocks(writer *w) {
  if (!w->tile->sum_in_result) return w->c->stage.store;
  const tvms_epilogue *last = &w->epilogues[w->epilogue_count - 1];
  enter_epilogue(w, last);
  return last->stage.store;
}

static tvms_node *set_to_stored(writer *w, const element *e) {
  const tvms_store *out = between_blocks(w);
  tvms_list at = tvms_contraction_all_as_now(w, out->indices);
  return set_sum(
      w, e,
      tvms_buffer_load_new(w->unit, out->buffer, at.items, at.len, NULL, TVMS_NO_SPAN));
}

static tvms_node *choose(writer *w, tvms_node_kind kind, int64_t block,
                         tvms_node *then_case, tvms_node *else_case) {
  tvms_if_then_else *choice = tvms_node_make(w->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  choice->condition = build(w, kind, w->block, number(w, w->block, block));
  choice->then_case = then_case;
  choice->else_case = else_case;
  return &choice->head;
}

// Blocks of the sum behind the first go on with what the one before stored.
static tvms_node *begin_sums(writer *w) {
  tvms_node *first = each_element(w, set_to_init, NULL);
  if (!w->block) return first;
  return choose(w, TVMS_NODE_EQ, 0, first, each_element(w, set_to_stored, NULL));
}

static tvms_node *copy_moving(writer *w, const element *e) {
  (void)e;
  const tvms_buffer_load *panel = tvms_as_buffer_load(w->panel);
  tvms_node *value = tvms_contraction_as_now(w, w->c->moving);
  return tvms_cpu_store(w->unit, panel->buffer,
                        tvms_contraction_all_as_now(w, panel->indices), value);
}

tvms_node *tvms_contraction_fill_tile(writer *w) {
  if (tvms_contraction_can_turn(w)) return tvms_contraction_fill_turned(w);
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  tvms_node *row = w->row;
  w->row = NULL;
  tvms_node *filled = each_element(w, copy_moving, NULL);
  w->row = row;
  return tvms_contraction_close_sums(w, filled, vars);
}

// ---- What follows ----

// Puts `value` in the place of what is loaded from a buffer.
typedef struct {
  const tvms_node *from;
  tvms_node *value;
} replacement;

static tvms_node *replace_load(tvms_rewriter *r, tvms_node *node) {
  const replacement *with = r->self;
  return tvms_as_buffer_load(node)->buffer == with->from ? with->value : node;
}

static tvms_node *with_value(writer *w, tvms_node *expr, const tvms_node *from,
                             tvms_node *value) {
  replacement with = {from, value};
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, &with);
  r.leave[TVMS_NODE_BUFFER_LOAD] = replace_load;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

// What an epilogue makes of the sums, which stay where they are.
static tvms_node *keep(writer *w, const element *e) {
  const tvms_epilogue *epilogue = e->data;
  enter_epilogue(w, epilogue);
  tvms_node *value = tvms_contraction_as_now(w, epilogue->stage.store->value);
  return set_sum(w, e, with_value(w, value, epilogue->from, sum_of(w, e)));
}

static tvms_node *finish(writer *w, const element *e) {
  const tvms_epilogue *epilogue = e->data;
  const tvms_store *out = epilogue ? NULL : between_blocks(w);
  tvms_node *value = sum_of(w, e);
  if (epilogue) {
    enter_epilogue(w, epilogue);
    out = epilogue->stage.store;
    value =
        with_value(w, tvms_contraction_as_now(w, out->value), epilogue->from, value);
  }
  return tvms_cpu_store(w->unit, out->buffer,
                        tvms_contraction_all_as_now(w, out->indices), value);
}

// ---- What is far ----

// An operand of what follows the sums, or where it is stored.
typedef struct {
  const tvms_epilogue *TVMS_NULLABLE epilogue;
  tvms_node *load;
} far_operand;

enum { MOST_FAR = 4 };

typedef struct {
  writer *w;
  const tvms_epilogue *epilogue;
  far_operand all[MOST_FAR];
  uint32_t count;
} far_operands;

// Does an access move on by one element along the columns, and along the rows, too?
static bool follows_result(const far_operands *f, const tvms_buffer_load *load) {
  const tvms_contraction *c = f->w->c;
  const tvms_node *column = c->stage.axes[c->column].var;
  const tvms_node *row = c->stage.axes[c->row].var;
  for (uint32_t i = 0; f->epilogue && i < f->epilogue->stage.count; i++) {
    if (f->epilogue->axis_of[i] == c->column) column = f->epilogue->stage.axes[i].var;
    if (f->epilogue->axis_of[i] == c->row) row = f->epilogue->stage.axes[i].var;
  }
  int64_t step;
  return tvms_cpu_depends(f->w->unit, load->indices, row)
         && tvms_cpu_step_of(f->w->unit, load->buffer, load->indices, column, &step)
         && step == 1;
}

static void note_far(far_operands *f, tvms_node *load) {
  if (f->count < MOST_FAR && follows_result(f, tvms_as_buffer_load(load)))
    f->all[f->count++] = (far_operand){f->epilogue, load};
}

static tvms_walk_step note_operand(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  far_operands *f = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  if (tvms_as_buffer_load(node)->buffer != f->epilogue->from) note_far(f, node);
  return TVMS_WALK_SKIP;
}

static tvms_node *fetch(writer *w, const element *e) {
  const far_operand *far = e->data;
  if (far->epilogue) enter_epilogue(w, far->epilogue);
  tvms_node *load = tvms_contraction_as_now(w, far->load);
  return w->tile->result_lead ? tvms_cpu_prefetch_near(w->unit, load, 0)
                              : tvms_cpu_prefetch(w->unit, load, 0);
}

// Lines of a result that no near cache holds, and of what is read along with it, come while the tile adds up.
static void fetch_far(writer *w, tvms_node_vec *stmts) {
  far_operands f = {.w = w};
  for (uint32_t i = 0; i < w->epilogue_count; i++) {
    f.epilogue = &w->epilogues[i];
    tvms_visitor visitor = {.self = &f, .enter = note_operand};
    tvms_walk(&w->unit->context->memory, f.epilogue->stage.store->value, &visitor);
  }
  const tvms_store *out =
      w->epilogue_count ? f.epilogue->stage.store : w->c->stage.store;
  note_far(&f, tvms_buffer_load_new(w->unit, out->buffer, out->indices.items,
                                    out->indices.len, NULL, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < f.count; i++)
    tvms_stmt_push(w->unit, stmts,
                   each(w, fetch, (element){.data = &f.all[i], .first = true}));
}

// Rows that are left over are few: it is not worth its code.
static bool fetches(const writer *w, bool late) {
  return w->tile->result_far && w->row && !w->left_over
         && late == (w->tile->result_lead != 0);
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
  fetch_far(w, &stmts);
  w->row = row;
  w->rows = rows;
  choice->then_case = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  return &choice->head;
}

// ---- Adding up ----

static tvms_node *add_term(writer *w, const element *e) {
  tvms_node *term = tvms_contraction_as_now(w, tvms_contraction_with_rest(w, w->term));
  return set_sum(w, e, build(w, TVMS_NODE_ADD, sum_of(w, e), term));
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
  tvms_node *made =
      each(w, fetch_line, (element){.data = m.found, .first = true, .written = true});
  w->row = row;
  return made;
}

static tvms_node *add_up(writer *w) {
  if (tvms_contraction_has_words(w)) return tvms_contraction_add_words(w);
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  w->without_tail = w->columns->spare;
  tvms_node *vectors = each_element(w, add_term, NULL);
  w->without_tail = false;
  tvms_node *resting = tvms_contraction_fetch_resting(w, vars[0]);
  if (resting) vectors = tvms_stmt_pair(w->unit, resting, vectors);
  if (fetches(w, true))
    vectors = tvms_stmt_pair(w->unit, fetch_at(w, vars[0]), vectors);
  tvms_node *moving = fetch_moving(w);
  if (moving) vectors = tvms_stmt_pair(w->unit, moving, vectors);
  vectors = tvms_contraction_close_sums(w, vectors, vars);
  return w->columns->spare
             ? tvms_stmt_pair(w->unit, vectors, tvms_contraction_add_spare(w))
             : vectors;
}

static tvms_node *end_sums(writer *w) {
  uint32_t count = w->epilogue_count;
  bool words = tvms_contraction_has_words(w);
  tvms_node_vec stmts = {0};
  w->word_order = words;
  for (uint32_t i = 0; i + 1 < count; i++)
    tvms_stmt_push(w->unit, &stmts, each_element(w, keep, &w->epilogues[i]));
  tvms_stmt_push(w->unit, &stmts,
                 each_element(w, finish, count ? &w->epilogues[count - 1] : NULL));
  w->word_order = false;
  tvms_node *last = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  if (!w->block || (!count && !words)) return last;
  return choose(w, TVMS_NODE_EQ, w->blocks - 1, last, each_element(w, finish, NULL));
}

// What the tile keeps is allocated around it.
static tvms_node *tile_block(writer *w, tvms_node *body) {
  tvms_node *allocated[2] = {w->sums};
  if (w->rest) allocated[1] = tvms_as_buffer_load(w->rest)->buffer;
  return tvms_cpu_block(w->unit, "tile", (tvms_list){allocated, w->rest ? 2 : 1}, body);
}

// Blocks of the sum are steps of a reduction, and a block of TIR says so with its axes: then what
// they hand on to each other is known to live as long as their loop.
static tvms_node *over_blocks(writer *w, tvms_node *body) {
  tvms_node *iters[TVMS_MOST_LOOPS_AROUND], *values[TVMS_MOST_LOOPS_AROUND];
  tvms_node_map axes;
  tvms_node_map_init(&axes, &w->unit->context->memory);
  for (uint32_t i = 0; i < w->around_count; i++) {
    tvms_iter_var *iter = tvms_node_make(w->unit, ITER_VAR, TVMS_NO_SPAN);
    values[i] = w->around[i].var;
    iter->dom = tvms_range_new(w->unit, number(w, values[i], 0), w->around[i].extent,
                               TVMS_NO_SPAN);
    iter->var =
        tvms_cpu_variable(w->unit, values[i] == w->block ? "vb" : "v", values[i]);
    iter->iter_type =
        values[i] == w->block ? TVMS_ITER_COMM_REDUCE : TVMS_ITER_DATA_PAR;
    tvms_node_map_put(&axes, values[i], iter->var);
    iters[i] = &iter->head;
  }
  body = tvms_substitute(w->unit, body, &axes);
  tvms_node_map_fini(&axes);
  tvms_node *made = tile_block(w, body);
  tvms_block_realize *realize = tvms_as_block_realize(made);
  tvms_as_block(realize->block)->iter_vars =
      tvms_list_copy(w->unit, iters, w->around_count);
  realize->iter_values = tvms_list_copy(w->unit, values, w->around_count);
  return made;
}

tvms_node *tvms_contraction_write_tile(writer *w) {
  const tvms_node *like = tvms_contraction_column_var(w);
  int64_t columns = w->columns->width * w->columns->vectors + w->columns->tail;
  tvms_node *shape[] = {number(w, like, w->rows), number(w, like, columns)};
  w->sums = tvms_cpu_buffer(w->unit, "sums", w->c->stage.store->value->dtype, "local",
                            shape, 2);
  tvms_node_vec stmts = {0};
  tvms_contraction_make_rest(w);
  tvms_contraction_fetch_next(w, &stmts);
  if (fetches(w, false)) fetch_far(w, &stmts);
  tvms_stmt_push(w->unit, &stmts, begin_sums(w));
  if (w->rest) tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_rest(w));
  tvms_stmt_push(w->unit, &stmts, add_up(w));
  tvms_stmt_push(w->unit, &stmts, end_sums(w));
  tvms_node *body = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  if (w->block) return over_blocks(w, body);
  return tile_block(w, body);
}
