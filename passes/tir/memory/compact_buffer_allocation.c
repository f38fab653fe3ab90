// CompactBufferAllocation: allocated buffers are as large as what is touched of them.
//
// Before: for i in range(16):
//             with T.sblock(""): B = T.sblock_alloc_buffer((16, 16)); B[i, j] = A[i, j] for all j
// After:  B = T.sblock_alloc_buffer((1, 16)); B[i - i, j] = A[i, j]
//
// Every access is moved by where the touched region begins; StmtSimplify mends the indices.
// The annotation buffer_dim_align of a block gives its buffers strides. With is_strict=false
// the region may leave the shape that is written. T.allocate of 0.22 changes with its buffer, if it
// has one only. Buffers of which every dimension is needed stay
// as they are, and parameters always do. TVM: s_tir.transform.CompactBufferAllocation.
#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/analysis/touched_regions.h"

typedef struct {
  tvms_unit *unit;
  tvms_node_map regions;  // BUFFER as written -> BUFFER_REGION that is touched
  tvms_node_map aligns;   // BUFFER as written -> OBJECT_ARRAY [_, dim, factor, offset]s
  tvms_node_map noted;    // BUFFER that an annotation names -> itself
  tvms_node_map memory;   // pointer -> BUFFER as it becomes
} compaction;

static tvms_node *build(compaction *c, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  tvms_node *made = tvms_build_binary(c->unit, kind, a, b, TVMS_NO_SPAN);
  return made ? made : a;
}

// ---- Alignment ----

// A block says of the buffers that it writes how their dimensions are aligned.
static tvms_walk_step note_aligns(void *self, tvms_node *node, tvms_field_role role) {
  compaction *c = self;
  if (node->kind == TVMS_NODE_BUFFER && role == TVMS_ROLE_NOTE)
    tvms_node_map_put(&c->noted, node, node);
  if (role != TVMS_ROLE_NOTE && tvms_node_class_of(node) == TVMS_CLASS_EXPR)
    return TVMS_WALK_SKIP;
  const tvms_node *annotations = NULL;
  tvms_list writes = {0};
  if (node->kind == TVMS_NODE_BLOCK) {
    annotations = tvms_as_block(node)->annotations;
    writes = tvms_as_block(node)->writes;
  } else if (node->kind == TVMS_NODE_ALLOC_BUFFER) {
    annotations = tvms_as_alloc_buffer(node)->annotations;
  }
  tvms_node *list = tvms_object_map_get(annotations, "buffer_dim_align");
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return TVMS_WALK_ON;
  tvms_list items = tvms_as_object_array(list)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    if (items.items[i]->kind != TVMS_NODE_OBJECT_ARRAY) continue;
    tvms_list entry = tvms_as_object_array(items.items[i])->items;
    int64_t place;
    if (entry.len != 4 || !tvms_object_as_int(entry.items[0], &place)) continue;
    const tvms_node *buffer = NULL;
    if (node->kind == TVMS_NODE_ALLOC_BUFFER) {
      buffer = tvms_as_alloc_buffer(node)->buffer;
    } else if (place >= 0 && place < writes.len) {
      buffer = tvms_as_buffer_region(writes.items[place])->buffer;
    }
    if (!buffer) continue;
    tvms_node *old = tvms_node_map_get(&c->aligns, buffer);
    tvms_node_vec entries = {0};
    tvms_memory *memory = &c->unit->context->memory;
    for (uint32_t k = 0; old && k < tvms_as_object_array(old)->items.len; k++) {
      tvms_vec_push(memory, &entries, tvms_as_object_array(old)->items.items[k]);
    }
    tvms_vec_push(memory, &entries, items.items[i]);
    tvms_node_map_put(
        &c->aligns, buffer,
        tvms_object_array_new(c->unit, entries.items, entries.len, TVMS_NO_SPAN));
    tvms_vec_fini(memory, &entries);
  }
  return TVMS_WALK_ON;
}

// Factor and offset of a dimension; the last entry counts.
static bool align_of(const tvms_node *aligns, uint32_t dim, int64_t *factor,
                     int64_t *offset) {
  tvms_list entries = tvms_as_object_array(aligns)->items;
  *factor = *offset = 0;
  for (uint32_t i = 0; i < entries.len; i++) {
    tvms_list entry = tvms_as_object_array(entries.items[i])->items;
    int64_t at;
    if (!tvms_object_as_int(entry.items[1], &at) || at != dim) continue;
    if (!tvms_object_as_int(entry.items[2], factor)
        || !tvms_object_as_int(entry.items[3], offset))
      return false;
  }
  return *factor != 0;
}

// Each stride is moved up until stride % factor == offset.
static tvms_list strides_of(compaction *c, const tvms_node *aligns, tvms_list shape) {
  tvms_node **strides = tvms_arena_array(&c->unit->arena, tvms_node *, shape.len);
  tvms_dtype dtype = shape.items[0]->dtype;
  tvms_node *stride = tvms_int_imm_new(c->unit, dtype, 1, TVMS_NO_SPAN);
  for (uint32_t i = shape.len; i-- > 0;) {
    int64_t factor, offset;
    if (align_of(aligns, i, &factor, &offset)) {
      tvms_node *divisor =
          tvms_int_imm_new(c->unit, stride->dtype, factor, TVMS_NO_SPAN);
      tvms_node *wanted =
          tvms_int_imm_new(c->unit, stride->dtype, factor + offset, TVMS_NO_SPAN);
      tvms_node *over = build(c, TVMS_NODE_FLOOR_MOD, stride, divisor);
      tvms_node *gap = build(c, TVMS_NODE_SUB, wanted, over);
      stride =
          build(c, TVMS_NODE_ADD, stride, build(c, TVMS_NODE_FLOOR_MOD, gap, divisor));
    }
    strides[i] = stride;
    stride = build(c, TVMS_NODE_MUL, stride, shape.items[i]);
  }
  return (tvms_list){strides, shape.len};
}

// ---- Buffers ----

static tvms_node *compact(compaction *c, tvms_node *node, const tvms_node *region) {
  tvms_list ranges = tvms_as_buffer_region(region)->region;
  const tvms_buffer *old = tvms_as_buffer(node);
  tvms_list shape = {tvms_arena_array(&c->unit->arena, tvms_node *, ranges.len),
                     ranges.len};
  for (uint32_t i = 0; i < ranges.len; i++) {
    shape.items[i] = tvms_as_range(ranges.items[i])->extent;
  }
  const tvms_node *aligns = tvms_node_map_get(&c->aligns, node);
  tvms_list strides = {0};
  if (aligns && shape.len) strides = strides_of(c, aligns, shape);
  // TVM makes all buffers anew, which shows where an annotation keeps the old one.
  bool same = tvms_node_same_exprs(shape, old->shape)
              && tvms_node_same_exprs(strides, old->strides);
  if (same && !tvms_node_map_get(&c->noted, node)) return node;
  tvms_node *copy = tvms_node_copy(c->unit, node);
  tvms_as_buffer(copy)->shape = shape;
  tvms_as_buffer(copy)->strides = strides;
  return copy;
}

// Is the length of a touched part known? One that is no more than what the dtype of a size can hold is as good as none.
static bool is_known(const tvms_node *extent, const tvms_node *whole) {
  enum { MOST = 1 << 30 };
  if (!tvms_node_is_int_imm(extent)) return false;
  return tvms_node_is_int_imm(whole) || tvms_as_int_imm(extent)->value < MOST;
}

// The region with whole dimensions in the place of those of which a part is touched whose length is not known, or no less than the whole:
// where that begins would have to be taken away from each index.
static tvms_node *with_whole_dimensions(compaction *c, const tvms_node *buffer,
                                        tvms_node *region) {
  tvms_list shape = tvms_as_buffer(buffer)->shape,
            old = tvms_as_buffer_region(region)->region;
  tvms_list made = tvms_list_copy(c->unit, old.items, old.len);
  for (uint32_t i = 0; i < old.len && i < shape.len; i++) {
    const tvms_range *range = tvms_as_range(old.items[i]);
    if (is_known(range->extent, shape.items[i])
        && !tvms_node_same_expr(range->extent, shape.items[i]))
      continue;
    tvms_node *zero = tvms_int_imm_new(c->unit, shape.items[i]->dtype, 0, TVMS_NO_SPAN);
    made.items[i] = tvms_range_new(c->unit, zero, shape.items[i], old.items[i]->span);
  }
  tvms_node *copy = tvms_node_copy(c->unit, region);
  tvms_as_buffer_region(copy)->region = made;
  return copy;
}

static void keep_whole_dimensions(compaction *c) {
  for (uint32_t i = 0; i < c->regions.cap; i++) {
    // In place: the map must not grow while it is gone through.
    tvms_node_pair *pair = &c->regions.pairs[i];
    if (pair->key && pair->value)
      pair->value = with_whole_dimensions(c, pair->key, pair->value);
  }
}

// ---- Accesses ----

// Where the touched region of a buffer begins in each dimension; NULL: the buffer stays.
static const tvms_buffer_region *TVMS_NULLABLE region_of(const compaction *c,
                                                         const tvms_node *buffer) {
  const tvms_node *region = tvms_node_map_get(&c->regions, buffer);
  return region ? tvms_as_buffer_region(region) : NULL;
}

// An index from the beginning of the touched region on.
static tvms_node *moved(compaction *c, tvms_node *index, const tvms_node *range) {
  tvms_node *min = tvms_as_range(range)->min;
  // TVM writes the difference from zero out if the index is a vector, and a zero of a wider
  // type widens the index.
  bool same = tvms_node_is_int(min, 0) && tvms_dtype_same(index->dtype, min->dtype);
  return same ? index : build(c, TVMS_NODE_SUB, index, min);
}

static tvms_list moved_indices(compaction *c, const tvms_buffer_region *region,
                               tvms_list indices) {
  tvms_list made = tvms_list_copy(c->unit, indices.items, indices.len);
  bool same = true;
  for (uint32_t i = 0; i < indices.len && i < region->region.len; i++) {
    made.items[i] = moved(c, indices.items[i], region->region.items[i]);
    same &= made.items[i] == indices.items[i];
  }
  return same ? indices : made;
}

static tvms_node *leave_element(tvms_rewriter *r, tvms_node *node) {
  compaction *c = r->self;
  const tvms_buffer_region *region = region_of(c, *tvms_node_element(r->old).buffer);
  if (!region) return node;
  tvms_list old = *tvms_node_element(node).indices;
  tvms_list made = moved_indices(c, region, old);
  if (made.items == old.items) return node;
  tvms_node *copy = tvms_node_copy(c->unit, node);
  *tvms_node_element(copy).indices = made;
  return copy;
}

static tvms_node *leave_region(tvms_rewriter *r, tvms_node *node) {
  compaction *c = r->self;
  const tvms_buffer_region *region =
      region_of(c, tvms_as_buffer_region(r->old)->buffer);
  if (!region) return node;
  tvms_list old = tvms_as_buffer_region(node)->region;
  tvms_list made = tvms_list_copy(c->unit, old.items, old.len);
  bool same = true;
  for (uint32_t i = 0; i < old.len && i < region->region.len; i++) {
    const tvms_range *range = tvms_as_range(old.items[i]);
    tvms_node *min = moved(c, range->min, region->region.items[i]);
    if (min == range->min) continue;
    made.items[i] = tvms_range_new(c->unit, min, range->extent, old.items[i]->span);
    same = false;
  }
  if (same) return node;
  tvms_node *copy = tvms_node_copy(c->unit, node);
  tvms_as_buffer_region(copy)->region = made;
  return copy;
}

// What T.allocate makes has the extents of its buffer.
static tvms_node *leave_allocate(tvms_rewriter *r, tvms_node *node) {
  const compaction *c = r->self;
  const tvms_node *buffer = tvms_node_map_get(&c->memory, tvms_as_allocate(node)->var);
  if (!buffer) return node;
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  if (tvms_node_same_exprs(shape, tvms_as_allocate(node)->extents)) return node;
  tvms_node *copy = tvms_node_copy(c->unit, node);
  tvms_as_allocate(copy)->extents = shape;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  compaction c = {.unit = unit};
  tvms_memory *memory = &run->context->memory;
  tvms_node_map_init(&c.regions, memory);
  tvms_node_map_init(&c.aligns, memory);
  tvms_node_map_init(&c.noted, memory);
  tvms_node_map_init(&c.memory, memory);
  tvms_node *body = tvms_as_prim_func(function)->body, *changed = function;
  bool inside = TVMS_OPTION(run, CompactBufferAllocation, is_strict).number != 0;
  bool whole = TVMS_OPTION(run, CompactBufferAllocation, whole).number != 0;
  if (tvms_touched_regions_collect(unit, body, inside, whole, &c.regions)) {
    if (whole) keep_whole_dimensions(&c);
    tvms_visitor visitor = {.self = &c, .enter = note_aligns};
    tvms_walk(memory, body, &visitor);
    tvms_rewriter r;
    tvms_rewriter_init(&r, unit, &c);
    r.roles &= ~TVMS_IN(NOTE);  // annotations go on naming the buffers as they were
    r.leave[TVMS_NODE_BUFFER_LOAD] = leave_element;
    r.leave[TVMS_NODE_STORE] = leave_element;
    r.leave[TVMS_NODE_BUFFER_REGION] = leave_region;
    r.leave[TVMS_NODE_ALLOCATE] = leave_allocate;
    for (uint32_t i = 0; i < c.regions.cap; i++) {
      const tvms_node_pair *pair = &c.regions.pairs[i];
      if (!pair->key || !pair->value) continue;
      tvms_node *old = (tvms_node *)(uintptr_t)pair->key;
      tvms_node *compacted = compact(&c, old, pair->value);
      tvms_node_map_put(&r.known, old, compacted);
      tvms_node_map_put(&c.memory, tvms_as_buffer(old)->data, compacted);
    }
    changed = tvms_rewrite(&r, function);
    tvms_rewriter_fini(&r);
  }
  tvms_node_map_fini(&c.memory);
  tvms_node_map_fini(&c.noted);
  tvms_node_map_fini(&c.aligns);
  tvms_node_map_fini(&c.regions);
  return changed;
}

void tvms_pass_compact_buffer_allocation(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
