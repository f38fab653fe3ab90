// Intrinsics that are written with other arguments than their operator has, compiled from
// ir/device/wrappers.def by tools/gen_device.py: how the arguments of a call become those of
// the operator, and what must hold of them. A parameter is a number here, by its place in
// the signature; TVMS_WRAPPER_NO_PARAM stands for one that the signature has not.
#ifndef TVMS_IR_DEVICE_WRAPPERS_H
#define TVMS_IR_DEVICE_WRAPPERS_H

#include "ir/dialect.h"
#include "ir/dtype.h"

enum { TVMS_WRAPPER_NO_PARAM = -1 };

typedef struct {
  uint16_t first, count;
} tvms_wrapper_slice;

// What an item of a row puts among the arguments of the operator.
typedef enum {
  TVMS_WRAPPER_PARAM,           // the parameter
  TVMS_WRAPPER_PARAM_IF_GIVEN,  // the same, or nothing
  TVMS_WRAPPER_IS_GIVEN,        // 1 or 0
  TVMS_WRAPPER_IS_NONE,         // True or False
  TVMS_WRAPPER_IS_TRUE,         // 1 or 0
  TVMS_WRAPPER_COUNT,           // of values
  TVMS_WRAPPER_ALL,             // values
  TVMS_WRAPPER_ALL_BITS,        // the same, pairs of float32 as uint64
  TVMS_WRAPPER_TEXT,
  TVMS_WRAPPER_NUMBER,
  TVMS_WRAPPER_TRUE,
  TVMS_WRAPPER_POLICY,       // of the cache: params are cache_policy, cache_hint
  TVMS_WRAPPER_HAS_POLICY,   // the same
  TVMS_WRAPPER_SPACE,        // of a barrier: params are space, remote
  TVMS_WRAPPER_MULTICAST,    // params are multicast, cta_mask
  TVMS_WRAPPER_LANES,        // params are disable_output_lane, cta_group
  TVMS_WRAPPER_RESULT_TYPE,  // params are return_dtype, dps
} tvms_wrapper_item_kind;

typedef struct {
  uint8_t kind;
  int8_t when;       // only if this parameter is given
  int8_t params[2];  // that it is made of
  int32_t number;
  const char *TVMS_NULLABLE text;
} tvms_wrapper_item;

// Where the argument that an item puts stands in a call of the operator; what comes behind
// arguments of varying number is counted from the end.
typedef struct {
  bool known, from_end;
  uint8_t distance;
} tvms_wrapper_place;

typedef enum {
  TVMS_WRAPPER_RESULT_FIXED,     // `dtype`, or void
  TVMS_WRAPPER_RESULT_LIKE,      // that of the expression at `at`
  TVMS_WRAPPER_RESULT_LIKE_ANY,  // the same of what may be a number of Python
  TVMS_WRAPPER_RESULT_NAMED,     // what the value at `at`, or `param`, names
  TVMS_WRAPPER_RESULT_REGISTER,  // of the register of PTX that it names
  TVMS_WRAPPER_RESULT_BITS,      // an int of so many
} tvms_wrapper_result_kind;

typedef struct {
  uint8_t kind;
  int8_t param;
  const char *name;  // of the parameter, for messages
  tvms_wrapper_place at;
  // NAMED: void if this parameter is given, or, where all arguments of the operator are, if
  // the value at that place is true.
  int8_t stored;
  tvms_wrapper_place stored_at;
  tvms_dtype dtype;
} tvms_wrapper_result;

// By which value a call that passes the operator's own arguments is told.
typedef enum {
  TVMS_WRAPPER_RAW_NEVER,
  TVMS_WRAPPER_RAW_NO_TEXT,
  TVMS_WRAPPER_RAW_TEXT,
  TVMS_WRAPPER_RAW_NO_LIST,
} tvms_wrapper_raw_kind;

typedef enum {
  TVMS_WRAPPER_TERM_GIVEN,  // and not empty or false
  TVMS_WRAPPER_TERM_NOT_GIVEN,
  TVMS_WRAPPER_TERM_ONE_OF,  // `texts`
  TVMS_WRAPPER_TERM_COUNT,   // so many values
  TVMS_WRAPPER_TERM_LIST,
} tvms_wrapper_term_kind;

typedef struct {
  uint8_t kind;
  int8_t param;
  uint8_t count;
  tvms_wrapper_slice texts;  // of tvms_wrapper_texts
} tvms_wrapper_term;

// Where all terms of `when` hold, those of `needs` must.
typedef struct {
  tvms_wrapper_slice when, needs;      // of tvms_wrapper_terms
  const char *when_text, *needs_text;  // as the table has them, for messages
} tvms_wrapper_rule;

// What a parameter may be, if it is a text or a number.
typedef struct {
  int8_t param;
  tvms_wrapper_slice texts;  // of tvms_wrapper_texts
  const char *allowed;       // "a|b|c", for messages
} tvms_wrapper_choice;

typedef struct {
  const char *path;  // behind "T."
  const char *signature;
  uint8_t since, until;  // tvms_dialect; NONE: ever
  uint16_t opcode;
  bool legacy;  // parser/device/legacy.c makes the arguments; there are no items
  uint8_t raw;
  int8_t raw_param;
  tvms_wrapper_result result;
  tvms_wrapper_slice items;    // of tvms_wrapper_items
  tvms_wrapper_slice rules;    // of tvms_wrapper_rules
  tvms_wrapper_slice choices;  // of tvms_wrapper_choices
} tvms_wrapper;

extern const char *const tvms_wrapper_texts[];
extern const tvms_wrapper_item tvms_wrapper_items[];
extern const tvms_wrapper_term tvms_wrapper_terms[];
extern const tvms_wrapper_rule tvms_wrapper_rules[];
extern const tvms_wrapper_choice tvms_wrapper_choices[];
extern const tvms_wrapper
    tvms_wrappers[];  // sorted by path, those of one path by release
extern const uint16_t tvms_wrapper_count;

#endif
