// Stages that compute anew, in place, what the stage in front has stored.
#include "passes/tir/cpu/overwritten.h"

#include "ir/rewrite.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum { MOST_NODES = 400 };  // of a value

static bool is_map(const tvms_chain *chain, const tvms_stage *stage) {
  return !tvms_stage_has_sums(stage) && !stage->init && !stage->store->predicate
         && tvms_chain_is_free(chain->unit, stage);
}

// May the value that `from` stores stand where `to` loads it?
static bool is_worth(tvms_unit *unit, const tvms_stage *from, const tvms_stage *to) {
  tvms_chain_cost cost = tvms_chain_cost_of(unit, from->store->value, NULL);
  tvms_chain_cost use = tvms_chain_cost_of(unit, to->store->value, from->store->buffer);
  return use.loads && use.nodes + (uint64_t)use.loads * cost.nodes <= MOST_NODES
         && (use.loads == 1 || !cost.calls);
}

static bool is_overwritten(const tvms_chain *chain, const tvms_stage *from,
                           const tvms_stage *to) {
  return from->store->buffer == to->store->buffer && from->count == to->count
         && is_map(chain, from) && is_map(chain, to)
         && tvms_chain_store_alike(chain->unit, from, to)
         && is_worth(chain->unit, from, to);
}

typedef struct {
  const tvms_node *buffer;
  tvms_node *value;
} replaced_load;

static tvms_node *replace_load(tvms_rewriter *r, tvms_node *node) {
  const replaced_load *by = r->self;
  return tvms_as_buffer_load(node)->buffer == by->buffer ? by->value : node;
}

// The later stage with the value of the earlier one, whose axes are its own in the same order.
static void join(tvms_unit *unit, const tvms_stage *from, tvms_stage *to) {
  tvms_node_map now;
  tvms_node_map_init(&now, &unit->context->memory);
  for (uint32_t i = 0; i < from->count; i++)
    tvms_node_map_put(&now, from->axes[i].var, to->axes[i].var);
  const tvms_store *store = to->store;
  replaced_load by = {store->buffer,
                      tvms_stage_value_at(unit, from->store->value, &now)};
  tvms_node_map_fini(&now);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &by);
  r.leave[TVMS_NODE_BUFFER_LOAD] = replace_load;
  tvms_node *value = tvms_rewrite(&r, store->value);
  tvms_rewriter_fini(&r);
  to->store = tvms_as_store(tvms_cpu_store(
      unit, store->buffer,
      tvms_list_copy(unit, store->indices.items, store->indices.len), value));
  tvms_chain_settle(unit, to);
}

void tvms_chain_join_overwritten(tvms_chain *chain) {
  for (uint32_t i = 0; i + 1 < chain->count;) {
    if (!is_overwritten(chain, &chain->stages[i], &chain->stages[i + 1])) {
      i++;
      continue;
    }
    join(chain->unit, &chain->stages[i], &chain->stages[i + 1]);
    tvms_chain_remove(chain, i);
  }
}
