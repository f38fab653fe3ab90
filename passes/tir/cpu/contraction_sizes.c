// Sizes of a contraction that a tile is chosen by; what is not known is guessed.
#include "passes/tir/cpu/contraction_sizes.h"

#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/words.h"
int64_t tvms_contraction_moving_bytes(const tvms_contraction *c) {
  int64_t bytes = (c->term->dtype.bits + 7) / 8;
  bytes *= tvms_contraction_usual_columns(c);
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] != TVMS_AXIS_SUM) continue;
    int64_t size = tvms_cpu_number(c->stage.axes[i].extent);
    bytes *= size < 0 ? 512 : size;
  }
  return bytes;
}

bool tvms_contraction_is_far(const tvms_contraction *c, int64_t cache) {
  bool known = tvms_contraction_column_steps(c) >= 0 || tvms_contraction_steps(c) >= 0;
  return !known || tvms_contraction_moving_bytes(c) > cache;
}

int64_t tvms_contraction_usual_columns(const tvms_contraction *c) {
  enum { USUAL = 512 };
  int64_t columns = tvms_contraction_column_steps(c);
  return columns < 0 ? USUAL : columns;
}

int64_t tvms_contraction_uses(const tvms_contraction *c) {
  int64_t uses = 1;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] != TVMS_AXIS_ROW && c->roles[i] != TVMS_AXIS_OUTER) continue;
    int64_t size = tvms_cpu_number(c->stage.axes[i].extent);
    uses *= size < 0 ? 64 : size;
  }
  return uses;
}

bool tvms_contraction_knows_rows(const tvms_contraction *c) {
  return c->row == TVMS_MOST_STAGE_AXES
         || tvms_cpu_number(c->stage.axes[c->row].extent) >= 0;
}

bool tvms_contraction_keeps_sizes(const tvms_contraction *c) {
  for (uint32_t i = 0; i < c->stage.count && c->changes; i++) {
    if (tvms_cpu_number(c->stage.axes[i].extent) < 0) return false;
  }
  return true;
}

bool tvms_contraction_has_outer(const tvms_contraction *c) {
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] == TVMS_AXIS_OUTER && !tvms_stage_axis_is_single(&c->stage.axes[i]))
      return true;
  }
  return false;
}

double tvms_contraction_result_bytes(const tvms_contraction *c) {
  double bytes = c->stage.store->value->dtype.bits / 8;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    int64_t size = tvms_cpu_number(c->stage.axes[i].extent);
    if (c->roles[i] != TVMS_AXIS_SUM) bytes *= size < 0 ? 0 : (double)size;
  }
  return bytes;
}

double tvms_contraction_resting_bytes(const tvms_contraction *c) {
  if (!c->resting || c->resting->kind != TVMS_NODE_BUFFER_LOAD) return 0;
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_buffer_load(c->resting)->buffer);
  double bytes = buffer->element.bits / 8;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    int64_t size = tvms_cpu_number(buffer->shape.items[i]);
    bytes *= size < 0 ? 0 : (double)size;
  }
  return bytes;
}

bool tvms_contraction_begins_lines(tvms_unit *unit, const tvms_contraction *c) {
  const tvms_buffer_load *load = tvms_as_buffer_load(c->moving);
  int64_t step, line = TVMS_CPU_CACHE_LINE * 8 / c->moving->dtype.bits;
  return tvms_cpu_step_of(unit, load->buffer, load->indices,
                          c->stage.axes[c->outermost_sum].var, &step)
         && step % line == 0;
}

int64_t tvms_contraction_pages(tvms_unit *unit, const tvms_contraction *c) {
  enum { PAGE = 4096, MOST = 1 << 20 };
  if (!c->moving || c->moving->kind != TVMS_NODE_BUFFER_LOAD
      || c->outermost_sum == TVMS_MOST_STAGE_AXES)
    return -1;
  const tvms_stage_axis *sum = &c->stage.axes[c->outermost_sum];
  const tvms_buffer_load *load = tvms_as_buffer_load(c->moving);
  int64_t step, steps = tvms_cpu_number(sum->extent);
  if (steps < 0 || steps > MOST
      || !tvms_cpu_step_of(unit, load->buffer, load->indices, sum->var, &step)
      || step < 0)
    return -1;
  int64_t bytes = c->moving->dtype.bits / 8;
  return step >= PAGE / bytes ? steps : steps * step * bytes / PAGE;
}

int64_t tvms_contraction_round_of(int64_t steps, int64_t most) {
  enum { FEWEST = 8, EVEN = 4, FEWEST_ROUNDS = 4 };
  int64_t best = 0;
  for (int64_t round = FEWEST; round <= most && round < steps; round++) {
    if (steps % round == 0 && (round % EVEN == 0 || best % EVEN != 0 || !best))
      best = round;
  }
  return best || steps < FEWEST_ROUNDS * most ? best : most;
}
