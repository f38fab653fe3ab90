// CommonSubexprElim: what is computed several times is computed once.
//
// Before: A[i * 4 + j] = 0.0; B[i * 4 + j] = 1.0
// After:  cse_v1 = i * 4 + j; A[cse_v1] = 0.0; B[cse_v1] = 1.0
//
// Arithmetic counts that neither loads nor calls; conditions stay where they are read. The
// binding stands in front of the first use, or in front of the statement that holds all of
// them. Parts of an expression that is bound itself count only where they are used without
// it. TVM: tirx.transform.CommonSubexprElim of 0.24 and later; CommonSubexprElimTIR up to
// 0.23 chose otherwise.
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/simplify/value_numbers.h"

#include <stdio.h>
#include <string.h>

// Statements nest: the body of a loop, a case of a branch, what follows an attribute.
typedef struct {
  uint32_t parent, depth;
  const tvms_node *TVMS_NULLABLE creator;
} scope;

// What is known of one value (tvms_value_numbers), by its number.
typedef struct {
  uint32_t count;     // uses; 0: not one that may be bound
  uint32_t depth;     // 1: none of its parts may be bound
  uint32_t consumed;  // uses as a part of something that is bound
  uint32_t common_scope, first_scope;
  const tvms_node *first_stmt;
  uint32_t parts[3];  // numbers of its operands
  uint32_t part_count;
  bool forbidden;  // loads or calls
  tvms_node *TVMS_NULLABLE var;
} candidate;

// What stands in front of a statement: values in their order.
typedef struct {
  TVMS_VEC(uint32_t) values;
  bool done;  // once already: the statement stands in several places
} insertion;

typedef struct {
  const tvms_pass_run *run;
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_value_numbers numbers;
  TVMS_VEC(candidate) candidates;
  TVMS_VEC(uint32_t) order;  // candidates as they were found
  TVMS_VEC(scope) scopes;
  uint32_t current;        // scope
  const tvms_node *stmt;   // at hand
  uint32_t lets;           // bodies of T.Let around
  uint32_t below;          // only parts of less depth are replaced; 0: all
  tvms_node_map inserted;  // statement -> insertion
  TVMS_VEC(insertion *) insertions;
} planner;

// ---- Scopes ----

static uint32_t open_scope(planner *p, const tvms_node *TVMS_NULLABLE creator) {
  uint32_t outer = p->current;
  scope inner = {outer, 0, creator};
  if (p->scopes.len) inner.depth = p->scopes.items[outer].depth + 1;
  p->current = p->scopes.len;
  tvms_vec_push(p->memory, &p->scopes, inner);
  return outer;
}

static uint32_t common_scope(const planner *p, uint32_t a, uint32_t b) {
  const scope *scopes = p->scopes.items;
  while (scopes[a].depth > scopes[b].depth)
    a = scopes[a].parent;
  while (scopes[b].depth > scopes[a].depth)
    b = scopes[b].parent;
  while (a != b) {
    a = scopes[a].parent;
    b = scopes[b].parent;
  }
  return a;
}

// ---- Expressions ----

static bool is_recorded_kind(const tvms_node *node) {
  return tvms_node_is_binary(node) || node->kind == TVMS_NODE_NOT
         || node->kind == TVMS_NODE_CAST || node->kind == TVMS_NODE_SELECT;
}

// What is the same where its operands are. Vectors of numbers are not bound themselves.
static bool is_known_by_its_parts(const tvms_node *node) {
  return is_recorded_kind(node) || node->kind == TVMS_NODE_RAMP
         || node->kind == TVMS_NODE_BROADCAST;
}

static bool is_forbidden_kind(const tvms_node *node) {
  return node->kind == TVMS_NODE_CALL || node->kind == TVMS_NODE_BUFFER_LOAD;
}

static void record(planner *p, uint32_t number) {
  candidate *entry = &p->candidates.items[number];
  if (entry->count++ > 0) {
    entry->common_scope = common_scope(p, entry->common_scope, p->current);
    return;
  }
  entry->common_scope = entry->first_scope = p->current;
  entry->first_stmt = p->stmt;
  for (uint32_t i = 0; i < entry->part_count; i++) {
    const candidate *part = &p->candidates.items[entry->parts[i]];
    if (part->count && part->depth > entry->depth) entry->depth = part->depth;
  }
  entry->depth++;
  tvms_vec_push(p->memory, &p->order, number);
}

static uint32_t plan_expr(planner *p, tvms_node *node);

static void plan_let(planner *p, const tvms_let *let) {
  plan_expr(p, let->value);
  p->lets++;
  plan_expr(p, let->body);
  p->lets--;
}

// Numbers the expression and what is below it, and counts its use.
static uint32_t plan_expr(planner *p, tvms_node *node) {
  if (!tvms_memory_enter(p->memory)) tvms_memory_unwind(p->memory, TVMS_OVER_LIMIT);
  candidate made = {.forbidden = is_forbidden_kind(node)};
  tvms_node *child;
  if (node->kind == TVMS_NODE_LET) {
    plan_let(p, tvms_as_let(node));
  } else if (node->kind != TVMS_NODE_BUFFER) {
    for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
      if (at.role != TVMS_ROLE_USE && at.role != TVMS_ROLE_DEFINE_REC) continue;
      uint32_t part = plan_expr(p, child);
      made.forbidden |= p->candidates.items[part].forbidden;
      if (made.part_count < 3) made.parts[made.part_count++] = part;
    }
  }
  uint32_t number = tvms_value_numbers_add(
      &p->numbers, node, made.parts, is_known_by_its_parts(node) ? made.part_count : 0);
  if (number == p->candidates.len) tvms_vec_push(p->memory, &p->candidates, made);
  bool eligible = is_recorded_kind(node) && !tvms_dtype_is_bool(node->dtype)
                  && !p->candidates.items[number].forbidden;
  if (eligible && p->lets == 0) record(p, number);
  tvms_memory_leave(p->memory);
  return number;
}

// ---- Statements ----

static void plan_stmt(planner *p, tvms_node *node);

// The expressions of a statement, and of a buffer that it defines.
static void plan_parts(planner *p, const tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (at.role == TVMS_ROLE_BODY) {
      plan_stmt(p, child);
    } else if (child->kind == TVMS_NODE_BUFFER) {
      bool defined = at.role == TVMS_ROLE_DEFINE;
      if (defined) plan_parts(p, child);
    } else if (tvms_node_class_of(child) == TVMS_CLASS_EXPR) {
      bool used = at.role != TVMS_ROLE_DEFINE && at.role != TVMS_ROLE_NOTE;
      if (used && child->kind != TVMS_NODE_VAR) plan_expr(p, child);
    } else if (at.role == TVMS_ROLE_ACCESS || child->kind == TVMS_NODE_RANGE
               || child->kind == TVMS_NODE_BUFFER_REGION
               || (child->kind == TVMS_NODE_ITER_VAR && node->kind == TVMS_NODE_BLOCK)
               || child->kind == TVMS_NODE_MATCH_BUFFER_REGION) {
      plan_parts(p, child);
    }
  }
}

static void plan_in_scope(planner *p, const tvms_node *creator,
                          tvms_node *TVMS_NULLABLE stmt) {
  if (!stmt) return;
  uint32_t outer = open_scope(p, creator);
  plan_stmt(p, stmt);
  p->current = outer;
}

// Up to 0.22 what a statement defines holds in its body, and an inner sequence is one.
static void plan_sequence(planner *p, tvms_list list) {
  uint32_t outer = p->current;
  bool bodies = tvms_release_has(p->unit->dialect, TVMS_FACT_definitions_hold_bodies);
  for (uint32_t i = 0; i < list.len; i++) {
    if (bodies && list.items[i]->kind == TVMS_NODE_SEQ) {
      plan_in_scope(p, list.items[i], list.items[i]);
      continue;
    }
    plan_stmt(p, list.items[i]);
    // The rest is the body of an attribute.
    if (list.items[i]->kind == TVMS_NODE_ATTR_STMT) open_scope(p, list.items[i]);
  }
  p->current = outer;
}

static void plan_stmt(planner *p, tvms_node *node) {
  if (!tvms_memory_enter(p->memory)) tvms_memory_unwind(p->memory, TVMS_OVER_LIMIT);
  if (node->kind != TVMS_NODE_BLOCK) p->stmt = node;
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: plan_sequence(p, tvms_as_seq(node)->stmts); break;
  case TVMS_NODE_FOR:
    plan_expr(p, tvms_as_for(node)->min);
    plan_expr(p, tvms_as_for(node)->extent);
    plan_in_scope(p, node, tvms_as_for(node)->body);
    break;
  case TVMS_NODE_WHILE:
    plan_expr(p, tvms_as_while(node)->condition);
    plan_in_scope(p, node, tvms_as_while(node)->body);
    break;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    plan_expr(p, branch->condition);
    plan_in_scope(p, node, branch->then_case);
    plan_in_scope(p, node, branch->else_case);
    break;
  }
  case TVMS_NODE_ATTR_STMT: plan_expr(p, tvms_as_attr_stmt(node)->value); break;
  default: plan_parts(p, node); break;
  }
  tvms_memory_leave(p->memory);
}

// ---- The plan ----

// Uses of parts by expressions that are bound themselves: the binding keeps one.
static void count_consumed(planner *p) {
  for (uint32_t i = 0; i < p->order.len; i++) {
    const candidate *entry = &p->candidates.items[p->order.items[i]];
    for (uint32_t k = 0; entry->count >= 2 && k < entry->part_count; k++)
      p->candidates.items[entry->parts[k]].consumed += entry->count - 1;
  }
}

static const tvms_node *place_of(const planner *p, const candidate *entry) {
  if (entry->first_scope == entry->common_scope) return entry->first_stmt;
  uint32_t at = entry->first_scope;
  while (p->scopes.items[at].parent != entry->common_scope)
    at = p->scopes.items[at].parent;
  return p->scopes.items[at].creator;
}

static void bind(planner *p, uint32_t number, uint32_t counter) {
  candidate *entry = &p->candidates.items[number];
  tvms_pass_count(p->run, "values bound", 1);
  tvms_pass_count(p->run, "uses of them", (int64_t)entry->count - entry->consumed);
  char name[32];
  int len = snprintf(name, sizeof name, "cse_v%u", counter);
  tvms_sym symbol = tvms_symbol_intern(p->unit->context, name, (size_t)len);
  tvms_dtype dtype = tvms_value_numbers_get(&p->numbers, number)->dtype;
  entry->var = tvms_var_new(p->unit, symbol, dtype, TVMS_NO_SPAN);
  const tvms_node *place = place_of(p, entry);
  insertion *at = (insertion *)(void *)tvms_node_map_get(&p->inserted, place);
  if (!at) {
    at = tvms_arena_new(&p->unit->arena, insertion);
    *at = (insertion){0};
    tvms_node_map_put(&p->inserted, place, (tvms_node *)(void *)at);
    tvms_vec_push(p->memory, &p->insertions, at);
  }
  tvms_vec_push(p->memory, &at->values, number);
}

// Decides what is bound: shallow expressions first, each depth in the order of the text.
static bool choose(planner *p) {
  uint32_t deepest = 0, counter = 0;
  for (uint32_t i = 0; i < p->order.len; i++) {
    uint32_t depth = p->candidates.items[p->order.items[i]].depth;
    if (depth > deepest) deepest = depth;
  }
  count_consumed(p);
  TVMS_VEC(uint32_t) chosen = {0};
  for (uint32_t i = 0; i < p->order.len; i++) {
    const candidate *entry = &p->candidates.items[p->order.items[i]];
    if ((int64_t)entry->count - entry->consumed >= 2)
      tvms_vec_push(p->memory, &chosen, p->order.items[i]);
  }
  for (uint32_t depth = 1; depth <= deepest && counter < chosen.len; depth++) {
    for (uint32_t i = 0; i < chosen.len; i++) {
      if (p->candidates.items[chosen.items[i]].depth == depth)
        bind(p, chosen.items[i], ++counter);
    }
  }
  tvms_vec_fini(p->memory, &chosen);
  return counter > 0;
}

// ---- Rewriting ----

static tvms_node *replace(tvms_rewriter *r, tvms_node *node) {
  planner *p = r->self;
  uint32_t number = tvms_value_numbers_of(&p->numbers, node);
  if (number == TVMS_NO_VALUE) return TVMS_REWRITE_BELOW;
  const candidate *entry = &p->candidates.items[number];
  // In the value of another binding: depth does not count what a vector is made of, so that a
  // part in one may be bound behind it.
  bool bound = entry->var && (!p->below || entry->depth < p->below);
  return bound ? entry->var : TVMS_REWRITE_BELOW;
}

static tvms_node *insert(tvms_rewriter *r, tvms_node *node) {
  planner *p = r->self;
  insertion *at = (insertion *)(void *)tvms_node_map_get(&p->inserted, node);
  if (!at) return TVMS_REWRITE_BELOW;
  // A statement that stands in several places gets variables of its own in each.
  tvms_node_map fresh;
  tvms_node_map_init(&fresh, p->memory);
  for (uint32_t i = 0; i < at->values.len; i++) {
    uint32_t number = at->values.items[i];
    tvms_node *value =
        (tvms_node *)(uintptr_t)tvms_value_numbers_get(&p->numbers, number);
    tvms_bind *made = tvms_node_make(p->unit, BIND, TVMS_NO_SPAN);
    tvms_field_role role = r->role;
    r->role = TVMS_ROLE_USE;
    p->below = p->candidates.items[number].depth;
    made->value = tvms_rewrite_below(r, value);
    p->below = 0;
    r->role = role;
    made->var = p->candidates.items[number].var;
    if (at->done) {
      tvms_node *var = tvms_var_like(p->unit, made->var);
      made->value = tvms_substitute(p->unit, made->value, &fresh);
      tvms_node_map_put(&fresh, made->var, var);
      made->var = var;
    }
    tvms_rewrite_emit(r, &made->head);
  }
  tvms_node *stmt = tvms_rewrite_below(r, node);
  if (at->done) stmt = tvms_substitute(p->unit, stmt, &fresh);
  at->done = true;
  tvms_node_map_fini(&fresh);
  return stmt;
}

static tvms_node *rewrite(planner *p, tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, p->unit, p);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(ACCESS) | TVMS_IN(DEFINE)
            | TVMS_IN(DEFINE_REC);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, replace);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_STMT, insert);
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return body;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  planner p = {.run = run, .unit = unit, .memory = &run->context->memory};
  tvms_value_numbers_init(&p.numbers, p.memory);
  tvms_node_map_init(&p.inserted, p.memory);
  open_scope(&p, NULL);
  plan_stmt(&p, tvms_as_prim_func(function)->body);
  if (choose(&p)) {
    // The function is the parent of its body: what is bound in front of all goes there.
    tvms_node *copy = tvms_node_copy(unit, function);
    tvms_node *whole =
        tvms_seq_new(unit, &tvms_as_prim_func(function)->body, 1, TVMS_NO_SPAN);
    tvms_as_prim_func(copy)->body = rewrite(&p, whole);
    function = copy;
  }
  for (uint32_t i = 0; i < p.insertions.len; i++)
    tvms_vec_fini(p.memory, &p.insertions.items[i]->values);
  tvms_vec_fini(p.memory, &p.insertions);
  tvms_vec_fini(p.memory, &p.candidates);
  tvms_vec_fini(p.memory, &p.order);
  tvms_vec_fini(p.memory, &p.scopes);
  tvms_node_map_fini(&p.inserted);
  tvms_value_numbers_fini(&p.numbers);
  return function;
}

void tvms_pass_common_subexpr_elim(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
