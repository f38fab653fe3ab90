// Cutting lines where conditions change: T.if_then_else(1 <= j and j < n, …) is three pieces, and so is what loads
// from a place that T.Select chooses, as reflected borders do.
#include "passes/tir/cpu/segments.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

// ---- Places ----

tvms_line_cuts tvms_line_cuts_new(tvms_unit *unit, tvms_node *length) {
  return (tvms_line_cuts){.unit = unit, .length = length};
}

// Adds `at` to numbers that become larger, or smaller.
static void insert(int64_t *items, uint32_t *count, int64_t at, bool larger) {
  uint32_t i = 0;
  while (i < *count && (larger ? items[i] < at : items[i] > at))
    i++;
  if (i < *count && items[i] == at) return;
  for (uint32_t k = *count; k > i; k--)
    items[k] = items[k - 1];
  items[i] = at;
  ++*count;
}

// Of a line whose length is not known, few are so long that more steps than FARTHEST come before a cut, and what compares with
// the greatest number of a dtype means none.
static bool has_room(const tvms_line_cuts *cuts, int64_t at) {
  enum { FARTHEST = 1 << 20 };
  int64_t length = tvms_cpu_number(cuts->length);
  return at > 0 && (length < 0 ? at <= FARTHEST : at < length)
         && cuts->begins + cuts->ends + 1 < TVMS_MOST_SEGMENTS;
}

void tvms_line_cuts_add(tvms_line_cuts *cuts, int64_t at) {
  if (has_room(cuts, at)) insert(cuts->begin, &cuts->begins, at, true);
}

void tvms_line_cuts_add_back(tvms_line_cuts *cuts, int64_t at) {
  int64_t length = tvms_cpu_number(cuts->length);
  if (length >= 0)
    tvms_line_cuts_add(cuts, length - at);
  else if (has_room(cuts, at))
    insert(cuts->end, &cuts->ends, at, false);
}

int64_t tvms_line_cuts_least(const tvms_line_cuts *cuts) {
  int64_t first = cuts->begins ? cuts->begin[cuts->begins - 1] : 0;
  return first + (cuts->ends ? cuts->end[0] : 0);
}

// Where cut `at` is; from 1 on, 0 being the begin of the line.
static tvms_node *place_of(const tvms_line_cuts *cuts, uint32_t at) {
  tvms_dtype dtype = cuts->length->dtype;
  bool begins = at <= cuts->begins;
  if (!begins && at > cuts->begins + cuts->ends) return cuts->length;
  int64_t steps = at == 0  ? 0
                  : begins ? cuts->begin[at - 1]
                           : cuts->end[at - 1 - cuts->begins];
  tvms_node *number = tvms_int_imm_new(cuts->unit, dtype, steps, TVMS_NO_SPAN);
  if (begins) return number;
  return tvms_arith_simplify(
      cuts->unit,
      tvms_build_binary(cuts->unit, TVMS_NODE_SUB, cuts->length, number, TVMS_NO_SPAN));
}

tvms_line_range tvms_line_cuts_segment(const tvms_line_cuts *cuts, uint32_t at) {
  return (tvms_line_range){place_of(cuts, at), place_of(cuts, at + 1)};
}

// ---- Conditions ----

typedef struct {
  tvms_line_cuts *cuts;
  const tvms_node *line;
  uint32_t depth;  // loads around
} cutting;

// a - b along the line: `rest` at its first step, and what it grows by with each further one. False: it is not linear.
static bool linear(tvms_unit *unit, const tvms_node *line, tvms_node *a, tvms_node *b,
                   int64_t *step, tvms_node **rest) {
  tvms_node *minus = tvms_build_binary(unit, TVMS_NODE_SUB, a, b, TVMS_NO_SPAN);
  if (!minus) return false;
  tvms_node *values[2];
  for (uint32_t i = 0; i < 2; i++) {
    tvms_node *at = tvms_int_imm_new(unit, line->dtype, i, TVMS_NO_SPAN);
    tvms_node *value = tvms_substitute_one(unit, minus, line, at);
    values[i] = tvms_arith_simplify(unit, value);
  }
  *rest = values[0];
  tvms_node *grows =
      tvms_build_binary(unit, TVMS_NODE_SUB, values[1], values[0], TVMS_NO_SPAN);
  if (!grows) return false;
  grows = tvms_arith_simplify(unit, grows);
  if (!tvms_node_is_int_imm(grows)) return false;
  *step = tvms_as_int_imm(grows)->value;
  return true;
}

// The sides of a comparison as those of a < b or a <= b; true: of the latter. False for others than those of indices.
static bool sides_of(const tvms_node *node, tvms_node **a, tvms_node **b, bool *equal) {
  if (node->kind < TVMS_NODE_LT || node->kind > TVMS_NODE_GE) return false;
  const tvms_binary *binary = tvms_as_binary(node);
  bool turned = node->kind == TVMS_NODE_GT || node->kind == TVMS_NODE_GE;
  *a = turned ? binary->b : binary->a;
  *b = turned ? binary->a : binary->b;
  *equal = node->kind == TVMS_NODE_LE || node->kind == TVMS_NODE_GE;
  return tvms_dtype_is_index((*a)->dtype);
}

// Adds the place that is `rest` with the opposite sign, if `negated`, and `more`: a number, or one that is subtracted
// from the length.
static void add_place(tvms_line_cuts *cuts, tvms_node *rest, bool negated,
                      int64_t more) {
  tvms_unit *unit = cuts->unit;
  tvms_node *number = tvms_int_imm_new(unit, rest->dtype, more, TVMS_NO_SPAN);
  tvms_node *at = tvms_build_binary(unit, negated ? TVMS_NODE_SUB : TVMS_NODE_ADD,
                                    number, rest, TVMS_NO_SPAN);
  if (!at) return;
  at = tvms_arith_simplify(unit, at);
  if (tvms_node_is_int_imm(at)) {
    tvms_line_cuts_add(cuts, tvms_as_int_imm(at)->value);
    return;
  }
  tvms_node *back =
      tvms_build_binary(unit, TVMS_NODE_SUB, cuts->length, at, TVMS_NO_SPAN);
  back = back ? tvms_arith_simplify(unit, back) : NULL;
  if (back && tvms_node_is_int_imm(back))
    tvms_line_cuts_add_back(cuts, tvms_as_int_imm(back)->value);
}

static void cut_comparison(cutting *c, const tvms_node *node);

// What one of a comparison's sides chooses among counts on its own: Select(1 <= j, j, 0 - j) <= n
static bool cut_chosen(cutting *c, const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  bool first = binary->a->kind == TVMS_NODE_SELECT;
  if (!first && binary->b->kind != TVMS_NODE_SELECT) return false;
  const tvms_select *choice = tvms_as_select(first ? binary->a : binary->b);
  tvms_node *values[] = {choice->true_value, choice->false_value};
  for (uint32_t i = 0; i < 2; i++) {
    tvms_node *a = first ? values[i] : binary->a, *b = first ? binary->b : values[i];
    tvms_node *made = tvms_build_binary(c->cuts->unit, (tvms_node_kind)node->kind, a, b,
                                        TVMS_NO_SPAN);
    if (made && made->kind == node->kind) cut_comparison(c, made);
  }
  return true;
}

static void cut_comparison(cutting *c, const tvms_node *node) {
  if (cut_chosen(c, node)) return;
  tvms_node *a, *b, *rest;
  bool equal;
  int64_t step;
  // step * line + rest < 0, or <= 0
  if (!sides_of(node, &a, &b, &equal)
      || !linear(c->cuts->unit, c->line, a, b, &step, &rest)
      || (step != 1 && step != -1))
    return;
  add_place(c->cuts, rest, step > 0, step > 0 ? equal : !equal);
}

static tvms_walk_step find_comparison(void *self, tvms_node *node,
                                      tvms_field_role role) {
  (void)role;
  cutting *c = self;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_SKIP;
  bool compares = node->kind >= TVMS_NODE_LT && node->kind <= TVMS_NODE_GE;
  if (compares && tvms_walk_contains(&c->cuts->unit->context->memory, node, c->line))
    cut_comparison(c, node);
  return compares ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// The condition of T.if_then_else, or of T.Select where it says what is loaded: among values that is quicker in lanes.
static tvms_node *TVMS_NULLABLE condition_of(const tvms_node *node, bool is_place) {
  if (is_place && node->kind == TVMS_NODE_SELECT)
    return tvms_as_select(node)->condition;
  bool asks = tvms_call_opcode(node) == TVMS_TIR_if_then_else;
  return asks ? tvms_as_call(node)->args.items[0] : NULL;
}

static tvms_walk_step find_choice(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  cutting *c = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  c->depth += node->kind == TVMS_NODE_BUFFER_LOAD;
  tvms_node *condition = condition_of(node, c->depth > 0);
  if (!condition) return TVMS_WALK_ON;
  tvms_visitor visitor = {.self = c, .enter = find_comparison};
  tvms_walk(&c->cuts->unit->context->memory, condition, &visitor);
  return TVMS_WALK_ON;
}

static void leave_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  ((cutting *)self)->depth -= node->kind == TVMS_NODE_BUFFER_LOAD;
}

void tvms_line_cuts_find(tvms_line_cuts *cuts, tvms_node *expr, const tvms_node *line) {
  cutting c = {cuts, line, 0};
  tvms_visitor visitor = {.self = &c, .enter = find_choice, .leave = leave_load};
  tvms_walk(&cuts->unit->context->memory, expr, &visitor);
}

typedef struct {
  tvms_memory *memory;
  const tvms_node *var;
} asking;

static tvms_walk_step find_asking(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const asking *a = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool asks =
      tvms_call_opcode(node) == TVMS_TIR_if_then_else
      && tvms_walk_contains(a->memory, tvms_as_call(node)->args.items[0], a->var);
  return asks ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_line_cuts_suffice(tvms_unit *unit, tvms_node *expr,
                            const tvms_stage_axis *axis) {
  if (tvms_cpu_number(axis->extent) < 1) return false;
  asking a = {&unit->context->memory, axis->var};
  tvms_visitor visitor = {.self = &a, .enter = find_asking};
  tvms_line_cuts cuts = tvms_line_cuts_new(unit, axis->extent);
  tvms_line_cuts_find(&cuts, expr, axis->var);
  for (uint32_t i = 0; i <= cuts.begins; i++) {
    tvms_line_range range = tvms_line_cuts_segment(&cuts, i);
    tvms_node *made = tvms_line_between(unit, expr, axis->var, &range);
    if (!tvms_walk(a.memory, made, &visitor)) return false;
  }
  return true;
}

// ---- What is known between two cuts ----

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  const tvms_node *var;
  const tvms_line_range *range;
} settling;

static tvms_node *at_end(tvms_unit *unit, tvms_node *condition, const tvms_node *var,
                         const tvms_line_range *range, bool last) {
  tvms_node *at = range->begin;
  if (last)
    at = tvms_build_binary(unit, TVMS_NODE_SUB, range->end,
                           tvms_int_imm_new(unit, var->dtype, 1, TVMS_NO_SPAN),
                           TVMS_NO_SPAN);
  return tvms_substitute_one(unit, condition, var, at);
}

int64_t tvms_line_growth(tvms_unit *unit, tvms_node *comparison, const tvms_node *var) {
  tvms_node *a, *b;
  bool equal;
  int64_t of_a, of_b, step;
  bool known = sides_of(comparison, &a, &b, &equal)
               && tvms_cpu_index_step(unit, a, var, &of_a)
               && tvms_cpu_index_step(unit, b, var, &of_b)
               && !__builtin_sub_overflow(of_a, of_b, &step);
  return known ? step : 0;
}

tvms_node *tvms_line_least(tvms_unit *unit, tvms_node *comparison, const tvms_node *var,
                           const tvms_line_range *range) {
  int64_t step = tvms_line_growth(unit, comparison, var);
  return step ? at_end(unit, comparison, var, range, step > 0) : comparison;
}

static tvms_node *settle_comparison(const settling *s, tvms_node *condition) {
  int64_t step = tvms_line_growth(s->unit, condition, s->var);
  if (step == 0) return condition;
  tvms_node *ends[2];
  for (uint32_t i = 0; i < 2; i++)
    ends[i] = tvms_analyzer_simplify(
        s->analyzer, at_end(s->unit, condition, s->var, s->range, i == (step > 0)));
  // It holds least at the end of [1], and most at that of [0].
  if (tvms_node_is_true(ends[1])) return ends[1];
  return tvms_node_is_int(ends[0], 0) ? ends[0] : condition;
}

static tvms_node *settle(const settling *s, tvms_node *condition) {
  if (condition->kind != TVMS_NODE_AND && condition->kind != TVMS_NODE_OR)
    return settle_comparison(s, condition);
  const tvms_binary *binary = tvms_as_binary(condition);
  tvms_node *a = settle(s, binary->a), *b = settle(s, binary->b);
  if (a == binary->a && b == binary->b) return condition;
  return tvms_build_binary(s->unit, (tvms_node_kind)condition->kind, a, b,
                           TVMS_NO_SPAN);
}

tvms_node *tvms_line_settle(tvms_analyzer *analyzer, tvms_unit *unit,
                            tvms_node *condition, const tvms_node *var,
                            const tvms_line_range *range) {
  settling s = {unit, analyzer, var, range};
  return range->end ? settle(&s, condition) : condition;
}

// A condition as it is between two cuts.
static tvms_node *known(tvms_rewriter *r, tvms_node *condition) {
  const settling *s = r->self;
  condition = tvms_analyzer_simplify(s->analyzer, condition);
  tvms_node *settled =
      tvms_node_is_int_imm(condition) ? condition : settle(s, condition);
  return settled == condition ? condition
                              : tvms_analyzer_simplify(s->analyzer, settled);
}

static tvms_node *choose(tvms_rewriter *r, tvms_node *node) {
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else) return node;
  const tvms_call *call = tvms_as_call(node);
  tvms_node *condition = known(r, call->args.items[0]);
  if (tvms_node_is_int_imm(condition))
    return call->args.items[tvms_node_is_true(condition) ? 1 : 2];
  if (condition == call->args.items[0]) return node;
  tvms_node *args[] = {condition, call->args.items[1], call->args.items[2]};
  return tvms_call_new_of(r->unit, node->dtype, TVMS_TIR_if_then_else, args, 3,
                          node->span);
}

static tvms_node *choose_value(tvms_rewriter *r, tvms_node *node) {
  const tvms_select *choice = tvms_as_select(node);
  if (!tvms_dtype_is_index(node->dtype)) return node;
  tvms_node *condition = known(r, choice->condition);
  if (!tvms_node_is_int_imm(condition)) return node;
  return tvms_node_is_true(condition) ? choice->true_value : choice->false_value;
}

tvms_node *tvms_line_between(tvms_unit *unit, tvms_node *expr, const tvms_node *line,
                             const tvms_line_range *range) {
  settling s = {unit, tvms_analyzer_new(unit), line, range};
  tvms_node *steps =
      tvms_build_binary(unit, TVMS_NODE_SUB, range->end, range->begin, TVMS_NO_SPAN);
  tvms_analyzer_bind_range(s.analyzer, line, range->begin, steps);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.leave[TVMS_NODE_CALL] = choose;
  r.leave[TVMS_NODE_SELECT] = choose_value;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(s.analyzer);
  return made;
}
