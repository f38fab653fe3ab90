// Simplifying stages and inlining them into one another.
#include "passes/tir/cpu/chain.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/groups.h"
#include "passes/tir/cpu/padding.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/unknown_digits.h"

enum { MOST_NODES = 400 };  // of an expression that grows

// ---- Questions ----

typedef struct {
  tvms_chain_cost cost;
  const tvms_node *TVMS_NULLABLE buffer;
} counting;

static bool is_cheap_call(const tvms_node *node) {
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
  case TVMS_TIR_bitwise_not:
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right:
  case TVMS_TIR_reinterpret:
  case TVMS_TIR_fabs:
  case TVMS_TIR_fma:
  case TVMS_TIR_likely:
  case TVMS_TIR_if_then_else: return true;
  default: return false;
  }
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  counting *c = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  c->cost.nodes++;
  if (node->kind == TVMS_NODE_BUFFER_LOAD && c->buffer
      && tvms_as_buffer_load(node)->buffer == c->buffer)
    c->cost.loads++;
  if (node->kind == TVMS_NODE_CALL) {
    if (!is_cheap_call(node)) c->cost.calls++;
    if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) c->cost.chosen++;
  }
  if (node->kind == TVMS_NODE_DIV && tvms_dtype_is_real(node->dtype)) c->cost.calls++;
  return TVMS_WALK_ON;
}

tvms_chain_cost tvms_chain_cost_of(tvms_unit *unit, tvms_node *expr,
                                   const tvms_node *TVMS_NULLABLE buffer) {
  counting c = {.buffer = buffer};
  tvms_visitor visitor = {.self = &c, .enter = count_node};
  tvms_walk(&unit->context->memory, expr, &visitor);
  return c.cost;
}

static bool mentioned(const tvms_chain *chain, tvms_list stmts,
                      const tvms_node *buffer) {
  tvms_memory *memory = &chain->unit->context->memory;
  for (uint32_t i = 0; i < stmts.len; i++) {
    if (tvms_walk_contains(memory, stmts.items[i], buffer)
        || tvms_walk_contains(memory, stmts.items[i], tvms_as_buffer(buffer)->data))
      return true;
  }
  return false;
}

bool tvms_chain_is_inner(const tvms_chain *chain, const tvms_node *buffer) {
  bool allocated = false;
  for (uint32_t i = 0; i < chain->allocated.len; i++)
    allocated |= chain->allocated.items[i] == buffer;
  return allocated && !mentioned(chain, chain->before, buffer)
         && !mentioned(chain, chain->behind, buffer);
}

// ---- Is the order of the steps free? ----

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  bool itself;  // a step may load elsewhere what it alone stores
  bool fine;
} own_loads;

// The only axis whose steps count; NULL: there is none, or there are several, or sums.
static const tvms_stage_axis *TVMS_NULLABLE only_axis(const tvms_stage *stage) {
  const tvms_stage_axis *found = NULL;
  for (uint32_t i = 0; i < stage->count; i++) {
    if (tvms_stage_axis_is_single(&stage->axes[i])) continue;
    if (found || stage->axes[i].sums) return NULL;
    found = &stage->axes[i];
  }
  return found;
}

// The only step of an axis in which one of these indices is what the one of the other list is in all steps; false: none
// says so.
static bool only_step(tvms_unit *unit, tvms_list moving, tvms_list fixed,
                      const tvms_stage_axis *axis, int64_t *at) {
  for (uint32_t i = 0; i < moving.len; i++) {
    tvms_node *index = moving.items[i], *other = fixed.items[i];
    int64_t step;
    if (tvms_walk_contains(&unit->context->memory, other, axis->var)
        || !tvms_dtype_same(index->dtype, other->dtype)
        || !tvms_cpu_index_step(unit, index, axis->var, &step)
        || (step != 1 && step != -1))
      continue;
    tvms_node *zero = tvms_build_int(unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    tvms_node *first = tvms_substitute_one(unit, index, axis->var, zero);
    tvms_node *rest = tvms_arith_simplify(
        unit, tvms_build_binary(unit, TVMS_NODE_SUB, other, first, TVMS_NO_SPAN));
    if (!tvms_node_is_int_imm(rest)) continue;
    *at = step * tvms_as_int_imm(rest)->value;
    return true;
  }
  return false;
}

// Is what a load takes stored in the same step only, if at all? As by V[j, i] = V[i, j] of a triangle, where i is j.
static bool meets_itself(const own_loads *o, const tvms_buffer_load *load) {
  const tvms_store *store = o->stage->store;
  const tvms_stage_axis *axis = o->itself ? only_axis(o->stage) : NULL;
  int64_t stored, loaded;
  return axis && load->buffer == store->buffer
         && load->indices.len == store->indices.len
         && only_step(o->unit, store->indices, load->indices, axis, &stored)
         && only_step(o->unit, load->indices, store->indices, axis, &loaded)
         && stored == loaded;
}

static tvms_walk_step check_load(void *self, tvms_node *node, tvms_field_role role) {
  own_loads *o = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  // What a pointer is taken of may be anything.
  if (node->kind == TVMS_NODE_VAR && tvms_dtype_is_handle(node->dtype)) o->fine = false;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_store *store = o->stage->store;
  bool scalar = tvms_dtype_is_scalar(node->dtype) && !load->predicate;
  bool own = tvms_as_buffer(load->buffer)->data == tvms_as_buffer(store->buffer)->data;
  bool same = load->indices.len == store->indices.len && load->buffer == store->buffer;
  for (uint32_t i = 0; own && same && i < load->indices.len; i++)
    same = tvms_node_same_expr(load->indices.items[i], store->indices.items[i]);
  o->fine &= scalar && (!own || same || meets_itself(o, load));
  return TVMS_WALK_ON;
}

static bool is_free(tvms_unit *unit, const tvms_stage *stage, bool itself) {
  own_loads o = {unit, stage, itself, tvms_dtype_is_scalar(stage->store->value->dtype)};
  tvms_visitor visitor = {.self = &o, .enter = check_load};
  tvms_memory *memory = &unit->context->memory;
  tvms_walk(memory, stage->store->value, &visitor);
  for (uint32_t i = 0; i < stage->store->indices.len; i++)
    tvms_walk(memory, stage->store->indices.items[i], &visitor);
  bool pure = tvms_arith_effect_of(memory, stage->store->value) <= TVMS_EFFECT_READ;
  return o.fine && pure && tvms_cpu_is_injective(unit, stage);
}

bool tvms_chain_is_free(tvms_unit *unit, const tvms_stage *stage) {
  return is_free(unit, stage, false);
}

bool tvms_chain_is_free_but_itself(tvms_unit *unit, const tvms_stage *stage) {
  return is_free(unit, stage, true);
}

// ---- Settling ----

static const tvms_store *store_like(tvms_unit *unit, const tvms_store *old,
                                    tvms_list indices, tvms_node *value) {
  tvms_store *made = tvms_node_make(unit, STORE, old->head.span);
  made->buffer = old->buffer;
  made->indices = indices;
  made->value = value;
  return made;
}

static bool is_split(const tvms_node *node) {
  return node->kind >= TVMS_NODE_DIV && node->kind <= TVMS_NODE_FLOOR_MOD;
}

static tvms_walk_step find_split(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  bool sum = is_split(node);
  if (tvms_node_is_binary(node) && !sum) {
    const tvms_binary *b = tvms_as_binary(node);
    sum = tvms_node_is_int_imm(b->a) || tvms_node_is_int_imm(b->b);
  }
  return sum ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

typedef struct {
  const tvms_stage *stage;
  tvms_analyzer *analyzer;
} simplifying;

static tvms_list simple_indices(tvms_unit *unit, const simplifying *s,
                                tvms_list indices) {
  tvms_list made = tvms_list_copy(unit, indices.items, indices.len);
  tvms_visitor visitor = {.enter = find_split};
  for (uint32_t i = 0; i < made.len; i++) {
    if (!tvms_walk(&unit->context->memory, made.items[i], &visitor))
      made.items[i] = tvms_analyzer_simplify(
          s->analyzer, tvms_stage_settle_digits(unit, s->stage, made.items[i]));
  }
  return made;
}

static tvms_node *simplify_load(tvms_rewriter *r, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_list made = simple_indices(r->unit, r->self, load->indices);
  bool same = true;
  for (uint32_t i = 0; i < made.len; i++)
    same &= made.items[i] == load->indices.items[i];
  if (same || load->predicate) return node;
  return tvms_buffer_load_new(r->unit, load->buffer, made.items, made.len, NULL,
                              node->span);
}

// Expressions with simple indices; every axis is in its range.
static void simplify_stage(tvms_unit *unit, tvms_stage *stage) {
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    tvms_node *zero = tvms_int_imm_new(unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(analyzer, axis->var, zero, axis->extent);
  }
  simplifying s = {stage, analyzer};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.leave[TVMS_NODE_BUFFER_LOAD] = simplify_load;
  tvms_node *value = tvms_rewrite(&r, stage->store->value);
  tvms_list indices = simple_indices(unit, &s, stage->store->indices);
  stage->store = store_like(unit, stage->store, indices, value);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(analyzer);
}

// Axes of one step are 0.
static void drop_singles(tvms_unit *unit, tvms_stage *stage) {
  tvms_node_map zeros;
  tvms_node_map_init(&zeros, &unit->context->memory);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (tvms_stage_axis_is_single(axis))
      tvms_node_map_put(&zeros, axis->var,
                        tvms_int_imm_new(unit, axis->var->dtype, 0, TVMS_NO_SPAN));
    else
      stage->axes[kept++] = *axis;
  }
  if (kept < stage->count) {
    const tvms_store *old = stage->store;
    tvms_list indices = tvms_list_copy(unit, old->indices.items, old->indices.len);
    for (uint32_t i = 0; i < indices.len; i++)
      indices.items[i] = tvms_substitute(unit, indices.items[i], &zeros);
    tvms_node *value = tvms_substitute(unit, old->value, &zeros);
    stage->store = store_like(unit, old, indices, value);
    if (stage->init) stage->init = tvms_substitute(unit, stage->init, &zeros);
  }
  stage->count = kept;
  tvms_node_map_fini(&zeros);
}

static tvms_node *load_becomes(tvms_rewriter *r, tvms_node *node) {
  tvms_node *const *pair = r->self;
  return tvms_as_buffer_load(node)->buffer == pair[0] ? pair[1] : node;
}

// `expr` with `value` in the place of what is loaded from `buffer`.
static tvms_node *with_loaded(tvms_unit *unit, tvms_node *expr, tvms_node *buffer,
                              tvms_node *value) {
  tvms_node *pair[] = {buffer, value};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, pair);
  r.leave[TVMS_NODE_BUFFER_LOAD] = load_becomes;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

static bool has_sums(const tvms_stage *stage) {
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].sums) return true;
  }
  return false;
}

// A sum of one step is its initial value and the step.
static void settle_sum(tvms_unit *unit, tvms_stage *stage) {
  if (!stage->init || has_sums(stage)) return;
  const tvms_store *store = stage->store;
  tvms_node *value = with_loaded(unit, store->value, store->buffer, stage->init);
  stage->store = store_like(unit, store, store->indices, value);
  stage->init = NULL;
}

static bool same_extent(tvms_unit *unit, const tvms_stage_axis *a,
                        const tvms_stage_axis *b) {
  return tvms_node_same_expr(a->extent, b->extent)
         || tvms_arith_prove_equal(unit, a->extent, b->extent);
}

// Does each index of a store consist of one axis of either stage, or is it the same in both?
static bool stores_at_axes(tvms_unit *unit, const tvms_stage *first,
                           const tvms_stage *sum) {
  tvms_list a = first->store->indices, b = sum->store->indices;
  uint32_t matched = 0;
  for (uint32_t i = 0; i < a.len; i++) {
    uint32_t x = tvms_stage_axis_of(first, a.items[i]);
    uint32_t y = tvms_stage_axis_of(sum, b.items[i]);
    if (x == TVMS_MOST_STAGE_AXES || y == TVMS_MOST_STAGE_AXES) {
      if (!tvms_node_same_expr(a.items[i], b.items[i])) return false;
      continue;
    }
    if (!same_extent(unit, &first->axes[x], &sum->axes[y])) return false;
    matched++;
  }
  return matched == first->count;
}

// Are the stages' axes the same in order, but for those that are summed over, and the indices the same in them?
bool tvms_chain_store_alike(tvms_unit *unit, const tvms_stage *first,
                            const tvms_stage *sum) {
  tvms_node_map now;
  tvms_node_map_init(&now, &unit->context->memory);
  uint32_t matched = 0;
  bool same = true;
  for (uint32_t i = 0; i < sum->count && same; i++) {
    const tvms_stage_axis *axis = &sum->axes[i];
    if (axis->sums) continue;
    same = matched < first->count && same_extent(unit, &first->axes[matched], axis);
    if (same) tvms_node_map_put(&now, first->axes[matched++].var, axis->var);
  }
  same = same && matched == first->count;
  for (uint32_t i = 0; i < sum->store->indices.len && same; i++)
    same =
        tvms_node_same_expr(tvms_substitute(unit, first->store->indices.items[i], &now),
                            sum->store->indices.items[i]);
  tvms_node_map_fini(&now);
  return same;
}

bool tvms_chain_begins(tvms_unit *unit, const tvms_stage *first,
                       const tvms_stage *sum) {
  const tvms_store *a = first->store, *b = sum->store;
  bool constant =
      a->value->kind == TVMS_NODE_INT_IMM || a->value->kind == TVMS_NODE_FLOAT_IMM;
  if (!constant || sum->init || first->init || a->buffer != b->buffer
      || a->indices.len != b->indices.len)
    return false;
  return stores_at_axes(unit, first, sum) || tvms_chain_store_alike(unit, first, sum);
}

void tvms_chain_remove(tvms_chain *chain, uint32_t at) {
  for (uint32_t i = at; i + 1 < chain->count; i++)
    chain->stages[i] = chain->stages[i + 1];
  chain->count--;
}

void tvms_chain_settle(tvms_unit *unit, tvms_stage *stage) {
  drop_singles(unit, stage);
  simplify_stage(unit, stage);
  settle_sum(unit, stage);
  while (!has_sums(stage) && tvms_cpu_split_reshaped(unit, stage, true)) {
  }
}

void tvms_chain_join_initial(tvms_chain *chain) {
  for (uint32_t i = 0; i + 1 < chain->count; i++) {
    tvms_stage *next = &chain->stages[i + 1];
    if (!has_sums(next) || !tvms_chain_begins(chain->unit, &chain->stages[i], next))
      continue;
    next->init = chain->stages[i].store->value;
    tvms_chain_remove(chain, i);
  }
}

// ---- Inlining ----

// Where each axis of a stage stands in the indices that it stores at.
static bool places_of(const tvms_stage *stage, uint32_t *dims) {
  tvms_list indices = stage->store->indices;
  uint32_t found = 0;
  for (uint32_t i = 0; i < indices.len; i++) {
    uint32_t axis = tvms_stage_axis_of(stage, indices.items[i]);
    if (axis == TVMS_MOST_STAGE_AXES) {
      if (!tvms_node_is_int_imm(indices.items[i])) return false;
      continue;
    }
    dims[axis] = i;
    found++;
  }
  return found == stage->count;
}

typedef struct {
  tvms_chain *chain;
  const tvms_stage *from;
  const uint32_t *dims;
} inlining;

static tvms_node *inline_load(tvms_rewriter *r, tvms_node *node) {
  const inlining *in = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer != in->from->store->buffer) return node;
  tvms_node_map now;
  tvms_node_map_init(&now, &r->unit->context->memory);
  for (uint32_t i = 0; i < in->from->count; i++)
    tvms_node_map_put(&now, in->from->axes[i].var, load->indices.items[in->dims[i]]);
  tvms_node *value = tvms_stage_value_at(r->unit, in->from->store->value, &now);
  tvms_node_map_fini(&now);
  return value;
}

// May the value be computed where it is used? What takes long is computed as often as before.
static bool is_worth(tvms_chain *chain, uint32_t at) {
  const tvms_stage *from = &chain->stages[at];
  const tvms_node *buffer = from->store->buffer;
  tvms_chain_cost cost = tvms_chain_cost_of(chain->unit, from->store->value, NULL);
  uint32_t loads = 0;
  bool more = false, known;
  const tvms_stage *user = NULL;
  int64_t size = tvms_stage_steps(from, &known);
  for (uint32_t i = 0; i < chain->count; i++) {
    const tvms_stage *to = &chain->stages[i];
    tvms_chain_cost use = tvms_chain_cost_of(chain->unit, to->store->value, buffer);
    if (i <= at && use.loads) return false;
    if (i != at && to->store->buffer == buffer) return false;
    if (to->init && tvms_chain_cost_of(chain->unit, to->init, buffer).loads)
      return false;
    for (uint32_t d = 0; d < to->store->indices.len; d++) {
      if (tvms_chain_cost_of(chain->unit, to->store->indices.items[d], buffer).loads)
        return false;
    }
    if (!use.loads) continue;
    if (use.nodes + use.loads * cost.nodes > MOST_NODES) return false;
    loads += use.loads;
    user = to;
    bool to_known;
    int64_t to_size = tvms_stage_steps(to, &to_known);
    more |= to_size > size || (!known && !to_known && to->count > from->count);
  }
  if (loads == 0) return false;
  if (cost.calls) return loads == 1 && !more;
  if (!more || !cost.chosen) return true;
  return chain->skips && loads == 1
         && tvms_line_padding_adds_nothing(chain, from, user);
}

static tvms_walk_step find_written(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_node *data = tvms_as_buffer(tvms_as_buffer_load(node)->buffer)->data;
  return data == self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does a later stage store what the stage loads?
static bool is_overwritten(tvms_chain *chain, uint32_t at) {
  tvms_node *value = chain->stages[at].store->value;
  for (uint32_t i = at + 1; i < chain->count; i++) {
    tvms_node *data = tvms_as_buffer(chain->stages[i].store->buffer)->data;
    tvms_visitor visitor = {.self = data, .enter = find_written};
    if (!tvms_walk(&chain->unit->context->memory, value, &visitor)) return true;
  }
  return false;
}

static void inline_stage(tvms_chain *chain, uint32_t at, const uint32_t *dims) {
  tvms_stage from = chain->stages[at];
  inlining in = {chain, &from, dims};
  for (uint32_t i = at + 1; i < chain->count; i++) {
    tvms_stage *to = &chain->stages[i];
    tvms_rewriter r;
    tvms_rewriter_init(&r, chain->unit, &in);
    r.leave[TVMS_NODE_BUFFER_LOAD] = inline_load;
    tvms_node *value = tvms_rewrite(&r, to->store->value);
    tvms_rewriter_fini(&r);
    if (value == to->store->value) continue;
    to->store = store_like(chain->unit, to->store, to->store->indices, value);
    simplify_stage(chain->unit, to);
  }
  tvms_node *buffer = from.store->buffer;
  tvms_node_map_put(chain->gone, buffer, buffer);
  tvms_chain_remove(chain, at);
}

// Elements that use what was reduced for their group go through groups one by one.
static void split_rows(tvms_chain *chain, uint32_t at) {
  tvms_stage *stage = &chain->stages[at];
  for (uint32_t i = 0; i < at && !has_sums(stage); i++) {
    const tvms_stage *from = &chain->stages[i];
    if (has_sums(from) && tvms_cpu_split_rows(chain->unit, stage, from->store->buffer))
      return;
  }
}

void tvms_chain_inline(tvms_chain *chain) {
  for (uint32_t i = 0; i < chain->count;) {
    const tvms_stage *stage = &chain->stages[i];
    uint32_t dims[TVMS_MOST_STAGE_AXES];
    bool can = !has_sums(stage) && !stage->init
               && tvms_chain_is_inner(chain, stage->store->buffer)
               && tvms_chain_is_free(chain->unit, stage) && places_of(stage, dims)
               && is_worth(chain, i) && !is_overwritten(chain, i);
    if (can)
      inline_stage(chain, i, dims);
    else
      i++;
  }
  for (uint32_t i = 0; i < chain->count; i++) {
    split_rows(chain, i);
    // Elements go along the innermost digit, sums through all of them.
    bool sums = has_sums(&chain->stages[i]);
    while (tvms_cpu_split_reshaped(chain->unit, &chain->stages[i], false) && sums)
      continue;
  }
}
