// Computing what an outer axis does not change once, beforehand.
//
// Before: Y[c, j] = T.if_then_else(0 <= cast(floor(G[j] * 28)) and .., X[c, cast(floor(G[j] * 28))], 0) * (G[j] * 28 - floor(G[j] * 28))
// After:  place[j] = cast(floor(G[j] * 28));  inside[j] = 0 <= place[j] and ..;  share[j] = G[j] * 28 - floor(G[j] * 28)
//         Y[c, j] = T.if_then_else(inside[j], X[c, place[j]], 0) * share[j]
//
// Places and shares of samples are such (of grids and boxes): a channel after the other reads at the same ones. All tables
// of a stage have the same axes, so that neighbouring ones are one line as before. What numbers and axes alone say stays:
// there, lines are written out, and the compiler knows it.
//
// Functions that are the same all along a line come in front of it, too, one element a row:
//
// Before: Y[i, j] = X[i, j] - T.log(S[i])
// After:  table[i] = T.log(S[i]);  Y[i, j] = X[i, j] - table[i]
#include "passes/tir/cpu/tables.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/simplify/value_numbers.h"

// In steps of simple arithmetic on a vector.
enum {
  LOADED = 2,       // what a table costs where it is used
  TAKES_LONG = 10,  // functions, division of integers
  DIVIDED = 5,
  CONVERTED = 2,
  LEAST_COST = 3,   // of what one table has
  LEAST_GAIN = 12,  // of each step of the axis, by all tables
  LEAST_CALL =
      TAKES_LONG - LOADED,  // the gain of a function that is taken out of a line
  LEAST_STEPS = 3,
  FEW_BYTES = 1 << 20,  // tables may have that, else what the stage stores
};

// What is known of a value, by its number.
typedef struct {
  uint32_t cost, own;  // with all that it is made of, and of its last step
  uint32_t axes;       // a bit for each that it depends on
  bool loads;
  bool calls;  // functions that take long
  bool safe;   // it can be computed wherever the axes are in their ranges
} fact;

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_value_numbers numbers;
  TVMS_VEC(fact) facts;
  TVMS_VEC(const tvms_node *) operators;  // one of each
  bool plain;                             // without what binds variables
} finder;

// The tables that gain if some axes are left out.
typedef struct {
  uint32_t without;                   // bits of axes
  uint32_t values[TVMS_MOST_TABLES];  // numbers, the cheapest first
  uint32_t costs[TVMS_MOST_TABLES];   // with the tables in front of each
  tvms_node *buffers[TVMS_MOST_TABLES];
  uint32_t count;
  uint32_t axes;  // of all tables
  uint32_t gain;
  bool calls;  // only what calls functions is in them
} choice;

// ---- Values ----

static bool is_between(const tvms_node *index, const tvms_stage *stage,
                       const tvms_node *size) {
  uint32_t axis = tvms_stage_axis_of(stage, index);
  int64_t most = tvms_cpu_number(size);
  if (axis < TVMS_MOST_STAGE_AXES) {
    int64_t extent = tvms_cpu_number(stage->axes[axis].extent);
    return extent >= 0 && extent <= most;
  }
  return tvms_node_is_int_imm(index) && tvms_as_int_imm(index)->value >= 0
         && tvms_as_int_imm(index)->value < most;
}

// Is a load known to be inside of its buffer, which is not the one that the stage stores?
static bool is_load_safe(const finder *f, const tvms_buffer_load *load) {
  const tvms_buffer *buffer = tvms_as_buffer(load->buffer);
  if (load->predicate || load->indices.len != buffer->shape.len
      || buffer->data == tvms_as_buffer(f->stage->store->buffer)->data)
    return false;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!is_between(load->indices.items[i], f->stage, buffer->shape.items[i]))
      return false;
  }
  return true;
}

static bool divides(const tvms_node *node) {
  return node->kind >= TVMS_NODE_DIV && node->kind <= TVMS_NODE_FLOOR_MOD;
}

static uint32_t own_cost(const tvms_node *node) {
  if (node->kind == TVMS_NODE_CALL) {
    switch ((int)tvms_call_opcode(node)) {
    case TVMS_TIR_floor:
    case TVMS_TIR_ceil:
    case TVMS_TIR_trunc:
    case TVMS_TIR_fabs:
    case TVMS_TIR_if_then_else: return 1;
    default: return TAKES_LONG;
    }
  }
  if (node->kind == TVMS_NODE_CAST) return CONVERTED;
  if (divides(node)) return tvms_dtype_is_real(node->dtype) ? DIVIDED : TAKES_LONG;
  return node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_INT_IMM
                 || node->kind == TVMS_NODE_FLOAT_IMM
             ? 0
             : 1;
}

// Does a call do something with any arguments? Shifts do not go beyond the width.
static bool is_call_safe(const tvms_node *node) {
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right: {
    int64_t amount = tvms_cpu_number(tvms_as_call(node)->args.items[1]);
    return amount >= 0 && amount < node->dtype.bits;
  }
  case TVMS_TIR_q_multiply_shift:
  case TVMS_TIR_q_multiply_shift_per_axis: return false;
  default: return true;
  }
}

static bool is_safe_alone(const finder *f, const tvms_node *node) {
  if (node->kind == TVMS_NODE_CALL && !is_call_safe(node)) return false;
  if (node->kind == TVMS_NODE_BUFFER_LOAD)
    return is_load_safe(f, tvms_as_buffer_load(node));
  if (divides(node) && !tvms_dtype_is_real(node->dtype))
    return tvms_node_is_int_imm(tvms_as_binary(node)->b)
           && tvms_as_int_imm(tvms_as_binary(node)->b)->value > 0;
  return tvms_dtype_is_scalar(node->dtype) && !tvms_dtype_is_handle(node->dtype);
}

// The first operator that is the same one.
static const tvms_node *operator_like(finder *f, const tvms_node *node) {
  const tvms_operator *is = tvms_as_operator(node);
  for (uint32_t i = 0; i < f->operators.len; i++) {
    const tvms_operator *first = tvms_as_operator(f->operators.items[i]);
    if (first->opcode == is->opcode && first->name == is->name) return &first->head;
  }
  tvms_vec_push(f->numbers.memory, &f->operators, node);
  return node;
}

static void see_value(void *self, tvms_node *node, tvms_field_role role) {
  finder *f = self;
  (void)role;
  if (tvms_node_class_of(node) != TVMS_CLASS_EXPR && node->kind != TVMS_NODE_BUFFER)
    return;
  uint32_t parts[3], count = 0;
  fact all = {.own = own_cost(node), .safe = true};
  bool value = node->kind != TVMS_NODE_BUFFER && node->kind != TVMS_NODE_OPERATOR;
  if (value) all.safe = is_safe_alone(f, node);
  uint32_t axis = tvms_stage_axis_of(f->stage, node);
  if (axis < TVMS_MOST_STAGE_AXES) all.axes = 1u << axis;
  all.loads = node->kind == TVMS_NODE_BUFFER_LOAD;
  all.calls = node->kind == TVMS_NODE_CALL && all.own == TAKES_LONG;
  all.cost = value ? all.own : 0;
  tvms_node *child;
  for (tvms_child_at at = {0}; value && (child = tvms_walk_next_child(node, &at));) {
    const tvms_node *first =
        child->kind == TVMS_NODE_OPERATOR ? operator_like(f, child) : child;
    uint32_t part = tvms_value_numbers_of(&f->numbers, first);
    if (part == TVMS_NO_VALUE) continue;
    // Lists of any length are numbered item by item.
    if (count == 2) {
      parts[0] = tvms_value_numbers_add(&f->numbers, node, parts, 2);
      count = 1;
    }
    parts[count++] = part;
    if (part >= f->facts.len) continue;
    const fact *of = &f->facts.items[part];
    all.cost += of->cost;
    all.axes |= of->axes;
    all.loads |= of->loads;
    all.calls |= of->calls;
    all.safe &= of->safe;
  }
  uint32_t number = tvms_value_numbers_add(&f->numbers, node, parts, count);
  while (f->facts.len <= number)
    tvms_vec_push(f->numbers.memory, &f->facts, (fact){0});
  f->facts.items[number] = all;
}

static tvms_walk_step enter_value(void *self, tvms_node *node, tvms_field_role role) {
  finder *f = self;
  (void)role;
  f->plain &= node->kind != TVMS_NODE_LET && node->kind != TVMS_NODE_REDUCE;
  if (!f->plain) return TVMS_WALK_STOP;
  return node->kind == TVMS_NODE_BUFFER || node->kind == TVMS_NODE_OPERATOR
             ? TVMS_WALK_SKIP
             : TVMS_WALK_ON;
}

// ---- Which tables ----

typedef struct {
  const finder *f;
  choice *chosen;
  bool full;
} collecting;

static uint32_t table_of(const choice *c, uint32_t number) {
  uint32_t i = 0;
  while (i < c->count && c->values[i] != number)
    i++;
  return i;
}

static const fact *fact_of(const finder *f, const tvms_node *node) {
  uint32_t number = tvms_value_numbers_of(&f->numbers, node);
  return number == TVMS_NO_VALUE ? NULL : &f->facts.items[number];
}

// The largest parts that the axes do not change, the cheapest first.
static tvms_walk_step collect(void *self, tvms_node *node, tvms_field_role role) {
  collecting *all = self;
  (void)role;
  const fact *is = fact_of(all->f, node);
  if (!is || node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  choice *c = all->chosen;
  if (!is->safe || !is->loads || is->axes & c->without)
    return is->loads && is->cost >= LEAST_COST ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  uint32_t number = tvms_value_numbers_of(&all->f->numbers, node);
  bool wanted = is->cost >= LEAST_COST && (is->calls || !c->calls);
  if (!wanted || table_of(c, number) < c->count) return TVMS_WALK_SKIP;
  all->full |= c->count == TVMS_MOST_TABLES;
  if (all->full) return TVMS_WALK_STOP;
  uint32_t at = c->count++;
  for (; at && all->f->facts.items[c->values[at - 1]].cost > is->cost; at--)
    c->values[at] = c->values[at - 1];
  c->values[at] = number;
  return TVMS_WALK_SKIP;
}

// What a value costs where some tables are there.
static uint32_t cost_with(const finder *f, const choice *c, const tvms_node *node) {
  uint32_t number = tvms_value_numbers_of(&f->numbers, node), cost = 0;
  if (number == TVMS_NO_VALUE || node->kind == TVMS_NODE_BUFFER
      || node->kind == TVMS_NODE_OPERATOR)
    return 0;
  if (table_of(c, number) < c->count) return LOADED;
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    cost += cost_with(f, c, child);
  return cost + f->facts.items[number].own;
}

// Tables that what is in others makes cheap go.
static void keep_costly(const finder *f, choice *c) {
  choice kept = {.without = c->without, .calls = c->calls};
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t number = c->values[i];
    uint32_t cost = cost_with(f, &kept, tvms_value_numbers_get(&f->numbers, number));
    if (cost < LEAST_COST) continue;
    kept.costs[kept.count] = cost;
    kept.values[kept.count++] = number;
    kept.axes |= f->facts.items[number].axes;
    kept.gain += cost > LOADED ? cost - LOADED : 0;
  }
  *c = kept;
}

// Axes by which the last dimension of the result is gone through: lines.
static uint32_t line_axes(const finder *f) {
  tvms_list indices = f->stage->store->indices;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < f->stage->count && indices.len; i++) {
    if (tvms_walk_contains(&f->unit->context->memory, indices.items[indices.len - 1],
                           f->stage->axes[i].var))
      bits |= 1u << i;
  }
  return bits;
}

// The tables that a choice without any has by its axes.
static void choose(const finder *f, choice *c) {
  collecting all = {f, c, false};
  tvms_visitor visitor = {.self = &all, .enter = collect};
  tvms_walk(&f->unit->context->memory, f->stage->store->value, &visitor);
  if (all.full) c->count = 0;
  keep_costly(f, c);
}

// So many bytes for each step of some axes, in all; -1: not known.
static int64_t steps_of(const tvms_stage *stage, uint32_t axes, int64_t bytes) {
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t extent = tvms_cpu_number(stage->axes[i].extent);
    if (!(axes >> i & 1)) continue;
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

static int64_t bytes_of(tvms_dtype type) {
  return (type.bits + 7) / 8;
}

static bool has_room(const finder *f, const choice *c) {
  int64_t row = 0;
  uint32_t stored = 0;
  for (uint32_t i = 0; i < c->count; i++)
    row += bytes_of(tvms_value_numbers_get(&f->numbers, c->values[i])->dtype);
  for (uint32_t i = 0; i < f->stage->count; i++)
    stored |= (uint32_t)!f->stage->axes[i].sums << i;
  int64_t result = steps_of(f->stage, stored, bytes_of(f->stage->store->value->dtype));
  int64_t all = steps_of(f->stage, c->axes, row);
  return all >= 0 && result >= 0 && all <= (result > FEW_BYTES ? result : FEW_BYTES);
}

// The axis without which tables gain most, and all others that none of them depends on.
static bool find_tables(const finder *f, choice *best) {
  uint32_t line = line_axes(f);
  *best = (choice){0};
  for (uint32_t i = 0; i < f->stage->count; i++) {
    const tvms_stage_axis *axis = &f->stage->axes[i];
    if (axis->sums || line >> i & 1 || tvms_cpu_number(axis->extent) < LEAST_STEPS)
      continue;
    choice c = {.without = 1u << i};
    choose(f, &c);
    if (c.axes & line && c.gain >= LEAST_GAIN && c.gain > best->gain) *best = c;
  }
  return best->count && has_room(f, best);
}

// Functions that are the same all along a line, of elements that do not wait for each other.
static bool find_functions(const finder *f, choice *best) {
  uint32_t line = line_axes(f);
  int64_t steps = steps_of(f->stage, line, 1);
  *best = (choice){.without = line, .calls = true};
  if (!line || tvms_stage_has_sums(f->stage) || (steps >= 0 && steps < LEAST_STEPS))
    return false;
  choose(f, best);
  return best->count && best->axes && best->gain >= LEAST_CALL && has_room(f, best);
}

// ---- Writing ----

typedef struct {
  const finder *f;
  const choice *chosen;
  tvms_list indices;       // of all tables
  const tvms_node *whole;  // is not loaded itself
} writer;

static tvms_node *load_table(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  if (node == w->whole) return TVMS_REWRITE_BELOW;
  uint32_t number = tvms_value_numbers_of(&w->f->numbers, node);
  uint32_t table =
      number == TVMS_NO_VALUE ? w->chosen->count : table_of(w->chosen, number);
  if (table == w->chosen->count) return TVMS_REWRITE_BELOW;
  return tvms_buffer_load_new(r->unit, w->chosen->buffers[table], w->indices.items,
                              w->indices.len, NULL, node->span);
}

static tvms_node *with_tables(const finder *f, const choice *c, tvms_list indices,
                              tvms_node *expr, const tvms_node *TVMS_NULLABLE whole) {
  writer w = {f, c, indices, whole};
  tvms_rewriter r;
  tvms_rewriter_init(&r, f->unit, &w);
  for (uint32_t kind = TVMS_NODE_ADD; kind <= TVMS_NODE_CAST; kind++)
    r.enter[kind] = load_table;
  r.enter[TVMS_NODE_CALL] = r.enter[TVMS_NODE_BUFFER_LOAD] = load_table;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

// The axes of tables: what is summed over, and then the others.
static uint32_t order_axes(const tvms_stage *stage, uint32_t axes,
                           tvms_stage_axis *order) {
  uint32_t count = 0;
  for (uint32_t sums = 2; sums-- > 0;) {
    for (uint32_t i = 0; i < stage->count; i++) {
      if (axes >> i & 1 && stage->axes[i].sums == (sums == 1))
        order[count++] = stage->axes[i];
    }
  }
  return count;
}

static tvms_node *buffer_for(tvms_unit *unit, const tvms_stage_axis *axes,
                             uint32_t count, const tvms_node *value) {
  tvms_node *shape[TVMS_MOST_STAGE_AXES];
  for (uint32_t i = 0; i < count; i++)
    shape[i] = axes[i].extent;
  return tvms_cpu_buffer(unit, "table", value->dtype, "global", shape, count);
}

// A stage with variables of its own that stores one table.
static void write_table(tvms_unit *unit, const tvms_stage *user,
                        const tvms_stage_axis *axes, uint32_t count, tvms_node *buffer,
                        tvms_node *value, tvms_stage *stage) {
  *stage = (tvms_stage){.name = "table", .count = count};
  stage->nest = tvms_node_copy(unit, user->nest);  // by which stages are told apart
  tvms_node *vars[TVMS_MOST_STAGE_AXES];
  tvms_node_map fresh;
  tvms_node_map_init(&fresh, &unit->context->memory);
  for (uint32_t i = 0; i < count; i++) {
    vars[i] = tvms_var_like(unit, axes[i].var);
    stage->axes[i] = (tvms_stage_axis){vars[i], axes[i].extent, false};
    tvms_node_map_put(&fresh, axes[i].var, vars[i]);
  }
  value = tvms_substitute(unit, value, &fresh);
  tvms_node_map_fini(&fresh);
  stage->store = tvms_as_store(
      tvms_cpu_store(unit, buffer, tvms_list_copy(unit, vars, count), value));
}

static void write_tables(const finder *f, choice *c, tvms_stage *stage,
                         tvms_cpu_tables *tables) {
  tvms_unit *unit = f->unit;
  tvms_stage_axis axes[TVMS_MOST_STAGE_AXES];
  tvms_node *vars[TVMS_MOST_STAGE_AXES];
  uint32_t count = order_axes(stage, c->axes, axes);
  for (uint32_t i = 0; i < count; i++)
    vars[i] = axes[i].var;
  tvms_list indices = {vars, count};
  for (uint32_t i = 0; i < c->count; i++)
    c->buffers[i] = buffer_for(unit, axes, count,
                               tvms_value_numbers_get(&f->numbers, c->values[i]));
  for (uint32_t i = 0; i < c->count; i++) {
    tvms_node *value =
        (tvms_node *)(uintptr_t)tvms_value_numbers_get(&f->numbers, c->values[i]);
    write_table(unit, stage, axes, count, c->buffers[i],
                with_tables(f, c, indices, value, value), &tables->stages[i]);
    tables->buffers[i] = c->buffers[i];
  }
  tables->count = c->count;
  tvms_store *store = tvms_node_make(unit, STORE, stage->store->head.span);
  store->buffer = stage->store->buffer;
  store->indices = stage->store->indices;
  store->value = with_tables(f, c, indices, stage->store->value, NULL);
  stage->store = store;
}

bool tvms_cpu_tabulate(tvms_unit *unit, tvms_stage *stage, tvms_cpu_tables *tables) {
  tables->count = 0;
  tvms_chain_cost cost = tvms_chain_cost_of(unit, stage->store->value, NULL);
  if (stage->count < 2 || (cost.nodes < LEAST_GAIN && !cost.calls)) return false;
  finder f = {.unit = unit, .stage = stage, .plain = true};
  tvms_memory *memory = &unit->context->memory;
  tvms_value_numbers_init(&f.numbers, memory);
  tvms_visitor visitor = {.self = &f, .enter = enter_value, .leave = see_value};
  tvms_walk(memory, stage->store->value, &visitor);
  choice best;
  bool found = f.plain && (find_tables(&f, &best) || find_functions(&f, &best));
  if (found) write_tables(&f, &best, stage, tables);
  tvms_vec_fini(memory, &f.operators);
  tvms_vec_fini(memory, &f.facts);
  tvms_value_numbers_fini(&f.numbers);
  return found;
}
