// Telling of tiled contractions.
#include "passes/tir/cpu/contraction_report.h"

#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/quad_operand.h"
#include "support/diag.h"

// Sizes of the axes of a role, "?" for one that is not known; nothing if all have one step.
static uint32_t print_sizes(const tvms_contraction *c, uint32_t roles,
                            tvms_strbuf *out) {
  uint32_t any = 0;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    if (!(roles & (1u << c->roles[i])) || tvms_stage_axis_is_single(axis)) continue;
    int64_t size = tvms_cpu_number(axis->extent);
    tvms_strbuf_puts(out, any ? " x " : "");
    if (size < 0)
      tvms_strbuf_puts(out, "?");
    else
      tvms_strbuf_printf(out, "%lld", (long long)size);
    any++;
  }
  return any;
}

void tvms_contraction_report_axes(const tvms_contraction *c, tvms_strbuf *out) {
  if (print_sizes(c, 1u << TVMS_AXIS_BATCH, out)) tvms_strbuf_puts(out, " times ");
  uint32_t rows = (1u << TVMS_AXIS_ROW) | (1u << TVMS_AXIS_OUTER);
  bool many = print_sizes(c, rows, out) > 0;
  tvms_strbuf_puts(out, many ? " rows, " : "1 row, ");
  if (!print_sizes(c, 1u << TVMS_AXIS_COLUMN, out)) tvms_strbuf_puts(out, "1");
  tvms_strbuf_puts(out, " columns, sums of ");
  if (!print_sizes(c, 1u << TVMS_AXIS_SUM, out)) tvms_strbuf_puts(out, "1");
}

// ---- The share of the peak ----

static int64_t or_many(int64_t size) {
  enum { MANY = 512 };
  return size < 0 ? MANY : size;
}

// Time of the tiles of `vectors` vectors for all rows, in multiply-adds per step of the sum.
static double tile_time(const tvms_tile *tile, int64_t rows, int64_t vectors) {
  int64_t most = tvms_tile_rows(tile, vectors);
  double time = (double)(rows / most) * (double)tvms_tile_cost(most, vectors);
  if (rows % most) time += (double)tvms_tile_cost(rows % most, vectors);
  return time;
}

// Vectors that the columns take, whole or not, and the time of their tiles.
static double columns_time(const tvms_tile *tile, int64_t columns, int64_t rows) {
  double time = 0;
  for (int64_t done = 0; done < columns;) {
    int64_t strip = columns - done < tile->strip ? columns - done : tile->strip;
    int64_t left = tvms_tile_vectors(tile, strip);
    for (done += strip; left > 0;) {
      int64_t vectors = left < tile->vectors ? left : tile->vectors;
      time += tile_time(tile, rows, vectors);
      left -= vectors;
    }
  }
  return time;
}

// Copies into a panel over elements that the sums read: less than 1 where lines are shared.
static double copies_of(const tvms_contraction *c, const tvms_tile *tile) {
  if (!tile->shares_lines) return 1;
  int64_t length = tvms_cpu_number(c->stage.axes[c->columns[1]].extent);
  int64_t lines = tile->strip / length;
  return (double)tvms_cpu_shared_lines_count(&tile->shared, lines)
         / (double)(lines * tile->shared.steps);
}

// Multiply-adds over all that a core could do in the time: what it also does is filling panels,
// and beginning and storing sums.
static int share_of_peak(const tvms_contraction *c, const tvms_tile *tile,
                         uint32_t epilogues) {
  enum { PER_COPY = 4, PER_END = 3 };
  int64_t rows = 1;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] == TVMS_AXIS_ROW || c->roles[i] == TVMS_AXIS_OUTER)
      rows *= or_many(tvms_cpu_number(c->stage.axes[i].extent));
  }
  int64_t columns = tvms_contraction_usual_columns(c);
  double steps = (double)or_many(tvms_contraction_steps(c));
  double vectors = (double)columns / (double)tile->lanes;
  double blocks = tile->sum_block ? steps / (double)tile->sum_block : 1;
  double time = columns_time(tile, columns, rows) * steps;
  if (tile->spares) time += (double)rows * steps / (double)tile->lanes;
  if (tile->packs) time += PER_COPY * vectors * steps * copies_of(c, tile);
  time += (PER_END * blocks + epilogues) * vectors * (double)rows;
  if (time <= 0) return 100;
  return (int)(100 * (double)rows * vectors * steps / time);
}

void tvms_contraction_report_tile(const tvms_contraction *c, const tvms_tile *tile,
                                  uint32_t epilogues, tvms_strbuf *out) {
  static const char *const threads[] = {"", ", batches on threads",
                                        ", strips on threads", ", rows on threads"};
  tvms_strbuf_printf(out, "tiles of %lld row%s x %lld vector%s of %lld, ",
                     (long long)tile->rows, tvms_diag_plural((uint64_t)tile->rows),
                     (long long)tile->vectors,
                     tvms_diag_plural((uint64_t)tile->vectors), (long long)tile->lanes);
  if (tile->beforehand)
    tvms_strbuf_printf(out, "the moving operand laid out beforehand by %lld columns",
                       (long long)tile->strip);
  else if (tile->packs)
    tvms_strbuf_printf(out, "the moving operand packed by %lld columns",
                       (long long)tile->strip);
  else
    tvms_strbuf_puts(out, "the moving operand read as it is");
  if (tvms_cpu_quad_factors(c->term))
    tvms_strbuf_puts(out, ", four bytes of the sum in a step");
  if (tile->shares_lines)
    tvms_strbuf_printf(out, ", each line once for %lld steps of the window",
                       (long long)tile->shared.steps);
  if (c->border.found) tvms_strbuf_puts(out, ", lines of padding left out");
  if (tile->sum_block)
    tvms_strbuf_printf(out, ", %lld steps of the sum%s at a time",
                       (long long)tile->sum_block,
                       tile->sum_apart ? " that lie far apart" : "");
  if (tile->spares) tvms_strbuf_puts(out, ", the last column summed in lanes");
  if (tile->moving_lead && (tile->packs || tile->beforehand))
    tvms_strbuf_puts(out, ", its lines fetched steps ahead");
  if (tile->panel_fetch || tile->panel_ahead)
    tvms_strbuf_printf(out, ", the next %s fetched meanwhile",
                       tile->in_place ? "strip" : "panel");
  if (tile->resting_far)
    tvms_strbuf_puts(out, ", rows of the next tile fetched meanwhile");
  if (tile->result_far)
    tvms_strbuf_puts(out, ", lines of the result fetched beforehand");
  if (tile->group * tile->strip >= tvms_contraction_column_steps(c) && tile->group > 1)
    tvms_strbuf_puts(out, ", all strips for one tile of rows after the other");
  else if (tile->group > 1)
    tvms_strbuf_printf(out, ", %lld strips for one tile of rows after the other",
                       (long long)tile->group);
  tvms_strbuf_puts(out, threads[tile->threads]);
  tvms_strbuf_printf(out, ", %u stage%s behind it in registers", epilogues,
                     tvms_diag_plural(epilogues));
  if (tile->from_memory)
    tvms_strbuf_puts(out, "; memory decides how fast it is");
  else
    tvms_strbuf_printf(out, "; %d %% of the peak expected",
                       share_of_peak(c, tile, epilogues));
}
