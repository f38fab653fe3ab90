// sample_categorical, sample_perfect_tile, sample_partitioned_tile, sample_compute_location: what a search has decided, done again.
// Nothing is left to chance here: a step without a decision is refused. TVM: src/s_tir/schedule/primitive/sampling.cc.
#include "schedule/scope.h"
#include "schedule/steps.h"

static bool refuse_chance(tvms_step *step) {
  return tvms_sched_refuse(step->sched,
                           "there is no decision, and nothing is left to chance here");
}

static tvms_sched_value number(int64_t value) {
  return (tvms_sched_value){.kind = TVMS_VALUE_INT, .number = value};
}

bool tvms_step_sample_categorical(tvms_step *step) {
  const tvms_sched_value *candidates =
      &step->args[TVMS_ARG(SampleCategorical, candidates)];
  const tvms_sched_value *decision = &step->args[TVMS_ARG(SampleCategorical, decision)];
  tvms_schedule *schedule = step->schedule;
  if (!step->sched && schedule->functions.len)
    step->sched = schedule->functions.items[0];  // for the report
  if (!step->sched)
    return tvms_schedule_refuse_function(schedule, step->result.span, NULL);
  if (decision->kind == TVMS_VALUE_NONE) return refuse_chance(step);
  if (decision->number < 0 || decision->number >= candidates->len)
    return tvms_sched_refuse(step->sched, "there are %u candidates", candidates->len);
  step->result = number(candidates->items[decision->number].number);
  return true;
}

// ---- Tiles ----

// The extent of a loop; 0: it is not a constant. False after a refusal.
static bool extent_of(tvms_step *step, uint32_t argument, int64_t *extent) {
  int32_t site = tvms_step_site(step, argument);
  if (site == TVMS_NO_SITE) return false;
  const tvms_node *size = tvms_sched_loop(step->sched, site)->extent;
  *extent = size->kind == TVMS_NODE_INT_IMM ? tvms_as_int_imm(size)->value : 0;
  return true;
}

static tvms_sched_value ones(tvms_step *step, uint32_t count) {
  tvms_sched_value list = {.kind = TVMS_VALUE_LIST, .len = count};
  list.items = tvms_arena_array(&step->schedule->arena, tvms_sched_value, count + 1);
  for (uint32_t i = 0; i < count; i++)
    list.items[i] = number(1);
  return list;
}

// The factors of a decision; one that does not divide what is left of the loop takes all of it.
static bool perfect(tvms_step *step, const tvms_sched_value *decision, int64_t extent,
                    tvms_sched_value *tiles) {
  *tiles = ones(step, decision->len);
  if (decision->len < 2)
    return tvms_sched_refuse(step->sched, "there are too few tiles");
  for (uint32_t i = decision->len - 1; i > 0; i--) {
    int64_t factor = decision->items[i].number;
    if (factor <= 0) return tvms_sched_refuse(step->sched, "a tile is not positive");
    if (extent % factor != 0) factor = extent;
    extent /= factor;
    tiles->items[i].number = factor;
  }
  tiles->items[0].number = extent;
  return true;
}

// The tiles are the decision that is kept, and the result, in which the first one is found from the others if the loop's extent is
// not known.
static bool give_tiles(tvms_step *step, uint32_t decision,
                       const tvms_sched_value *tiles, bool known) {
  step->args[decision] = *tiles;
  step->result = ones(step, tiles->len);
  for (uint32_t i = 0; i < tiles->len; i++)
    step->result.items[i] = number(tiles->items[i].number);
  if (!known) {
    step->args[decision].items[0].number = -1;
    step->result.items[0] = (tvms_sched_value){.kind = TVMS_VALUE_NONE};
  }
  return true;
}

// How many tiles a step asks for; 0 after a refusal.
static uint32_t tile_count(tvms_step *step, uint32_t argument) {
  int64_t count = step->args[argument].number;
  if (count >= 1 && count <= 64) return (uint32_t)count;
  (void)!tvms_sched_refuse(step->sched, "that is no number of tiles");
  return 0;
}

bool tvms_step_sample_perfect_tile(tvms_step *step) {
  uint32_t at = TVMS_ARG(SamplePerfectTile, decision);
  uint32_t count = tile_count(step, TVMS_ARG(SamplePerfectTile, n));
  int64_t extent = 0;
  if (!count || !extent_of(step, TVMS_ARG(SamplePerfectTile, loop), &extent))
    return false;
  tvms_sched_value tiles = ones(step, count);
  if (!extent) return give_tiles(step, at, &tiles, false);
  if (step->args[at].kind == TVMS_VALUE_NONE) return refuse_chance(step);
  return perfect(step, &step->args[at], extent, &tiles)
         && give_tiles(step, at, &tiles, true);
}

bool tvms_step_sample_partitioned_tile(tvms_step *step) {
  uint32_t at = TVMS_ARG(SamplePartitionedTile, decision);
  uint32_t count = tile_count(step, TVMS_ARG(SamplePartitionedTile, n));
  int64_t factor = step->args[TVMS_ARG(SamplePartitionedTile, innerpart_factor)].number;
  int64_t place = step->args[TVMS_ARG(SamplePartitionedTile, partition_pos)].number;
  int64_t extent = 0, inner = 1;
  if (!count || !extent_of(step, TVMS_ARG(SamplePartitionedTile, loop), &extent))
    return false;
  if (factor <= 0 || factor > INT32_MAX || place < 0 || place >= count)
    return tvms_sched_refuse(step->sched, "that is no part of the tiles");
  tvms_sched_value tiles = ones(step, count);
  if (!extent || extent % factor != 0) return give_tiles(step, at, &tiles, false);
  const tvms_sched_value *decision = &step->args[at];
  if (decision->kind == TVMS_VALUE_NONE) return refuse_chance(step);
  for (uint32_t i = (uint32_t)place; i < decision->len; i++)
    inner = (inner % factor) * (decision->items[i].number % factor);
  if (inner % factor == 0)
    return perfect(step, decision, extent, &tiles)
           && give_tiles(step, at, &tiles, true);
  tiles.items[0].number = extent / factor;
  tiles.items[place].number = factor;
  return give_tiles(step, at, &tiles, true);
}

// ---- Places ----

// A loop around the first block that reads of this one, the block's own place, or in those that read of it.
bool tvms_step_sample_compute_location(tvms_step *step) {
  tvms_sched *s = step->sched;
  const tvms_sched_value *decision =
      &step->args[TVMS_ARG(SampleComputeLocation, decision)];
  int32_t block = tvms_step_site(step, TVMS_ARG(SampleComputeLocation, block));
  if (block == TVMS_NO_SITE) return false;
  if (decision->kind == TVMS_VALUE_NONE) return refuse_chance(step);
  if (decision->number == -1 || decision->number == -2) {
    tvms_sched_mark mark = decision->number == -1 ? TVMS_MARK_ROOT : TVMS_MARK_INLINE;
    step->result =
        (tvms_sched_value){.kind = TVMS_VALUE_LOOP, .ref = {.sched = s, .mark = mark}};
    return true;
  }
  tvms_site_vec readers = {0}, loops = {0};
  tvms_sched_consumers(s, block, &readers);
  if (readers.len) tvms_sched_loops(s, readers.items[0], &loops);
  bool found = decision->number >= 0 && decision->number < loops.len;
  if (found) tvms_step_give(step, loops.items[decision->number]);
  tvms_vec_fini(&s->context->memory, &readers);
  tvms_vec_fini(&s->context->memory, &loops);
  return found
         || tvms_sched_refuse(
             s,
             "the decision is no loop around the first block that reads of this one");
}
