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
#include "passes/tir/cpu/schedule_cpu.h"

#include "arith/analyzer.h"
#include "ir/object.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/body.h"
#include "passes/tir/cpu/company.h"
#include "passes/tir/cpu/counted_loops.h"
#include "passes/tir/cpu/loaded_counts.h"
#include "passes/tir/cpu/loop_dtypes.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/overwritten.h"
#include "passes/tir/cpu/prepare.h"
#include "passes/tir/cpu/quad_operand.h"
#include "passes/tir/cpu/rows_nest.h"
#include "passes/tir/cpu/scans.h"
#include "passes/tir/cpu/schedule_contraction.h"
#include "passes/tir/cpu/short_axis.h"
#include "passes/tir/cpu/tables.h"
#include "passes/tir/cpu/wide_columns.h"
#include "passes/tir/cpu/zip.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

typedef tvms_cpu_scheduler scheduler;

tvms_span tvms_cpu_begin_at(scheduler *s, const tvms_node *stmt) {
  tvms_span outer = s->unit->origin;
  if (stmt->span.end) s->unit->origin = stmt->span;
  return outer;
}

// ---- Stages ----

static void tell_left(scheduler *s, tvms_node *stmt, const char *why) {
  tvms_stage stage;
  tvms_contraction c;
  tvms_stage_read(s->unit, stmt, &stage);
  const char *not_tiled =
      tvms_stage_has_sums(&stage) ? tvms_contraction_find(s->unit, &stage, &c) : NULL;
  if (not_tiled) tvms_cpu_tell_not_tiled(s, &stage, not_tiled);
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

// Zips the stages at `at` of a chain if they store in turns, or the one there whose steps do; how many these are, or 0.
static uint32_t schedule_turns(scheduler *s, const tvms_chain *chain, uint32_t at,
                               tvms_node_vec *made) {
  uint32_t count;
  bool threads = is_worth_threads(s, &chain->stages[at]);
  tvms_span outer = tvms_cpu_begin_at(s, chain->stages[at].nest);
  tvms_node *zipped = tvms_cpu_zip(chain, at, &s->target, threads, &count);
  if (!zipped) {
    tvms_stage *steps = tvms_arena_array(&s->unit->arena, tvms_stage, TVMS_MOST_TURNS);
    tvms_chain turns = *chain;
    turns.stages = steps;
    turns.count = tvms_cpu_split_short_axis(s->unit, &chain->stages[at], steps);
    if (turns.count) zipped = tvms_cpu_zip(&turns, 0, &s->target, threads, &count);
    count = 1;
  }
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
  tvms_span outer = tvms_cpu_begin_at(s, chain->stages[at].nest);
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
    tvms_span outer = tvms_cpu_begin_at(s, chain->stages[i].nest);
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
        i < stmts.len ? tvms_cpu_schedule_contraction(s, allocated, stmts, i, &used)
                      : NULL;
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

tvms_list tvms_cpu_without_gone(scheduler *s, tvms_list allocated) {
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
  tvms_node *made = tvms_cpu_schedule_body(&inner, allocated, tvms_as_block(old)->body);
  tvms_list kept = made ? tvms_cpu_without_gone(&inner, allocated) : allocated;
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
  tvms_node *made = tvms_cpu_schedule_body(&inner, (tvms_list){0}, body);
  tvms_list kept =
      made ? tvms_cpu_without_gone(&inner, (tvms_list){0}) : (tvms_list){0};
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

tvms_node *tvms_cpu_schedule_body(scheduler *s, tvms_list allocated, tvms_node *body) {
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
  tvms_node *made = tvms_cpu_schedule_body(s, b.allocated, b.stages);
  if (!made) return NULL;
  return tvms_cpu_body_write(s->unit, &b, tvms_cpu_without_gone(s, b.allocated), made);
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
