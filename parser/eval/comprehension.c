// Comprehensions, iteration and targets: what Python itself evaluates.
#include "parser/eval/comprehension.h"

#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/internal.h"
#include "parser/eval/names.h"
#include "parser/eval/python.h"
#include "parser/eval/set.h"

#include <string.h>

// ---- Iteration ------------------------------------------------------------------------------

enum { LONGEST_RANGE = 1 << 24 };

static bool iterate_range(tvms_reader *reader, tvms_eval_value range, tvms_ref ref,
                          tvms_eval_items *items) {
  int64_t start = range.as.items[0].as.i, stop = range.as.items[1].as.i;
  int64_t step = range.as.items[2].as.i;
  uint64_t span = step > 0 ? (stop > start ? (uint64_t)(stop - start) : 0)
                           : (start > stop ? (uint64_t)(start - stop) : 0);
  uint64_t width = step > 0 ? (uint64_t)step : (uint64_t)-step;
  uint64_t count = (span + width - 1) / width;
  if (count > LONGEST_RANGE) {
    tvms_reader_report(reader, endless, ref);
    return false;
  }
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, count);
  items->len = (uint32_t)count;
  for (uint32_t i = 0; i < items->len; i++) {
    items->items[i] = tvms_eval_value_int(start + (int64_t)i * step);
  }
  return true;
}

// Splits text into its characters (code points).
static void iterate_text(tvms_reader *reader, tvms_eval_value text,
                         tvms_eval_items *items) {
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, text.len);
  items->len = 0;
  for (uint32_t at = 0; at < text.len;) {
    uint32_t end = at + 1;
    while (end < text.len && ((unsigned char)text.as.text[end] & 0xC0) == 0x80) {
      end++;
    }
    items->items[items->len++] = tvms_eval_value_text(text.as.text + at, end - at);
    at = end;
  }
}

static bool iterate_node(tvms_reader *reader, tvms_eval_value value,
                         tvms_eval_items *items) {
  if (value.as.node->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  tvms_list list = tvms_as_object_array(value.as.node)->items;
  items->items = tvms_arena_array(&reader->values, tvms_eval_value, list.len);
  items->len = list.len;
  for (uint32_t i = 0; i < list.len; i++) {
    items->items[i] = tvms_eval_value_node(list.items[i]);
  }
  return true;
}

bool tvms_eval_iterate(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                       tvms_eval_items *items) {
  switch (value.kind) {
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_SET:
    *items = (tvms_eval_items){value.as.items, value.len};
    return true;
  case TVMS_EVAL_RANGE: return iterate_range(reader, value, ref, items);
  case TVMS_EVAL_STR: iterate_text(reader, value, items); return true;
  case TVMS_EVAL_DICT:
    items->items = tvms_arena_array(&reader->values, tvms_eval_value, value.len / 2);
    items->len = value.len / 2;
    for (uint32_t i = 0; i < items->len; i++) {
      items->items[i] = value.as.items[2 * i];
    }
    return true;
  case TVMS_EVAL_META: return tvms_eval_iterate(reader, value.as.items[0], ref, items);
  case TVMS_EVAL_NODE:
    if (iterate_node(reader, value, items)) return true;
    break;
  default: break;
  }
  reader->failed = true;
  if (tvms_eval_value_is_known(value)) {
    tvms_reader_report(reader, not_iterable, ref, tvms_eval_describe(reader, value));
  }
  return false;
}

// ---- Targets --------------------------------------------------------------------------------

static bool bind_parts(tvms_reader *reader, tvms_ref target, tvms_eval_value value) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, value, target, &items)) return false;
  tvms_ref list = tvms_reader_at(reader, target)->a;
  uint32_t count = tvms_surface_count(reader->surface, list);
  uint32_t stars = 0;
  tvms_surface_each(reader->surface, part, list) {
    stars += tvms_reader_at(reader, part)->kind == TVMS_SURF_STAR;
  }
  if (stars ? items.len < count - 1 : items.len != count) {
    tvms_reader_report(reader, cannot_unpack, target, count, items.len,
                       items.len == 1 ? "" : "s");
    return false;
  }
  uint32_t i = 0;
  bool sound = true;
  tvms_surface_each(reader->surface, part, list) {
    if (tvms_reader_at(reader, part)->kind == TVMS_SURF_STAR) {
      uint32_t many = items.len - (count - 1);
      tvms_eval_value rest =
          tvms_eval_value_items(TVMS_EVAL_LIST, items.items + i, many);
      sound =
          tvms_eval_bind_target(reader, tvms_reader_at(reader, part)->a, rest) && sound;
      i += many;
    } else {
      sound = tvms_eval_bind_target(reader, part, items.items[i++]) && sound;
    }
  }
  return sound;
}

bool tvms_eval_bind_target(tvms_reader *reader, tvms_ref target,
                           tvms_eval_value value) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  switch (node->kind) {
  case TVMS_SURF_NAME:
    tvms_scope_bind(reader, node->a, value, tvms_reader_span_of(reader, target));
    return true;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: return bind_parts(reader, target, value);
  case TVMS_SURF_BAD: return false;
  default: tvms_reader_report(reader, bad_assignment_target, target); return false;
  }
}

// ---- Comprehensions -------------------------------------------------------------------------

typedef struct {
  tvms_reader *reader;
  tvms_ref item;
  tvms_surf_kind kind;
  tvms_eval_value_vec items;  // pairs for a dict
  bool known;
} gatherer;

static void gather(gatherer *gather_, tvms_ref clause);

static void gather_item(gatherer *g) {
  tvms_reader *reader = g->reader;
  if (!tvms_eval_count_step(reader, g->item)) {
    g->known = false;
    return;
  }
  if (g->kind == TVMS_SURF_DICT_COMP) {
    const tvms_surf pair = *tvms_reader_at(reader, g->item);
    tvms_eval_value key = tvms_eval(reader, pair.a);
    tvms_eval_push_pair(reader, &g->items, key, tvms_eval(reader, pair.b));
    return;
  }
  tvms_eval_value value = tvms_eval(reader, g->item);
  tvms_vec_push(&reader->context->memory, &g->items, value);
}

static void gather_for(gatherer *g, const tvms_surf *clause) {
  tvms_reader *reader = g->reader;
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, tvms_eval(reader, clause->b), clause->b, &items)) {
    g->known = false;
    return;
  }
  for (uint32_t i = 0; i < items.len && g->known; i++) {
    g->known = tvms_eval_bind_target(reader, clause->a, items.items[i]) && g->known;
    gather(g, clause->next);
  }
}

static void gather(gatherer *g, tvms_ref clause) {
  if (!clause) {
    gather_item(g);
    return;
  }
  const tvms_surf node = *tvms_reader_at(g->reader, clause);
  if (node.kind == TVMS_SURF_COMP_FOR) {
    gather_for(g, &node);
    return;
  }
  tvms_eval_value condition = tvms_eval(g->reader, node.a);
  bool known;
  bool truth = tvms_eval_value_truth(condition, &known);
  if (!known) {
    tvms_eval_report_wrong_type(g->reader, node.a, "a condition", "a boolean",
                                condition);
    g->known = false;
  } else if (truth) {
    gather(g, node.next);
  }
}

tvms_eval_value tvms_eval_comprehension(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  gatherer g = {reader, node.a, (tvms_surf_kind)node.kind, {0}, true};
  bool native = reader->native;
  reader->native = true;
  tvms_scope_push(reader);
  gather(&g, node.b);
  tvms_scope_pop(reader);
  reader->native = native;
  tvms_eval_value result = TVMS_UNKNOWN;
  if (g.known) {
    tvms_eval_kind kind = node.kind == TVMS_SURF_DICT_COMP  ? TVMS_EVAL_DICT
                          : node.kind == TVMS_SURF_SET_COMP ? TVMS_EVAL_SET
                                                            : TVMS_EVAL_LIST;
    result = tvms_eval_value_items(
        kind, tvms_eval_keep_items(reader, g.items.items, g.items.len), g.items.len);
    if (kind == TVMS_EVAL_SET) result = tvms_eval_make_set(reader, result, ref);
    if (kind == TVMS_EVAL_DICT) result = tvms_eval_make_dict(reader, &g.items, ref);
  }
  tvms_vec_fini(&reader->context->memory, &g.items);
  return result;
}
