// Reading nests of loops around several statements: their accesses as linear forms of the loops' variables.
#include "passes/tir/cpu/pieces.h"

#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/stage.h"

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

// ---- Branches ----

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  bool reads = node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_CALL;
  return reads ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool same_place(const tvms_store *a, const tvms_store *b) {
  return a->buffer == b->buffer && tvms_node_same_exprs(a->indices, b->indices);
}

// What is stored where a condition does not hold, so that the element is as without a branch: what the other branch stores,
// or, of `element + term`, the element itself, to which 0 may be added in place of the term. NULL: something else.
static tvms_node *TVMS_NULLABLE chosen_value(tvms_pieces *p, tvms_node *condition,
                                             const tvms_store *yes,
                                             const tvms_node *TVMS_NULLABLE no) {
  tvms_unit *unit = p->unit;
  const tvms_stage stage = {.store = yes};
  tvms_node *term = no ? NULL : tvms_stage_term(&stage, TVMS_NODE_ADD);
  tvms_node *args[] = {condition, no ? yes->value : term, NULL};
  if (no) {
    if (no->kind != TVMS_NODE_STORE || tvms_as_store(no)->predicate
        || !same_place(yes, tvms_as_store(no)))
      return NULL;
    args[2] = tvms_as_store(no)->value;
  } else {
    if (!term || (tvms_dtype_is_real(term->dtype) && !p->reorders)) return NULL;
    args[2] = tvms_build_float(unit, term->dtype, 0, TVMS_NO_SPAN);
  }
  tvms_node *value = tvms_call_new_of(unit, yes->value->dtype, TVMS_TIR_if_then_else,
                                      args, 3, condition->span);
  if (no) return value;
  const tvms_binary *sum = tvms_as_binary(yes->value);
  bool first = sum->a == term;
  return tvms_build_binary(unit, TVMS_NODE_ADD, first ? value : sum->a,
                           first ? sum->b : value, yes->head.span);
}

// Is the place of a store in its buffer in all steps of the loops, whatever conditions say?
static bool is_inside(tvms_pieces *p, const tvms_piece *around,
                      const tvms_store *store) {
  tvms_analyzer *analyzer = tvms_analyzer_new(p->unit);
  for (uint32_t i = 0; i < around->depth; i++) {
    const tvms_for *loop = tvms_as_for(around->loops[i]);
    tvms_analyzer_bind_range(analyzer, loop->var, loop->min, loop->extent);
  }
  tvms_list indices = tvms_list_copy(p->unit, store->indices.items, store->indices.len);
  for (uint32_t i = 0; i < indices.len; i++)
    indices.items[i] = tvms_substitute(p->unit, indices.items[i], &p->values);
  bool within = tvms_cpu_is_inside(analyzer, p->unit, store->buffer, indices);
  tvms_analyzer_free(analyzer);
  return within;
}

// A condition on variables alone; NULL: it is something else.
static tvms_node *TVMS_NULLABLE plain_condition(tvms_pieces *p, tvms_node *condition) {
  tvms_visitor visitor = {.enter = find_load};
  condition = tvms_substitute(p->unit, condition, &p->values);
  return tvms_walk(&p->unit->context->memory, condition, &visitor) ? condition : NULL;
}

static tvms_node *with_value(tvms_pieces *p, const tvms_store *store, tvms_node *value,
                             tvms_span span) {
  tvms_node *made = tvms_cpu_store(p->unit, store->buffer, store->indices, value);
  made->span = span;
  p->chosen = true;
  return made;
}

// A branch around one store that has another one for else, by a condition on variables alone, as a store of one value or the
// other; NULL: it is something else.
static tvms_node *TVMS_NULLABLE without_branch(tvms_pieces *p, tvms_node *stmt) {
  const tvms_if_then_else *branch = tvms_as_if_then_else(stmt);
  tvms_node *condition = plain_condition(p, branch->condition);
  if (branch->then_case->kind != TVMS_NODE_STORE || !condition) return NULL;
  const tvms_store *yes = tvms_as_store(branch->then_case);
  if (yes->predicate) return NULL;
  tvms_node *value = chosen_value(p, condition, yes, branch->else_case);
  return value ? with_value(p, yes, value, stmt->span) : NULL;
}

// A store within branches as one that is always done; NULL: it may be outside of its buffer then, or store
// something else.
static tvms_node *TVMS_NULLABLE without_condition(tvms_pieces *p, tvms_node *stmt,
                                                  const tvms_piece *around) {
  const tvms_store *store = tvms_as_store(stmt);
  if (!is_inside(p, around, store)) return NULL;
  tvms_node *value = chosen_value(p, around->condition, store, NULL);
  return value ? with_value(p, store, value, around->condition->span) : NULL;
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

static bool collect_all(tvms_pieces *p, tvms_list stmts, uint32_t first,
                        tvms_piece around) {
  for (uint32_t i = first; i < stmts.len; i++) {
    bool bound = stmts.items[i]->kind == TVMS_NODE_BIND;
    if (bound ? !collect_bind(p, stmts, i) : !collect(p, stmts.items[i], around))
      return false;
  }
  return true;
}

static bool add_piece(tvms_pieces *p, tvms_node *stmt, tvms_piece around) {
  if (p->count == TVMS_MOST_PIECES) return false;
  around.stmt = tvms_substitute(p->unit, stmt, &p->values);
  p->pieces[p->count++] = around;
  return true;
}

// The store that begins a loop, in its first step alone: `if k == 0`. It may stand in front of the loop. NULL: there
// is none.
static tvms_node *TVMS_NULLABLE first_store(tvms_pieces *p, const tvms_for *loop) {
  if (loop->body->kind != TVMS_NODE_SEQ) return NULL;
  const tvms_node *stmt = tvms_as_seq(loop->body)->stmts.items[0];
  if (stmt->kind != TVMS_NODE_IF_THEN_ELSE) return NULL;
  const tvms_if_then_else *branch = tvms_as_if_then_else(stmt);
  tvms_node *store = branch->then_case;
  if (branch->condition->kind != TVMS_NODE_EQ || branch->else_case
      || store->kind != TVMS_NODE_STORE || tvms_cpu_number(loop->extent) < 1)
    return NULL;
  const tvms_binary *equal = tvms_as_binary(branch->condition);
  bool first = equal->a == loop->var && tvms_node_same_expr(equal->b, loop->min);
  return first && !tvms_walk_contains(&p->unit->context->memory, store, loop->var)
             ? store
             : NULL;
}

static bool collect_loop(tvms_pieces *p, tvms_node *stmt, tvms_piece around) {
  const tvms_for *loop = tvms_as_for(stmt);
  if (!is_plain(loop) || around.depth == TVMS_MOST_PIECE_LOOPS
      || !is_fixed(p, &around, loop->min) || !is_fixed(p, &around, loop->extent))
    return false;
  tvms_node *store = first_store(p, loop);
  if (store && !collect(p, store, around)) return false;
  around.loops[around.depth++] = stmt;
  p->parallel |= loop->for_kind == TVMS_FOR_PARALLEL;
  p->shifted |= !tvms_node_is_int(loop->min, 0);
  return store ? collect_all(p, tvms_as_seq(loop->body)->stmts, 1, around)
               : collect(p, loop->body, around);
}

// What a branch without else is around, under its condition.
static bool collect_branch(tvms_pieces *p, const tvms_if_then_else *branch,
                           tvms_piece around) {
  tvms_node *condition = plain_condition(p, branch->condition);
  if (!condition) return false;
  around.condition = around.condition
                         ? tvms_build_binary(p->unit, TVMS_NODE_AND, around.condition,
                                             condition, condition->span)
                         : condition;
  return collect(p, branch->then_case, around);
}

// The pieces of a statement inside of the loops of `around`.
static bool collect(tvms_pieces *p, tvms_node *stmt, tvms_piece around) {
  switch ((int)stmt->kind) {
  case TVMS_NODE_FOR: return collect_loop(p, stmt, around);
  case TVMS_NODE_SEQ: return collect_all(p, tvms_as_seq(stmt)->stmts, 0, around);
  case TVMS_NODE_ALLOC_BUFFER:
    if (tvms_as_alloc_buffer(stmt)->annotations) return false;
    p->allocated =
        tvms_list_with(p->unit, p->allocated, tvms_as_alloc_buffer(stmt)->buffer);
    return true;
  case TVMS_NODE_BLOCK_REALIZE:
    stmt = around.condition ? NULL : simple_block(p, stmt);
    break;
  case TVMS_NODE_IF_THEN_ELSE:
    if (!tvms_as_if_then_else(stmt)->else_case)
      return collect_branch(p, tvms_as_if_then_else(stmt), around);
    stmt = around.condition ? NULL : without_branch(p, stmt);
    break;
  case TVMS_NODE_STORE:
    if (tvms_as_store(stmt)->predicate) return false;
    if (around.condition) stmt = without_condition(p, stmt, &around);
    break;
  default: return false;
  }
  return stmt && add_piece(p, stmt, around);
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

// Adds `scale` times a variable that does not change in the nest. False: there are too many.
static bool add_outer(tvms_piece_index *form, const tvms_node *var, int64_t scale) {
  uint32_t at = 0;
  while (at < form->outer_count && form->outer[at] != var)
    at++;
  if (at == TVMS_MOST_PIECE_OUTER) return false;
  if (at == form->outer_count) {
    form->outer[form->outer_count++] = var;
    form->outer_coefficients[at] = 0;
  }
  return !__builtin_add_overflow(form->outer_coefficients[at], scale,
                                 &form->outer_coefficients[at]);
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
      one.coefficients[i] = 1;
      return add_scaled(form, &one, scale)
             && add_linear(piece, loop->min, scale, depth, form);
    }
    return add_outer(form, expr, scale);
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
  form.known = add_linear(piece, expr, 1, 0, &form);
  form.linear = form.known;
  for (uint32_t i = 0; i < form.outer_count; i++)
    form.linear &= form.outer_coefficients[i] == 0;
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

bool tvms_cpu_pieces_read(tvms_unit *unit, tvms_node *nest, bool reorders,
                          tvms_pieces *pieces) {
  *pieces = (tvms_pieces){.unit = unit, .reorders = reorders};
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
