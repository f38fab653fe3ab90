// Schemas of attributes, and reading the values in a call.
#include "ir/attrs.h"

#include <string.h>

#define ATTRS(schema) static const tvms_attr_row rows_##schema[] = {
#define ATTR(schema, TYPE, name, since, until)                                         \
  {#name, TVMS_ATTR_##TYPE, TVMS_DIALECT_##since, TVMS_DIALECT_##until},
#define ATTRS_END(schema)                                                              \
  }                                                                                    \
  ;
#include "ir/attrs.def"

static const tvms_attr_schema schemas[] = {
    [TVMS_SCHEMA_none] = {"none", NULL, 0},
#define ATTRS(schema)                                                                  \
  [TVMS_SCHEMA_##schema] = {#schema, rows_##schema,                                    \
                            sizeof rows_##schema / sizeof rows_##schema[0]},
#define ATTR(schema, TYPE, name, since, until)
#define ATTRS_END(schema)
#include "ir/attrs.def"
};

const tvms_attr_schema *tvms_attr_schema_of(tvms_schema_id schema) {
  return &schemas[schema];
}

int tvms_attr_find(const tvms_attr_schema *schema, const char *name, size_t len) {
  for (uint32_t i = 0; i < schema->count; i++) {
    const char *text = schema->rows[i].name;
    if (strlen(text) == len && memcmp(text, name, len) == 0) return (int)i;
  }
  return -1;
}

int64_t tvms_attr_item_int(const tvms_node *item) {
  switch (item->kind) {
  case TVMS_NODE_OBJECT_INT: return tvms_as_object_int(item)->value;
  case TVMS_NODE_OBJECT_BOOL: return tvms_as_object_bool(item)->value;
  case TVMS_NODE_INT_IMM: return tvms_as_int_imm(item)->value;
  default: return 0;
  }
}

double tvms_attr_item_float(const tvms_node *item) {
  if (item->kind == TVMS_NODE_OBJECT_FLOAT) return tvms_as_object_float(item)->value;
  if (item->kind == TVMS_NODE_FLOAT_IMM) return tvms_as_float_imm(item)->value;
  return (double)tvms_attr_item_int(item);
}

int64_t tvms_attr_int(const tvms_call *call, uint32_t place, int64_t otherwise) {
  const tvms_node *value = tvms_attr(call, place);
  return value ? tvms_attr_item_int(value) : otherwise;
}

bool tvms_attr_bool(const tvms_call *call, uint32_t place) {
  return tvms_attr_int(call, place, 0) != 0;
}

double tvms_attr_float(const tvms_call *call, uint32_t place, double otherwise) {
  const tvms_node *value = tvms_attr(call, place);
  return value ? tvms_attr_item_float(value) : otherwise;
}

tvms_bytes tvms_attr_text(const tvms_call *call, uint32_t place) {
  const tvms_node *value = tvms_attr(call, place);
  if (!value || value->kind != TVMS_NODE_OBJECT_STR) return (tvms_bytes){NULL, 0};
  return tvms_as_object_str(value)->value;
}

tvms_dtype tvms_attr_dtype(const tvms_call *call, uint32_t place) {
  const tvms_node *value = tvms_attr(call, place);
  if (!value || value->kind != TVMS_NODE_OBJECT_DTYPE) return (tvms_dtype){0};
  return tvms_as_object_dtype(value)->value;
}

tvms_list tvms_attr_list(const tvms_call *call, uint32_t place) {
  const tvms_node *value = tvms_attr(call, place);
  if (!value || value->kind != TVMS_NODE_OBJECT_ARRAY) return (tvms_list){NULL, 0};
  return tvms_as_object_array(value)->items;
}

bool tvms_attr_ints(const tvms_call *call, uint32_t place, int64_t *values,
                    uint32_t count) {
  tvms_list list = tvms_attr_list(call, place);
  for (uint32_t i = 0; i < count && list.len == count; i++)
    values[i] = tvms_attr_item_int(list.items[i]);
  return list.len == count;
}
