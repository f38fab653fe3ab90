// Forms of PTX instructions as ir/ptx.def lists them: which modifiers they take, which
// operands they have then. What the operands of a program are is parser/device/ptx.c's.
#ifndef TVMS_PARSER_DEVICE_PTX_FORM_H
#define TVMS_PARSER_DEVICE_PTX_FORM_H

#include "ir/tir_op.h"

enum { TVMS_PTX_MODIFIERS = 14 };  // a form has at most so many

// A form with the modifiers that were chosen so far.
typedef struct {
  uint16_t row;                       // of ir/ptx.def
  int8_t chosen[TVMS_PTX_MODIFIERS];  // by modifier: number of its choice, or -1
} tvms_ptx_form;

// A piece of the table's text; not ended by NUL.
typedef struct {
  const char *text;
  size_t len;
} tvms_ptx_text;

typedef enum {
  TVMS_PTX_REGISTER,
  TVMS_PTX_ADDRESS,
  TVMS_PTX_POINTER,
  TVMS_PTX_NUMBER,
} tvms_ptx_kind;

typedef struct {
  tvms_ptx_text name;
  tvms_ptx_kind kind;
  bool read, written;
  bool sinks;          // T.ptx.SINK may stand for a register of it
  bool offset;         // ADDRESS: T.ptx.addr may
  uint32_t count;      // registers it takes; 0: not there
  tvms_ptx_text what;  // type of a register, space of an address, choices of a number
} tvms_ptx_operand;

// Does any form belong to this family ("ld", "st_bulk", "and")?
bool tvms_ptx_is_family(const char *family, size_t len);

// The first form of a family after row `after` (-1: from the beginning), without
// modifiers. False: there is none.
bool tvms_ptx_next_form(const char *family, size_t len, int after, tvms_ptx_form *form);

// The operator that a form calls.
tvms_tir_opcode tvms_ptx_opcode(const tvms_ptx_form *form);

// Gives `token` to the first modifier that lists it and has none yet; false if no
// modifier does.
bool tvms_ptx_choose(tvms_ptx_form *form, const char *token, size_t len);

// The modifier of number `i`: its name and what was chosen ("" for nothing). False: the
// form has no further one.
bool tvms_ptx_modifier(const tvms_ptx_form *form, uint32_t i, tvms_ptx_text *name,
                       tvms_ptx_text *chosen);

// Is everything chosen that must be? Otherwise `*missing` is the name of a modifier.
bool tvms_ptx_is_complete(const tvms_ptx_form *form, tvms_ptx_text *missing);

// Do the modifiers go together?
bool tvms_ptx_is_allowed(const tvms_ptx_form *form);

// The next operand of a complete form; `*at` is NULL at first. False: there is no other.
bool tvms_ptx_next_operand(const tvms_ptx_form *form, const char **at,
                           tvms_ptx_operand *operand);

// Data types of a register of type `type`, separated by spaces, the usual one first.
const char *tvms_ptx_dtypes(tvms_ptx_text type);

// Is `text` one of `list`'s parts between `separator`s?
bool tvms_ptx_lists(tvms_ptx_text list, char separator, const char *text, size_t len);

#endif
