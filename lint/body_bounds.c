// Elements outside of their buffer.
//
// Bounds over all iterations tell at once that most indices are fine. For the others an
// iteration is looked for that is executed and in which the index is not; so nothing is said
// of an index that is guarded, or whose bounds are only not known.
#include "lint/body_bounds.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "lint/body_eval.h"
#include "support/diag_ids.h"

#include <inttypes.h>

enum { MOST_KNOWN = 64 };

// Which end an index goes beyond.
typedef struct {
  const tvms_node *index;
  const tvms_node *extent;
  bool below;
} question;

static tvms_lint_value distance(tvms_lint_path *path, const void *self) {
  const question *q = self;
  tvms_lint_value index = tvms_lint_path_value(path, q->index);
  if (q->below) return tvms_lint_add(tvms_lint_constant(-1), index, -1);
  return tvms_lint_add(index, tvms_lint_path_value(path, q->extent), -1);
}

// Do the bounds say that the index is fine on this side?
static bool is_fine(const tvms_lint_path *path, const question *q,
                    tvms_lint_range range) {
  if (q->below) return range.min >= 0;
  if (tvms_lint_path_is_below(path, q->index, q->extent)) return true;
  tvms_lint_range extent = tvms_lint_path_range(path, q->extent);
  if (range.max != INT64_MAX && range.max < extent.min) return true;
  return extent.min > 0 && tvms_lint_path_is_guarded(path, q->index, extent.min);
}

// Python counts negative indices from the end; a buffer does not.
static void offer_from_end(tvms_lint_body *body, tvms_diag *diag, const question *q,
                           tvms_span span) {
  if (!tvms_node_is_int_imm(q->index) || !tvms_node_is_int_imm(q->extent)) return;
  int64_t extent = tvms_as_int_imm(q->extent)->value;
  int64_t index = tvms_as_int_imm(q->index)->value + extent;
  if (!q->below || index < 0) return;
  const tvms_source *source = body->diags->source;
  if (source && span.begin < source->size && source->text[span.begin] == '-')
    tvms_diag_fix(body->diags, diag, span, false, "%" PRId64, index);
  tvms_diag_remark(body->diags, diag,
                   "negative indices do not count from the end; the last element is "
                   "%" PRId64,
                   extent - 1);
}

// Was the same index of the buffer reported? Then the buffer is too small, and that once.
static bool is_known(tvms_lint_body *body, const tvms_node *buffer, uint32_t dimension,
                     const tvms_lint_value *index) {
  for (uint32_t i = 0; i < body->outside.len; i++) {
    const tvms_lint_outside *old = &body->outside.items[i];
    if (old->buffer == buffer && old->dimension == dimension
        && tvms_lint_same(&old->index, index))
      return true;
  }
  tvms_lint_outside found = {buffer, dimension, *index};
  if (body->outside.len < MOST_KNOWN)
    tvms_vec_push(body->memory, &body->outside, found);
  return false;
}

static void report(tvms_lint_body *body, const tvms_lint_access *access, uint32_t i,
                   const question *q, uint64_t loops) {
  tvms_span span = tvms_lint_index_span(access, i);
  tvms_lint_value index = tvms_lint_path_value(&body->path, q->index);
  if (is_known(body, access->buffer, i, &index)) return;
  if (!tvms_lint_is_first(body, span)) return;
  tvms_lint_value extent = tvms_lint_path_value(&body->path, q->extent);
  const char *name = tvms_lint_name_of(body, access->buffer);
  tvms_diag *diag = tvms_diag_report(body->diags, TVMS_D_index_outside, span,
                                     tvms_lint_text_of(body, index), i, name,
                                     tvms_lint_text_of(body, extent));
  const char *text = tvms_lint_path_text(&body->path, loops);
  const char *what = access->writes ? "written" : "read";
  if (text[0])
    tvms_diag_remark(body->diags, diag, "it is %s there with %s", what, text);
  offer_from_end(body, diag, q, span);
}

// May a vector go on in the next row? In memory rows follow each other, and intrinsics load a tile
// as one vector.
static bool goes_over_rows(const tvms_lint_access *access, uint32_t i) {
  const tvms_node *index = access->indices.items[i];
  return i > 0 && i + 1 == access->indices.len && index->kind == TVMS_NODE_RAMP
         && tvms_node_is_int(tvms_as_ramp(index)->stride, 1);
}

static void check_end(tvms_lint_body *body, const tvms_lint_access *access, uint32_t i,
                      bool below, tvms_lint_range range) {
  tvms_lint_path *path = &body->path;
  const tvms_node *index = access->indices.items[i];
  question q = {.index = index, .below = below};
  q.extent = tvms_as_buffer(access->buffer)->shape.items[i];
  if (is_fine(path, &q, range)) return;
  uint64_t loops = tvms_lint_path_loops_of(path, index);
  bool vector = index->dtype.lanes != 1;
  tvms_lint_path_choose_lane(path, vector && !below && !goes_over_rows(access, i));
  if (tvms_lint_search(path, loops | tvms_lint_path_loops_of(path, q.extent),
                       tvms_lint_path_is_jagged(path, index), distance, &q))
    report(body, access, i, &q, loops);
  tvms_lint_path_choose_lane(path, false);
}

void tvms_lint_body_bounds_access(tvms_lint_body *body,
                                  const tvms_lint_access *access) {
  if (body->path.uncertain) return;
  tvms_list shape = tvms_as_buffer(access->buffer)->shape;
  if (shape.len != access->indices.len) return;
  for (uint32_t i = 0; i < shape.len; i++) {
    const tvms_node *index = access->indices.items[i];
    if (tvms_dtype_is_real(index->dtype)) continue;
    tvms_lint_range range = tvms_lint_path_range(&body->path, index);
    check_end(body, access, i, true, range);
    check_end(body, access, i, false, range);
  }
}
