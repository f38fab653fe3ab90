// The regions that the block of a stage reads and writes, and the root block.
//
// A stage has no loops inside its block, so every region is the point that an access names;
// only accesses of one buffer at different points need a region around them.
#include "te/access.h"

#include "ir/equal.h"
#include "ir/walk.h"

typedef struct {
  tvms_te *te;
  tvms_node_vec regions;
} collector;

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

static tvms_node *point_region(tvms_te *te, tvms_node *buffer, tvms_list indices) {
  tvms_node_vec ranges = {0};
  for (uint32_t i = 0; i < indices.len; i++) {
    tvms_node *index = indices.items[i];
    tvms_node *one = tvms_int_imm_new(te->unit, index->dtype, 1, TVMS_NO_SPAN);
    tvms_push(memory_of(te), &ranges,
              tvms_range_new(te->unit, index, one, TVMS_NO_SPAN));
  }
  tvms_node *region =
      tvms_buffer_region_new(te->unit, buffer, ranges.items, ranges.len, TVMS_NO_SPAN);
  tvms_vec_free(memory_of(te), &ranges);
  return region;
}

// The range around two: from the lesser begin to the greater end.
static tvms_node *join_ranges(tvms_te *te, tvms_node *first, tvms_node *second) {
  const tvms_range *a = tvms_as_range(first), *b = tvms_as_range(second);
  if (tvms_expr_equal(a->min, b->min) && tvms_expr_equal(a->extent, b->extent)) {
    return first;
  }
  tvms_unit *unit = te->unit;
  tvms_node *min = tvms_build_binary(unit, TVMS_NODE_MIN, a->min, b->min, TVMS_NO_SPAN);
  tvms_node *a_end =
      tvms_build_binary(unit, TVMS_NODE_ADD, a->min, a->extent, TVMS_NO_SPAN);
  tvms_node *b_end =
      tvms_build_binary(unit, TVMS_NODE_ADD, b->min, b->extent, TVMS_NO_SPAN);
  tvms_node *end = tvms_build_binary(unit, TVMS_NODE_MAX, a_end, b_end, TVMS_NO_SPAN);
  tvms_node *extent = tvms_build_binary(unit, TVMS_NODE_SUB, end, min, TVMS_NO_SPAN);
  return tvms_range_new(unit, tvms_simplify(te->analyzer, min),
                        tvms_simplify(te->analyzer, extent), TVMS_NO_SPAN);
}

static void add_region(collector *c, tvms_node *region) {
  tvms_buffer_region *added = tvms_as_buffer_region(region);
  for (uint32_t i = 0; i < c->regions.len; i++) {
    tvms_buffer_region *known = tvms_as_buffer_region(c->regions.items[i]);
    if (known->buffer != added->buffer) continue;
    for (uint32_t j = 0; j < known->region.len; j++) {
      known->region.items[j] =
          join_ranges(c->te, known->region.items[j], added->region.items[j]);
    }
    return;
  }
  tvms_push(memory_of(c->te), &c->regions, region);
}

static tvms_walk_step collect_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  collector *c = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  add_region(c, point_region(c->te, load->buffer, load->indices));
  return TVMS_WALK_ON;
}

// The stores of a block stand in its body directly.
static void collect_store(collector *c, const tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_SEQ) {
    tvms_list stmts = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < stmts.len; i++)
      collect_store(c, stmts.items[i]);
  } else if (stmt->kind == TVMS_NODE_STORE) {
    const tvms_store *store = tvms_as_store(stmt);
    add_region(c, point_region(c->te, store->buffer, store->indices));
  }
}

static bool writes(const tvms_list regions, const tvms_node *buffer) {
  for (uint32_t i = 0; i < regions.len; i++) {
    if (tvms_as_buffer_region(regions.items[i])->buffer == buffer) return true;
  }
  return false;
}

void tvms_te_set_access(tvms_te *te, tvms_node *node) {
  tvms_block *block = tvms_as_block(node);
  collector c = {.te = te};
  collect_store(&c, block->body);
  block->writes = tvms_list_copy(te->unit, c.regions.items, c.regions.len);
  c.regions.len = 0;
  tvms_visitor visitor = {.self = &c, .enter = collect_load};
  tvms_walk(memory_of(te), block->body, &visitor);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c.regions.len; i++) {
    tvms_node *buffer = tvms_as_buffer_region(c.regions.items[i])->buffer;
    bool own = block->init && writes(block->writes, buffer);
    if (!own) c.regions.items[kept++] = c.regions.items[i];
  }
  block->reads = tvms_list_copy(te->unit, c.regions.items, kept);
  tvms_vec_free(memory_of(te), &c.regions);
}

tvms_node *tvms_te_root(tvms_te *te, tvms_node *body, tvms_list allocs) {
  tvms_block *block = tvms_make(te->unit, BLOCK, TVMS_NO_SPAN);
  block->name = tvms_bytes_copy(te->unit, "root", 4);
  block->alloc_buffers = allocs;
  block->body = body;
  tvms_block_realize *realize = tvms_make(te->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->predicate = tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  return &realize->head;
}
