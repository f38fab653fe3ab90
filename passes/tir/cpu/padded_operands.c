// Taking padding out of sums of products.
//
// Before: Y[i, j] = sum over k, l of (X[i + k - 1, j + l - 1] if 1 <= i + k and i + k <= n and … else 0) * W[k, l]
// After:  padded[p, q] = X[p - 1, q - 1] if 1 <= p and p <= n and … else 0
//         Y[i, j] = sum over k, l of padded[i + k, j + l] * W[k, l]
//
// The copy has an element for each value that the operand's indices take, and each condition must be one on
// one of them.
#include "passes/tir/cpu/padded_operands.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/groups.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

#include <math.h>

enum { MOST_CONDITIONS = 16, MOST_DIMS = 8 };

typedef tvms_zero_choice choice;

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_node *conditions
      [MOST_CONDITIONS];  // comparisons that all hold where the operand counts
  uint32_t count;
  tvms_node *operand;                             // the load that is padded
  tvms_node *low[MOST_DIMS], *extent[MOST_DIMS];  // of its indices
  tvms_node *place[MOST_DIMS];                    // variables of the copy
  tvms_node *copy;                                // a load of it
} padding;

static tvms_node *build(const padding *p, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(p->unit, kind, a, b, TVMS_NO_SPAN);
}

// ---- Conditions ----

static bool is_zero(const tvms_node *node) {
  if (node->kind == TVMS_NODE_FLOAT_IMM) {
    double value = tvms_as_float_imm(node)->value;
    return value == 0 && !signbit(value);
  }
  return tvms_node_is_int(node, 0);
}

bool tvms_cpu_read_zero_choice(tvms_node *node, choice *c) {
  tvms_node *yes, *no;
  if (node->kind == TVMS_NODE_SELECT) {
    const tvms_select *select = tvms_as_select(node);
    c->condition = select->condition;
    yes = select->true_value;
    no = select->false_value;
  } else if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) {
    tvms_list args = tvms_as_call(node)->args;
    c->condition = args.items[0];
    yes = args.items[1];
    no = args.items[2];
  } else {
    return false;
  }
  c->holds_not = is_zero(yes);
  c->value = c->holds_not ? no : yes;
  return is_zero(yes) != is_zero(no);
}

// The comparison that holds where `kind` does not; 0: there is none.
static tvms_node_kind opposite(tvms_node_kind kind) {
  switch ((int)kind) {
  case TVMS_NODE_LT: return TVMS_NODE_GE;
  case TVMS_NODE_LE: return TVMS_NODE_GT;
  case TVMS_NODE_GT: return TVMS_NODE_LE;
  case TVMS_NODE_GE: return TVMS_NODE_LT;
  default: return 0;
  }
}

// Notes the comparisons that must all hold for the condition to hold, or not to hold.
static bool add_conditions(padding *p, tvms_node *node, bool negated) {
  if (tvms_call_opcode(node) == TVMS_TIR_likely)
    return add_conditions(p, tvms_as_call(node)->args.items[0], negated);
  if (node->kind == TVMS_NODE_NOT)
    return add_conditions(p, tvms_as_not(node)->a, !negated);
  if (node->kind == (negated ? TVMS_NODE_OR : TVMS_NODE_AND))
    return add_conditions(p, tvms_as_binary(node)->a, negated)
           && add_conditions(p, tvms_as_binary(node)->b, negated);
  tvms_node_kind other = opposite(node->kind);
  if (!other || p->count == MOST_CONDITIONS) return false;
  const tvms_binary *comparison = tvms_as_binary(node);
  if (negated)
    node = tvms_binary_new(p->unit, other, comparison->a, comparison->b, TVMS_NO_SPAN);
  p->conditions[p->count++] = node;
  return true;
}

static bool depends(const padding *p, tvms_node *node) {
  for (uint32_t i = 0; i < p->stage->count; i++) {
    if (tvms_walk_contains(&p->unit->context->memory, node, p->stage->axes[i].var))
      return true;
  }
  return false;
}

// The difference of both sides of a comparison with an index added or taken away, if no axis is left in it.
static tvms_node *TVMS_NULLABLE rest_without(const padding *p, const tvms_binary *sides,
                                             tvms_node_kind kind, tvms_node *index) {
  if (!tvms_dtype_same(sides->a->dtype, index->dtype)) return NULL;
  tvms_node *difference = build(p, TVMS_NODE_SUB, sides->a, sides->b);
  tvms_node *rest = tvms_arith_simplify(p->unit, build(p, kind, difference, index));
  return depends(p, rest) ? NULL : rest;
}

// A comparison of indices of the operand as one of the variables of the copy. NULL: it is something else.
static tvms_node *TVMS_NULLABLE condition_of_place(const padding *p,
                                                   tvms_node *condition) {
  const tvms_binary *sides = tvms_as_binary(condition);
  if (!depends(p, condition)) return condition;
  tvms_list indices = tvms_as_buffer_load(p->operand)->indices;
  for (uint32_t d = 0; d < indices.len; d++) {
    tvms_node *zero =
        tvms_int_imm_new(p->unit, indices.items[d]->dtype, 0, TVMS_NO_SPAN);
    tvms_node *a = p->place[d], *b = NULL;
    tvms_node *rest = rest_without(p, sides, TVMS_NODE_SUB, indices.items[d]);
    if (rest) {
      rest = build(p, TVMS_NODE_ADD, rest, p->low[d]);
      b = tvms_arith_simplify(p->unit, build(p, TVMS_NODE_SUB, zero, rest));
    } else {
      rest = rest_without(p, sides, TVMS_NODE_ADD, indices.items[d]);
      if (!rest) continue;
      b = a;
      a = tvms_arith_simplify(p->unit, build(p, TVMS_NODE_SUB, rest, p->low[d]));
    }
    return tvms_binary_new(p->unit, condition->kind, a, b, TVMS_NO_SPAN);
  }
  return NULL;
}

// ---- The operand ----

// What the term multiplies: all loads, and how many choices stand inside of products.
typedef struct {
  tvms_node *loads[4];
  tvms_node *chosen;  // the load that a choice inside of the product is about
  uint32_t count, choices;
} factors;

static bool find_factors(padding *p, factors *f, tvms_node *node, bool inside) {
  choice c;
  if (node->kind == TVMS_NODE_CAST)
    return find_factors(p, f, tvms_as_cast(node)->value, inside);
  if (node->kind == TVMS_NODE_MUL)
    return !inside && find_factors(p, f, tvms_as_binary(node)->a, false)
           && find_factors(p, f, tvms_as_binary(node)->b, false);
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    if (f->count == 4) return false;
    if (inside) f->chosen = node;
    f->loads[f->count++] = node;
    return true;
  }
  if (!tvms_cpu_read_zero_choice(node, &c)) return false;
  if (!inside && ++f->choices > 1) return false;
  return add_conditions(p, c.condition, c.holds_not)
         && find_factors(p, f, c.value, true);
}

// The first index that an operand has in any step, and how many there may be.
static bool find_range(padding *p, uint32_t d, tvms_node *index) {
  tvms_node *low = index;
  tvms_node *one = tvms_int_imm_new(p->unit, index->dtype, 1, TVMS_NO_SPAN);
  tvms_node *extent = one;
  for (uint32_t i = 0; i < p->stage->count; i++) {
    const tvms_stage_axis *axis = &p->stage->axes[i];
    int64_t step;
    if (!tvms_cpu_index_step(p->unit, index, axis->var, &step)) return false;
    if (!step) continue;
    if (!tvms_dtype_same(axis->extent->dtype, index->dtype)) return false;
    tvms_node *last = build(p, TVMS_NODE_SUB, axis->extent, one);
    tvms_node *zero = tvms_int_imm_new(p->unit, index->dtype, 0, TVMS_NO_SPAN);
    low = tvms_substitute_one(p->unit, low, axis->var, step > 0 ? zero : last);
    tvms_node *size =
        tvms_int_imm_new(p->unit, index->dtype, step > 0 ? step : -step, TVMS_NO_SPAN);
    extent = build(p, TVMS_NODE_ADD, extent, build(p, TVMS_NODE_MUL, last, size));
  }
  p->low[d] = tvms_arith_simplify(p->unit, low);
  p->extent[d] = tvms_arith_simplify(p->unit, extent);
  p->place[d] = tvms_cpu_variable(p->unit, "p", index);
  return true;
}

// Is the operand used by several elements of the result that no window shares: by filters, say? Those of fewer are done
// as windows, without a copy.
static bool serves_many(const padding *p, const tvms_buffer_load *operand) {
  enum { FEWEST = 4 };
  for (uint32_t i = 0; i < p->stage->count; i++) {
    const tvms_stage_axis *axis = &p->stage->axes[i];
    int64_t extent = tvms_cpu_number(axis->extent);
    if (!axis->sums && (extent < 0 || extent >= FEWEST)
        && !tvms_cpu_depends(p->unit, operand->indices, axis->var))
      return true;
  }
  return false;
}

static bool takes(padding *p, tvms_node *load) {
  const tvms_buffer_load *operand = tvms_as_buffer_load(load);
  if (operand->predicate || !operand->indices.len || operand->indices.len > MOST_DIMS
      || tvms_as_buffer(operand->buffer)->data
             == tvms_as_buffer(p->stage->store->buffer)->data
      || !serves_many(p, operand))
    return false;
  p->operand = load;
  for (uint32_t d = 0; d < operand->indices.len; d++) {
    if (!find_range(p, d, operand->indices.items[d])) return false;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    if (!condition_of_place(p, p->conditions[i])) return false;
  }
  return true;
}

// ---- Statements ----

static tvms_node *copy_statement(padding *p, tvms_node **buffer) {
  const tvms_buffer_load *operand = tvms_as_buffer_load(p->operand);
  tvms_stage stage = {.nest = p->stage->nest, .name = "pad"};
  tvms_node *from[MOST_DIMS], *condition = NULL;
  uint32_t dims = operand->indices.len;
  for (uint32_t d = 0; d < dims; d++) {
    stage.axes[d] = (tvms_stage_axis){.var = p->place[d], .extent = p->extent[d]};
    from[d] =
        tvms_arith_simplify(p->unit, build(p, TVMS_NODE_ADD, p->place[d], p->low[d]));
  }
  stage.count = dims;
  for (uint32_t i = 0; i < p->count; i++) {
    tvms_node *own = condition_of_place(p, p->conditions[i]);
    condition = condition ? build(p, TVMS_NODE_AND, condition, own) : own;
  }
  tvms_dtype dtype = p->operand->dtype;
  tvms_node *zero = tvms_build_float(p->unit, dtype, 0, TVMS_NO_SPAN);
  tvms_node *element =
      tvms_buffer_load_new(p->unit, operand->buffer, from, dims, NULL, TVMS_NO_SPAN);
  tvms_node *args[] = {condition, element, zero};
  tvms_node *value =
      tvms_call_new_of(p->unit, dtype, TVMS_TIR_if_then_else, args, 3, TVMS_NO_SPAN);
  *buffer = tvms_cpu_buffer(p->unit, "padded", dtype, "global", p->extent, dims);
  tvms_list places = tvms_list_copy(p->unit, p->place, dims);
  return tvms_stage_write(p->unit, &stage, stage.name,
                          tvms_cpu_store(p->unit, *buffer, places, value), NULL);
}

static tvms_node *load_of_copy(const padding *p, tvms_node *buffer) {
  tvms_list old = tvms_as_buffer_load(p->operand)->indices;
  tvms_node *indices[MOST_DIMS];
  for (uint32_t d = 0; d < old.len; d++)
    indices[d] =
        tvms_arith_simplify(p->unit, build(p, TVMS_NODE_SUB, old.items[d], p->low[d]));
  return tvms_buffer_load_new(p->unit, buffer, indices, old.len, NULL, TVMS_NO_SPAN);
}

// The product with the copy in the place of the operand, without conditions.
static tvms_node *padded_product(const padding *p, tvms_node *node) {
  choice c;
  if (node == p->operand) return p->copy;
  if (node->kind == TVMS_NODE_CAST)
    return tvms_build_cast(p->unit, node->dtype,
                           padded_product(p, tvms_as_cast(node)->value), TVMS_NO_SPAN);
  if (node->kind == TVMS_NODE_MUL)
    return build(p, TVMS_NODE_MUL, padded_product(p, tvms_as_binary(node)->a),
                 padded_product(p, tvms_as_binary(node)->b));
  return tvms_cpu_read_zero_choice(node, &c) ? padded_product(p, c.value) : node;
}

// Is a sum a contraction, whatever it begins with?
static bool is_contraction(tvms_unit *unit, tvms_stage stage) {
  tvms_contraction found;
  stage.init = tvms_build_float(unit, stage.store->value->dtype, 0, TVMS_NO_SPAN);
  (void)tvms_cpu_split_groups(unit, &stage);
  return !tvms_contraction_find(unit, &stage, &found);
}

// Are the other factors there in all steps, whatever conditions say?
static bool are_others_inside(const padding *p, const factors *f) {
  tvms_analyzer *analyzer = tvms_analyzer_new(p->unit);
  for (uint32_t i = 0; i < p->stage->count; i++) {
    const tvms_stage_axis *axis = &p->stage->axes[i];
    tvms_node *zero = tvms_int_imm_new(p->unit, axis->var->dtype, 0, TVMS_NO_SPAN);
    tvms_analyzer_bind_range(analyzer, axis->var, zero, axis->extent);
  }
  bool inside = true;
  for (uint32_t i = 0; i < f->count && inside; i++) {
    const tvms_buffer_load *load = tvms_as_buffer_load(f->loads[i]);
    inside = f->loads[i] == p->operand
             || tvms_cpu_is_inside(analyzer, p->unit, load->buffer, load->indices);
  }
  tvms_analyzer_free(analyzer);
  return inside;
}

static bool find_operand(padding *p, tvms_node *term, bool reorders) {
  factors f = {.count = 0};
  choice c;
  bool outside = tvms_cpu_read_zero_choice(term, &c);
  if (outside && (!reorders || !add_conditions(p, c.condition, c.holds_not)))
    return false;
  if (!find_factors(p, &f, outside ? c.value : term, false)) return false;
  if (f.count < 2 || !p->count) return false;
  if (f.choices) return takes(p, f.chosen) && (!outside || are_others_inside(p, &f));
  for (uint32_t i = 0; i < f.count; i++) {
    if (takes(p, f.loads[i]) && are_others_inside(p, &f)) return true;
  }
  return false;
}

bool tvms_cpu_take_padding_out(tvms_unit *unit, const tvms_stage *stage, bool reorders,
                               tvms_node *stmts[2], tvms_node **buffer) {
  padding p = {.unit = unit, .stage = stage};
  const tvms_store *out = stage->store;
  tvms_node *term = tvms_stage_term(stage, TVMS_NODE_ADD);
  if (!term || !find_operand(&p, term, reorders)) return false;
  stmts[0] = copy_statement(&p, buffer);
  p.copy = load_of_copy(&p, *buffer);
  tvms_node *result = tvms_buffer_load_new(unit, out->buffer, out->indices.items,
                                           out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *sum = build(&p, TVMS_NODE_ADD, result, padded_product(&p, term));
  stmts[1] = tvms_stage_write(
      unit, stage, stage->name, tvms_cpu_store(unit, out->buffer, out->indices, sum),
      tvms_cpu_store(unit, out->buffer, out->indices, stage->init));
  tvms_stage made;
  return !is_contraction(unit, *stage) && !tvms_stage_read(unit, stmts[1], &made)
         && is_contraction(unit, made);
}
