// Parallel loops whose steps go through memory side by side, in lanes.
//
// Before: for v in T.parallel(512):
//             Y[0, v] = X[0, v]
//             for k in range(127): Y[k + 1, v] = Y[k, v] + X[k + 1, v]
// After:  for v in T.parallel(32):
//             for l in T.vectorized(16): Y[0, v * 16 + l] = X[0, v * 16 + l]
//             for k in range(127):
//                 for l in T.vectorized(16): Y[k + 1, v * 16 + l] = Y[k, v * 16 + l] + X[k + 1, v * 16 + l]
//
// This is what scans become along an axis that is not the last one (DispatchSortScan). Steps of a parallel loop do
// not depend on each other, so each statement may be done for several of them at once. Threads are for loops that
// have work for them: what scatters a few lines is done on one.
#include "passes/tir/cpu/scans.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

// Several vectors at once, so that what is loaded of each line is more than one line of the caches, while all cores have work.
enum {
  LEAST_LANES = 4,
  MOST_VECTORS = 4,
  TASKS_OF_CORE = 4,
  WORTH_THREADS = 1 << 18,  // stores from which on threads pay
};

typedef struct {
  tvms_unit *unit;
  const tvms_target *target;
  tvms_analyzer *analyzer;
  const tvms_for *loop;
  tvms_node *outer;  // the variable of the loop that is left
  tvms_node *TVMS_NULLABLE
      group;  // that of the loop around it, of so many steps each; NULL: none
  int64_t size;
  int64_t first;  // step of the group with which the outer loop begins
  int64_t lanes;
  uint32_t bytes;  // of the widest element
  bool loops;      // there is a serial loop inside
} scan;

// ---- Which loops ----

static tvms_walk_step see_expression(void *self, tvms_node *node,
                                     tvms_field_role role) {
  scan *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_CALL || node->kind == TVMS_NODE_LET)
    return TVMS_WALK_STOP;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool access = node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_STORE;
  if (!access) return TVMS_WALK_ON;
  const tvms_buffer *buffer = tvms_as_buffer(*tvms_node_element(node).buffer);
  uint32_t bytes = buffer->element.code == TVMS_BOOL ? 1 : buffer->element.bits / 8u;
  s->bytes = bytes > s->bytes ? bytes : s->bytes;
  return buffer->element.lanes == 1 && !buffer->strides.len ? TVMS_WALK_ON
                                                            : TVMS_WALK_STOP;
}

// Are there only stores, one after the other, and serial loops that run alike in each step?
static bool is_plain(scan *s, tvms_node *stmt) {
  tvms_memory *memory = &s->unit->context->memory;
  if (stmt->kind == TVMS_NODE_SEQ) {
    tvms_list stmts = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < stmts.len; i++)
      if (!is_plain(s, stmts.items[i])) return false;
    return true;
  }
  if (stmt->kind == TVMS_NODE_FOR) {
    const tvms_for *loop = tvms_as_for(stmt);
    tvms_list ends = {(tvms_node *[]){loop->min, loop->extent}, 2};
    s->loops = true;
    return loop->for_kind == TVMS_FOR_SERIAL && !loop->step && !loop->annotations
           && !tvms_cpu_depends(s->unit, ends, s->loop->var) && is_plain(s, loop->body);
  }
  tvms_visitor visitor = {.self = s, .enter = see_expression};
  return stmt->kind == TVMS_NODE_STORE && tvms_walk(memory, stmt, &visitor);
}

// Stores of a plain statement; INT64_MAX: too many, or not known.
static int64_t stores_of(const tvms_node *stmt) {
  int64_t stores = 0, steps = 1;
  if (stmt->kind == TVMS_NODE_STORE) return 1;
  if (stmt->kind == TVMS_NODE_FOR) {
    stores = stores_of(tvms_as_for(stmt)->body);
    steps = tvms_cpu_number(tvms_as_for(stmt)->extent);
  } else {
    tvms_list stmts = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < stmts.len; i++) {
      if (__builtin_add_overflow(stores, stores_of(stmts.items[i]), &stores))
        return INT64_MAX;
    }
  }
  bool known = steps >= 0 && !__builtin_mul_overflow(stores, steps, &stores);
  return known ? stores : INT64_MAX;
}

// ---- In lanes ----

static tvms_node *simplify_indices(tvms_rewriter *r, tvms_node *node) {
  scan *s = r->self;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_list *indices = tvms_node_element(copy).indices;
  *indices = tvms_list_copy(r->unit, indices->items, indices->len);
  for (uint32_t i = 0; i < indices->len; i++)
    indices->items[i] = tvms_analyzer_simplify(s->analyzer, indices->items[i]);
  return copy;
}

typedef struct {
  tvms_unit *unit;
  const tvms_node *lane;
} neighbours;

// Lanes are elements side by side; what is the same for all of them may be loaded.
static tvms_walk_step see_access(void *self, tvms_node *node, tvms_field_role role) {
  const neighbours *n = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool load = node->kind == TVMS_NODE_BUFFER_LOAD;
  if (!load && node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  tvms_element element = tvms_node_element(node);
  int64_t step;
  bool fine =
      tvms_cpu_step_of(n->unit, *element.buffer, *element.indices, n->lane, &step)
      && (step == 1 || (load && step == 0));
  return fine ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// A step of the loop: `group` * `size` + `first` + `rest`.
static tvms_node *step_at(scan *s, tvms_node *rest) {
  tvms_unit *unit = s->unit;
  if (s->group) {
    tvms_node *size = tvms_int_imm_new(unit, rest->dtype, s->size, TVMS_NO_SPAN);
    size = tvms_build_binary(unit, TVMS_NODE_MUL, s->group, size, TVMS_NO_SPAN);
    rest = tvms_build_binary(unit, TVMS_NODE_ADD, size, rest, TVMS_NO_SPAN);
  }
  tvms_node *first = tvms_int_imm_new(unit, rest->dtype, s->first, TVMS_NO_SPAN);
  return tvms_build_binary(unit, TVMS_NODE_ADD, rest, first, TVMS_NO_SPAN);
}

static tvms_node *at_step(scan *s, tvms_node *stmt, tvms_node *step) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, s);
  tvms_node_map_put(&r.known, s->loop->var, step);
  r.leave[TVMS_NODE_BUFFER_LOAD] = simplify_indices;
  r.leave[TVMS_NODE_STORE] = simplify_indices;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}

static tvms_node *TVMS_NULLABLE store_in_lanes(scan *s, tvms_node *store) {
  tvms_unit *unit = s->unit;
  if (s->lanes == 1) return at_step(s, store, step_at(s, s->outer));
  tvms_node *lane = tvms_cpu_variable(unit, "lane", s->loop->var);
  tvms_node *count = tvms_int_imm_new(unit, lane->dtype, s->lanes, TVMS_NO_SPAN);
  tvms_node *zero = tvms_int_imm_new(unit, lane->dtype, 0, TVMS_NO_SPAN);
  tvms_analyzer_bind_range(s->analyzer, lane, zero, count);
  tvms_node *step =
      tvms_build_binary(unit, TVMS_NODE_MUL, s->outer, count, TVMS_NO_SPAN);
  step = tvms_build_binary(unit, TVMS_NODE_ADD, step, lane, TVMS_NO_SPAN);
  tvms_node *made = at_step(s, store, step_at(s, step));
  neighbours n = {unit, lane};
  tvms_visitor visitor = {.self = &n, .enter = see_access};
  if (!tvms_walk(&unit->context->memory, made, &visitor)) return NULL;
  return tvms_cpu_loop(unit, lane, count, TVMS_FOR_VECTORIZED, made);
}

static tvms_node *TVMS_NULLABLE in_lanes(scan *s, tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_STORE) return store_in_lanes(s, stmt);
  tvms_node *copy = tvms_node_copy(s->unit, stmt);
  if (stmt->kind == TVMS_NODE_FOR) {
    // What is done in several pieces has variables for each of them.
    tvms_for *loop = tvms_as_for(copy);
    tvms_node *var = tvms_var_like(s->unit, loop->var);
    tvms_node_map fresh;
    tvms_node_map_init(&fresh, &s->unit->context->memory);
    tvms_node_map_put(&fresh, loop->var, var);
    tvms_analyzer_bind_range(s->analyzer, var, loop->min, loop->extent);
    loop->body = in_lanes(s, tvms_substitute(s->unit, loop->body, &fresh));
    loop->var = var;
    tvms_node_map_fini(&fresh);
    return loop->body ? copy : NULL;
  }
  tvms_seq *seq = tvms_as_seq(copy);
  seq->stmts = tvms_list_copy(s->unit, seq->stmts.items, seq->stmts.len);
  for (uint32_t i = 0; i < seq->stmts.len; i++) {
    seq->stmts.items[i] = in_lanes(s, seq->stmts.items[i]);
    if (!seq->stmts.items[i]) return NULL;
  }
  return copy;
}

static void bind_steps(scan *s, tvms_node *var, int64_t steps) {
  tvms_node *zero = tvms_int_imm_new(s->unit, var->dtype, 0, TVMS_NO_SPAN);
  tvms_node *extent = tvms_int_imm_new(s->unit, var->dtype, steps, TVMS_NO_SPAN);
  tvms_analyzer_bind_range(s->analyzer, var, zero, extent);
}

// Steps from the first one on, a vector of them at a time.
static tvms_node *TVMS_NULLABLE try_lanes(scan *s, int64_t steps, uint8_t kind) {
  tvms_unit *unit = s->unit;
  tvms_node *like = s->loop->var;
  s->analyzer = tvms_analyzer_new(unit);
  s->outer = tvms_cpu_variable(
      unit, tvms_symbol_text(unit->context, tvms_as_var(like)->name), like);
  tvms_node *extent =
      tvms_int_imm_new(unit, like->dtype, steps / s->lanes, TVMS_NO_SPAN);
  if (s->group)
    bind_steps(s, s->group, tvms_as_int_imm(s->loop->extent)->value / s->size);
  bind_steps(s, s->outer, steps / s->lanes);
  tvms_node *body = in_lanes(s, s->loop->body);
  tvms_analyzer_free(s->analyzer);
  return body ? tvms_cpu_loop(unit, s->outer, extent, kind, body) : NULL;
}

// The steps of a group in as many vectors as there are, by a loop of a kind, and then in shorter ones; NULL: they do not lie side
// by side.
static tvms_node *TVMS_NULLABLE in_pieces(scan *s, int64_t most, uint8_t kind) {
  tvms_node_vec made = {0};
  bool fine = true;
  for (s->lanes = most; s->lanes >= 1 && fine; s->lanes /= 2) {
    int64_t steps = (s->size - s->first) / s->lanes * s->lanes;
    if (!steps) continue;
    tvms_node *piece = try_lanes(s, steps, s->first ? TVMS_FOR_SERIAL : kind);
    fine = piece != NULL;
    if (piece) tvms_stmt_push(s->unit, &made, piece);
    s->first += steps;
  }
  tvms_node *all = fine ? tvms_stmt_seq(s->unit, &made, s->loop->head.span) : NULL;
  if (!fine) tvms_vec_fini(&s->unit->context->memory, &made);
  return all;
}

typedef struct {
  const tvms_node *var;
  int64_t size;  // 0: none
} modulus;

static tvms_walk_step find_modulus(void *self, tvms_node *node, tvms_field_role role) {
  modulus *m = self;
  (void)role;
  if (node->kind != TVMS_NODE_FLOOR_MOD || tvms_as_binary(node)->a != m->var)
    return TVMS_WALK_ON;
  m->size = tvms_cpu_number(tvms_as_binary(node)->b);
  return TVMS_WALK_STOP;
}

// Steps that lie side by side in groups, which no vector divides: X[v // 37, k, v % 37].
static tvms_node *TVMS_NULLABLE try_groups(scan *s, int64_t steps, int64_t most,
                                           uint8_t kind) {
  modulus m = {s->loop->var, 0};
  tvms_visitor visitor = {.self = &m, .enter = find_modulus};
  tvms_walk(&s->unit->context->memory, s->loop->body, &visitor);
  s->size = m.size > 0 ? m.size : steps;
  if (s->size < LEAST_LANES || steps % s->size) return NULL;
  bool several = s->size < steps;
  if (several) s->group = tvms_cpu_variable(s->unit, "g", s->loop->var);
  tvms_node *body = in_pieces(s, most, several ? TVMS_FOR_SERIAL : kind);
  if (!body || !several) return body;
  tvms_node *extent =
      tvms_int_imm_new(s->unit, s->group->dtype, steps / s->size, TVMS_NO_SPAN);
  return tvms_cpu_loop(s->unit, s->group, extent, kind, body);
}

typedef struct {
  const tvms_target *target;
  uint32_t loops;  // around
} reached;

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  (void)node;
  ((reached *)r->self)->loops++;
  return TVMS_REWRITE_BELOW;
}

// All steps in vectors of one size, the largest one that divides them, of at least so many lanes.
static tvms_node *TVMS_NULLABLE try_alike(scan *s, int64_t steps, int64_t least,
                                          int64_t tasks, uint8_t kind) {
  int64_t one = s->target->vector_bits / 8 / s->bytes;
  s->group = NULL;
  s->first = 0;
  s->size = 0;
  for (s->lanes = MOST_VECTORS * one; s->lanes >= least; s->lanes /= 2) {
    if (s->lanes > one && steps / s->lanes < tasks) continue;
    tvms_node *made = steps % s->lanes == 0 ? try_lanes(s, steps, kind) : NULL;
    if (made) return made;
  }
  return NULL;
}

static tvms_node *change_loop(tvms_rewriter *r, tvms_node *node) {
  reached *at = r->self;
  const tvms_for *loop = tvms_as_for(node);
  scan s = {.unit = r->unit, .target = at->target, .loop = loop};
  bool within = --at->loops > 0;
  bool fits = loop->for_kind == TVMS_FOR_PARALLEL && !loop->step && !loop->annotations
              && tvms_node_is_int(loop->min, 0) && tvms_node_is_int_imm(loop->extent);
  if (!fits || !is_plain(&s, loop->body) || !s.bytes || !(s.loops || within))
    return node;
  bool threads = stores_of(node) >= WORTH_THREADS;
  uint8_t kind = threads ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  int64_t steps = tvms_as_int_imm(loop->extent)->value;
  int64_t one = s.target->vector_bits / 8 / s.bytes,
          tasks = threads ? TASKS_OF_CORE * (s.target->cores ? s.target->cores : 1) : 1;
  tvms_node *made =
      try_alike(&s, steps, one < LEAST_LANES ? LEAST_LANES : one, tasks, kind);
  // Parts of a vector go through all lines as often as there are parts, so they are for what whole ones leave over. A processor
  // without vectors takes one step after the other.
  if (!made && one) made = try_groups(&s, steps, MOST_VECTORS * one, kind);
  if (!made) made = try_alike(&s, steps, LEAST_LANES, tasks, kind);
  if (made) return made;
  if (threads) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_for(copy)->for_kind = kind;
  return copy;
}

tvms_node *tvms_cpu_scans_in_lanes(tvms_unit *unit, const tvms_target *target,
                                   tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &(reached){target, 0});
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.leave[TVMS_NODE_FOR] = change_loop;
  tvms_node *made = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return made;
}
