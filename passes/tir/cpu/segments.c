// Cutting lines where conditions change: T.if_then_else(1 <= j and j < n, …) is three pieces, and so is what loads
// from a place that T.Select chooses, as reflected borders do.
#include "passes/tir/cpu/segments.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_unit *unit;
  const tvms_node *line;
  int64_t length;
  int64_t *cuts;
  uint32_t count;
  uint32_t depth;  // loads around
} cutting;

uint32_t tvms_line_add_cut(int64_t *cuts, uint32_t count, int64_t length, int64_t at) {
  if (at <= 0 || at >= length) return count;
  uint32_t i = 0;
  while (i < count && cuts[i] < at)
    i++;
  if (i < count && cuts[i] == at) return count;
  if (count + 1 >= TVMS_MOST_SEGMENTS) return count;
  for (uint32_t k = count; k > i; k--)
    cuts[k] = cuts[k - 1];
  cuts[i] = at;
  return count + 1;
}

static void add_cut(cutting *c, int64_t at) {
  c->count = tvms_line_add_cut(c->cuts, c->count, c->length, at);
}

// `a < b` changes where line * step + rest is 0 for the first time, step being 1 or -1.
static bool linear(cutting *c, tvms_node *a, tvms_node *b, int64_t *step,
                   int64_t *rest) {
  tvms_unit *unit = c->unit;
  tvms_node *minus = tvms_build_binary(unit, TVMS_NODE_SUB, a, b, TVMS_NO_SPAN);
  if (!minus) return false;
  tvms_node *zero = tvms_int_imm_new(unit, c->line->dtype, 0, TVMS_NO_SPAN);
  tvms_node *one = tvms_int_imm_new(unit, c->line->dtype, 1, TVMS_NO_SPAN);
  tvms_node *at[2] = {zero, one};
  int64_t values[2];
  for (uint32_t i = 0; i < 2; i++) {
    tvms_node *value = tvms_substitute_one(unit, minus, c->line, at[i]);
    value = tvms_arith_simplify(unit, value);
    if (!tvms_node_is_int_imm(value)) return false;
    values[i] = tvms_cpu_number(value);
  }
  *rest = values[0];
  *step = values[1] - values[0];
  return *step == 1 || *step == -1;
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
    tvms_node *made =
        tvms_build_binary(c->unit, (tvms_node_kind)node->kind, a, b, TVMS_NO_SPAN);
    if (made && made->kind == node->kind) cut_comparison(c, made);
  }
  return true;
}

static void cut_comparison(cutting *c, const tvms_node *node) {
  if (cut_chosen(c, node)) return;
  const tvms_binary *binary = tvms_as_binary(node);
  tvms_node *a = binary->a, *b = binary->b;
  bool equal = node->kind == TVMS_NODE_LE || node->kind == TVMS_NODE_GE;
  if (node->kind == TVMS_NODE_GT || node->kind == TVMS_NODE_GE) {
    a = binary->b;
    b = binary->a;
  }
  int64_t step, rest;
  if (!tvms_dtype_is_index(a->dtype) || !linear(c, a, b, &step, &rest)) return;
  // step * line + rest < 0, or <= 0
  add_cut(c, step > 0 ? -rest + equal : rest + !equal);
}

static tvms_walk_step find_comparison(void *self, tvms_node *node,
                                      tvms_field_role role) {
  (void)role;
  cutting *c = self;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_SKIP;
  bool compares = node->kind >= TVMS_NODE_LT && node->kind <= TVMS_NODE_GE;
  if (compares && tvms_walk_contains(&c->unit->context->memory, node, c->line))
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
  tvms_walk(&c->unit->context->memory, condition, &visitor);
  return TVMS_WALK_ON;
}

static void leave_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  ((cutting *)self)->depth -= node->kind == TVMS_NODE_BUFFER_LOAD;
}

uint32_t tvms_line_cuts(tvms_unit *unit, tvms_node *expr, const tvms_node *line,
                        int64_t length, int64_t *cuts, uint32_t count) {
  cutting c = {unit, line, length, cuts, count, 0};
  tvms_visitor visitor = {.self = &c, .enter = find_choice, .leave = leave_load};
  tvms_walk(&unit->context->memory, expr, &visitor);
  return c.count;
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
  int64_t cuts[TVMS_MOST_SEGMENTS], length = tvms_cpu_number(axis->extent), begin = 0;
  if (length < 1) return false;
  asking a = {&unit->context->memory, axis->var};
  tvms_visitor visitor = {.self = &a, .enter = find_asking};
  uint32_t count = tvms_line_cuts(unit, expr, axis->var, length, cuts, 0);
  for (uint32_t i = 0; i <= count; i++) {
    int64_t end = i < count ? cuts[i] : length;
    tvms_node *made = tvms_line_between(unit, expr, axis->var, begin, end);
    if (!tvms_walk(a.memory, made, &visitor)) return false;
    begin = end;
  }
  return true;
}

static tvms_node *choose(tvms_rewriter *r, tvms_node *node) {
  if (tvms_call_opcode(node) != TVMS_TIR_if_then_else) return node;
  const tvms_call *call = tvms_as_call(node);
  tvms_node *condition = tvms_analyzer_simplify(r->self, call->args.items[0]);
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
  tvms_node *condition = tvms_analyzer_simplify(r->self, choice->condition);
  if (!tvms_node_is_int_imm(condition)) return node;
  return tvms_node_is_true(condition) ? choice->true_value : choice->false_value;
}

tvms_node *tvms_line_between(tvms_unit *unit, tvms_node *expr, const tvms_node *line,
                             int64_t begin, int64_t end) {
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  tvms_analyzer_bind_range(
      analyzer, line, tvms_int_imm_new(unit, line->dtype, begin, TVMS_NO_SPAN),
      tvms_int_imm_new(unit, line->dtype, end - begin, TVMS_NO_SPAN));
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, analyzer);
  r.leave[TVMS_NODE_CALL] = choose;
  r.leave[TVMS_NODE_SELECT] = choose_value;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(analyzer);
  return made;
}
