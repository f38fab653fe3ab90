// ScheduleCPU: contractions in register tiles, everything else row by row in vectors.
//
// Before: for i, j, k: C[i, j] += A[i, k] * B[k, j]   After: tiles of C in registers, unrolled and vectorised
// Before: for i, k: S[i] += X[i, k]; for i, j: Y[i, j] = X[i, j] / S[i]   After: one loop over i, passes in vectors
//
// It looks at one PrimFunc at a time and at access maps, not at names: an axis is a
// row, a column, a batch or a sum by what moves along it. Stages behind a contraction that go
// through its result once, element by element, are computed while a tile is in registers, and so is what they alone
// read of stages in front (late_operands.c). The tile follows from the lanes, registers and caches of the machine;
// nothing is searched or timed.
// The statements are brought into forms that can be scheduled first (prepare.c).
// Reductions along rows and element-wise stages share loops over their rows. What an outer axis does not change is
// computed beforehand (tables.c). Parallel loops of scans are done in lanes (scans.c). A block inside of loops and branches
// that allocates buffers is scheduled as the body of a function is, on one thread; the loops stay. So are loops inside of loops
// that stay, such as those of stencils in time and of triangles.
// Every element is added up in the order of the text, so strict results have the same bits; with
// `reorder` floats along a row are added up in lanes.
// TVM has no such pass; there a search finds schedules.
#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/beforehand.h"
#include "passes/tir/cpu/body.h"
#include "passes/tir/cpu/company.h"
#include "passes/tir/cpu/contraction_border.h"
#include "passes/tir/cpu/contraction_few_rows.h"
#include "passes/tir/cpu/contraction_nest.h"
#include "passes/tir/cpu/contraction_report.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/counted_loops.h"
#include "passes/tir/cpu/epilogue_join.h"
#include "passes/tir/cpu/epilogues.h"
#include "passes/tir/cpu/groups.h"
#include "passes/tir/cpu/loaded_counts.h"
#include "passes/tir/cpu/loop_dtypes.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/overwritten.h"
#include "passes/tir/cpu/prepare.h"
#include "passes/tir/cpu/quad_operand.h"
#include "passes/tir/cpu/rows_nest.h"
#include "passes/tir/cpu/scans.h"
#include "passes/tir/cpu/shared_memory.h"
#include "passes/tir/cpu/tables.h"
#include "passes/tir/cpu/wide_columns.h"
#include "passes/tir/cpu/zip.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  const tvms_prim_func *function;
  tvms_target target;
  uint32_t mask_bits;  // as in tvms_chain
  tvms_node_map gone;  // buffers that nothing uses any more
  bool reorders;       // sums of floats may be taken in lanes
  bool noalias;        // buffers of parameters are apart
  bool rooted;         // there is a root block
  bool within;         // a block inside of loops: what it does stays on one thread
  bool untiled;        // contractions are rows like everything else
  bool threaded;       // a statement of it has so much to do that it runs on threads,
                       // or one of what is called before or behind it
  const tvms_cpu_views *views;
  tvms_node_map shared;     // buffers that are views of one memory, in the body at hand
  tvms_node_vec preparers;  // statements in front of all others
  tvms_node_vec added;      // buffers for the root block to allocate
  tvms_list around;         // loops that stay around what is at hand
  tvms_list axes;           // of blocks that do
} scheduler;

// What is made from now on has the place of this statement; where the unit was before.
static tvms_span begin_at(scheduler *s, const tvms_node *stmt) {
  tvms_span outer = s->unit->origin;
  if (stmt->span.end) s->unit->origin = stmt->span;
  return outer;
}

// ---- Contractions ----

static void tell_missed(scheduler *s, const tvms_stage *stage, const char *why) {
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
  if (tvms_contraction_find(s->unit, &made.stage, &laid_out)) return;
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

// Are there as many rows and columns as tiles pay for, where their numbers are not known? NULL: they are, or tiles pay anyway.
static tvms_node *TVMS_NULLABLE is_large(scheduler *s, const tvms_contraction *c,
                                         const tvms_tile *tile) {
  // A panel that is copied as it lies pays sooner than one that has to be turned.
  enum { FEWEST_ROWS = 3 };
  const tvms_stage_axis *column = &c->stage.axes[c->column];
  tvms_node *wide = NULL, *high = NULL;
  if (tvms_contraction_column_steps(c) < 0)
    wide =
        tvms_build_binary(s->unit, TVMS_NODE_GE, column->extent,
                          tvms_int_imm_new(s->unit, column->extent->dtype,
                                           tvms_tile_least_lanes(tile), TVMS_NO_SPAN),
                          TVMS_NO_SPAN);
  if (!tvms_contraction_knows_rows(c) && (wide || tile->packs)) {
    tvms_node *rows = c->stage.axes[c->row].extent;
    int64_t fewest = wide || c->along_sum ? tile->rows : FEWEST_ROWS;
    high = tvms_build_binary(
        s->unit, TVMS_NODE_GE, rows,
        tvms_int_imm_new(s->unit, rows->dtype, fewest, TVMS_NO_SPAN), TVMS_NO_SPAN);
  }
  if (!wide || !high) return wide ? wide : high;
  return tvms_build_binary(s->unit, TVMS_NODE_AND, high, wide, TVMS_NO_SPAN);
}

static tvms_node *TVMS_NULLABLE schedule_body(scheduler *s, tvms_list allocated,
                                              tvms_node *body);
static tvms_list without_gone(scheduler *s, tvms_list allocated);

// The same statements without tiles, with the buffers between them that tiles do not need.
static tvms_node *untiled(scheduler *s, tvms_list stmts, tvms_list between) {
  scheduler inner = *s;
  inner.untiled = inner.rooted = true;
  inner.preparers = (tvms_node_vec){0};
  inner.added = (tvms_node_vec){0};
  tvms_node *body = stmts.items[0];
  if (stmts.len > 1) body = tvms_seq_new(s->unit, stmts.items, stmts.len, body->span);
  tvms_node *made = schedule_body(&inner, between, body);
  tvms_list kept = made ? without_gone(&inner, between) : between;
  s->gone = inner.gone;
  tvms_vec_fini(&s->unit->context->memory, &inner.added);
  if (!made) made = body;
  return kept.len ? tvms_cpu_block(s->unit, "few", kept, made) : made;
}

// The statement in the place of number `at` and of `*used` behind it; NULL: it stays.
static tvms_node *TVMS_NULLABLE schedule_at(scheduler *s, tvms_list allocated,
                                            tvms_list stmts, uint32_t at,
                                            uint32_t *used) {
  tvms_stage stage;
  tvms_contraction c;
  if (s->untiled || tvms_stage_read(s->unit, stmts.items[at], &stage)
      || !tvms_stage_has_sums(&stage))
    return NULL;
  (void)tvms_cpu_split_groups(s->unit, &stage);
  if (tvms_contraction_find(s->unit, &stage, &c)) return NULL;
  c.apart = s->noalias;
  tvms_tile tile = tvms_tile_choose(s->unit, &s->target, &c, s->reorders);
  lay_out(s, &c, &tile, stmts, at);
  if (s->reorders) tvms_contraction_find_border(s->unit, stmts, at, &tile, &c);
  epilogues b = find_epilogues(s, &c, &tile, allocated, stmts, at);
  *used = b.used;
  if (tvms_cpu_may_store_twice(s->unit, b.stages, b.count))
    tvms_tile_join_rest(&c, &tile);
  tvms_few_rows few =
      tvms_contraction_plan_few_rows(s->unit, &s->target, &c, &tile, s->reorders);
  bool blocks = tile.sum_block || few.blocks;
  bool room = b.count && tvms_cpu_result_has_room(s->unit, &c, b.stages, b.count);
  tile.sum_in_result = room;
  // Else blocks of the sum leave what is not ready in the buffer of the contraction.
  bool stays = blocks && !room;
  for (uint32_t i = stays ? 1 : 0; i < b.count; i++) {
    tvms_node *from = (tvms_node *)(uintptr_t)b.stages[i].from;
    if (!is_used_before(s, stmts, at, from))
      b.gone = tvms_list_with(s->unit, b.gone, from);
  }
  tell_tiled(s, &c, &tile, b.count);
  tvms_span outer = begin_at(s, c.stage.nest);
  tvms_node *made =
      tvms_contraction_nest(s->unit, &c, &tile, b.stages, b.count, TVMS_NEST_WHOLE);
  made =
      tvms_contraction_few_rows_nest(s->unit, &few, &c, b.stages, b.count, room, made);
  tvms_node *large = few.wanted ? NULL : is_large(s, &c, &tile);
  if (large) {
    tvms_list all = {stmts.items + at, 1 + b.used};
    made = tvms_cpu_choice(s->unit, large, made, untiled(s, all, b.gone));
  }
  for (uint32_t i = 0; i < b.gone.len; i++)
    tvms_node_map_put(&s->gone, b.gone.items[i], b.gone.items[i]);
  s->unit->origin = outer;
  return made;
}

// ---- Everything else ----

static void tell_left(scheduler *s, tvms_node *stmt, const char *why) {
  tvms_stage stage;
  tvms_contraction c;
  tvms_stage_read(s->unit, stmt, &stage);
  const char *not_tiled =
      tvms_stage_has_sums(&stage) ? tvms_contraction_find(s->unit, &stage, &c) : NULL;
  if (not_tiled) tell_missed(s, &stage, not_tiled);
  tvms_pass_remark(s->run, TVMS_REMARK_MISSED, TVMS_D_no_rows, stmt->span, stage.name,
                   why);
}

static void tell_rows(scheduler *s, const tvms_stage *stage,
                      const tvms_line_group *group, const tvms_line_plan *plan) {
  const tvms_line_pass_plan *last = &plan->passes[group->pass_count - 1];
  char together[64] = "";
  if (plan->streams > 1)
    snprintf(together, sizeof together, ", %lld rows that lie far apart together",
             (long long)plan->streams);
  if (plan->turns > 1)
    snprintf(together, sizeof together, ", %lld rows in turns", (long long)plan->turns);
  tvms_pass_count(s->run, "groups of rows", 1);
  tvms_pass_remark(s->run, TVMS_REMARK_PASSED, TVMS_D_rows, stage->nest->span,
                   group->count, tvms_diag_plural(group->count), stage->name,
                   group->row_count, tvms_diag_plural(group->row_count),
                   group->pass_count, group->pass_count == 1 ? "" : "es",
                   (long long)last->vectors, tvms_diag_plural((uint64_t)last->vectors),
                   (long long)last->lanes, together);
}

// What outer axes do not change, and functions along a line, are computed by stages of their own, in front of those
// that use them.
static void tabulate(scheduler *s, tvms_chain *chain) {
  tvms_stage *made = tvms_arena_array(&s->unit->arena, tvms_stage,
                                      chain->count * (TVMS_MOST_TABLES + 1));
  tvms_cpu_tables *tables = tvms_arena_new(&s->unit->arena, tvms_cpu_tables);
  uint32_t count = 0;
  for (uint32_t i = 0; i < chain->count; i++) {
    (void)tvms_cpu_tabulate(s->unit, &chain->stages[i], tables);
    for (uint32_t k = 0; k < tables->count; k++) {
      made[count++] = tables->stages[k];
      chain->allocated = tvms_list_with(s->unit, chain->allocated, tables->buffers[k]);
      tvms_stmt_push(s->unit, &s->added, tables->buffers[k]);
    }
    made[count++] = chain->stages[i];
  }
  chain->stages = made;
  chain->count = count;
}

// Do threads pay for a stage by itself?
static bool is_worth_threads(const scheduler *s, const tvms_stage *stage) {
  bool known;
  int64_t steps = tvms_stage_steps(stage, &known);
  return !s->within
         && tvms_line_is_worth_threads(steps < 0 ? INT64_MAX : steps, s->threaded);
}

// Zips the stages at `at` of a chain if they store in turns; how many these are, or 0.
static uint32_t schedule_turns(scheduler *s, const tvms_chain *chain, uint32_t at,
                               tvms_node_vec *made) {
  uint32_t count;
  bool threads = is_worth_threads(s, &chain->stages[at]);
  tvms_span outer = begin_at(s, chain->stages[at].nest);
  tvms_node *zipped = tvms_cpu_zip(chain, at, &s->target, threads, &count);
  s->unit->origin = outer;
  if (!zipped) return 0;
  tvms_pass_count(s->run, "stages zipped", count);
  tvms_stmt_push(s->unit, made, zipped);
  return count;
}

// Schedules the first stage of a group if it sums along the columns of a large tensor.
static bool schedule_columns(scheduler *s, const tvms_chain *chain, uint32_t at,
                             const tvms_line_group *group, tvms_node_vec *made) {
  bool threads = is_worth_threads(s, &chain->stages[at]);
  tvms_span outer = begin_at(s, chain->stages[at].nest);
  tvms_node *columns =
      tvms_cpu_wide_columns(s->unit, group, &s->target, threads ? s->target.cores : 1);
  s->unit->origin = outer;
  if (!columns) return false;
  tvms_pass_count(s->run, "sums along columns of large tensors", 1);
  tvms_stmt_push(s->unit, made, columns);
  return true;
}

// Schedules a chain of stages that can be in groups.
static void schedule_chain(scheduler *s, tvms_chain *chain, tvms_node_vec *made) {
  if (chain->count == 0) return;
  chain->mask_bits = s->mask_bits;
  chain->skips = s->reorders;
  tvms_chain_join_initial(chain);
  if (s->noalias) tvms_chain_join_overwritten(chain);
  tvms_chain_inline(chain);
  if (s->rooted && s->noalias) tabulate(s, chain);
  tvms_line_options options = {&s->target, s->mask_bits, s->reorders, s->noalias};
  tvms_line_group *group = tvms_arena_new(&s->unit->arena, tvms_line_group);
  for (uint32_t i = 0; i < chain->count; i += group->count) {
    uint32_t zipped = schedule_turns(s, chain, i, made);
    if (zipped) {
      group->count = zipped;
      continue;
    }
    tvms_line_find(chain, i, group);
    if (schedule_columns(s, chain, i, group, made)) {
      group->count = 1;
      continue;
    }
    tvms_line_plan plan = tvms_line_plan_for(chain, group, &options);
    plan.joins = s->threaded;
    if (s->within) plan.work = 0;
    tell_rows(s, &chain->stages[i], group, &plan);
    tvms_span outer = begin_at(s, chain->stages[i].nest);
    tvms_stmt_push(s->unit, made, tvms_line_nest(s->unit, group, &plan, &s->gone));
    s->unit->origin = outer;
  }
}

// Schedules the statements from `from` up to `to`, which are stages and no contractions.
static bool schedule_rows(scheduler *s, tvms_list allocated, tvms_list stmts,
                          uint32_t from, uint32_t to, tvms_node_vec *made) {
  bool changed = false;
  for (uint32_t i = from; i < to; i++) {
    tvms_chain chain = {.unit = s->unit, .allocated = allocated, .gone = &s->gone};
    chain.before = (tvms_list){stmts.items, i};
    chain.stages = tvms_arena_array(&s->unit->arena, tvms_stage, to - i);
    const char *why = NULL;
    for (; i < to; i++) {
      tvms_stage *stage = &chain.stages[chain.count];
      tvms_stage_read(s->unit, stmts.items[i], stage);
      tvms_chain_settle(s->unit, stage);
      why = tvms_line_refuse(s->unit, stage);
      if (why) break;
      chain.count++;
    }
    chain.behind = (tvms_list){stmts.items + i, stmts.len - i};
    changed |= chain.count > 0;
    schedule_chain(s, &chain, made);
    if (!why) break;
    tell_left(s, stmts.items[i], why);
    tvms_stmt_push(s->unit, made, stmts.items[i]);
  }
  return changed;
}

static bool is_stage(scheduler *s, tvms_node *stmt) {
  tvms_stage stage;
  return !tvms_stage_read(s->unit, stmt, &stage);
}

// Is a statement a stage of as many steps as put contractions and rows on threads?
static bool has_much_to_do(scheduler *s, tvms_node *stmt) {
  tvms_stage stage;
  if (tvms_stage_read(s->unit, stmt, &stage)) return false;
  bool known;
  int64_t steps = tvms_stage_steps(&stage, &known);
  return known && (steps < 0 || steps >= TVMS_CPU_MANY_STEPS);
}

static tvms_node *schedule_within(scheduler *s, tvms_node *stmt);

// The statements of a body that have memory of their own, in which the order of stages may change.
static tvms_node *TVMS_NULLABLE schedule_stages(scheduler *s, tvms_list allocated,
                                                tvms_node *body) {
  tvms_list stmts =
      body->kind == TVMS_NODE_SEQ ? tvms_as_seq(body)->stmts : (tvms_list){&body, 1};
  tvms_node_vec made = {0};
  tvms_preparation prepared = {
      .run = s->run,
      .target = &s->target,
      .rooted = s->rooted,
      .noalias = s->noalias,
      .function = s->function,
      .around = s->around,
      .axes = s->axes,
      .body = {s->unit, s->reorders, allocated, &s->added, &s->gone}};
  stmts = tvms_cpu_prepare(&prepared, stmts);
  allocated = prepared.body.allocated;
  for (uint32_t i = 0; i < stmts.len; i++)
    s->threaded |= has_much_to_do(s, stmts.items[i]);
  bool changed = false;
  uint32_t rows =
      0;  // statements in front of the one at hand that wait for schedule_rows
  for (uint32_t i = 0; i <= stmts.len; i++) {
    uint32_t used = 0;
    tvms_node *tiled =
        i < stmts.len ? schedule_at(s, allocated, stmts, i, &used) : NULL;
    if (i < stmts.len && !tiled && is_stage(s, stmts.items[i])) {
      rows++;
      continue;
    }
    if (rows) changed |= schedule_rows(s, allocated, stmts, i - rows, i, &made);
    rows = 0;
    if (i == stmts.len) break;
    tvms_node *other = tiled ? tiled : schedule_within(s, stmts.items[i]);
    changed |= other != stmts.items[i];
    tvms_stmt_push(s->unit, &made, other);
    i += used;
  }
  for (uint32_t i = 0; i < made.len; i++)
    tvms_stmt_push(s->unit, &s->preparers, made.items[i]);
  tvms_vec_fini(&s->unit->context->memory, &made);
  tvms_node *result = tvms_stmt_seq(s->unit, &s->preparers, body->span);
  return changed ? result : NULL;
}

static tvms_list without_gone(scheduler *s, tvms_list allocated) {
  tvms_list added = {s->added.items, s->added.len};
  return tvms_cpu_allocations(s->unit, added, allocated, &s->gone);
}

// A block inside of loops that allocates buffers or has no axes is scheduled as the body of a function is, but on one
// thread.
static tvms_node *TVMS_NULLABLE schedule_block(scheduler *s, tvms_node *realize) {
  tvms_node *old = tvms_as_block_realize(realize)->block;
  tvms_list allocated = tvms_as_block(old)->alloc_buffers;
  bool opaque = !tvms_as_block(old)->iter_vars.len;
  if ((!allocated.len && !opaque) || tvms_as_block(old)->init) return NULL;
  scheduler inner = *s;
  inner.rooted = inner.within = true;
  tvms_list axes = tvms_as_block(old)->iter_vars;
  for (uint32_t i = 0; i < axes.len; i++)
    inner.axes = tvms_list_with(s->unit, inner.axes, axes.items[i]);
  inner.target.cores = 1;
  inner.preparers = (tvms_node_vec){0};
  inner.added = (tvms_node_vec){0};
  tvms_node *made = schedule_body(&inner, allocated, tvms_as_block(old)->body);
  tvms_list kept = made ? without_gone(&inner, allocated) : allocated;
  s->gone = inner.gone;
  tvms_vec_fini(&s->unit->context->memory, &inner.added);
  if (!made) return NULL;
  tvms_node *block = tvms_node_copy(s->unit, old);
  tvms_as_block(block)->body = made;
  tvms_as_block(block)->alloc_buffers = kept;
  tvms_node *copy = tvms_node_copy(s->unit, realize);
  tvms_as_block_realize(copy)->block = block;
  return copy;
}

// Some statements, scheduled as the body of a function is; NULL: they stay.
static tvms_node *TVMS_NULLABLE schedule_steps(scheduler *s, tvms_list stmts) {
  scheduler inner = *s;
  inner.rooted = false;
  inner.preparers = (tvms_node_vec){0};
  inner.added = (tvms_node_vec){0};
  tvms_node *body = stmts.items[0];
  if (stmts.len > 1) body = tvms_seq_new(s->unit, stmts.items, stmts.len, body->span);
  tvms_node *made = schedule_body(&inner, (tvms_list){0}, body);
  tvms_list kept = made ? without_gone(&inner, (tvms_list){0}) : (tvms_list){0};
  s->gone = inner.gone;
  tvms_vec_fini(&s->unit->context->memory, &inner.added);
  return kept.len ? tvms_cpu_block(s->unit, "step", kept, made) : made;
}

typedef bool splitter(const scheduler *s, tvms_node *stmt);

// What stands in a body between statements that split it, which become what `within` makes of them, if it is not NULL. NULL:
// all of it stays.
static tvms_node *TVMS_NULLABLE
schedule_between(scheduler *s, tvms_node *body, splitter *splits,
                 tvms_node *(*TVMS_NULLABLE within)(scheduler *s, tvms_node *stmt)) {
  tvms_list stmts =
      body->kind == TVMS_NODE_SEQ ? tvms_as_seq(body)->stmts : (tvms_list){&body, 1};
  tvms_node_vec all = {0};
  bool changed = false;
  for (uint32_t i = 0, end; i < stmts.len; i = end) {
    for (end = i; end < stmts.len; end++)
      if (splits(s, stmts.items[end])) break;
    tvms_list run = {stmts.items + i, end - i};
    tvms_node *made = run.len ? schedule_steps(s, run) : NULL;
    changed |= made != NULL;
    if (made) tvms_stmt_push(s->unit, &all, made);
    for (uint32_t k = 0; k < run.len && !made; k++)
      tvms_stmt_push(s->unit, &all, run.items[k]);
    if (end == stmts.len) break;
    tvms_node *old = stmts.items[end++], *other = within ? within(s, old) : old;
    changed |= other != old;
    tvms_stmt_push(s->unit, &all, other);
  }
  tvms_node *result = tvms_stmt_seq(s->unit, &all, body->span);
  return changed ? result : NULL;
}

// What defines something for the statements behind it stays in front of these.
static bool uses_shared(const scheduler *s, tvms_node *stmt) {
  bool defines = stmt->kind != TVMS_NODE_FOR && stmt->kind != TVMS_NODE_STORE
                 && stmt->kind != TVMS_NODE_BLOCK_REALIZE;
  return defines || tvms_cpu_uses_shared(&s->shared, stmt);
}

static tvms_node *TVMS_NULLABLE schedule_body(scheduler *s, tvms_list allocated,
                                              tvms_node *body) {
  tvms_node_map outer = s->shared;
  tvms_node_map_init(&s->shared, &s->unit->context->memory);
  tvms_node *made = tvms_cpu_views_share(s->views, body, &s->shared)
                        ? schedule_between(s, body, uses_shared, schedule_within)
                        : schedule_stages(s, allocated, body);
  tvms_node_map_fini(&s->shared);
  s->shared = outer;
  return made;
}

static bool is_plain_loop(scheduler *s, const tvms_for *loop, tvms_node *body) {
  return loop->for_kind == TVMS_FOR_SERIAL && !loop->annotations && !loop->step
         && !tvms_stmt_jumps(&s->unit->context->memory, loop->body)
         && tvms_cpu_loops_are_counted(s->unit, s->around, body);
}

static bool goes_across(const scheduler *s, tvms_node *stmt) {
  return tvms_cpu_loop_goes_across(s->unit, stmt);
}

// What stands in a plain loop that stays, the last one around: statements between those that go across memory, on one thread.
// NULL: all of it stays.
static tvms_node *TVMS_NULLABLE schedule_loop_body(scheduler *s, tvms_node *body) {
  scheduler inner = *s;
  inner.within = true;
  inner.target.cores = 1;
  tvms_node *made = schedule_between(&inner, body, goes_across, NULL);
  s->gone = inner.gone;
  return made;
}

// A statement behind others.
static tvms_node *behind(scheduler *s, tvms_list first, tvms_node *stmt) {
  tvms_node_vec all = {0};
  for (uint32_t i = 0; i < first.len; i++)
    tvms_stmt_push(s->unit, &all, first.items[i]);
  tvms_stmt_push(s->unit, &all, stmt);
  return tvms_stmt_seq(s->unit, &all, stmt->span);
}

static tvms_node *schedule_loop(scheduler *s, tvms_node *stmt) {
  tvms_list around = s->around;
  s->around = tvms_list_with(s->unit, around, stmt);
  tvms_list counts;
  tvms_node *body = tvms_as_for(stmt)->body;
  tvms_node *counted = tvms_cpu_bind_counts(s->unit, body, &counts);
  bool plain = is_plain_loop(s, tvms_as_for(stmt), counted);
  tvms_node *inner = plain ? schedule_loop_body(s, counted) : NULL;
  if (inner && counts.len) inner = behind(s, counts, inner);
  // Of a plain loop all has been gone through that is not a stage: once more for each loop would double the time.
  bool done = plain && !is_stage(s, body) && !tvms_cpu_loop_goes_across(s->unit, body);
  if (!inner) inner = done ? body : schedule_within(s, body);
  s->around = around;
  if (inner == body) return stmt;
  tvms_node *made = tvms_node_copy(s->unit, stmt);
  tvms_as_for(made)->body = inner;
  return made;
}

// A statement with such blocks and loops scheduled; the statement itself if it has none.
static tvms_node *schedule_within(scheduler *s, tvms_node *stmt) {
  tvms_node *made = NULL;
  if (stmt->kind == TVMS_NODE_BLOCK_REALIZE) {
    made = schedule_block(s, stmt);
  } else if (stmt->kind == TVMS_NODE_FOR) {
    return schedule_loop(s, stmt);
  } else if (stmt->kind == TVMS_NODE_IF_THEN_ELSE) {
    const tvms_if_then_else *choice = tvms_as_if_then_else(stmt);
    tvms_node *yes = schedule_within(s, choice->then_case), *no = choice->else_case;
    if (no) no = schedule_within(s, no);
    if (yes == choice->then_case && no == choice->else_case) return stmt;
    made = tvms_node_copy(s->unit, stmt);
    tvms_as_if_then_else(made)->then_case = yes;
    tvms_as_if_then_else(made)->else_case = no;
  }
  return made ? made : stmt;
}

static tvms_node *TVMS_NULLABLE schedule(scheduler *s, tvms_node *body) {
  tvms_cpu_body b = tvms_cpu_body_read(s->unit, body);
  s->rooted = b.root || b.allocated.len;
  tvms_node *made = schedule_body(s, b.allocated, b.stages);
  if (!made) return NULL;
  return tvms_cpu_body_write(s->unit, &b, without_gone(s, b.allocated), made);
}

// What the option or the function says of the machine; else the one at hand.
static bool find_target(scheduler *s) {
  const char *text = TVMS_OPTION(s->run, ScheduleCPU, target).text;
  const tvms_node *config = tvms_object_map_get(s->function->attrs, "target");
  if (*text == '\0' && config) {
    tvms_target_from_config(s->unit, config, &s->target);
    return tvms_target_has_key(&s->target, "cpu");
  }
  tvms_strbuf why;
  tvms_strbuf_init(&why, &s->unit->context->memory);
  bool known = tvms_target_parse(s->unit, *text ? text : "host", &s->target, &why);
  if (!known)
    tvms_diag_report(&s->unit->context->diags, TVMS_D_target_unknown, TVMS_NO_SPAN,
                     text);
  tvms_strbuf_fini(&why);
  return known;
}

static bool is_noalias(const tvms_prim_func *function) {
  static const char *const keys[] = {"tirx.noalias", "tir.noalias"};
  for (uint32_t i = 0; i < 2; i++) {
    const tvms_node *value = tvms_object_map_get(function->attrs, keys[i]);
    if (value && value->kind == TVMS_NODE_OBJECT_BOOL)
      return tvms_as_object_bool(value)->value;
    if (value && value->kind == TVMS_NODE_OBJECT_INT)
      return tvms_as_object_int(value)->value != 0;
    if (value && tvms_node_is_true(value)) return true;
  }
  return false;
}

static tvms_node *tile_function(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  const bool *threaded = run->state;
  scheduler s = {.run = run, .unit = unit, .function = tvms_as_prim_func(function)};
  s.threaded = *threaded && (function->flags & TVMS_FLAG_PRIVATE);
  s.reorders = TVMS_OPTION(run, ScheduleCPU, reorder).number != 0;
  s.noalias = is_noalias(s.function);
  tvms_node_map_init(&s.gone, &unit->context->memory);
  tvms_cpu_views views;
  tvms_cpu_views_init(&views, &unit->context->memory, s.function->body);
  s.views = &views;
  bool fits = find_target(&s);
  if (TVMS_OPTION(run, ScheduleCPU, masks).number && tvms_target_has_masks(&s.target))
    s.mask_bits = s.target.vector_bits;
  tvms_node *old = s.function->body,
            *body = fits ? tvms_cpu_widen_loops(unit, old) : old;
  tvms_node *made = fits ? schedule(&s, body) : NULL;
  if (made) body = tvms_cpu_quads_write_out(unit, made);
  if (fits) body = tvms_cpu_scans_in_lanes(unit, &s.target, body);
  tvms_cpu_views_fini(&views);
  tvms_node_map_fini(&s.gone);
  tvms_vec_fini(&unit->context->memory, &s.added);
  if (body == old) return function;
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_as_prim_func(copy)->body = body;
  if (tvms_cpu_holds_block(unit, body)) copy->flags |= TVMS_FLAG_S_TIR;
  return copy;
}

void tvms_pass_schedule_cpu(tvms_pass_run *run) {
  // What the module calls itself runs beside what else it calls.
  bool threaded = tvms_cpu_module_has_threads(run->module);
  void *outer = run->state;
  run->state = &threaded;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, tile_function);
  run->state = outer;
}
