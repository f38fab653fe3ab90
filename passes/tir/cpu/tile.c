// Choosing register tiles.
#include "passes/tir/cpu/tile.h"

#include "ir/build.h"

// Accumulators that keep two multiply-add units busy: four steps until a sum is ready.
enum { FEWEST_SUMS = 8, MOST_VECTORS = 8 };

int64_t tvms_tile_size_of(const tvms_node *extent) {
  return tvms_node_is_int_imm(extent) ? tvms_as_int_imm(extent)->value : -1;
}

typedef struct {
  int64_t lanes, registers, cache;
} machine;

static machine machine_of(const tvms_target *target, tvms_dtype dtype) {
  uint32_t bits = target->vector_bits ? target->vector_bits : 128;
  machine m = {.lanes = bits / dtype.bits, .registers = 16, .cache = 256 * 1024};
  if (target->vector_registers) m.registers = target->vector_registers;
  if (target->caches[1].size) m.cache = (int64_t)target->caches[1].size;
  return m;
}

static int64_t most_rows(const machine *m, int64_t vectors) {
  return (m->registers - vectors - 1) / vectors;
}

// Time of a tile for one step of the sum, in accumulators: a small one waits for its sums.
static int64_t cost(int64_t rows, int64_t vectors) {
  int64_t sums = rows * vectors;
  return sums < FEWEST_SUMS ? FEWEST_SUMS : sums;
}

// Rows of a tile: those that cover all rows in the least time, the fewest of these: rows that lie a
// power of two apart share the places of the first cache.
static int64_t rows_for(const machine *m, int64_t rows, int64_t vectors) {
  int64_t most = most_rows(m, vectors), best = 0, least = 0;
  if (rows < 0) return most < 8 ? most : 8;
  if (rows <= most) return rows;
  for (int64_t r = (FEWEST_SUMS + vectors - 1) / vectors; r <= most; r++) {
    int64_t rest = rows % r;
    int64_t time = rows / r * cost(r, vectors) + (rest ? cost(rest, vectors) : 0);
    // Loads of the moving operand come once per tile.
    time += (rows + r - 1) / r * vectors / 2;
    if (best && time >= least) continue;
    best = r;
    least = time;
  }
  return best ? best : most;
}

static int64_t vectors_for(const machine *m, int64_t rows, int64_t vectors_wanted) {
  int64_t vectors = m->registers >= 32 ? 2 : 2;
  while (rows >= 0 && rows * vectors < FEWEST_SUMS && vectors < MOST_VECTORS
         && most_rows(m, vectors * 2) >= rows)
    vectors *= 2;
  while (vectors > 1 && vectors_wanted > 0 && vectors > vectors_wanted)
    vectors--;
  return vectors;
}

static int64_t bytes_of_moving(const tvms_contraction *c) {
  int64_t bytes = (c->term->dtype.bits + 7) / 8;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] != TVMS_AXIS_SUM && c->roles[i] != TVMS_AXIS_COLUMN) continue;
    int64_t size = tvms_tile_size_of(c->stage.axes[i].extent);
    bytes *= size < 0 ? 512 : size;
  }
  return bytes;
}

// Steps for which one panel of the moving operand serves.
static int64_t uses_of(const tvms_contraction *c) {
  int64_t uses = 1;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] != TVMS_AXIS_ROW && c->roles[i] != TVMS_AXIS_OUTER) continue;
    int64_t size = tvms_tile_size_of(c->stage.axes[i].extent);
    uses *= size < 0 ? 64 : size;
  }
  return uses;
}

tvms_tile tvms_tile_choose(const tvms_target *target, const tvms_contraction *c) {
  machine m = machine_of(target, c->stage.store->value->dtype);
  int64_t columns = tvms_tile_size_of(c->stage.axes[c->column].extent);
  int64_t rows = 1;
  if (c->row < TVMS_MOST_STAGE_AXES)
    rows = tvms_tile_size_of(c->stage.axes[c->row].extent);
  tvms_tile tile = {.lanes = m.lanes};
  if (columns > 0 && columns < tile.lanes) tile.lanes = columns;
  int64_t wanted = columns < 0 ? 0 : (columns + tile.lanes - 1) / tile.lanes;
  tile.vectors = vectors_for(&m, rows, wanted);
  tile.rows = rows_for(&m, rows, tile.vectors);
  enum { WORTH_PACKING = 24 };
  bool far = bytes_of_moving(c) > m.cache / 2 && uses_of(c) >= WORTH_PACKING;
  tile.packs = c->moving && (!c->contiguous || far);
  return tile;
}
