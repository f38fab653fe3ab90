// CombineParallelMatmul: products with one left side become one product with a wide right side.
//
// Before: lv = R.matmul(x, a); lv1 = R.matmul(x, b)
// After:  lv = R.concat((a, b), axis=1); lv1 = R.matmul(x, lv); lv2 = R.split(lv1, [16], axis=1)
//         lv3 = lv2[0]; lv4 = lv2[1]
//
// A bias that is added and relu, gelu, gelu_tanh or silu go along where all products have them.
// Right sides have one rank and equal batch axes; at most one width, then the last, is symbolic.
// Products whose right side is a constant, or stands in two of them, stay.
// TVM: relax.transform.CombineParallelMatmul without its option check.
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/graph/parallel_matmul.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/definitions.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"

#include <string.h>

enum { MOST_ROUNDS = 1000 };

// Part `index` of a split that several bindings share.
typedef struct {
  tvms_node *split;  // tree over old variables
  tvms_node *TVMS_NULLABLE var;
} combined;

typedef struct {
  uint32_t combined;  // + 1; 0: the binding stays
  uint32_t index;
} replacement;

typedef struct {
  tvms_relax_mutator m;
  const tvms_matmul_branches *wanted;
  TVMS_VEC(combined) all;
  replacement *replacements;  // by id of a variable
  uint32_t ids;
  bool stopped;  // products were found that cannot be combined: TVM looks no further
} combiner;

static combiner *combiner_of(const tvms_rewriter *r) {
  const tvms_relax_mutator *m = r->self;
  return m->self;
}

static tvms_memory *memory_of(combiner *c) {
  return &c->m.unit->context->memory;
}

// ---- Making the product ----

static bool is_static(const tvms_matmul_branch *branch) {
  tvms_list dims;
  int64_t width;
  return tvms_sinfo_dims(branch->rhs->sinfo, &dims)
         && tvms_sinfo_dim_int(dims.items[dims.len - 1], &width);
}

// Right sides of static width first, then the first other one; the rest is left out.
static uint32_t order_by_width(combiner *c, tvms_matmul_branch *branches,
                               uint32_t count) {
  tvms_arena *arena = &c->m.unit->arena;
  tvms_matmul_branch *sorted = tvms_arena_array(arena, tvms_matmul_branch, count);
  uint32_t len = 0;
  for (uint32_t i = 0; i < count; i++)
    if (is_static(&branches[i])) sorted[len++] = branches[i];
  bool done = false;
  for (uint32_t i = 0; i < count && !done; i++) {
    done = !is_static(&branches[i]);
    if (done) sorted[len++] = branches[i];
  }
  memcpy(branches, sorted, len * sizeof *sorted);
  return len;
}

static bool same_batch(combiner *c, const tvms_matmul_branch *branches,
                       uint32_t count) {
  tvms_list first, dims;
  tvms_sinfo_dims(branches[0].rhs->sinfo, &first);
  for (uint32_t i = 1; i < count; i++) {
    tvms_sinfo_dims(branches[i].rhs->sinfo, &dims);
    for (uint32_t k = 0; k + 2 < first.len; k++)
      if (!tvms_dim_equal(&c->m.prover, first.items[k], dims.items[k])) return false;
  }
  return true;
}

static tvms_node *concat_of(combiner *c, const tvms_matmul_branch *branches,
                            uint32_t count, bool bias) {
  tvms_node **parts = tvms_arena_array(&c->m.unit->arena, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++)
    parts[i] = bias ? branches[i].bias : branches[i].rhs;
  int64_t ndim = tvms_as_sinfo_tensor(parts[0]->sinfo)->ndim;
  return tvms_relax_op_concat(&c->m, parts, count, ndim - 1);
}

static tvms_node *split_of(combiner *c, tvms_node *lhs,
                           const tvms_matmul_branch *branches, uint32_t count) {
  tvms_relax_mutator *m = &c->m;
  tvms_dtype dtype = branches[0].matmul->sinfo->dtype;
  tvms_node *rhs = concat_of(c, branches, count, false);
  tvms_node *made = tvms_relax_op_matmul(m, lhs, rhs, dtype);
  if (branches[0].bias)
    made =
        tvms_relax_op_binary(m, TVMS_R_add, made, concat_of(c, branches, count, true));
  if (c->wanted->activation != TVMS_R_NONE)
    made = tvms_relax_op_unary(m, c->wanted->activation, made);
  int64_t *places = tvms_arena_array(&m->unit->arena, int64_t, count), at = 0, width;
  tvms_list dims;
  for (uint32_t i = 0; i + 1 < count; i++) {
    tvms_sinfo_dims(branches[i].rhs->sinfo, &dims);
    if (tvms_sinfo_dim_int(dims.items[dims.len - 1], &width)) at += width;
    places[i] = at;
  }
  int64_t a = tvms_as_sinfo_tensor(lhs->sinfo)->ndim;
  int64_t b = tvms_as_sinfo_tensor(rhs->sinfo)->ndim;
  return tvms_relax_op_split(m, made, places, count - 1, (a > b ? a : b) - 1);
}

// Branches of one rank are combined, if there are several and they fit.
static bool combine_rank(combiner *c, tvms_node *lhs, const tvms_matmul_branch *found,
                         uint32_t rank) {
  tvms_arena *arena = &c->m.unit->arena;
  uint32_t count = 0, total = c->wanted->count;
  tvms_matmul_branch *branches = tvms_arena_array(arena, tvms_matmul_branch, total);
  for (uint32_t i = 0; i < total; i++) {
    tvms_list dims;
    tvms_sinfo_dims(found[i].rhs->sinfo, &dims);
    if (dims.len == rank) branches[count++] = found[i];
  }
  if (count < 2 || rank < 2 || !same_batch(c, branches, count)) return false;
  count = order_by_width(c, branches, count);
  if (count < 2) return false;
  combined fresh = {.split = split_of(c, lhs, branches, count)};
  tvms_vec_push(memory_of(c), &c->all, fresh);
  for (uint32_t i = 0; i < count; i++)
    c->replacements[branches[i].last->id] = (replacement){c->all.len, i};
  return true;
}

static bool combine_found(combiner *c, tvms_node *lhs,
                          const tvms_matmul_branch *found) {
  bool made = false;
  uint32_t most = 0;
  tvms_list dims;
  if (!tvms_sinfo_is_tensor(lhs->sinfo)) return false;
  for (uint32_t i = 0; i < c->wanted->count; i++) {
    if (!tvms_sinfo_dims(found[i].rhs->sinfo, &dims)) return false;
    most = dims.len > most ? dims.len : most;
  }
  for (uint32_t rank = 1; rank <= most; rank++)
    made |= combine_rank(c, lhs, found, rank);
  return made;
}

static void combine_segment(combiner *c, tvms_node *const *bindings, uint32_t count) {
  tvms_arena *scratch = &c->m.unit->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_matmul_branch *found =
      tvms_arena_array(scratch, tvms_matmul_branch, c->wanted->count);
  tvms_matmul_uses *uses = tvms_relax_matmul_uses(c->m.unit, bindings, count);
  const tvms_node_vec *used = tvms_relax_matmul_used(uses);
  bool stopped = false;
  for (uint32_t i = 0; i < used->len && !stopped;) {
    if (!tvms_relax_matmul_find(uses, used->items[i], c->wanted, found)) {
      i++;
      continue;
    }
    stopped = !combine_found(c, used->items[i], found);
    for (uint32_t k = 0; k < c->wanted->count; k++)
      if (c->replacements[found[k].last->id].combined)
        tvms_relax_matmul_remove(uses, found[k].last);
  }
  tvms_relax_matmul_uses_fini(uses);
  tvms_arena_reset(scratch, mark);
}

// ---- Order ----

// Variables of the segment that a binding needs and that are not bound yet.
typedef struct {
  combiner *c;
  tvms_node_map waiting;  // VAR → itself: not yet bound
  bool blocked;
} readiness;

static tvms_walk_step find_waiting(void *self, tvms_node *node, tvms_field_role role) {
  readiness *ready = self;
  (void)role;
  ready->blocked |= tvms_node_map_get(&ready->waiting, node) != NULL;
  return ready->blocked ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// What the binding computes from now on.
static tvms_node *new_value(const combiner *c, const tvms_node *binding) {
  const tvms_node *var = tvms_relax_binding_var(binding);
  uint32_t place = c->replacements[var->id].combined;
  return place ? c->all.items[place - 1].split : tvms_relax_binding_value(binding);
}

static bool is_ready(readiness *ready, const tvms_node *binding) {
  tvms_visitor visitor = {.self = ready, .enter = find_waiting};
  ready->blocked = false;
  tvms_walk(memory_of(ready->c), new_value(ready->c, binding), &visitor);
  return !ready->blocked;
}

static void place(readiness *ready, tvms_node_vec *sorted, tvms_node *binding) {
  tvms_vec_push(memory_of(ready->c), sorted, binding);
  tvms_node_map_put(&ready->waiting, tvms_relax_binding_var(binding), NULL);
}

// The earliest binding that was put off and is ready now.
static bool place_delayed(readiness *ready, tvms_node_vec *sorted,
                          tvms_node_vec *delayed) {
  for (uint32_t i = 0; i < delayed->len; i++) {
    if (!is_ready(ready, delayed->items[i])) continue;
    place(ready, sorted, delayed->items[i]);
    memmove(delayed->items + i, delayed->items + i + 1,
            (delayed->len - i - 1) * sizeof *delayed->items);
    delayed->len--;
    return true;
  }
  return false;
}

// Puts bindings behind what their new values need.
static void sort_segment(combiner *c, tvms_node **bindings, uint32_t count) {
  tvms_memory *memory = memory_of(c);
  readiness ready = {.c = c};
  tvms_node_vec sorted = {0}, delayed = {0};
  tvms_node_map_init(&ready.waiting, memory);
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *var = tvms_relax_binding_var(bindings[i]);
    tvms_node_map_put(&ready.waiting, var, var);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (is_ready(&ready, bindings[i])) {
      place(&ready, &sorted, bindings[i]);
    } else {
      tvms_vec_push(memory, &delayed, bindings[i]);
    }
    while (place_delayed(&ready, &sorted, &delayed)) {
    }
  }
  if (delayed.len == 0 && count)
    memcpy(bindings, sorted.items, count * sizeof *bindings);
  tvms_vec_fini(memory, &sorted);
  tvms_vec_fini(memory, &delayed);
  tvms_node_map_fini(&ready.waiting);
}

// ---- Rewriting ----

static bool is_dataflow(const combiner *c, const tvms_node *value) {
  if (value->kind == TVMS_NODE_IF) return false;
  return value->kind != TVMS_NODE_CALL
         || tvms_infer_call_is_pure(c->m.run->module, tvms_as_call(value));
}

// A block with its bindings in the order that the new values ask for.
static tvms_node *plan_block(tvms_rewriter *r, tvms_node *node) {
  combiner *c = combiner_of(r);
  tvms_list old = tvms_as_binding_block(node)->bindings;
  tvms_list bindings = tvms_list_copy(c->m.unit, old.items, old.len);
  uint32_t first = 0, before = c->all.len;
  for (uint32_t i = 0; i <= old.len; i++) {
    bool end = i == old.len
               || (!(node->flags & TVMS_FLAG_DATAFLOW)
                   && !is_dataflow(c, tvms_relax_binding_value(old.items[i])));
    if (!end) continue;
    uint32_t known = c->all.len;
    combine_segment(c, old.items + first, i - first);
    if (c->all.len > known) sort_segment(c, bindings.items + first, i - first);
    first = i + 1;
  }
  if (c->all.len == before) return TVMS_REWRITE_BELOW;
  tvms_node *made = tvms_node_copy(c->m.unit, node);
  tvms_as_binding_block(made)->bindings = bindings;
  return made;
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  combiner *c = combiner_of(r);
  const tvms_node *var = tvms_relax_binding_var(binding);
  replacement with = var->id < c->ids ? c->replacements[var->id] : (replacement){0};
  if (!with.combined) return TVMS_REWRITE_BELOW;
  combined *all = &c->all.items[with.combined - 1];
  if (!all->var) all->var = tvms_relax_settle_leaf(&c->m, tvms_rewrite(r, all->split));
  tvms_node *item = tvms_relax_make_item(&c->m, all->var, with.index);
  return tvms_relax_rebind(&c->m, binding, item);
}

static tvms_node *rewrite_once(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                               const tvms_matmul_branches *wanted) {
  tvms_memory *memory = &run->context->memory;
  combiner c = {.wanted = wanted, .ids = unit->next_id};
  size_t size = c.ids * sizeof *c.replacements;
  c.replacements = memset(tvms_memory_alloc(memory, size), 0, size);
  tvms_rewriter plan;
  tvms_relax_mutator_init(&c.m, run, unit, &c);
  tvms_relax_mutator_assume(&c.m, function);
  tvms_rewriter_init(&plan, unit, &c.m);
  plan.enter[TVMS_NODE_BINDING_BLOCK] = plan_block;
  tvms_node *planned = tvms_rewrite(&plan, function);
  tvms_rewriter_fini(&plan);
  c.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  if (c.all.len > 0) function = tvms_relax_mutate(&c.m, planned);
  tvms_relax_mutator_fini(&c.m);
  tvms_vec_fini(memory, &c.all);
  tvms_memory_free(memory, c.replacements);
  return function;
}

static tvms_node *combine(tvms_pass_run *run, tvms_unit *unit, tvms_node *function,
                          const tvms_matmul_branches *wanted) {
  bool tidies = tvms_relax_pattern_tidies(function);
  for (uint32_t i = 0; i < MOST_ROUNDS; i++) {
    tvms_node *next = rewrite_once(run, unit, function, wanted);
    if (next == function && (i > 0 || !tidies)) break;
    function = tvms_relax_pattern_tidy(run, unit, next);
  }
  return function;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_matmul_branches_vec branches = {0};
  tvms_relax_matmul_branches(unit, function, &branches);
  for (uint32_t i = 0; i < branches.len; i++) {
    bool again = false;
    for (uint32_t k = 0; k < i && !again; k++)
      again = branches.items[k].count == branches.items[i].count
              && branches.items[k].activation == branches.items[i].activation
              && (branches.items[k].bias_ndim < 0) == (branches.items[i].bias_ndim < 0);
    if (!again) function = combine(run, unit, function, &branches.items[i]);
  }
  tvms_vec_fini(&run->context->memory, &branches);
  return function;
}

void tvms_pass_combine_parallel_matmul(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
