// Accesses of buffers: indices, regions, loads and stores with or without a mask.
//
// A vector index with a constant stride is written as a slice, A[0:8:2] for T.Ramp(0, 2, 4). From
// 0.27 on a slice among values is a region, so a load has its T.Ramp there, and only the target of
// a store a slice. What the value of a store mentions is defined before what its indices mention,
// and names depend on that order: so the value is written first, and the texts change places then
// (tvms_print_move).
#include "printer/access.h"

#include "printer/buffer.h"
#include "printer/expr.h"
#include "printer/state.h"
#include "printer/text.h"

// ---- Indices ----

static void print_slice(tvms_printer *p, const tvms_ramp *ramp) {
  tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
  tvms_node *span = tvms_print_fold(p, TVMS_NODE_MUL, ramp->lanes, ramp->stride);
  tvms_node *stop = tvms_print_fold(p, TVMS_NODE_ADD, ramp->base, span);
  tvms_print_any(p, ramp->base);
  PUT(p, ":");
  tvms_print_any(p, stop);
  if (!tvms_node_is_int(ramp->stride, 1)) {
    PUT(p, ":");
    tvms_print_any(p, ramp->stride);
  }
  tvms_arena_reset(&p->scratch.arena, mark);
}

static void print_indices(tvms_printer *p, tvms_list indices, bool slices) {
  if (indices.len == 0) {
    PUT(p, "[()]");
    return;
  }
  PUT(p, "[");
  for (uint32_t i = 0; i < indices.len; i++) {
    const tvms_node *index = indices.items[i];
    if (i) PUT(p, ", ");
    bool slice = slices && index->kind == TVMS_NODE_RAMP
                 && tvms_as_ramp(index)->stride->kind == TVMS_NODE_INT_IMM;
    if (slice)
      print_slice(p, tvms_as_ramp(index));
    else
      tvms_print_any(p, index);
  }
  PUT(p, "]");
}

void tvms_print_indices(tvms_printer *p, tvms_list indices) {
  print_indices(p, indices, true);
}

void tvms_print_region(tvms_printer *p, tvms_list ranges) {
  if (ranges.len == 0) {
    PUT(p, "[()]");
    return;
  }
  PUT(p, "[");
  for (uint32_t i = 0; i < ranges.len; i++) {
    const tvms_range *range = tvms_as_range(ranges.items[i]);
    if (i) PUT(p, ", ");
    tvms_print_any(p, range->min);
    if (tvms_node_is_int(range->extent, 1)) continue;
    PUT(p, ":");
    tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
    tvms_print_any(p, tvms_print_fold(p, TVMS_NODE_ADD, range->min, range->extent));
    tvms_arena_reset(&p->scratch.arena, mark);
  }
  PUT(p, "]");
}

// ---- Loads and stores ----

// What a load and a store have in common; a store has a value.
typedef struct {
  const tvms_node *buffer;
  const tvms_node *TVMS_NULLABLE value;
  tvms_list indices;
  const tvms_node *predicate;
} masked;

// From 0.27 on vectors under a mask are accessed by intrinsics.
static void print_intrinsic(tvms_printer *p, masked access, tvms_dtype loaded) {
  tvms_print_t(p, access.value ? "masked_store" : "masked_load");
  PUT(p, "(");
  if (!access.value) {
    tvms_print_quoted_dtype(p, loaded);
    PUT(p, ", ");
  }
  tvms_print_buffer(p, access.buffer);
  if (access.value) {
    PUT(p, ", ");
    tvms_print_any(p, access.value);
  }
  if (access.indices.len) PUT(p, ", ");
  tvms_print_list(p, access.indices);
  PUT(p, ", ");
  tvms_print_any(p, access.predicate);
  PUT(p, ")");
}

static void print_method(tvms_printer *p, masked access) {
  tvms_print_buffer(p, access.buffer);
  tvms_print_put(p, access.value ? ".vstore([" : ".vload([");
  tvms_print_list(p, access.indices);
  PUT(p, "], ");
  if (access.value) {
    tvms_print_any(p, access.value);
    PUT(p, ", ");
  }
  PUT(p, "predicate=");
  tvms_print_any(p, access.predicate);
  PUT(p, ")");
}

static void print_masked(tvms_printer *p, masked access, tvms_dtype loaded) {
  if (tvms_release_has(p->dialect, TVMS_FACT_masked_access_is_intrinsic))
    print_intrinsic(p, access, loaded);
  else
    print_method(p, access);
}

void tvms_print_load(tvms_printer *p, const tvms_buffer_load *load) {
  if (load->predicate) {
    masked access = {load->buffer, NULL, load->indices, load->predicate};
    print_masked(p, access, load->head.dtype);
    return;
  }
  for (uint32_t i = 0; i + 1 < load->indices.len; i++) {
    if (!tvms_release_has(p->dialect, TVMS_FACT_only_last_index_is_vector)
        || load->indices.items[i]->dtype.lanes == 1)
      continue;
    tvms_print_cannot(p, &load->head, "a vector index that is not the last");
  }
  // The name of a buffer may stand for its only element.
  if (tvms_print_is_scalar(p, load->buffer, false)) {
    tvms_print_scalar_name(p, load->buffer);
    return;
  }
  tvms_print_buffer(p, load->buffer);
  // From 0.27 on a vector index of a load is not written as a slice.
  print_indices(p, load->indices,
                tvms_release_has(p->dialect, TVMS_FACT_slices_are_vectors));
}

void tvms_print_store(tvms_printer *p, const tvms_store *store) {
  if (store->predicate) {
    masked access = {store->buffer, store->value, store->indices, store->predicate};
    print_masked(p, access, store->value->dtype);
    return;
  }
  if (tvms_print_is_scalar(p, store->buffer, false)) {
    tvms_print_scalar_name(p, store->buffer);
    PUT(p, " = ");
    tvms_print_any(p, store->value);
    return;
  }
  // What the value names is defined before what the indices name.
  tvms_print_buffer(p, store->buffer);
  size_t from = p->out->len;
  tvms_print_any(p, store->value);
  size_t end = p->out->len;
  print_indices(p, store->indices, true);
  PUT(p, " = ");
  tvms_print_move(p, from, end);
}
