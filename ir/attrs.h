// Schemas of attributes: what ir/attrs.def says, and the values in a call.
#ifndef TVMS_IR_ATTRS_H
#define TVMS_IR_ATTRS_H

#include "ir/node.h"

typedef enum {
  TVMS_SCHEMA_none,
#define ATTRS(schema) TVMS_SCHEMA_##schema,
#define ATTR(schema, TYPE, name, since, until)
#define ATTRS_END(schema)
#include "ir/attrs.def"
} tvms_schema_id;

// Places of attributes in call.attrs: TVMS_ATTR_reduction_axis.
#define ATTRS(schema)                          enum {
#define ATTR(schema, TYPE, name, since, until) TVMS_ATTR_##schema##_##name,
#define ATTRS_END(schema)                                                              \
  TVMS_ATTR_##schema##_COUNT                                                           \
  }                                                                                    \
  ;
#include "ir/attrs.def"

// What an attribute holds; see the head of attrs.def.
typedef enum {
  TVMS_ATTR_BOOL,
  TVMS_ATTR_INT,
  TVMS_ATTR_FLOAT,
  TVMS_ATTR_STR,
  TVMS_ATTR_DTYPE,
  TVMS_ATTR_INTS,
  TVMS_ATTR_INT_LIST,
  TVMS_ATTR_FLOATS,
  TVMS_ATTR_DIMS1,
  TVMS_ATTR_DIMS2,
  TVMS_ATTR_DIMS3,
  TVMS_ATTR_PADS1,
  TVMS_ATTR_PADS2,
  TVMS_ATTR_PADS3,
  TVMS_ATTR_ROI2,
  TVMS_ATTR_ROI3,
  TVMS_ATTR_OUT_LAYOUT,
  TVMS_ATTR_INT_OR_INTS,
  TVMS_ATTR_VDEVICE,
  TVMS_ATTR_MESH,
  TVMS_ATTR_PLACEMENT,
  TVMS_ATTR_MAP,
  TVMS_ATTR_OBJECT,
  TVMS_ATTR_OPT = 64,  // may be None
  TVMS_ATTR_OPT_BOOL = TVMS_ATTR_OPT + TVMS_ATTR_BOOL,
  TVMS_ATTR_OPT_INT = TVMS_ATTR_OPT + TVMS_ATTR_INT,
  TVMS_ATTR_OPT_FLOAT = TVMS_ATTR_OPT + TVMS_ATTR_FLOAT,
  TVMS_ATTR_OPT_STR = TVMS_ATTR_OPT + TVMS_ATTR_STR,
  TVMS_ATTR_OPT_DTYPE = TVMS_ATTR_OPT + TVMS_ATTR_DTYPE,
  TVMS_ATTR_OPT_INTS = TVMS_ATTR_OPT + TVMS_ATTR_INTS,
  TVMS_ATTR_OPT_INT_LIST = TVMS_ATTR_OPT + TVMS_ATTR_INT_LIST,
  TVMS_ATTR_OPT_DIMS1 = TVMS_ATTR_OPT + TVMS_ATTR_DIMS1,
  TVMS_ATTR_OPT_DIMS2 = TVMS_ATTR_OPT + TVMS_ATTR_DIMS2,
  TVMS_ATTR_OPT_DIMS3 = TVMS_ATTR_OPT + TVMS_ATTR_DIMS3,
  TVMS_ATTR_OPT_OBJECT = TVMS_ATTR_OPT + TVMS_ATTR_OBJECT,
} tvms_attr_type;

// A row of attrs.def.
typedef struct {
  const char *name;
  uint8_t type;   // tvms_attr_type
  uint8_t since;  // first and last tvms_dialect that has it
  uint8_t until;
} tvms_attr_row;

typedef struct {
  const char *name;
  const tvms_attr_row *rows;
  uint32_t count;
} tvms_attr_schema;

// The schema with this number, from the table; the operators that have no attributes
// share the empty one.
const tvms_attr_schema *tvms_attr_schema_of(tvms_schema_id schema);

// Place of an attribute by name, or -1.
int tvms_attr_find(const tvms_attr_schema *schema, const char *name, size_t len);

// True if `dialect` has the attribute: others neither read nor print it.
static inline bool tvms_attr_in(const tvms_attr_row *row, tvms_dialect dialect) {
  dialect = tvms_release_rows(dialect);
  return dialect >= (tvms_dialect)row->since && dialect <= (tvms_dialect)row->until;
}

// The value of attribute `place` of a call; NULL if it is unset (None).
static inline tvms_node *TVMS_NULLABLE tvms_attr(const tvms_call *call,
                                                 uint32_t place) {
  return place < call->attrs.len ? call->attrs.items[place] : NULL;
}

// An INT; `otherwise` if it is unset.
int64_t tvms_attr_int(const tvms_call *call, uint32_t place, int64_t otherwise);

// A BOOL; false if it is unset.
bool tvms_attr_bool(const tvms_call *call, uint32_t place);

// A FLOAT, also where the program has an integer or a constant of TIR; `otherwise` if
// it is unset.
double tvms_attr_float(const tvms_call *call, uint32_t place, double otherwise);

// A STR: the bytes belong to the node. Empty (NULL, 0) if it is unset or no text.
tvms_bytes tvms_attr_text(const tvms_call *call, uint32_t place);

// Void if unset.
tvms_dtype tvms_attr_dtype(const tvms_call *call, uint32_t place);

// Items of a list; empty if unset. tvms_attr_item_int reads one of them.
tvms_list tvms_attr_list(const tvms_call *call, uint32_t place);

// The integer in an item of a list, which is an object or a constant of TIR; 0 for
// anything else.
int64_t tvms_attr_item_int(const tvms_node *item);

// Reads a list of `count` integers into `values`. False if it has another number of items.
bool tvms_attr_ints(const tvms_call *call, uint32_t place, int64_t *values,
                    uint32_t count);

// A real number among the items of a list; a whole one counts, too.
double tvms_attr_item_float(const tvms_node *item);

#endif
