// compute_inline: readers of a block's output compute it themselves, and the block goes.
// TVM: src/s_tir/schedule/primitive/compute_inline.cc.
#include "schedule/bindings.h"
#include "schedule/inline.h"
#include "schedule/steps.h"

typedef struct {
  tvms_sched *sched;
  tvms_node *buffer;
  tvms_node *value;        // of an element …
  tvms_node *const *vars;  // … at these places
} inlined;

static tvms_node *replace_load(tvms_rewriter *r, tvms_node *node) {
  const inlined *in = r->self;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  tvms_node_map map;
  tvms_node_map_init(&map, &in->sched->context->memory);
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_node_map_put(&map, in->vars[i], indices.items[i]);
  tvms_node *made = tvms_substitute(r->unit, in->value, &map);
  tvms_node_map_fini(&map);
  return made;
}

// Is the block stored to at its own axes, in order? An axis of one step may be index 0.
static bool is_plain(tvms_sched *s, const tvms_block *block, tvms_list indices,
                     tvms_node **vars) {
  if (block->iter_vars.len != indices.len) return false;
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_node *zero = tvms_sched_int(s, dom->min->dtype, 0);
    bool unit = tvms_arith_prove_equal(s->unit, indices.items[i], zero)
                && tvms_arith_prove_equal(s->unit, dom->min, zero)
                && tvms_node_is_int(dom->extent, 1);
    if (indices.items[i] != axis->var && !unit) return false;
    vars[i] = axis->var;
  }
  return true;
}

static bool read_value(tvms_sched *s, const tvms_block *block, inlined *in) {
  if (block->body->kind != TVMS_NODE_STORE) return false;
  const tvms_store *store = tvms_as_store(block->body);
  tvms_node **vars =
      tvms_arena_array(&s->unit->arena, tvms_node *, store->indices.len + 1);
  in->vars = vars;
  in->value = store->value;
  if (is_plain(s, block, store->indices, vars)) return true;
  in->vars = tvms_inline_places(s, store->indices);
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  bool fine = tvms_inline_inverse(s, block, store->indices, true, in->vars, &map);
  if (fine) in->value = tvms_substitute(s->unit, store->value, &map);
  tvms_node_map_fini(&map);
  return fine;
}

static bool check(tvms_sched *s, int32_t site, int32_t *scope) {
  const tvms_block *block = tvms_sched_block(s, site);
  if (block->init) return tvms_sched_refuse(s, "the block has T.init()");
  if (block->writes.len != 1)
    return tvms_sched_refuse(s, "the block does not write exactly one buffer");
  if (!tvms_sched_check_scope(s, site, true, scope)) return false;
  if (tvms_sched_is_output(s, site))
    return tvms_sched_refuse(
        s, "the block writes a buffer that its scope does not allocate");
  const char *why = tvms_sched_why_incomplete(s, site, *scope);
  return !why || tvms_sched_refuse(s, "the block is not complete: %s", why);
}

bool tvms_step_compute_inline(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(ComputeInline, block)), scope;
  if (site == TVMS_NO_SITE || !check(s, site, &scope)) return false;
  const tvms_block *block = tvms_sched_block(s, site);
  inlined in = {.sched = s, .buffer = tvms_sched_region_buffer(block->writes, 0)};
  if (!read_value(s, block, &in))
    return tvms_sched_refuse(
        s, "the block does more than store one value at places that its axes tell");
  const tvms_node *leaf = tvms_inline_leaf(s, site);
  if (!leaf || !tvms_inline_check_opaque(s, scope, in.buffer)) return false;
  tvms_inline_rewrite(s, scope, leaf, in.buffer, TVMS_NODE_BUFFER_LOAD, replace_load,
                      &in);
  return true;
}
