// LowerMatchBuffer: a buffer that names a part of another is replaced by that part.
//
// Before: B = T.match_buffer(A[i * 4:i * 4 + 4], (4,)); B[j] = 0.0   After: A[i * 4 + j] = 0.0
//
// Variables in the shape, the strides and the offset of the inner buffer get their values.
// What is given there must be so: scope, dtype, shape, strides and a multiple of offset_factor
// are refused if they cannot be proved. With declare=true the inner buffer stays, as one that
// is declared over the memory of the other, so that its own indices can be checked; then
// nothing has to be proved; declare_unproved=true does so where it cannot be. TVM: s_tir.transform.LowerMatchBuffer.
#include "arith/analyzer.h"
#include "ir/fold.h"
#include "passes/functions.h"
#include "schedule/storage_scope.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  const tvms_node *buffer;
  const tvms_buffer_region *source;  // of a buffer that is not a match itself
} match;

typedef struct {
  TVMS_VEC(match) matches;
  tvms_analyzer *analyzer;   // knows the ranges of loops
  tvms_node_map params;      // scalar parameters, which are bound outside
  const tvms_buffer *inner;  // being matched
  bool failed;
  bool declare;
  bool declare_unproved;
  bool trial;           // nothing is reported
  tvms_node_map bound;  // with `declare`: variables that have a value
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

// Reports that the buffer being matched does not fit, once.
static void refuse(tvms_rewriter *r, const char *what) {
  lowering *l = r->self;
  if (l->failed) return;
  l->failed = true;
  if (l->trial) return;
  tvms_context *context = r->unit->context;
  tvms_diag_report(&context->diags, TVMS_D_match_differs, l->inner->head.span,
                   tvms_symbol_text(context, l->inner->name), what);
}

static void expect_equal(tvms_rewriter *r, tvms_node *given, tvms_node *value,
                         const char *what) {
  const lowering *l = r->self;
  tvms_node *equal = build(r, TVMS_NODE_EQ, given, value);
  if (!equal || !tvms_analyzer_can_prove(l->analyzer, equal)) refuse(r, what);
}

// A variable takes the value; what is not one, or has a value, must have this one.
static void bind(tvms_rewriter *r, tvms_node *TVMS_NULLABLE part, tvms_node *value,
                 const char *what) {
  const lowering *l = r->self;
  if (!part) return;
  if (!tvms_dtype_same(part->dtype, value->dtype))
    value = tvms_build_cast(r->unit, part->dtype, value, TVMS_NO_SPAN);
  if (!value) return;
  tvms_node *known =
      part->kind == TVMS_NODE_VAR ? tvms_node_map_get(&r->known, part) : part;
  if (part->kind == TVMS_NODE_VAR && tvms_node_map_get(&l->params, part)) known = part;
  if (known) {
    expect_equal(r, known, value, what);
    return;
  }
  tvms_node_map_put(&r->known, part, value);
  tvms_analyzer_bind(l->analyzer, part, value);
}

// Elements of the source before the part.
static tvms_node *offset_of(tvms_rewriter *r, const tvms_buffer_region *source) {
  const tvms_buffer *buffer = tvms_as_buffer(source->buffer);
  tvms_list strides = tvms_buffer_strides(source->buffer);
  tvms_node *offset = NULL;
  for (uint32_t i = 0; i < source->region.len; i++) {
    tvms_node *min = tvms_as_range(source->region.items[i])->min;
    if (strides.len) {
      min = build(r, TVMS_NODE_MUL, min, strides.items[i]);
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
  tvms_list strides = tvms_buffer_strides(&outer->head);
  tvms_node *stride = NULL;
  for (uint32_t i = inner->strides.len; i > 0; i--) {
    tvms_node *own = inner->strides.items[i - 1];
    if (strides.len) {
      bind(r, own, strides.items[i - 1 + skipped], "other strides");
      continue;
    }
    if (!stride) stride = tvms_int_imm_new(r->unit, own->dtype, 1, TVMS_NO_SPAN);
    bind(r, own, stride, "other strides");
    stride = build(r, TVMS_NODE_MUL, stride, outer->shape.items[i - 1 + skipped]);
  }
}

static bool starts_at_zero(const tvms_buffer *buffer) {
  return !buffer->elem_offset || tvms_node_is_int(buffer->elem_offset, 0);
}

static void bind_offset(tvms_rewriter *r, const tvms_buffer *inner,
                        const tvms_buffer_region *region) {
  const lowering *l = r->self;
  tvms_node *offset = offset_of(r, region);
  if (!offset || !inner->elem_offset) return;
  bind(r, inner->elem_offset, offset, "another offset");
  tvms_node *factor = tvms_int_imm_new(r->unit, inner->elem_offset->dtype,
                                       inner->offset_factor, TVMS_NO_SPAN);
  tvms_node *rest = build(r, TVMS_NODE_MOD, inner->elem_offset, factor);
  tvms_node *zero =
      tvms_int_imm_new(r->unit, inner->elem_offset->dtype, 0, TVMS_NO_SPAN);
  tvms_node *fits = rest ? build(r, TVMS_NODE_EQ, rest, zero) : NULL;
  if (!fits || !tvms_analyzer_can_prove(l->analyzer, fits))
    refuse(r, "another offset_factor");
}

// What must be the same of both whatever the region is.
static void check_kinds(tvms_rewriter *r, const tvms_buffer *inner,
                        const tvms_buffer *outer) {
  const tvms_context *context = r->unit->context;
  const char *own = tvms_storage_scope_of(context, &inner->head);
  if (strcmp(own, tvms_storage_scope_of(context, &outer->head)) != 0)
    refuse(r, "another scope");
  if (!tvms_dtype_same(inner->element, outer->element)) refuse(r, "another dtype");
  if (starts_at_zero(inner) && !starts_at_zero(outer)) refuse(r, "another offset");
}

static void add_match(tvms_rewriter *r, const tvms_node *node) {
  lowering *l = r->self;
  const tvms_match_buffer_region *old = tvms_as_match_buffer_region(node);
  tvms_node *source = tvms_rewrite(r, old->source);
  const tvms_buffer_region *region = tvms_as_buffer_region(source);
  const tvms_buffer *inner = tvms_as_buffer(old->buffer);
  const tvms_buffer *outer = tvms_as_buffer(region->buffer);
  l->inner = inner;
  check_kinds(r, inner, outer);
  tvms_vec_push(&r->unit->context->memory, &l->matches, ((match){old->buffer, region}));
  tvms_node_map_put(&r->known, inner->data, outer->data);
  bind_offset(r, inner, region);
  bind_strides(r, inner, outer);
  uint32_t skipped = region->region.len - inner->shape.len;
  for (uint32_t i = 0; i < inner->shape.len; i++) {
    bind(r, inner->shape.items[i],
         tvms_as_range(region->region.items[i + skipped])->extent, "another shape");
  }
}

// ---- Declarations ----

// A variable that has no value yet takes this one by a statement.
static void assign(tvms_rewriter *r, tvms_node_vec *stmts, tvms_node *part,
                   tvms_node *value) {
  lowering *l = r->self;
  bool is_new = part->kind == TVMS_NODE_VAR && !tvms_node_map_get(&l->bound, part)
                && !tvms_node_map_get(&l->params, part);
  if (!is_new) return;
  tvms_node_map_put(&l->bound, part, part);
  tvms_bind *bind = tvms_node_make(r->unit, BIND, part->span);
  bind->var = part;
  bind->value = tvms_build_cast(r->unit, part->dtype, value, TVMS_NO_SPAN);
  tvms_vec_push(&r->unit->context->memory, stmts, &bind->head);
}

// The strides of the last dimensions of a buffer, which has them or is compact.
static tvms_list last_strides(tvms_rewriter *r, const tvms_buffer *outer,
                              uint32_t count) {
  uint32_t skipped = outer->shape.len - count;
  tvms_node **strides = tvms_arena_array(&r->unit->arena, tvms_node *, count);
  tvms_list given = tvms_buffer_strides(&outer->head);
  tvms_node *stride = NULL;
  for (uint32_t i = count; i > 0; i--) {
    tvms_node *extent = outer->shape.items[i - 1 + skipped];
    if (!stride) stride = tvms_int_imm_new(r->unit, extent->dtype, 1, TVMS_NO_SPAN);
    strides[i - 1] = given.len ? given.items[i - 1 + skipped] : stride;
    stride = build(r, TVMS_NODE_MUL, stride, extent);
  }
  return (tvms_list){strides, count};
}

static void declare_match(tvms_rewriter *r, tvms_node_vec *stmts, tvms_node *node) {
  const tvms_match_buffer_region *old = tvms_as_match_buffer_region(node);
  const tvms_buffer_region *region =
      tvms_as_buffer_region(tvms_rewrite(r, old->source));
  const tvms_buffer *outer = tvms_as_buffer(region->buffer);
  tvms_node *made = tvms_node_copy(r->unit, old->buffer);
  tvms_buffer *inner = tvms_as_buffer(made);
  tvms_list given = inner->strides;
  uint32_t skipped = outer->shape.len - inner->shape.len;
  tvms_node *offset = offset_of(r, region);
  inner->strides = last_strides(r, outer, inner->shape.len);
  for (uint32_t i = 0; i < inner->shape.len; i++) {
    assign(r, stmts, inner->shape.items[i],
           tvms_as_range(region->region.items[i + skipped])->extent);
    if (given.len) assign(r, stmts, given.items[i], inner->strides.items[i]);
  }
  if (inner->elem_offset && offset) assign(r, stmts, inner->elem_offset, offset);
  inner->elem_offset = offset;
  tvms_node_map_put(&r->known, inner->data, outer->data);
  inner->data = outer->data;
  tvms_node_map_put(&r->known, old->buffer, made);
  tvms_decl_buffer *declare = tvms_node_make(r->unit, DECL_BUFFER, made->span);
  declare->buffer = made;
  tvms_vec_push(&r->unit->context->memory, stmts, &declare->head);
}

// Tries to put the part in the place of the buffer. What a variable was found to be before
// that failed, it is.
static bool replace_match(tvms_rewriter *r, const tvms_node *node) {
  lowering *l = r->self;
  if (l->declare) return false;
  l->trial = true;
  add_match(r, node);
  bool fits = !l->failed;
  l->trial = l->failed = false;
  if (!fits) l->matches.len--;
  return fits;
}

static tvms_node *declare_matches(tvms_rewriter *r, tvms_node *node) {
  const tvms_block *old = tvms_as_block(node);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < old->match_buffers.len; i++) {
    if (!replace_match(r, old->match_buffers.items[i]))
      declare_match(r, &stmts, old->match_buffers.items[i]);
  }
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_block(copy)->match_buffers = (tvms_list){0};
  copy = tvms_rewrite_below(r, copy);
  tvms_block *block = tvms_as_block(copy);
  tvms_stmt_push_last(&r->unit->context->memory, &stmts, block->body);
  block->body = tvms_stmt_seq(r->unit, &stmts, node->span);
  return copy;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  const lowering *l = r->self;
  const tvms_block *old = tvms_as_block(node);
  if (old->match_buffers.len == 0) return TVMS_REWRITE_BELOW;
  if (l->declare || l->declare_unproved) return declare_matches(r, node);
  for (uint32_t i = 0; i < old->match_buffers.len; i++) {
    add_match(r, old->match_buffers.items[i]);
  }
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_block(copy)->match_buffers = (tvms_list){0};
  return tvms_rewrite_below(r, copy);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  const lowering *l = r->self;
  const tvms_for *loop = tvms_as_for(node);
  tvms_analyzer_bind_range(l->analyzer, loop->var, loop->min, loop->extent);
  return TVMS_REWRITE_BELOW;
}

static void refuse_predicate(tvms_rewriter *r, const match *m) {
  lowering *l = r->self;
  l->inner = tvms_as_buffer(m->buffer);
  refuse(r, "other accesses: here they are masked");
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  const match *m = find(r->self, tvms_as_buffer_load(r->old)->buffer);
  if (!m) return node;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->predicate) refuse_predicate(r, m);
  tvms_list indices = outer_indices(r, m, load->indices);
  return tvms_buffer_load_new(r->unit, m->source->buffer, indices.items, indices.len,
                              load->predicate, node->span);
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  const match *m = find(r->self, tvms_as_store(r->old)->buffer);
  if (!m) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_store *store = tvms_as_store(copy);
  if (store->predicate) refuse_predicate(r, m);
  store->indices = outer_indices(r, m, store->indices);
  store->buffer = m->source->buffer;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  lowering l = {.analyzer = tvms_analyzer_new(unit),
                .declare = TVMS_OPTION(run, LowerMatchBuffer, declare).number != 0};
  l.declare_unproved = TVMS_OPTION(run, LowerMatchBuffer, declare_unproved).number != 0;
  tvms_node_map_init(&l.params, &run->context->memory);
  tvms_node_map_init(&l.bound, &run->context->memory);
  tvms_list params = tvms_as_prim_func(function)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    if (!tvms_dtype_is_handle(params.items[i]->dtype))
      tvms_node_map_put(&l.params, params.items[i], params.items[i]);
  }
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &l);
  rewriter.enter[TVMS_NODE_BLOCK] = enter_block;
  rewriter.enter[TVMS_NODE_FOR] = enter_loop;
  rewriter.leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  rewriter.leave[TVMS_NODE_STORE] = leave_store;
  rewriter.leave[TVMS_NODE_BUFFER_REGION] = leave_region;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_vec_fini(&run->context->memory, &l.matches);
  tvms_node_map_fini(&l.bound);
  tvms_node_map_fini(&l.params);
  tvms_analyzer_free(l.analyzer);
  return changed;
}

void tvms_pass_lower_match_buffer(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
