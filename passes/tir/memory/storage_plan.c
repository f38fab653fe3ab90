// One pass over the row of statements that hands out memory where buffers begin to live.
//
// The size of free memory decides: the smallest block that is large enough and not sixteen
// times too large, else the largest that is too small, which grows. Registers and single
// numbers are left to the compiler of the machine.
#include "passes/tir/memory/storage_plan.h"

#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "passes/tir/memory/inplace.h"
#include "schedule/storage_scope.h"
#include "support/vec.h"

#include <limits.h>
#include <string.h>

typedef TVMS_VEC(uint32_t) numbers;

// Free memory of constant size, in order of size.
typedef struct {
  uint64_t bits;
  uint32_t entry;
} block;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  const tvms_linear_access *access;
  tvms_storage_plan *plan;
  tvms_storage_options options;
  TVMS_VEC(block) constant;
  numbers symbolic;         // free memory of other sizes
  const tvms_node *attach;  // the scope whose allocations are planned
  bool *replaced;           // by number of allocation: written over
} planner;

enum { MATCH_RANGE = 16, REGISTER_BITS = 32, MERGE_ALIGN = 32 };

static const tvms_access_alloc *alloc_of(const planner *p, uint32_t number) {
  return &p->access->allocs.items[number];
}

static const tvms_buffer *buffer_of(const planner *p, uint32_t number) {
  return tvms_as_buffer(alloc_of(p, number)->buffer);
}

static bool is_volatile(const planner *p, uint32_t number) {
  tvms_node *stmt = alloc_of(p, number)->stmt;
  return stmt->kind == TVMS_NODE_ALLOC_BUFFER
         && tvms_object_map_get(tvms_as_alloc_buffer(stmt)->annotations,
                                "tirx.volatile");
}

static tvms_storage_entry *entry_at(const planner *p, uint32_t entry) {
  return &p->plan->entries.items[entry];
}

// ---- Sizes ----

static uint64_t element_bits(const tvms_buffer *buffer) {
  int lanes = buffer->element.lanes;
  return (uint64_t)buffer->element.bits * (uint64_t)(lanes < 0 ? -lanes : lanes);
}

// 0: not constant.
static uint64_t constant_bits(const tvms_buffer *buffer) {
  if (buffer->element.lanes < 0) return 0;
  int64_t size = 1;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    const tvms_node *dim = buffer->shape.items[i];
    if (dim->kind != TVMS_NODE_INT_IMM) return 0;
    if (__builtin_mul_overflow(size, tvms_as_int_imm(dim)->value, &size)) return 0;
  }
  return (uint64_t)size * element_bits(buffer);
}

static bool is_special(const char *scope) {
  const char *tag = tvms_storage_tag_of(scope);
  return *tag && strcmp(tag, ".dyn") != 0 && strcmp(tag, ".workspace") != 0
         && strcmp(tag, ".vtcm") != 0;
}

// ---- Free memory ----

static uint32_t lower_bound(const planner *p, uint64_t bits) {
  uint32_t low = 0, high = p->constant.len;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (p->constant.items[middle].bits < bits)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void remove_block(planner *p, uint32_t at) {
  block *items = p->constant.items;
  memmove(items + at, items + at + 1, (p->constant.len - at - 1) * sizeof *items);
  p->constant.len--;
}

static void add_block(planner *p, uint64_t bits, uint32_t entry) {
  uint32_t at = lower_bound(p, bits + 1);
  block made = {bits, entry};
  tvms_vec_push(p->memory, &p->constant, made);
  block *items = p->constant.items;
  memmove(items + at + 1, items + at, (p->constant.len - at - 1) * sizeof *items);
  items[at] = made;
}

static uint32_t new_entry(planner *p, const tvms_buffer *buffer, const char *scope,
                          uint64_t bits) {
  tvms_storage_entry made = {.attach = p->attach,
                             .scope = scope,
                             .element = tvms_dtype_with_lanes(buffer->element, 1),
                             .bits = bits};
  tvms_vec_push(p->memory, &p->plan->entries, made);
  return p->plan->entries.len - 1;
}

static bool is_here(const planner *p, const tvms_storage_entry *e, const char *scope) {
  return e->attach == p->attach && strcmp(e->scope, scope) == 0;
}

static bool has_element(const tvms_storage_entry *e, const tvms_buffer *buffer,
                        bool exact) {
  tvms_dtype wanted = buffer->element;
  if (!exact) wanted.lanes = 1;
  return tvms_dtype_same(e->element, wanted);
}

static uint32_t take_block(planner *p, uint32_t at, uint64_t bits) {
  uint32_t found = p->constant.items[at].entry;
  tvms_storage_entry *e = entry_at(p, found);
  if (bits > e->bits) e->bits = bits;
  remove_block(p, at);
  return found;
}

static uint32_t find_constant(planner *p, const tvms_buffer *buffer, const char *scope,
                              uint64_t bits) {
  bool exact = p->options.exact_elements;
  uint32_t middle = lower_bound(p, bits);
  uint32_t end = lower_bound(p, bits * MATCH_RANGE + 1);
  for (uint32_t i = middle; i < end; i++) {
    const tvms_storage_entry *e = entry_at(p, p->constant.items[i].entry);
    if (!is_here(p, e, scope) || e->offset % element_bits(buffer) != 0) continue;
    if (exact && !has_element(e, buffer, true)) continue;
    return take_block(p, i, bits);
  }
  uint32_t begin = lower_bound(p, bits / MATCH_RANGE);
  for (uint32_t i = middle; i-- > begin;) {
    const tvms_storage_entry *e = entry_at(p, p->constant.items[i].entry);
    if (!is_here(p, e, scope) || !has_element(e, buffer, false)) continue;
    if (exact && !has_element(e, buffer, true)) continue;
    return take_block(p, i, bits);
  }
  return UINT32_MAX;
}

static uint32_t find_symbolic(planner *p, const tvms_buffer *buffer,
                              const char *scope) {
  for (uint32_t i = 0; i < p->symbolic.len; i++) {
    uint32_t found = p->symbolic.items[i];
    const tvms_storage_entry *e = entry_at(p, found);
    if (!is_here(p, e, scope) || !has_element(e, buffer, false)) continue;
    uint32_t *items = p->symbolic.items;
    memmove(items + i, items + i + 1, (p->symbolic.len - i - 1) * sizeof *items);
    p->symbolic.len--;
    return found;
  }
  return UINT32_MAX;
}

// Why a buffer is not to be given free memory; NULL: it may be.
static const char *TVMS_NULLABLE obstacle(const planner *p, const tvms_buffer *buffer,
                                          const char *scope, uint64_t bits) {
  bool plain = *tvms_storage_tag_of(scope) == 0;
  if (buffer->element.lanes <= 0) return "the length of its vectors is not known";
  if (!p->options.reuse) return "merge_static_smem leaves that to another pass";
  if (plain && tvms_storage_rank_of(scope) >= TVMS_STORAGE_WARP)
    return "its scope is left to the compiler of the device";
  if (plain && tvms_dtype_is_handle(buffer->element)) return "it holds pointers";
  if (plain && bits > 0 && bits <= REGISTER_BITS) return "it fits into a register";
  return buffer->shape.len == 1 ? NULL : "it has several dimensions";
}

static uint32_t find_entry(planner *p, uint32_t number) {
  const tvms_buffer *buffer = buffer_of(p, number);
  const char *scope = tvms_storage_scope_of(p->unit->context, &buffer->head);
  uint64_t bits = constant_bits(buffer);
  p->plan->why[number] = obstacle(p, buffer, scope, bits);
  uint32_t found = UINT32_MAX;
  if (!p->plan->why[number]) {
    found = bits > 0 ? find_constant(p, buffer, scope, bits)
                     : find_symbolic(p, buffer, scope);
  }
  if (found != UINT32_MAX) return found;
  bool any = p->constant.len + p->symbolic.len > 0;
  if (!p->plan->why[number])
    p->plan->why[number] = any ? "what is free here has another scope, size or dtype"
                               : "nothing is free where it is first touched";
  return new_entry(p, buffer, scope, bits);
}

static void release(planner *p, uint32_t number) {
  uint32_t place = p->plan->entry_of[number];
  const tvms_storage_entry *e = entry_at(p, place);
  if (*tvms_storage_tag_of(e->scope) == 0) {
    tvms_dtype first = buffer_of(p, e->allocs.items[0])->element;
    if (tvms_storage_rank_of(e->scope) >= TVMS_STORAGE_WARP || first.lanes < 0) return;
    if (tvms_dtype_is_handle(first)) return;
    if (e->bits > 0 && e->bits <= REGISTER_BITS) return;
  }
  if (e->bits != 0)
    add_block(p, e->bits, place);
  else
    tvms_vec_push(p->memory, &p->symbolic, place);
}

// ---- The row ----

// Memory of something that dies where `number` is born, if it may be written over.
static uint32_t find_inplace(planner *p, const tvms_access_event *at,
                             const tvms_node *stmt, uint32_t number) {
  const tvms_buffer *buffer = buffer_of(p, number);
  const char *scope = tvms_storage_scope_of(p->unit->context, &buffer->head);
  for (uint32_t i = 0; i < at->dead.len && buffer->element.lanes > 0; i++) {
    uint32_t source = at->dead.items[i];
    uint32_t place = p->plan->entry_of[source];
    if (p->replaced[source] || place == UINT32_MAX) continue;
    const tvms_storage_entry *e = entry_at(p, place);
    if (!is_here(p, e, scope) || !has_element(e, buffer, false)) continue;
    if (e->bits != constant_bits(buffer)) continue;
    if (!tvms_inplace_is_safe(p->unit->context, stmt, &buffer->head,
                              alloc_of(p, source)->buffer))
      continue;
    p->replaced[source] = true;
    return place;
  }
  return UINT32_MAX;
}

static void give_memory(planner *p, const tvms_access_event *at,
                        const tvms_node *stmt) {
  for (uint32_t i = 0; i < at->born.len; i++) {
    uint32_t number = at->born.items[i], place = UINT32_MAX;
    if (at->born.len <= 2) place = find_inplace(p, at, stmt, number);
    if (place == UINT32_MAX) place = find_entry(p, number);
    tvms_storage_entry *e = entry_at(p, place);
    tvms_vec_push(p->memory, &e->allocs, number);
    e->is_volatile |= is_volatile(p, number);
    p->plan->entry_of[number] = place;
  }
}

// Memory does not outlive the threads that it belongs to.
static void switch_scope(planner *p, const tvms_node *stmt) {
  if (!p->attach) {
    p->attach = stmt;
    return;
  }
  if (p->attach != stmt) return;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < p->constant.len; i++) {
    block b = p->constant.items[i];
    if (entry_at(p, b.entry)->attach != stmt) p->constant.items[kept++] = b;
  }
  p->constant.len = kept;
  kept = 0;
  for (uint32_t i = 0; i < p->symbolic.len; i++) {
    uint32_t place = p->symbolic.items[i];
    if (entry_at(p, place)->attach != stmt) p->symbolic.items[kept++] = place;
  }
  p->symbolic.len = kept;
  p->attach = NULL;
}

static bool is_attach(const planner *p, const tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_ATTR_STMT) {
    return !tvms_bytes_is(tvms_as_attr_stmt(stmt)->key, "extern_scope");
  }
  return stmt->kind == TVMS_NODE_FOR && tvms_as_for(stmt)->for_kind == TVMS_FOR_PARALLEL
         && (!p->attach || p->attach == stmt);
}

static void plan_row(planner *p) {
  const tvms_linear_access *access = p->access;
  for (uint32_t i = 0; i < access->entries.len; i++) {
    const tvms_access_entry *entry = &access->entries.items[i];
    const tvms_access_event *at = tvms_linear_access_event(access, i);
    if (entry->pair >= 0) give_memory(p, at, entry->stmt);
    if (is_attach(p, entry->stmt)) switch_scope(p, entry->stmt);
    if (entry->pair > 0) continue;
    for (uint32_t k = 0; k < at->dead.len; k++) {
      uint32_t number = at->dead.items[k];
      if (!p->replaced[number]) release(p, number);
    }
  }
}

// ---- Allocations ----

static bool makes_pointers(const planner *p) {
  return !tvms_release_has(p->unit->dialect, TVMS_FACT_alloc_buffer_is_a_statement);
}

// Of a pointer. The condition is that of the only allocation, or true.
static tvms_node *allocation_of_pointer(planner *p, const tvms_storage_entry *e) {
  const tvms_access_alloc *first = alloc_of(p, e->allocs.items[0]);
  const tvms_buffer *backing = tvms_as_buffer(e->backing);
  tvms_allocate *alloc = tvms_node_make(p->unit, ALLOCATE, TVMS_NO_SPAN);
  alloc->extents = backing->shape;
  alloc->var = backing->data;
  alloc->element = backing->element;
  alloc->condition = first->buffer == e->backing
                         ? tvms_as_allocate(first->stmt)->condition
                         : tvms_bool_imm_new(p->unit, true, TVMS_NO_SPAN);
  return &alloc->head;
}

static tvms_node *allocation(planner *p, tvms_storage_entry *e) {
  if (makes_pointers(p)) return allocation_of_pointer(p, e);
  tvms_alloc_buffer *alloc = tvms_node_make(p->unit, ALLOC_BUFFER, TVMS_NO_SPAN);
  alloc->buffer = e->backing;
  if (e->is_volatile) {
    tvms_node *yes = tvms_object_bool_new(p->unit, true, TVMS_NO_SPAN);
    alloc->annotations = tvms_object_map_with(p->unit, NULL, "tirx.volatile", yes);
  }
  return &alloc->head;
}

// Before 0.26 a buffer that is remade has the name of its pointer.
static tvms_sym name_of_memory(const planner *p, const tvms_buffer *first) {
  return tvms_release_has(p->unit->dialect, TVMS_FACT_buffers_are_variables)
             ? first->name
             : tvms_as_var(first->data)->name;
}

// A flat buffer in the place of the first allocation of an entry.
static tvms_node *backing_of(planner *p, const tvms_storage_entry *e, tvms_dtype dtype,
                             tvms_node *size) {
  const tvms_buffer *first = buffer_of(p, e->allocs.items[0]);
  tvms_buffer *made = tvms_node_make(p->unit, BUFFER, TVMS_NO_SPAN);
  tvms_sym scope = 0;
  const tvms_node *type = first->data->sinfo;
  if (type && type->kind == TVMS_NODE_SINFO_POINTER)
    scope = tvms_as_sinfo_pointer(type)->scope;
  made->name = name_of_memory(p, first);
  made->element = dtype;
  made->data = makes_pointers(p)
                   ? first->data
                   : tvms_pointer_var_new(p->unit, tvms_as_var(first->data)->name,
                                          dtype, scope, TVMS_NO_SPAN);
  made->shape = tvms_list_copy(p->unit, &size, 1);
  made->elem_offset = tvms_int_imm_new(p->unit, size->dtype, 0, TVMS_NO_SPAN);
  made->align = 64;
  made->offset_factor = 1;
  return &made->head;
}

static bool all_alike(const planner *p, const tvms_storage_entry *e) {
  const tvms_buffer *first = buffer_of(p, e->allocs.items[0]);
  for (uint32_t i = 1; i < e->allocs.len; i++) {
    const tvms_buffer *other = buffer_of(p, e->allocs.items[i]);
    if (!tvms_dtype_same(first->element, other->element)) return false;
    if (first->shape.len != other->shape.len) return false;
    for (uint32_t k = 0; k < first->shape.len; k++) {
      if (!tvms_node_same_expr(first->shape.items[k], other->shape.items[k]))
        return false;
    }
  }
  return true;
}

static tvms_node *build(planner *p, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(p->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(planner *p, int64_t value) {
  return tvms_build_literal_int(p->unit, value, TVMS_NO_SPAN);
}

// The greatest size of all, in elements of the widest.
static tvms_node *merged_size(planner *p, const tvms_storage_entry *e,
                              tvms_dtype *widest) {
  tvms_node *bits = NULL;
  *widest = buffer_of(p, e->allocs.items[0])->element;
  for (uint32_t i = 0; i < e->allocs.len; i++) {
    const tvms_buffer *buffer = buffer_of(p, e->allocs.items[i]);
    if (buffer->element.lanes > widest->lanes) *widest = buffer->element;
    tvms_node *size = buffer->shape.items[0];
    int64_t each = (int64_t)element_bits(buffer);
    if (size->kind == TVMS_NODE_INT_IMM
        && tvms_as_int_imm(size)->value > INT_MAX / each) {
      size = tvms_int_imm_new(p->unit, TVMS_DTYPE(INT, 64),
                              tvms_as_int_imm(size)->value, TVMS_NO_SPAN);
    }
    size = build(p, TVMS_NODE_MUL, size, number(p, each));
    bits = bits ? build(p, TVMS_NODE_MAX, bits, size) : size;
  }
  tvms_analyzer *analyzer = tvms_analyzer_new(p->unit);
  tvms_node *each = number(p, (int64_t)widest->bits * widest->lanes);
  tvms_node *rest = build(p, TVMS_NODE_FLOOR_MOD, bits, each);
  bool whole =
      tvms_analyzer_can_prove(analyzer, build(p, TVMS_NODE_EQ, rest, number(p, 0)));
  tvms_node *size = build(p, TVMS_NODE_FLOOR_DIV, bits, each);
  if (!whole) size = build(p, TVMS_NODE_ADD, size, number(p, 1));
  size = tvms_analyzer_simplify(analyzer, size);
  tvms_analyzer_free(analyzer);
  return size;
}

static void make_backing(planner *p, tvms_storage_entry *e) {
  bool scalable = buffer_of(p, e->allocs.items[0])->element.lanes < 0;
  if (all_alike(p, e) || scalable) {
    tvms_node *first = alloc_of(p, e->allocs.items[0])->buffer;
    tvms_sym name = name_of_memory(p, tvms_as_buffer(first));
    e->backing = first;
    e->declared = alloc_of(p, e->allocs.items[0])->declared;
    if (name != tvms_as_buffer(first)->name) {
      e->backing = tvms_node_copy(p->unit, first);
      tvms_as_buffer(e->backing)->name = name;
      e->renamed = first;
    }
  } else {
    tvms_dtype dtype;
    tvms_node *size = merged_size(p, e, &dtype);
    e->backing = backing_of(p, e, dtype, size);
  }
  e->statement = allocation(p, e);
}

static uint64_t aligned(uint64_t bits) {
  return (bits + MERGE_ALIGN - 1) / MERGE_ALIGN * MERGE_ALIGN;
}

static bool is_merged_with(const tvms_storage_entry *e,
                           const tvms_storage_entry *other) {
  return e->attach == other->attach && strcmp(e->scope, other->scope) == 0;
}

// All memory of one special scope becomes one allocation.
static void make_merged(planner *p, uint32_t first) {
  tvms_storage_entry *e = entry_at(p, first);
  uint64_t bits = aligned(e->bits);
  for (uint32_t i = first + 1; i < p->plan->entries.len; i++) {
    tvms_storage_entry *part = entry_at(p, i);
    if (!is_merged_with(e, part)) continue;
    part->offset = bits;
    bits += aligned(part->bits);
    e->is_volatile |= part->is_volatile;
  }
  uint64_t each = e->element.bits;
  tvms_dtype dtype = buffer_of(p, e->allocs.items[0])->shape.items[0]->dtype;
  tvms_node *size = tvms_int_imm_new(p->unit, dtype,
                                     (int64_t)((bits + each - 1) / each), TVMS_NO_SPAN);
  e->backing = backing_of(p, e, e->element, size);
  e->statement = allocation(p, e);
  for (uint32_t i = first + 1; i < p->plan->entries.len; i++) {
    tvms_storage_entry *part = entry_at(p, i);
    if (is_merged_with(e, part)) part->backing = e->backing;
  }
}

static void make_allocations(planner *p) {
  for (uint32_t i = 0; i < p->plan->entries.len; i++) {
    tvms_storage_entry *e = entry_at(p, i);
    if (e->backing) continue;
    bool merged = false;
    for (uint32_t k = i + 1; k < p->plan->entries.len && !merged; k++) {
      merged = is_special(e->scope) && is_merged_with(e, entry_at(p, k));
    }
    if (merged)
      make_merged(p, i);
    else
      make_backing(p, e);
  }
}

void tvms_storage_plan_init(tvms_storage_plan *plan, tvms_unit *unit,
                            const tvms_linear_access *access,
                            tvms_storage_options options) {
  *plan = (tvms_storage_plan){.unit = unit};
  uint32_t allocs = access->allocs.len;
  plan->entry_of = tvms_arena_array(&unit->arena, uint32_t, allocs + 1);
  memset(plan->entry_of, 0xff, (allocs + 1) * sizeof *plan->entry_of);
  plan->why = tvms_arena_array(&unit->arena, const char *, allocs + 1);
  memset(plan->why, 0, (allocs + 1) * sizeof *plan->why);
  planner p = {.unit = unit,
               .memory = &unit->context->memory,
               .access = access,
               .plan = plan,
               .options = options};
  p.replaced = tvms_arena_array(&unit->arena, bool, allocs + 1);
  memset(p.replaced, 0, allocs + 1);
  plan_row(&p);
  make_allocations(&p);
  tvms_vec_fini(p.memory, &p.constant);
  tvms_vec_fini(p.memory, &p.symbolic);
}

void tvms_storage_plan_fini(tvms_storage_plan *plan) {
  tvms_memory *memory = &plan->unit->context->memory;
  for (uint32_t i = 0; i < plan->entries.len; i++) {
    tvms_vec_fini(memory, &plan->entries.items[i].allocs);
  }
  tvms_vec_fini(memory, &plan->entries);
}
