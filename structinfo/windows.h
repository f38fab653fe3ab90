// Attributes of operators that have a layout: convolutions and pooling of every rank, which
// move a window over the spatial axes, and those that resize them.
//
// Their schemas in ir/attrs.def differ in which attributes they have and where; inference
// and legalisation read them here, by name, so both see the same thing.
#ifndef TVMS_STRUCTINFO_WINDOWS_H
#define TVMS_STRUCTINFO_WINDOWS_H

#include "ir/attrs.h"

// What an operator does not have is empty, false, void, or 1 for `groups`. Lists are in the
// order of the spatial axes as the layout has them; `padding` has what goes before each
// axis, then what goes behind each.
typedef struct {
  uint32_t spatial;  // number of axes that the window moves over: that of strides
  tvms_list strides, padding, dilation, window, output_padding, output_size;
  tvms_bytes data_layout, kernel_layout, out_layout;
  int64_t groups;
  tvms_dtype out_dtype;
  bool ceil_mode, count_include_pad;
} tvms_windows;

// Reads the attributes of a call of such an operator. Nothing is checked; an empty
// out_layout is that of the data.
tvms_windows tvms_windows_of(const tvms_call *call);

#endif
