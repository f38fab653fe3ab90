// Two walks. The first collects, for every loop, the conditions and bindings inside it that
// can stand outside: the outermost loop between which and the condition nothing defines a
// variable that it uses, and no other statement is executed. The second puts a branch on
// each such condition around the loop, with the loop in both cases, and the bindings in
// front. A thread index (an attribute that binds a variable) is a loop, too.
// TVM: src/s_tir/transform/hoist_expression.cc.
#include "passes/tir/loop/hoist.h"

#include "arith/analyzer.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/remarks.h"
#include "passes/tir/simplify/remove_no_op.h"
#include "passes/tir/simplify/stmt_simplify.h"
#include "support/diag_ids.h"

typedef TVMS_VEC(const tvms_node *) var_set;

typedef struct {
  tvms_node *value;
  int64_t kind;      // TVMS_HOIST_IF_STMT …
  bool has_else;     // what it decides has two cases
  bool uses_thread;  // mentions a thread index
  var_set required;  // bound variables that it uses, directly or not
} hoisted_condition;

typedef struct {
  tvms_node *var, *value;
  int64_t kind;  // TVMS_HOIST_BIND, TVMS_HOIST_LET
} hoisted_binding;

// A loop, and what can stand in front of it.
typedef struct {
  const tvms_node *definition;  // FOR or ATTR_STMT
  const tvms_node *var;
  bool sequential;  // several statements stand in it: nothing moves across
  TVMS_VEC(hoisted_condition) conditions;
  TVMS_VEC(hoisted_binding) bindings;
} loop_info;

// A bound variable: the loops and the bound variables that its value depends on.
typedef struct {
  var_set loops, bindings;
} dependence;

typedef struct {
  const tvms_pass_run *run;  // for remarks
  tvms_unit *unit;
  tvms_memory *memory;
  int64_t conditions, bindings;  // what moves
  TVMS_VEC(loop_info *) active;  // outermost first
  TVMS_VEC(loop_info *) all;
  tvms_node_map loops;  // FOR, ATTR_STMT -> loop_info
  tvms_node_map bound;  // variables of bindings -> dependence; NULL out of scope
  tvms_node_map axes;   // block variables: nothing that uses them moves
  tvms_node_map moved;  // variables whose binding moves
  TVMS_VEC(dependence *) dependences;
  uint64_t made;  // nodes of copies
  bool over;
} hoister;

// ---- Uses of variables ----

typedef struct {
  hoister *h;
  const tvms_node *TVMS_NULLABLE loop;  // wanted, also by way of bindings
  bool threads;                         // wanted: any thread index
  var_set *TVMS_NULLABLE into;          // gets all variables
} use_search;

static bool set_has(const var_set *set, const tvms_node *var) {
  for (uint32_t i = 0; i < set->len; i++) {
    if (set->items[i] == var) return true;
  }
  return false;
}

static void set_add(hoister *h, var_set *set, const tvms_node *var) {
  if (!set_has(set, var)) tvms_vec_push(h->memory, set, var);
}

static const dependence *TVMS_NULLABLE dependence_of(const hoister *h,
                                                     const tvms_node *var) {
  return (const dependence *)(void *)tvms_node_map_get(&h->bound, var);
}

static bool is_thread(const hoister *h, const tvms_node *var) {
  for (uint32_t i = 0; i < h->active.len; i++) {
    const loop_info *info = h->active.items[i];
    if (info->var == var && info->definition->kind == TVMS_NODE_ATTR_STMT) return true;
  }
  return false;
}

static tvms_walk_step search_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  use_search *search = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  if (search->into) set_add(search->h, search->into, node);
  const dependence *bound = dependence_of(search->h, node);
  bool found =
      search->loop
      && (node == search->loop || (bound && set_has(&bound->loops, search->loop))
          || tvms_node_map_get(&search->h->axes, node));
  found = found || (search->threads && is_thread(search->h, node));
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool uses(hoister *h, tvms_node *expr, const tvms_node *TVMS_NULLABLE loop) {
  use_search search = {.h = h, .loop = loop, .threads = !loop};
  tvms_visitor visitor = {.self = &search, .enter = search_use};
  return !tvms_walk(h->memory, expr, &visitor);
}

static var_set vars_of(hoister *h, tvms_node *expr) {
  var_set vars = {0};
  use_search search = {.h = h, .into = &vars};
  tvms_visitor visitor = {.self = &search, .enter = search_use};
  tvms_walk(h->memory, expr, &visitor);
  return vars;
}

// ---- Collecting ----

// The loop in front of which the expression can stand, or NULL and why there is none.
static loop_info *TVMS_NULLABLE find_destination(hoister *h, tvms_node *expr,
                                                 const char **why) {
  *why = NULL;
  loop_info *found = NULL;
  for (uint32_t i = h->active.len; i > 0; i--) {
    loop_info *info = h->active.items[i - 1];
    bool thread = info->definition->kind == TVMS_NODE_ATTR_STMT;
    bool stays = thread && !(h->conditions & TVMS_HOIST_THREADS);
    if (info->sequential)
      *why = "other statements stand in the loop around it";
    else if (stays)
      *why = "it would move across threads";
    else if (uses(h, expr, info->var))
      *why = "it depends on the loop around it";
    if (*why) break;
    found = info;
  }
  return found;
}

static void say_stays(const hoister *h, const tvms_node *condition, int64_t kind,
                      const char *why) {
  if (!(h->conditions & kind)) return;
  tvms_pass_count(h->run, "conditions that stay", 1);
  tvms_pass_remark(h->run, TVMS_REMARK_MISSED, TVMS_D_condition_stays, condition->span,
                   why);
}

static void attempt_condition(hoister *h, tvms_node *condition, int64_t kind,
                              bool has_else) {
  const char *why = "it reads memory or has side effects";
  bool pure = tvms_arith_effect_of(h->memory, condition) <= TVMS_EFFECT_PURE;
  loop_info *info = pure ? find_destination(h, condition, &why) : NULL;
  if (!info) {
    if (h->active.len) say_stays(h, condition, kind, why);
    return;
  }
  hoisted_condition hoisted = {.value = condition, .kind = kind, .has_else = has_else};
  hoisted.uses_thread = uses(h, condition, NULL);
  var_set vars = vars_of(h, condition);
  for (uint32_t i = 0; i < vars.len; i++) {
    const dependence *bound = dependence_of(h, vars.items[i]);
    if (!bound) continue;
    set_add(h, &hoisted.required, vars.items[i]);
    for (uint32_t k = 0; k < bound->bindings.len; k++)
      set_add(h, &hoisted.required, bound->bindings.items[k]);
  }
  tvms_vec_fini(h->memory, &vars);
  tvms_vec_push(h->memory, &info->conditions, hoisted);
}

static bool is_active(const hoister *h, const tvms_node *var) {
  for (uint32_t i = 0; i < h->active.len; i++) {
    if (h->active.items[i]->var == var) return true;
  }
  return false;
}

static void collect_binding(hoister *h, tvms_node *var, tvms_node *value,
                            int64_t kind) {
  bool pure = tvms_arith_effect_of(h->memory, value) <= TVMS_EFFECT_PURE;
  const char *why;
  loop_info *info = pure ? find_destination(h, value, &why) : NULL;
  hoisted_binding binding = {var, value, kind};
  if (info) tvms_vec_push(h->memory, &info->bindings, binding);
  dependence *made = tvms_memory_alloc(h->memory, sizeof *made);
  *made = (dependence){0};
  tvms_vec_push(h->memory, &h->dependences, made);
  var_set vars = vars_of(h, value);
  for (uint32_t i = 0; i < vars.len; i++) {
    const tvms_node *used = vars.items[i];
    const dependence *bound = dependence_of(h, used);
    if (is_active(h, used)) set_add(h, &made->loops, used);
    if (!bound) continue;
    set_add(h, &made->bindings, used);
    for (uint32_t k = 0; k < bound->loops.len; k++)
      set_add(h, &made->loops, bound->loops.items[k]);
    for (uint32_t k = 0; k < bound->bindings.len; k++)
      set_add(h, &made->bindings, bound->bindings.items[k]);
  }
  tvms_vec_fini(h->memory, &vars);
  tvms_node_map_put(&h->bound, var, (tvms_node *)(void *)made);
}

static void collect(hoister *h, tvms_node *node);

static void collect_parts(hoister *h, const tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (at.role == TVMS_ROLE_USE || at.role == TVMS_ROLE_BODY) collect(h, child);
  }
}

static void begin_loop(hoister *h, const tvms_node *definition, const tvms_node *var) {
  loop_info *info = tvms_memory_alloc(h->memory, sizeof *info);
  *info = (loop_info){.definition = definition, .var = var};
  tvms_vec_push(h->memory, &h->all, info);
  tvms_vec_push(h->memory, &h->active, info);
  tvms_node_map_put(&h->loops, definition, (tvms_node *)(void *)info);
}

// The variable that an attribute binds or is about, or NULL.
static const tvms_node *TVMS_NULLABLE var_of_attr(const tvms_node *attr) {
  const tvms_node *node = tvms_as_attr_stmt(attr)->node;
  if (node->kind == TVMS_NODE_ITER_VAR) return tvms_as_iter_var(node)->var;
  return node->kind == TVMS_NODE_VAR ? node : NULL;
}

// The statements of a SEQ from `begin` on. What follows an attribute is its body.
static void collect_sequence(hoister *h, tvms_list list, uint32_t begin) {
  uint32_t end = begin, others = 0;
  for (; end < list.len; end++) {
    others += list.items[end]->kind != TVMS_NODE_BIND;
    if (list.items[end]->kind == TVMS_NODE_ATTR_STMT) break;
  }
  if (others > 1 && h->active.len)
    h->active.items[h->active.len - 1]->sequential = true;
  for (uint32_t i = begin; i < end; i++)
    collect(h, list.items[i]);
  if (end < list.len) {
    const tvms_node *var = var_of_attr(list.items[end]);
    if (var) begin_loop(h, list.items[end], var);
    collect(h, tvms_as_attr_stmt(list.items[end])->value);
    collect_sequence(h, list, end + 1);
    if (var) h->active.len--;
  }
  for (uint32_t i = begin; i < end; i++) {
    if (list.items[i]->kind == TVMS_NODE_BIND)
      tvms_node_map_put(&h->bound, tvms_as_bind(list.items[i])->var, NULL);
  }
}

static void collect_block(hoister *h, const tvms_node *node) {
  tvms_list list = tvms_as_block(node)->iter_vars;
  for (uint32_t i = 0; i < list.len; i++) {
    tvms_node *var = tvms_as_iter_var(list.items[i])->var;
    tvms_node_map_put(&h->axes, var, var);
  }
  collect_parts(h, node);
}

static void collect_inner(hoister *h, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER: return;
  case TVMS_NODE_SEQ: collect_sequence(h, tvms_as_seq(node)->stmts, 0); return;
  case TVMS_NODE_BLOCK: collect_block(h, node); return;
  case TVMS_NODE_FOR:
    begin_loop(h, node, tvms_as_for(node)->var);
    collect_parts(h, node);
    h->active.len--;
    return;
  case TVMS_NODE_BIND: {
    const tvms_bind *bind = tvms_as_bind(node);
    collect_binding(h, bind->var, bind->value, TVMS_HOIST_BIND);
    break;
  }
  case TVMS_NODE_LET:
    collect_binding(h, tvms_as_let(node)->var, tvms_as_let(node)->value,
                    TVMS_HOIST_LET);
    collect_parts(h, node);
    tvms_node_map_put(&h->bound, tvms_as_let(node)->var, NULL);
    return;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    attempt_condition(h, branch->condition, TVMS_HOIST_IF_STMT,
                      branch->else_case != NULL);
    break;
  }
  case TVMS_NODE_AND:
  case TVMS_NODE_OR:
    attempt_condition(h, tvms_as_binary(node)->a, TVMS_HOIST_BOOLEAN, true);
    attempt_condition(h, tvms_as_binary(node)->b, TVMS_HOIST_BOOLEAN, true);
    break;
  case TVMS_NODE_CALL:
    if (tvms_arith_opcode(node) == TVMS_TIR_if_then_else)
      attempt_condition(h, tvms_as_call(node)->args.items[0], TVMS_HOIST_IF_EXPR, true);
    break;
  default: break;
  }
  collect_parts(h, node);
}

static void collect(hoister *h, tvms_node *node) {
  if (!tvms_memory_enter(h->memory)) tvms_memory_unwind(h->memory, TVMS_OVER_LIMIT);
  collect_inner(h, node);
  tvms_memory_leave(h->memory);
}

// ---- What moves ----

static bool moves(const hoister *h, const hoisted_condition *condition) {
  bool bound = condition->required.len == 0
               || h->bindings & (TVMS_HOIST_REQUIRED | TVMS_HOIST_BIND);
  bool thread = !condition->uses_thread || h->conditions & TVMS_HOIST_THREADS;
  return (condition->kind & h->conditions) && bound && thread;
}

static void choose_bindings(hoister *h) {
  for (uint32_t i = 0; i < h->all.len; i++) {
    const loop_info *info = h->all.items[i];
    for (uint32_t k = 0; k < info->bindings.len; k++) {
      tvms_node *var = info->bindings.items[k].var;
      if (info->bindings.items[k].kind & h->bindings)
        tvms_node_map_put(&h->moved, var, var);
    }
    for (uint32_t k = 0; k < info->conditions.len; k++) {
      const hoisted_condition *condition = &info->conditions.items[k];
      if (!(h->bindings & TVMS_HOIST_REQUIRED) || !moves(h, condition)) continue;
      for (uint32_t j = 0; j < condition->required.len; j++) {
        const tvms_node *var = condition->required.items[j];
        tvms_node_map_put(&h->moved, var, (tvms_node *)(uintptr_t)var);
      }
    }
  }
}

static void say_moved(const hoister *h, const loop_info *info) {
  const char *loop = tvms_symbol_text(h->unit->context, tvms_as_var(info->var)->name);
  for (uint32_t i = 0; i < info->conditions.len; i++) {
    const hoisted_condition *c = &info->conditions.items[i];
    const char *why =
        c->uses_thread ? "it mentions threads" : "bindings that it needs stay";
    if (!moves(h, c)) {
      say_stays(h, c->value, c->kind, why);
      continue;
    }
    tvms_pass_count(h->run, "conditions moved", 1);
    tvms_pass_remark(h->run, TVMS_REMARK_PASSED, TVMS_D_condition_moves, c->value->span,
                     loop);
  }
}

// ---- Rewriting ----

enum { MOST_MADE = 1 << 18 };

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  ++*(uint64_t *)self;
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// if condition: stmt else: stmt, the second one with variables of its own.
static tvms_node *wrap(hoister *h, const hoisted_condition *condition,
                       tvms_node *stmt) {
  tvms_if_then_else *branch = tvms_node_make(h->unit, IF_THEN_ELSE, stmt->span);
  branch->condition = condition->value;
  branch->then_case = stmt;
  if (!condition->has_else) return &branch->head;
  tvms_visitor visitor = {.self = &h->made, .enter = count_node};
  tvms_walk(h->memory, stmt, &visitor);
  if (h->made > MOST_MADE) {
    if (!h->over)
      tvms_diag_report(&h->unit->context->diags, TVMS_D_hoist_limit, stmt->span);
    h->over = true;
    return stmt;
  }
  branch->else_case = tvms_stmt_copy(h->unit, stmt);
  return &branch->head;
}

static tvms_node *wrap_loop(hoister *h, const tvms_node *definition, tvms_node *stmt) {
  const loop_info *info =
      (const loop_info *)(void *)tvms_node_map_get(&h->loops, definition);
  if (!info) return stmt;
  for (uint32_t i = info->conditions.len; i > 0; i--) {
    const hoisted_condition *condition = &info->conditions.items[i - 1];
    if (moves(h, condition)) stmt = wrap(h, condition, stmt);
  }
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < info->bindings.len; i++) {
    const hoisted_binding *binding = &info->bindings.items[i];
    if (!tvms_node_map_get(&h->moved, binding->var)) continue;
    tvms_bind *bind = tvms_node_make(h->unit, BIND, TVMS_NO_SPAN);
    bind->var = binding->var;
    bind->value = binding->value;
    tvms_vec_push(h->memory, &stmts, &bind->head);
  }
  if (stmts.len == 0) return stmt;
  tvms_stmt_push_last(h->memory, &stmts, stmt);
  return tvms_stmt_seq(h->unit, &stmts, stmt->span);
}

static tvms_node *leave_for(tvms_rewriter *r, tvms_node *node) {
  return wrap_loop(r->self, r->old, node);
}

// The statements from `begin` on as one; what an attribute holds for is wrapped with it.
static tvms_node *rewrite_tail(tvms_rewriter *r, tvms_list list, uint32_t begin) {
  hoister *h = r->self;
  tvms_node_vec stmts = {0};
  for (uint32_t i = begin; i < list.len; i++) {
    tvms_node *stmt = tvms_rewrite(r, list.items[i]);
    if (!stmt) continue;
    if (list.items[i]->kind != TVMS_NODE_ATTR_STMT) {
      tvms_stmt_push(r->unit, &stmts, stmt);
      continue;
    }
    stmt = tvms_stmt_pair(h->unit, stmt, rewrite_tail(r, list, i + 1));
    stmt = wrap_loop(h, list.items[i], stmt);
    tvms_stmt_push_last(h->memory, &stmts, stmt);
    break;
  }
  return tvms_stmt_seq(h->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  const hoister *h = r->self;
  tvms_list list = tvms_as_seq(node)->stmts;
  for (uint32_t i = 0; i < list.len; i++) {
    const loop_info *info = NULL;
    if (list.items[i]->kind == TVMS_NODE_ATTR_STMT)
      info = (const loop_info *)(void *)tvms_node_map_get(&h->loops, list.items[i]);
    if (info && info->conditions.len + info->bindings.len)
      return rewrite_tail(r, list, 0);
  }
  return TVMS_REWRITE_BELOW;
}

static tvms_node *TVMS_NULLABLE enter_bind(tvms_rewriter *r, tvms_node *node) {
  const hoister *h = r->self;
  return tvms_node_map_get(&h->moved, tvms_as_bind(node)->var) ? NULL
                                                               : TVMS_REWRITE_BELOW;
}

static tvms_node *leave_let(tvms_rewriter *r, tvms_node *node) {
  const hoister *h = r->self;
  bool moved = tvms_node_map_get(&h->moved, tvms_as_let(node)->var) != NULL;
  return moved ? tvms_as_let(node)->body : node;
}

static void fini(hoister *h) {
  tvms_node_map *maps[] = {&h->loops, &h->bound, &h->axes, &h->moved};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    tvms_node_map_fini(maps[i]);
  for (uint32_t i = 0; i < h->all.len; i++) {
    loop_info *info = h->all.items[i];
    for (uint32_t k = 0; k < info->conditions.len; k++)
      tvms_vec_fini(h->memory, &info->conditions.items[k].required);
    tvms_vec_fini(h->memory, &info->conditions);
    tvms_vec_fini(h->memory, &info->bindings);
    tvms_memory_free(h->memory, info);
  }
  for (uint32_t i = 0; i < h->dependences.len; i++) {
    tvms_vec_fini(h->memory, &h->dependences.items[i]->loops);
    tvms_vec_fini(h->memory, &h->dependences.items[i]->bindings);
    tvms_memory_free(h->memory, h->dependences.items[i]);
  }
  tvms_vec_fini(h->memory, &h->all);
  tvms_vec_fini(h->memory, &h->active);
  tvms_vec_fini(h->memory, &h->dependences);
}

tvms_node *tvms_stmt_hoist(const tvms_pass_run *run, tvms_unit *unit,
                           tvms_node *function, int64_t conditions, int64_t bindings) {
  hoister h = {.run = run, .unit = unit, .memory = &unit->context->memory};
  h.conditions = conditions;
  h.bindings = bindings;
  tvms_node_map *maps[] = {&h.loops, &h.bound, &h.axes, &h.moved};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    tvms_node_map_init(maps[i], h.memory);
  collect(&h, tvms_as_prim_func(function)->body);
  choose_bindings(&h);
  for (uint32_t i = 0; i < h.all.len; i++)
    say_moved(&h, h.all.items[i]);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &h);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_FOR] = leave_for;
  r.leave[TVMS_NODE_LET] = leave_let;
  r.enter[TVMS_NODE_SEQ] = enter_seq;
  r.enter[TVMS_NODE_BIND] = enter_bind;
  tvms_node *hoisted = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  bool over = h.over;
  fini(&h);
  if (over) return function;
  return tvms_stmt_remove_no_op(unit, tvms_stmt_simplify(unit, hoisted, 0));
}
