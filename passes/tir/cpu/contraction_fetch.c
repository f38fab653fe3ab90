// Fetching into the caches: what the next panel is made of (tile number n of the rows takes some steps of the sum), what
// the next tile of rows reads, and lines of the result.
#include "passes/tir/cpu/contraction_fetch.h"

#include "ir/fold.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction_element.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/words.h"

typedef tvms_contraction_writer writer;
typedef tvms_contraction_element element;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// Where the strip begins that is `strips` behind the one at hand.
static tvms_node *strip_behind(writer *w, tvms_node *strips) {
  tvms_node *one = number(w, strips, w->strip->columns * w->tile->group);
  return build(w, TVMS_NODE_ADD, w->strip_begin, build(w, TVMS_NODE_MUL, strips, one));
}

static tvms_node *next_strip(writer *w) {
  return strip_behind(w, number(w, tvms_contraction_column_var(w), 1));
}

// `column` columns behind the beginning of the strip at `next`, as far as there is one.
static tvms_node *fetch(writer *w, tvms_node *next, tvms_node *column) {
  int64_t one = w->strip->columns;
  int64_t columns = tvms_contraction_column_steps(w->c);
  tvms_node *last = number(w, column, columns - one);
  if (columns < 0)
    last = build(w, TVMS_NODE_SUB, tvms_contraction_columns(w->unit, w->c),
                 number(w, column, one));
  tvms_contraction_set_column(
      w, build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MIN, next, last), column));
  return tvms_cpu_prefetch(w->unit, tvms_contraction_as_now(w, w->c->moving), 0);
}

// The lines of a row of the strip at `next`. One that it ends in, but does not begin, is fetched as well: unless strips lie
// side by side.
static tvms_node *fetch_lines(writer *w, tvms_node *next, uint8_t kind) {
  int64_t line = TVMS_CPU_CACHE_LINE * 8 / w->c->moving->dtype.bits;
  int64_t columns = w->strip->columns, lines = (columns + line - 1) / line;
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *j = tvms_cpu_variable(w->unit, "j", like);
  tvms_node *body = fetch(w, next, build(w, TVMS_NODE_MUL, j, number(w, like, line)));
  body = tvms_cpu_loop(w->unit, j, number(w, like, lines), kind, body);
  if (w->tile->beforehand || tvms_contraction_begins_lines(w->unit, w->c)) return body;
  return tvms_stmt_pair(w->unit, body, fetch(w, next, number(w, like, columns - 1)));
}

void tvms_contraction_fetch_next(writer *w, tvms_node_vec *stmts) {
  int64_t share = w->tile->panel_fetch;
  if (!share || !w->number || w->part || w->columns != w->strip->parts
      || tvms_node_is_int(w->strip->count, 1)
      || w->number->dtype.bits != w->step->dtype.bits
      || w->number->dtype.bits != tvms_contraction_column_var(w)->dtype.bits)
    return;
  tvms_node *k = tvms_cpu_variable(w->unit, "k", w->step);
  tvms_node *first = build(w, TVMS_NODE_MUL, w->number, number(w, k, share));
  tvms_node *last =
      build(w, TVMS_NODE_SUB, tvms_contraction_flat_steps(w), number(w, k, share));
  if (tvms_contraction_steps(w->c) < 0)
    last = build(w, TVMS_NODE_MAX, last, number(w, k, 0));
  tvms_contraction_set_step(
      w, build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MIN, first, last), k));
  tvms_node *body = fetch_lines(w, next_strip(w), TVMS_FOR_SERIAL);
  tvms_stmt_push(w->unit, stmts,
                 tvms_cpu_loop(w->unit, k, number(w, k, share), TVMS_FOR_SERIAL, body));
}

// ---- The next panel, in rounds ----

// Tiles of rows that go through a panel one after the other, or -1.
static int64_t tiles_of_panel(const writer *w) {
  int64_t tiles = w->tiles;
  for (uint32_t i = 0; i < w->c->stage.count && tiles > 0; i++) {
    if (w->c->roles[i] != TVMS_AXIS_OUTER) continue;
    int64_t size = tvms_cpu_number(w->c->stage.axes[i].extent);
    tiles = size < 1 || size > INT16_MAX ? -1 : tiles * size;
  }
  return tiles;
}

// Which of them the tile at hand is.
static tvms_node *number_of_tile(writer *w) {
  tvms_node *at = number(w, w->step, 0);
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    const tvms_stage_axis *axis = &w->c->stage.axes[i];
    if (w->c->roles[i] != TVMS_AXIS_OUTER || tvms_stage_axis_is_single(axis)) continue;
    at = build(w, TVMS_NODE_MUL, at, axis->extent);
    at = build(w, TVMS_NODE_ADD, at, tvms_node_map_get(&w->now, axis->var));
  }
  if (!w->number) return at;
  return build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, at, number(w, at, w->tiles)),
               w->number);
}

// Are the variables of tiles, steps and columns of one width?
static bool same_width(const writer *w) {
  int bits = w->step->dtype.bits;
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    if (w->c->stage.axes[i].var->dtype.bits != bits) return false;
  }
  return true;
}

// A single tile reads a panel as fast as it would fetch it, if that lies there from end to end.
enum { FEWEST_TILES = 2 };

bool tvms_contraction_fetches_ahead(const writer *w) {
  if (!w->tile->panel_ahead || !w->row || w->left_over || w->part
      || w->columns != w->strip->parts || tvms_node_is_int(w->strip->count, 1)
      || w->c->moving->kind != TVMS_NODE_BUFFER_LOAD || !same_width(w))
    return false;
  int64_t tiles = tiles_of_panel(w);
  if (tiles < 0) return w->number && w->tiles < 0 && !tvms_contraction_has_outer(w->c);
  return FEWEST_TILES <= tiles && tiles <= TVMS_MOST_TILES_AHEAD;
}

// So many steps before the end of the sum, or of the block at hand, whose steps rounds go through, `most` of them, but for what they
// leave over.
static tvms_node *steps_before_end(writer *w, int64_t most, int64_t steps) {
  bool short_block = w->block && tvms_contraction_inner_steps(w) < 0;
  tvms_node *end =
      short_block ? tvms_contraction_flat_steps(w) : number(w, w->step, most);
  return build(w, TVMS_NODE_SUB, end, number(w, end, steps));
}

// Tiles whose number is not known: each takes an equal share of the steps, as long as there are any.
static tvms_node *fetch_unknown_share(writer *w, tvms_node *next, tvms_node *round,
                                      int64_t rounds, int64_t steps) {
  tvms_node *k = tvms_cpu_variable(w->unit, "row", round);
  // There may be no tile at all where the text says how many steps each one takes.
  tvms_node *tiles = build(w, TVMS_NODE_MAX, w->tile_count, number(w, k, 1));
  tvms_node *share = build(w, TVMS_NODE_FLOOR_DIV, number(w, k, steps - 1), tiles);
  share = build(w, TVMS_NODE_ADD, share, number(w, k, 1));
  tvms_node *at = build(w, TVMS_NODE_MUL, w->number, number(w, k, rounds));
  at = build(w, TVMS_NODE_MUL, build(w, TVMS_NODE_ADD, at, round), share);
  at = build(w, TVMS_NODE_ADD, at, k);
  tvms_contraction_set_inner_step(
      w, build(w, TVMS_NODE_MIN, at, steps_before_end(w, rounds * steps, 1)));
  tvms_node *body = fetch_lines(w, next, TVMS_FOR_UNROLLED);
  body = tvms_cpu_loop(w->unit, k, share, TVMS_FOR_SERIAL, body);
  tvms_node *some = build(w, TVMS_NODE_LT, build(w, TVMS_NODE_MUL, w->number, share),
                          number(w, k, steps));
  if (w->tile->beforehand) {
    tvms_node *fewest = number(w, k, FEWEST_TILES);
    some = build(w, TVMS_NODE_AND, build(w, TVMS_NODE_GE, w->tile_count, fewest), some);
  }
  return tvms_cpu_choice(w->unit, some, body, NULL);
}

// Lines of the strip at `next`: as many of the round's steps as there are tiles that share them.
static tvms_node *fetch_share(writer *w, tvms_node *next, tvms_node *round,
                              int64_t rounds, int64_t steps) {
  int64_t tiles = tiles_of_panel(w), share = (steps + tiles - 1) / tiles;
  if (tiles < 0) return fetch_unknown_share(w, next, round, rounds, steps);
  tvms_node *k = tvms_cpu_variable(w->unit, "row", round);
  tvms_node *at = build(w, TVMS_NODE_MUL, number_of_tile(w), number(w, k, rounds));
  at = build(w, TVMS_NODE_MUL, build(w, TVMS_NODE_ADD, at, round), number(w, k, share));
  at = build(w, TVMS_NODE_MIN, at, steps_before_end(w, rounds * steps, share));
  tvms_contraction_set_inner_step(w, build(w, TVMS_NODE_ADD, at, k));
  tvms_node *body = fetch_lines(w, next, TVMS_FOR_UNROLLED);
  return tvms_cpu_loop(w->unit, k, number(w, k, share), TVMS_FOR_UNROLLED, body);
}

// The same of the next block of a strip, or, behind the last one, of the first block of the next strip.
static tvms_node *fetch_share_of_block(writer *w, tvms_node *round, int64_t rounds,
                                       int64_t steps) {
  tvms_node *block = w->block, *blocks = w->blocks;
  tvms_node *next = build(w, TVMS_NODE_ADD, block, number(w, block, 1));
  tvms_node *strips = build(w, TVMS_NODE_FLOOR_DIV, next, blocks);
  strips = tvms_build_cast(w->unit, tvms_contraction_column_var(w)->dtype, strips,
                           TVMS_NO_SPAN);
  w->block = build(w, TVMS_NODE_FLOOR_MOD, next, blocks);
  tvms_node *made = fetch_share(w, strip_behind(w, strips), round, rounds, steps);
  w->block = block;
  return made;
}

tvms_node *tvms_contraction_fetch_ahead(writer *w, tvms_node *round, int64_t rounds,
                                        int64_t steps) {
  if (w->block && tvms_tile_blocks_in_strip(w->tile))
    return fetch_share_of_block(w, round, rounds, steps);
  return fetch_share(w, next_strip(w), round, rounds, steps);
}

// ---- Rows of the next tile ----

// Is it once for all strips of a group that the tile at hand fetches them, and not for the first one? Known beforehand of the
// last strip, where that is shorter.
static bool has_fetched_rows(const writer *w) {
  return w->tile->group > 1 && tvms_node_is_int_imm(w->strip_number)
         && !tvms_node_is_int(w->strip_number, 0);
}

bool tvms_contraction_fetches_resting(const writer *w) {
  return w->tile->resting_far && w->next_row && !has_fetched_rows(w);
}

tvms_node *tvms_contraction_fetch_resting(writer *w) {
  if (!tvms_contraction_fetches_resting(w)) return NULL;
  const tvms_node *axis = w->c->stage.axes[w->c->row].var;
  bool across = w->tile->resting_across;
  tvms_node *i =
      across ? number(w, axis, w->rows - 1) : tvms_cpu_variable(w->unit, "i", axis);
  tvms_contraction_set_row(w, build(w, TVMS_NODE_ADD, w->next_row, i));
  tvms_node *load = tvms_contraction_as_now(w, w->c->resting);
  tvms_node *fetched = tvms_cpu_prefetch(w->unit, load, 0);
  if (!across)
    fetched =
        tvms_cpu_loop(w->unit, i, number(w, i, w->rows), TVMS_FOR_UNROLLED, fetched);
  if (w->tile->group == 1) return fetched;
  // Once for all strips of a group.
  tvms_node *first =
      build(w, TVMS_NODE_EQ, w->strip_number, number(w, w->strip_number, 0));
  return tvms_cpu_choice(w->unit, first, fetched, NULL);
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

static tvms_node *fetch_operand(writer *w, const element *e) {
  const far_operand *far = e->data;
  if (far->epilogue) tvms_contraction_enter_epilogue(w, far->epilogue);
  tvms_node *load = tvms_contraction_as_now(w, far->load);
  return w->tile->result_lead ? tvms_cpu_prefetch_near(w->unit, load, 0)
                              : tvms_cpu_prefetch(w->unit, load, 0);
}

// Lines of a result that no near cache holds, and of what is read along with it, come while the tile adds up.
void tvms_contraction_fetch_far(writer *w, tvms_node_vec *stmts) {
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
                   tvms_contraction_each(w, fetch_operand,
                                         (element){.data = &f.all[i], .first = true}));
}

// Rows that are left over are few: it is not worth its code.
bool tvms_contraction_fetches_far(const writer *w, bool late) {
  return w->tile->result_far && w->row && !w->left_over
         && late == (w->tile->result_lead != 0);
}
