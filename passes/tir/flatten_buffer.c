// FlattenBuffer: buffers of several dimensions become one of one dimension.
//
// Before: Y = T.alloc_buffer((n, m)); Y[i, j] = X[i, j]
// After:  X_1 = X.view(n * m); Y = T.alloc_buffer((n * m,)); Y[i * m + j] = X_1[i * m + j]
//
// Parameters keep their shape for the checks of the caller, the body uses a view of them.
// Axis separators keep that many dimensions apart. TVM: tirx.transform.FlattenBuffer.
#include "ir/walk.h"
#include "passes/tir/scoped.h"

// Where the groups of dimensions begin that axis separators keep apart.
static bool begins_group(const tvms_buffer *buffer, uint32_t dim) {
  for (uint32_t i = 0; i < buffer->axis_separators.len; i++) {
    const tvms_node *place = buffer->axis_separators.items[i];
    if (tvms_node_is_int(place, dim)) return true;
  }
  return false;
}

static tvms_node *build(tvms_scoped *scoped, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(scoped->unit, kind, a, b, TVMS_NO_SPAN);
}

// Elements that each group of dimensions spans.
static tvms_list flat_shape(tvms_scoped *scoped, const tvms_buffer *buffer) {
  tvms_stmt_vec dims = {0};
  tvms_memory *memory = &scoped->unit->context->memory;
  tvms_node *product = NULL;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (product && begins_group(buffer, i)) {
      tvms_vec_push(memory, &dims,
                    tvms_analyzer_canonical_simplify(scoped->analyzer, product));
      product = NULL;
    }
    tvms_node *dim = buffer->shape.items[i];
    if (!product && buffer->strides.len) {
      // The first stride of a group spans what is inside it.
      product = build(scoped, TVMS_NODE_MUL, buffer->strides.items[i], dim);
    } else if (!product) {
      product = dim;
    } else if (!buffer->strides.len) {
      product = build(scoped, TVMS_NODE_MUL, product, dim);
    }
  }
  if (!product) {
    product = tvms_int_imm_new(scoped->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  }
  tvms_vec_push(memory, &dims,
                tvms_analyzer_canonical_simplify(scoped->analyzer, product));
  tvms_list shape = tvms_list_copy(scoped->unit, dims.items, dims.len);
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

static tvms_node *flat_buffer(tvms_scoped *scoped, tvms_node *node) {
  tvms_node *flat = tvms_node_map_get(&scoped->buffers, node);
  if (flat) return flat;
  const tvms_buffer *old = tvms_as_buffer(node);
  flat = node;
  if (!is_flat(old)) {
    flat = tvms_node_copy(scoped->unit, node);
    tvms_buffer *buffer = tvms_as_buffer(flat);
    buffer->shape = flat_shape(scoped, old);
    buffer->strides = (tvms_list){0};
    buffer->layout = NULL;
    tvms_node **places =
        tvms_arena_array(&scoped->unit->arena, tvms_node *, buffer->shape.len);
    for (uint32_t i = 0; i + 1 < buffer->shape.len; i++) {
      places[i] =
          tvms_int_imm_new(scoped->unit, TVMS_DTYPE(INT, 32), i + 1, TVMS_NO_SPAN);
    }
    buffer->axis_separators = (tvms_list){places, buffer->shape.len - 1};
    if (!is_zero(old->elem_offset)
        && tvms_release_has(scoped->unit->dialect, TVMS_FACT_flattening_adds_offsets)) {
      buffer->elem_offset =
          tvms_int_imm_new(scoped->unit, old->elem_offset->dtype, 0, TVMS_NO_SPAN);
    }
  }
  tvms_node_map_put(&scoped->buffers, node, flat);
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

static tvms_node *simplify_place(tvms_scoped *scoped, tvms_node *place) {
  tvms_visitor visitor = {.enter = find_other};
  bool affine = tvms_walk(&scoped->unit->context->memory, place, &visitor);
  return affine && !scoped->conditions ? tvms_analyzer_simplify(scoped->analyzer, place)
                                       : place;
}

// Elements from one step along dimension `dim` to the next, inside its group.
static tvms_node *stride_of(tvms_scoped *scoped, const tvms_buffer *buffer,
                            uint32_t dim) {
  if (buffer->strides.len) return buffer->strides.items[dim];
  tvms_node *stride = NULL;
  for (uint32_t i = buffer->shape.len; i > dim + 1; i--) {
    if (begins_group(buffer, i)) stride = NULL;
    tvms_node *size = buffer->shape.items[i - 1];
    stride = stride ? build(scoped, TVMS_NODE_MUL, size, stride) : size;
  }
  return begins_group(buffer, dim + 1) ? NULL : stride;
}

// The place of an element in each group of dimensions.
static tvms_list flat_indices(tvms_scoped *scoped, const tvms_buffer *buffer,
                              tvms_list indices) {
  tvms_stmt_vec places = {0};
  tvms_memory *memory = &scoped->unit->context->memory;
  tvms_node *place = NULL;
  for (uint32_t i = 0; i < indices.len; i++) {
    if (place && begins_group(buffer, i)) {
      tvms_vec_push(memory, &places, simplify_place(scoped, place));
      place = NULL;
    }
    tvms_node *stride = stride_of(scoped, buffer, i);
    tvms_node *step = indices.items[i];
    if (stride) step = build(scoped, TVMS_NODE_MUL, step, stride);
    place = place ? build(scoped, TVMS_NODE_ADD, place, step) : step;
  }
  if (!place) {
    place = tvms_int_imm_new(scoped->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  }
  if (!is_zero(buffer->elem_offset)
      && tvms_release_has(scoped->unit->dialect, TVMS_FACT_flattening_adds_offsets)) {
    place = build(scoped, TVMS_NODE_ADD, place, buffer->elem_offset);
  }
  tvms_vec_push(memory, &places, simplify_place(scoped, place));
  tvms_list result = tvms_list_copy(scoped->unit, places.items, places.len);
  tvms_vec_fini(memory, &places);
  return result;
}

// The buffers of accesses are replaced here, so the rewriter does not look at them.
static tvms_list rewrite_indices(tvms_scoped *scoped, tvms_node *old_buffer,
                                 tvms_list indices) {
  tvms_list copy = tvms_list_copy(scoped->unit, indices.items, indices.len);
  for (uint32_t i = 0; i < copy.len; i++) {
    copy.items[i] = tvms_rewrite(&scoped->rewriter, copy.items[i]);
  }
  return flat_indices(scoped, tvms_as_buffer(old_buffer), copy);
}

static tvms_node *flatten_load(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_list indices = rewrite_indices(scoped, load->buffer, load->indices);
  return tvms_buffer_load_new(scoped->unit, flat_buffer(scoped, load->buffer),
                              indices.items, indices.len, load->predicate, node->span);
}

static tvms_node *flatten_store(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_store *old = tvms_as_store(node);
  tvms_node *copy = tvms_node_copy(scoped->unit, node);
  tvms_store *store = tvms_as_store(copy);
  store->value = tvms_rewrite(rewriter, old->value);
  store->indices = rewrite_indices(scoped, old->buffer, old->indices);
  store->buffer = flat_buffer(scoped, old->buffer);
  return copy;
}

static tvms_node *flatten_alloc(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  tvms_node *flat = flat_buffer(scoped, tvms_as_alloc_buffer(node)->buffer);
  if (flat == tvms_as_alloc_buffer(node)->buffer) return node;
  tvms_node *copy = tvms_node_copy(scoped->unit, node);
  tvms_as_alloc_buffer(copy)->buffer = flat;
  return copy;
}

// Up to 0.22 TVM drops declarations: a buffer need not be declared there.
static tvms_node *flatten_declare(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  if (!tvms_release_has(scoped->unit->dialect, TVMS_FACT_flat_buffers_are_declared))
    return NULL;
  tvms_node *flat = flat_buffer(scoped, tvms_as_decl_buffer(node)->buffer);
  if (flat == tvms_as_decl_buffer(node)->buffer) return node;
  tvms_node *copy = tvms_node_copy(scoped->unit, node);
  tvms_as_decl_buffer(copy)->buffer = flat;
  return copy;
}

static tvms_node *flatten_allocate(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_allocate *old = tvms_as_allocate(node);
  if (old->extents.len == 1) return node;
  tvms_node *size = NULL;
  for (uint32_t i = 0; i < old->extents.len; i++) {
    tvms_node *extent = old->extents.items[i];
    size = size ? build(scoped, TVMS_NODE_MUL, size, extent) : extent;
  }
  if (!size)
    size = tvms_int_imm_new(scoped->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  size = tvms_analyzer_simplify(scoped->analyzer, size);
  tvms_node *copy = tvms_node_copy(scoped->unit, node);
  tvms_as_allocate(copy)->extents = tvms_list_copy(scoped->unit, &size, 1);
  return copy;
}

// Where T.if_then_else decides whether an element is read at all.
static tvms_node *flatten_call(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else) return TVMS_REWRITE_BELOW;
  tvms_list old = tvms_as_call(node)->args;
  tvms_list args = tvms_list_copy(scoped->unit, old.items, old.len);
  bool same = true;
  for (uint32_t i = 0; i < args.len; i++) {
    scoped->conditions += i > 0;
    args.items[i] = tvms_rewrite(rewriter, old.items[i]);
    scoped->conditions -= i > 0;
    same &= args.items[i] == old.items[i];
  }
  if (same) return node;
  tvms_node *copy = tvms_node_copy(scoped->unit, node);
  tvms_as_call(copy)->args = args;
  return copy;
}

static tvms_node *keep_buffer(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return node;
}

static void setup(tvms_scoped *scoped) {
  tvms_rewriter *rewriter = &scoped->rewriter;
  rewriter->enter[TVMS_NODE_BUFFER_LOAD] = flatten_load;
  rewriter->enter[TVMS_NODE_STORE] = flatten_store;
  rewriter->enter[TVMS_NODE_ALLOC_BUFFER] = flatten_alloc;
  rewriter->enter[TVMS_NODE_DECL_BUFFER] = flatten_declare;
  rewriter->enter[TVMS_NODE_ALLOCATE] = flatten_allocate;
  rewriter->enter[TVMS_NODE_BUFFER] = keep_buffer;
  rewriter->enter[TVMS_NODE_CALL] = flatten_call;
}

// From 0.24 on the body gets a view even of a parameter that is flat already.
static void begin(tvms_scoped *scoped, tvms_prim_func *function) {
  if (!tvms_release_has(scoped->unit->dialect, TVMS_FACT_flat_buffers_are_declared))
    return;
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    if (!buffer || !is_flat(tvms_as_buffer(buffer))) continue;
    tvms_node_map_put(&scoped->buffers, buffer, tvms_node_copy(scoped->unit, buffer));
  }
}

static tvms_walk_step find_use(void *self, tvms_node *node, tvms_field_role role);

static tvms_node *end(tvms_scoped *scoped, tvms_prim_func *function, tvms_node *body) {
  if (!tvms_release_has(scoped->unit->dialect, TVMS_FACT_flat_buffers_are_declared))
    return body;
  tvms_stmt_vec stmts = {0};
  tvms_memory *memory = &scoped->unit->context->memory;
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    tvms_node *flat = buffer ? tvms_node_map_get(&scoped->buffers, buffer) : NULL;
    tvms_visitor visitor = {.self = flat, .enter = find_use};
    if (!flat || tvms_walk(memory, body, &visitor)) continue;
    tvms_decl_buffer *declare = tvms_node_make(scoped->unit, DECL_BUFFER, TVMS_NO_SPAN);
    declare->buffer = flat;
    tvms_vec_push(memory, &stmts, &declare->head);
  }
  tvms_stmt_push_last(memory, &stmts, body);
  return tvms_stmt_seq(scoped->unit, &stmts, body->span);
}

static tvms_walk_step find_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  return node == self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

void tvms_pass_flatten_buffer(tvms_pass_run *run) {
  static const tvms_scoped_pass pass = {setup, begin, end};
  tvms_rewrite_scoped(run, &pass);
}
