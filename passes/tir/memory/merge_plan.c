// Free memory is kept in layers: what came first and may be replaced, then what replaced it, side by
// side in the same bytes. A buffer takes the smallest block that is large enough, else as many
// smaller ones as it takes; layers are laid out when all is known.
#include "passes/tir/memory/merge_plan.h"

#include "ir/fold.h"
#include "support/vec.h"

#include <string.h>

typedef TVMS_VEC(uint32_t) numbers;

// Memory of one or several buffers: layers of allocations that replace each other.
typedef struct {
  uint64_t bits;  // 0: not constant
  TVMS_VEC(numbers) layers;
} entry;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  const tvms_linear_access *access;
  const bool *merged;
  TVMS_VEC(entry) entries;
  numbers constant;    // free entries, in order of size
  numbers symbolic;    // free entries of other sizes
  uint32_t *entry_of;  // by number of allocation
  tvms_merge_plan plan;
} planner;

enum { MATCH_RANGE = 16, SMALL_BITS = 32 };
#define NONE UINT32_MAX

static const tvms_buffer *buffer_of(const planner *p, uint32_t alloc) {
  return tvms_as_buffer(p->access->allocs.items[alloc].buffer);
}

static int64_t element_bytes(const tvms_buffer *buffer) {
  return (buffer->element.bits * buffer->element.lanes + 7) / 8;
}

static uint64_t constant_bits(const tvms_buffer *buffer) {
  int64_t size = (int64_t)buffer->element.bits * buffer->element.lanes;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    const tvms_node *dim = buffer->shape.items[i];
    if (dim->kind != TVMS_NODE_INT_IMM) return 0;
    if (__builtin_mul_overflow(size, tvms_as_int_imm(dim)->value, &size)) return 0;
  }
  return (uint64_t)size;
}

// ---- Free memory ----

static uint32_t lower_bound(const planner *p, uint64_t bits) {
  uint32_t at = 0;
  while (at < p->constant.len && p->entries.items[p->constant.items[at]].bits < bits)
    at++;
  return at;
}

static void remove_at(numbers *list, uint32_t at) {
  memmove(list->items + at, list->items + at + 1,
          (list->len - at - 1) * sizeof *list->items);
  list->len--;
}

static void release(planner *p, uint32_t alloc) {
  uint32_t number = p->entry_of[alloc];
  uint64_t bits = p->entries.items[number].bits;
  if (bits > 0 && bits <= SMALL_BITS) return;
  if (bits == 0) {
    tvms_vec_push(p->memory, &p->symbolic, number);
    return;
  }
  uint32_t at = lower_bound(p, bits + 1);
  tvms_vec_push(p->memory, &p->constant, number);
  uint32_t *items = p->constant.items;
  memmove(items + at + 1, items + at, (p->constant.len - at - 1) * sizeof *items);
  items[at] = number;
}

static void add_layer(planner *p, entry *e, uint32_t alloc) {
  numbers layer = {0};
  tvms_vec_push(p->memory, &layer, alloc);
  tvms_vec_push(p->memory, &e->layers, layer);
}

static uint32_t new_entry(planner *p, uint64_t bits) {
  entry made = {.bits = bits};
  tvms_vec_push(p->memory, &p->entries, made);
  return p->entries.len - 1;
}

// Several smaller blocks as one: their layers side by side.
static uint32_t join_smaller(planner *p, uint32_t middle, uint64_t bits) {
  uint64_t sum = 0;
  uint32_t first = middle;
  while (first > 0 && sum < bits)
    sum += p->entries.items[p->constant.items[--first]].bits;
  if (sum == 0) return NONE;
  uint32_t number = new_entry(p, sum > bits ? sum : bits);
  entry *made = &p->entries.items[number];
  for (uint32_t i = middle; i-- > first;) {
    const entry *old = &p->entries.items[p->constant.items[i]];
    for (uint32_t k = 0; k < old->layers.len; k++) {
      numbers none = {0};
      if (k == made->layers.len) tvms_vec_push(p->memory, &made->layers, none);
      for (uint32_t n = 0; n < old->layers.items[k].len; n++)
        tvms_vec_push(p->memory, &made->layers.items[k], old->layers.items[k].items[n]);
    }
  }
  for (uint32_t i = middle; i-- > first;)
    remove_at(&p->constant, i);
  return number;
}

static uint32_t find_entry(planner *p, uint32_t alloc) {
  uint64_t bits = constant_bits(buffer_of(p, alloc));
  uint32_t found = NONE;
  if (bits > SMALL_BITS) {
    uint32_t middle = lower_bound(p, bits);
    uint32_t end = lower_bound(p, bits * MATCH_RANGE + 1);
    if (middle < end) {
      found = p->constant.items[middle];
      remove_at(&p->constant, middle);
    } else {
      found = join_smaller(p, middle, bits);
    }
  } else if (bits == 0 && p->symbolic.len) {
    found = p->symbolic.items[0];
    remove_at(&p->symbolic, 0);
    // TVM takes the memory and forgets that this buffer is in it.
    return found;
  }
  if (found == NONE) found = new_entry(p, bits);
  add_layer(p, &p->entries.items[found], alloc);
  return found;
}

// ---- The row ----

static bool is_in(const uint32_t *items, uint32_t len, uint32_t number) {
  for (uint32_t i = 0; i < len; i++) {
    if (items[i] == number) return true;
  }
  return false;
}

// What lives at one statement only is freed behind it, all other memory in front of what is born.
static void free_dead(planner *p, const tvms_access_event *at, bool leaf,
                      bool born_here) {
  for (uint32_t i = 0; i < at->dead.len; i++) {
    uint32_t alloc = at->dead.items[i];
    bool short_lived = leaf && is_in(at->born.items, at->born.len, alloc);
    if (p->merged[alloc] && short_lived == born_here) release(p, alloc);
  }
}

static void plan_row(planner *p) {
  for (uint32_t i = 0; i < p->access->entries.len; i++) {
    int64_t pair = p->access->entries.items[i].pair;
    const tvms_access_event *at = tvms_linear_access_event(p->access, i);
    if (pair <= 0) free_dead(p, at, pair == 0, false);
    for (uint32_t k = 0; pair >= 0 && k < at->born.len; k++) {
      uint32_t alloc = at->born.items[k];
      if (p->merged[alloc]) p->entry_of[alloc] = find_entry(p, alloc);
    }
    if (pair <= 0) free_dead(p, at, pair == 0, true);
  }
}

// ---- Layout ----

static tvms_node *build(planner *p, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(p->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(planner *p, int64_t value) {
  return tvms_build_literal_int(p->unit, value, TVMS_NO_SPAN);
}

// `place` moved up to a multiple of `align`, as what is added.
static tvms_node *gap(planner *p, tvms_node *place, int64_t align) {
  tvms_node *over = build(p, TVMS_NODE_FLOOR_MOD, place, number(p, align));
  tvms_node *rest = build(p, TVMS_NODE_SUB, number(p, align), over);
  return build(p, TVMS_NODE_FLOOR_MOD, rest, number(p, align));
}

static tvms_node *lay_out_layer(planner *p, const numbers *layer) {
  tvms_node *inner = number(p, 0);
  for (uint32_t i = 0; i < layer->len; i++) {
    const tvms_buffer *buffer = buffer_of(p, layer->items[i]);
    int64_t align = buffer->align > 0 ? buffer->align : element_bytes(buffer);
    tvms_node *place = build(p, TVMS_NODE_ADD, p->plan.size, inner);
    inner = build(p, TVMS_NODE_ADD, inner, gap(p, place, align));
    p->plan.offsets[layer->items[i]] = build(p, TVMS_NODE_ADD, p->plan.size, inner);
    tvms_node *bytes = build(p, TVMS_NODE_MUL, buffer->shape.items[0],
                             number(p, element_bytes(buffer)));
    inner = build(p, TVMS_NODE_ADD, inner, bytes);
  }
  return inner;
}

static void lay_out(planner *p, uint32_t place) {
  const entry *e = &p->entries.items[place];
  tvms_node *most = number(p, 0);
  for (uint32_t i = 0; i < e->layers.len; i++) {
    tvms_node *inner = lay_out_layer(p, &e->layers.items[i]);
    most = build(p, TVMS_NODE_MAX, most, inner);
  }
  p->plan.size = build(p, TVMS_NODE_ADD, p->plan.size, most);
}

tvms_merge_plan tvms_merge_plan_make(tvms_unit *unit, const tvms_linear_access *access,
                                     const bool *merged) {
  planner p = {.unit = unit,
               .memory = &unit->context->memory,
               .access = access,
               .merged = merged};
  uint32_t count = access->allocs.len;
  p.entry_of = tvms_arena_array(&unit->arena, uint32_t, count);
  p.plan.offsets = tvms_arena_array(&unit->arena, tvms_node *, count);
  memset(p.plan.offsets, 0, count * sizeof *p.plan.offsets);
  plan_row(&p);
  p.plan.size = number(&p, 0);
  for (uint32_t i = 0; i < p.constant.len; i++)
    lay_out(&p, p.constant.items[i]);
  for (uint32_t i = 0; i < p.symbolic.len; i++)
    lay_out(&p, p.symbolic.items[i]);
  for (uint32_t i = 0; i < p.entries.len; i++) {
    entry *e = &p.entries.items[i];
    for (uint32_t k = 0; k < e->layers.len; k++)
      tvms_vec_fini(p.memory, &e->layers.items[k]);
    tvms_vec_fini(p.memory, &e->layers);
  }
  tvms_vec_fini(p.memory, &p.entries);
  tvms_vec_fini(p.memory, &p.constant);
  tvms_vec_fini(p.memory, &p.symbolic);
  return p.plan;
}
