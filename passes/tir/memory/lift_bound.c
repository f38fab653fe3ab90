// Sizes with a number as their bound.
//
// Before: if n < 16: b = T.alloc_buffer((T.min(n, 15) * 64,))    After: if n < 16: b = T.alloc_buffer((960,))
//
// What is on the stack costs nobody memory. Sizes of tensors are not negative, and conditions around hold. Together
// with the buffers whose sizes are numbers already these must fit there; what a parallel loop allocates is on the
// stacks of its threads.
#include "passes/tir/memory/lift_bound.h"

#include "arith/bound.h"
#include "arith/scopes.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/relax/make.h"
#include "passes/tir/memory/lift_allocations.h"
#include "passes/tir/memory/lift_plan.h"

typedef struct {
  tvms_scopes scopes;
  int64_t frame;  // bytes on the stack so far
} bounding;

// The only size of a compact buffer; NULL: it has several.
static tvms_node *TVMS_NULLABLE size_of(const tvms_node *stmt) {
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_alloc_buffer(stmt)->buffer);
  return buffer->shape.len == 1 && !buffer->strides.len ? buffer->shape.items[0] : NULL;
}

static int64_t bytes_of(const tvms_node *stmt, int64_t elements) {
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_alloc_buffer(stmt)->buffer);
  int64_t bytes;
  if (__builtin_mul_overflow(tvms_relax_element_bytes(buffer->element), elements,
                             &bytes))
    return INT64_MAX;
  return bytes;
}

static tvms_walk_step note(void *self, tvms_node *node, tvms_field_role role) {
  bounding *b = self;
  (void)role;
  if (node->kind == TVMS_NODE_FOR && tvms_as_for(node)->for_kind == TVMS_FOR_PARALLEL)
    return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_ALLOC_BUFFER) {
    const tvms_node *size = size_of(node);
    bool known = size && tvms_node_is_int_imm(size);
    int64_t bytes = known ? bytes_of(node, tvms_as_int_imm(size)->value) : 0;
    if (bytes <= TVMS_LARGEST_IN_FRAME) b->frame += bytes;
  }
  return TVMS_WALK_ON;
}

static tvms_node *enter_allocation(tvms_rewriter *r, tvms_node *node) {
  bounding *b = r->self;
  tvms_node *size = size_of(node);
  if (!size || tvms_node_is_int_imm(size)) return TVMS_REWRITE_BELOW;
  int64_t most = tvms_analyzer_const_int_bound(b->scopes.analyzer, size).max;
  int64_t bytes = most > 0 ? bytes_of(node, most) : INT64_MAX;
  if (bytes > TVMS_LARGEST_IN_FRAME || b->frame + bytes > TVMS_FRAME)
    return TVMS_REWRITE_BELOW;
  b->frame += bytes;
  tvms_node *old = tvms_as_alloc_buffer(node)->buffer;
  tvms_node *made = tvms_node_copy(r->unit, old);
  tvms_node *number = tvms_int_imm_new(r->unit, size->dtype, most, TVMS_NO_SPAN);
  tvms_as_buffer(made)->shape = tvms_list_copy(r->unit, &number, 1);
  tvms_node_map_put(&r->known, old, made);
  return TVMS_REWRITE_BELOW;
}

tvms_node *tvms_lift_bound(tvms_unit *unit, tvms_node *function) {
  bounding b = {.frame = 0};
  tvms_scopes_init(&b.scopes, unit);
  tvms_lift_mark_sizes(&unit->context->memory, b.scopes.analyzer,
                       tvms_as_prim_func(function));
  tvms_visitor visitor = {.self = &b, .enter = note};
  tvms_walk(&unit->context->memory, tvms_as_prim_func(function)->body, &visitor);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &b);
  r.watch = &b.scopes.watch;
  r.enter[TVMS_NODE_ALLOC_BUFFER] = enter_allocation;
  tvms_node *made = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_scopes_fini(&b.scopes);
  return made;
}
