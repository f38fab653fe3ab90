// SettleLoopKinds: marked loops that cannot be what they are marked as become serial ones.
//
// Before: for i in T.vectorized(40): A[i] = 0.0
// After:  for i in T.unroll(2): for i_1 in T.vectorized(16): A[i * 16 + i_1] = 0.0
//         for i in T.vectorized(8): A[i + 32] = 0.0
//
// T.vectorized stays where the steps may be taken at once, statement by statement, and have
// the same result: their number is known, no step touches what another one writes, nothing
// but loops, branches and stores is inside, and what divides by a number that is not known is the same in all
// steps, each of them one store. It is cut into vectors of 64 bytes, but for numbers
// of lanes that LLVM cuts well itself. T.unroll stays unless it would make thousands of
// statements. TVM has no such pass.
#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/functions.h"

enum {
  VECTOR_BYTES = 64,
  WHOLE_VECTORS = 4,      // so many registers at most are left to LLVM
  MOST_UNROLLED = 8,      // vectors of one loop that are written out
  MOST_STATEMENTS = 4096  // of an unrolled loop
};

typedef struct {
  tvms_unit *unit;
  int64_t statements;       // of the body at hand, as if written out
  TVMS_VEC(int64_t) outer;  // the same of the loops around it
} settling;

// ---- May the steps be taken at once? ----

typedef struct {
  const tvms_node *buffer;
  tvms_list indices;
  bool stores;
} touch;

typedef struct {
  tvms_unit *unit;
  const tvms_for *loop;
  TVMS_VEC(touch) touches;
  bool binds;     // a variable is bound inside
  bool branches;  // a condition or a call is inside
  bool divides;   // a quotient that all steps have may be one by 0
  bool chooses;   // something is computed in some steps only, or more than once
  uint32_t stores;
  uint32_t bytes;  // of the widest element
} inside;

// A search for a load where an expression computes it in any case.
typedef struct {
  tvms_unit *unit;
  const tvms_node *wanted;
  bool found;
} load_search;

static bool is_load_always(load_search *s, tvms_node *node);

static tvms_walk_step find_always(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_search *s = self;
  bool both = node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR;
  tvms_node *first = both ? tvms_as_binary(node)->a : NULL;
  if (tvms_call_opcode(node) == TVMS_TIR_if_then_else)
    first = tvms_as_call(node)->args.items[0];
  if (first) {
    s->found = is_load_always(s, first);
    return s->found ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
  }
  s->found = node->kind == TVMS_NODE_BUFFER_LOAD
             && tvms_node_equal(s->unit->context, node, s->wanted);
  return s->found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_load_always(load_search *s, tvms_node *node) {
  tvms_visitor visitor = {.self = s, .enter = find_always};
  tvms_walk(&s->unit->context->memory, node, &visitor);
  return s->found;
}

typedef struct {
  tvms_unit *unit;
  tvms_node *before;  // what is computed before
} guarded_loads;

static tvms_walk_step check_guarded(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const guarded_loads *g = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  load_search s = {g->unit, node, false};
  return is_load_always(&s, g->before) ? TVMS_WALK_SKIP : TVMS_WALK_STOP;
}

static tvms_walk_step find_var(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  return node == self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// May the second operand of `and` and `or` be computed in any case? It loads nothing that the first one does not
// load.
static bool guards_no_load(const inside *in, const tvms_binary *both) {
  guarded_loads g = {in->unit, both->a};
  tvms_visitor visitor = {.self = &g, .enter = check_guarded};
  return tvms_walk(&in->unit->context->memory, both->b, &visitor);
}

static bool mentions(const inside *in, tvms_node *node, tvms_node *var) {
  tvms_visitor visitor = {.self = var, .enter = find_var};
  return !tvms_walk(&in->unit->context->memory, node, &visitor);
}

static void add_touch(inside *in, const tvms_node *buffer, tvms_list indices,
                      bool stores) {
  tvms_dtype element = tvms_as_buffer(buffer)->element;
  uint32_t bytes = (element.bits + 7u) / 8;
  // Narrow floats are computed in single precision.
  if (tvms_dtype_is_real(element) && bytes < 4) bytes = 4;
  if (bytes > in->bytes) in->bytes = bytes;
  tvms_vec_push(&in->unit->context->memory, &in->touches,
                ((touch){buffer, indices, stores}));
}

static bool allows_call(const tvms_node *node) {
  tvms_tir_opcode op = tvms_call_opcode(node);
  if (op == TVMS_TIR_NONE) return false;
  return op == TVMS_TIR_if_then_else
         || tvms_tir_op_row_of(op)->effect == TVMS_EFFECT_PURE;
}

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool loads(const inside *in, tvms_node *node) {
  tvms_visitor visitor = {.enter = find_load};
  return !tvms_walk(&in->unit->context->memory, node, &visitor);
}

// What is the same in each step fails in the first one.
static bool allows_division(inside *in, tvms_node *node) {
  const tvms_node *by = tvms_as_binary(node)->b;
  if (tvms_dtype_is_real(node->dtype)
      || (tvms_node_is_int_imm(by) && tvms_as_int_imm(by)->value != 0))
    return true;
  in->divides = true;
  return !mentions(in, node, in->loop->var) && !loads(in, node);
}

// Is this expression one whose vector means the same as its steps?
static bool allows_expr(inside *in, tvms_node *node) {
  if (!tvms_dtype_is_scalar(node->dtype)) return false;
  if (node->kind >= TVMS_NODE_DIV && node->kind <= TVMS_NODE_FLOOR_MOD)
    return allows_division(in, node);
  switch ((int)node->kind) {
  case TVMS_NODE_AND:
  case TVMS_NODE_OR:
    in->chooses = true;
    return guards_no_load(in, tvms_as_binary(node));
  case TVMS_NODE_SELECT: in->chooses = true; return true;
  case TVMS_NODE_LET: in->binds = true; return true;
  case TVMS_NODE_CALL: in->branches = true; return allows_call(node);
  case TVMS_NODE_BUFFER_LOAD: {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    add_touch(in, load->buffer, load->indices, false);
    return !load->predicate;
  }
  default: return true;
  }
}

static bool allows_stmt(inside *in, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: return true;
  case TVMS_NODE_BIND: in->binds = true; return true;
  case TVMS_NODE_IF_THEN_ELSE: in->branches = true; return true;
  case TVMS_NODE_FOR: {
    const tvms_for *loop = tvms_as_for(node);
    in->chooses = true;
    return loop->for_kind != TVMS_FOR_VECTORIZED && loop->for_kind != TVMS_FOR_PARALLEL
           && !mentions(in, loop->extent, in->loop->var)
           && !mentions(in, loop->min, in->loop->var);
  }
  case TVMS_NODE_STORE: {
    const tvms_store *store = tvms_as_store(node);
    in->stores++;
    add_touch(in, store->buffer, store->indices, true);
    return !store->predicate;
  }
  default: return false;
  }
}

static tvms_walk_step look_inside(void *self, tvms_node *node, tvms_field_role role) {
  inside *in = self;
  (void)role;
  tvms_node_class class = tvms_node_class_of(node);
  if (node->kind == TVMS_NODE_BUFFER || node->kind == TVMS_NODE_OPERATOR)
    return TVMS_WALK_SKIP;
  bool fine = (class != TVMS_CLASS_EXPR || allows_expr(in, node))
              && (class != TVMS_CLASS_STMT || allows_stmt(in, node));
  return fine ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// Does each step have a place of its own?
static bool is_distinct(const inside *in, tvms_list indices) {
  tvms_unit *unit = in->unit;
  tvms_node *var = in->loop->var;
  tvms_node *one = tvms_int_imm_new(unit, var->dtype, 1, TVMS_NO_SPAN);
  tvms_node *next = tvms_build_binary(unit, TVMS_NODE_ADD, var, one, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < indices.len; i++) {
    tvms_node *index = indices.items[i];
    tvms_node *moved = tvms_substitute_one(unit, index, var, next);
    tvms_node *step =
        tvms_build_binary(unit, TVMS_NODE_SUB, moved, index, TVMS_NO_SPAN);
    step = step ? tvms_arith_simplify(unit, step) : NULL;
    if (step && tvms_node_is_int_imm(step) && tvms_as_int_imm(step)->value != 0)
      return true;
  }
  return false;
}

static bool same_indices(const inside *in, const touch *a, const touch *b,
                         uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_node_equal(in->unit->context, a->indices.items[i], b->indices.items[i]))
      return false;
  }
  return true;
}

static bool same_place(const inside *in, const touch *a, const touch *b) {
  return a->buffer == b->buffer && a->indices.len == b->indices.len
         && same_indices(in, a, b, a->indices.len);
}

// How much more `a` is than `b`, if that is one number.
static bool difference(tvms_unit *unit, tvms_node *a, tvms_node *b, int64_t *value) {
  tvms_node *minus = tvms_build_binary(unit, TVMS_NODE_SUB, a, b, TVMS_NO_SPAN);
  minus = minus ? tvms_arith_simplify(unit, minus) : NULL;
  if (!minus || !tvms_node_is_int_imm(minus)) return false;
  *value = tvms_as_int_imm(minus)->value;
  return true;
}

// Are two places of a buffer so far apart that no step of one reaches any of the other's?
static bool never_meet(const inside *in, const touch *a, const touch *b) {
  uint32_t count = a->indices.len;
  if (a->buffer != b->buffer || count != b->indices.len || count == 0) return false;
  if (!tvms_node_is_int_imm(in->loop->extent)) return false;
  tvms_unit *unit = in->unit;
  tvms_node *var = in->loop->var, *last = a->indices.items[count - 1];
  tvms_node *one = tvms_int_imm_new(unit, var->dtype, 1, TVMS_NO_SPAN);
  tvms_node *next = tvms_build_binary(unit, TVMS_NODE_ADD, var, one, TVMS_NO_SPAN);
  int64_t apart, step, reach;
  if (!same_indices(in, a, b, count - 1)
      || !difference(unit, b->indices.items[count - 1], last, &apart)
      || !difference(unit, tvms_substitute_one(unit, last, var, next), last, &step)
      || __builtin_mul_overflow(tvms_as_int_imm(in->loop->extent)->value, step, &reach))
    return false;
  return step > 0 && (apart >= reach || apart <= -reach);
}

// Nothing that one step writes is touched by another one.
static bool is_independent(const inside *in) {
  for (uint32_t i = 0; i < in->touches.len; i++) {
    const touch *store = &in->touches.items[i];
    for (uint32_t j = 0; store->stores && j < in->touches.len; j++) {
      const touch *other = &in->touches.items[j];
      bool meet =
          i != j
          && tvms_as_buffer(other->buffer)->data == tvms_as_buffer(store->buffer)->data;
      if (meet && !never_meet(in, store, other)
          && (!same_place(in, store, other) || !is_distinct(in, store->indices)))
        return false;
    }
  }
  return true;
}

// Does a division that fails do so in front of the first store, in whatever order steps are taken?
static bool fails_first(const inside *in) {
  return !in->divides
         || (in->stores == 1 && !in->branches && !in->binds && !in->chooses);
}

// The number of lanes that the elements of a loop fill a register with; 0: its steps cannot
// be taken at once.
static int64_t lanes_of(tvms_unit *unit, const tvms_for *loop) {
  inside in = {.unit = unit, .loop = loop, .bytes = 1};
  tvms_visitor visitor = {.self = &in, .enter = look_inside};
  bool fine = tvms_walk(&unit->context->memory, loop->body, &visitor)
              && !(in.binds && in.branches) && fails_first(&in) && is_independent(&in);
  tvms_vec_fini(&unit->context->memory, &in.touches);
  return fine ? VECTOR_BYTES / in.bytes : 0;
}

// ---- Cutting ----

// The steps from `first` on, `lanes` at once.
static tvms_node *vector_of(settling *s, const tvms_for *loop, tvms_node *first,
                            int64_t lanes, bool copies) {
  tvms_unit *unit = s->unit;
  tvms_sym name = tvms_as_var(loop->var)->name;
  tvms_node *var = tvms_var_new(unit, name, loop->var->dtype, loop->var->span);
  tvms_node *body = copies ? tvms_stmt_copy(unit, loop->body) : loop->body;
  tvms_node *at = lanes > 1
                      ? tvms_build_binary(unit, TVMS_NODE_ADD, first, var, TVMS_NO_SPAN)
                      : first;
  body = tvms_substitute_one(unit, body, loop->var, at);
  if (lanes == 1) return body;
  return tvms_stmt_loop_like(unit, loop, var, TVMS_FOR_VECTORIZED, lanes, body);
}

static tvms_node *cut(settling *s, const tvms_for *loop, int64_t extent,
                      int64_t lanes) {
  tvms_unit *unit = s->unit;
  tvms_dtype dtype = loop->var->dtype;
  int64_t count = extent / lanes, rest = extent % lanes;
  tvms_sym name = tvms_as_var(loop->var)->name;
  tvms_node *outer = tvms_var_new(unit, name, dtype, loop->var->span);
  tvms_node *width = tvms_int_imm_new(unit, dtype, lanes, TVMS_NO_SPAN);
  tvms_node *first = tvms_build_binary(unit, TVMS_NODE_MUL, outer, width, TVMS_NO_SPAN);
  tvms_node *vectors = vector_of(s, loop, first, lanes, false);
  bool written_out = count <= MOST_UNROLLED;
  tvms_node *made = tvms_stmt_loop_like(
      unit, loop, outer, written_out ? TVMS_FOR_UNROLLED : TVMS_FOR_SERIAL, count,
      vectors);
  if (!rest) return made;
  tvms_node *begin = tvms_int_imm_new(unit, dtype, count * lanes, TVMS_NO_SPAN);
  return tvms_stmt_pair(unit, made, vector_of(s, loop, begin, rest, true));
}

static tvms_node *with_kind(tvms_unit *unit, tvms_node *node, tvms_for_kind kind) {
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_as_for(copy)->for_kind = kind;
  return copy;
}

static tvms_node *settle_vector(settling *s, tvms_node *node, int64_t extent) {
  const tvms_for *loop = tvms_as_for(node);
  bool countable = extent > 1 && tvms_node_is_int(loop->min, 0) && !loop->step;
  int64_t lanes = countable ? lanes_of(s->unit, loop) : 0;
  if (!lanes) return with_kind(s->unit, node, TVMS_FOR_SERIAL);
  bool power = (extent & (extent - 1)) == 0;
  if (extent <= lanes || (power && extent <= lanes * WHOLE_VECTORS)) return node;
  return cut(s, loop, extent, lanes);
}

// ---- Loops ----

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  settling *s = r->self;
  (void)node;
  tvms_vec_push(&r->unit->context->memory, &s->outer, s->statements);
  s->statements = 0;
  return TVMS_REWRITE_BELOW;
}

static tvms_node *settle(settling *s, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  bool known = tvms_node_is_int_imm(loop->extent);
  int64_t extent = known ? tvms_as_int_imm(loop->extent)->value : -1;
  if (loop->for_kind == TVMS_FOR_VECTORIZED) return settle_vector(s, node, extent);
  if (loop->for_kind != TVMS_FOR_UNROLLED) return node;
  if (extent < 0 || extent > MOST_STATEMENTS
      || extent * s->statements > MOST_STATEMENTS)
    return with_kind(s->unit, node, TVMS_FOR_SERIAL);
  s->statements *= extent;
  return node;
}

static tvms_node *leave_loop(tvms_rewriter *r, tvms_node *node) {
  settling *s = r->self;
  tvms_node *made = settle(s, node);
  s->statements += s->outer.items[--s->outer.len];
  return made;
}

static tvms_node *count_statement(tvms_rewriter *r, tvms_node *node) {
  settling *s = r->self;
  s->statements++;
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  settling s = {.unit = unit};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.leave[TVMS_NODE_FOR] = leave_loop;
  r.leave[TVMS_NODE_STORE] = count_statement;
  r.leave[TVMS_NODE_EVALUATE] = count_statement;
  r.leave[TVMS_NODE_BIND] = count_statement;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(&run->context->memory, &s.outer);
  return changed;
}

void tvms_pass_settle_loop_kinds(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
