// FlattenBuffer: buffers of several dimensions become one of one dimension.
//
// Before: Y = T.alloc_buffer((n, m)); Y[i, j] = X[i, j]
// After:  X_1 = X.view(n * m); Y = T.alloc_buffer((n * m,)); Y[i * m + j] = X_1[i * m + j]
//
// Parameters keep their shape for the checks of the caller, the body uses a view of them.
// Places are written as the sums of loop variables that they are, where they are such sums
// (arith/iter_map.h). Axis separators keep that many dimensions apart. TVM:
// tirx.transform.FlattenBuffer, which takes remainders of sums that differ by less than the
// divisor for the same, (i + 1) % 8 and i % 8, and writes a wrong place; tvms does not.
#include "arith/iter_map.h"
#include "arith/merge_mod.h"
#include "arith/scopes.h"
#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_rewrite_watch watch;  // that of the scopes, and the conditions
  tvms_unit *unit;
  tvms_node *TVMS_NULLABLE no_layout;  // of flat buffers
  tvms_scopes scopes;
  tvms_node_map buffers;     // as written → flat
  bool copies;               // flat buffers, too
  bool bytes;                // bool becomes int8
  bool zero_offset;          // flat buffers begin at zero
  bool undivided;            // no place is divided by what is not known for it
  tvms_node_map iters;       // variables of loops and threads → RANGE
  bool dependent;            // one of them has a range that depends on another
  tvms_node_vec conditions;  // about them, around the access at hand
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
  tvms_list strides = tvms_buffer_strides(&buffer->head);
  tvms_node *product = NULL;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (product && begins_group(buffer, i)) {
      tvms_vec_push(memory, &dims,
                    tvms_analyzer_canonical_simplify(f->scopes.analyzer, product));
      product = NULL;
    }
    tvms_node *dim = buffer->shape.items[i];
    if (!product && strides.len) {
      // The first stride of a group spans what is inside it.
      product = build(f, TVMS_NODE_MUL, strides.items[i], dim);
    } else if (!product) {
      product = dim;
    } else if (!strides.len) {
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

// Does the buffer have no layout? Where the function implies one it says so.
static bool has_no_layout(const flattening *f, const tvms_buffer *buffer) {
  if (!f->no_layout) return !buffer->layout;
  return buffer->layout && buffer->layout->kind == TVMS_NODE_OBJECT_NONE;
}

static bool is_flat(const flattening *f, const tvms_buffer *buffer) {
  return buffer->shape.len == 1 && buffer->strides.len == 0 && has_no_layout(f, buffer)
         && is_zero(buffer->elem_offset);
}

static tvms_node *flat_buffer(flattening *f, tvms_node *node) {
  tvms_node *flat = tvms_node_map_get(&f->buffers, node);
  if (flat) return flat;
  const tvms_buffer *old = tvms_as_buffer(node);
  flat = node;
  bool bytes = f->bytes && tvms_dtype_is_bool(old->element);
  if (!is_flat(f, old) || f->copies || bytes) {
    flat = tvms_node_copy(f->unit, node);
    tvms_buffer *buffer = tvms_as_buffer(flat);
    buffer->shape = flat_shape(f, old);
    buffer->strides = (tvms_list){0};
    if (bytes) buffer->element = TVMS_DTYPE(INT, 8);
    buffer->layout = f->no_layout;
    tvms_node **places =
        tvms_arena_array(&f->unit->arena, tvms_node *, buffer->shape.len);
    for (uint32_t i = 0; i + 1 < buffer->shape.len; i++) {
      places[i] = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), i + 1, TVMS_NO_SPAN);
    }
    buffer->axis_separators = (tvms_list){places, buffer->shape.len - 1};
    if (!is_zero(old->elem_offset) && f->zero_offset) {
      buffer->elem_offset =
          tvms_int_imm_new(f->unit, old->elem_offset->dtype, 0, TVMS_NO_SPAN);
    }
  }
  tvms_node_map_put(&f->buffers, node, flat);
  return flat;
}

// ---- Iterators ----

static tvms_walk_step find_iter(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const flattening *f = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool found = node->kind == TVMS_NODE_VAR && tvms_node_map_get(&f->iters, node);
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool uses_iter(flattening *f, tvms_node *node) {
  tvms_visitor visitor = {.self = f, .enter = find_iter};
  return !tvms_walk(&f->unit->context->memory, node, &visitor);
}

// Loops that were seen stay iterators. TVM simplifies no place behind one whose range
// depends on another.
static void add_iter(flattening *f, tvms_node *var, tvms_node *min, tvms_node *extent) {
  f->dependent = f->dependent || uses_iter(f, min) || uses_iter(f, extent);
  tvms_node_map_put(&f->iters, var, tvms_range_new(f->unit, min, extent, TVMS_NO_SPAN));
}

static tvms_node *enter_loop(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  add_iter(rewriter->self, loop->var, loop->min, loop->extent);
  return TVMS_REWRITE_BELOW;
}

// What an attribute is about stays as it is.
static tvms_node *rewrite_attr_value(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_node *value = tvms_rewrite(rewriter, tvms_as_attr_stmt(node)->value);
  if (value == tvms_as_attr_stmt(node)->value) return node;
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_as_attr_stmt(copy)->value = value;
  return copy;
}

static tvms_node *enter_attr(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_iter_var *threads = tvms_attr_stmt_threads(node);
  if (threads) {
    tvms_node *extent = tvms_as_attr_stmt(node)->value;
    tvms_node *zero = tvms_int_imm_new(rewriter->unit, extent->dtype, 0, TVMS_NO_SPAN);
    add_iter(rewriter->self, threads->var, zero, extent);
  }
  return rewrite_attr_value(rewriter, node);
}

// The conditions of iterators around a part, from the branch that it is.
static tvms_node *TVMS_NULLABLE condition_of(flattening *f, const tvms_node *parent,
                                             const tvms_node *part) {
  tvms_node *condition = NULL;
  if (parent->kind == TVMS_NODE_IF_THEN_ELSE) {
    const tvms_if_then_else *branch = tvms_as_if_then_else(parent);
    if (part == branch->then_case
        && !tvms_scopes_may_change(&f->scopes, branch->condition))
      condition = branch->condition;
  } else if (tvms_arith_opcode(parent) == TVMS_TIR_if_then_else) {
    tvms_list args = tvms_as_call(parent)->args;
    if (part == args.items[1]) condition = args.items[0];
    if (part == args.items[2]) condition = tvms_build_negation(f->unit, args.items[0]);
  }
  if (!condition || !tvms_dtype_is_bool(condition->dtype)) return NULL;
  if (tvms_call_opcode(condition) == TVMS_TIR_likely)
    condition = tvms_as_call(condition)->args.items[0];
  if (!tvms_dtype_is_bool(condition->dtype)) return NULL;
  return uses_iter(f, condition) ? condition : NULL;
}

static void enter_part(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part) {
  flattening *f = (flattening *)watch;
  f->scopes.watch.enter(&f->scopes.watch, parent, field, part);
  tvms_node *condition = condition_of(f, parent, part);
  if (condition) tvms_vec_push(&f->unit->context->memory, &f->conditions, condition);
}

static void leave_part(tvms_rewrite_watch *watch, const tvms_node *parent,
                       const tvms_field *field, const tvms_node *part,
                       const tvms_node *TVMS_NULLABLE made) {
  flattening *f = (flattening *)watch;
  if (condition_of(f, parent, part)) f->conditions.len--;
  f->scopes.watch.leave(&f->scopes.watch, parent, field, part, made);
}

// The iterators that stand in the places and conditions at hand.
typedef struct {
  flattening *f;
  TVMS_VEC(tvms_iter_domain) domains;
} used_iters;

static tvms_walk_step note_iter(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  used_iters *used = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  const tvms_node *range = tvms_node_map_get(&used->f->iters, node);
  for (uint32_t i = 0; i < used->domains.len; i++) {
    if (used->domains.items[i].var == node) return TVMS_WALK_ON;
  }
  if (!range) return TVMS_WALK_ON;
  tvms_iter_domain domain = {node, tvms_as_range(range)->min,
                             tvms_as_range(range)->extent};
  tvms_vec_push(&used->f->unit->context->memory, &used->domains, domain);
  return TVMS_WALK_ON;
}

static tvms_walk_step find_quotient(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  bool divides =
      (node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD)
      && !tvms_node_is_int_imm(tvms_as_binary(node)->b);
  return divides ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Is something in these places divided by what is not known?
static bool are_divided(flattening *f, tvms_node *const *places, uint32_t count) {
  tvms_visitor visitor = {.enter = find_quotient};
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_walk(&f->unit->context->memory, places[i], &visitor)) return true;
  }
  return false;
}

// The places as sums of iterators, all together, if they are; else as they are.
static void simplify_places(flattening *f, tvms_list places) {
  if (f->dependent) return;
  tvms_memory *memory = &f->unit->context->memory;
  used_iters used = {.f = f};
  tvms_visitor visitor = {.self = &used, .enter = note_iter};
  tvms_node *predicate = tvms_bool_imm_new(f->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < f->conditions.len; i++) {
    tvms_walk(memory, f->conditions.items[i], &visitor);
    predicate = build(f, TVMS_NODE_AND, predicate, f->conditions.items[i]);
  }
  for (uint32_t i = 0; i < places.len; i++)
    tvms_walk(memory, places.items[i], &visitor);
  tvms_node **made = tvms_arena_array(&f->unit->arena, tvms_node *, places.len);
  tvms_analyzer *analyzer = f->scopes.analyzer;
  bool found =
      tvms_iter_map_simplify(f->unit, analyzer, used.domains.items, used.domains.len,
                             places.items, places.len, predicate, false, made);
  if (found && f->undivided)
    found =
        !are_divided(f, made, places.len) || are_divided(f, places.items, places.len);
  for (uint32_t i = 0; found && i < places.len; i++)
    places.items[i] = made[i];
  tvms_vec_fini(memory, &used.domains);
}

// The place of an element in each group of dimensions.
static tvms_list flat_indices(flattening *f, const tvms_buffer *buffer,
                              tvms_list indices) {
  tvms_node_vec places = {0};
  tvms_memory *memory = &f->unit->context->memory;
  tvms_analyzer *plain = tvms_analyzer_new(f->unit);
  tvms_node *zero = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  tvms_node *place = zero;
  tvms_list strides = tvms_buffer_strides(&buffer->head);
  for (uint32_t i = 0; i < indices.len; i++) {
    if (i > 0 && begins_group(buffer, i)) {
      tvms_vec_push(memory, &places, tvms_arith_simplify(f->unit, place));
      place = zero;
    }
    // The place has the wider of the dtypes of sizes and indices.
    tvms_node *step = indices.items[i];
    if (strides.len)
      step = build(f, TVMS_NODE_MUL, step, strides.items[i]);
    else
      place = build(f, TVMS_NODE_MUL, place, buffer->shape.items[i]);
    place = build(f, TVMS_NODE_ADD, place, step);
    // TVM simplifies each sum on the way, without any facts.
    if (i > 0) place = tvms_analyzer_merge_mod(plain, place, f->undivided);
  }
  if (!is_zero(buffer->elem_offset))
    place = build(f, TVMS_NODE_ADD, place, buffer->elem_offset);
  tvms_vec_push(memory, &places, tvms_arith_simplify(f->unit, place));
  tvms_list result = tvms_list_copy(f->unit, places.items, places.len);
  tvms_vec_fini(memory, &places);
  simplify_places(f, result);
  tvms_analyzer_free(plain);
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
  tvms_node *made =
      tvms_buffer_load_new(f->unit, flat_buffer(f, load->buffer), indices.items,
                           indices.len, load->predicate, node->span);
  return tvms_dtype_same(made->dtype, node->dtype)
             ? made
             : tvms_build_cast(f->unit, node->dtype, made, node->span);
}

static tvms_node *flatten_store(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  tvms_node *old = tvms_as_store(node)->buffer;
  if (is_vector_place(f, tvms_as_store(node)->indices, node->span)) return node;
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_store *store = tvms_as_store(copy);
  store->indices = flat_indices(f, tvms_as_buffer(old), store->indices);
  store->buffer = flat_buffer(f, old);
  if (f->bytes && tvms_dtype_is_bool(store->value->dtype)) {
    tvms_dtype byte =
        tvms_dtype_with_lanes(TVMS_DTYPE(INT, 8), store->value->dtype.lanes);
    store->value = tvms_build_cast(f->unit, byte, store->value, node->span);
  }
  return copy;
}

// The hull of a region: from its first place to its last.
static tvms_node *flatten_region(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  tvms_node *flat = flat_buffer(f, region->buffer);
  if (flat == region->buffer) return node;
  tvms_list list = region->region;
  tvms_list first = tvms_list_copy(f->unit, list.items, list.len);
  tvms_list last = tvms_list_copy(f->unit, list.items, list.len);
  tvms_node *one = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < list.len; i++) {
    const tvms_range *range = tvms_as_range(list.items[i]);
    first.items[i] = range->min;
    tvms_node *end = build(f, TVMS_NODE_ADD, range->min, range->extent);
    last.items[i] = build(f, TVMS_NODE_SUB, end, one);
  }
  first = flat_indices(f, tvms_as_buffer(region->buffer), first);
  last = flat_indices(f, tvms_as_buffer(region->buffer), last);
  for (uint32_t i = 0; i < first.len; i++) {
    tvms_node *end = build(f, TVMS_NODE_ADD, last.items[i], one);
    tvms_node *extent = build(f, TVMS_NODE_SUB, end, first.items[i]);
    first.items[i] = tvms_range_new(f->unit, first.items[i], extent, TVMS_NO_SPAN);
  }
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_buffer_region(copy)->buffer = flat;
  tvms_as_buffer_region(copy)->region = first;
  return copy;
}

static tvms_node *flatten_block(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  tvms_list old = tvms_as_block(node)->alloc_buffers;
  tvms_list made = tvms_list_copy(f->unit, old.items, old.len);
  bool same = true;
  for (uint32_t i = 0; i < old.len; i++) {
    made.items[i] = flat_buffer(f, old.items[i]);
    same = same && made.items[i] == old.items[i];
  }
  if (same) return node;
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_block(copy)->alloc_buffers = made;
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
  bool stored = tvms_dtype_is_bool(old->element);
  if (old->extents.len == 1 && !stored) return node;
  tvms_node *size = NULL;
  for (uint32_t i = 0; i < old->extents.len; i++) {
    tvms_node *extent = old->extents.items[i];
    size = size ? build(f, TVMS_NODE_MUL, size, extent) : extent;
  }
  if (!size) size = tvms_int_imm_new(f->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  size = tvms_analyzer_simplify(f->scopes.analyzer, size);
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_allocate(copy)->extents = tvms_list_copy(f->unit, &size, 1);
  if (stored) tvms_as_allocate(copy)->element = TVMS_DTYPE(INT, 8);
  return copy;
}

// From 0.24 on the body gets a view even of a parameter that is flat already.
static void copy_flat_parameters(flattening *f, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    if (!buffer || !is_flat(f, tvms_as_buffer(buffer))) continue;
    if (f->bytes && tvms_dtype_is_bool(tvms_as_buffer(buffer)->element)) continue;
    tvms_node_map_put(&f->buffers, buffer, tvms_node_copy(f->unit, buffer));
  }
}

// ---- Views of parameters ----

// The views' own pointers, where they have such.
typedef struct {
  tvms_node_map own;   // pointer of the parameter -> that of its view
  tvms_node_map used;  // pointers of views that stand in the body, and buffers
} pointers;

static tvms_node *enter_pointer(tvms_rewriter *rewriter, tvms_node *node) {
  pointers *p = rewriter->self;
  tvms_node *own = tvms_node_map_get(&p->own, node);
  if (!own) return node;
  tvms_node_map_put(&p->used, own, own);
  return own;
}

static tvms_node *keep(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return node;
}

// From 0.26 on a view has a pointer of its own, and the body uses that one; but for what
// else is declared over the parameter.
static tvms_node *use_own_pointers(flattening *f, const tvms_prim_func *function,
                                   pointers *p) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    if (!buffer) continue;
    tvms_node *flat = flat_buffer(f, buffer), *pointer = tvms_as_buffer(buffer)->data;
    tvms_as_buffer(flat)->data = tvms_var_like(f->unit, pointer);
    tvms_node_map_put(&p->own, pointer, tvms_as_buffer(flat)->data);
  }
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, f->unit, p);
  rewriter.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  rewriter.enter[TVMS_NODE_VAR] = enter_pointer;
  rewriter.enter[TVMS_NODE_BUFFER] = keep;
  rewriter.enter[TVMS_NODE_DECL_BUFFER] = keep;
  rewriter.enter[TVMS_NODE_ATTR_STMT] = rewrite_attr_value;
  tvms_node *body = tvms_rewrite(&rewriter, function->body);
  tvms_rewriter_fini(&rewriter);
  return body;
}

static tvms_walk_step note_buffer(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  bool known = tvms_node_map_get(self, node) != NULL;
  if (!known) tvms_node_map_put(self, node, node);
  return known ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// Declares the views of parameters that the body uses in front of it.
static tvms_node *declare_views(tvms_rewriter *rewriter, tvms_node *node) {
  flattening *f = rewriter->self;
  const tvms_prim_func *function = tvms_as_prim_func(node);
  tvms_node_vec stmts = {0};
  tvms_memory *memory = &f->unit->context->memory;
  bool owns = tvms_release_has(f->unit->dialect, TVMS_FACT_buffers_are_variables);
  pointers p;
  tvms_node_map_init(&p.own, memory);
  tvms_node_map_init(&p.used, memory);
  tvms_node *body = owns ? use_own_pointers(f, function, &p) : function->body;
  tvms_visitor visitor = {.self = &p.used, .enter = note_buffer};
  tvms_walk(memory, body, &visitor);
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    tvms_node *flat = buffer ? tvms_node_map_get(&f->buffers, buffer) : NULL;
    if (!flat) continue;
    bool used = tvms_node_map_get(&p.used, tvms_as_buffer(flat)->data) != NULL;
    if (!used && !tvms_node_map_get(&p.used, flat)) continue;
    tvms_decl_buffer *declare = tvms_node_make(f->unit, DECL_BUFFER, TVMS_NO_SPAN);
    declare->buffer = flat;
    if (owns) declare->source = tvms_as_buffer(buffer)->data;
    tvms_vec_push(memory, &stmts, &declare->head);
  }
  tvms_node_map_fini(&p.own);
  tvms_node_map_fini(&p.used);
  if (stmts.len == 0) return node;
  tvms_stmt_push_last(memory, &stmts, body);
  tvms_node *copy = tvms_node_copy(f->unit, node);
  tvms_as_prim_func(copy)->body = tvms_stmt_seq(f->unit, &stmts, body->span);
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  flattening f = {.unit = unit};
  f.copies = tvms_release_has(unit->dialect, TVMS_FACT_flat_buffers_are_copied);
  f.bytes = tvms_release_has(unit->dialect, TVMS_FACT_flat_bools_are_int8);
  f.zero_offset = tvms_release_has(unit->dialect, TVMS_FACT_flat_buffers_begin_at_zero)
                  || TVMS_OPTION(run, FlattenBuffer, zero_offset).number != 0;
  f.undivided = TVMS_OPTION(run, FlattenBuffer, undivided).number != 0;
  tvms_node_map_init(&f.buffers, &run->context->memory);
  tvms_node_map_init(&f.iters, &run->context->memory);
  tvms_scopes_init(&f.scopes, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &f);
  // A function that is not s_tir implies a layout, which flat buffers have not.
  if (!(function->flags & TVMS_FLAG_S_TIR)
      && !tvms_release_has(unit->dialect, TVMS_FACT_prim_funcs_are_s_tir))
    f.no_layout = tvms_object_none_new(unit, TVMS_NO_SPAN);
  tvms_scopes_choose_all(&rewriter);
  f.watch = (tvms_rewrite_watch){
      .parents = f.scopes.watch.parents, .enter = enter_part, .leave = leave_part};
  rewriter.watch = &f.watch;
  rewriter.enter[TVMS_NODE_FOR] = enter_loop;
  rewriter.enter[TVMS_NODE_ATTR_STMT] = enter_attr;
  rewriter.leave[TVMS_NODE_BUFFER_LOAD] = flatten_load;
  rewriter.leave[TVMS_NODE_STORE] = flatten_store;
  rewriter.leave[TVMS_NODE_ALLOC_BUFFER] = flatten_alloc;
  rewriter.leave[TVMS_NODE_BUFFER_REGION] = flatten_region;
  rewriter.leave[TVMS_NODE_BLOCK] = flatten_block;
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
  tvms_node_map_fini(&f.iters);
  tvms_vec_fini(&run->context->memory, &f.conditions);
  return changed;
}

void tvms_pass_flatten_buffer(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
