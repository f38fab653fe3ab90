// Forms of PTX instructions with the modifiers that a program chose: which go together, and
// which operands the instruction has then (ir/device/ptx.h). What the operands of a program
// are is parser/device/ptx.c's.
#ifndef TVMS_PARSER_DEVICE_PTX_FORM_H
#define TVMS_PARSER_DEVICE_PTX_FORM_H

#include "ir/device/ptx.h"
#include "ir/tir_op.h"

enum { TVMS_PTX_MODIFIERS = 14 };  // a form has at most so many

// A form with the modifiers that were chosen so far.
typedef struct {
  uint16_t row;                       // of tvms_ptx_forms
  int8_t chosen[TVMS_PTX_MODIFIERS];  // by modifier: number of its choice, or -1
} tvms_ptx_form;

// An operand of a form whose modifiers are chosen.
typedef struct {
  const char *name;
  tvms_ptx_kind kind;
  bool read, written, sinks, offset;  // as in tvms_ptx_operand_row
  uint32_t count;                     // registers it takes; 0: not there
  tvms_ptx_word what;                 // type of a register, space of an address
  tvms_ptx_slice numbers;
} tvms_ptx_operand;

// The forms of a family ("ld", "st_bulk", "and"), one behind the other in tvms_ptx_forms;
// none if there is no such family.
tvms_ptx_slice tvms_ptx_forms_of(const char *family, size_t len);

// The form of a row, without modifiers.
tvms_ptx_form tvms_ptx_form_of(uint32_t row);

// The operator that a form calls.
tvms_tir_opcode tvms_ptx_opcode(const tvms_ptx_form *form);

// Gives `token` to the first modifier that lists it and has none yet; false if no
// modifier does.
bool tvms_ptx_choose(tvms_ptx_form *form, const char *token, size_t len);

// What was chosen for modifier `i`, "" for nothing. NULL: the form has no further one.
const char *TVMS_NULLABLE tvms_ptx_modifier_text(const tvms_ptx_form *form, uint32_t i);

// Is everything chosen that must be? Otherwise `*missing` is the name of a modifier.
bool tvms_ptx_is_complete(const tvms_ptx_form *form, const char **missing);

// Do the modifiers go together?
bool tvms_ptx_is_allowed(const tvms_ptx_form *form);

// Operand `i` of a complete form. False: the form has no further one.
bool tvms_ptx_operand_of(const tvms_ptx_form *form, uint32_t i,
                         tvms_ptx_operand *operand);

// What a register of a type is in TIR. A word that is not a type has no data types.
const tvms_ptx_type *tvms_ptx_type_of(tvms_ptx_word type);

#endif
