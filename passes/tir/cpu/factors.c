// Taking factors out of sums.
//
// Before: C[j] = sum over k of A[k] * (float(Q[j, k]) * S[j])
// After:  plain[j] = sum over k of A[k] * float(Q[j, k]);  C[j] = plain[j] * S[j]
#include "passes/tir/cpu/factors.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_node *inside, *outside;  // products; NULL: of nothing
  bool loads;                   // a factor outside is no mere number
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
  multiply(f, inside ? &f->inside : &f->outside, node);
  f->loads |= !inside && node->kind == TVMS_NODE_BUFFER_LOAD;
}

bool tvms_cpu_split_product(tvms_unit *unit, const tvms_stage *stage,
                            tvms_node *product, tvms_node **inside,
                            tvms_node **outside) {
  factors f = {.unit = unit, .stage = stage};
  sort_factors(&f, product);
  *inside = f.inside;
  *outside = f.outside;
  return f.inside && f.loads;
}

static tvms_node *TVMS_NULLABLE term_of(const tvms_stage *stage) {
  const tvms_node *value = stage->store->value;
  if (value->kind != TVMS_NODE_ADD) return NULL;
  tvms_node *sum = tvms_as_binary(value)->a;
  if (sum->kind != TVMS_NODE_BUFFER_LOAD) return NULL;
  const tvms_buffer_load *load = tvms_as_buffer_load(sum);
  bool same = load->buffer == stage->store->buffer
              && load->indices.len == stage->store->indices.len;
  for (uint32_t i = 0; same && i < load->indices.len; i++)
    same = tvms_node_same_expr(load->indices.items[i], stage->store->indices.items[i]);
  return same ? tvms_as_binary(value)->b : NULL;
}

static bool begins_with_zero(const tvms_stage *stage) {
  const tvms_node *init = stage->init;
  return init && init->kind == TVMS_NODE_FLOAT_IMM
         && tvms_as_float_imm(init)->value == 0.0;
}

// A nest of loops around one block with fresh axes; `init` is NULL if it sums over nothing.
static tvms_node *nest_of(factors *f, const char *name, tvms_node *store,
                          tvms_node *TVMS_NULLABLE init) {
  tvms_unit *unit = f->unit;
  tvms_node *iters[TVMS_MOST_STAGE_AXES], *loops[TVMS_MOST_STAGE_AXES];
  tvms_node *extents[TVMS_MOST_STAGE_AXES];
  uint32_t count = 0;
  tvms_node_map fresh;
  tvms_node_map_init(&fresh, &unit->context->memory);
  for (uint32_t i = 0; i < f->stage->count; i++) {
    const tvms_stage_axis *axis = &f->stage->axes[i];
    if (axis->sums && !init) continue;
    tvms_iter_var *iter = tvms_node_make(unit, ITER_VAR, TVMS_NO_SPAN);
    tvms_node *zero = tvms_int_imm_new(unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    iter->dom = tvms_range_new(unit, zero, axis->extent, TVMS_NO_SPAN);
    iter->var = tvms_cpu_variable(unit, "v", axis->var);
    iter->iter_type = axis->sums ? TVMS_ITER_COMM_REDUCE : TVMS_ITER_DATA_PAR;
    tvms_node_map_put(&fresh, axis->var, iter->var);
    iters[count] = &iter->head;
    extents[count] = axis->extent;
    loops[count++] = tvms_cpu_variable(unit, "i", axis->var);
  }
  store = tvms_substitute(unit, store, &fresh);
  if (init) init = tvms_substitute(unit, init, &fresh);
  tvms_node_map_fini(&fresh);
  tvms_node *made = tvms_cpu_block(unit, name, (tvms_list){0}, store);
  tvms_block_realize *realize = tvms_as_block_realize(made);
  tvms_block *block = tvms_as_block(realize->block);
  block->iter_vars = tvms_list_copy(unit, iters, count);
  block->init = init;
  realize->iter_values = tvms_list_copy(unit, loops, count);
  for (uint32_t i = count; i-- > 0;)
    made = tvms_cpu_loop(unit, loops[i], extents[i], TVMS_FOR_SERIAL, made);
  return made;
}

bool tvms_cpu_take_factors_out(tvms_unit *unit, const tvms_stage *stage,
                               tvms_node *stmts[2], tvms_node **buffer) {
  factors f = {.unit = unit, .stage = stage};
  const tvms_store *out = stage->store;
  tvms_node *term = term_of(stage);
  if (!term || !begins_with_zero(stage) || out->value->dtype.code != TVMS_FLOAT)
    return false;
  if (!tvms_cpu_split_product(unit, stage, term, &f.inside, &f.outside)) return false;
  const tvms_buffer *result = tvms_as_buffer(out->buffer);
  tvms_node *plain = tvms_cpu_buffer(unit, "plain", result->element, "global",
                                     result->shape.items, result->shape.len);
  tvms_node *sum = tvms_buffer_load_new(unit, plain, out->indices.items,
                                        out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *more = tvms_build_binary(unit, TVMS_NODE_ADD, sum, f.inside, TVMS_NO_SPAN);
  tvms_node *scaled =
      tvms_build_binary(unit, TVMS_NODE_MUL, sum, f.outside, TVMS_NO_SPAN);
  stmts[0] = nest_of(&f, stage->name, tvms_cpu_store(unit, plain, out->indices, more),
                     tvms_cpu_store(unit, plain, out->indices, stage->init));
  stmts[1] = nest_of(&f, "scaled",
                     tvms_cpu_store(unit, out->buffer, out->indices, scaled), NULL);
  *buffer = plain;
  return true;
}
