// FlattenBuffer: buffers of several dimensions become one of one dimension.
//
// Before: Y = T.alloc_buffer((n, m)); Y[i, j] = X[i, j]
// After:  X_1 = X.view(n * m); Y = T.alloc_buffer((n * m,)); Y[i * m + j] = X_1[i * m + j]
//
// Parameters keep their shape for the checks of the caller, the body uses a view of them.
// Axis separators keep that many dimensions apart. TVM: tirx.transform.FlattenBuffer.
#include "arith/scopes.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/functions.h"

typedef struct {
  tvms_unit *unit;
  tvms_scopes scopes;
  tvms_node_map buffers;  // as written → flat
} flattening;

// Where the groups of dimensions begin that axis separators keep apart.
static bool begins_group(const tvms_buffer *buffer, uint32_t dim) {
  for (uint32_t i = 0; i < buffer->axis_separators.len; i++) {
    const tvms_node *place = buffer->axis_separators.items[i];
    if (tvms_node_is_int(place, dim)) return true;
  }
  return false;
}

static tvms_node *build(flattening *f, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(f->unit, kind, a, b, TVMS_NO_SPAN);
}

// Elements that each group of dimensions spans.
static tvms_list flat_shape(flattening *f, const tvms_buffer *buffer) {
  tvms_node_vec dims = {0};
  tvms_memory *memory = &f->unit->context->memory;
  tvms_node *product = NULL;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (product && begins_group(buffer, i)) {
      tvms_vec_push(memory, &dims,
                    tvms_analyzer_canonical_simplify(f->scopes.analyzer, product));
      product = NULL;
    }
    tvms_node *dim = buffer->shape.items[i];
    if (!product && buffer->strides.len) {
      // The first stride of a group spans what is inside it.
      product = build(f, TVMS_NODE_MUL, buffer->strides.items[i], dim);
    } else if (!product) {
      product = dim;
    } else if (!buffer->strides.len) {
      product = build(f, TVMS_NODE_MUL, product, dim);
    }
  }
  if (!product) {
    product = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  }
  tvms_vec_push(memory, &dims,
                tvms_analyzer_canonical_simplify(f->scopes.analyzer, product));
  tvms_list shape = tvms_list_copy(f->unit, dims.items, dims.len);
  tvms_vec_fini(memory, &dims);
  return shape;
}

static bool is_zero(const tvms_node *node) {
  return !node || tvms_node_is_int(node, 0);
}

static bool is_flat(const tvms_buffer *buffer) {
  return buffer->shape.len == 1 && buffer->strides.len == 0 && !buffer->layout
         && is_zero(buffer->elem_offset);
}

static tvms_node *flat_buffer(flattening *f, tvms_node *node) {
  tvms_node *flat = tvms_node_map_get(&f->buffers, node);
  if (flat) return flat;
  const tvms_buffer *old = tvms_as_buffer(node);
  flat = node;
  if (!is_flat(old)) {
    flat = tvms_node_copy(f->unit, node);
    tvms_buffer *buffer = tvms_as_buffer(flat);
    buffer->shape = flat_shape(f, old);
    buffer->strides = (tvms_list){0};
    buffer->layout = NULL;
    tvms_node **places =
        tvms_arena_array(&f->unit->arena, tvms_node *, buffer->shape.len);
    for (uint32_t i = 0; i + 1 < buffer->shape.len; i++) {
      places[i] = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), i + 1, TVMS_NO_SPAN);
    }
    buffer->axis_separators = (tvms_list){places, buffer->shape.len - 1};
    if (!is_zero(old->elem_offset)
        && tvms_release_has(f->unit->dialect, TVMS_FACT_flattening_adds_offsets)) {
      buffer->elem_offset =
          tvms_int_imm_new(f->unit, old->elem_offset->dtype, 0, TVMS_NO_SPAN);
    }
  }
  tvms_node_map_put(&f->buffers, node, flat);
  return flat;
}

// Sums of loop variables times constants, and their quotients and remainders: what TVM's
// iterator maps understand. Other places keep the form in which they were put together.
static tvms_walk_step find_other(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  (void)self;
  switch (node->kind) {
  case TVMS_NODE_VAR:
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
  case TVMS_NODE_CAST: return TVMS_WALK_ON;
  case TVMS_NODE_MUL: {
    const tvms_binary *product = tvms_as_binary(node);
    bool constant = tvms_node_is_int_imm(product->a) || tvms_node_is_int_imm(product->b)
                    || product->b->kind == TVMS_NODE_VAR;
    return constant ? TVMS_WALK_ON : TVMS_WALK_STOP;
  }
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD:
    return tvms_node_is_int_imm(tvms_as_binary(node)->b) ? TVMS_WALK_ON
                                                         : TVMS_WALK_STOP;
  default: return TVMS_WALK_STOP;
  }
}

static tvms_node *simplify_place(flattening *f, tvms_node *place) {
  tvms_visitor visitor = {.enter = find_other};
  bool affine = tvms_walk(&f->unit->context->memory, place, &visitor);
  return affine && !f->scopes.conditions
             ? tvms_analyzer_simplify(f->scopes.analyzer, place)
             : place;
}

// Elements from one step along dimension `dim` to the next, inside its group.
static tvms_node *stride_of(flattening *f, const tvms_buffer *buffer, uint32_t dim) {
  if (buffer->strides.len) return buffer->strides.items[dim];
  tvms_node *stride = NULL;
  for (uint32_t i = buffer->shape.len; i > dim + 1; i--) {
    if (begins_group(buffer, i)) stride = NULL;
    tvms_node *size = buffer->shape.items[i - 1];
    stride = stride ? build(f, TVMS_NODE_MUL, size, stride) : size;
  }
  return begins_group(buffer, dim + 1) ? NULL : stride;
}

// The place of an element in each group of dimensions.
static tvms_list flat_indices(flattening *f, const tvms_buffer *buffer,
                              tvms_list indices) {
  tvms_node_vec places = {0};
  tvms_memory *memory = &f->unit->context->memory;
  tvms_node *place = NULL;
  for (uint32_t i = 0; i < indices.len; i++) {
    if (place && begins_group(buffer, i)) {
      tvms_vec_push(memory, &places, simplify_place(f, place));
      place = NULL;
    }
    tvms_node *stride = stride_of(f, buffer, i);
    tvms_node *step = indices.items[i];
    if (stride) step = build(f, TVMS_NODE_MUL, step, stride);
    place = place ? build(f, TVMS_NODE_ADD, place, step) : step;
  }
  if (!place) {
    place = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  }
  if (!is_zero(buffer->elem_offset)
      && tvms_release_has(f->unit->dialect, TVMS_FACT_flattening_adds_offsets)) {
    place = build(f, TVMS_NODE_ADD, place, buffer->elem_offset);
  }
  tvms_vec_push(memory, &places, simplify_place(f, place));
  tvms_list result = tvms_list_copy(f->unit, places.items, places.len);
  tvms_vec_fini(memory, &places);
  return result;
}

// Up to 0.22 any index may be a vector, and the last one says how wide the access is.
static bool is_vector_place(flattening *f, tvms_list indices, tvms_span span) {
  for (uint32_t i = 0; i + 1 < indices.len; i++) {
    if (tvms_dtype_is_scalar(indices.items[i]->dtype)) continue;
    tvms_diag_report(&f->unit->context->diags, TVMS_D_vector_place, span);
    return true;
  }
  return false;
}

static tvms_node *flatten_load(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (is_vector_place(f, load->indices, node->span)) return node;
  tvms_list indices = flat_indices(f, tvms_as_buffer(load->buffer), load->indices);
  return tvms_buffer_load_new(f->unit, flat_buffer(f, load->buffer), indices.items,
                              indices.len, load->predicate, node->span);
}

static tvms_node *flatten_store(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  tvms_node *old = tvms_as_store(node)->buffer;
  if (is_vector_place(f, tvms_as_store(node)->indices, node->span)) return node;
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_store *store = tvms_as_store(copy);
  store->indices = flat_indices(f, tvms_as_buffer(old), store->indices);
  store->buffer = flat_buffer(f, old);
  return copy;
}

static tvms_node *flatten_alloc(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  tvms_node *flat = flat_buffer(f, tvms_as_alloc_buffer(node)->buffer);
  if (flat == tvms_as_alloc_buffer(node)->buffer) return node;
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_alloc_buffer(copy)->buffer = flat;
  return copy;
}

// Up to 0.22 TVM drops declarations: a buffer need not be declared there.
static tvms_node *flatten_declare(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  if (!tvms_release_has(f->unit->dialect, TVMS_FACT_flat_buffers_are_declared))
    return NULL;
  tvms_node *flat = flat_buffer(f, tvms_as_decl_buffer(node)->buffer);
  if (flat == tvms_as_decl_buffer(node)->buffer) return node;
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_decl_buffer(copy)->buffer = flat;
  return copy;
}

static tvms_node *flatten_allocate(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  const tvms_allocate *old = tvms_as_allocate(node);
  if (old->extents.len == 1) return node;
  tvms_node *size = NULL;
  for (uint32_t i = 0; i < old->extents.len; i++) {
    tvms_node *extent = old->extents.items[i];
    size = size ? build(f, TVMS_NODE_MUL, size, extent) : extent;
  }
  if (!size) size = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  size = tvms_analyzer_simplify(f->scopes.analyzer, size);
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_allocate(copy)->extents = tvms_list_copy(f->unit, &size, 1);
  return copy;
}

// From 0.24 on the body gets a view even of a parameter that is flat already.
static void copy_flat_parameters(flattening *f, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    if (!buffer || !is_flat(tvms_as_buffer(buffer))) continue;
    tvms_node_map_put(&f->buffers, buffer, tvms_node_copy(f->unit, buffer));
  }
}

// Declares the views of parameters that the body uses in front of it.
static tvms_node *declare_views(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  const tvms_prim_func *function = tvms_as_prim_func(node);
  tvms_node_vec stmts = {0};
  tvms_memory *memory = &f->unit->context->memory;
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    tvms_node *flat = buffer ? tvms_node_map_get(&f->buffers, buffer) : NULL;
    if (!flat || !tvms_walk_contains(memory, function->body, flat)) continue;
    tvms_decl_buffer *declare = tvms_node_make(f->unit, DECL_BUFFER, TVMS_NO_SPAN);
    declare->buffer = flat;
    tvms_vec_push(memory, &stmts, &declare->head);
  }
  if (stmts.len == 0) return node;
  tvms_stmt_push_last(memory, &stmts, function->body);
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_prim_func(copy)->body = tvms_stmt_seq(f->unit, &stmts, function->body->span);
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  flattening f = {.unit = unit};
  tvms_node_map_init(&f.buffers, &run->context->memory);
  tvms_scopes_init(&f.scopes, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &f);
  rewriter.watch = &f.scopes.watch;
  rewriter.leave[TVMS_NODE_BUFFER_LOAD] = flatten_load;
  rewriter.leave[TVMS_NODE_STORE] = flatten_store;
  rewriter.leave[TVMS_NODE_ALLOC_BUFFER] = flatten_alloc;
  rewriter.leave[TVMS_NODE_DECL_BUFFER] = flatten_declare;
  rewriter.leave[TVMS_NODE_ALLOCATE] = flatten_allocate;
  if (tvms_release_has(unit->dialect, TVMS_FACT_flat_buffers_are_declared)) {
    copy_flat_parameters(&f, tvms_as_prim_func(function));
    rewriter.leave[TVMS_NODE_PRIM_FUNC] = declare_views;
  }
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_scopes_fini(&f.scopes);
  tvms_node_map_fini(&f.buffers);
  return changed;
}

void tvms_pass_flatten_buffer(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
