// An entry in the making (backend/core/entry.h): its steps so far, and what makes more of them.
#ifndef TVMS_BACKEND_CORE_ENTRY_MAKER_H
#define TVMS_BACKEND_CORE_ENTRY_MAKER_H

#include "backend/core/entry.h"
#include "backend/core/words.h"

// A parameter that is a tensor, as it was passed; numbers are steps.
typedef struct {
  const tvms_buffer *buffer;
  uint32_t index;     // of the parameter
  uint32_t argument;  // which it is, or is part of
  bool fixed;         // it is a tvms_entry_fixed
  uint32_t tensor;    // its tvms_dl_tensor
  uint32_t *shape;    // as passed
  uint32_t *strides;
  uint32_t no_strides;  // a truth
  uint32_t byte_offset;
  uint32_t data;
} tvms_entry_tensor;

// An entry in the making.
typedef struct {
  tvms_context *context;
  const tvms_prim_func *function;
  tvms_words words;
  TVMS_VEC(tvms_entry_step) steps;
  tvms_entry_tensor *tensors;
  uint32_t tensor_count;
  tvms_entry_fixed *fixed;
  uint32_t fixed_count;
  uint32_t argument;  // that is decoded
  uint32_t *params;
  uint32_t *vars;
  bool guards;   // the next step is guarded
  bool fixes;    // steps are of a fixed tensor
  bool grows;    // sizes are of memory: they must not wrap
  bool chooses;  // inside one side of a choice, which may not be the one that is taken
  tvms_contract contract;
  tvms_entry_result *results;
  uint32_t workspace;
  uint32_t device_id;
  const char *TVMS_NULLABLE device_path;  // NULL: no device was seen
} tvms_entry_maker;

// ---- Steps ----

// Appends a step, and returns its number.
uint32_t tvms_entry_add(tvms_entry_maker *m, tvms_entry_step step);

// A step that uses one or two others; 0 where it uses none.
uint32_t tvms_entry_take(tvms_entry_maker *m, tvms_entry_step_kind kind, uint32_t a,
                         uint32_t b);

// A step that uses another one and a number.
uint32_t tvms_entry_take_with(tvms_entry_maker *m, tvms_entry_step_kind kind,
                              uint32_t a, int64_t number);

// A step that loads a field of the structure at %a.
uint32_t tvms_entry_load(tvms_entry_maker *m, tvms_entry_step_kind kind, uint32_t a,
                         tvms_layout_field field);

// One of two values.
uint32_t tvms_entry_choose(tvms_entry_maker *m, uint32_t condition, uint32_t yes,
                           uint32_t no);

// A constant.
uint32_t tvms_entry_number(tvms_entry_maker *m, int64_t value);

// Truth: is a value this constant?
uint32_t tvms_entry_equals(tvms_entry_maker *m, uint32_t value, int64_t constant);

// Truth: does one of two hold?
uint32_t tvms_entry_either(tvms_entry_maker *m, uint32_t a, uint32_t b);

// Truth: one of two constants.
uint32_t tvms_entry_either_of(tvms_entry_maker *m, uint32_t value, int64_t one,
                              int64_t other);

// Truth: does it not hold?
uint32_t tvms_entry_negate(tvms_entry_maker *m, uint32_t truth);

// What follows is right only if what was checked holds.
void tvms_entry_guard(tvms_entry_maker *m);

// ---- Checks ----

// An error with this text unless the truth holds.
void tvms_entry_require(tvms_entry_maker *m, uint32_t truth, const char *error,
                        const char *text);

// A ValueError with this text, which both values stand in, unless they are the same.
void tvms_entry_require_same(tvms_entry_maker *m, uint32_t got, uint32_t wanted,
                             const char *text);

// A TypeError about argument `argument` unless the truth holds: it is not of this kind.
void tvms_entry_require_kind(tvms_entry_maker *m, uint32_t argument, uint32_t truth,
                             const char *kind);

// ---- Sizes ----

// An integer as its type has it.
uint32_t tvms_entry_narrow(tvms_entry_maker *m, uint32_t value, tvms_dtype dtype);

// An integer expression of sizes that are known; any other is reported, and the call unwinds.
uint32_t tvms_entry_size_of(tvms_entry_maker *m, const tvms_node *size);

// A variable has the value of a step; `where` says which it is in messages.
void tvms_entry_know(tvms_entry_maker *m, const tvms_node *var, const char *where,
                     uint32_t value);

// Bytes of one element of a buffer.
int64_t tvms_entry_element_bytes(const tvms_buffer *buffer);

#endif
