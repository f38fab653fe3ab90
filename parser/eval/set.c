// Sets and dicts of the evaluation: what is equal stands once. Both are lists; a table of
// hashes, which is dropped at once, makes building them linear.
#include "parser/eval/set.h"

#include "parser/eval/convert.h"
#include "parser/eval/python.h"

#include <math.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
  return hash ^ hash >> 32;
}

static uint64_t hash_text(const char *text, size_t len) {
  uint64_t hash = len;
  for (size_t i = 0; i < len; i++) {
    hash = mix(hash, (unsigned char)text[i]);
  }
  return hash;
}

// Equal values (tvms_eval_values_equal) have one hash: 1, 1.0 and True; "int8" and T.int8.
static uint64_t hash_of(const tvms_reader *reader, tvms_eval_value value) {
  char dtype[TVMS_DTYPE_TEXT];
  uint64_t hash = value.len;
  switch ((int)value.kind) {
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_INT: return mix(1, (uint64_t)value.as.i);
  case TVMS_EVAL_FLOAT:
    if (fabs(value.as.f) < 9e18) return mix(1, (uint64_t)(int64_t)value.as.f);
    return 2;
  case TVMS_EVAL_NODE: {
    tvms_eval_value constant = tvms_eval_constant_of(reader, value);
    return constant.kind == TVMS_EVAL_INT ? hash_of(reader, constant) : value.kind;
  }
  case TVMS_EVAL_STR:
  case TVMS_EVAL_BYTES: return hash_text(value.as.text, value.len);
  case TVMS_EVAL_DTYPE: {
    const char *text = tvms_dtype_text(value.as.dtype, dtype);
    return hash_text(text, strlen(text));
  }
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
    for (uint32_t i = 0; i < value.len; i++) {
      hash = mix(hash, hash_of(reader, value.as.items[i]));
    }
    return hash;
  default: return value.kind;
  }
}

// Moves what is equal to nothing before it to the front, `stride` values at a time, and
// returns how many values are left. Of pairs with equal keys the last value wins.
static uint32_t keep_distinct(tvms_reader *reader, tvms_eval_value *items, uint32_t len,
                              uint32_t stride) {
  tvms_memory *memory = &reader->context->memory;
  size_t cap = 16;
  while (cap < (size_t)len / stride * 2) {
    cap *= 2;
  }
  uint32_t *slots =
      tvms_memory_alloc(memory, cap * sizeof *slots);  // place + 1; 0: free
  uint32_t kept = 0;
  for (uint32_t i = 0; i < len; i += stride) {
    size_t at = hash_of(reader, items[i]) & (cap - 1);
    while (slots[at]
           && !tvms_eval_values_equal(reader, items[slots[at] - 1], items[i])) {
      at = (at + 1) & (cap - 1);
    }
    uint32_t place = slots[at] ? slots[at] - 1 : kept;
    bool fresh = slots[at] == 0;
    if (fresh) slots[at] = kept + 1, kept += stride;
    if (fresh) items[place] = items[i];
    if (stride == 2) items[place + 1] = items[i + 1];
  }
  tvms_memory_free(memory, slots);
  return kept;
}

// Python takes only what cannot change, and tuples of that.
bool tvms_eval_can_hash(tvms_reader *reader, tvms_eval_value item, tvms_ref ref) {
  if (!tvms_eval_value_is_known(item)) return false;
  for (uint32_t i = 0; item.kind == TVMS_EVAL_TUPLE && i < item.len; i++) {
    if (!tvms_eval_can_hash(reader, item.as.items[i], ref)) return false;
  }
  if (item.kind != TVMS_EVAL_LIST && item.kind != TVMS_EVAL_DICT
      && item.kind != TVMS_EVAL_SET) {
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, "an item of a set or a key of a dict",
                              "hashable", item);
  return false;
}

tvms_eval_value tvms_eval_make_set(tvms_reader *reader, tvms_eval_value items,
                                   tvms_ref ref) {
  for (uint32_t i = 0; i < items.len; i++) {
    if (!tvms_eval_can_hash(reader, items.as.items[i], ref)) return TVMS_UNKNOWN;
  }
  uint32_t kept = keep_distinct(reader, items.as.items, items.len, 1);
  return tvms_eval_value_items(TVMS_EVAL_SET, items.as.items, kept);
}

tvms_eval_value tvms_eval_make_dict(tvms_reader *reader,
                                    const tvms_eval_value_vec *pairs, tvms_ref ref) {
  for (uint32_t i = 0; i < pairs->len; i += 2) {
    if (!tvms_eval_can_hash(reader, pairs->items[i], ref)) return TVMS_UNKNOWN;
  }
  tvms_eval_value *items = tvms_eval_keep_items(reader, pairs->items, pairs->len);
  uint32_t kept = pairs->len ? keep_distinct(reader, items, pairs->len, 2) : 0;
  return tvms_eval_value_items(TVMS_EVAL_DICT, items, kept);
}

void tvms_eval_push_pair(tvms_reader *reader, tvms_eval_value_vec *pairs,
                         tvms_eval_value key, tvms_eval_value value) {
  tvms_vec_push(&reader->context->memory, pairs, key);
  tvms_vec_push(&reader->context->memory, pairs, value);
}

// ---- Operators ----

static bool has_item(const tvms_reader *reader, tvms_eval_value set,
                     tvms_eval_value item) {
  for (uint32_t i = 0; i < set.len; i++) {
    if (tvms_eval_values_equal(reader, set.as.items[i], item)) return true;
  }
  return false;
}

// The items of `a` that stand in `b`, or that do not.
static void push_those(tvms_reader *reader, tvms_eval_value_vec *out, tvms_eval_value a,
                       tvms_eval_value b, bool in) {
  for (uint32_t i = 0; i < a.len; i++) {
    if (has_item(reader, b, a.as.items[i]) != in) continue;
    tvms_vec_push(&reader->context->memory, out, a.as.items[i]);
  }
}

bool tvms_eval_set_operator(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                            tvms_eval_value b, tvms_ref ref, tvms_eval_value *result) {
  bool dicts = a.kind == TVMS_EVAL_DICT && b.kind == TVMS_EVAL_DICT;
  bool sets = a.kind == TVMS_EVAL_SET && b.kind == TVMS_EVAL_SET;
  if (!(sets || (dicts && op == TVMS_OP_BIT_OR))) return false;
  tvms_eval_value_vec items = {0};
  switch ((int)op) {
  case TVMS_OP_BIT_OR:
    for (uint32_t i = 0; i < a.len + b.len; i++) {
      tvms_vec_push(&reader->context->memory, &items,
                    i < a.len ? a.as.items[i] : b.as.items[i - a.len]);
    }
    break;
  case TVMS_OP_BIT_AND: push_those(reader, &items, a, b, true); break;
  case TVMS_OP_SUB: push_those(reader, &items, a, b, false); break;
  case TVMS_OP_BIT_XOR:
    push_those(reader, &items, a, b, false);
    push_those(reader, &items, b, a, false);
    break;
  default: return false;
  }
  if (dicts) {
    *result = tvms_eval_make_dict(reader, &items, ref);
  } else {
    tvms_eval_value *kept = tvms_eval_keep_items(reader, items.items, items.len);
    *result = tvms_eval_make_set(
        reader, tvms_eval_value_items(TVMS_EVAL_SET, kept, items.len), ref);
  }
  tvms_vec_fini(&reader->context->memory, &items);
  return true;
}

// Whether each item of `a` stands in `b`.
static bool is_subset(const tvms_reader *reader, tvms_eval_value a, tvms_eval_value b) {
  for (uint32_t i = 0; i < a.len; i++) {
    if (!has_item(reader, b, a.as.items[i])) return false;
  }
  return true;
}

bool tvms_eval_sets_compare(const tvms_reader *reader, tvms_surf_op op,
                            tvms_eval_value a, tvms_eval_value b) {
  switch ((int)op) {
  case TVMS_OP_LT: return a.len < b.len && is_subset(reader, a, b);
  case TVMS_OP_LE: return is_subset(reader, a, b);
  case TVMS_OP_GT: return b.len < a.len && is_subset(reader, b, a);
  default: return is_subset(reader, b, a);
  }
}
