// Reading nests of loops around several statements: their accesses as linear forms of the loops' variables.
#include "passes/tir/cpu/pieces.h"

#include "arith/analyzer.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/places.h"

#include <stdlib.h>

enum {
  MOST_NODES = 400,      // of a value that is put in the places of its variable
  MOST_ACCESSES = 1024,  // since each is compared with each
  DEEPEST = 64,          // of an index
};

// ---- Statements ----

static bool is_plain(const tvms_for *loop) {
  bool plain = loop->for_kind == TVMS_FOR_SERIAL || loop->for_kind == TVMS_FOR_PARALLEL;
  return plain && !loop->annotations && !loop->step;
}

typedef struct {
  const tvms_pieces *pieces;
  const tvms_piece *around;
} inside;

// What is loaded may change in the nest, and variables of the nest are others in each step.
static tvms_walk_step find_changing(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const inside *in = self;
  if (node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_CALL)
    return TVMS_WALK_STOP;
  bool changes =
      node->kind == TVMS_NODE_VAR && tvms_node_map_get(&in->pieces->values, node);
  for (uint32_t i = 0; i < in->around->depth; i++)
    changes |= tvms_as_for(in->around->loops[i])->var == node;
  return changes ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Is a bound of a loop the same in all steps of the loops around?
static bool is_fixed(const tvms_pieces *p, const tvms_piece *around, tvms_node *bound) {
  inside in = {p, around};
  tvms_visitor visitor = {.self = &in, .enter = find_changing};
  return tvms_walk(&p->unit->context->memory, bound, &visitor);
}

// ---- Bound variables ----

typedef struct {
  const tvms_node *value;
  tvms_memory *memory;
} overwriting;

static tvms_walk_step find_loaded(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  return tvms_as_buffer(tvms_as_buffer_load(node)->buffer)->data == self
             ? TVMS_WALK_STOP
             : TVMS_WALK_ON;
}

static tvms_walk_step find_overwriting(void *self, tvms_node *node,
                                       tvms_field_role role) {
  (void)role;
  overwriting *o = self;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  tvms_visitor visitor = {.self = tvms_as_buffer(tvms_as_store(node)->buffer)->data,
                          .enter = find_loaded};
  return tvms_walk(o->memory, (tvms_node *)(uintptr_t)o->value, &visitor)
             ? TVMS_WALK_ON
             : TVMS_WALK_STOP;
}

// Puts the value of a variable in the place of it, which is bound at statement `at`. False: what it loads may be
// something else where the variable is used.
static bool collect_bind(tvms_pieces *p, tvms_list stmts, uint32_t at) {
  tvms_memory *memory = &p->unit->context->memory;
  const tvms_bind *bind = tvms_as_bind(stmts.items[at]);
  tvms_node *value = tvms_substitute(p->unit, bind->value, &p->values);
  if (!tvms_dtype_is_scalar(value->dtype) || tvms_dtype_is_handle(value->dtype)
      || tvms_arith_effect_of(memory, value) > TVMS_EFFECT_READ
      || tvms_chain_cost_of(p->unit, value, NULL).nodes > MOST_NODES)
    return false;
  overwriting o = {value, memory};
  tvms_visitor visitor = {.self = &o, .enter = find_overwriting};
  // The last statement may store what it loads: the value comes first.
  for (uint32_t i = at + 1; i < stmts.len; i++) {
    bool last = i + 1 == stmts.len && stmts.items[i]->kind == TVMS_NODE_STORE;
    if (!last && !tvms_walk(memory, stmts.items[i], &visitor)) return false;
  }
  tvms_node_map_put(&p->values, bind->var, value);
  return true;
}

// ---- Nests ----

// The store in the body of a block, with values in the places of variables; NULL: there is something else.
static tvms_node *TVMS_NULLABLE only_store(tvms_pieces *p, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ) return body->kind == TVMS_NODE_STORE ? body : NULL;
  tvms_list stmts = tvms_as_seq(body)->stmts;
  for (uint32_t i = 0; i + 1 < stmts.len; i++) {
    if (stmts.items[i]->kind != TVMS_NODE_BIND || !collect_bind(p, stmts, i))
      return NULL;
  }
  tvms_node *last = stmts.items[stmts.len - 1];
  return last->kind == TVMS_NODE_STORE ? tvms_substitute(p->unit, last, &p->values)
                                       : NULL;
}

// A block that stores one element in each step, without variables in its body; NULL: it is no such block.
static tvms_node *TVMS_NULLABLE simple_block(tvms_pieces *p, tvms_node *realize) {
  tvms_node *old = tvms_as_block_realize(realize)->block;
  const tvms_block *block = tvms_as_block(old);
  tvms_node *store = only_store(p, block->body);
  if (!store || !tvms_node_is_true(tvms_as_block_realize(realize)->predicate)
      || block->alloc_buffers.len || block->match_buffers.len)
    return NULL;
  if (store == block->body) return realize;
  tvms_node *made = tvms_node_copy(p->unit, realize);
  tvms_as_block_realize(made)->block = tvms_node_copy(p->unit, old);
  tvms_as_block(tvms_as_block_realize(made)->block)->body = store;
  return made;
}

static bool collect(tvms_pieces *p, tvms_node *stmt, tvms_piece around);

static bool collect_loop(tvms_pieces *p, tvms_node *stmt, tvms_piece around) {
  const tvms_for *loop = tvms_as_for(stmt);
  if (!is_plain(loop) || around.depth == TVMS_MOST_PIECE_LOOPS
      || !is_fixed(p, &around, loop->min) || !is_fixed(p, &around, loop->extent))
    return false;
  around.loops[around.depth++] = stmt;
  p->parallel |= loop->for_kind == TVMS_FOR_PARALLEL;
  p->shifted |= !tvms_node_is_int(loop->min, 0);
  return collect(p, loop->body, around);
}

// The pieces of a statement inside of the loops of `around`.
static bool collect(tvms_pieces *p, tvms_node *stmt, tvms_piece around) {
  switch ((int)stmt->kind) {
  case TVMS_NODE_FOR: return collect_loop(p, stmt, around);
  case TVMS_NODE_SEQ: {
    tvms_list stmts = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < stmts.len; i++) {
      bool bound = stmts.items[i]->kind == TVMS_NODE_BIND;
      if (bound ? !collect_bind(p, stmts, i) : !collect(p, stmts.items[i], around))
        return false;
    }
    return true;
  }
  case TVMS_NODE_ALLOC_BUFFER:
    if (tvms_as_alloc_buffer(stmt)->annotations) return false;
    p->allocated =
        tvms_list_with(p->unit, p->allocated, tvms_as_alloc_buffer(stmt)->buffer);
    return true;
  case TVMS_NODE_BLOCK_REALIZE:
    stmt = simple_block(p, stmt);
    if (!stmt) return false;
    break;
  case TVMS_NODE_STORE:
    if (tvms_as_store(stmt)->predicate) return false;
    break;
  default: return false;
  }
  if (p->count == TVMS_MOST_PIECES) return false;
  around.stmt = tvms_substitute(p->unit, stmt, &p->values);
  p->pieces[p->count++] = around;
  return true;
}

// ---- Indices ----

static bool add_scaled(tvms_piece_index *to, const tvms_piece_index *from,
                       int64_t scale) {
  int64_t more;
  if (__builtin_mul_overflow(from->base, scale, &more)
      || __builtin_add_overflow(to->base, more, &to->base))
    return false;
  for (uint32_t i = 0; i < TVMS_MOST_PIECE_LOOPS; i++) {
    if (__builtin_mul_overflow(from->coefficients[i], scale, &more)
        || __builtin_add_overflow(to->coefficients[i], more, &to->coefficients[i]))
      return false;
  }
  return true;
}

// What a variable of the block is bound to; NULL: it is none.
static tvms_node *TVMS_NULLABLE bound_to(const tvms_piece *piece,
                                         const tvms_node *var) {
  if (piece->stmt->kind != TVMS_NODE_BLOCK_REALIZE) return NULL;
  const tvms_block_realize *realize = tvms_as_block_realize(piece->stmt);
  tvms_list vars = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < vars.len; i++) {
    if (tvms_as_iter_var(vars.items[i])->var == var)
      return realize->iter_values.items[i];
  }
  return NULL;
}

// Adds `scale` times an expression to a form. False: it is not linear.
static bool add_linear(const tvms_piece *piece, tvms_node *expr, int64_t scale,
                       uint32_t depth, tvms_piece_index *form) {
  if (depth++ == DEEPEST) return false;
  tvms_piece_index one = {.linear = true};
  switch ((int)expr->kind) {
  case TVMS_NODE_INT_IMM:
    one.base = tvms_as_int_imm(expr)->value;
    return add_scaled(form, &one, scale);
  case TVMS_NODE_VAR: {
    tvms_node *value = bound_to(piece, expr);
    if (value) return add_linear(piece, value, scale, depth, form);
    for (uint32_t i = 0; i < piece->depth; i++) {
      const tvms_for *loop = tvms_as_for(piece->loops[i]);
      if (loop->var != expr) continue;
      if (!tvms_node_is_int_imm(loop->min)) return false;
      one.base = tvms_as_int_imm(loop->min)->value;
      one.coefficients[i] = 1;
      return add_scaled(form, &one, scale);
    }
    return false;
  }
  case TVMS_NODE_ADD:
    return add_linear(piece, tvms_as_binary(expr)->a, scale, depth, form)
           && add_linear(piece, tvms_as_binary(expr)->b, scale, depth, form);
  case TVMS_NODE_SUB:
    return scale != INT64_MIN
           && add_linear(piece, tvms_as_binary(expr)->a, scale, depth, form)
           && add_linear(piece, tvms_as_binary(expr)->b, -scale, depth, form);
  case TVMS_NODE_MUL: {
    const tvms_binary *product = tvms_as_binary(expr);
    bool first = tvms_node_is_int_imm(product->a);
    if (!first && !tvms_node_is_int_imm(product->b)) return false;
    int64_t factor = tvms_as_int_imm(first ? product->a : product->b)->value;
    return !__builtin_mul_overflow(factor, scale, &factor)
           && add_linear(piece, first ? product->b : product->a, factor, depth, form);
  }
  default: return false;
  }
}

tvms_piece_index tvms_cpu_pieces_index(const tvms_piece *piece, tvms_node *expr) {
  tvms_piece_index form = {0};
  form.linear = add_linear(piece, expr, 1, 0, &form);
  return form;
}

// ---- Accesses ----

typedef struct {
  tvms_pieces *pieces;
  uint32_t piece;
  bool only_memory;  // nothing else is touched
} finding;

static void add_access(finding *f, const tvms_node *buffer, tvms_list indices,
                       bool stores) {
  tvms_pieces *p = f->pieces;
  tvms_piece_access access = {.buffer = buffer, .piece = f->piece, .stores = stores};
  if (indices.len > TVMS_MOST_PIECE_DIMS || p->accesses.len == MOST_ACCESSES)
    f->only_memory = false;
  if (!f->only_memory) return;
  access.dims = indices.len;
  for (uint32_t i = 0; i < indices.len; i++)
    access.indices[i] = tvms_cpu_pieces_index(&p->pieces[f->piece], indices.items[i]);
  tvms_vec_push(&p->unit->context->memory, &p->accesses, access);
}

static tvms_walk_step find_access(void *self, tvms_node *node, tvms_field_role role) {
  finding *f = self;
  if (node->kind == TVMS_NODE_BUFFER || role == TVMS_ROLE_ACCESS) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    if (load->predicate) f->only_memory = false;
    add_access(f, load->buffer, load->indices, false);
  } else if (node->kind == TVMS_NODE_STORE) {
    const tvms_store *store = tvms_as_store(node);
    if (store->predicate) f->only_memory = false;
    add_access(f, store->buffer, store->indices, true);
  } else if (tvms_dtype_is_handle(node->dtype)) {
    f->only_memory &= tvms_node_class_of(node) != TVMS_CLASS_EXPR;
  }
  return TVMS_WALK_ON;
}

static bool find_accesses(tvms_pieces *p, uint32_t piece) {
  tvms_memory *memory = &p->unit->context->memory;
  finding f = {p, piece, true};
  tvms_visitor visitor = {.self = &f, .enter = find_access};
  tvms_node *stmt = p->pieces[piece].stmt;
  tvms_walk(memory, stmt, &visitor);
  if (!f.only_memory) return false;
  if (stmt->kind == TVMS_NODE_BLOCK_REALIZE) {
    const tvms_block *block = tvms_as_block(tvms_as_block_realize(stmt)->block);
    if (block->init
        && (block->init->kind != TVMS_NODE_STORE
            || tvms_arith_effect_of(memory, tvms_as_store(block->init)->value)
                   > TVMS_EFFECT_READ))
      return false;
    stmt = block->body;
  }
  return tvms_arith_effect_of(memory, tvms_as_store(stmt)->value) <= TVMS_EFFECT_READ;
}

bool tvms_cpu_pieces_read(tvms_unit *unit, tvms_node *nest, tvms_pieces *pieces) {
  *pieces = (tvms_pieces){.unit = unit};
  tvms_node_map_init(&pieces->values, &unit->context->memory);
  if (nest->kind != TVMS_NODE_FOR || !collect(pieces, nest, (tvms_piece){0}))
    return false;
  for (uint32_t i = 0; i < pieces->count; i++) {
    if (!find_accesses(pieces, i)) return false;
  }
  return true;
}

void tvms_cpu_pieces_fini(tvms_pieces *pieces) {
  tvms_node_map_fini(&pieces->values);
  tvms_vec_fini(&pieces->unit->context->memory, &pieces->accesses);
}

// ---- Telling apart ----

uint32_t tvms_cpu_pieces_shared_loops(const tvms_piece *a, const tvms_piece *b) {
  uint32_t least = a->depth < b->depth ? a->depth : b->depth, count = 0;
  while (count < least && a->loops[count] == b->loops[count])
    count++;
  return count;
}

// Widens [*low, *high] by `coefficient` times a variable from 0 up to `extent` - 1. False: how far is not known.
static bool widen(int64_t coefficient, int64_t extent, int64_t *low, int64_t *high) {
  int64_t most;
  if (!coefficient) return true;
  if (extent < 1 || __builtin_mul_overflow(coefficient, extent - 1, &most))
    return false;
  return coefficient > 0 ? !__builtin_add_overflow(*high, most, high)
                         : !__builtin_add_overflow(*low, most, low);
}

// What an index takes, but for the first `shared` loops.
static bool range_of(const tvms_piece *piece, const tvms_piece_index *index,
                     uint32_t shared, int64_t *low, int64_t *high) {
  *low = *high = index->base;
  for (uint32_t i = shared; i < piece->depth; i++) {
    int64_t extent = tvms_cpu_number(tvms_as_for(piece->loops[i])->extent);
    if (!widen(index->coefficients[i], extent, low, high)) return false;
  }
  return true;
}

typedef struct {
  uint64_t step;
  int64_t extent;
} digit;

// The one with the least step first.
static int by_step(const void *a, const void *b) {
  const digit *x = a, *y = b;
  return x->step < y->step ? -1 : x->step > y->step;
}

// Does one dimension tell the shared loops apart that it depends on? These are marked in `told`.
static void tell_by(const tvms_piece *a, const tvms_piece *b, const tvms_piece_index *x,
                    const tvms_piece_index *y, uint32_t shared, bool *told) {
  int64_t low, high, least, most, span;
  if (!x->linear || !y->linear || !range_of(a, x, shared, &low, &high)
      || !range_of(b, y, shared, &least, &most))
    return;
  if (least < low) low = least;
  if (most > high) high = most;
  if (__builtin_sub_overflow(high, low, &span)) return;
  digit digits[TVMS_MOST_PIECE_LOOPS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < shared; i++) {
    int64_t c = x->coefficients[i];
    if (c != y->coefficients[i]) return;
    int64_t extent = tvms_cpu_number(tvms_as_for(a->loops[i])->extent);
    if (c) digits[count++] = (digit){c < 0 ? -(uint64_t)c : (uint64_t)c, extent};
  }
  qsort(digits, count, sizeof *digits, by_step);
  for (uint32_t i = 0; i < count; i++) {
    if (digits[i].step > INT64_MAX || (int64_t)digits[i].step <= span) return;
    bool last = i + 1 == count;
    int64_t low_end = 0;
    if (!last && !widen((int64_t)digits[i].step, digits[i].extent, &low_end, &span))
      return;
  }
  for (uint32_t i = 0; i < shared; i++)
    told[i] |= x->coefficients[i] != 0;
}

bool tvms_cpu_pieces_tell_apart(const tvms_pieces *pieces, const tvms_piece_access *a,
                                const tvms_piece_access *b, uint32_t shared) {
  const tvms_piece *first = &pieces->pieces[a->piece];
  const tvms_piece *second = &pieces->pieces[b->piece];
  bool told[TVMS_MOST_PIECE_LOOPS] = {false};
  if (a->buffer != b->buffer || a->dims != b->dims) return false;
  for (uint32_t i = 0; i < a->dims; i++)
    tell_by(first, second, &a->indices[i], &b->indices[i], shared, told);
  for (uint32_t i = 0; i < shared; i++) {
    if (!told[i] && !tvms_node_is_int(tvms_as_for(first->loops[i])->extent, 1))
      return false;
  }
  return true;
}
