// Finding padding in front of windows, and taking its condition apart.
#include "passes/tir/cpu/padding.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

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

// Is a line of `to`, at `load`, a line of what `from` chooses, under one condition?
static bool has_whole_lines(tvms_unit *unit, const tvms_stage *from,
                            const tvms_call *choice, const tvms_stage *to,
                            const tvms_buffer_load *load) {
  uint32_t line = line_of(unit, to), links[TVMS_MOST_STAGE_AXES];
  if (line == NONE || choice->args.items[1]->kind != TVMS_NODE_BUFFER_LOAD)
    return false;
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

bool tvms_line_padding_adds_nothing(tvms_unit *unit, const tvms_stage *from,
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
  return load && has_whole_lines(unit, from, choice, to, tvms_as_buffer_load(load));
}

// ---- Of a member ----

static tvms_node *take_chosen(tvms_rewriter *r, tvms_node *node) {
  return r->old == r->self ? tvms_as_call(node)->args.items[1] : node;
}

tvms_node *TVMS_NULLABLE tvms_line_padding_condition(tvms_unit *unit,
                                                     const tvms_line_member *m,
                                                     tvms_node **term) {
  if (m->kind != TVMS_LINE_COLUMN || m->own_count == 0) return NULL;
  tvms_node *found = factor_of(m->term, m->combine, chooses, NULL);
  if (!found) return NULL;
  const tvms_call *choice = tvms_as_call(found);
  tvms_node *condition = choice->args.items[0];
  if (!is_neutral(m->combine, &m->stage, choice->args.items[2])
      || mentions(unit, condition, m->stage.axes[m->own[m->own_count - 1]].var))
    return NULL;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, found);
  r.leave[TVMS_NODE_CALL] = take_chosen;
  *term = tvms_rewrite(&r, m->term);
  tvms_rewriter_fini(&r);
  return condition;
}

// ---- Splitting ----

typedef struct {
  tvms_unit *unit;
  const tvms_line_member *member;
  const tvms_stage_axis *TVMS_NULLABLE around;
  tvms_analyzer *analyzer;
  tvms_line_padding_guards *guards;
} splitting;

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
  if (tvms_node_is_true(tvms_analyzer_simplify(s->analyzer, part))) return;
  if (s->around && mentions(s->unit, part, s->around->var)) {
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

tvms_line_padding_guards tvms_line_padding_split(
    tvms_unit *unit, const tvms_line_member *m, tvms_node *condition,
    const tvms_stage_axis *TVMS_NULLABLE around, int64_t low, int64_t high) {
  tvms_line_padding_guards guards = {.always = NULL};
  splitting s = {unit, m, around, tvms_analyzer_new(unit), &guards};
  for (uint32_t i = 0; i < m->stage.count; i++) {
    const tvms_stage_axis *axis = &m->stage.axes[i];
    bool part = around && axis->var == around->var && high > 0;
    tvms_node *first =
        tvms_int_imm_new(unit, axis->var->dtype, part ? low : 0, TVMS_NO_SPAN);
    tvms_node *extent =
        part ? tvms_int_imm_new(unit, axis->var->dtype, high - low, TVMS_NO_SPAN)
             : axis->extent;
    tvms_analyzer_bind_range(s.analyzer, axis->var, first, extent);
  }
  sort_part(&s, condition);
  tvms_analyzer_free(s.analyzer);
  return guards;
}
