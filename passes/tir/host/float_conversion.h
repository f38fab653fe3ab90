// Floats that machines lack: their layouts, and conversions by means of integers.
#ifndef TVMS_PASSES_TIR_HOST_FLOAT_CONVERSION_H
#define TVMS_PASSES_TIR_HOST_FLOAT_CONVERSION_H

#include "ir/node.h"

// A family of dtypes that some machines cannot compute with.
typedef enum {
  TVMS_HOST_BFLOAT16,
  TVMS_HOST_FLOAT8,
  TVMS_HOST_HALF,  // float16 and bfloat16
} tvms_host_float_family;

// Does a dtype of any lanes belong to the family?
bool tvms_host_float_is(tvms_host_float_family family, tvms_dtype dtype);

// Does the function's target compute with the family by itself?
bool tvms_host_float_is_native(tvms_host_float_family family,
                               const tvms_node *function);

// Could legalising the family change anything in `function`? False if no value, buffer or pointer
// in it is of the family, and no value is reinterpreted as its own dtype. `unit` is that of the
// function.
bool tvms_host_float_concerns(tvms_host_float_family family, tvms_unit *unit,
                              tvms_node *function);

// The unsigned integers in which values of a dtype are stored.
tvms_dtype tvms_host_float_storage(tvms_dtype dtype);

// `value` as bits of another dtype of the same width; itself if it is of that dtype.
tvms_node *tvms_host_float_reinterpret(tvms_unit *unit, tvms_dtype dtype,
                                       tvms_node *value);

// A float as another float of as many lanes, by shifts and masks of its bits: rounded to even,
// too small ones to zero. TVM: DTypeConversion.
tvms_node *tvms_host_float_convert(tvms_unit *unit, tvms_node *value, tvms_dtype to);

#endif
