// Taking factors out of sums.
//
// Before: C[j] = sum over k of A[k] * (float(Q[j, k]) * S[j])
// After:  plain[j] = sum over k of A[k] * float(Q[j, k]);  C[j] = plain[j] * S[j]
//
// So are divisors: of the mean as a sum of X[k] / n.
#include "passes/tir/cpu/factors.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_node *inside, *outside, *divisor;  // products; NULL: of nothing
  bool loads;                             // a factor outside is no mere number
} factors;

static bool depends_on_sum(const factors *f, tvms_node *node) {
  for (uint32_t i = 0; i < f->stage->count; i++) {
    const tvms_stage_axis *axis = &f->stage->axes[i];
    if (axis->sums && tvms_walk_contains(&f->unit->context->memory, node, axis->var))
      return true;
  }
  return false;
}

static void multiply(factors *f, tvms_node **product, tvms_node *factor) {
  *product = *product ? tvms_build_binary(f->unit, TVMS_NODE_MUL, *product, factor,
                                          TVMS_NO_SPAN)
                      : factor;
}

static void sort_factors(factors *f, tvms_node *node) {
  bool inside = depends_on_sum(f, node);
  if (inside && node->kind == TVMS_NODE_MUL) {
    sort_factors(f, tvms_as_binary(node)->a);
    sort_factors(f, tvms_as_binary(node)->b);
    return;
  }
  if (inside && node->kind == TVMS_NODE_DIV && node->dtype.bits >= 32
      && !depends_on_sum(f, tvms_as_binary(node)->b)) {
    sort_factors(f, tvms_as_binary(node)->a);
    multiply(f, &f->divisor, tvms_as_binary(node)->b);
    return;
  }
  multiply(f, inside ? &f->inside : &f->outside, node);
  f->loads |= !inside && node->kind == TVMS_NODE_BUFFER_LOAD;
}

bool tvms_cpu_take_factors_out(tvms_unit *unit, const tvms_stage *stage,
                               tvms_node *stmts[2], tvms_node **buffer) {
  factors f = {.unit = unit, .stage = stage};
  const tvms_store *out = stage->store;
  tvms_node *term = tvms_stage_term(stage, TVMS_NODE_ADD);
  if (!term || !tvms_stage_begins_with_zero(stage)
      || out->value->dtype.code != TVMS_FLOAT)
    return false;
  sort_factors(&f, term);
  // A mere number is worth it where a product stays: there it would be multiplied for each row and step.
  bool product = f.outside && f.inside && f.inside->kind == TVMS_NODE_MUL;
  if (!f.inside || !(f.loads || product || f.divisor)) return false;
  const tvms_buffer *result = tvms_as_buffer(out->buffer);
  tvms_node *plain = tvms_cpu_buffer(unit, "plain", result->element, "global",
                                     result->shape.items, result->shape.len);
  tvms_node *sum = tvms_buffer_load_new(unit, plain, out->indices.items,
                                        out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *more = tvms_build_binary(unit, TVMS_NODE_ADD, sum, f.inside, TVMS_NO_SPAN);
  tvms_node *scaled = sum;
  if (f.outside)
    scaled = tvms_build_binary(unit, TVMS_NODE_MUL, scaled, f.outside, TVMS_NO_SPAN);
  if (f.divisor)
    scaled = tvms_build_binary(unit, TVMS_NODE_DIV, scaled, f.divisor, TVMS_NO_SPAN);
  stmts[0] = tvms_stage_write(unit, stage, stage->name,
                              tvms_cpu_store(unit, plain, out->indices, more),
                              tvms_cpu_store(unit, plain, out->indices, stage->init));
  stmts[1] = tvms_stage_write_each(
      unit, stage, "scaled", tvms_cpu_store(unit, out->buffer, out->indices, scaled));
  *buffer = plain;
  return true;
}
