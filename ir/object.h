// Attribute values: raw scalars, arrays and maps.
//
// Keys of a map are OBJECT_STR, or any node for maps that are not keyed by text. String
// keys are kept sorted by bytes, as TVM prints them; other keys in order of insertion.
#ifndef TVMS_IR_OBJECT_H
#define TVMS_IR_OBJECT_H

#include "ir/node.h"

// None.
tvms_node *tvms_object_none_new(tvms_unit *unit, tvms_span span);

// True or False, as Python's and not as a constant of TIR.
tvms_node *tvms_object_bool_new(tvms_unit *unit, bool value, tvms_span span);

// A number of Python without a dtype.
tvms_node *tvms_object_int_new(tvms_unit *unit, int64_t value, tvms_span span);

// A float of Python without a dtype.
tvms_node *tvms_object_float_new(tvms_unit *unit, double value, tvms_span span);

// A text; the bytes are copied into the unit.
tvms_node *tvms_object_str_new(tvms_unit *unit, const char *text, size_t len,
                               tvms_span span);

// A data type as a value.
tvms_node *tvms_object_dtype_new(tvms_unit *unit, tvms_dtype value, tvms_span span);

// A list of `count` items, copied into the unit.
tvms_node *tvms_object_array_new(tvms_unit *unit, tvms_node *const *items,
                                 uint32_t count, tvms_span span);

// A map of `count` pairs, copied and sorted. The last of equal string keys wins.
tvms_node *tvms_object_map_new(tvms_unit *unit, tvms_node *const *keys,
                               tvms_node *const *values, uint32_t count,
                               tvms_span span);

// The value under a string key, or NULL. `map` may be NULL: an empty map.
tvms_node *TVMS_NULLABLE tvms_object_map_get(const tvms_node *TVMS_NULLABLE map,
                                             const char *key);

// A new map with `key` set to `value` (NULL: without it). `map` may be NULL.
tvms_node *tvms_object_map_with(tvms_unit *unit, const tvms_node *TVMS_NULLABLE map,
                                const char *key, tvms_node *TVMS_NULLABLE value);

// A new map of the pairs of both that have a text for a key; those of `added` win.
tvms_node *tvms_object_map_join(tvms_unit *unit, const tvms_node *TVMS_NULLABLE map,
                                const tvms_node *added);

// Number of pairs; 0 for NULL.
uint32_t tvms_object_map_count(const tvms_node *TVMS_NULLABLE map);

// The integer in an OBJECT_INT, OBJECT_BOOL or INT_IMM. Returns false for anything else.
TVMS_NODISCARD bool tvms_object_as_int(const tvms_node *TVMS_NULLABLE node,
                                       int64_t *value);

// The text of an OBJECT_STR or STRING_IMM, or NULL.
const char *TVMS_NULLABLE tvms_object_as_text(const tvms_node *TVMS_NULLABLE node);

#endif
