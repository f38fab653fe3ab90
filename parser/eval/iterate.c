// What values yield where Python iterates over them.
#include "parser/eval/iterate.h"

#include "parser/eval/assume.h"
#include "parser/eval/budget.h"
#include "parser/eval/convert.h"
#include "parser/eval/ops.h"
#include "parser/eval/reader.h"

#include <string.h>
bool tvms_eval_range_iterate(tvms_reader *reader, tvms_eval_value range, tvms_ref ref,
                             tvms_eval_items *items) {
  int64_t start = range.as.items[0].as.i, stop = range.as.items[1].as.i;
  int64_t step = range.as.items[2].as.i;
  uint64_t span = step > 0 ? (stop > start ? (uint64_t)(stop - start) : 0)
                           : (start > stop ? (uint64_t)(start - stop) : 0);
  uint64_t width = step > 0 ? (uint64_t)step : (uint64_t)-step;
  uint64_t count = (span + width - 1) / width;
  enum { MOST_ITEMS = UINT32_MAX / sizeof(tvms_eval_value) };
  if (count > MOST_ITEMS) count = MOST_ITEMS;  // which is too much as well
  if (!tvms_eval_may_take(reader, count * sizeof(tvms_eval_value), ref)) return false;
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, count);
  items->len = (uint32_t)count;
  for (uint32_t i = 0; i < items->len; i++) {
    items->items[i] = tvms_eval_value_int(start + (int64_t)i * step);
  }
  return true;
}

// Splits text into its characters (code points).
bool tvms_eval_text_iterate(tvms_reader *reader, tvms_eval_value text, tvms_ref ref,
                            tvms_eval_items *items) {
  uint64_t size = (uint64_t)text.len * (sizeof *items->items + 2);
  if (!tvms_eval_may_take(reader, size, ref)) return false;
  char *out = tvms_arena_alloc(&reader->values, 2 * (size_t)text.len + 1);
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, text.len);
  items->len = 0;
  for (uint32_t at = 0; at < text.len;) {
    uint32_t end = at + 1;
    while (end < text.len && ((unsigned char)text.as.text[end] & 0xC0) == 0x80) {
      end++;
    }
    memcpy(out, text.as.text + at, end - at);
    items->items[items->len++] = tvms_eval_value_text(out, end - at);
    out += end - at + 1;  // each has a NUL
    at = end;
  }
  return true;
}

bool tvms_eval_dict_iterate(tvms_reader *reader, tvms_eval_value dict, tvms_ref ref,
                            tvms_eval_items *items) {
  (void)ref;
  items->len = dict.len / 2;
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, items->len);
  for (uint32_t i = 0; i < items->len; i++) {
    items->items[i] = dict.as.items[2 * i];
  }
  return true;
}

bool tvms_eval_meta_iterate(tvms_reader *reader, tvms_eval_value meta, tvms_ref ref,
                            tvms_eval_items *items) {
  tvms_eval_items inner;
  if (!tvms_eval_iterate(reader, meta.as.items[0], ref, &inner)) return false;
  uint64_t size = 2 * (uint64_t)inner.len * sizeof *inner.items;
  if (!tvms_eval_may_take(reader, size, ref)) return false;
  // Each is wrapped, so that `a, b = T.meta_var((x, y))` builds nothing either.
  *items = (tvms_eval_items){
      tvms_arena_array(&reader->values, tvms_eval_value, inner.len), inner.len};
  for (uint32_t i = 0; i < inner.len; i++) {
    tvms_eval_value *item = tvms_arena_new(&reader->values, tvms_eval_value);
    *item = inner.items[i];
    items->items[i] = tvms_eval_value_items(TVMS_EVAL_META, item, 1);
  }
  return true;
}

bool tvms_eval_iterate(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                       tvms_eval_items *items) {
  if (tvms_eval_value_is_sequence(value) || value.kind == TVMS_EVAL_SET) {
    *items = (tvms_eval_items){value.as.items, value.len};
    return true;
  }
  tvms_eval_assume_wanted(reader, value, TVMS_WANTED_ITEMS);
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, value);
  if (ops->iterate) return ops->iterate(reader, value, ref, items);
  return tvms_eval_report_not_iterable(reader, value, ref);
}

bool tvms_eval_report_not_iterable(tvms_reader *reader, tvms_eval_value value,
                                   tvms_ref ref) {
  reader->failed = true;
  if (!tvms_eval_value_is_known(value)) return false;
  tvms_diag *diag =
      tvms_reader_report(reader, not_iterable, tvms_reader_callee(reader, ref),
                         tvms_eval_describe(reader, value));
  const tvms_node *buffer = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  const tvms_surf *callee = tvms_reader_at(reader, tvms_reader_callee(reader, ref));
  const char *own =
      !buffer && callee->kind == TVMS_SURF_NAME && reader->tables->near_name
          ? reader->tables->near_name(reader,
                                      tvms_symbol_text(reader->context, callee->a))
          : NULL;
  if (own && tvms_reader_at(reader, ref)->kind == TVMS_SURF_CALL)
    tvms_diag_remark(&reader->context->diags, diag, "did you mean '%s'?", own);
  if (buffer) {
    const char *name = tvms_symbol_text(reader->context, tvms_as_buffer(buffer)->name);
    tvms_diag_remark(&reader->context->diags, diag, "its length is %s.shape[0]", name);
  }
  return false;
}
