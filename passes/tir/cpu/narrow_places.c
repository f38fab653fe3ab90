// Least and greatest numbers of 64 bits that fit in 32: vectors have twice as many lanes then.
//
// Before: I[i] = min(I[i], Select(X[i, k] == M[i], k, 999))
// After:  narrow[i] = min(narrow[i], Select(X[i, k] == M[i], int32(k), 999))    I[i] = int64(narrow[i])
#include "passes/tir/cpu/narrow_places.h"

#include "arith/analyzer.h"
#include "arith/bound.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;  // knows the axes
} narrowing;

static tvms_walk_step note_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  int *bits = self;
  if (node->kind == TVMS_NODE_BUFFER_LOAD && node->dtype.bits > *bits)
    *bits = node->dtype.bits;
  return TVMS_WALK_ON;
}

// Is something loaded, and nothing wider than what numbers become?
static bool loads_narrow(const narrowing *n, tvms_node *term) {
  int bits = 0;
  tvms_visitor visitor = {.self = &bits, .enter = note_load};
  tvms_walk(&n->unit->context->memory, term, &visitor);
  return bits > 0 && bits <= 32;
}

static bool fits(const narrowing *n, tvms_node *node) {
  tvms_bound b = tvms_analyzer_const_int_bound(n->analyzer, node);
  return b.min >= INT32_MIN && b.max <= INT32_MAX;
}

static tvms_node *before_widening(tvms_node *node) {
  while (node->kind == TVMS_NODE_CAST) {
    tvms_node *value = tvms_as_cast(node)->value;
    if (!tvms_dtype_is_int(value->dtype) || value->dtype.bits > node->dtype.bits) break;
    node = value;
  }
  return node;
}

// The same number as an int32; NULL: it may be too large.
static tvms_node *TVMS_NULLABLE narrowed(const narrowing *n, tvms_node *node) {
  if (node->kind == TVMS_NODE_SELECT) {
    const tvms_select *choice = tvms_as_select(node);
    tvms_node *yes = narrowed(n, choice->true_value);
    tvms_node *no = yes ? narrowed(n, choice->false_value) : NULL;
    return no ? tvms_select_new(n->unit, choice->condition, yes, no, TVMS_NO_SPAN)
              : NULL;
  }
  if (!fits(n, node)) return NULL;
  return tvms_build_cast(n->unit, TVMS_DTYPE(INT, 32), before_widening(node),
                         TVMS_NO_SPAN);
}

static bool write_narrow(const narrowing *n, const tvms_stage *stage, tvms_node *term,
                         tvms_node *stmts[2], tvms_node **buffer) {
  tvms_unit *unit = n->unit;
  const tvms_store *out = stage->store;
  tvms_node *init = narrowed(n, stage->init), *value = init ? narrowed(n, term) : NULL;
  if (!value) return false;
  const tvms_buffer *result = tvms_as_buffer(out->buffer);
  *buffer = tvms_cpu_buffer(unit, "narrow", TVMS_DTYPE(INT, 32), "global",
                            result->shape.items, result->shape.len);
  tvms_node *before = tvms_buffer_load_new(unit, *buffer, out->indices.items,
                                           out->indices.len, NULL, TVMS_NO_SPAN);
  value = tvms_binary_new(unit, out->value->kind, before, value, TVMS_NO_SPAN);
  stmts[0] = tvms_stage_write(unit, stage, stage->name,
                              tvms_cpu_store(unit, *buffer, out->indices, value),
                              tvms_cpu_store(unit, *buffer, out->indices, init));
  tvms_node *wide = tvms_cast_new(unit, out->value->dtype, before, TVMS_NO_SPAN);
  stmts[1] = tvms_stage_write_each(
      unit, stage, "wide", tvms_cpu_store(unit, out->buffer, out->indices, wide));
  return true;
}

bool tvms_cpu_take_narrow_out(tvms_unit *unit, const tvms_stage *stage,
                              tvms_node *stmts[2], tvms_node **buffer) {
  const tvms_store *out = stage->store;
  tvms_node_kind kind = out->value->kind;
  if (!stage->init || out->value->dtype.code != TVMS_INT || out->value->dtype.bits != 64
      || (kind != TVMS_NODE_MIN && kind != TVMS_NODE_MAX))
    return false;
  narrowing n = {.unit = unit};
  tvms_node *term = tvms_stage_term(stage, kind);
  if (!term || !loads_narrow(&n, term)) return false;
  n.analyzer = tvms_analyzer_new(unit);
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    tvms_node *zero = tvms_int_imm_new(unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(n.analyzer, axis->var, zero, axis->extent);
  }
  bool made = write_narrow(&n, stage, term, stmts, buffer);
  tvms_analyzer_free(n.analyzer);
  return made;
}
