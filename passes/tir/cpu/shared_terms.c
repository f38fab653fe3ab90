// Finding what a sum and a later stage both compute.
#include "passes/tir/cpu/shared_terms.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/stage.h"

enum { MOST_BETWEEN = 4 };

// A term, and the load that takes its place.
typedef struct {
  const tvms_node *term;
  tvms_node *load;
  bool found;
} replaced_term;

static tvms_node *replace(tvms_rewriter *r, tvms_node *node) {
  replaced_term *t = r->self;
  if (r->role != TVMS_ROLE_USE || !tvms_node_same_expr(node, t->term))
    return TVMS_REWRITE_BELOW;
  t->found = true;
  return t->load;
}

static tvms_node *with_load(tvms_unit *unit, tvms_node *expr, replaced_term *t) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, t);
  r.enter[t->term->kind] = replace;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

// The term of a sum that takes long to compute; NULL: there is none.
static tvms_node *TVMS_NULLABLE costly_term(tvms_unit *unit, const tvms_stage *stage) {
  tvms_node *term = tvms_stage_term(stage, TVMS_NODE_ADD);
  bool costly = tvms_stage_has_sums(stage) && term
                && tvms_chain_cost_of(unit, term, NULL).calls > 0
                && !tvms_cpu_mentions(unit, term, stage->store->buffer);
  return costly ? term : NULL;
}

// Says which axis of a later stage each axis of the sum is, if it has as many of the same extents in the same order.
static bool map_axes(const tvms_stage *sum, const tvms_stage *later,
                     tvms_node_map *at) {
  if (later->count != sum->count || tvms_stage_has_sums(later)) return false;
  for (uint32_t i = 0; i < sum->count; i++) {
    if (!tvms_node_same_expr(sum->axes[i].extent, later->axes[i].extent)
        || !tvms_dtype_same(sum->axes[i].var->dtype, later->axes[i].var->dtype))
      return false;
    tvms_node_map_put(at, sum->axes[i].var, later->axes[i].var);
  }
  return true;
}

// What a stage stores, with what the buffer holds in the place of the term; NULL: it does not compute it.
static tvms_node *TVMS_NULLABLE without_term(tvms_unit *unit, const tvms_stage *sum,
                                             tvms_node *term, tvms_node *load,
                                             const tvms_stage *later) {
  tvms_node *made = NULL;
  tvms_node_map at;
  tvms_node_map_init(&at, &unit->context->memory);
  if (map_axes(sum, later, &at)) {
    replaced_term t = {tvms_substitute(unit, term, &at),
                       tvms_substitute(unit, load, &at), false};
    tvms_node *value = with_load(unit, later->store->value, &t);
    if (t.found)
      made = tvms_stage_write(
          unit, later, later->name,
          tvms_cpu_store(unit, later->store->buffer, later->store->indices, value),
          NULL);
  }
  tvms_node_map_fini(&at);
  return made;
}

// The element of a fresh buffer with a dimension for each axis of the sum.
static tvms_node *element_of(tvms_unit *unit, const tvms_stage *sum, tvms_dtype dtype) {
  tvms_node *shape[TVMS_MOST_STAGE_AXES], *indices[TVMS_MOST_STAGE_AXES];
  for (uint32_t i = 0; i < sum->count; i++) {
    shape[i] = sum->axes[i].extent;
    indices[i] = sum->axes[i].var;
  }
  tvms_node *buffer = tvms_cpu_buffer(unit, "term", dtype, "global", shape, sum->count);
  return tvms_buffer_load_new(unit, buffer, indices, sum->count, NULL, TVMS_NO_SPAN);
}

static tvms_node *store_term(tvms_unit *unit, tvms_stage all, tvms_node *load,
                             tvms_node *term) {
  for (uint32_t i = 0; i < all.count; i++)
    all.axes[i].sums = false;
  const tvms_buffer_load *to = tvms_as_buffer_load(load);
  return tvms_stage_write(unit, &all, "term",
                          tvms_cpu_store(unit, to->buffer, to->indices, term), NULL);
}

// The sum of what the buffer holds.
static tvms_node *sum_of_terms(tvms_unit *unit, const tvms_stage *sum, tvms_node *term,
                               tvms_node *load) {
  const tvms_store *out = sum->store;
  replaced_term t = {term, load, false};
  tvms_node *value = with_load(unit, out->value, &t), *init = NULL;
  if (sum->init) init = tvms_cpu_store(unit, out->buffer, out->indices, sum->init);
  return tvms_stage_write(unit, sum, sum->name,
                          tvms_cpu_store(unit, out->buffer, out->indices, value), init);
}

// The place of the stage behind the sum `at` that computes its term, too, and that stage without it; `stmts.len`: there is none.
static uint32_t find_user(tvms_unit *unit, tvms_list stmts, uint32_t at,
                          const tvms_stage *sum, tvms_node *term, tvms_node *load,
                          tvms_node **made) {
  for (uint32_t i = at + 1; i < stmts.len && i <= at + MOST_BETWEEN; i++) {
    tvms_stage later;
    if (tvms_stage_read(unit, stmts.items[i], &later)) break;
    *made = later.init ? NULL : without_term(unit, sum, term, load, &later);
    if (*made) return i;
    if (tvms_cpu_mentions(unit, term, later.store->buffer)) break;
  }
  return stmts.len;
}

tvms_list tvms_cpu_share_terms(tvms_distribution *body, tvms_list stmts) {
  tvms_unit *unit = body->unit;
  tvms_node_vec all = {0};
  tvms_list now = tvms_list_copy(unit, stmts.items, stmts.len);
  bool changed = false;
  for (uint32_t i = 0; i < now.len; i++) {
    tvms_stage sum;
    tvms_node *term = NULL, *user;
    if (!tvms_stage_read(unit, now.items[i], &sum) && sum.count)
      term = costly_term(unit, &sum);
    tvms_node *load = term ? element_of(unit, &sum, term->dtype) : NULL;
    uint32_t at = term ? find_user(unit, now, i, &sum, term, load, &user) : now.len;
    if (at < now.len) {
      tvms_node *buffer = tvms_as_buffer_load(load)->buffer;
      body->allocated = tvms_list_with(unit, body->allocated, buffer);
      tvms_stmt_push(unit, body->added, buffer);
      tvms_stmt_push(unit, &all, store_term(unit, sum, load, term));
      now.items[i] = sum_of_terms(unit, &sum, term, load);
      now.items[at] = user;
      changed = true;
    }
    tvms_stmt_push(unit, &all, now.items[i]);
  }
  if (changed) stmts = tvms_list_copy(unit, all.items, all.len);
  tvms_vec_fini(&unit->context->memory, &all);
  return stmts;
}
