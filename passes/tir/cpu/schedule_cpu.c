// ScheduleCPU: contractions in register tiles, with what follows them.
//
// Before: for i, j, k: C[i, j] += A[i, k] * B[k, j]   After: tiles of C in registers, unrolled and vectorised
//
// It looks at one PrimFunc at a time and at access maps, not at names: an axis is a
// row, a column, a batch or a sum by what moves along it. Stages behind a contraction that go
// through its result once, element by element, are computed while a tile is in registers. The tile
// follows from the lanes, registers and caches of the machine; nothing is searched or timed.
// Every element is added up in the order of the text, so strict results have the same bits.
// TVM has no such pass; there a search finds schedules.
#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/contraction_nest.h"

#include <string.h>

enum { MOST_EPILOGUES = 16 };

typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  const tvms_prim_func *function;
  tvms_target target;
  tvms_node_map gone;  // buffers that nothing uses any more
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

// Each axis of the stage is an axis of the contraction, by the place where the result is loaded.
static bool match_axes(scheduler *s, const tvms_contraction *c,
                       const tvms_epilogue *TVMS_NULLABLE before, tvms_list stored,
                       tvms_list loaded, tvms_epilogue *e) {
  bool seen[TVMS_MOST_STAGE_AXES] = {0};
  for (uint32_t i = 0; i < loaded.len; i++) {
    tvms_node *index = loaded.items[i];
    uint32_t axis, own = tvms_stage_axis_of(&e->stage, index);
    bool constant = tvms_node_is_int(index, 0) && tvms_node_is_int(stored.items[i], 0);
    if (constant) continue;
    if (!axis_at(c, before, stored.items[i], &axis)) return false;
    if (own == TVMS_MOST_STAGE_AXES) {
      // An axis of one step needs no variable.
      if (!tvms_node_is_int(index, 0)
          || !tvms_stage_axis_is_single(&c->stage.axes[axis]))
        return false;
      continue;
    }
    if (seen[own]) return false;
    tvms_node *a = e->stage.axes[own].extent, *b = c->stage.axes[axis].extent;
    if (!tvms_node_same_expr(a, b) && !tvms_arith_prove_equal(s->unit, a, b))
      return false;
    seen[own] = true;
    e->axis_of[own] = axis;
  }
  for (uint32_t i = 0; i < e->stage.count; i++) {
    if (!seen[i]) return false;
  }
  return true;
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

// Is `stmt` the next epilogue? The buffer between must be allocated here and used nowhere else.
static bool read_epilogue(scheduler *s, const tvms_contraction *c, tvms_list allocated,
                          tvms_list stmts, uint32_t at, tvms_epilogue *all,
                          uint32_t count) {
  tvms_epilogue *e = &all[count];
  const tvms_store *before = last_store(c, all, count);
  if (!is_allocated(allocated, before->buffer)) return false;
  if (tvms_stage_read(s->unit, stmts.items[at], &e->stage) || e->stage.init)
    return false;
  uses u = {before->buffer, NULL, true};
  tvms_visitor visitor = {.self = &u, .enter = note_use};
  tvms_walk(&s->unit->context->memory, e->stage.store->value, &visitor);
  if (!u.load || !u.alike || e->stage.store->buffer == before->buffer) return false;
  bool last_is_float =
      tvms_dtype_same(e->stage.store->value->dtype, before->value->dtype);
  e->from = before->buffer;
  const tvms_epilogue *earlier = count ? &all[count - 1] : NULL;
  if (!match_axes(s, c, earlier, before->indices, u.load->indices, e)) return false;
  for (uint32_t i = at + 1; i < stmts.len; i++) {
    if (mentions(s, stmts.items[i], before->buffer)) return false;
  }
  // What changes the dtype is stored at once.
  return last_is_float || count + 1 < MOST_EPILOGUES;
}

static bool keeps_dtype(const tvms_contraction *c, const tvms_epilogue *e) {
  return tvms_dtype_same(e->stage.store->value->dtype, c->stage.store->value->dtype);
}

static uint32_t read_epilogues(scheduler *s, const tvms_contraction *c,
                               tvms_list allocated, tvms_list stmts, uint32_t at,
                               tvms_epilogue *all) {
  uint32_t count = 0;
  while (at + count < stmts.len && count < MOST_EPILOGUES
         && (count == 0 || keeps_dtype(c, &all[count - 1]))
         && read_epilogue(s, c, allocated, stmts, at + count, all, count))
    count++;
  return count;
}

// ---- Contractions ----

static void tell(scheduler *s, const tvms_stage *stage, const char *TVMS_NULLABLE why,
                 const tvms_tile *tile, uint32_t epilogues) {
  if (why) {
    tvms_pass_remark(s->run, TVMS_REMARK_MISSED, TVMS_D_not_tiled, stage->nest->span,
                     stage->name, why);
    return;
  }
  tvms_pass_count(s->run, "contractions tiled", 1);
  tvms_pass_remark(s->run, TVMS_REMARK_PASSED, TVMS_D_tiled, stage->nest->span,
                   stage->name, (long long)tile->rows,
                   tvms_diag_plural((uint64_t)tile->rows), (long long)tile->vectors,
                   (long long)tile->lanes, tile->packs ? "packed" : "read as they are",
                   epilogues, tvms_diag_plural(epilogues));
}

static bool has_sums(const tvms_stage *stage) {
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].sums) return true;
  }
  return false;
}

// The statement in the place of number `at` and of `*used` behind it; NULL: it stays.
static tvms_node *TVMS_NULLABLE schedule_at(scheduler *s, tvms_list allocated,
                                            tvms_list stmts, uint32_t at,
                                            uint32_t *used) {
  tvms_stage stage;
  tvms_contraction c;
  if (tvms_stage_read(s->unit, stmts.items[at], &stage) || !has_sums(&stage))
    return NULL;
  const char *why = tvms_contraction_find(s->unit, &stage, &c);
  if (!why && tvms_tile_size_of(c.stage.axes[c.column].extent) < 0)
    why = "the size of its innermost axis is not known";
  if (why) {
    tell(s, &stage, why, NULL, 0);
    return NULL;
  }
  tvms_tile tile = tvms_tile_choose(s->unit, &s->target, &c);
  tvms_epilogue *epilogues =
      tvms_arena_array(&s->unit->arena, tvms_epilogue, MOST_EPILOGUES);
  // In blocks of the sum the result is not ready until the last one.
  uint32_t count = 0;
  if (!tile.sum_block)
    count = read_epilogues(s, &c, allocated, stmts, at + 1, epilogues);
  *used = count;
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *gone = (tvms_node *)(uintptr_t)epilogues[i].from;
    tvms_node_map_put(&s->gone, gone, gone);
  }
  tell(s, &stage, NULL, &tile, count);
  return tvms_contraction_nest(s->unit, &c, &tile, epilogues, count);
}

static tvms_node *TVMS_NULLABLE schedule_body(scheduler *s, tvms_list allocated,
                                              tvms_node *body) {
  tvms_list stmts =
      body->kind == TVMS_NODE_SEQ ? tvms_as_seq(body)->stmts : (tvms_list){&body, 1};
  tvms_node_vec made = {0};
  bool changed = false;
  for (uint32_t i = 0; i < stmts.len; i++) {
    uint32_t used = 0;
    tvms_node *tiled = schedule_at(s, allocated, stmts, i, &used);
    changed |= tiled != NULL;
    tvms_stmt_push(s->unit, &made, tiled ? tiled : stmts.items[i]);
    i += used;
  }
  tvms_node *result = tvms_stmt_seq(s->unit, &made, body->span);
  return changed ? result : NULL;
}

static tvms_list without_gone(scheduler *s, tvms_list allocated) {
  tvms_list kept = tvms_list_copy(s->unit, allocated.items, allocated.len);
  kept.len = 0;
  for (uint32_t i = 0; i < allocated.len; i++) {
    if (!tvms_node_map_get(&s->gone, allocated.items[i]))
      kept.items[kept.len++] = allocated.items[i];
  }
  return kept;
}

// The body is a root block around the stages, or the stages themselves.
static tvms_node *TVMS_NULLABLE schedule(scheduler *s) {
  tvms_node *body = s->function->body;
  bool rooted = body->kind == TVMS_NODE_BLOCK_REALIZE
                && tvms_as_block_realize(body)->iter_values.len == 0;
  if (!rooted) return schedule_body(s, (tvms_list){0}, body);
  const tvms_block_realize *realize = tvms_as_block_realize(body);
  const tvms_block *root = tvms_as_block(realize->block);
  tvms_node *made = schedule_body(s, root->alloc_buffers, root->body);
  if (!made) return NULL;
  tvms_node *block = tvms_node_copy(s->unit, realize->block);
  tvms_as_block(block)->body = made;
  tvms_as_block(block)->alloc_buffers = without_gone(s, root->alloc_buffers);
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

static tvms_node *tile_function(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  scheduler s = {.run = run, .unit = unit, .function = tvms_as_prim_func(function)};
  tvms_node_map_init(&s.gone, &unit->context->memory);
  tvms_node *body = find_target(&s) ? schedule(&s) : NULL;
  tvms_node_map_fini(&s.gone);
  if (!body) return function;
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_as_prim_func(copy)->body = body;
  return copy;
}

void tvms_pass_schedule_cpu(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, tile_function);
}
