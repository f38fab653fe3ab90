// ScheduleCPU: contractions in register tiles, everything else row by row in vectors.
//
// Before: for i, j, k: C[i, j] += A[i, k] * B[k, j]   After: tiles of C in registers, unrolled and vectorised
// Before: for i, k: S[i] += X[i, k]; for i, j: Y[i, j] = X[i, j] / S[i]   After: one loop over i, passes in vectors
//
// It looks at one PrimFunc at a time and at access maps, not at names: an axis is a
// row, a column, a batch or a sum by what moves along it. Stages behind a contraction that go
// through its result once, element by element, are computed while a tile is in registers. The tile
// follows from the lanes, registers and caches of the machine; nothing is searched or timed.
// Reductions along rows and element-wise stages share loops over their rows.
// Every element is added up in the order of the text, so strict results have the same bits; with
// `reorder` floats along a row are added up in lanes.
// TVM has no such pass; there a search finds schedules.
#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/beforehand.h"
#include "passes/tir/cpu/contraction_nest.h"
#include "passes/tir/cpu/contraction_report.h"
#include "passes/tir/cpu/factors.h"
#include "passes/tir/cpu/groups.h"
#include "passes/tir/cpu/producers.h"
#include "passes/tir/cpu/rows_nest.h"
#include "passes/tir/cpu/tuples.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

enum { MOST_EPILOGUES = 16 };

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  const tvms_prim_func *function;
  tvms_target target;
  uint32_t mask_bits;       // as in tvms_chain
  tvms_node_map gone;       // buffers that nothing uses any more
  bool reorders;            // sums of floats may be taken in lanes
  bool noalias;             // buffers of parameters are apart
  bool rooted;              // there is a root block
  tvms_node_vec preparers;  // statements in front of all others
  tvms_node_vec added;      // buffers for the root block to allocate
} scheduler;

// ---- Epilogues ----

typedef struct {
  const tvms_node *buffer;
  const tvms_buffer_load *TVMS_NULLABLE load;  // the first one
  bool alike;                                  // all loads are of the same place
} uses;

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  uses *u = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer != u->buffer) return TVMS_WALK_ON;
  bool same = u->load && load->indices.len == u->load->indices.len && !load->predicate;
  for (uint32_t i = 0; same && i < load->indices.len; i++)
    same = tvms_node_same_expr(load->indices.items[i], u->load->indices.items[i]);
  if (u->load && !same) u->alike = false;
  if (!u->load) u->load = load;
  return TVMS_WALK_ON;
}

// Does a node mention a buffer outside of types?
static bool mentions(scheduler *s, tvms_node *node, const tvms_node *buffer) {
  return tvms_walk_contains(&s->unit->context->memory, node, buffer)
         || tvms_walk_contains(&s->unit->context->memory, node,
                               tvms_as_buffer(buffer)->data);
}

// Is the index `at` of the place that the contraction (or an epilogue before) stores at the axis
// `axis` of the contraction?
static bool axis_at(const tvms_contraction *c,
                    const tvms_epilogue *TVMS_NULLABLE before, tvms_node *index,
                    uint32_t *axis) {
  const tvms_stage *stage = before ? &before->stage : &c->stage;
  uint32_t i = tvms_stage_axis_of(stage, index);
  if (i == TVMS_MOST_STAGE_AXES) return false;
  *axis = before ? before->axis_of[i] : i;
  return true;
}

typedef struct {
  scheduler *s;
  const tvms_contraction *c;
  const tvms_epilogue *TVMS_NULLABLE before;
  tvms_epilogue *e;
  bool seen[TVMS_MOST_STAGE_AXES];  // of the axes of the epilogue
} matching;

// An axis of the epilogue, or 0 for an axis of one step, where the contraction has this axis.
static bool match_axis(matching *m, tvms_node *stored, tvms_node *loaded) {
  uint32_t axis, own = tvms_stage_axis_of(&m->e->stage, loaded);
  if (tvms_node_is_int(loaded, 0) && tvms_node_is_int(stored, 0)) return true;
  if (!axis_at(m->c, m->before, stored, &axis)) return false;
  const tvms_stage_axis *of_contraction = &m->c->stage.axes[axis];
  if (own == TVMS_MOST_STAGE_AXES)
    return tvms_node_is_int(loaded, 0) && tvms_stage_axis_is_single(of_contraction);
  if (m->seen[own]) return false;
  tvms_node *a = m->e->stage.axes[own].extent, *b = of_contraction->extent;
  if (!tvms_node_same_expr(a, b) && !tvms_arith_prove_equal(m->s->unit, a, b))
    return false;
  m->seen[own] = true;
  m->e->axis_of[own] = axis;
  return true;
}

// The place of a group, 8 * g + j, in both of them, or one axis.
static bool match_index(matching *m, tvms_node *stored, tvms_node *loaded) {
  bool group = stored->kind == TVMS_NODE_ADD && loaded->kind == TVMS_NODE_ADD;
  if (!group) return match_axis(m, stored, loaded);
  const tvms_binary *a = tvms_as_binary(stored), *b = tvms_as_binary(loaded);
  if (a->a->kind != TVMS_NODE_MUL || b->a->kind != TVMS_NODE_MUL) return false;
  const tvms_binary *first = tvms_as_binary(a->a), *own_first = tvms_as_binary(b->a);
  return tvms_node_same_expr(first->b, own_first->b)
         && match_axis(m, first->a, own_first->a) && match_axis(m, a->b, b->b);
}

// Each axis of the stage is an axis of the contraction, by the place where the result is loaded.
static bool match_axes(scheduler *s, const tvms_contraction *c,
                       const tvms_epilogue *TVMS_NULLABLE before, tvms_list stored,
                       tvms_list loaded, tvms_epilogue *e) {
  matching m = {.s = s, .c = c, .before = before, .e = e};
  for (uint32_t i = 0; i < loaded.len; i++) {
    if (!match_index(&m, stored.items[i], loaded.items[i])) return false;
  }
  for (uint32_t i = 0; i < e->stage.count; i++) {
    if (!m.seen[i]) return false;
  }
  return true;
}

// Where the result is in groups, the stage that reads it is in the same ones. `loaded` is the place
// that it reads.
static bool split_alike(scheduler *s, tvms_list stored, tvms_list loaded,
                        tvms_stage *stage) {
  for (uint32_t i = 0; i < loaded.len && i < stored.len; i++) {
    if (stored.items[i]->kind != TVMS_NODE_ADD) continue;
    const tvms_binary *place = tvms_as_binary(stored.items[i]);
    if (place->a->kind != TVMS_NODE_MUL) continue;
    const tvms_node *size = tvms_as_binary(place->a)->b;
    uint32_t axis = tvms_stage_axis_of(stage, loaded.items[i]);
    if (axis == TVMS_MOST_STAGE_AXES || !tvms_node_is_int_imm(size)) return false;
    const tvms_node *extent = stage->axes[axis].extent;
    if (!tvms_node_is_int_imm(extent)) return false;
    int64_t steps = tvms_as_int_imm(size)->value;
    return steps > 0 && tvms_as_int_imm(extent)->value % steps == 0
           && tvms_cpu_split_axis(s->unit, stage, axis, steps);
  }
  return false;
}

static const tvms_store *last_store(const tvms_contraction *c,
                                    const tvms_epilogue *epilogues, uint32_t count) {
  return count ? epilogues[count - 1].stage.store : c->stage.store;
}

static bool is_allocated(const tvms_list allocated, const tvms_node *buffer) {
  for (uint32_t i = 0; i < allocated.len; i++) {
    if (allocated.items[i] == buffer) return true;
  }
  return false;
}

// Does the last of these epilogues store where one of them loads?
static bool updates(scheduler *s, const tvms_epilogue *all, uint32_t count) {
  const tvms_node *stored = all[count - 1].stage.store->buffer;
  for (uint32_t i = 0; i < count; i++) {
    if (mentions(s, all[i].stage.store->value, stored)) return true;
  }
  return false;
}

// May the epilogue behind `count` others store a tile while others are still to be computed?
// What updates a buffer must do that once for each element.
static bool may_store(scheduler *s, const tvms_contraction *c, const tvms_tile *tile,
                      const tvms_epilogue *all, uint32_t count) {
  if (mentions(s, c->term, all[count].stage.store->buffer)) return false;
  return !updates(s, all, count + 1) || !tvms_tile_repeats(c, tile);
}

static uses uses_of(scheduler *s, const tvms_stage *stage, const tvms_node *buffer) {
  uses u = {buffer, NULL, true};
  tvms_visitor visitor = {.self = &u, .enter = note_use};
  tvms_walk(&s->unit->context->memory, stage->store->value, &visitor);
  return u;
}

// Is `stmt` the next epilogue? The buffer between must be allocated here and used nowhere else.
static bool read_epilogue(scheduler *s, const tvms_contraction *c,
                          const tvms_tile *tile, tvms_list allocated, tvms_list stmts,
                          uint32_t at, tvms_epilogue *all, uint32_t count) {
  tvms_epilogue *e = &all[count];
  const tvms_store *before = last_store(c, all, count);
  if (!is_allocated(allocated, before->buffer)) return false;
  if (tvms_stage_read(s->unit, stmts.items[at], &e->stage) || e->stage.init)
    return false;
  uses u = uses_of(s, &e->stage, before->buffer);
  if (u.load && split_alike(s, before->indices, u.load->indices, &e->stage))
    u = uses_of(s, &e->stage, before->buffer);
  if (!u.load || !u.alike || e->stage.store->buffer == before->buffer) return false;
  bool last_is_float =
      tvms_dtype_same(e->stage.store->value->dtype, before->value->dtype);
  e->from = before->buffer;
  const tvms_epilogue *earlier = count ? &all[count - 1] : NULL;
  if (!match_axes(s, c, earlier, before->indices, u.load->indices, e)) return false;
  for (uint32_t i = at + 1; i < stmts.len; i++) {
    if (mentions(s, stmts.items[i], before->buffer)) return false;
  }
  if (!may_store(s, c, tile, all, count)) return false;
  // What changes the dtype is stored at once.
  return last_is_float || count + 1 < MOST_EPILOGUES;
}

static bool keeps_dtype(const tvms_contraction *c, const tvms_epilogue *e) {
  return tvms_dtype_same(e->stage.store->value->dtype, c->stage.store->value->dtype);
}

static uint32_t read_epilogues(scheduler *s, const tvms_contraction *c,
                               const tvms_tile *tile, tvms_list allocated,
                               tvms_list stmts, uint32_t at, tvms_epilogue *all) {
  uint32_t count = 0;
  while (at + count < stmts.len && count < MOST_EPILOGUES
         && (count == 0 || keeps_dtype(c, &all[count - 1]))
         && read_epilogue(s, c, tile, allocated, stmts, at + count, all, count))
    count++;
  return count;
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
static void lay_out(scheduler *s, tvms_contraction *c, tvms_tile *tile) {
  tvms_beforehand made;
  if (!s->rooted || !tvms_cpu_lay_out_beforehand(s->unit, s->function, c, tile, &made))
    return;
  tvms_contraction laid_out;
  if (tvms_contraction_find(s->unit, &made.stage, &laid_out)) return;
  *c = laid_out;
  tvms_tile_lay_out(tile);
  tvms_stmt_push(s->unit, &s->preparers, made.preparer);
  tvms_stmt_push(s->unit, &s->added, made.buffer);
}

// The statement in the place of number `at` and of `*used` behind it; NULL: it stays.
static tvms_node *TVMS_NULLABLE schedule_at(scheduler *s, tvms_list allocated,
                                            tvms_list stmts, uint32_t at,
                                            uint32_t *used) {
  tvms_stage stage;
  tvms_contraction c;
  if (tvms_stage_read(s->unit, stmts.items[at], &stage) || !tvms_stage_has_sums(&stage))
    return NULL;
  (void)tvms_cpu_split_groups(s->unit, &stage);
  if (tvms_contraction_find(s->unit, &stage, &c)) return NULL;
  tvms_tile tile = tvms_tile_choose(s->unit, &s->target, &c, s->reorders);
  lay_out(s, &c, &tile);
  tvms_epilogue *epilogues =
      tvms_arena_array(&s->unit->arena, tvms_epilogue, MOST_EPILOGUES);
  uint32_t count = read_epilogues(s, &c, &tile, allocated, stmts, at + 1, epilogues);
  *used = count;
  // Blocks of the sum leave what is not ready in the buffer of the contraction.
  for (uint32_t i = tile.sum_block ? 1 : 0; i < count; i++) {
    tvms_node *gone = (tvms_node *)(uintptr_t)epilogues[i].from;
    tvms_node_map_put(&s->gone, gone, gone);
  }
  tell_tiled(s, &c, &tile, count);
  return tvms_contraction_nest(s->unit, &c, &tile, epilogues, count);
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
  tvms_pass_count(s->run, "groups of rows", 1);
  tvms_pass_remark(s->run, TVMS_REMARK_PASSED, TVMS_D_rows, stage->nest->span,
                   group->count, tvms_diag_plural(group->count), stage->name,
                   group->row_count, tvms_diag_plural(group->row_count),
                   group->pass_count, group->pass_count == 1 ? "" : "es",
                   (long long)last->vectors, tvms_diag_plural((uint64_t)last->vectors),
                   (long long)last->lanes, together);
}

// Schedules a chain of stages that can be in groups.
static void schedule_chain(scheduler *s, tvms_chain *chain, tvms_node_vec *made) {
  if (chain->count == 0) return;
  chain->mask_bits = s->mask_bits;
  chain->skips = s->reorders;
  tvms_chain_join_initial(chain);
  tvms_chain_inline(chain);
  tvms_line_options options = {&s->target, s->mask_bits, s->reorders, s->noalias};
  tvms_line_group *group = tvms_arena_new(&s->unit->arena, tvms_line_group);
  for (uint32_t i = 0; i < chain->count; i += group->count) {
    tvms_line_find(chain, i, group);
    tvms_line_plan plan = tvms_line_plan_for(chain, group, &options);
    tell_rows(s, &chain->stages[i], group, &plan);
    tvms_stmt_push(s->unit, made, tvms_line_nest(s->unit, group, &plan, &s->gone));
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

static tvms_list with(scheduler *s, tvms_list list, tvms_node *more) {
  tvms_list made = {tvms_arena_array(&s->unit->arena, tvms_node *, list.len + 1),
                    list.len + 1};
  for (uint32_t i = 0; i < list.len; i++)
    made.items[i] = list.items[i];
  made.items[list.len] = more;
  return made;
}

// Each contraction with factors that its sum does not need becomes two statements.
static void take_factors_out(scheduler *s, tvms_list *stmts, tvms_list *allocated) {
  tvms_unit *unit = s->unit;
  tvms_list made = {tvms_arena_array(&unit->arena, tvms_node *, 2 * stmts->len), 0};
  for (uint32_t i = 0; i < stmts->len; i++) {
    tvms_stage stage;
    tvms_node *parts[2], *buffer;
    bool sums =
        !tvms_stage_read(unit, stmts->items[i], &stage) && tvms_stage_has_sums(&stage);
    if (!sums || !tvms_cpu_take_factors_out(unit, &stage, parts, &buffer)) {
      made.items[made.len++] = stmts->items[i];
      continue;
    }
    for (uint32_t k = 0; k < 2; k++)
      made.items[made.len++] = parts[k];
    *allocated = with(s, *allocated, buffer);
    tvms_stmt_push(unit, &s->added, buffer);
  }
  *stmts = made;
}

// Each reduction to several values becomes one statement for each of them.
static tvms_list take_tuples_apart(scheduler *s, tvms_list stmts) {
  tvms_node_vec made = {0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_node *parts[TVMS_MOST_PARTS] = {stmts.items[i]};
    uint32_t count =
        tvms_cpu_take_tuple_apart(s->unit, stmts.items[i], s->reorders, parts);
    for (uint32_t k = 0; k < (count ? count : 1); k++)
      tvms_stmt_push(s->unit, &made, parts[k]);
  }
  tvms_list list = tvms_list_copy(s->unit, made.items, made.len);
  tvms_vec_fini(&s->unit->context->memory, &made);
  return list;
}

static tvms_node *TVMS_NULLABLE schedule_body(scheduler *s, tvms_list allocated,
                                              tvms_node *body) {
  tvms_list stmts =
      body->kind == TVMS_NODE_SEQ ? tvms_as_seq(body)->stmts : (tvms_list){&body, 1};
  tvms_node_vec made = {0};
  if (s->noalias) stmts = take_tuples_apart(s, stmts);
  stmts = tvms_cpu_producers_join(s->unit, allocated, stmts, &s->gone);
  if (s->reorders && s->rooted) take_factors_out(s, &stmts, &allocated);
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
    changed |= tiled != NULL;
    tvms_stmt_push(s->unit, &made, tiled ? tiled : stmts.items[i]);
    i += used;
  }
  for (uint32_t i = 0; i < made.len; i++)
    tvms_stmt_push(s->unit, &s->preparers, made.items[i]);
  tvms_vec_fini(&s->unit->context->memory, &made);
  tvms_node *result = tvms_stmt_seq(s->unit, &s->preparers, body->span);
  return changed ? result : NULL;
}

static tvms_list without_gone(scheduler *s, tvms_list allocated) {
  tvms_list kept = {.len = 0};
  kept.items =
      tvms_arena_array(&s->unit->arena, tvms_node *, allocated.len + s->added.len);
  for (uint32_t i = 0; i < s->added.len; i++) {
    if (!tvms_node_map_get(&s->gone, s->added.items[i]))
      kept.items[kept.len++] = s->added.items[i];
  }
  for (uint32_t i = 0; i < allocated.len; i++) {
    if (!tvms_node_map_get(&s->gone, allocated.items[i]))
      kept.items[kept.len++] = allocated.items[i];
  }
  return kept;
}

static tvms_walk_step find_block(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  return node->kind == TVMS_NODE_BLOCK_REALIZE ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool holds_block(scheduler *s, tvms_node *body) {
  tvms_visitor visitor = {.enter = find_block};
  return !tvms_walk(&s->unit->context->memory, body, &visitor);
}

// Blocks stand in a root block.
static tvms_node *with_root(scheduler *s, tvms_node *body) {
  tvms_block *block = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  block->name = tvms_bytes_copy(s->unit, "root", 4);
  block->body = body;
  tvms_block_realize *realize = tvms_node_make(s->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->block = &block->head;
  realize->predicate = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  return &realize->head;
}

// The body is a root block around the stages, or the stages themselves.
static tvms_node *TVMS_NULLABLE schedule(scheduler *s) {
  tvms_node *body = s->function->body;
  bool rooted = body->kind == TVMS_NODE_BLOCK_REALIZE
                && tvms_as_block_realize(body)->iter_values.len == 0;
  s->rooted = rooted;
  if (!rooted) {
    tvms_node *loops = schedule_body(s, (tvms_list){0}, body);
    return loops && holds_block(s, loops) ? with_root(s, loops) : loops;
  }
  const tvms_block_realize *realize = tvms_as_block_realize(body);
  const tvms_block *root = tvms_as_block(realize->block);
  tvms_node *made = schedule_body(s, root->alloc_buffers, root->body);
  if (!made) return NULL;
  tvms_list kept = without_gone(s, root->alloc_buffers);
  bool plain = kept.len == 0 && !root->annotations && !root->match_buffers.len;
  if (plain && !holds_block(s, made)) return made;
  tvms_node *block = tvms_node_copy(s->unit, realize->block);
  tvms_as_block(block)->body = made;
  tvms_as_block(block)->alloc_buffers = kept;
  tvms_node *copy = tvms_node_copy(s->unit, body);
  tvms_as_block_realize(copy)->block = block;
  return copy;
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
  scheduler s = {.run = run, .unit = unit, .function = tvms_as_prim_func(function)};
  s.reorders = TVMS_OPTION(run, ScheduleCPU, reorder).number != 0;
  s.noalias = is_noalias(s.function);
  tvms_node_map_init(&s.gone, &unit->context->memory);
  bool fits = find_target(&s);
  if (TVMS_OPTION(run, ScheduleCPU, masks).number && tvms_target_has_masks(&s.target))
    s.mask_bits = s.target.vector_bits;
  tvms_node *body = fits ? schedule(&s) : NULL;
  tvms_node_map_fini(&s.gone);
  tvms_vec_fini(&unit->context->memory, &s.added);
  if (!body) return function;
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_as_prim_func(copy)->body = body;
  if (holds_block(&s, body)) copy->flags |= TVMS_FLAG_S_TIR;
  return copy;
}

void tvms_pass_schedule_cpu(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, tile_function);
}
