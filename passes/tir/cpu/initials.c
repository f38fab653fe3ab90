// Initial values of sums: joined with the sum where they stand in front of it, and taken out where they are no constant.
#include "passes/tir/cpu/initials.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "passes/tir/cpu/chain.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/factors.h"
#include "passes/tir/cpu/gathered_columns.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/own_sums.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/residues.h"
#include "passes/tir/cpu/rows.h"

static bool is_constant(const tvms_node *node) {
  return node->kind == TVMS_NODE_FLOAT_IMM || node->kind == TVMS_NODE_INT_IMM;
}

// ---- In front ----

static bool fits_rows(tvms_unit *unit, tvms_stage stage) {
  tvms_chain_settle(unit, &stage);
  return !tvms_line_refuse(unit, &stage);
}

bool tvms_cpu_replaces(tvms_unit *unit, const tvms_replacement *made) {
  tvms_contraction c;
  for (uint32_t i = 0; i < made->stmts.len; i++) {
    tvms_stage stage;
    if (tvms_stage_read(unit, made->stmts.items[i], &stage)
        || (tvms_contraction_find(unit, &stage, &c) && !fits_rows(unit, stage)))
      return false;
  }
  return true;
}

// Do others take the place of a sum, that can be scheduled? Or may they, and rows have it anyway?
static bool is_replaced(tvms_unit *unit, const tvms_stage *stage) {
  tvms_replacement made = {{NULL, 0}, {NULL, 0}};
  tvms_node *parts[2], *buffer;
  if (tvms_cpu_own_sum(unit, stage, &made)) return tvms_cpu_replaces(unit, &made);
  return fits_rows(unit, *stage)
         && (tvms_cpu_has_residues(unit, stage)
             || tvms_cpu_take_factors_out(unit, stage, parts, &buffer)
             || tvms_cpu_gather_columns(unit, NULL, stage, &made));
}

// The contraction at `sum` with what `first` stores as its initial value; NULL: it is something else.
static tvms_node *TVMS_NULLABLE join(tvms_unit *unit, tvms_node *first,
                                     tvms_node *sum) {
  tvms_stage before, stage;
  tvms_contraction c;
  if (tvms_stage_read(unit, first, &before) || tvms_stage_read(unit, sum, &stage)
      || !tvms_stage_has_sums(&stage) || !tvms_chain_begins(unit, &before, &stage))
    return NULL;
  stage.init = before.store->value;
  if (tvms_contraction_find(unit, &stage, &c) && !is_replaced(unit, &stage))
    return NULL;
  tvms_node *store = (tvms_node *)(uintptr_t)&stage.store->head;
  tvms_node *init =
      tvms_cpu_store(unit, stage.store->buffer, stage.store->indices, stage.init);
  return tvms_stage_write(unit, &stage, stage.name, store, init);
}

// May a sum begin in front of a statement? Not if that uses what the sum stores, other parts of one buffer aside.
static bool may_pass(tvms_unit *unit, const tvms_stage *sum, tvms_node *stmt) {
  const tvms_node *buffer = sum->store->buffer;
  tvms_stage stage;
  if (!tvms_cpu_mentions(unit, stmt, buffer)) return true;
  return !tvms_stage_read(unit, stmt, &stage)
         && (!stage.init || is_constant(stage.init))
         && tvms_cpu_store_apart(unit, sum, &stage)
         && (tvms_stage_has_sums(&stage)
                 ? tvms_stage_term(&stage, TVMS_NODE_ADD)
                       && !tvms_cpu_mentions(
                           unit, tvms_stage_term(&stage, TVMS_NODE_ADD), buffer)
                 : !tvms_cpu_mentions(unit, stage.store->value, buffer));
}

// The place in `made` of what a sum begins with, which may stand in front of statements that do not use it; `joined` is
// the sum with it. made.len: there is none.
static uint32_t find_initial(tvms_unit *unit, tvms_list made, tvms_node *sum,
                             tvms_node **joined) {
  enum { MOST_BETWEEN = 4 };
  tvms_stage stage;
  if (tvms_stage_read(unit, sum, &stage)) return made.len;
  for (uint32_t i = made.len; i-- > 0 && made.len - i <= MOST_BETWEEN;) {
    *joined = join(unit, made.items[i], sum);
    if (*joined) return i;
    if (!may_pass(unit, &stage, made.items[i])) break;
  }
  return made.len;
}

tvms_list tvms_cpu_join_initials(tvms_unit *unit, tvms_list stmts) {
  tvms_list made = {tvms_arena_array(&unit->arena, tvms_node *, stmts.len), 0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_node *joined = stmts.items[i];
    uint32_t at = find_initial(unit, made, stmts.items[i], &joined);
    if (at < made.len) {
      made.len--;
      for (; at < made.len; at++)
        made.items[at] = made.items[at + 1];
    } else {
      joined = stmts.items[i];
    }
    made.items[made.len++] = joined;
  }
  return made.len == stmts.len ? stmts : made;
}

// ---- By choice ----

// Says which axes are 0 where a condition holds; false: it says more than that.
static bool note_zeros(const tvms_stage *stage, tvms_node *condition,
                       bool zero[TVMS_MOST_STAGE_AXES]) {
  const tvms_binary *both = tvms_as_binary(condition);
  if (condition->kind == TVMS_NODE_AND)
    return note_zeros(stage, both->a, zero) && note_zeros(stage, both->b, zero);
  if (condition->kind != TVMS_NODE_EQ || !tvms_node_is_int(both->b, 0)) return false;
  uint32_t axis = tvms_stage_axis_of(stage, both->a);
  if (axis == TVMS_MOST_STAGE_AXES) return false;
  zero[axis] = true;
  return true;
}

// Does it hold in the first step of each sum alone?
static bool is_first_step(const tvms_stage *stage, tvms_node *condition) {
  bool zero[TVMS_MOST_STAGE_AXES] = {false};
  tvms_node_kind kind = condition->kind;
  if ((kind != TVMS_NODE_AND && kind != TVMS_NODE_EQ)
      || !note_zeros(stage, condition, zero))
    return false;
  for (uint32_t i = 0; i < stage->count; i++) {
    bool several = !tvms_stage_axis_is_single(&stage->axes[i]);
    if (several && zero[i] != stage->axes[i].sums) return false;
  }
  return true;
}

// What the sum begins with, if an operand chooses between that and the result; NULL: it does something else.
static tvms_node *TVMS_NULLABLE chosen_initial(const tvms_stage *stage,
                                               const tvms_node *node) {
  tvms_node_choice choice = tvms_node_choice_of(node);
  bool begins = choice.condition && is_constant(choice.yes)
                && tvms_stage_is_result(stage, choice.no)
                && is_first_step(stage, choice.condition);
  return begins ? choice.yes : NULL;
}

tvms_node *tvms_cpu_begin_by_choice(tvms_unit *unit, tvms_node *stmt) {
  tvms_stage stage;
  if (tvms_stage_read(unit, stmt, &stage) || stage.init || !tvms_stage_has_sums(&stage))
    return stmt;
  const tvms_store *out = stage.store;
  tvms_node_kind kind = out->value->kind;
  if (kind != TVMS_NODE_ADD && kind != TVMS_NODE_MAX && kind != TVMS_NODE_MIN)
    return stmt;
  const tvms_binary *both = tvms_as_binary(out->value);
  tvms_node *init = chosen_initial(&stage, both->a), *term = both->b;
  if (!init) {
    init = chosen_initial(&stage, both->b);
    term = both->a;
  }
  if (!init || tvms_cpu_mentions(unit, term, out->buffer)) return stmt;
  tvms_node *sum = tvms_buffer_load_new(unit, out->buffer, out->indices.items,
                                        out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *value = tvms_binary_new(unit, kind, sum, term, out->value->span);
  return tvms_stage_write(unit, &stage, stage.name,
                          tvms_cpu_store(unit, out->buffer, out->indices, value),
                          tvms_cpu_store(unit, out->buffer, out->indices, init));
}

// ---- Taken out ----

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_node *TVMS_NULLABLE rest;  // all that is added to the result
  uint32_t results;
} addends;

static void sort_addends(addends *a, tvms_node *node) {
  if (tvms_stage_is_result(a->stage, node)) {
    a->results++;
  } else if (node->kind == TVMS_NODE_ADD) {
    sort_addends(a, tvms_as_binary(node)->a);
    sort_addends(a, tvms_as_binary(node)->b);
  } else {
    a->rest =
        a->rest ? tvms_build_binary(a->unit, TVMS_NODE_ADD, a->rest, node, TVMS_NO_SPAN)
                : node;
  }
}

tvms_node *TVMS_NULLABLE tvms_cpu_all_addends(tvms_unit *unit,
                                              const tvms_stage *stage) {
  addends a = {.unit = unit, .stage = stage};
  if (stage->store->value->kind != TVMS_NODE_ADD) return NULL;
  sort_addends(&a, stage->store->value);
  bool apart = a.results == 1 && a.rest
               && !tvms_cpu_mentions(unit, a.rest, stage->store->buffer);
  return apart ? a.rest : NULL;
}

// Stores what the sum begins with in a statement of its own.
static bool put_in_front(tvms_unit *unit, const tvms_stage *stage,
                         tvms_node *stmts[2]) {
  const tvms_store *out = stage->store;
  if (!stage->init) return false;
  stmts[0] = tvms_stage_write_each(
      unit, stage, stage->name,
      tvms_cpu_store(unit, out->buffer, out->indices, stage->init));
  stmts[1] = tvms_stage_write(unit, stage, stage->name,
                              (tvms_node *)(uintptr_t)&out->head, NULL);
  return true;
}

// The sum from 0 on, in a buffer like that of the result, and what is added to it.
static bool add_behind(tvms_unit *unit, const tvms_stage *stage, tvms_node *rest,
                       tvms_node *stmts[2], tvms_node **buffer) {
  const tvms_store *out = stage->store;
  const tvms_buffer *result = tvms_as_buffer(out->buffer);
  tvms_node *plain = tvms_cpu_buffer(unit, "plain", result->element, "global",
                                     result->shape.items, result->shape.len);
  tvms_node *sum = tvms_buffer_load_new(unit, plain, out->indices.items,
                                        out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *more = tvms_build_binary(unit, TVMS_NODE_ADD, sum, rest, TVMS_NO_SPAN);
  tvms_node *zero = tvms_build_float(unit, out->value->dtype, 0, TVMS_NO_SPAN);
  stmts[0] = tvms_stage_write(unit, stage, stage->name,
                              tvms_cpu_store(unit, plain, out->indices, more),
                              tvms_cpu_store(unit, plain, out->indices, zero));
  tvms_stage made;
  tvms_contraction c;
  bool tiled = !tvms_stage_read(unit, stmts[0], &made)
               && !tvms_contraction_find(unit, &made, &c);
  // Rows may begin with what lies there, but with nothing else.
  if (!tiled && !stage->init) return false;
  tvms_node *begin = stage->init;
  if (!begin)
    begin = tvms_buffer_load_new(unit, out->buffer, out->indices.items,
                                 out->indices.len, NULL, TVMS_NO_SPAN);
  tvms_node *all = tvms_build_binary(unit, TVMS_NODE_ADD, begin, sum, TVMS_NO_SPAN);
  stmts[1] = tvms_stage_write_each(
      unit, stage, "sum", tvms_cpu_store(unit, out->buffer, out->indices, all));
  *buffer = plain;
  return true;
}

bool tvms_cpu_take_initial_out(tvms_unit *unit, const tvms_stage *stage, bool reorders,
                               tvms_node *stmts[2], tvms_node **buffer) {
  tvms_node *value = stage->store->value;
  *buffer = NULL;
  if (stage->init && is_constant(stage->init)) return false;
  if (value->kind != TVMS_NODE_ADD || (tvms_dtype_is_real(value->dtype) && !reorders))
    return put_in_front(unit, stage, stmts);
  tvms_node *rest = tvms_cpu_all_addends(unit, stage);
  return rest ? add_behind(unit, stage, rest, stmts, buffer)
              : put_in_front(unit, stage, stmts);
}
