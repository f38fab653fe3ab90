// ForceNarrowIndexToInt32: indices, extents and shapes are int32, whatever they were.
//
// Before: for i in range(n): A[i + T.int64(1)] = 0.0   with n: T.int64
// After:  for i in range(n): A[i + 1] = 0.0            with n: T.int32
//
// Nothing is proved: the caller says that everything fits. Buffers of wider integers, and
// constants that do not fit, are refused. TVM: tirx.transform.ForceNarrowIndexToInt32.
#include "ir/fold.h"
#include "ir/index_dtype.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

#define TARGET TVMS_DTYPE(INT, 32)

static bool may_change(tvms_dtype dtype) {
  return tvms_dtype_is_int(dtype) && dtype.bits >= 32 && tvms_dtype_is_scalar(dtype);
}

static tvms_node *enter_var(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  bool parameter = r->role == TVMS_ROLE_DEFINE_REC;
  bool changes =
      (d->enabled || parameter) && may_change(node->dtype) && node->dtype.bits != 32;
  if (changes && !tvms_node_map_get(&d->vars, node))
    tvms_index_dtypes_replace(d, node, TARGET);
  return tvms_index_dtypes_var(d, node);
}

static tvms_node *enter_int(tvms_rewriter *r, tvms_node *node) {
  if (!tvms_dtype_is_int(node->dtype) || node->dtype.bits != 64) return node;
  int64_t value = tvms_as_int_imm(node)->value;
  if (value > INT32_MAX || value < INT32_MIN) {
    tvms_diag_report(&r->unit->context->diags, TVMS_D_narrow_value, node->span,
                     (long long)value);
    return node;
  }
  return tvms_int_imm_new(r->unit, TARGET, value, node->span);
}

static tvms_node *enter_cast(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  if (!d->enabled || !may_change(node->dtype)) return TVMS_REWRITE_BELOW;
  tvms_node *value = tvms_rewrite(r, tvms_as_cast(node)->value);
  if (tvms_dtype_same(value->dtype, TARGET)) return value;
  return tvms_cast_new(r->unit, TARGET, value, node->span);
}

// The first buffer of the list with wide integers, reported.
static bool has_wide(tvms_unit *unit, tvms_list buffers, tvms_span span) {
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_dtype element = tvms_as_buffer(buffers.items[i])->element;
    if (!tvms_dtype_is_int(element) || element.bits <= 32) continue;
    tvms_diag_report(&unit->context->diags, TVMS_D_narrow_buffer, span);
    return true;
  }
  return false;
}

static tvms_node *leave_block(tvms_rewriter *r, tvms_node *node) {
  has_wide(r->unit, tvms_as_block(node)->alloc_buffers, node->span);
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  const tvms_prim_func *old = tvms_as_prim_func(function);
  if (has_wide(unit, old->buffers, function->span)) return function;
  tvms_index_dtypes d;
  tvms_index_dtypes_init(&d, unit, NULL);
  d.rewriter.enter[TVMS_NODE_VAR] = enter_var;
  d.rewriter.enter[TVMS_NODE_INT_IMM] = enter_int;
  d.rewriter.enter[TVMS_NODE_CAST] = enter_cast;
  uint32_t errors = unit->context->diags.errors;
  // A first time to find the variables that are indices somewhere; then all that they are.
  tvms_rewrite(&d.rewriter, old->body);
  tvms_node_map_fini(&d.rewriter.known);
  tvms_node_map_init(&d.rewriter.known, &unit->context->memory);
  if (unit->context->diags.errors == errors) {
    d.rewriter.leave[TVMS_NODE_BLOCK] = leave_block;
    function = tvms_rewrite(&d.rewriter, function);
  }
  tvms_index_dtypes_fini(&d);
  return function;
}

void tvms_pass_force_narrow_index_to_int32(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
