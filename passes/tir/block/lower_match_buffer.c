// LowerMatchBuffer: a buffer that names a part of another is replaced by that part.
//
// Before: B = T.match_buffer(A[i * 4:i * 4 + 4], (4,)); B[j] = 0.0   After: A[i * 4 + j] = 0.0
//
// Variables in the shape, the strides and the offset of the inner buffer get their values.
// TVM: s_tir.transform.LowerMatchBuffer.
#include "ir/fold.h"
#include "passes/functions.h"

typedef struct {
  const tvms_node *buffer;
  const tvms_buffer_region *source;  // of a buffer that is not a match itself
} match;

typedef struct {
  TVMS_VEC(match) matches;
} lowering;

static tvms_node *build(tvms_rewriter *r, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(r->unit, kind, a, b, TVMS_NO_SPAN);
}

static const match *find(const lowering *l, const tvms_node *buffer) {
  for (uint32_t i = l->matches.len; i > 0; i--) {
    if (l->matches.items[i - 1].buffer == buffer) return &l->matches.items[i - 1];
  }
  return NULL;
}

// Places in the source: those of the inner buffer behind where its part begins.
static tvms_list outer_indices(tvms_rewriter *r, const match *m, tvms_list indices) {
  tvms_list region = m->source->region;
  uint32_t skipped = region.len - indices.len;
  tvms_list result = tvms_list_copy(r->unit, region.items, region.len);
  for (uint32_t i = 0; i < region.len; i++) {
    tvms_node *min = tvms_as_range(region.items[i])->min;
    result.items[i] =
        i < skipped ? min : build(r, TVMS_NODE_ADD, min, indices.items[i - skipped]);
  }
  return result;
}

static tvms_node *outer_region(tvms_rewriter *r, const match *m,
                               const tvms_buffer_region *inner) {
  tvms_list source = m->source->region;
  uint32_t skipped = source.len - inner->region.len;
  tvms_list ranges = tvms_list_copy(r->unit, source.items, source.len);
  for (uint32_t i = skipped; i < source.len; i++) {
    const tvms_range *range = tvms_as_range(inner->region.items[i - skipped]);
    tvms_node *min =
        build(r, TVMS_NODE_ADD, tvms_as_range(source.items[i])->min, range->min);
    ranges.items[i] = tvms_range_new(r->unit, min, range->extent, TVMS_NO_SPAN);
  }
  return tvms_buffer_region_new(r->unit, m->source->buffer, ranges.items, ranges.len,
                                inner->head.span);
}

static tvms_node *leave_region(tvms_rewriter *r, tvms_node *node) {
  const match *m = find(r->self, tvms_as_buffer_region(r->old)->buffer);
  return m ? outer_region(r, m, tvms_as_buffer_region(node)) : node;
}

// A variable takes the value; what is not a variable holds it already.
static void bind(tvms_rewriter *r, const tvms_node *TVMS_NULLABLE part,
                 tvms_node *value) {
  if (!part || part->kind != TVMS_NODE_VAR || tvms_node_map_get(&r->known, part))
    return;
  bool casts =
      !tvms_dtype_is_handle(part->dtype) && !tvms_dtype_same(part->dtype, value->dtype);
  if (casts) value = tvms_build_cast(r->unit, part->dtype, value, TVMS_NO_SPAN);
  tvms_node_map_put(&r->known, part, value);
}

// Elements of the source before the part.
static tvms_node *offset_of(tvms_rewriter *r, const tvms_buffer_region *source) {
  const tvms_buffer *buffer = tvms_as_buffer(source->buffer);
  tvms_node *offset = NULL;
  for (uint32_t i = 0; i < source->region.len; i++) {
    tvms_node *min = tvms_as_range(source->region.items[i])->min;
    if (buffer->strides.len) {
      min = build(r, TVMS_NODE_MUL, min, buffer->strides.items[i]);
    } else if (offset) {
      offset = build(r, TVMS_NODE_MUL, offset, buffer->shape.items[i]);
    }
    offset = offset ? build(r, TVMS_NODE_ADD, offset, min) : min;
  }
  if (offset && buffer->elem_offset && !tvms_node_is_int(buffer->elem_offset, 0)) {
    offset = build(r, TVMS_NODE_ADD, offset, buffer->elem_offset);
  }
  return offset;
}

static void bind_strides(tvms_rewriter *r, const tvms_buffer *inner,
                         const tvms_buffer *outer) {
  uint32_t skipped = outer->shape.len - inner->shape.len;
  tvms_node *stride = NULL;
  for (uint32_t i = inner->strides.len; i > 0; i--) {
    tvms_node *own = inner->strides.items[i - 1];
    if (outer->strides.len) {
      bind(r, own, outer->strides.items[i - 1 + skipped]);
      continue;
    }
    if (!stride) stride = tvms_int_imm_new(r->unit, own->dtype, 1, TVMS_NO_SPAN);
    bind(r, own, stride);
    stride = build(r, TVMS_NODE_MUL, stride, outer->shape.items[i - 1 + skipped]);
  }
}

static void add_match(tvms_rewriter *r, const tvms_node *node) {
  lowering *l = r->self;
  const tvms_match_buffer_region *old = tvms_as_match_buffer_region(node);
  tvms_node *source = tvms_rewrite(r, old->source);
  const tvms_buffer_region *region = tvms_as_buffer_region(source);
  const tvms_buffer *inner = tvms_as_buffer(old->buffer);
  const tvms_buffer *outer = tvms_as_buffer(region->buffer);
  tvms_vec_push(&r->unit->context->memory, &l->matches, ((match){old->buffer, region}));
  tvms_node_map_put(&r->known, inner->data, outer->data);
  tvms_node *offset = offset_of(r, region);
  if (offset) bind(r, inner->elem_offset, offset);
  bind_strides(r, inner, outer);
  uint32_t skipped = region->region.len - inner->shape.len;
  for (uint32_t i = 0; i < inner->shape.len; i++) {
    bind(r, inner->shape.items[i],
         tvms_as_range(region->region.items[i + skipped])->extent);
  }
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  const tvms_block *old = tvms_as_block(node);
  for (uint32_t i = 0; i < old->match_buffers.len; i++) {
    add_match(r, old->match_buffers.items[i]);
  }
  if (old->match_buffers.len == 0) return TVMS_REWRITE_BELOW;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_block(copy)->match_buffers = (tvms_list){0};
  return tvms_rewrite_below(r, copy);
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  const match *m = find(r->self, tvms_as_buffer_load(r->old)->buffer);
  if (!m) return node;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_list indices = outer_indices(r, m, load->indices);
  return tvms_buffer_load_new(r->unit, m->source->buffer, indices.items, indices.len,
                              load->predicate, node->span);
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  const match *m = find(r->self, tvms_as_store(r->old)->buffer);
  if (!m) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_store *store = tvms_as_store(copy);
  store->indices = outer_indices(r, m, store->indices);
  store->buffer = m->source->buffer;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  lowering l = {0};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &l);
  rewriter.enter[TVMS_NODE_BLOCK] = enter_block;
  rewriter.leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  rewriter.leave[TVMS_NODE_STORE] = leave_store;
  rewriter.leave[TVMS_NODE_BUFFER_REGION] = leave_region;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_vec_fini(&run->context->memory, &l.matches);
  return changed;
}

void tvms_pass_lower_match_buffer(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
