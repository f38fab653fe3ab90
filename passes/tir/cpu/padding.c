// Finding padding in front of windows, and taking its condition apart.
#include "passes/tir/cpu/padding.h"

#include "arith/analyzer.h"
#include "arith/quotients.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/rows_mask.h"
#include "passes/tir/cpu/segments.h"

enum { NONE = TVMS_MOST_STAGE_AXES };

static bool mentions(tvms_unit *unit, tvms_node *node, const tvms_node *var) {
  return tvms_walk_contains(&unit->context->memory, node, var);
}

// ---- What is combined ----

static bool is_zero(const tvms_node *node) {
  if (node->kind == TVMS_NODE_FLOAT_IMM) return tvms_as_float_imm(node)->value == 0.0;
  return tvms_node_is_int(node, 0);
}

// Does a stage that combines by `kind` stay as it is where the element is `other`?
static bool is_neutral(tvms_node_kind kind, const tvms_stage *stage, tvms_node *other) {
  if (kind == TVMS_NODE_ADD) return is_zero(other);
  bool extreme = kind == TVMS_NODE_MAX || kind == TVMS_NODE_MIN;
  return extreme && stage->init && tvms_node_same_expr(stage->init, other);
}

// What is looked for among the factors of a term.
typedef bool factor_test(const tvms_node *factor,
                         const tvms_node *TVMS_NULLABLE buffer);

static bool loads_from(const tvms_node *factor, const tvms_node *TVMS_NULLABLE buffer) {
  return factor->kind == TVMS_NODE_BUFFER_LOAD
         && tvms_as_buffer_load(factor)->buffer == buffer;
}

static bool chooses(const tvms_node *factor, const tvms_node *TVMS_NULLABLE buffer) {
  (void)buffer;
  return tvms_call_opcode(factor) == TVMS_TIR_if_then_else;
}

// The term itself, or of a sum of products one of the two factors.
static tvms_node *TVMS_NULLABLE factor_of(tvms_node *term, tvms_node_kind kind,
                                          factor_test *test,
                                          const tvms_node *TVMS_NULLABLE buffer) {
  if (test(term, buffer)) return term;
  if (kind != TVMS_NODE_ADD || term->kind != TVMS_NODE_MUL) return NULL;
  const tvms_binary *product = tvms_as_binary(term);
  if (test(product->a, buffer)) return product->a;
  return test(product->b, buffer) ? product->b : NULL;
}

// ---- In a chain ----

// The axis along which a stage stores one element after the other.
static uint32_t line_of(tvms_unit *unit, const tvms_stage *stage) {
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t step;
    if (!stage->axes[i].sums
        && tvms_cpu_step_of(unit, stage->store->buffer, stage->store->indices,
                            stage->axes[i].var, &step)
        && step == 1)
      return i;
  }
  return NONE;
}

// ---- Borders ----

// Steps of a line, from the first and from the last one on, at which the condition may not hold.
enum { MOST_BORDER = 2 };

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  const tvms_stage_axis *line;
} bordered;

// The parts of a condition that change along the line; NULL: there are none. With a `sign`: only those that hold least
// at its end (1), or elsewhere (-1).
static tvms_node *TVMS_NULLABLE along_line(const bordered *b, tvms_node *condition,
                                           int sign) {
  if (condition->kind != TVMS_NODE_AND) {
    if (!mentions(b->unit, condition, b->line->var)) return NULL;
    bool at_end = tvms_line_growth(b->unit, condition, b->line->var) > 0;
    return sign == 0 || at_end == (sign > 0) ? condition : NULL;
  }
  tvms_node *first = along_line(b, tvms_as_binary(condition)->a, sign);
  tvms_node *second = along_line(b, tvms_as_binary(condition)->b, sign);
  if (!first || !second) return first ? first : second;
  return tvms_build_binary(b->unit, TVMS_NODE_AND, first, second, TVMS_NO_SPAN);
}

static tvms_line_range all_of(tvms_unit *unit, const tvms_stage_axis *axis) {
  return (tvms_line_range){tvms_int_imm_new(unit, axis->var->dtype, 0, TVMS_NO_SPAN),
                           axis->extent};
}

static void bind_range(tvms_unit *unit, tvms_analyzer *analyzer,
                       const tvms_stage_axis *axis, const tvms_line_range *range) {
  tvms_node *extent =
      tvms_build_binary(unit, TVMS_NODE_SUB, range->end, range->begin, TVMS_NO_SPAN);
  tvms_analyzer_bind_range(analyzer, axis->var, range->begin, extent);
}

// Does it hold for these steps of the axes of a stage? `analyzer` knows of them, too.
static bool holds(tvms_unit *unit, tvms_analyzer *analyzer, const tvms_stage *stage,
                  const tvms_line_range *ranges, tvms_node *TVMS_NULLABLE condition) {
  if (!condition) return true;
  if (condition->kind == TVMS_NODE_AND) {
    const tvms_binary *both = tvms_as_binary(condition);
    return holds(unit, analyzer, stage, ranges, both->a)
           && holds(unit, analyzer, stage, ranges, both->b);
  }
  if (tvms_node_is_true(tvms_analyzer_simplify(analyzer, condition))) return true;
  for (uint32_t i = 0; i < stage->count; i++)
    condition = tvms_line_least(unit, condition, stage->axes[i].var, &ranges[i]);
  condition = tvms_arith_join_quotients(unit, condition);
  return tvms_node_is_true(tvms_analyzer_simplify(analyzer, condition));
}

// Does a condition hold for steps `range` of the line, and all of the other axes?
static bool holds_along(const bordered *b, tvms_node *TVMS_NULLABLE condition,
                        tvms_line_range range) {
  tvms_line_range ranges[TVMS_MOST_STAGE_AXES];
  tvms_analyzer *analyzer = tvms_analyzer_new(b->unit);
  for (uint32_t i = 0; i < b->stage->count; i++) {
    const tvms_stage_axis *axis = &b->stage->axes[i];
    ranges[i] = axis == b->line ? range : all_of(b->unit, axis);
    bind_range(b->unit, analyzer, axis, &ranges[i]);
  }
  bool made = holds(b->unit, analyzer, b->stage, ranges, condition);
  tvms_analyzer_free(analyzer);
  return made;
}

// The place `steps` behind the begin of the line, or in front of its end.
static tvms_node *place_on(const bordered *b, int64_t steps, bool back) {
  tvms_node *number =
      tvms_int_imm_new(b->unit, b->line->var->dtype, steps, TVMS_NO_SPAN);
  return back ? tvms_build_binary(b->unit, TVMS_NODE_SUB, b->line->extent, number,
                                  TVMS_NO_SPAN)
              : number;
}

// Where the condition holds along the line for all other axes: from `low` steps behind its begin on, up to `high` in
// front of its end. False: a part of it is not known, or many steps are left out. Of a line whose length is not known,
// what holds further on is not asked at its begin: it has more steps than those at both ends.
static bool find_borders(tvms_unit *unit, const tvms_stage *stage,
                         const tvms_stage_axis *line, tvms_node *condition,
                         int64_t *low, int64_t *high) {
  bordered b = {unit, stage, line};
  int64_t length = tvms_cpu_number(line->extent);
  *low = *high = 0;
  tvms_node *all = along_line(&b, condition, 0);
  if (!all) return true;
  if (length >= 0 && length < 2 * MOST_BORDER + 1) return false;
  tvms_node *at_begin = length < 0 ? along_line(&b, condition, -1) : all;
  tvms_node *at_end = length < 0 ? along_line(&b, condition, 1) : all;
  while (*low < MOST_BORDER
         && !holds_along(&b, at_begin,
                         (tvms_line_range){place_on(&b, *low, false),
                                           place_on(&b, *low + 1, false)}))
    ++*low;
  while (*high < MOST_BORDER
         && !holds_along(&b, at_end,
                         (tvms_line_range){place_on(&b, *high + 1, true),
                                           place_on(&b, *high, true)}))
    ++*high;
  return holds_along(
      &b, all, (tvms_line_range){place_on(&b, *low, false), place_on(&b, *high, true)});
}

bool tvms_line_padding_borders(tvms_unit *unit, const tvms_line_member *m,
                               tvms_node *condition, const tvms_stage_axis *axis,
                               int64_t *low, int64_t *high) {
  return find_borders(unit, &m->stage, axis, condition, low, high);
}

void tvms_line_padding_cuts(const tvms_line_member *m, tvms_node *condition,
                            tvms_line_cuts *cuts) {
  const tvms_stage_axis *line = &m->stage.axes[m->own[m->own_count - 1]];
  int64_t low, high;
  if (!find_borders(cuts->unit, &m->stage, line, condition, &low, &high)) return;
  for (int64_t at = 1; at <= low; at++)
    tvms_line_cuts_add(cuts, at);
  for (int64_t at = 1; at <= high; at++)
    tvms_line_cuts_add_back(cuts, at);
}

// ---- Lines ----

// What `from` chooses by, at a load of its result.
static tvms_node *condition_at(tvms_unit *unit, const tvms_stage *from,
                               tvms_node *condition, const tvms_buffer_load *load) {
  tvms_node_map now;
  tvms_node_map_init(&now, &unit->context->memory);
  for (uint32_t d = 0; d < load->indices.len; d++) {
    uint32_t axis = tvms_stage_axis_of(from, from->store->indices.items[d]);
    if (axis < NONE)
      tvms_node_map_put(&now, from->axes[axis].var, load->indices.items[d]);
  }
  tvms_node *made = tvms_stage_value_at(unit, condition, &now);
  tvms_node_map_fini(&now);
  return made;
}

// Does `load` go along the line of `to` in steps of several elements, with few of them in the padding?
static bool strides(tvms_unit *unit, const tvms_stage *from, const tvms_call *choice,
                    const tvms_stage *to, const tvms_buffer_load *load, uint32_t line) {
  int64_t step, low, high;
  const tvms_stage_axis *axis = &to->axes[line];
  if (!tvms_cpu_step_of(unit, load->buffer, load->indices, axis->var, &step)
      || step < 2)
    return false;
  tvms_node *condition = condition_at(unit, from, choice->args.items[0], load);
  return find_borders(unit, to, axis, condition, &low, &high);
}

// Is a line of `to` one vector, of which lanes can be left out, and does `load` go along it by one or two
// elements?
static bool can_leave_lanes(const tvms_chain *chain, const tvms_stage *to,
                            const tvms_buffer_load *load, uint32_t line) {
  int64_t step;
  return tvms_line_masked_lanes(chain->unit, chain->mask_bits, to, line) > 0
         && tvms_cpu_step_of(chain->unit, load->buffer, load->indices,
                             to->axes[line].var, &step)
         && (step == 1 || step == 2);
}

// Is a line of `to`, at `load`, a line of what `from` chooses, under one condition?
static bool has_whole_lines(const tvms_chain *chain, const tvms_stage *from,
                            const tvms_call *choice, const tvms_stage *to,
                            const tvms_buffer_load *load) {
  tvms_unit *unit = chain->unit;
  uint32_t line = line_of(unit, to), links[TVMS_MOST_STAGE_AXES];
  if (line == NONE || choice->args.items[1]->kind != TVMS_NODE_BUFFER_LOAD)
    return false;
  if (can_leave_lanes(chain, to, load, line)
      || strides(unit, from, choice, to, load, line))
    return true;
  const tvms_buffer_load *chosen = tvms_as_buffer_load(choice->args.items[1]);
  tvms_line_link(from, to, load, links);
  uint32_t own = 0;
  while (own < from->count && links[own] != line)
    own++;
  if (own == from->count) return false;
  const tvms_node *var = from->axes[own].var;
  int64_t step;
  if (mentions(unit, choice->args.items[0], var)
      || !tvms_cpu_step_of(unit, chosen->buffer, chosen->indices, var, &step)
      || step != 1)
    return false;
  // No other axis of the load may slide along the line.
  for (uint32_t i = 0; i < from->count; i++) {
    if (links[i] != NONE) continue;
    for (uint32_t d = 0; d < load->indices.len; d++) {
      bool here = from->store->indices.items[d] == from->axes[i].var;
      if (here && mentions(unit, load->indices.items[d], to->axes[line].var))
        return false;
    }
  }
  return true;
}

bool tvms_line_padding_adds_nothing(const tvms_chain *chain, const tvms_stage *from,
                                    const tvms_stage *to) {
  const tvms_node *value = from->store->value, *buffer = from->store->buffer;
  tvms_node_kind kind = (tvms_node_kind)to->store->value->kind;
  bool combines =
      kind == TVMS_NODE_ADD || kind == TVMS_NODE_MAX || kind == TVMS_NODE_MIN;
  if (!combines || !chooses(value, NULL) || !tvms_stage_has_sums(to)) return false;
  const tvms_call *choice = tvms_as_call(value);
  if (!is_neutral(kind, to, choice->args.items[2])) return false;
  const tvms_binary *sum = tvms_as_binary(to->store->value);
  tvms_node *term = loads_from(sum->a, to->store->buffer) ? sum->b : sum->a;
  const tvms_node *load = factor_of(term, kind, loads_from, buffer);
  return load && has_whole_lines(chain, from, choice, to, tvms_as_buffer_load(load));
}

// ---- Of a member ----

static tvms_node *take_chosen(tvms_rewriter *r, tvms_node *node) {
  return r->old == r->self ? tvms_as_call(node)->args.items[1] : node;
}

tvms_node *TVMS_NULLABLE tvms_line_padding_condition(tvms_unit *unit,
                                                     const tvms_line_member *m,
                                                     bool masked, tvms_node **term) {
  if (m->kind != TVMS_LINE_COLUMN || m->own_count == 0) return NULL;
  tvms_node *found = factor_of(m->term, m->combine, chooses, NULL);
  if (!found) return NULL;
  const tvms_call *choice = tvms_as_call(found);
  tvms_node *condition = choice->args.items[0];
  int64_t low, high;
  const tvms_stage_axis *line = &m->stage.axes[m->own[m->own_count - 1]];
  if (!is_neutral(m->combine, &m->stage, choice->args.items[2])
      || (!masked && !find_borders(unit, &m->stage, line, condition, &low, &high)))
    return NULL;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, found);
  r.leave[TVMS_NODE_CALL] = take_chosen;
  *term = tvms_rewrite(&r, m->term);
  tvms_rewriter_fini(&r);
  return condition;
}

typedef struct {
  tvms_node *found, *lanes;
} choosing;

static tvms_node *choose_lanes(tvms_rewriter *r, tvms_node *node) {
  const choosing *c = r->self;
  if (r->old != c->found) return node;
  const tvms_call *choice = tvms_as_call(node);
  tvms_node *args[] = {c->lanes, choice->args.items[1], choice->args.items[2]};
  return tvms_call_new_of(r->unit, node->dtype, TVMS_TIR_if_then_else, args, 3,
                          node->span);
}

tvms_node *tvms_line_padding_chosen(tvms_unit *unit, const tvms_line_member *m,
                                    tvms_node *lanes) {
  choosing c = {factor_of(m->term, m->combine, chooses, NULL), lanes};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &c);
  r.leave[TVMS_NODE_CALL] = choose_lanes;
  tvms_node *made = tvms_rewrite(&r, m->term);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- Splitting ----

typedef struct {
  tvms_unit *unit;
  const tvms_line_member *member;
  const tvms_line_part *part;
  const tvms_line_range *ranges;  // of all axes
  tvms_analyzer *analyzer;
  tvms_line_padding_guards *guards;
} splitting;

static const tvms_stage_axis *line_axis(const tvms_line_member *m) {
  return &m->stage.axes[m->own[m->own_count - 1]];
}

static void put(const splitting *s, tvms_node **guard, tvms_node *part) {
  *guard = *guard
               ? tvms_build_binary(s->unit, TVMS_NODE_AND, *guard, part, TVMS_NO_SPAN)
               : part;
}

static void sort_part(const splitting *s, tvms_node *part) {
  if (part->kind == TVMS_NODE_AND) {
    sort_part(s, tvms_as_binary(part)->a);
    sort_part(s, tvms_as_binary(part)->b);
    return;
  }
  if (holds(s->unit, s->analyzer, &s->member->stage, s->ranges, part)) return;
  const tvms_node *line = line_axis(s->member)->var;
  if (s->part->masked && mentions(s->unit, part, line)) {
    put(s, &s->guards->lanes, part);
    return;
  }
  // Borders of a line are segments of one element.
  if (s->part->line.end && mentions(s->unit, part, line))
    part = tvms_arith_simplify(
        s->unit, tvms_substitute_one(s->unit, part, line, s->part->line.begin));
  if (s->part->around && mentions(s->unit, part, s->part->around->var)) {
    put(s, &s->guards->tile, part);
    return;
  }
  const tvms_stage *stage = &s->member->stage;
  for (uint32_t i = stage->count; i-- > 0;) {
    if (!stage->axes[i].sums || !mentions(s->unit, part, stage->axes[i].var)) continue;
    put(s, &s->guards->levels[i], part);
    return;
  }
  put(s, &s->guards->always, part);
}

// Steps that are counted from one end of an axis of unknown length, as far as what holds `inside` of it is to be asked.
static tvms_line_range limited(tvms_line_range range, const tvms_line_range *inside) {
  if (!inside->end) return range;
  bool from_begin = tvms_node_is_int_imm(range.end);
  bool from_end = !tvms_node_is_int_imm(range.begin);
  return (tvms_line_range){from_end ? inside->begin : range.begin,
                           from_begin ? inside->end : range.end};
}

// The steps of an axis that a part has; `least`: those for which its condition is asked.
static tvms_line_range steps_of(tvms_unit *unit, const tvms_line_member *m,
                                const tvms_stage_axis *axis, const tvms_line_part *part,
                                bool least) {
  bool around = part->around && axis->var == part->around->var;
  bool line = !around && axis == line_axis(m);
  tvms_line_range range = around ? part->tile
                          : line ? part->line
                                 : (tvms_line_range){0};
  if (!range.end) return all_of(unit, axis);
  return least ? limited(range, around ? &part->tile_inside : &part->line_inside)
               : range;
}

tvms_line_padding_guards tvms_line_padding_split(tvms_unit *unit,
                                                 const tvms_line_member *m,
                                                 tvms_node *condition,
                                                 const tvms_line_part *part) {
  tvms_line_padding_guards guards = {.always = NULL};
  tvms_line_range ranges[TVMS_MOST_STAGE_AXES];
  splitting s = {unit, m, part, ranges, tvms_analyzer_new(unit), &guards};
  for (uint32_t i = 0; i < m->stage.count; i++) {
    const tvms_stage_axis *axis = &m->stage.axes[i];
    ranges[i] = steps_of(unit, m, axis, part, true);
    tvms_line_range range = steps_of(unit, m, axis, part, false);
    bind_range(unit, s.analyzer, axis, &range);
  }
  sort_part(&s, condition);
  tvms_analyzer_free(s.analyzer);
  return guards;
}
