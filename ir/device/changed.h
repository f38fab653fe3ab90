// Instructions of PTX whose arguments changed with 0.27, compiled from ir/device/changed.def
// by tools/gen_device.py: patterns of the arguments of both sides.
#ifndef TVMS_IR_DEVICE_CHANGED_H
#define TVMS_IR_DEVICE_CHANGED_H

#include "support/base.h"

enum { TVMS_CHANGED_CAPTURES = 8 };  // names of a row

typedef enum {
  TVMS_CHANGED_ANY,      // the argument of a name
  TVMS_CHANGED_ADDRESS,  // T.address_of it
  TVMS_CHANGED_SHARED,   // its address in shared memory
  TVMS_CHANGED_UINT32,   // it as an uint32
  TVMS_CHANGED_TEXT,     // just this text, number or truth
  TVMS_CHANGED_NUMBER,
  TVMS_CHANGED_TRUTH,
} tvms_changed_kind;

typedef struct {
  uint8_t kind;
  uint8_t name;  // number of the name, the same one on both sides
  int16_t number;
  const char *TVMS_NULLABLE text;
} tvms_changed_item;

typedef struct {
  uint16_t opcode;
  uint16_t first, count;  // of tvms_changed_items
} tvms_changed_call;

typedef struct {
  tvms_changed_call older, newer;
} tvms_changed_row;

extern const tvms_changed_item tvms_changed_items[];
extern const tvms_changed_row tvms_changed_rows[];
extern const uint16_t tvms_changed_count;

#endif
