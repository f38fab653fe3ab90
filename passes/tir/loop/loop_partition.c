// LoopPartition: a loop is cut where a condition inside it is known.
//
// Before: for i in range(n): if T.likely(i < m): A[i] = 0.0
// After:  for i in range(T.min(m, n)): A[i] = 0.0
//         for i in range(n - m): if i + m < m: A[i + m] = 0.0
//
// Conditions in T.likely count; in a loop that the attribute pragma_loop_partition_hint
// names, all comparisons do. The parts are partitioned in turn. Loops of constant bounds are
// left alone unless the option or the attribute says otherwise. The pass takes off T.likely
// and the attribute; what it leaves of conditions is for StmtSimplify.
// TVM: s_tir.transform.LoopPartition.
#include "arith/deduce_bound.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/remarks.h"
#include "passes/tir/loop/partition_candidates.h"

// A condition that is known in an interval of the loop variable.
typedef struct {
  tvms_node *condition;
  bool holds;
  tvms_int_set interval;
} known_condition;

typedef TVMS_VEC(known_condition) known_conditions;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_rewriter rewriter;
  bool keep_short, unroll_hinted;
  tvms_analyzer *analyzer;
  tvms_domains hint, relax;
  tvms_partition_candidates candidates;
  uint32_t parts;  // loops made
} partitioner;

// No program needs more; parts that are partitioned in turn could go on for long.
enum { MOST_PARTS = 1024 };

static tvms_node *build(partitioner *p, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(p->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(partitioner *p, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(p->unit, like->dtype, value, TVMS_NO_SPAN);
}

static bool proves(partitioner *p, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_analyzer_can_prove(p->analyzer, build(p, kind, a, b));
}

static tvms_node *last_of(partitioner *p, tvms_node *min, tvms_node *extent) {
  tvms_node *end = build(p, TVMS_NODE_ADD, min, extent);
  return build(p, TVMS_NODE_SUB, end, number(p, end, 1));
}

static tvms_int_set interval_of(partitioner *p, tvms_node *min, tvms_node *extent) {
  tvms_node *max = last_of(p, min, extent);
  return (tvms_int_set){min, max, false};
}

// ---- What is known of conditions ----

typedef struct {
  partitioner *p;
  tvms_node *var;
  bool hinted;
  known_conditions known;
  tvms_node_vec running;  // threads that were given a domain
} finder;

static bool uses_domains(partitioner *p, tvms_node *expr);

static tvms_walk_step find_running(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const partitioner *p = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool found =
      node->kind == TVMS_NODE_VAR
      && (tvms_domains_get(&p->hint, node) || tvms_domains_get(&p->relax, node));
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool uses_domains(partitioner *p, tvms_node *expr) {
  tvms_visitor visitor = {.self = p, .enter = find_running};
  return !tvms_walk(p->memory, expr, &visitor);
}

static void learn(finder *f, tvms_node *condition, bool holds, tvms_int_set interval) {
  for (uint32_t i = 0; i < f->known.len; i++) {
    known_condition *known = &f->known.items[i];
    if (known->condition != condition || known->holds != holds) continue;
    known->interval = interval;
    return;
  }
  known_condition known = {condition, holds, interval};
  tvms_vec_push(f->p->memory, &f->known, known);
}

static tvms_int_set deduce(finder *f, tvms_node_kind kind, const tvms_binary *op) {
  tvms_node *condition = tvms_binary_new(f->p->unit, kind, op->a, op->b, TVMS_NO_SPAN);
  return tvms_domains_deduce_bound(&f->p->hint, &f->p->relax, f->var, condition);
}

// [max(a.min, b.min), min(a.max, b.max)]; empty if the ends have crossed.
static tvms_int_set intersect(partitioner *p, tvms_analyzer *analyzer, tvms_int_set a,
                              tvms_int_set b) {
  if (a.empty || b.empty) return (tvms_int_set){.empty = true};
  tvms_int_set both = {a.min ? a.min : b.min, a.max ? a.max : b.max, false};
  if (a.min && b.min) both.min = build(p, TVMS_NODE_MAX, a.min, b.min);
  if (a.max && b.max) both.max = build(p, TVMS_NODE_MIN, a.max, b.max);
  if (!both.min || !both.max) return both;
  tvms_node *crossed = build(p, TVMS_NODE_LT, both.max, both.min);
  both.empty = tvms_analyzer_can_prove(analyzer, crossed);
  return both;
}

static tvms_int_set simplify_ends(tvms_analyzer *analyzer, tvms_int_set set) {
  if (set.min) set.min = tvms_analyzer_simplify(analyzer, set.min);
  if (set.max) set.max = tvms_analyzer_simplify(analyzer, set.max);
  return set;
}

static void deduce_condition(finder *f, tvms_node *condition) {
  static const uint8_t inverse[] = {TVMS_NODE_NE, TVMS_NODE_EQ, TVMS_NODE_GE,
                                    TVMS_NODE_GT, TVMS_NODE_LE, TVMS_NODE_LT};
  partitioner *p = f->p;
  if (!tvms_walk_contains(p->memory, condition, f->var)) return;
  tvms_int_set interval =
      tvms_domains_deduce_bound(&p->hint, &p->relax, f->var, condition);
  if (!interval.empty) learn(f, condition, true, interval);
  if (condition->kind < TVMS_NODE_EQ || condition->kind > TVMS_NODE_GE) return;
  const tvms_binary *op = tvms_as_binary(condition);
  if (interval.empty && condition->kind == TVMS_NODE_EQ) {
    tvms_analyzer *analyzer = tvms_analyzer_new(p->unit);
    interval = intersect(p, analyzer, deduce(f, TVMS_NODE_GE, op),
                         deduce(f, TVMS_NODE_LE, op));
    interval = simplify_ends(analyzer, interval);
    tvms_analyzer_free(analyzer);
    if (!interval.empty) {
      learn(f, condition, true, interval);
      return;
    }
  }
  interval = deduce(f, (tvms_node_kind)inverse[condition->kind - TVMS_NODE_EQ], op);
  if (!interval.empty) learn(f, condition, false, interval);
}

static tvms_walk_step find_enter(void *self, tvms_node *node, tvms_field_role role) {
  finder *f = self;
  partitioner *p = f->p;
  tvms_tir_opcode op = tvms_call_opcode(node);
  if (node->kind == TVMS_NODE_FOR) {
    const tvms_for *loop = tvms_as_for(node);
    if (uses_domains(p, loop->min) || uses_domains(p, loop->extent))
      return TVMS_WALK_SKIP;
    tvms_int_set range = interval_of(p, loop->min, loop->extent);
    tvms_domains_set(&p->hint, loop->var, range);
    tvms_domains_set(&p->relax, loop->var, range);
    return TVMS_WALK_ON;
  }
  const tvms_iter_var *axis = tvms_attr_stmt_threads(node);
  if (axis) {
    tvms_node *extent = tvms_as_attr_stmt(node)->value;
    tvms_int_set range = interval_of(p, number(p, extent, 0), extent);
    tvms_domains_set(&p->hint, axis->var, range);
    tvms_domains_set(&p->relax, axis->var, range);
    tvms_vec_push(p->memory, &f->running, axis->var);
  }
  if (op == TVMS_TIR_likely) deduce_condition(f, tvms_as_call(node)->args.items[0]);
  if (op == TVMS_TIR_likely || op == TVMS_TIR_ignore_loop_partition)
    return TVMS_WALK_SKIP;
  if (f->hinted && node->kind >= TVMS_NODE_EQ && node->kind <= TVMS_NODE_GE) {
    deduce_condition(f, node);
    return TVMS_WALK_SKIP;
  }
  bool below = role == TVMS_ROLE_USE || role == TVMS_ROLE_BODY;
  return below && node->kind != TVMS_NODE_BUFFER ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static void find_leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  finder *f = self;
  if (node->kind != TVMS_NODE_FOR) return;
  tvms_domains_drop(&f->p->hint, tvms_as_for(node)->var);
  tvms_domains_drop(&f->p->relax, tvms_as_for(node)->var);
}

// ---- The part in which conditions are known ----

typedef struct {
  tvms_int_set interval;
  tvms_node_map conditions;  // that have the value there
  bool value;
} middle;

// With a hint as many conditions as have a common interval are taken, one after the other.
static tvms_int_set gather(partitioner *p, const finder *f, tvms_int_set range,
                           middle *m) {
  tvms_int_set common = {0}, result = {.empty = true};
  for (uint32_t i = f->known.len; i > 0; i--) {
    const known_condition *known = &f->known.items[i - 1];
    if (known->holds != m->value) continue;
    if (intersect(p, p->analyzer, known->interval, range).empty) continue;
    common = intersect(p, p->analyzer, common, known->interval);
    if (common.empty) break;
    tvms_node_map_put(&m->conditions, known->condition, known->condition);
    result = simplify_ends(p->analyzer, common);
  }
  return result;
}

// The interval of the conditions that are true (or false) somewhere in the range.
static bool find_middle(partitioner *p, const finder *f, tvms_int_set range,
                        middle *m) {
  tvms_analyzer *analyzer = tvms_analyzer_new(p->unit);
  tvms_int_set common = {.empty = true};
  uint32_t count = 0;
  for (uint32_t i = f->known.len; i > 0; i--) {
    const known_condition *known = &f->known.items[i - 1];
    if (known->holds != m->value) continue;
    if (intersect(p, p->analyzer, known->interval, range).empty) continue;
    common = count ? intersect(p, analyzer, common, known->interval) : known->interval;
    count++;
    tvms_node_map_put(&m->conditions, known->condition, known->condition);
  }
  if (count > 1) common = simplify_ends(analyzer, common);
  tvms_analyzer_free(analyzer);
  if (common.empty && f->hinted) {
    tvms_node_map_fini(&m->conditions);
    tvms_node_map_init(&m->conditions, p->memory);
    common = gather(p, f, range, m);
  }
  m->interval = common;
  return !common.empty;
}

// ---- Cutting ----

static tvms_node *eliminate(tvms_rewriter *r, tvms_node *node) {
  const middle *m = r->self;
  if (!tvms_node_map_get(&m->conditions, node)) return TVMS_REWRITE_BELOW;
  return tvms_bool_imm_new(r->unit, m->value, node->span);
}

static tvms_node *eliminate_conditions(partitioner *p, middle *m, tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, p->unit, m);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_EXPR, eliminate);
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return body;
}

static tvms_node *partition(partitioner *p, tvms_node *stmt);

// The loop over `extent` steps from `offset` on.
static tvms_node *make_part(partitioner *p, const tvms_for *loop, tvms_node *body,
                            tvms_node *offset, tvms_node *extent) {
  tvms_unit *unit = p->unit;
  p->parts++;
  tvms_node *place = build(p, TVMS_NODE_ADD, loop->var, offset);
  body = tvms_substitute_one(unit, body, loop->var, place);
  bool once = proves(p, TVMS_NODE_EQ, extent, number(p, extent, 1));
  if (once && !p->keep_short && tvms_object_map_count(loop->annotations) == 0) {
    tvms_node *zero = number(p, loop->var, 0);
    return tvms_substitute_one(unit, body, loop->var, zero);
  }
  tvms_node *copy = tvms_node_copy(unit, &loop->head);
  tvms_for *part = tvms_as_for(copy);
  part->min = number(p, loop->min, 0);
  part->extent = extent;
  part->body = body;
  return copy;
}

typedef struct {
  tvms_node *TVMS_NULLABLE stmt;
  tvms_node *bound;  // where the part ends or begins
  bool again;        // it may be partitioned in turn
} outer_part;

// What stands in front of the interval.
static outer_part make_front(partitioner *p, const tvms_for *loop,
                             tvms_int_set interval) {
  outer_part part = {.bound = loop->min, .again = true};
  if (!interval.min) return part;
  part.bound = tvms_analyzer_simplify(p->analyzer, interval.min);
  if (proves(p, TVMS_NODE_EQ, part.bound, loop->min)) return part;
  tvms_node *extent = build(p, TVMS_NODE_SUB, part.bound, loop->min);
  extent = tvms_analyzer_simplify(p->analyzer, extent);
  if (!proves(p, TVMS_NODE_GT, extent, number(p, extent, 0))) {
    part.bound = build(p, TVMS_NODE_MAX, part.bound, loop->min);
    part.again = false;
  }
  if (!loop->body || proves(p, TVMS_NODE_LE, extent, number(p, extent, 0))) return part;
  part.stmt = make_part(p, loop, loop->body, loop->min,
                        build(p, TVMS_NODE_SUB, part.bound, loop->min));
  return part;
}

// What stands behind it.
static outer_part make_back(partitioner *p, const tvms_for *loop,
                            tvms_int_set interval) {
  tvms_node *max = last_of(p, loop->min, loop->extent);
  tvms_node *end = build(p, TVMS_NODE_ADD, max, number(p, max, 1));
  outer_part part = {.bound = end, .again = true};
  if (!interval.max) return part;
  part.bound = build(p, TVMS_NODE_ADD, interval.max, number(p, interval.max, 1));
  part.bound = tvms_analyzer_simplify(p->analyzer, part.bound);
  if (proves(p, TVMS_NODE_EQ, interval.max, max)) return part;
  tvms_node *extent = build(p, TVMS_NODE_SUB, max, part.bound);
  extent = build(p, TVMS_NODE_ADD, extent, number(p, extent, 1));
  extent = tvms_analyzer_simplify(p->analyzer, extent);
  if (!proves(p, TVMS_NODE_GT, extent, number(p, extent, 0))) {
    part.bound = build(p, TVMS_NODE_MIN, part.bound, end);
    part.again = false;
  }
  if (!loop->body || proves(p, TVMS_NODE_LE, extent, number(p, extent, 0))) return part;
  part.stmt = make_part(p, loop, loop->body, part.bound, extent);
  return part;
}

// The three parts; each has variables of its own.
static tvms_node *cut(partitioner *p, const tvms_node *node, middle *m) {
  const tvms_for *loop = tvms_as_for(node);
  outer_part front = make_front(p, loop, m->interval);
  outer_part back = make_back(p, loop, m->interval);
  tvms_node *stmts[] = {front.stmt, NULL, back.stmt};
  if (!proves(p, TVMS_NODE_GE, front.bound, back.bound)) {
    tvms_node *body = eliminate_conditions(p, m, loop->body);
    tvms_node *extent = build(p, TVMS_NODE_SUB, back.bound, front.bound);
    stmts[1] = partition(p, make_part(p, loop, body, front.bound, extent));
    if (front.stmt && front.again) stmts[0] = partition(p, front.stmt);
    if (back.stmt && back.again) stmts[2] = partition(p, back.stmt);
  }
  tvms_node_vec parts = {0};
  uint32_t count = 0;
  for (int i = 0; i < 3; i++) {
    if (!stmts[i]) continue;
    bool first = parts.len == 0;
    tvms_node *part = first ? stmts[i] : tvms_stmt_copy(p->unit, stmts[i]);
    count++;
    tvms_stmt_push(p->unit, &parts, part);
  }
  tvms_partition_say_cut(&p->candidates, node, count);
  return tvms_stmt_seq(p->unit, &parts, loop->head.span);
}

// Nothing is known, but the loop is to be cut: its steps are written out.
static tvms_node *TVMS_NULLABLE unroll(partitioner *p, const tvms_for *loop,
                                       bool hinted) {
  tvms_node *zero = number(p, loop->extent, 0);
  tvms_node *last = build(p, TVMS_NODE_SUB, loop->extent, number(p, loop->extent, 1));
  if (!hinted || !p->unroll_hinted || !proves(p, TVMS_NODE_GT, last, zero)) return NULL;
  tvms_node *copy = tvms_node_copy(p->unit, &loop->head);
  tvms_as_for(copy)->for_kind = TVMS_FOR_UNROLLED;
  tvms_as_for(copy)->annotations = NULL;
  tvms_as_for(copy)->body = partition(p, loop->body);
  return copy;
}

// Looks for the part of `range` in which conditions of `body` are known, and lets `use`
// make of it what stands for the loop. *known says whether any condition was.
static tvms_node *TVMS_NULLABLE find_partition(
    partitioner *p, tvms_node *var, tvms_int_set range, tvms_node *body, bool *known,
    tvms_node *(*use)(partitioner *, const tvms_node *, middle *),
    const tvms_node *loop) {
  finder f = {.p = p, .var = var};
  f.hinted = tvms_node_map_get(&p->candidates.hinted, var) != NULL;
  tvms_domains_set(&p->hint, var, range);
  tvms_visitor visitor = {.self = &f, .enter = find_enter, .leave = find_leave};
  tvms_walk(p->memory, body, &visitor);
  tvms_domains_drop(&p->hint, var);
  for (uint32_t i = 0; i < f.running.len; i++) {
    tvms_domains_drop(&p->hint, f.running.items[i]);
    tvms_domains_drop(&p->relax, f.running.items[i]);
  }
  tvms_vec_fini(p->memory, &f.running);
  tvms_node *result = NULL;
  for (int value = 1; value >= 0 && f.known.len && !result; value--) {
    middle m = {.value = value == 1};
    tvms_node_map_init(&m.conditions, p->memory);
    if (find_middle(p, &f, range, &m)) result = use(p, loop, &m);
    tvms_node_map_fini(&m.conditions);
  }
  *known = f.known.len > 0;
  tvms_vec_fini(p->memory, &f.known);
  return result;
}

// The loop in parts, or NULL and why.
static tvms_node *TVMS_NULLABLE try_partition(partitioner *p, const tvms_node *node,
                                              const char **why) {
  const tvms_for *loop = tvms_as_for(node);
  bool known, hinted = tvms_node_map_get(&p->candidates.hinted, loop->var) != NULL;
  tvms_int_set range = interval_of(p, loop->min, loop->extent);
  tvms_node *result =
      find_partition(p, loop->var, range, loop->body, &known, cut, node);
  *why = known ? "its conditions have one value in no part of it in common"
               : "its conditions tell nothing of its variable alone";
  return result || !known ? result : unroll(p, loop, hinted);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  partitioner *p = r->self;
  const tvms_for *loop = tvms_as_for(node);
  tvms_scope_mark mark = tvms_analyzer_mark(p->analyzer);
  tvms_analyzer_bind_range(p->analyzer, loop->var, loop->min, loop->extent);
  tvms_node *result = NULL;
  const char *why = NULL;
  bool candidate = tvms_node_map_get(&p->candidates.loops, node) != NULL;
  if (candidate && p->parts < MOST_PARTS)
    result = try_partition(p, node, &why);
  else if (candidate)
    why = "the function has too many parts already";
  if (!result) {
    tvms_partition_say_whole(&p->candidates, node, why);
    tvms_domains_set(&p->hint, loop->var, interval_of(p, loop->min, loop->extent));
    result = tvms_rewrite_below(r, node);
    tvms_domains_drop(&p->hint, loop->var);
  }
  tvms_analyzer_leave(p->analyzer, mark);
  return result;
}

static tvms_node *partition(partitioner *p, tvms_node *stmt) {
  tvms_stmt_find_partitions(&p->candidates, stmt);
  return tvms_rewrite(&p->rewriter, stmt);
}

// ---- Threads ----

static tvms_node *tail_of(partitioner *p, tvms_list list, uint32_t begin) {
  tvms_node_vec stmts = {0};
  for (uint32_t i = begin; i < list.len; i++)
    tvms_vec_push(p->memory, &stmts, list.items[i]);
  return tvms_stmt_seq(p->unit, &stmts, TVMS_NO_SPAN);
}

// if condition: stmt without the known conditions, else: stmt; inside all threads.
static tvms_node *branch_inside(partitioner *p, middle *m, tvms_node *condition,
                                tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_SEQ) {
    tvms_list list = tvms_as_seq(stmt)->stmts;
    tvms_node_vec stmts = {0};
    for (uint32_t i = 0; i < list.len; i++) {
      tvms_vec_push(p->memory, &stmts, list.items[i]);
      if (!tvms_attr_stmt_threads(list.items[i])) continue;
      tvms_node *rest = branch_inside(p, m, condition, tail_of(p, list, i + 1));
      tvms_stmt_push_last(p->memory, &stmts, rest);
      return tvms_stmt_seq(p->unit, &stmts, stmt->span);
    }
    tvms_vec_fini(p->memory, &stmts);
  }
  m->value = true;
  tvms_if_then_else *branch = tvms_node_make(p->unit, IF_THEN_ELSE, stmt->span);
  branch->condition = condition;
  branch->then_case = eliminate_conditions(p, m, stmt);
  branch->else_case = tvms_stmt_copy(p->unit, stmt);
  return &branch->head;
}

// The body of a grid, a SEQ that begins with its attribute, behind a condition on it.
static tvms_node *guard(partitioner *p, const tvms_node *node, middle *m) {
  tvms_list list = tvms_as_seq(node)->stmts;
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(list.items[0]);
  tvms_node *var = tvms_as_iter_var(attr->node)->var;
  // A loop without a body: only its bounds are asked for.
  tvms_for grid = {.var = var, .min = number(p, attr->value, 0)};
  grid.extent = attr->value;
  outer_part front = make_front(p, &grid, m->interval);
  outer_part back = make_back(p, &grid, m->interval);
  tvms_node *condition = tvms_bool_imm_new(p->unit, true, TVMS_NO_SPAN);
  if (!proves(p, TVMS_NODE_EQ, front.bound, grid.min)) {
    tvms_node *from = build(p, TVMS_NODE_GE, var, front.bound);
    condition = build(p, TVMS_NODE_AND, condition, from);
  }
  if (!proves(p, TVMS_NODE_EQ, back.bound, attr->value)) {
    tvms_node *to = build(p, TVMS_NODE_LT, var, back.bound);
    condition = build(p, TVMS_NODE_AND, condition, to);
  }
  return branch_inside(p, m, condition, (tvms_node *)(uintptr_t)node);
}

// Threads of one block diverge: what holds must hold for each of them.
static tvms_node *partition_threads(tvms_rewriter *r, tvms_list list, uint32_t at) {
  partitioner *p = r->self;
  tvms_node *attr = list.items[at];
  tvms_node *var = tvms_attr_stmt_threads(attr)->var;
  tvms_node *extent = tvms_as_attr_stmt(attr)->value;
  tvms_int_set range = interval_of(p, number(p, extent, 0), extent);
  bool known;
  if (tvms_node_map_get(&p->candidates.loops, attr)) {
    tvms_node *stmt = tail_of(p, list, at);
    tvms_node *rest = tail_of(p, list, at + 1);
    tvms_node *made = find_partition(p, var, range, rest, &known, guard, stmt);
    if (made) return made;
  }
  tvms_domains *domains =
      tvms_stmt_is_grid(p->unit->context, attr) ? &p->hint : &p->relax;
  tvms_domains_set(domains, var, range);
  tvms_node *rest = tvms_rewrite(r, tail_of(p, list, at + 1));
  tvms_domains_drop(domains, var);
  return tvms_stmt_pair(p->unit, attr, rest);
}

static tvms_node *enter_seq(tvms_rewriter *r, tvms_node *node) {
  partitioner *p = r->self;
  tvms_list list = tvms_as_seq(node)->stmts;
  uint32_t at = 0;
  while (at < list.len && !tvms_attr_stmt_threads(list.items[at]))
    at++;
  if (at == list.len) return TVMS_REWRITE_BELOW;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < at; i++) {
    tvms_node *made = tvms_rewrite(r, list.items[i]);
    if (made) tvms_stmt_push(p->unit, &stmts, made);
  }
  tvms_stmt_push_last(p->memory, &stmts, partition_threads(r, list, at));
  return tvms_stmt_seq(p->unit, &stmts, node->span);
}

// ---- What the partition leaves ----

static tvms_node *TVMS_NULLABLE drop_hint(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  bool hint = tvms_bytes_is(tvms_as_attr_stmt(node)->key, "pragma_loop_partition_hint");
  return hint ? NULL : node;
}

static tvms_node *drop_likely(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  tvms_tir_opcode op = tvms_call_opcode(node);
  bool drops = op == TVMS_TIR_likely || op == TVMS_TIR_ignore_loop_partition;
  return drops ? tvms_as_call(node)->args.items[0] : node;
}

static tvms_node *drop_marks(tvms_unit *unit, tvms_node *function) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_CALL] = drop_likely;
  r.leave[TVMS_NODE_ATTR_STMT] = drop_hint;
  function = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return function;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  partitioner p = {.unit = unit, .memory = &run->context->memory};
  bool constant = TVMS_OPTION(run, LoopPartition, partition_const_loop).number != 0;
  p.keep_short =
      TVMS_OPTION(run, LoopPartition, no_unroll_loop_with_extent_one).number != 0;
  p.unroll_hinted =
      TVMS_OPTION(run, LoopPartition, unroll_loop_with_partition_hint_no_interval)
          .number
      != 0;
  p.analyzer = tvms_analyzer_new(unit);
  tvms_domains_init(&p.hint, unit);
  tvms_domains_init(&p.relax, unit);
  tvms_partition_candidates_init(&p.candidates, unit, constant);
  if (tvms_pass_wants_remarks(run)) p.candidates.run = run;
  tvms_rewriter_init(&p.rewriter, unit, &p);
  p.rewriter.roles = TVMS_IN(BODY);
  p.rewriter.enter[TVMS_NODE_FOR] = enter_loop;
  p.rewriter.enter[TVMS_NODE_SEQ] = enter_seq;
  function = drop_marks(unit, partition(&p, function));
  tvms_rewriter_fini(&p.rewriter);
  tvms_partition_candidates_fini(&p.candidates);
  tvms_domains_fini(&p.relax);
  tvms_domains_fini(&p.hint);
  tvms_analyzer_free(p.analyzer);
  return function;
}

void tvms_pass_loop_partition(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
