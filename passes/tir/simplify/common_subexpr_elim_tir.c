// CommonSubexprElimTIR: what is computed several times is computed once, as TVM did up to 0.23.
//
// Before: A[i * 4 + j] = 0.0; B[i * 4 + j] = 1.0
// After:  cse_v1 = i * 4 + j; A[cse_v1] = 0.0; B[cse_v1] = 1.0
//
// From the outermost statement inwards, and from the largest computation to the smallest: one that
// stands there twice, of variables that are known there, is bound around the statement; of any other
// its parts are looked at. A computation that a binding around has already takes its variable.
// Then the same is done for the parts of the statement. What loads or calls is never bound, sizes
// of buffers count as unknown. With identify_equiv_terms computations are the same that simplify to
// the same. Later releases choose otherwise (CommonSubexprElim). TVM: tir.transform.CommonSubexprElimTIR.
#include "ir/build.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/simplify/computations.h"

#include <stdio.h>

// A variable that is known where the elimination is, and what it was bound to.
typedef struct {
  tvms_node *var;
  tvms_node *TVMS_NULLABLE value;
} knowledge;

typedef struct {
  tvms_value_finder finder;
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_node *body;  // as it was: names in it are taken
  uint32_t names;
  TVMS_VEC(knowledge) known;
  tvms_rewriter rewriter;  // for parts
} elimination;

static tvms_node *visit(elimination *e, tvms_node *node);

// ---- Variables ----

static void learn(elimination *e, tvms_node *var, tvms_node *TVMS_NULLABLE value) {
  knowledge k = {var, value};
  tvms_vec_push(e->memory, &e->known, k);
}

static bool is_known(const elimination *e, const tvms_node *var) {
  for (uint32_t i = 0; i < e->known.len; i++) {
    if (e->known.items[i].var == var) return true;
  }
  return false;
}

// The search for a variable that is not known, inside of a computation.
typedef struct {
  const elimination *e;
  tvms_node_map bound;  // inside
} unknown_search;

static tvms_walk_step find_unknown(void *self, tvms_node *node, tvms_field_role role) {
  unknown_search *s = self;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  if (role == TVMS_ROLE_DEFINE) {
    tvms_node_map_put(&s->bound, node, node);
    return TVMS_WALK_ON;
  }
  bool known = tvms_node_map_get(&s->bound, node) || is_known(s->e, node);
  return known ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

static bool can_be_computed(const elimination *e, tvms_node *expr) {
  unknown_search s = {.e = e};
  tvms_node_map_init(&s.bound, e->memory);
  tvms_visitor visitor = {.self = &s, .enter = find_unknown};
  bool known = tvms_walk(e->memory, expr, &visitor);
  tvms_node_map_fini(&s.bound);
  return known;
}

static tvms_walk_step find_name(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_sym *name = self;
  bool same = node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE
              && tvms_as_var(node)->name == *name;
  return same ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static tvms_node *fresh_variable(elimination *e, tvms_dtype dtype) {
  tvms_sym sym;
  tvms_visitor visitor = {.self = &sym, .enter = find_name};
  do {
    char name[24];
    int len = snprintf(name, sizeof name, "cse_v%u", ++e->names);
    sym = tvms_symbol_intern(e->unit->context, name, (size_t)len);
  } while (!tvms_walk(e->memory, e->body, &visitor));
  return tvms_var_new(e->unit, sym, dtype, TVMS_NO_SPAN);
}

// ---- Replacing ----

typedef struct {
  const tvms_value_finder *finder;
  tvms_node *expr;
  tvms_node *var;
} replacement;

static tvms_node *replace_same(tvms_rewriter *r, tvms_node *node) {
  const replacement *p = r->self;
  bool computed = r->role == TVMS_ROLE_USE || r->role == TVMS_ROLE_ACCESS;
  if (node->kind == TVMS_NODE_VAR || !computed) return TVMS_REWRITE_BELOW;
  bool comparable = p->finder->analyzer || node->kind == p->expr->kind;
  bool same = comparable && tvms_value_may_be_bound(p->finder, node)
              && tvms_value_is_same(p->finder, node, p->expr);
  return same ? p->var : TVMS_REWRITE_BELOW;
}

static tvms_node *replace(elimination *e, tvms_node *node, tvms_node *expr,
                          tvms_node *var) {
  replacement p = {&e->finder, expr, var};
  tvms_rewriter r;
  tvms_rewriter_init(&r, e->unit, &p);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(ACCESS);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, replace_same);
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return made;
}

static tvms_node *bind_around(elimination *e, tvms_node *var, tvms_node *value,
                              tvms_node *node) {
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR)
    return tvms_let_new(e->unit, var, value, node, node->span);
  tvms_bind *bind = tvms_node_make(e->unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = value;
  tvms_node_vec stmts = {0};
  tvms_vec_push(e->memory, &stmts, &bind->head);
  tvms_stmt_push_last(e->memory, &stmts, node);
  return tvms_stmt_seq(e->unit, &stmts, node->span);
}

static tvms_node *TVMS_NULLABLE known_as(const elimination *e, tvms_node *expr) {
  for (uint32_t i = 0; i < e->known.len; i++) {
    const knowledge *k = &e->known.items[i];
    if (k->value && tvms_value_is_same(&e->finder, k->value, expr)) return k->var;
  }
  return NULL;
}

// `node` with a binding of `expr` around it, or as it is if nothing could be replaced.
static tvms_node *bind_new(elimination *e, tvms_node *node, tvms_node *expr) {
  tvms_node *var = fresh_variable(e, expr->dtype);
  tvms_node *replaced = replace(e, node, expr, var);
  return replaced == node ? node : bind_around(e, var, expr, replaced);
}

// Binds what a statement or an expression computes twice; *bound if something was.
static tvms_node *eliminate(elimination *e, tvms_node *node, bool *bound) {
  tvms_value_computations all = {0};
  tvms_value_computations_of(&e->finder, node, &all);
  for (uint32_t i = 0; i < all.len; i++) {
    tvms_value_computation c = all.items[i];
    tvms_node *var = known_as(e, c.expr), *before = node;
    if (var) {
      node = replace(e, node, c.expr, var);
    } else if (c.count >= 2 && can_be_computed(e, c.expr)) {
      node = bind_new(e, node, c.expr);
      *bound |= node != before;
    } else {
      tvms_value_computations_add_parts(&e->finder, &all, c.expr);
    }
  }
  tvms_vec_fini(e->memory, &all);
  return node;
}

// ---- Parts ----

static tvms_node *visit_part(tvms_rewriter *r, tvms_node *node) {
  bool part = r->role == TVMS_ROLE_USE || r->role == TVMS_ROLE_BODY
              || r->role == TVMS_ROLE_ACCESS;
  return part ? visit(r->self, node) : node;
}

static tvms_node *keep(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  return node;
}

static tvms_node *visit_let(elimination *e, tvms_node *node) {
  tvms_let now = *tvms_as_let(node);
  uint32_t known = e->known.len;
  now.value = visit(e, now.value);
  learn(e, now.var, tvms_as_let(node)->value);
  now.body = visit(e, now.body);
  e->known.len = known;
  return tvms_node_copy_changed(e->unit, node, &now.head);
}

static tvms_node *visit_for(elimination *e, tvms_node *node) {
  tvms_for now = *tvms_as_for(node);
  uint32_t known = e->known.len;
  now.min = visit(e, now.min);
  now.extent = visit(e, now.extent);
  learn(e, now.var, NULL);
  now.body = visit(e, now.body);
  e->known.len = known;
  return tvms_node_copy_changed(e->unit, node, &now.head);
}

static tvms_node *rest_of(elimination *e, tvms_list stmts, uint32_t from) {
  return from + 1 == stmts.len ? stmts.items[from]
                               : tvms_seq_new(e->unit, stmts.items + from,
                                              stmts.len - from, TVMS_NO_SPAN);
}

// A statement that holds what is behind it.
static tvms_node *visit_holder(elimination *e, tvms_list stmts) {
  tvms_node *holder = stmts.items[0];
  uint32_t known = e->known.len;
  tvms_node_vec made = {0};
  tvms_vec_push(e->memory, &made, tvms_rewrite_below(&e->rewriter, holder));
  if (holder->kind == TVMS_NODE_BIND)
    learn(e, tvms_as_bind(holder)->var, tvms_as_bind(holder)->value);
  tvms_stmt_push_last(e->memory, &made, visit(e, rest_of(e, stmts, 1)));
  e->known.len = known;
  return tvms_stmt_seq(e->unit, &made, TVMS_NO_SPAN);
}

static tvms_node *visit_seq(elimination *e, tvms_node *node) {
  tvms_list stmts = tvms_as_seq(node)->stmts;
  tvms_dialect dialect = e->unit->dialect;
  if (tvms_stmt_holds_body(stmts.items[0], dialect)) return visit_holder(e, stmts);
  tvms_node_vec made = {0};
  bool same = true;
  for (uint32_t i = 0; i < stmts.len; i++) {
    bool last = i + 1 == stmts.len;
    bool holds = !last && tvms_stmt_holds_body(stmts.items[i], dialect);
    tvms_node *part = visit(e, holds ? rest_of(e, stmts, i) : stmts.items[i]);
    same = same && part == stmts.items[i];
    if (same)
      tvms_vec_push(e->memory, &made, part);
    else if (holds || last)
      tvms_stmt_push_last(e->memory, &made, part);
    else
      tvms_stmt_push(e->unit, &made, part);
    if (holds) break;
  }
  if (!same) return tvms_stmt_seq(e->unit, &made, node->span);
  tvms_vec_fini(e->memory, &made);
  return node;
}

static tvms_node *visit_parts(elimination *e, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_LET: return visit_let(e, node);
  case TVMS_NODE_FOR: return visit_for(e, node);
  case TVMS_NODE_SEQ: return visit_seq(e, node);
  default: return tvms_rewrite_below(&e->rewriter, node);
  }
}

// Once something was bound, the statement is looked at again.
static tvms_node *visit(elimination *e, tvms_node *node) {
  if (!tvms_memory_enter(e->memory)) tvms_memory_unwind(e->memory, TVMS_OVER_LIMIT);
  bool again = true;
  while (again) {
    bool bound = false;
    node = eliminate(e, node, &bound);
    again = bound && tvms_node_class_of(node) == TVMS_CLASS_STMT;
  }
  node = visit_parts(e, node);
  tvms_memory_leave(e->memory);
  return node;
}

// ---- Functions ----

static void set_hooks(elimination *e) {
  tvms_rewriter *r = &e->rewriter;
  tvms_rewriter_init(r, e->unit, e);
  r->roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(ACCESS);
  tvms_rewriter_enter_class(r, TVMS_CLASS_EXPR, visit_part);
  tvms_rewriter_enter_class(r, TVMS_CLASS_STMT, visit_part);
  r->enter[TVMS_NODE_BUFFER] = keep;
  r->enter[TVMS_NODE_ITER_VAR] = keep;
  r->enter[TVMS_NODE_VAR] = keep;
  r->enter[TVMS_NODE_OPERATOR] = keep;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  elimination e = {.unit = unit,
                   .memory = &unit->context->memory,
                   .body = tvms_as_prim_func(function)->body};
  e.finder = (tvms_value_finder){.unit = unit, .memory = e.memory};
  bool equivalent =
      TVMS_OPTION(run, CommonSubexprElimTIR, identify_equiv_terms).number != 0;
  if (equivalent) e.finder.analyzer = tvms_analyzer_new(unit);
  set_hooks(&e);
  tvms_list params = tvms_as_prim_func(function)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    learn(&e, params.items[i], NULL);
  }
  tvms_node *body = visit(&e, e.body);
  tvms_vec_fini(e.memory, &e.known);
  tvms_rewriter_fini(&e.rewriter);
  if (equivalent) tvms_analyzer_free(e.finder.analyzer);
  if (body == e.body) return function;
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_as_prim_func(copy)->body = body;
  return copy;
}

void tvms_pass_common_subexpr_elim_tir(tvms_pass_run *run) {
  if (!TVMS_OPTION(run, CommonSubexprElimTIR, enable_cse_tir).number) return;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
