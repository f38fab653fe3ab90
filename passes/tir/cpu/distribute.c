// Distributing loops over the statements inside, and giving buffers the dimensions that this needs.
//
// All steps of a statement come before those of the next one then. That is right where two statements meet at an element
// only in one and the same step of the loops around both (pieces.h).
#include "passes/tir/cpu/distribute.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/loop_dtypes.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/own_sums.h"
#include "passes/tir/cpu/pieces_apart.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/rows.h"

#include <string.h>

// Elements of a buffer that gets dimensions, as far as they are known.
enum { MOST_ELEMENTS = 1 << 24, MOST_WIDENED = 16 };

// A buffer that gets the first `loops` loops around its pieces as dimensions.
typedef struct {
  const tvms_node *old;
  tvms_node *made;
  uint32_t loops;
} widened;

typedef struct {
  tvms_distribution *around;
  tvms_pieces *pieces;
  tvms_list others;  // all statements of the body
  tvms_node *nest;   // the one that is distributed
  widened widened[MOST_WIDENED];
  uint32_t widened_count;
} distributing;

// ---- What may meet ----

static bool is_widened(const distributing *d, const tvms_node *buffer) {
  for (uint32_t i = 0; i < d->widened_count; i++) {
    if (d->widened[i].old == buffer) return true;
  }
  return false;
}

static const tvms_node *memory_of(const tvms_piece_access *access) {
  return tvms_as_buffer(access->buffer)->data;
}

// The first access by which two pieces meet in different steps; NULL: there is none.
static const tvms_piece_access *TVMS_NULLABLE find_meeting(const distributing *d) {
  const tvms_pieces *p = d->pieces;
  for (uint32_t i = 0; i < p->accesses.len; i++) {
    const tvms_piece_access *a = &p->accesses.items[i];
    if (is_widened(d, a->buffer)) continue;
    for (uint32_t k = i + 1; k < p->accesses.len; k++) {
      const tvms_piece_access *b = &p->accesses.items[k];
      if (a->piece == b->piece || memory_of(a) != memory_of(b)
          || !(a->stores || b->stores))
        continue;
      uint32_t shared =
          tvms_cpu_pieces_shared_loops(&p->pieces[a->piece], &p->pieces[b->piece]);
      if (!tvms_cpu_pieces_tell_apart(p, a, b, shared)) return a;
    }
  }
  return NULL;
}

// ---- Dimensions ----

static bool holds(tvms_list list, const tvms_node *item) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i] == item) return true;
  }
  return false;
}

// Is a buffer allocated for this nest alone?
static bool is_own(const distributing *d, const tvms_node *buffer) {
  if (holds(d->pieces->allocated, buffer)) return true;
  if (!holds(d->around->allocated, buffer)) return false;
  for (uint32_t i = 0; i < d->others.len; i++) {
    if (d->others.items[i] != d->nest
        && tvms_cpu_mentions(d->around->unit, d->others.items[i], buffer))
      return false;
  }
  return true;
}

static bool is_constant(const tvms_piece *piece, const tvms_piece_index *index) {
  bool constant = index->linear;
  for (uint32_t i = 0; i < piece->depth; i++)
    constant &= index->coefficients[i] == 0;
  return constant;
}

// Does the first store of a buffer, in one step of the `shared` loops, reach all places in dimension `dim` that `access` does?
static bool covers(const distributing *d, const tvms_piece_access *first,
                   const tvms_piece_access *access, uint32_t dim, uint32_t shared) {
  const tvms_piece *a = &d->pieces->pieces[first->piece];
  const tvms_piece *b = &d->pieces->pieces[access->piece];
  const tvms_piece_index *x = &first->indices[dim], *y = &access->indices[dim];
  if (is_constant(a, x)) return is_constant(b, y) && x->base == y->base;
  if (!x->linear || x->base != 0) return false;
  uint32_t found = TVMS_MOST_PIECE_LOOPS;
  for (uint32_t i = 0; i < a->depth; i++) {
    if (!x->coefficients[i]) continue;
    if (found != TVMS_MOST_PIECE_LOOPS || i < shared || x->coefficients[i] != 1)
      return false;
    found = i;
  }
  // The same loop must not stand for two dimensions.
  for (uint32_t k = 0; k < dim; k++) {
    if (first->indices[k].coefficients[found]) return false;
  }
  const tvms_node *extent = tvms_as_for(a->loops[found])->extent;
  tvms_node *size = tvms_as_buffer(first->buffer)->shape.items[dim];
  return tvms_node_is_int(extent, tvms_cpu_number(size));
}

// Is every element of a buffer stored before it is loaded, in each step of the loops around all pieces that touch it? These
// are counted in `loops`.
static bool is_new_in_each_step(const distributing *d, const tvms_node *buffer,
                                uint32_t *loops) {
  const tvms_pieces *p = d->pieces;
  const tvms_piece_access *first = NULL;
  *loops = 0;
  for (uint32_t i = 0; i < p->accesses.len; i++) {
    const tvms_piece_access *access = &p->accesses.items[i];
    if (memory_of(access) != tvms_as_buffer(buffer)->data) continue;
    const tvms_piece *piece = &p->pieces[access->piece];
    if (access->buffer != buffer || piece->stmt->kind != TVMS_NODE_STORE) return false;
    if (!first) *loops = piece->depth;
    uint32_t shared =
        first ? tvms_cpu_pieces_shared_loops(&p->pieces[first->piece], piece) : *loops;
    if (shared < *loops) *loops = shared;
    if (!first) first = access;
    if (access->piece == first->piece && !access->stores) return false;
  }
  if (!first || !*loops) return false;
  for (uint32_t i = 0; i < p->accesses.len; i++) {
    const tvms_piece_access *access = &p->accesses.items[i];
    if (access->buffer != buffer) continue;
    for (uint32_t k = 0; k < access->dims; k++) {
      if (!covers(d, first, access, k, *loops)) return false;
    }
  }
  return true;
}

// Are its elements where a layout puts them that is not the order of its dimensions? (`x = value` of a program makes a
// buffer of one element with a layout.)
static bool is_laid_out(const tvms_buffer *buffer) {
  bool several = false;
  for (uint32_t i = 0; i < buffer->shape.len; i++)
    several |= !tvms_node_is_int(buffer->shape.items[i], 1);
  return buffer->strides.len || (buffer->layout && several);
}

// The buffer with extents of loops in front of its shape; NULL: that would be too large.
static tvms_node *TVMS_NULLABLE widen(const distributing *d, const tvms_node *buffer,
                                      const tvms_piece *piece, uint32_t loops) {
  const tvms_buffer *old = tvms_as_buffer(buffer);
  tvms_node *shape[TVMS_MOST_PIECE_LOOPS + TVMS_MOST_PIECE_DIMS];
  int64_t elements = 1;
  if (is_laid_out(old)) return NULL;
  for (uint32_t i = 0; i < loops + old->shape.len; i++) {
    shape[i] =
        i < loops ? tvms_as_for(piece->loops[i])->extent : old->shape.items[i - loops];
    int64_t extent = tvms_cpu_number(shape[i]);
    if (extent >= 0 && __builtin_mul_overflow(elements, extent, &elements)) return NULL;
  }
  if (elements > MOST_ELEMENTS) return NULL;
  return tvms_cpu_buffer(d->around->unit,
                         tvms_symbol_text(d->around->unit->context, old->name),
                         old->element, "global", shape, loops + old->shape.len);
}

// Gives a buffer the dimensions that it needs. False: it cannot have them.
static bool widen_buffer(distributing *d, const tvms_node *buffer) {
  uint32_t loops, first = 0;
  if (d->widened_count == MOST_WIDENED || !is_own(d, buffer)
      || !is_new_in_each_step(d, buffer, &loops))
    return false;
  while (d->pieces->accesses.items[first].buffer != buffer)
    first++;
  const tvms_piece *piece = &d->pieces->pieces[d->pieces->accesses.items[first].piece];
  tvms_node *made = widen(d, buffer, piece, loops);
  if (!made) return false;
  d->widened[d->widened_count++] = (widened){buffer, made, loops};
  return true;
}

// ---- Writing ----

typedef struct {
  const distributing *d;
  tvms_node
      *vars[TVMS_MOST_PIECE_LOOPS];  // of the loops of the piece at hand, from 0 on
} writer;

// The place of an element in the buffer that took the place of its own.
static const widened *TVMS_NULLABLE find_place(const writer *w, const tvms_node *buffer,
                                               tvms_list *indices) {
  for (uint32_t i = 0; i < w->d->widened_count; i++) {
    const widened *to = &w->d->widened[i];
    if (to->old != buffer) continue;
    tvms_list all = {tvms_arena_array(&w->d->around->unit->arena, tvms_node *,
                                      to->loops + indices->len),
                     to->loops + indices->len};
    memcpy(all.items, w->vars, to->loops * sizeof *all.items);
    memcpy(all.items + to->loops, indices->items, indices->len * sizeof *all.items);
    *indices = all;
    return to;
  }
  return NULL;
}

static tvms_node *move_load(tvms_rewriter *r, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_list indices = load->indices;
  const widened *to = find_place(r->self, load->buffer, &indices);
  if (!to) return node;
  return tvms_buffer_load_new(r->unit, to->made, indices.items, indices.len, NULL,
                              node->span);
}

static tvms_node *move_store(tvms_rewriter *r, tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  tvms_list indices = store->indices;
  const widened *to = find_place(r->self, store->buffer, &indices);
  if (!to) return node;
  return tvms_cpu_store(r->unit, to->made, indices, store->value);
}

// A piece within loops of its own, with the place of the innermost loop that only it has.
static tvms_node *write_piece(distributing *d, const tvms_piece *piece) {
  tvms_unit *unit = d->around->unit;
  writer w = {.d = d};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &w);
  r.leave[TVMS_NODE_BUFFER_LOAD] = move_load;
  r.leave[TVMS_NODE_STORE] = move_store;
  for (uint32_t i = 0; i < piece->depth; i++) {
    const tvms_for *loop = tvms_as_for(piece->loops[i]);
    const tvms_node *var = loop->var;
    w.vars[i] = tvms_var_new(unit, tvms_as_var(var)->name, var->dtype, var->span);
    tvms_node *value =
        tvms_build_binary(unit, TVMS_NODE_ADD, w.vars[i], loop->min, TVMS_NO_SPAN);
    tvms_node_map_put(&r.known, var, value);
  }
  tvms_node *made = tvms_rewrite(&r, piece->stmt);
  tvms_rewriter_fini(&r);
  for (uint32_t i = piece->depth; i-- > 0;)
    made = tvms_cpu_loop(unit, w.vars[i], tvms_as_for(piece->loops[i])->extent,
                         TVMS_FOR_SERIAL, made);
  made->span = piece->stmt->span;
  return tvms_cpu_widen_loops(unit, made);
}

// Will the stage be a product of matrices, whatever it begins with?
static bool is_product(tvms_unit *unit, tvms_stage stage) {
  tvms_contraction c;
  if (!tvms_stage_has_sums(&stage)) return false;
  if (!stage.init)
    stage.init = tvms_build_float(unit, stage.store->value->dtype, 0, TVMS_NO_SPAN);
  return !tvms_contraction_find(unit, &stage, &c);
}

// All pieces; 0 if one of them cannot be scheduled. Loops that shall run on threads are taken apart for products alone.
static uint32_t write_pieces(distributing *d, tvms_node *made[TVMS_MOST_PIECES]) {
  tvms_unit *unit = d->around->unit;
  bool products = false;
  for (uint32_t i = 0; i < d->pieces->count; i++) {
    tvms_stage stage;
    made[i] = write_piece(d, &d->pieces->pieces[i]);
    if (tvms_stage_read(unit, made[i], &stage)) return 0;
    bool product = is_product(unit, stage);
    products |= product;
    if (product || tvms_cpu_loads_elsewhere(unit, &stage)) continue;
    tvms_chain_settle(unit, &stage);
    if (tvms_line_refuse(unit, &stage)) return 0;
  }
  return d->pieces->parallel && !products ? 0 : d->pieces->count;
}

// Buffers that statements of the nest allocated are allocated by the block around.
static void keep_buffers(distributing *d) {
  tvms_distribution *a = d->around;
  for (uint32_t i = 0; i < d->widened_count; i++) {
    tvms_node *old = (tvms_node *)(uintptr_t)d->widened[i].old;
    a->allocated = tvms_list_with(a->unit, a->allocated, d->widened[i].made);
    tvms_stmt_push(a->unit, a->added, d->widened[i].made);
    tvms_node_map_put(a->gone, old, old);
  }
  for (uint32_t i = 0; i < d->pieces->allocated.len; i++) {
    tvms_node *buffer = d->pieces->allocated.items[i];
    if (is_widened(d, buffer)) continue;
    a->allocated = tvms_list_with(a->unit, a->allocated, buffer);
    tvms_stmt_push(a->unit, a->added, buffer);
  }
}

// Nests of one statement each for `nest`, at most TVMS_MOST_PIECES; 0: it stays, and what was `made` means nothing.
static uint32_t distribute(tvms_distribution *around, tvms_list others, tvms_node *nest,
                           tvms_node **made) {
  tvms_pieces pieces;
  distributing d = {around, &pieces, others, nest, {{0}}, 0};
  uint32_t count = 0;
  if (tvms_cpu_pieces_read(around->unit, nest, around->reorders, &pieces)
      && (pieces.count > 1 || pieces.parallel || pieces.shifted || pieces.chosen
          || pieces.values.count)) {
    const tvms_piece_access *meeting = find_meeting(&d);
    while (meeting && widen_buffer(&d, meeting->buffer))
      meeting = find_meeting(&d);
    if (!meeting) count = write_pieces(&d, made);
    if (count) keep_buffers(&d);
  }
  tvms_cpu_pieces_fini(&pieces);
  return count;
}

tvms_list tvms_cpu_distribute_loops(tvms_distribution *d, tvms_list stmts) {
  tvms_node_vec all = {0};
  bool changed = false;
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_node *made[TVMS_MOST_PIECES];
    uint32_t count = distribute(d, stmts, stmts.items[i], made);
    changed |= count > 0;
    if (!count) tvms_stmt_push(d->unit, &all, stmts.items[i]);
    for (uint32_t k = 0; k < count; k++)
      tvms_stmt_push(d->unit, &all, made[k]);
  }
  if (changed) stmts = tvms_list_copy(d->unit, all.items, all.len);
  tvms_vec_fini(&d->unit->context->memory, &all);
  return stmts;
}
