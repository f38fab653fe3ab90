// Computing element-wise operands where a stage behind a sum reads them.
//
// Before: M = relu(X + b); C = A * B; D = C + M     After: C = A * B; D = C + relu(X + b)
//
// M needs no memory then, and is read and written once less: D is computed tile by tile with the product.
#include "passes/tir/cpu/late_operands.h"

#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/nodes.h"

// Stages on each side of a sum that are looked at, since each is compared with each.
enum { MOST_STAGES = 32 };

typedef struct {
  tvms_unit *unit;
  tvms_list allocated, stmts;
  tvms_node_map *gone;
} search;

static bool read_element_wise(search *s, uint32_t i, tvms_stage *stage) {
  return !tvms_stage_read(s->unit, s->stmts.items[i], stage) && !stage->init
         && !tvms_stage_has_sums(stage);
}

static bool is_sum(search *s, uint32_t i) {
  tvms_stage stage;
  return !tvms_stage_read(s->unit, s->stmts.items[i], &stage)
         && tvms_stage_has_sums(&stage);
}

// The first of the element-wise stages right in front of statement `at`.
static uint32_t first_in_front(search *s, uint32_t at) {
  tvms_stage stage;
  uint32_t first = at;
  while (first > 0 && at - first < MOST_STAGES
         && read_element_wise(s, first - 1, &stage))
    first--;
  return first;
}

// Does a statement from `at` up to `reader` store what one of those from `first` on reads?
static bool changes(search *s, uint32_t first, uint32_t at, uint32_t reader) {
  for (uint32_t i = at; i < reader; i++) {
    tvms_stage stage;
    if (tvms_stage_read(s->unit, s->stmts.items[i], &stage)) return true;
    for (uint32_t k = first; k < at; k++)
      if (tvms_cpu_mentions(s->unit, s->stmts.items[k], stage.store->buffer))
        return true;
  }
  return false;
}

static bool reads_any(search *s, uint32_t first, uint32_t at, uint32_t reader) {
  for (uint32_t i = first; i < at; i++) {
    tvms_stage stage;
    if (!read_element_wise(s, i, &stage)) return false;
    if (tvms_cpu_mentions(s->unit, s->stmts.items[reader], stage.store->buffer))
      return true;
  }
  return false;
}

static tvms_node *written(search *s, const tvms_stage *stage) {
  tvms_node *store = (tvms_node *)(uintptr_t)stage->store;
  return tvms_stage_write(s->unit, stage, stage->name, store, NULL);
}

// The statements with those of the chain in the place of the ones from `first` to `at`, and of `reader`.
static void replace(search *s, const tvms_chain *chain, uint32_t first, uint32_t at,
                    uint32_t reader) {
  tvms_list made = {tvms_arena_array(&s->unit->arena, tvms_node *, s->stmts.len),
                    first};
  for (uint32_t i = 0; i < first; i++)
    made.items[i] = s->stmts.items[i];
  for (uint32_t i = 0; i + 1 < chain->count; i++)
    made.items[made.len++] = written(s, &chain->stages[i]);
  for (uint32_t i = at; i < s->stmts.len; i++)
    made.items[made.len++] =
        i == reader ? written(s, &chain->stages[chain->count - 1]) : s->stmts.items[i];
  s->stmts = made;
}

// Puts what it can of the stages from `first` up to `at` into statement `reader`, and returns how many stages are fewer.
static uint32_t join(search *s, uint32_t first, uint32_t at, uint32_t reader) {
  tvms_node_map gone;
  tvms_node_map_init(&gone, &s->unit->context->memory);
  uint32_t count = at - first;
  tvms_chain chain = {.unit = s->unit,
                      .allocated = s->allocated,
                      .before = {s->stmts.items, first},
                      .gone = &gone,
                      .stages =
                          tvms_arena_array(&s->unit->arena, tvms_stage, count + 1)};
  chain.behind.items = tvms_arena_array(&s->unit->arena, tvms_node *, s->stmts.len);
  for (uint32_t i = at; i < s->stmts.len; i++)
    if (i != reader) chain.behind.items[chain.behind.len++] = s->stmts.items[i];
  for (uint32_t i = 0; i <= count; i++) {
    tvms_stage *stage = &chain.stages[chain.count++];
    (void)read_element_wise(s, i < count ? first + i : reader, stage);
    tvms_chain_settle(s->unit, stage);
  }
  const tvms_store *before = chain.stages[count].store;
  tvms_chain_inline(&chain);
  uint32_t fewer = count + 1 - chain.count;
  if (chain.stages[chain.count - 1].store == before) fewer = 0;
  if (fewer) {
    replace(s, &chain, first, at, reader);
    for (uint32_t i = 0; i < gone.cap; i++)
      if (gone.pairs[i].key)
        tvms_node_map_put(s->gone, gone.pairs[i].key, gone.pairs[i].value);
  }
  tvms_node_map_fini(&gone);
  return fewer;
}

tvms_list tvms_cpu_late_operands(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                 tvms_node_map *gone) {
  search s = {unit, allocated, stmts, gone};
  for (uint32_t at = 1; at < s.stmts.len; at++) {
    if (!is_sum(&s, at)) continue;
    uint32_t first = first_in_front(&s, at);
    tvms_stage reader;
    for (uint32_t i = at + 1;
         i < s.stmts.len && i - at <= MOST_STAGES && read_element_wise(&s, i, &reader);
         i++) {
      if (!reads_any(&s, first, at, i) || changes(&s, first, at, i)) continue;
      uint32_t fewer = join(&s, first, at, i);
      at -= fewer;
      i -= fewer;
    }
  }
  return s.stmts;
}
