// Forms of PTX instructions, compiled from ir/device/ptx.def by tools/gen_device.py: what a
// form takes is read from the table's notation when tvms is built, and a slip in a row ends
// the build. Who looks for a form and chooses its modifiers is parser/device/ptx_form.h.
//
// A word is a number here: tvms_ptx_words has its text. Names of modifiers and operands,
// their choices, types of registers and spaces of addresses are words; they are sorted, so
// that a text of a program is looked up once. Lists are slices of one array.
#ifndef TVMS_IR_DEVICE_PTX_H
#define TVMS_IR_DEVICE_PTX_H

#include "ir/dtype.h"

typedef uint16_t tvms_ptx_word;  // 0: none

typedef struct {
  uint16_t first, count;
} tvms_ptx_slice;

typedef struct {
  tvms_ptx_word name;
  bool optional;
  tvms_ptx_slice choices;  // of tvms_ptx_lists: words
} tvms_ptx_modifier;

// Where a field of an operand comes from, which may depend on modifiers.
typedef enum {
  TVMS_PTX_FIXED,     // it is the number or word itself
  TVMS_PTX_CHOSEN,    // of the modifier of this number
  TVMS_PTX_GIVEN,     // 1 if the modifier of this number is, else 0
  TVMS_PTX_BY_TABLE,  // of tvms_ptx_maps
} tvms_ptx_origin;

typedef struct {
  uint8_t origin;
  int8_t otherwise;  // CHOSEN: the modifier to take if nothing was chosen; -1: none
  uint16_t value;
} tvms_ptx_source;

typedef enum {
  TVMS_PTX_REGISTER,
  TVMS_PTX_ADDRESS,
  TVMS_PTX_POINTER,
  TVMS_PTX_NUMBER,
} tvms_ptx_kind;

typedef struct {
  tvms_ptx_word name;
  uint8_t kind;
  bool read, written;
  bool sinks;              // T.ptx.SINK may stand for a register of it
  bool offset;             // ADDRESS: T.ptx.addr may give it one
  tvms_ptx_source count;   // registers that it takes; 0: not there
  tvms_ptx_source what;    // type of a register or space of an address, as a word
  tvms_ptx_slice numbers;  // NUMBER: those allowed, of tvms_ptx_numbers; none: any
} tvms_ptx_operand_row;

typedef struct {
  uint16_t opcode;
  tvms_ptx_word family;
  tvms_ptx_slice modifiers;  // of tvms_ptx_modifiers, in the order of a call
  tvms_ptx_slice operands;   // of tvms_ptx_operands
  tvms_ptx_slice rules;      // of tvms_ptx_rules: all must be kept
} tvms_ptx_form_row;

typedef struct {
  tvms_ptx_word family;
  tvms_ptx_slice forms;  // of tvms_ptx_forms
} tvms_ptx_family;

// True if the modifier of this name has one of the choices; 0 among them is nothing.
typedef struct {
  tvms_ptx_word modifier;
  tvms_ptx_slice choices;  // of tvms_ptx_lists
} tvms_ptx_term;

// Where all of `when` hold, `then` must.
typedef struct {
  tvms_ptx_slice when;  // of tvms_ptx_terms
  uint16_t then;
} tvms_ptx_rule;

// The value of the first case that holds.
typedef struct {
  tvms_ptx_slice when;  // of tvms_ptx_terms
  uint16_t value;
} tvms_ptx_case;

typedef struct {
  tvms_ptx_slice cases;  // of tvms_ptx_cases
} tvms_ptx_map;

// What a register of a type of PTX is in TIR, the usual data type first.
typedef struct {
  tvms_ptx_word name;
  const char *text;  // "uint32 int32", for messages
  uint8_t count;
  const tvms_dtype *dtypes;
} tvms_ptx_type;

extern const char *const tvms_ptx_words[];  // sorted from 1 on; [0] is ""
extern const uint16_t tvms_ptx_word_count;
extern const uint16_t tvms_ptx_lists[];
extern const int32_t tvms_ptx_numbers[];
extern const tvms_ptx_modifier tvms_ptx_modifiers[];
extern const tvms_ptx_operand_row tvms_ptx_operands[];
extern const tvms_ptx_term tvms_ptx_terms[];
extern const tvms_ptx_rule tvms_ptx_rules[];
extern const tvms_ptx_case tvms_ptx_cases[];
extern const tvms_ptx_map tvms_ptx_maps[];
extern const tvms_ptx_form_row tvms_ptx_forms[];
extern const tvms_ptx_family tvms_ptx_families[];  // sorted by word
extern const uint16_t tvms_ptx_family_count;
extern const tvms_ptx_type tvms_ptx_types[];  // sorted by word
extern const uint16_t tvms_ptx_type_count;

#endif
