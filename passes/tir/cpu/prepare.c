// Preparing the statements of a body, one kind of change after the other.
#include "passes/tir/cpu/prepare.h"

#include "ir/stmt.h"
#include "passes/remarks.h"
#include "passes/tir/cpu/digit_loops.h"
#include "passes/tir/cpu/early_stages.h"
#include "passes/tir/cpu/extremes.h"
#include "passes/tir/cpu/factors.h"
#include "passes/tir/cpu/gathered_columns.h"
#include "passes/tir/cpu/initials.h"
#include "passes/tir/cpu/late_operands.h"
#include "passes/tir/cpu/loop_extents.h"
#include "passes/tir/cpu/narrow_places.h"
#include "passes/tir/cpu/nested_blocks.h"
#include "passes/tir/cpu/own_sums.h"
#include "passes/tir/cpu/padded_operands.h"
#include "passes/tir/cpu/pieces.h"
#include "passes/tir/cpu/producers.h"
#include "passes/tir/cpu/quads.h"
#include "passes/tir/cpu/reroll.h"
#include "passes/tir/cpu/residues.h"
#include "passes/tir/cpu/shared_terms.h"
#include "passes/tir/cpu/spread_operands.h"
#include "passes/tir/cpu/tails.h"
#include "passes/tir/cpu/terms.h"
#include "passes/tir/cpu/tuples.h"
#include "passes/tir/cpu/turned_operands.h"
#include "passes/tir/cpu/windows.h"

// Buffers between statements are the body's.
static void allocate(tvms_preparation *p, tvms_node *buffer) {
  p->body.allocated = tvms_list_with(p->body.unit, p->body.allocated, buffer);
  tvms_stmt_push(p->body.unit, p->body.added, buffer);
}

// Two statements for a sum, and the buffer between them or NULL; false: it stays.
typedef bool sum_splitter(tvms_preparation *p, const tvms_stage *stage,
                          tvms_node *parts[2], tvms_node **buffer);

static bool take_factors_out(tvms_preparation *p, const tvms_stage *stage,
                             tvms_node *parts[2], tvms_node **buffer) {
  return tvms_cpu_take_factors_out(p->body.unit, stage, parts, buffer);
}

static bool take_narrow_out(tvms_preparation *p, const tvms_stage *stage,
                            tvms_node *parts[2], tvms_node **buffer) {
  return tvms_cpu_take_narrow_out(p->body.unit, stage, parts, buffer);
}

static bool take_initial_out(tvms_preparation *p, const tvms_stage *stage,
                             tvms_node *parts[2], tvms_node **buffer) {
  return tvms_cpu_take_initial_out(p->body.unit, stage, p->body.reorders, parts,
                                   buffer);
}

static bool take_padding_out(tvms_preparation *p, const tvms_stage *stage,
                             tvms_node *parts[2], tvms_node **buffer) {
  return tvms_cpu_take_padding_out(p->body.unit, stage, p->body.reorders, parts,
                                   buffer);
}

static bool turn_operand(tvms_preparation *p, const tvms_stage *stage,
                         tvms_node *parts[2], tvms_node **buffer) {
  return tvms_cpu_turn_operand(p->body.unit, p->target, stage, parts, buffer);
}

static void split_sums(tvms_preparation *p, sum_splitter *split, tvms_list *stmts) {
  tvms_unit *unit = p->body.unit;
  tvms_list made = {tvms_arena_array(&unit->arena, tvms_node *, 2 * stmts->len), 0};
  for (uint32_t i = 0; i < stmts->len; i++) {
    tvms_stage stage;
    tvms_node *parts[2], *buffer;
    bool sums =
        !tvms_stage_read(unit, stmts->items[i], &stage) && tvms_stage_has_sums(&stage);
    if (!sums || !split(p, &stage, parts, &buffer)) {
      made.items[made.len++] = stmts->items[i];
      continue;
    }
    for (uint32_t k = 0; k < 2; k++)
      made.items[made.len++] = parts[k];
    if (buffer) allocate(p, buffer);
  }
  *stmts = made;
}

// Each window that is worth it becomes a statement for each of its axes.
static tvms_list take_windows_apart(tvms_preparation *p, tvms_list stmts) {
  tvms_node_vec made = {0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_node *first = stmts.items[i], *parts[2], *buffer;
    tvms_node *behind[TVMS_MOST_STAGE_AXES];
    uint32_t count = 0;
    tvms_stage stage;
    while (!tvms_stage_read(p->body.unit, first, &stage) && tvms_stage_has_sums(&stage)
           && tvms_cpu_take_window_apart(p->body.unit, &stage, p->body.reorders, parts,
                                         &buffer)) {
      first = parts[0];
      behind[count++] = parts[1];
      allocate(p, buffer);
    }
    tvms_stmt_push(p->body.unit, &made, first);
    while (count > 0)
      tvms_stmt_push(p->body.unit, &made, behind[--count]);
  }
  tvms_list list = tvms_list_copy(p->body.unit, made.items, made.len);
  tvms_vec_fini(&p->body.unit->context->memory, &made);
  return list;
}

// What becomes of a sum, if anything does: statements in order, and the buffers between them.
typedef bool sum_replacer(tvms_preparation *p, const tvms_stage *stage,
                          tvms_replacement *made);

static bool gather_columns(tvms_preparation *p, const tvms_stage *stage,
                           tvms_replacement *made) {
  return tvms_cpu_gather_columns(p->body.unit, p->target, stage, made);
}

static bool own_sum(tvms_preparation *p, const tvms_stage *stage,
                    tvms_replacement *made) {
  return tvms_cpu_own_sum(p->body.unit, stage, made);
}

static bool split_residues(tvms_preparation *p, const tvms_stage *stage,
                           tvms_replacement *made) {
  return tvms_cpu_split_residues(p->body.unit, stage, made);
}

// Sums of products of bytes become statements for four steps at a time.
static bool take_quads(tvms_preparation *p, const tvms_stage *stage,
                       tvms_replacement *made) {
  if (!tvms_cpu_take_quads(p->body.unit, p->target, p->function, stage, made))
    return false;
  tvms_pass_count(p->run, "sums of bytes, four steps at a time", 1);
  return true;
}

static tvms_list replace_sums(tvms_preparation *p, sum_replacer *replace,
                              tvms_list stmts) {
  tvms_unit *unit = p->body.unit;
  tvms_node_vec all = {0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_stage stage;
    tvms_replacement made = {{NULL, 0}, {NULL, 0}};
    bool replaced = !tvms_stage_read(unit, stmts.items[i], &stage)
                    && tvms_stage_has_sums(&stage) && replace(p, &stage, &made)
                    && tvms_cpu_replaces(unit, &made);
    if (!replaced) {
      tvms_stmt_push(unit, &all, stmts.items[i]);
      continue;
    }
    for (uint32_t k = 0; k < made.stmts.len; k++)
      tvms_stmt_push(unit, &all, made.stmts.items[k]);
    for (uint32_t k = 0; k < made.buffers.len; k++)
      allocate(p, made.buffers.items[k]);
  }
  tvms_list list = tvms_list_copy(unit, all.items, all.len);
  tvms_vec_fini(&unit->context->memory, &all);
  return list;
}

// A nest without tails if it can be scheduled then.
static tvms_node *without_tails(tvms_preparation *p, tvms_node *stmt) {
  tvms_unit *unit = p->body.unit;
  tvms_node *made = tvms_cpu_straighten_tails(unit, stmt, p->body.reorders);
  if (made == stmt) return stmt;
  tvms_pieces pieces;
  bool fits = tvms_cpu_pieces_read(unit, made, p->body.reorders, &pieces);
  tvms_cpu_pieces_fini(&pieces);
  return fits ? made : stmt;
}

tvms_list tvms_cpu_straighten(tvms_preparation *p, tvms_list stmts) {
  tvms_list old = stmts;
  stmts = tvms_list_copy(p->body.unit, stmts.items, stmts.len);
  bool changed = false;
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_node *stmt = tvms_cpu_find_extremes(p->body.unit, stmts.items[i]);
    stmt = tvms_cpu_join_nested_blocks(p->body.unit, stmt);
    stmt = tvms_cpu_split_digits(p->body.unit, stmt);
    if (p->body.reorders) stmt = tvms_cpu_join_terms(p->body.unit, stmt);
    stmt = without_tails(p, stmt);
    stmt = tvms_cpu_reroll(p->body.unit, stmt, p->body.reorders);
    stmts.items[i] = tvms_cpu_begin_by_choice(p->body.unit, stmt);
    changed |= stmts.items[i] != old.items[i];
  }
  tvms_list distributed = tvms_cpu_distribute_loops(&p->body, stmts);
  for (uint32_t i = 0; i < distributed.len && p->body.reorders; i++)
    distributed.items[i] = tvms_cpu_add_difference(p->body.unit, distributed.items[i]);
  if (changed || distributed.items != stmts.items)
    tvms_pass_count(p->run, "bodies with straightened loops", 1);
  return tvms_cpu_join_initials(p->body.unit, distributed);
}

// Each reduction to several values becomes one statement for each of them.
static tvms_list take_tuples_apart(tvms_preparation *p, tvms_list stmts) {
  tvms_node_vec made = {0};
  for (uint32_t i = 0; i < stmts.len; i++) {
    tvms_node *parts[TVMS_MOST_PARTS] = {stmts.items[i]};
    uint32_t count = tvms_cpu_take_tuple_apart(p->body.unit, stmts.items[i],
                                               p->body.reorders, parts);
    for (uint32_t k = 0; k < (count ? count : 1); k++)
      tvms_stmt_push(p->body.unit, &made, parts[k]);
  }
  tvms_list list = tvms_list_copy(p->body.unit, made.items, made.len);
  tvms_vec_fini(&p->body.unit->context->memory, &made);
  return list;
}

tvms_list tvms_cpu_prepare(tvms_preparation *p, tvms_list stmts) {
  tvms_extent_facts facts = {p->function->buffers, p->body.allocated, p->around,
                             p->axes};
  stmts = tvms_cpu_straighten(p, stmts);
  stmts = tvms_cpu_settle_extents(p->body.unit, &facts, stmts);
  stmts = replace_sums(p, own_sum, stmts);
  if (p->noalias && p->body.reorders) {
    stmts = tvms_cpu_join_spread(&p->body, stmts);
    stmts = replace_sums(p, split_residues, stmts);
  }
  split_sums(p, take_padding_out, &stmts);
  stmts = tvms_cpu_join_initials(p->body.unit, stmts);
  if (p->noalias) stmts = take_tuples_apart(p, stmts);
  if (p->noalias && p->rooted) split_sums(p, take_narrow_out, &stmts);
  if (p->rooted) stmts = take_windows_apart(p, stmts);
  stmts = tvms_cpu_producers_join(p->body.unit, p->body.allocated, stmts, p->body.gone);
  split_sums(p, take_initial_out, &stmts);
  if (p->body.reorders) split_sums(p, take_factors_out, &stmts);
  if (!p->noalias) return stmts;
  stmts = tvms_cpu_share_terms(&p->body, stmts);
  stmts = tvms_cpu_early_stages(p->body.unit, stmts);
  stmts = tvms_cpu_late_operands(p->body.unit, p->body.allocated, stmts, p->body.gone);
  if (p->rooted) stmts = replace_sums(p, take_quads, stmts);
  stmts = replace_sums(p, gather_columns, stmts);
  if (p->rooted) split_sums(p, turn_operand, &stmts);
  return stmts;
}
