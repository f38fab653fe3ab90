#include "schedule/ends.h"

#include "arith/int_set.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "schedule/accesses.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"

// Is a place negative whatever the sizes of the parameters are, from 2 on? A remainder by a size is, whose sign analysis does not know.
static bool is_negative(tvms_sched *sched, tvms_node *place) {
  tvms_list buffers = tvms_as_prim_func(sched->function)->buffers;
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++) {
      tvms_node *size = shape.items[k], *two = tvms_sched_int(sched, size->dtype, 2);
      if (size->kind == TVMS_NODE_VAR)
        (void)tvms_analyzer_enter(analyzer,
                                  tvms_sched_build(sched, TVMS_NODE_GE, size, two));
    }
  }
  tvms_node *zero = tvms_sched_int(sched, place->dtype, 0);
  bool negative = tvms_analyzer_can_prove(
      analyzer, tvms_sched_build(sched, TVMS_NODE_LT, place, zero));
  tvms_analyzer_free(analyzer);
  return negative;
}

static bool is_out(tvms_sched *sched, tvms_int_set at, tvms_node *size) {
  tvms_unit *unit = sched->unit;
  if (!at.min || !at.max) return false;
  tvms_node *low = tvms_arith_simplify(unit, at.min);
  tvms_node *high = tvms_arith_simplify(unit, at.max);
  bool below = is_negative(sched, low);
  bool above = high->kind == TVMS_NODE_INT_IMM && size->kind == TVMS_NODE_INT_IMM
               && tvms_as_int_imm(high)->value >= tvms_as_int_imm(size)->value;
  return below || above;
}

static tvms_walk_step see_condition(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  bool found = node->kind == TVMS_NODE_IF_THEN_ELSE || node->kind == TVMS_NODE_SELECT
               || node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR
               || (node->kind == TVMS_NODE_CALL
                   && tvms_arith_opcode(node) == TVMS_TIR_if_then_else);
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does a block do something only where a condition holds?
static bool has_condition(const tvms_sched *sched, const tvms_block *block) {
  tvms_visitor visitor = {.enter = see_condition};
  return !tvms_walk(&sched->context->memory, block->body, &visitor);
}

static bool is_inside(tvms_sched *sched, tvms_analyzer *analyzer, tvms_int_set at,
                      tvms_node *size) {
  if (!at.min || !at.max) return false;
  tvms_node *low = tvms_sched_build(sched, TVMS_NODE_GE, at.min,
                                    tvms_sched_int(sched, at.min->dtype, 0));
  return tvms_analyzer_can_prove(analyzer, low)
         && tvms_analyzer_can_prove(
             analyzer, tvms_sched_build(sched, TVMS_NODE_LT, at.max, size));
}

// A question about places while the axes of a block run.
typedef struct {
  tvms_sched *sched;
  tvms_analyzer *analyzer;
  tvms_domains domains;
  bool conditional, leaves;
} leaving;

static tvms_walk_step see_place(void *self, tvms_node *node, tvms_field_role role);

// The indices, and the places in memory that they are read from.
static void look_at_places(leaving *l, const tvms_node *buffer, tvms_list indices) {
  tvms_visitor visitor = {.self = l, .enter = see_place};
  for (uint32_t d = 0; d < indices.len && !l->leaves; d++) {
    tvms_node *one = tvms_sched_int(l->sched, indices.items[d]->dtype, 1);
    tvms_node *size = tvms_as_buffer(buffer)->shape.items[d];
    tvms_int_set at = tvms_int_set_of_ranges(&l->domains, indices.items[d], one);
    l->leaves = is_out(l->sched, at, size)
                || (l->conditional && !is_inside(l->sched, l->analyzer, at, size))
                || !tvms_walk(&l->sched->context->memory, indices.items[d], &visitor);
  }
}

static tvms_walk_step see_place(void *self, tvms_node *node, tvms_field_role role) {
  leaving *l = self;
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_element element = tvms_node_element(node);
  look_at_places(l, *element.buffer, *element.indices);
  return l->leaves ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
}

bool tvms_sched_accesses_leave(tvms_sched *sched, const tvms_block *block,
                               const tvms_node *buffer, tvms_list indices) {
  leaving l = {.sched = sched,
               .analyzer = tvms_analyzer_new(sched->unit),
               .conditional = has_condition(sched, block)};
  tvms_domains_init(&l.domains, sched->unit);
  tvms_sched_add_axes(&l.domains, block);
  tvms_sched_mark_sizes(sched, l.analyzer);
  look_at_places(&l, buffer, indices);
  tvms_analyzer_free(l.analyzer);
  tvms_domains_fini(&l.domains);
  return l.leaves;
}

// Is it not known that all places are inside?
static bool may_be_out(tvms_sched *sched, tvms_int_set at, tvms_node *size) {
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  tvms_sched_mark_sizes(sched, analyzer);
  bool inside = is_inside(sched, analyzer, at, size);
  tvms_analyzer_free(analyzer);
  return !inside;
}

static bool any_range(tvms_sched *sched, int32_t site, const tvms_node *buffer,
                      tvms_list ranges,
                      bool (*out)(tvms_sched *, tvms_int_set, tvms_node *)) {
  tvms_domains domains;
  tvms_domains_init(&domains, sched->unit);
  tvms_sched_add_all(&domains, sched, site);
  bool any = false;
  for (uint32_t d = 0; d < ranges.len; d++) {
    const tvms_range *range = tvms_as_range(ranges.items[d]);
    tvms_int_set at = tvms_int_set_of_ranges(&domains, range->min, range->extent);
    any = any || out(sched, at, tvms_as_buffer(buffer)->shape.items[d]);
  }
  tvms_domains_fini(&domains);
  return any;
}

bool tvms_sched_ranges_leave(tvms_sched *sched, int32_t site, const tvms_node *buffer,
                             tvms_list ranges) {
  return any_range(sched, site, buffer, ranges, is_out);
}

bool tvms_sched_ranges_may_leave(tvms_sched *sched, int32_t site,
                                 const tvms_node *buffer, tvms_list ranges) {
  return any_range(sched, site, buffer, ranges, may_be_out);
}
