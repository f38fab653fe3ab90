// Values of a run as text.
#ifndef TVMS_DRIVER_VALUES_H
#define TVMS_DRIVER_VALUES_H

#include "interp/interp.h"
#include "support/strbuf.h"

// Appends one line of text for a value that is not a tuple, without its end.
void tvms_values_add(tvms_strbuf *out, tvms_value value);

// A number as a tensor without dimensions, a tensor as it is; NULL for what has no
// elements, or if the heap refuses.
tvms_tensor *TVMS_NULLABLE tvms_values_box(tvms_heap *heap, tvms_value value);

// Appends what R.print writes: each "{}" of the format is one value; what is left over
// follows. One line.
void tvms_values_print(tvms_strbuf *out, const char *format, const tvms_value *values,
                       uint32_t count);

// Shows each value that a call of `entry` with the arguments `values` gave, none of them a
// tuple: "result" or "result.0" and so on. A PrimFunc that returns nothing gives the
// buffers that it writes.
typedef void tvms_value_visit(void *self, const char *name, tvms_value value);

// Shows a value under a name, or if it is a tuple its fields under "name.0" and so on.
void tvms_values_each(const char *name, tvms_value value, tvms_value_visit *visit,
                      void *self);

// Shows each value that a call of `entry` gave, in order; `visit` gets `self`.
void tvms_values_each_result(tvms_context *context, const tvms_member *entry,
                             const tvms_value *values, tvms_value result,
                             tvms_value_visit *visit, void *self);

#endif
