// What people mean by names that TVM does not have: the rows of ir/meant.def.
#ifndef TVMS_IR_MEANT_H
#define TVMS_IR_MEANT_H

#include "support/base.h"

typedef enum {
  TVMS_MEANT_R,
  TVMS_MEANT_T,
  TVMS_MEANT_NAME,
  TVMS_MEANT_OBJECT,
  TVMS_MEANT_KEYWORD,
  TVMS_MEANT_DTYPE,
  TVMS_MEANT_BUFFER,
  TVMS_MEANT_TENSOR,
  TVMS_MEANT_DECORATOR,
} tvms_meant_place;

// What `written` means in that place; NULL if no row says so. Rows before `*at` are not asked,
// and `*at` is left behind the row that was found: from 0, all of them in order.
const char *TVMS_NULLABLE tvms_meant_next(tvms_meant_place place, const char *written,
                                          uint32_t *at);

// The first of them.
const char *TVMS_NULLABLE tvms_meant_find(tvms_meant_place place, const char *written);

#endif
