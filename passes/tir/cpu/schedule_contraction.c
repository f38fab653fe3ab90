// Contractions as ScheduleCPU makes them: their tiles, what is done with these in registers, and versions for few rows.
#include "passes/tir/cpu/schedule_contraction.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/beforehand.h"
#include "passes/tir/cpu/contraction_border.h"
#include "passes/tir/cpu/contraction_few_rows.h"
#include "passes/tir/cpu/contraction_join.h"
#include "passes/tir/cpu/contraction_report.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/epilogue_join.h"
#include "passes/tir/cpu/epilogues.h"
#include "passes/tir/cpu/groups.h"
#include "passes/tir/cpu/nodes.h"
#include "support/diag_ids.h"

typedef tvms_cpu_scheduler scheduler;

void tvms_cpu_tell_not_tiled(scheduler *s, const tvms_stage *stage, const char *why) {
  tvms_pass_remark(s->run, TVMS_REMARK_MISSED, TVMS_D_not_tiled, stage->nest->span,
                   stage->name, why);
}

static void tell_tiled(scheduler *s, const tvms_contraction *c, const tvms_tile *tile,
                       uint32_t epilogues) {
  tvms_pass_count(s->run, "contractions tiled", 1);
  tvms_strbuf axes, how;
  tvms_strbuf_init(&axes, &s->unit->context->memory);
  tvms_strbuf_init(&how, &s->unit->context->memory);
  tvms_contraction_report_axes(c, &axes);
  tvms_contraction_report_tile(c, tile, epilogues, &how);
  tvms_pass_remark(s->run, TVMS_REMARK_PASSED, TVMS_D_tiled, c->stage.nest->span,
                   c->stage.name, tvms_strbuf_text(&axes), tvms_strbuf_text(&how));
  tvms_strbuf_fini(&how);
  tvms_strbuf_fini(&axes);
}

// Constant operands are laid out by a statement of their own.
static void lay_out(scheduler *s, tvms_contraction *c, tvms_tile *tile, tvms_list stmts,
                    uint32_t at) {
  tvms_beforehand made;
  if (!s->rooted || s->within
      || !tvms_cpu_lay_out_beforehand(s->unit, s->function, c, tile,
                                      at ? &stmts.items[at - 1] : NULL, &made))
    return;
  tvms_contraction laid_out;
  if (tvms_contraction_find_like(s->unit, c, &made.stage, &laid_out)) return;
  *c = laid_out;
  tvms_tile_lay_out(&s->target, c, tile);
  tvms_stmt_push(s->unit, &s->preparers, made.preparer);
  if (made.adder) tvms_stmt_push(s->unit, &s->preparers, made.adder);
  tvms_stmt_push(s->unit, &s->added, made.buffer);
}

// What is computed while a tile is in registers: `stages`, how many statements of the body they were, and the buffers that
// nothing uses then.
typedef struct {
  tvms_epilogue *stages;
  uint32_t count, used;
  tvms_list gone;
} epilogues;

static void add_all(tvms_unit *unit, tvms_list *to, const tvms_node_map *from) {
  for (uint32_t i = 0; i < from->cap; i++) {
    const tvms_node_pair *pair = &from->pairs[i];
    if (pair->key) *to = tvms_list_with(unit, *to, pair->value);
  }
}

// The stages behind the contraction at statement `at`. Where the result of the last one is read by several, these
// are one if they can be.
static epilogues read_epilogues(scheduler *s, const tvms_contraction *c,
                                const tvms_tile *tile, tvms_list allocated,
                                tvms_list stmts, uint32_t at) {
  epilogues b = {
      .stages = tvms_arena_array(&s->unit->arena, tvms_epilogue, TVMS_MOST_EPILOGUES)};
  b.used = b.count =
      tvms_cpu_read_epilogues(s->unit, c, tile, allocated, stmts, at + 1, b.stages);
  const tvms_store *last = b.count ? b.stages[b.count - 1].stage.store : c->stage.store;
  tvms_node_map gone;
  tvms_node_map_init(&gone, &s->unit->context->memory);
  tvms_list joined = tvms_cpu_join_epilogue(s->unit, allocated, stmts, at + 1 + b.count,
                                            last->buffer, &gone);
  uint32_t fewer = stmts.len - joined.len, before = b.count;
  if (fewer)
    b.count =
        tvms_cpu_read_epilogues(s->unit, c, tile, allocated, joined, at + 1, b.stages);
  if (b.count > before) {
    b.used = b.count + fewer;
    add_all(s->unit, &b.gone, &gone);
  }
  tvms_node_map_fini(&gone);
  return b;
}

// The number of the first stage behind the contraction that makes another data type of what it reads, which is `*buffer`; 0: there
// is none.
static uint32_t change_of_dtype(scheduler *s, const tvms_contraction *c,
                                tvms_list stmts, uint32_t at,
                                const tvms_node **buffer) {
  *buffer = c->stage.store->buffer;
  for (uint32_t i = at + 1; i < stmts.len; i++) {
    tvms_stage stage;
    if (tvms_stage_read(s->unit, stmts.items[i], &stage)) return 0;
    if (!tvms_dtype_same(stage.store->value->dtype, c->stage.store->value->dtype))
      return i;
    *buffer = stage.store->buffer;
  }
  return 0;
}

// The same where stages behind a change of the data type, which goes through memory, are one stage with it.
static epilogues find_epilogues(scheduler *s, const tvms_contraction *c,
                                const tvms_tile *tile, tvms_list allocated,
                                tvms_list stmts, uint32_t at) {
  const tvms_node *buffer;
  uint32_t change = change_of_dtype(s, c, stmts, at, &buffer);
  tvms_node_map gone;
  tvms_node_map_init(&gone, &s->unit->context->memory);
  tvms_list joined = stmts;
  if (change)
    joined = tvms_cpu_join_changed(s->unit, allocated, stmts, change, buffer, &gone);
  epilogues b = read_epilogues(s, c, tile, allocated, joined, at);
  if (joined.len < stmts.len && at + b.used >= change) {
    b.used += stmts.len - joined.len;
    add_all(s->unit, &b.gone, &gone);
  } else if (joined.len < stmts.len) {
    b = read_epilogues(s, c, tile, allocated, stmts, at);
  }
  tvms_node_map_fini(&gone);
  return b;
}

// Did an earlier statement use a buffer, too, for something that it held then?
static bool is_used_before(scheduler *s, tvms_list stmts, uint32_t at,
                           const tvms_node *buffer) {
  for (uint32_t i = 0; i < at; i++) {
    if (tvms_cpu_mentions(s->unit, stmts.items[i], buffer)) return true;
  }
  return false;
}

static tvms_node *compare(scheduler *s, tvms_node_kind kind, tvms_node *expr,
                          int64_t with) {
  return tvms_build_binary(s->unit, kind, expr,
                           tvms_int_imm_new(s->unit, expr->dtype, with, TVMS_NO_SPAN),
                           TVMS_NO_SPAN);
}

// Are there as many rows and columns as tiles pay for, where their numbers are not known? NULL: they are, or tiles pay anyway.
static tvms_node *TVMS_NULLABLE is_large(scheduler *s, const tvms_contraction *c,
                                         const tvms_tile *tile) {
  enum { FEWEST_ROWS = 3 };  // that a panel is copied for
  tvms_node *wide = NULL, *high = NULL;
  if (tvms_contraction_column_steps(c) < 0)
    wide = compare(s, TVMS_NODE_GE, tvms_contraction_columns(s->unit, c),
                   tvms_tile_least_lanes(tile));
  if (!tvms_contraction_knows_rows(c) && tile->packs && !tile->few_rows)
    high = compare(s, TVMS_NODE_GE, c->stage.axes[c->row].extent, FEWEST_ROWS);
  if (!wide || !high) return wide ? wide : high;
  return tvms_build_binary(s->unit, TVMS_NODE_AND, high, wide, TVMS_NO_SPAN);
}

// The same statements without tiles, with the buffers between them that tiles do not need.
static tvms_node *untiled(scheduler *s, tvms_list stmts, tvms_list between) {
  scheduler inner = *s;
  inner.untiled = inner.rooted = true;
  inner.preparers = (tvms_node_vec){0};
  inner.added = (tvms_node_vec){0};
  tvms_node *body = stmts.items[0];
  if (stmts.len > 1) body = tvms_seq_new(s->unit, stmts.items, stmts.len, body->span);
  tvms_node *made = tvms_cpu_schedule_body(&inner, between, body);
  tvms_list kept = made ? tvms_cpu_without_gone(&inner, between) : between;
  s->gone = inner.gone;
  tvms_vec_fini(&s->unit->context->memory, &inner.added);
  if (!made) made = body;
  return kept.len ? tvms_cpu_block(s->unit, "few", kept, made) : made;
}

// What the stages read from each other is in registers; the result of the contraction only if it does not stay.
static void note_gone(scheduler *s, epilogues *b, tvms_list stmts, uint32_t at,
                      bool stays) {
  for (uint32_t i = stays ? 1 : 0; i < b->count; i++) {
    tvms_node *from = (tvms_node *)(uintptr_t)b->stages[i].from;
    if (!is_used_before(s, stmts, at, from))
      b->gone = tvms_list_with(s->unit, b->gone, from);
  }
}

// Few rows whose length changes with loops around: the lines of a triangle are too short for tiles.
static bool is_short_line(const tvms_contraction *c) {
  return tvms_contraction_column_steps(c) < 0 && !tvms_contraction_keeps_sizes(c)
         && tvms_contraction_uses(c) < TVMS_FEWEST_ROWS_IN_PLACE;
}

// Windows that read their lines where these lie go through a page for each channel, of which the processor knows the places of 64 or so
// at once; many rows are worth copies of several lines (64 filters of 64 channels of 56 x 56 take 12 % less time so, 256 of 256 channels
// of 32 x 32 a fifth, but 32 of 192 channels a fifth more). Long vectors were as fast either way.
static void take_lines_together(scheduler *s, tvms_contraction *c) {
  enum { PAGES = 64, FEWEST_ROWS = 48 };
  tvms_contraction together;
  if (s->target.vector_registers < TVMS_MANY_REGISTERS && c->column_count == 1
      && c->contiguous && c->taps > 1 && tvms_contraction_uses(c) >= FEWEST_ROWS
      && tvms_contraction_pages(s->unit, c) >= PAGES
      && !tvms_contraction_find_lines(s->unit, c, TVMS_LINES_TOGETHER, &together)
      && tvms_contraction_column_steps(&together) >= 0)
    *c = together;
}

// Lines of unknown length are columns together if all stages behind the contraction go through them so, too.
static void choose_lines(scheduler *s, tvms_contraction *c, tvms_list allocated,
                         tvms_list stmts, uint32_t at) {
  if (tvms_contraction_column_steps(c) >= 0) {
    take_lines_together(s, c);
    return;
  }
  if (c->column_count < 2) return;
  tvms_tile tile = tvms_tile_choose(s->unit, &s->target, c, s->reorders);
  epilogues b = find_epilogues(s, c, &tile, allocated, stmts, at);
  tvms_contraction apart;
  if (!tvms_contraction_keeps_columns(s->unit, c, b.stages, b.count)
      && !tvms_contraction_find_lines(s->unit, c, TVMS_LINES_APART, &apart))
    *c = apart;
}

// ---- Versions ----

// A contraction as it is planned: its tile, and those for few rows.
typedef struct {
  tvms_contraction c;
  tvms_tile tile;
  tvms_few_rows few;
  uint32_t axis;  // of a version: the one that has one step
} plan;

enum { MOST_VERSIONS = 2 };

typedef struct {
  plan items[MOST_VERSIONS];
  uint32_t count;
} versions;

static void plan_few(scheduler *s, plan *p) {
  p->few =
      tvms_contraction_plan_few_rows(s->unit, &s->target, &p->c, &p->tile, s->reorders);
  // They have no nests of their own if one number of them is none that is tiled.
  p->tile.few_rows = p->few.wanted;
}

// The contraction where `axis` has one step; false: it is none then.
static bool plan_version(scheduler *s, const plan *p, uint32_t axis, plan *made) {
  *made = (plan){.axis = axis};
  if (tvms_contraction_find_for(s->unit, &p->c, axis, 1, &made->c)) return false;
  made->tile = tvms_tile_choose(s->unit, &s->target, &made->c, s->reorders);
  plan_few(s, made);
  return true;
}

// Rows of a batch, both of them unknown in number, or one of them: how a large operand is read best depends on how many there are in
// all, but a single sequence, or a single row of each, is as common as many. Are versions for these wanted?
static bool wants_versions(scheduler *s, const tvms_contraction *c,
                           const tvms_tile *tile) {
  int64_t cache = tvms_target_cache(&s->target, 1, 256 * 1024);
  uint32_t outer = 0;
  for (uint32_t i = 0; i < c->stage.count; i++)
    outer +=
        c->roles[i] == TVMS_AXIS_OUTER && !tvms_stage_axis_is_single(&c->stage.axes[i]);
  return outer == 1 && !tile->beforehand && c->one_sum
         && 2 * tvms_contraction_moving_bytes(c) >= cache;
}

// The versions for one sequence, and for one row of each.
static versions plan_versions(scheduler *s, const plan *p) {
  versions all = {.count = 0};
  const tvms_contraction *c = &p->c;
  if (!wants_versions(s, c, &p->tile)) return all;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    bool rows = c->roles[i] == TVMS_AXIS_OUTER || c->roles[i] == TVMS_AXIS_ROW;
    if (rows && tvms_cpu_number(c->stage.axes[i].extent) < 0
        && plan_version(s, p, i, &all.items[all.count]))
      all.count++;
  }
  return all;
}

// Takes rows of two axes as one where that leaves fewer of them over, or larger tiles, and rows of an unknown number wherever it can be.
static void join_rows(scheduler *s, const epilogues *b, tvms_contraction *c,
                      tvms_tile *tile) {
  enum { WORTH = 24 };  // such a part of the time
  tvms_contraction joined;
  bool known = tvms_contraction_knows_rows(c);
  if (tile->lines || (!known && (tile->few_rows || wants_versions(s, c, tile)))
      || !tvms_contraction_join_rows(s->unit, c, b->stages, b->count, &joined))
    return;
  tvms_tile made = tvms_tile_choose(s->unit, &s->target, &joined, s->reorders);
  if (tile->beforehand) tvms_tile_lay_out(&s->target, &joined, &made);
  if (made.strip != tile->strip || made.packs != tile->packs) return;
  int64_t before = known ? tvms_tile_rows_time(c, tile) : 0;
  if (known && before - tvms_tile_rows_time(&joined, &made) <= before / WORTH) return;
  *c = joined;
  *tile = made;
}

// The contraction by panels of several lines, where their length or number is not known. Tiles of rows may overlap then.
static bool plan_lines(scheduler *s, const plan *p, const epilogues *b, plan *made) {
  *made = (plan){.axis = 0};
  return !p->tile.beforehand && !p->c.joins
         && tvms_cpu_may_store_twice(s->unit, b->stages, b->count)
         && !tvms_contraction_find_lines(s->unit, &p->c, TVMS_LINES_TOGETHER, &made->c)
         && tvms_contraction_keeps_columns(s->unit, &made->c, b->stages, b->count)
         && tvms_tile_choose_lines(s->unit, &s->target, &made->c, &made->tile);
}

static bool takes_blocks(const plan *p) {
  return p->tile.sum_block || p->few.blocks;
}

static tvms_node *write_plan(scheduler *s, plan *p, const epilogues *b, bool room) {
  p->tile.sum_in_result = room;
  return tvms_contraction_few_rows_nest(s->unit, &p->few, &p->c, &p->tile, b->stages,
                                        b->count, room);
}

// `otherwise`, or the nest of a version where its axis has one step and its tiles pay.
static tvms_node *or_version(scheduler *s, plan *p, const epilogues *b, bool room,
                             const tvms_contraction *c, tvms_node *otherwise) {
  tvms_node *fits = compare(s, TVMS_NODE_EQ, c->stage.axes[p->axis].extent, 1);
  tvms_node *large = is_large(s, &p->c, &p->tile);
  if (large)
    fits = tvms_build_binary(s->unit, TVMS_NODE_AND, fits, large, TVMS_NO_SPAN);
  return tvms_cpu_choice(s->unit, fits, write_plan(s, p, b, room), otherwise);
}

// `otherwise`, or the nest of panels of several lines, where these have room there and there are the columns of a vector at least. A line
// has one: of a window that is larger than the image both sizes may be less than 0, and their product is not.
static tvms_node *or_lines(scheduler *s, plan *p, const epilogues *b, bool room,
                           tvms_node *otherwise) {
  tvms_node *length = p->c.stage.axes[p->c.column].extent;
  tvms_node *columns = tvms_contraction_columns(s->unit, &p->c);
  tvms_node *fits = tvms_build_binary(
      s->unit, TVMS_NODE_AND, compare(s, TVMS_NODE_GE, length, 1),
      compare(s, TVMS_NODE_LE, length, tvms_tile_longest_line(&p->tile)), TVMS_NO_SPAN);
  fits =
      tvms_build_binary(s->unit, TVMS_NODE_AND, fits,
                        compare(s, TVMS_NODE_GE, columns, p->tile.lanes), TVMS_NO_SPAN);
  return tvms_cpu_choice(s->unit, fits, write_plan(s, p, b, room), otherwise);
}

tvms_node *tvms_cpu_schedule_contraction(scheduler *s, tvms_list allocated,
                                         tvms_list stmts, uint32_t at, uint32_t *used) {
  tvms_stage stage;
  plan p = {.axis = 0};
  if (s->untiled || tvms_stage_read(s->unit, stmts.items[at], &stage)
      || !tvms_stage_has_sums(&stage))
    return NULL;
  (void)tvms_cpu_split_groups(s->unit, &stage);
  while (tvms_cpu_split_reshaped(s->unit, &stage, false))
    continue;
  if (tvms_contraction_find(s->unit, &stage, &p.c)) return NULL;
  p.c.apart = s->noalias;
  p.c.changes = s->within || s->around.len;
  if (is_short_line(&p.c)) return NULL;
  choose_lines(s, &p.c, allocated, stmts, at);
  p.tile = tvms_tile_choose(s->unit, &s->target, &p.c, s->reorders);
  lay_out(s, &p.c, &p.tile, stmts, at);
  if (s->reorders) tvms_contraction_find_border(s->unit, stmts, at, &p.tile, &p.c);
  epilogues b = find_epilogues(s, &p.c, &p.tile, allocated, stmts, at);
  *used = b.used;
  join_rows(s, &b, &p.c, &p.tile);
  if (tvms_cpu_may_store_twice(s->unit, b.stages, b.count))
    tvms_tile_join_rest(&p.c, &p.tile);
  plan_few(s, &p);
  versions v = plan_versions(s, &p);
  plan lines;
  bool has_lines = plan_lines(s, &p, &b, &lines);
  bool blocks = takes_blocks(&p);
  for (uint32_t i = 0; i < v.count; i++)
    blocks |= takes_blocks(&v.items[i]);
  bool room = b.count && tvms_cpu_result_has_room(s->unit, &p.c, b.stages, b.count);
  // Else blocks of the sum leave what is not ready in the buffer of the contraction.
  note_gone(s, &b, stmts, at, blocks && !room);
  tell_tiled(s, &p.c, &p.tile, b.count);
  tvms_span outer = tvms_cpu_begin_at(s, p.c.stage.nest);
  tvms_node *made = write_plan(s, &p, &b, room), *large = is_large(s, &p.c, &p.tile);
  if (large) {
    tvms_list all = {stmts.items + at, 1 + b.used};
    made = tvms_cpu_choice(s->unit, large, made, untiled(s, all, b.gone));
  }
  for (uint32_t i = v.count; i-- > 0;)
    made = or_version(s, &v.items[i], &b, room, &p.c, made);
  if (has_lines) made = or_lines(s, &lines, &b, room, made);
  for (uint32_t i = 0; i < b.gone.len; i++)
    tvms_node_map_put(&s->gone, b.gone.items[i], b.gone.items[i]);
  s->unit->origin = outer;
  return made;
}
