// Nodes of the file level that a definition mentions: `N = T.int64(8)` above a function that
// uses N. A function owns its nodes, so it gets copies.
#include "parser/eval/outer.h"

#include "ir/clone.h"
#include "parser/eval/convert.h"

static bool is_outer(const tvms_reader *reader, const tvms_node *node) {
  return !(node->flags & TVMS_FLAG_INTERNED)
         && tvms_arena_owns(&reader->outer->arena, node);
}

static bool has_outer(const tvms_reader *reader, tvms_eval_value value) {
  switch ((int)value.kind) {
  case TVMS_EVAL_NODE: return is_outer(reader, value.as.node);
  case TVMS_EVAL_META: return has_outer(reader, value.as.items[0]);
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_DICT:
    for (uint32_t i = 0; i < value.len; i++) {
      if (has_outer(reader, value.as.items[i])) return true;
    }
    return false;
  default: return false;
  }
}

static tvms_eval_value adopt(tvms_reader *reader, tvms_eval_value value) {
  if (!has_outer(reader, value)) return value;
  if (value.kind == TVMS_EVAL_NODE) {
    value.as.node = tvms_clone(reader->unit, value.as.node, &reader->outer_copies);
    return value;
  }
  uint32_t count = value.kind == TVMS_EVAL_META ? 1 : value.len;
  value.as.items = tvms_eval_keep_items(reader, value.as.items, count);
  for (uint32_t i = 0; i < count; i++)
    value.as.items[i] = adopt(reader, value.as.items[i]);
  return value;
}

tvms_eval_value tvms_eval_outer_adopt(tvms_reader *reader, tvms_eval_value value) {
  bool none = !reader->outer || reader->unit == reader->outer
              || !tvms_arena_size(&reader->outer->arena);
  return none ? value : adopt(reader, value);
}

void tvms_eval_outer_forget(tvms_reader *reader) {
  tvms_node_map_fini(&reader->outer_copies);
}
