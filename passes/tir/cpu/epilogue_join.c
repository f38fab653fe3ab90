// Joining the stages that read the result of a contraction several times.
//
// Before: Y = X * 0.7; E = erf(Y); H = E * 0.5; P = H + 0.5; Z = X * P     (gelu of a product's result X)
// After:  Z = X * (erf(X * 0.7) * 0.5 + 0.5)
//
// X is read by the first and by the last stage. Computed in one, tile by tile, it needs no memory.
//
// Before: F = float32(X); G = F * s; Q = int8(G)     (of a product X of bytes)
// After:  Q = int8(float32(X) * s)
//
// Floats would have no place where the sums of a tile are, which are integers.
#include "passes/tir/cpu/epilogue_join.h"

#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/nodes.h"

// Stages behind a change of the data type that are looked at.
enum { MOST_JOINED = 12 };

// The number of the statement behind the last one that mentions the buffer.
static uint32_t end_of_uses(tvms_unit *unit, tvms_list stmts, uint32_t at,
                            const tvms_node *buffer) {
  uint32_t end = stmts.len;
  while (end > at && !tvms_cpu_mentions(unit, stmts.items[end - 1], buffer))
    end--;
  return end;
}

// Reads statements as stages without sums. False: one of them is something else.
static bool read_stages(tvms_chain *chain, tvms_list stmts) {
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_stage *stage = &chain->stages[chain->count++];
    if (tvms_stage_read(chain->unit, stmts.items[i], stage) || stage->init
        || tvms_stage_has_sums(stage))
      return false;
    tvms_chain_settle(chain->unit, stage);
  }
  return true;
}

static tvms_list with_one(tvms_unit *unit, tvms_list stmts, uint32_t at, uint32_t end,
                          tvms_node *one) {
  tvms_list made = tvms_list_copy(unit, stmts.items, stmts.len);
  made.items[at] = one;
  for (uint32_t i = end; i < stmts.len; i++)
    made.items[at + 1 + i - end] = stmts.items[i];
  made.len = stmts.len - (end - at) + 1;
  return made;
}

// One stage in the place of the statements from `at` to `end`; the list itself if they do not become one.
static tvms_list join(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                      uint32_t at, uint32_t end, tvms_node_map *gone) {
  tvms_chain chain = {.unit = unit,
                      .allocated = allocated,
                      .before = {stmts.items, at},
                      .behind = {stmts.items + end, stmts.len - end},
                      .gone = gone,
                      .stages = tvms_arena_array(&unit->arena, tvms_stage, end - at)};
  if (!read_stages(&chain, (tvms_list){stmts.items + at, end - at})) return stmts;
  tvms_chain_inline(&chain);
  if (chain.count > 1) return stmts;
  const tvms_stage *one = &chain.stages[0];
  tvms_node *store = (tvms_node *)(uintptr_t)one->store;
  return with_one(unit, stmts, at, end,
                  tvms_stage_write_each(unit, one, one->name, store));
}

tvms_list tvms_cpu_join_epilogue(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                 uint32_t at, const tvms_node *buffer,
                                 tvms_node_map *gone) {
  uint32_t end = end_of_uses(unit, stmts, at, buffer);
  return end < at + 2 ? stmts : join(unit, allocated, stmts, at, end, gone);
}

// Is a statement a stage without sums that reads the buffer? `*stored` gets the one that it stores to.
static bool reads_on(tvms_unit *unit, tvms_node *stmt, const tvms_node *buffer,
                     const tvms_node **stored) {
  tvms_stage stage;
  if (tvms_stage_read(unit, stmt, &stage) || stage.init || tvms_stage_has_sums(&stage)
      || !tvms_cpu_mentions(unit, stage.store->value, buffer))
    return false;
  *stored = stage.store->buffer;
  return true;
}

tvms_list tvms_cpu_join_changed(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                uint32_t at, const tvms_node *buffer,
                                tvms_node_map *gone) {
  uint32_t end = at;
  while (end < stmts.len && end - at < MOST_JOINED
         && reads_on(unit, stmts.items[end], buffer, &buffer))
    end++;
  tvms_list made = stmts;
  for (; end >= at + 2 && made.len == stmts.len; end--) {
    // What is left of an attempt that fails does not count.
    tvms_node_map now;
    tvms_node_map_init(&now, &unit->context->memory);
    made = join(unit, allocated, stmts, at, end, &now);
    for (uint32_t i = 0; i < now.cap && made.len < stmts.len; i++)
      if (now.pairs[i].key)
        tvms_node_map_put(gone, now.pairs[i].key, now.pairs[i].value);
    tvms_node_map_fini(&now);
  }
  return made;
}
