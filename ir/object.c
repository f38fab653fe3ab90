// Attribute values: construction and lookup.
//
// A map whose keys are all texts is kept in the order of their bytes, in which TVM prints it, and
// of equal keys the last one counts, as in a dict of Python. So equal maps are equal node by node,
// whatever order they were written in. With any other key a map keeps the order of its making.
#include "ir/object.h"

#include <stdlib.h>
#include <string.h>

tvms_node *tvms_object_none_new(tvms_unit *unit, tvms_span span) {
  return tvms_node_new(unit, TVMS_NODE_OBJECT_NONE, span);
}

tvms_node *tvms_object_bool_new(tvms_unit *unit, bool value, tvms_span span) {
  tvms_struct_OBJECT_BOOL *node = tvms_node_make(unit, OBJECT_BOOL, span);
  node->value = value;
  return &node->head;
}

tvms_node *tvms_object_int_new(tvms_unit *unit, int64_t value, tvms_span span) {
  tvms_struct_OBJECT_INT *node = tvms_node_make(unit, OBJECT_INT, span);
  node->value = value;
  return &node->head;
}

tvms_node *tvms_object_float_new(tvms_unit *unit, double value, tvms_span span) {
  tvms_struct_OBJECT_FLOAT *node = tvms_node_make(unit, OBJECT_FLOAT, span);
  node->value = value;
  return &node->head;
}

tvms_node *tvms_object_str_new(tvms_unit *unit, const char *text, size_t len,
                               tvms_span span) {
  tvms_struct_OBJECT_STR *node = tvms_node_make(unit, OBJECT_STR, span);
  node->value = tvms_bytes_copy(unit, text, len);
  return &node->head;
}

tvms_node *tvms_object_dtype_new(tvms_unit *unit, tvms_dtype value, tvms_span span) {
  tvms_struct_OBJECT_DTYPE *node = tvms_node_make(unit, OBJECT_DTYPE, span);
  node->value = value;
  return &node->head;
}

tvms_node *tvms_object_array_new(tvms_unit *unit, tvms_node *const *items,
                                 uint32_t count, tvms_span span) {
  tvms_struct_OBJECT_ARRAY *node = tvms_node_make(unit, OBJECT_ARRAY, span);
  node->items = tvms_list_copy(unit, items, count);
  return &node->head;
}

typedef struct {
  tvms_node *key;
  tvms_node *value;
  uint32_t rank;  // order of insertion
} pair;

static tvms_bytes key_text(const tvms_node *key) {
  if (key->kind == TVMS_NODE_OBJECT_STR) return tvms_as_object_str(key)->value;
  return (tvms_bytes){NULL, 0};
}

static int compare_keys(const tvms_node *a, const tvms_node *b) {
  tvms_bytes x = key_text(a), y = key_text(b);
  uint32_t common = x.len < y.len ? x.len : y.len;
  int order = common ? memcmp(x.text, y.text, common) : 0;
  return order ? order : (x.len > y.len) - (x.len < y.len);
}

static int compare_pairs(const void *left, const void *right) {
  const pair *a = left, *b = right;
  bool texts =
      a->key->kind == TVMS_NODE_OBJECT_STR && b->key->kind == TVMS_NODE_OBJECT_STR;
  int order = texts ? compare_keys(a->key, b->key) : 0;
  return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool all_texts(tvms_node *const *keys, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (keys[i]->kind != TVMS_NODE_OBJECT_STR) return false;
  }
  return true;
}

tvms_node *tvms_object_map_new(tvms_unit *unit, tvms_node *const *keys,
                               tvms_node *const *values, uint32_t count,
                               tvms_span span) {
  tvms_struct_OBJECT_MAP *map = tvms_node_make(unit, OBJECT_MAP, span);
  if (!all_texts(keys, count)) {
    map->keys = tvms_list_copy(unit, keys, count);
    map->values = tvms_list_copy(unit, values, count);
    return &map->head;
  }
  pair *pairs = tvms_arena_array(&unit->arena, pair, count ? count : 1);
  for (uint32_t i = 0; i < count; i++) {
    pairs[i] = (pair){keys[i], values[i], i};
  }
  qsort(pairs, count, sizeof *pairs, compare_pairs);
  map->keys.items = tvms_arena_array(&unit->arena, tvms_node *, count);
  map->values.items = tvms_arena_array(&unit->arena, tvms_node *, count);
  uint32_t len = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (len > 0 && compare_keys(map->keys.items[len - 1], pairs[i].key) == 0) len--;
    map->keys.items[len] = pairs[i].key;
    map->values.items[len++] = pairs[i].value;
  }
  map->keys.len = map->values.len = len;
  return &map->head;
}

uint32_t tvms_object_map_count(const tvms_node *TVMS_NULLABLE map) {
  return map ? tvms_as_object_map(map)->keys.len : 0;
}

static bool is_key(const tvms_node *node, const char *key) {
  return node->kind == TVMS_NODE_OBJECT_STR
         && tvms_bytes_is(tvms_as_object_str(node)->value, key);
}

tvms_node *TVMS_NULLABLE tvms_object_map_get(const tvms_node *TVMS_NULLABLE map,
                                             const char *key) {
  for (uint32_t i = 0; i < tvms_object_map_count(map); i++) {
    const tvms_struct_OBJECT_MAP *found = tvms_as_object_map(map);
    if (is_key(found->keys.items[i], key)) return found->values.items[i];
  }
  return NULL;
}

tvms_node *tvms_object_map_with(tvms_unit *unit, const tvms_node *TVMS_NULLABLE map,
                                const char *key, tvms_node *TVMS_NULLABLE value) {
  uint32_t count = tvms_object_map_count(map);
  tvms_node **keys = tvms_arena_array(&unit->arena, tvms_node *, count + 1);
  tvms_node **values = tvms_arena_array(&unit->arena, tvms_node *, count + 1);
  uint32_t len = 0;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_struct_OBJECT_MAP *old = tvms_as_object_map(map);
    if (is_key(old->keys.items[i], key)) continue;
    keys[len] = old->keys.items[i];
    values[len++] = old->values.items[i];
  }
  if (value) {
    keys[len] = tvms_object_str_new(unit, key, strlen(key), value->span);
    values[len++] = value;
  }
  return tvms_object_map_new(unit, keys, values, len,
                             map ? map->span : (tvms_span){0, 0});
}

tvms_node *tvms_object_map_join(tvms_unit *unit, const tvms_node *TVMS_NULLABLE map,
                                const tvms_node *added) {
  const tvms_struct_OBJECT_MAP *maps[] = {map ? tvms_as_object_map(map) : NULL,
                                          tvms_as_object_map(added)};
  uint32_t most = tvms_object_map_count(map) + tvms_object_map_count(added), len = 0;
  tvms_node **keys = tvms_arena_array(&unit->arena, tvms_node *, most);
  tvms_node **values = tvms_arena_array(&unit->arena, tvms_node *, most);
  for (uint32_t m = 0; m < 2; m++) {
    for (uint32_t i = 0; maps[m] && i < maps[m]->keys.len; i++) {
      tvms_node *key = maps[m]->keys.items[i];
      const char *text = tvms_object_as_text(key);
      if (!text) continue;
      if (key->kind != TVMS_NODE_OBJECT_STR)
        key = tvms_object_str_new(unit, text, strlen(text), key->span);
      keys[len] = key;
      values[len++] = maps[m]->values.items[i];
    }
  }
  return tvms_object_map_new(unit, keys, values, len,
                             map ? map->span : (tvms_span){0, 0});
}

bool tvms_object_as_int(const tvms_node *TVMS_NULLABLE node, int64_t *value) {
  if (!node) return false;
  switch ((int)node->kind) {
  case TVMS_NODE_OBJECT_INT: *value = tvms_as_object_int(node)->value; return true;
  case TVMS_NODE_OBJECT_BOOL: *value = tvms_as_object_bool(node)->value; return true;
  case TVMS_NODE_INT_IMM: *value = tvms_as_int_imm(node)->value; return true;
  default: return false;
  }
}

const char *TVMS_NULLABLE tvms_object_as_text(const tvms_node *TVMS_NULLABLE node) {
  if (!node) return NULL;
  tvms_bytes text = {NULL, 0};
  if (node->kind == TVMS_NODE_OBJECT_STR)
    text = tvms_as_object_str(node)->value;
  else if (node->kind == TVMS_NODE_STRING_IMM)
    text = tvms_as_string_imm(node)->value;
  else
    return NULL;
  return text.text ? text.text : "";
}
