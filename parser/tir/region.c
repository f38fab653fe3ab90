// Subscripts of buffer regions: a region of a region, or an element of it.
//
// `b = A[4:8]` binds a region; `b[1]` counts from its start. TVM 0.25 and 0.26 make a
// region of every subscript, which becomes a load where a value is wanted
// (tirx/stmt.py, BufferRegion.__getitem__); 0.27 loads if every index is an element.
// Dimensions without an index keep their range. 0.22 has no subscripts of regions.
#include "parser/tir/region.h"

#include "ir/build.h"
#include "parser/eval/operator.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/loop.h"
#include "parser/tir/tir.h"

// An index relative to `range`: an element or a slice. NULL after a report.
static tvms_node *range_within(tvms_reader *reader, const tvms_range *range,
                               tvms_eval_value index, tvms_ref ref) {
  tvms_eval_value start = index;
  tvms_node *extent = NULL;
  if (index.kind == TVMS_EVAL_SLICE) {
    tvms_eval_value stop = index.as.items[1];
    start = index.as.items[0];
    if (start.kind == TVMS_EVAL_NONE) start = tvms_eval_value_int(0);
    if (stop.kind == TVMS_EVAL_NONE) stop = tvms_eval_value_node(range->extent);
    tvms_eval_value size = tvms_eval_binary(reader, TVMS_OP_SUB, stop, start, ref);
    tvms_node *expr = tvms_eval_to_expr(reader, size, ref);
    extent = expr ? tvms_tir_simplified(reader, expr) : NULL;
  } else {
    tvms_node *expr = tvms_eval_to_expr(reader, index, ref);
    extent = expr ? tvms_tir_one_like(reader, expr) : NULL;
  }
  if (!extent) return NULL;
  tvms_eval_value sum = tvms_eval_binary(reader, TVMS_OP_ADD,
                                         tvms_eval_value_node(range->min), start, ref);
  tvms_node *min = tvms_eval_to_expr(reader, sum, ref);
  return min ? tvms_range_new(reader->unit, min, extent,
                              tvms_reader_span_of(reader, ref))
             : NULL;
}

// Whether the indices can be applied, reported if not. `element` is set if none of them
// is a slice and no dimension is left.
static bool check_indices(tvms_reader *reader, const tvms_buffer_region *region,
                          tvms_eval_items items, tvms_ref ref, bool *element) {
  uint32_t rank = region->region.len;
  *element = items.len == rank;
  for (uint32_t i = 0; i < items.len; i++) {
    if (!tvms_eval_value_is_known(items.items[i])) return false;
    if (items.items[i].kind != TVMS_EVAL_SLICE) continue;
    *element = false;
    tvms_eval_value step = items.items[i].as.items[2];
    if (step.kind == TVMS_EVAL_NONE) continue;
    if (step.kind == TVMS_EVAL_INT && step.as.i == 1) continue;
    tvms_reader_report(reader, region_step, ref);
    return false;
  }
  if (items.len <= rank) return true;
  tvms_sym name = tvms_as_buffer(region->buffer)->name;
  tvms_reader_report(reader, wrong_rank, ref, tvms_symbol_text(reader->context, name),
                     rank, items.len);
  return false;
}

tvms_eval_value tvms_tir_region_subscript(tvms_reader *reader, tvms_node *region,
                                          tvms_eval_value index, tvms_ref ref) {
  const tvms_buffer_region *fields = tvms_as_buffer_region(region);
  tvms_eval_items items = tvms_eval_items_of(&index);
  bool element;
  if (!check_indices(reader, fields, items, ref, &element))
    return tvms_reader_failed(reader);
  uint32_t rank = fields->region.len;
  tvms_node **ranges = tvms_arena_array(&reader->unit->arena, tvms_node *, rank);
  for (uint32_t i = 0; i < rank; i++) {
    tvms_node *range = fields->region.items[i];
    ranges[i] = i < items.len
                    ? range_within(reader, tvms_as_range(range), items.items[i], ref)
                    : range;
    if (!ranges[i]) return tvms_reader_failed(reader);
  }
  if (!element
      || !tvms_release_has(reader->dialect, TVMS_FACT_regions_of_elements_are_loads)) {
    return tvms_eval_value_node(tvms_buffer_region_new(
        reader->unit, fields->buffer, ranges, rank, tvms_reader_span_of(reader, ref)));
  }
  for (uint32_t i = 0; i < rank; i++) {
    ranges[i] = tvms_as_range(ranges[i])->min;
  }
  return tvms_eval_value_node(
      tvms_tir_load(reader, fields->buffer, ranges, rank, NULL, ref));
}
