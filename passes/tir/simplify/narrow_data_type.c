// NarrowDataType: indices that fit into fewer bits are computed with fewer bits.
//
// Before: for i in range(T.int64(64)): A[i * T.int64(2)] = 0.0
// After:  for i in range(64): A[i * 2] = 0.0
//
// A loop variable, a block variable or a thread index is narrowed if every expression that
// it is part of fits into `target_bits`; constants and casts in indices follow. What is
// stored, and parameters of the function, keep their dtype.
// TVM: tirx.transform.NarrowDataType.
#include "arith/bound.h"
#include "ir/fold.h"
#include "ir/index_dtype.h"
#include "ir/walk.h"
#include "passes/functions.h"

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  int target;
  int bits;               // of what the node at hand is part of
  TVMS_VEC(int) outer;    // `bits` of the nodes around
  tvms_node_map extents;  // variables that may change: their extent
  tvms_node_map
      narrowed;  // VAR, INT_IMM, CAST: the dtype that they may have, as INT_IMM
} narrowing;

// ---- What each variable, constant and cast needs ----

static bool fits(narrowing *n, const tvms_node *node) {
  if (node->dtype.bits <= n->target) return true;
  tvms_bound bound = tvms_analyzer_const_int_bound(n->analyzer, node);
  int64_t limit = n->target >= 64 ? INT64_MAX : ((int64_t)1 << (n->target - 1)) - 1;
  return bound.max <= limit && bound.min >= -limit - 1;
}

static void need(narrowing *n, const tvms_node *node, int own_bits) {
  int bits = own_bits < n->bits ? own_bits : n->bits;
  const tvms_node *before = tvms_node_map_get(&n->narrowed, node);
  if (before && before->dtype.bits > bits) bits = before->dtype.bits;
  tvms_dtype dtype = node->dtype;
  dtype.bits = (uint8_t)bits;
  tvms_node_map_put(&n->narrowed, node,
                    tvms_int_imm_new(n->unit, dtype, 0, TVMS_NO_SPAN));
}

static void bind(narrowing *n, const tvms_node *var, tvms_node *min,
                 tvms_node *extent) {
  tvms_analyzer_bind_range(n->analyzer, var, min, extent);
  tvms_node_map_put(&n->extents, var, extent);
}

static void bind_threads(narrowing *n, const tvms_node *node) {
  const tvms_iter_var *axis = tvms_attr_stmt_threads(node);
  if (!axis) return;
  tvms_node *extent = tvms_as_attr_stmt(node)->value;
  bind(n, axis->var, tvms_int_imm_new(n->unit, extent->dtype, 0, TVMS_NO_SPAN), extent);
}

static void bind_axes(narrowing *n, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    bind(n, axis->var, tvms_as_range(axis->dom)->min, tvms_as_range(axis->dom)->extent);
  }
}

static void note_expression(narrowing *n, const tvms_node *node) {
  if (tvms_dtype_is_int(node->dtype)) {
    int bits = fits(n, node) ? n->target : 64;
    if (bits > n->bits) n->bits = bits;
  }
  if (node->kind == TVMS_NODE_VAR) {
    const tvms_node *extent = tvms_node_map_get(&n->extents, node);
    if (extent) need(n, node, extent->dtype.bits);
  }
  bool number = node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_CAST;
  if (number && tvms_dtype_is_int(node->dtype)) need(n, node, node->dtype.bits);
  if (node->kind == TVMS_NODE_BUFFER_LOAD) n->bits = n->target;
}

static tvms_walk_step note_enter(void *self, tvms_node *node, tvms_field_role role) {
  narrowing *n = self;
  tvms_vec_push(&n->unit->context->memory, &n->outer, n->bits);
  bool defined = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  switch ((int)node->kind) {
  case TVMS_NODE_FOR: {
    const tvms_for *loop = tvms_as_for(node);
    bind(n, loop->var, loop->min, loop->extent);
    return TVMS_WALK_ON;
  }
  case TVMS_NODE_BLOCK: bind_axes(n, tvms_as_block(node)); return TVMS_WALK_ON;
  case TVMS_NODE_ATTR_STMT: bind_threads(n, node); return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER: return defined ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  case TVMS_NODE_ITER_VAR: return defined ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  default: break;
  }
  if (role == TVMS_ROLE_NOTE || role == TVMS_ROLE_TYPE) return TVMS_WALK_SKIP;
  if (role == TVMS_ROLE_DEFINE && node->kind == TVMS_NODE_VAR) return TVMS_WALK_SKIP;
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR) note_expression(n, node);
  return TVMS_WALK_ON;
}

static void note_leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)node;
  (void)role;
  narrowing *n = self;
  n->bits = n->outer.items[--n->outer.len];
}

// ---- Rewriting ----

// The dtype that a node changes to, or NULL.
static const tvms_node *TVMS_NULLABLE change_of(tvms_rewriter *r,
                                                const tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const narrowing *n = d->self;
  const tvms_node *dtype = tvms_node_map_get(&n->narrowed, node);
  return dtype && dtype->dtype.bits != node->dtype.bits ? dtype : NULL;
}

static tvms_node *enter_var(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const tvms_node *dtype = change_of(r, node);
  if (dtype && !tvms_node_map_get(&d->vars, node))
    tvms_index_dtypes_replace(d, node, dtype->dtype);
  return tvms_index_dtypes_var(d, node);
}

static tvms_node *enter_int(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const tvms_node *dtype = d->enabled ? change_of(r, node) : NULL;
  if (!dtype) return node;
  return tvms_int_imm_new(r->unit, dtype->dtype, tvms_as_int_imm(node)->value,
                          node->span);
}

static tvms_node *enter_cast(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const tvms_node *dtype = d->enabled ? change_of(r, node) : NULL;
  if (!dtype) return TVMS_REWRITE_BELOW;
  tvms_node *value = tvms_rewrite(r, tvms_as_cast(node)->value);
  if (tvms_dtype_same(value->dtype, dtype->dtype)) return value;
  return tvms_cast_new(r->unit, dtype->dtype, value, node->span);
}

static tvms_node *narrow(narrowing *n, tvms_node *body) {
  tvms_index_dtypes d;
  tvms_index_dtypes_init(&d, n->unit, n);
  d.retries = true;
  d.rewriter.enter[TVMS_NODE_VAR] = enter_var;
  d.rewriter.enter[TVMS_NODE_INT_IMM] = enter_int;
  d.rewriter.enter[TVMS_NODE_CAST] = enter_cast;
  body = tvms_rewrite(&d.rewriter, body);
  tvms_index_dtypes_fini(&d);
  return body;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  int target = (int)TVMS_OPTION(run, NarrowDataType, target_bits).number;
  tvms_memory *memory = &run->context->memory;
  narrowing n = {.unit = unit, .target = target, .bits = target};
  n.analyzer = tvms_analyzer_new(unit);
  tvms_node_map_init(&n.extents, memory);
  tvms_node_map_init(&n.narrowed, memory);
  tvms_visitor visitor = {.self = &n, .enter = note_enter, .leave = note_leave};
  tvms_node *body = tvms_as_prim_func(function)->body;
  tvms_walk(memory, body, &visitor);
  tvms_node *narrowed = narrow(&n, body);
  if (narrowed != body) {
    function = tvms_node_copy(unit, function);
    tvms_as_prim_func(function)->body = narrowed;
  }
  tvms_vec_fini(memory, &n.outer);
  tvms_node_map_fini(&n.extents);
  tvms_node_map_fini(&n.narrowed);
  tvms_analyzer_free(n.analyzer);
  return function;
}

void tvms_pass_narrow_data_type(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
