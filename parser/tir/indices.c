// Where the indices of an access stand in the text, and what is wrong with how they are written.
#include "parser/tir/indices.h"

#include "support/diag_ids.h"
#include "support/strbuf.h"

tvms_ref tvms_tir_indexed_at(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  bool assigns = node->kind == TVMS_SURF_ASSIGN || node->kind == TVMS_SURF_AUG_ASSIGN
                 || node->kind == TVMS_SURF_ANN_ASSIGN;
  if (!assigns) return ref;
  return tvms_reader_at(reader, node->a)->kind == TVMS_SURF_SUBSCRIPT ? node->a : ref;
}

tvms_ref tvms_tir_first_index(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  bool assigns = node->kind == TVMS_SURF_ASSIGN || node->kind == TVMS_SURF_AUG_ASSIGN
                 || node->kind == TVMS_SURF_ANN_ASSIGN;
  if (assigns) node = tvms_reader_at(reader, node->a);
  if (node->kind != TVMS_SURF_SUBSCRIPT || node->next) return 0;
  const tvms_surf *index = tvms_reader_at(reader, node->b);
  return index->kind == TVMS_SURF_TUPLE ? index->a : node->b;
}

tvms_ref tvms_tir_index_at(const tvms_reader *reader, tvms_ref ref, uint32_t i) {
  tvms_ref at = tvms_tir_first_index(reader, ref);
  for (; at && i > 0; i--) {
    at = tvms_reader_at(reader, at)->next;
  }
  return at ? at : tvms_tir_indexed_at(reader, ref);
}

enum { MOST_JOINTS = 7 };

// Subscripts as they are written: `A[i]`, `A[i][j]`.
typedef struct {
  tvms_span span;  // of all of them, with the buffer
  uint32_t count;  // of indices
  uint32_t joint_count;
  tvms_span joints[MOST_JOINTS];  // the "][" between them
  bool slices;
} written_subscripts;

// What stands at `span`, and the subscripts right behind it.
static written_subscripts subscripts_at(const char *text, tvms_span span) {
  written_subscripts found = {.span = span, .count = 1};
  uint32_t depth = 0;
  for (uint32_t at = span.begin; text[at] && text[at] != '\n'; at++) {
    char c = text[at];
    if (at >= span.end && depth == 0 && c != '[') break;
    if (c == '[' || c == '(') depth++;
    if (c == ']' || c == ')') depth--;
    if (depth == 1 && c == ',') found.count++;
    if (depth == 1 && c == ':') found.slices = true;
    if (depth == 0 && c == ']') found.span.end = at + 1;
    if (depth != 0 || c != ']' || text[at + 1] != '[') continue;
    if (found.joint_count == MOST_JOINTS) break;
    found.joints[found.joint_count++] = (tvms_span){at, at + 2};
    found.count++;
  }
  return found;
}

// "write A[i, j]", with the edits that make it.
static void suggest_one_subscript(tvms_reader *reader, tvms_diag *diag,
                                  const written_subscripts *found) {
  tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  tvms_strbuf better;
  tvms_strbuf_init(&better, &reader->context->memory);
  uint32_t from = found->span.begin;
  for (uint32_t i = 0; i < found->joint_count; i++) {
    tvms_span joint = found->joints[i];
    tvms_strbuf_printf(&better, "%.*s, ", (int)(joint.begin - from), text + from);
    from = joint.end;
    tvms_diag_fix(diags, diag, joint, false, ", ");
  }
  tvms_strbuf_add(&better, text + from, found->span.end - from);
  tvms_diag_remark(diags, diag, "write %s", tvms_strbuf_text(&better));
  tvms_strbuf_fini(&better);
}

void tvms_tir_report_region(tvms_reader *reader, const tvms_node *region,
                            tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(tvms_as_buffer_region(region)->buffer);
  tvms_span span = region->span;
  const char *text = reader->surface->source->text;
  written_subscripts found = {.slices = true};
  if (span.end > span.begin && text[span.end - 1] == ']')
    found = subscripts_at(text, span);
  bool joined = found.joint_count && found.count == buffer->shape.len;
  if (found.slices || (found.count >= buffer->shape.len && !joined)) {
    bool written = span.end > span.begin && text[span.end - 1] == ']';
    tvms_span whole = tvms_reader_span_of(reader, ref);
    tvms_diags *diags = &reader->context->diags;
    reader->failed = true;
    // Once of all slices in a call or an expression.
    if (diags->last && diags->last->id == TVMS_D_region_as_value
        && diags->last->source == diags->source
        && diags->last->span.begin >= whole.begin && diags->last->span.end <= whole.end)
      return;
    tvms_diag *slice =
        tvms_diag_report(diags, TVMS_D_region_as_value, written ? span : whole);
    const char *last =
        tvms_dialect_text(tvms_release_until(TVMS_FACT_slices_are_vectors));
    tvms_diag_remark(&reader->context->diags, slice,
                     "TVM %s is the last release that takes it (--from %s)", last,
                     last);
    return;
  }
  uint32_t count = joined ? 1 : found.count;
  tvms_diag *diag = tvms_diag_report(&reader->context->diags, TVMS_D_wrong_rank, span,
                                     tvms_symbol_text(reader->context, buffer->name),
                                     buffer->shape.len, count);
  if (joined) suggest_one_subscript(reader, diag, &found);
}
