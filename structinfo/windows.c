// Attributes are found by name: the schemas of 1, 2 and 3 dimensions, of transposed
// convolutions and of pooling have the same ones in different places.
#include "structinfo/windows.h"

#include "ir/op.h"

#include <string.h>

static int place_of(const tvms_call *call, const char *name) {
  return tvms_attr_find(tvms_op_schema(tvms_op_called(&call->head)), name,
                        strlen(name));
}

static tvms_list list_named(const tvms_call *call, const char *name) {
  int place = place_of(call, name);
  if (place < 0) return (tvms_list){NULL, 0};
  return tvms_attr_list(call, (uint32_t)place);
}

static tvms_bytes text_named(const tvms_call *call, const char *name) {
  int place = place_of(call, name);
  if (place < 0) return (tvms_bytes){NULL, 0};
  return tvms_attr_text(call, (uint32_t)place);
}

tvms_windows tvms_windows_of(const tvms_call *call) {
  tvms_windows w = {
      .strides = list_named(call, "strides"),
      .padding = list_named(call, "padding"),
      .dilation = list_named(call, "dilation"),
      .window = list_named(call, "pool_size"),
      .output_padding = list_named(call, "output_padding"),
      .output_size = list_named(call, "output_size"),
      .data_layout =
          text_named(call, place_of(call, "layout") >= 0 ? "layout" : "data_layout"),
      .kernel_layout = text_named(call, "kernel_layout"),
      .out_layout = text_named(call, "out_layout"),
      .groups = 1,
  };
  if (w.out_layout.len == 0) w.out_layout = w.data_layout;
  int groups = place_of(call, "groups"), dtype = place_of(call, "out_dtype"),
      ceil = place_of(call, "ceil_mode"), include = place_of(call, "count_include_pad");
  if (groups >= 0) w.groups = tvms_attr_int(call, (uint32_t)groups, 1);
  if (dtype >= 0) w.out_dtype = tvms_attr_dtype(call, (uint32_t)dtype);
  if (ceil >= 0) w.ceil_mode = tvms_attr_bool(call, (uint32_t)ceil);
  if (include >= 0) w.count_include_pad = tvms_attr_bool(call, (uint32_t)include);
  w.spatial = w.strides.len;
  return w;
}
