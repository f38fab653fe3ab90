// Which statements hold a body, and sequences of statements.
//
// Up to TVM 0.23 every definition does: `LetStmt(var, value, body)`, and so do allocations,
// declarations and assertions. Later they stand in a row, allocations of pointers and
// realizations are gone, and only an attribute is left with a body. tvms has them all in a row
// (docs/architecture.md, "Statements"); where a release gives one a body, the reader ends its
// scope with it and the printer chooses between `with` and flat text. Both ask here.
#include "ir/stmt.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

// By kind: no body; one up to 0.23, later a row; a body wherever the statement exists.
typedef enum {
  BODY_NEVER,
  BODY_ONCE,
  BODY_ALWAYS,
} body_rule;

static body_rule rule_of(const tvms_node *stmt) {
  switch (stmt->kind) {
  case TVMS_NODE_ATTR_STMT:
  case TVMS_NODE_ALLOCATE:
  case TVMS_NODE_ALLOCATE_CONST:
  case TVMS_NODE_BUFFER_REALIZE: return BODY_ALWAYS;
  case TVMS_NODE_BIND:
  case TVMS_NODE_ASSERT:
  case TVMS_NODE_ALLOC_BUFFER:
  case TVMS_NODE_DECL_BUFFER: return BODY_ONCE;
  default: return BODY_NEVER;
  }
}

bool tvms_stmt_holds_body(const tvms_node *stmt, tvms_dialect dialect) {
  if (stmt->kind == TVMS_NODE_ATTR_STMT) return true;
  return rule_of(stmt) != BODY_NEVER
         && tvms_release_has(dialect, TVMS_FACT_definitions_hold_bodies);
}

bool tvms_stmt_always_holds_body(const tvms_node *stmt) {
  return rule_of(stmt) == BODY_ALWAYS;
}

// ---- Sequences ----

void tvms_stmt_push_last(tvms_memory *memory, tvms_node_vec *stmts, tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_SEQ) {
    tvms_vec_push(memory, stmts, stmt);
    return;
  }
  tvms_list inner = tvms_as_seq(stmt)->stmts;
  for (uint32_t i = 0; i < inner.len; i++)
    tvms_vec_push(memory, stmts, inner.items[i]);
}

void tvms_stmt_push(tvms_unit *unit, tvms_node_vec *stmts, tvms_node *stmt) {
  tvms_memory *memory = &unit->context->memory;
  if (stmt->kind == TVMS_NODE_SEQ) {
    tvms_list inner = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < inner.len; i++) {
      if (!tvms_stmt_always_holds_body(inner.items[i])
          && !tvms_stmt_holds_body(inner.items[i], unit->dialect))
        continue;
      tvms_vec_push(memory, stmts, stmt);
      return;
    }
  }
  tvms_stmt_push_last(memory, stmts, stmt);
}

tvms_node *tvms_stmt_seq(tvms_unit *unit, tvms_node_vec *stmts, tvms_span span) {
  tvms_node *result;
  if (stmts->len == 0) {
    result = tvms_stmt_none(unit, span);
  } else if (stmts->len == 1) {
    result = stmts->items[0];
  } else {
    result = tvms_seq_new(unit, stmts->items, stmts->len, span);
  }
  tvms_vec_fini(&unit->context->memory, stmts);
  return result;
}

tvms_node *tvms_stmt_pair(tvms_unit *unit, tvms_node *first, tvms_node *second) {
  tvms_node_vec stmts = {0};
  // An attribute that comes first takes in what follows.
  if (tvms_stmt_always_holds_body(first)) {
    tvms_vec_push(&unit->context->memory, &stmts, first);
  } else {
    tvms_stmt_push(unit, &stmts, first);
  }
  tvms_stmt_push_last(&unit->context->memory, &stmts, second);
  return tvms_stmt_seq(unit, &stmts, first->span);
}

tvms_node *tvms_stmt_none(tvms_unit *unit, tvms_span span) {
  return tvms_evaluate_new(unit, tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, span),
                           span);
}

tvms_node *tvms_stmt_return(tvms_unit *unit, tvms_node *value, tvms_span span) {
  if (!tvms_release_has(unit->dialect, TVMS_FACT_returns_are_statements)) {
    tvms_node *call =
        tvms_call_new_of(unit, value->dtype, TVMS_TIR_ret, &value, 1, span);
    return tvms_evaluate_new(unit, call, span);
  }
  tvms_return *made = tvms_node_make(unit, RETURN, span);
  made->value = value;
  return &made->head;
}

bool tvms_stmt_is_plain_load(const tvms_unit *unit, const tvms_node *value) {
  if (value->kind != TVMS_NODE_BUFFER_LOAD) return false;
  return !tvms_as_buffer_load(value)->predicate
         || !tvms_release_has(unit->dialect, TVMS_FACT_masked_access_is_intrinsic);
}

bool tvms_stmt_is_none(const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_EVALUATE
         && tvms_node_is_int_imm(tvms_as_evaluate(stmt)->value);
}

// How much there was when the walk came to an expression.
typedef struct {
  uint32_t own;
  uint32_t shared;
} expr_mark;

typedef struct {
  tvms_memory *memory;
  tvms_node_map defined;  // inside
  tvms_node_map seen;     // from outside
  tvms_node_vec outer;    // the same
  const tvms_node *TVMS_NULLABLE
      var;  // that each copy has another value of; NULL: no expression is shared
  tvms_node_vec shared;      // the largest expressions that are the same in all copies
  uint32_t own;              // nodes so far that are not
  TVMS_VEC(expr_mark) open;  // expressions around
} freshness;

static void add_outer(freshness *f, tvms_node *node) {
  tvms_node_map_put(&f->seen, node, node);
  tvms_vec_push(f->memory, &f->outer, node);
}

static bool may_be_shared(const freshness *f, const tvms_node *node) {
  return f->var && node->kind != TVMS_NODE_VAR
         && tvms_node_class_of(node) == TVMS_CLASS_EXPR;
}

static tvms_walk_step find_outer(void *self, tvms_node *node, tvms_field_role role) {
  freshness *f = self;
  // Several launches share an axis of threads: it belongs to the environment.
  const tvms_iter_var *threads = tvms_attr_stmt_threads(node);
  if (threads && !tvms_node_map_get(&f->seen, threads->var)) add_outer(f, threads->var);
  if (may_be_shared(f, node)) {
    expr_mark mark = {f->own, f->shared.len};
    tvms_vec_push(f->memory, &f->open, mark);
  }
  if (node->kind != TVMS_NODE_VAR && node->kind != TVMS_NODE_BUFFER)
    return TVMS_WALK_ON;
  if (role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC) {
    tvms_node_map_put(&f->defined, node, node);
    f->own++;
    return TVMS_WALK_ON;
  }
  // What T.allocate makes belongs to each copy, and so does a buffer over it that nothing declares.
  if (node->kind == TVMS_NODE_BUFFER
      && tvms_node_map_get(&f->defined, tvms_as_buffer(node)->data))
    tvms_node_map_put(&f->defined, node, node);
  bool defined = tvms_node_map_get(&f->defined, node) != NULL;
  f->own += defined || node == f->var;
  if (!defined && !tvms_node_map_get(&f->seen, node)) add_outer(f, node);
  return TVMS_WALK_SKIP;
}

static void find_shared(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  freshness *f = self;
  if (!may_be_shared(f, node)) return;
  expr_mark before = f->open.items[--f->open.len];
  if (f->own != before.own) return;
  f->shared.len = before.shared;
  tvms_vec_push(f->memory, &f->shared, node);
}

static void look_at(freshness *f, tvms_memory *memory, tvms_node *stmt,
                    const tvms_node *TVMS_NULLABLE var) {
  *f = (freshness){.memory = memory, .var = var};
  tvms_node_map_init(&f->defined, memory);
  tvms_node_map_init(&f->seen, memory);
  tvms_visitor visitor = {.self = f, .enter = find_outer, .leave = find_shared};
  tvms_walk(memory, stmt, &visitor);
}

static void forget(freshness *f) {
  tvms_node_map_fini(&f->defined);
  tvms_node_map_fini(&f->seen);
  tvms_vec_fini(f->memory, &f->outer);
  tvms_vec_fini(f->memory, &f->shared);
  tvms_vec_fini(f->memory, &f->open);
}

// A copy with `value` in the place of the variable, if there is one.
static tvms_node *copy_with(tvms_unit *unit, const freshness *f, const tvms_node *stmt,
                            tvms_node *TVMS_NULLABLE value) {
  tvms_node_map known;
  tvms_node_map_init(&known, f->memory);
  for (uint32_t i = 0; i < f->outer.len; i++) {
    tvms_node *node = f->outer.items[i];
    tvms_node_map_put(&known, node, node == f->var ? value : node);
  }
  for (uint32_t i = 0; i < f->shared.len; i++)
    tvms_node_map_put(&known, f->shared.items[i], f->shared.items[i]);
  tvms_node *copy = tvms_clone(unit, stmt, &known);
  tvms_node_map_fini(&known);
  return copy;
}

tvms_node *tvms_stmt_copy(tvms_unit *unit, tvms_node *stmt) {
  freshness f;
  look_at(&f, &unit->context->memory, stmt, NULL);
  tvms_node *copy = copy_with(unit, &f, stmt, NULL);
  forget(&f);
  return copy;
}

void tvms_stmt_copies(tvms_unit *unit, tvms_node *stmt, const tvms_node *var,
                      tvms_node *const *values, uint32_t count, tvms_node **copies) {
  freshness f;
  look_at(&f, &unit->context->memory, stmt, var);
  for (uint32_t i = 0; i < count; i++)
    copies[i] = copy_with(unit, &f, stmt, values[i]);
  forget(&f);
}

// ---- Loops ----

tvms_node *tvms_stmt_loop_like(tvms_unit *unit, const tvms_for *like, tvms_node *var,
                               uint8_t kind, int64_t extent, tvms_node *body) {
  tvms_node *copy = tvms_node_copy(unit, &like->head);
  tvms_for *loop = tvms_as_for(copy);
  loop->var = var;
  loop->for_kind = kind;
  loop->extent = tvms_int_imm_new(unit, var->dtype, extent, TVMS_NO_SPAN);
  loop->body = body;
  return copy;
}

static tvms_walk_step see_jump(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind == TVMS_NODE_FOR || node->kind == TVMS_NODE_WHILE)
    return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_EVALUATE)
    return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  tvms_tir_opcode op = tvms_call_opcode(tvms_as_evaluate(node)->value);
  bool jumps = op == TVMS_TIR_break_loop || op == TVMS_TIR_continue_loop;
  return jumps ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
}

bool tvms_stmt_jumps(tvms_memory *memory, tvms_node *body) {
  tvms_visitor visitor = {.enter = see_jump};
  return !tvms_walk(memory, body, &visitor);
}
