// Extents that are not below 0.
#include "passes/tir/cpu/loop_extents.h"

#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

typedef struct {
  tvms_analyzer *analyzer;
  tvms_list given, allocated;  // buffers
} settling;

// ---- Sizes ----

static void mark_sizes(tvms_analyzer *analyzer, tvms_list buffers) {
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      tvms_analyzer_mark_nonnegative(analyzer, shape.items[k]);
  }
}

static bool is_size(tvms_list buffers, const tvms_node *extent) {
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      if (tvms_node_same_expr(shape.items[k], extent)) return true;
  }
  return false;
}

// ---- Extents ----

static bool is_known(const settling *s, tvms_node *extent) {
  return is_size(s->given, extent) || is_size(s->allocated, extent)
         || tvms_analyzer_can_prove_ge(s->analyzer, extent, 0);
}

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// What memory says is counted where it is read in front of the loops (loaded_counts.c).
static bool is_loaded(tvms_unit *unit, tvms_node *extent) {
  tvms_visitor visitor = {.enter = find_load};
  return !tvms_walk(&unit->context->memory, extent, &visitor);
}

// Is an extent not below 0? Of some operations if their operands are not.
static bool is_counted(const settling *s, tvms_node *extent) {
  if (tvms_node_is_int_imm(extent)) return tvms_as_int_imm(extent)->value >= 0;
  if (is_known(s, extent)) return true;
  if (extent->kind == TVMS_NODE_CAST) return is_counted(s, tvms_as_cast(extent)->value);
  if (tvms_node_is_binary(extent)) {
    const tvms_binary *sides = tvms_as_binary(extent);
    bool fits = extent->kind == TVMS_NODE_MIN || extent->kind == TVMS_NODE_ADD
                || extent->kind == TVMS_NODE_MUL || extent->kind == TVMS_NODE_FLOOR_DIV;
    if (fits && is_counted(s, sides->a) && is_counted(s, sides->b)) return true;
  }
  return is_known(s, tvms_analyzer_simplify(s->analyzer, extent));
}

static tvms_node *settled(tvms_rewriter *r, tvms_node *extent) {
  if (is_counted(r->self, extent) || is_loaded(r->unit, extent)) return extent;
  tvms_node *none = tvms_int_imm_new(r->unit, extent->dtype, 0, TVMS_NO_SPAN);
  return tvms_build_binary(r->unit, TVMS_NODE_MAX, extent, none, extent->span);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  const settling *s = r->self;
  const tvms_for *loop = tvms_as_for(node);
  tvms_node *extent = settled(r, loop->extent);
  if (extent != loop->extent) {
    node = tvms_node_copy(r->unit, node);
    tvms_as_for(node)->extent = extent;
  }
  tvms_analyzer_bind_range(s->analyzer, loop->var, loop->min, extent);
  return tvms_rewrite_below(r, node);
}

static void bind_axis(tvms_analyzer *analyzer, const tvms_node *axis) {
  const tvms_iter_var *iter = tvms_as_iter_var(axis);
  if (!iter->dom) return;
  const tvms_range *domain = tvms_as_range(iter->dom);
  tvms_analyzer_bind_range(analyzer, iter->var, domain->min, domain->extent);
}

static tvms_node *enter_axis(tvms_rewriter *r, tvms_node *node) {
  const settling *s = r->self;
  if (!tvms_as_iter_var(node)->dom) return TVMS_REWRITE_BELOW;
  const tvms_range *domain = tvms_as_range(tvms_as_iter_var(node)->dom);
  tvms_node *extent = settled(r, domain->extent);
  if (extent != domain->extent) {
    node = tvms_node_copy(r->unit, node);
    tvms_as_iter_var(node)->dom =
        tvms_range_new(r->unit, domain->min, extent, tvms_as_iter_var(node)->dom->span);
  }
  bind_axis(s->analyzer, node);
  return node;
}

tvms_list tvms_cpu_settle_extents(tvms_unit *unit, const tvms_extent_facts *facts,
                                  tvms_list stmts) {
  settling s = {tvms_analyzer_new(unit), facts->given, facts->allocated};
  mark_sizes(s.analyzer, s.given);
  mark_sizes(s.analyzer, s.allocated);
  for (uint32_t i = 0; i < facts->around.len; i++) {
    const tvms_for *loop = tvms_as_for(facts->around.items[i]);
    tvms_analyzer_bind_range(s.analyzer, loop->var, loop->min, loop->extent);
  }
  for (uint32_t i = 0; i < facts->axes.len; i++)
    bind_axis(s.analyzer, facts->axes.items[i]);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_ITER_VAR] = enter_axis;
  stmts = tvms_list_copy(unit, stmts.items, stmts.len);
  for (uint32_t i = 0; i < stmts.len; i++)
    stmts.items[i] = tvms_rewrite(&r, stmts.items[i]);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(s.analyzer);
  return stmts;
}
