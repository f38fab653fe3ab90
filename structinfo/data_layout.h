// Layouts as text: "NCHW", "NHWC", "NCHW4c". A capital letter is an axis; a number with
// the small letter is a block that was split off it.
#ifndef TVMS_STRUCTINFO_DATA_LAYOUT_H
#define TVMS_STRUCTINFO_DATA_LAYOUT_H

#include "structinfo/infer_common.h"

enum { TVMS_MOST_LAYOUT_AXES = 16 };

typedef struct {
  char letter;    // capital
  int64_t block;  // length of the block; 0: the axis itself
} tvms_data_layout_axis;

typedef struct {
  tvms_data_layout_axis axes[TVMS_MOST_LAYOUT_AXES];
  uint32_t count;
} tvms_data_layout;

// Parses `text`, which must have exactly the axes of `plain` ("NCHW"), perhaps blocked.
// Reports at argument TVMS_THE_CALL otherwise; `what` names the layout.
bool tvms_in_data_layout(const tvms_inference *in, tvms_bytes text, const char *plain,
                         const char *what, tvms_data_layout *layout);

// Checks the rank of a tensor against its layout.
bool tvms_in_data_layout_rank(const tvms_inference *in, uint32_t i,
                              const tvms_tensor_argument *tensor,
                              const tvms_data_layout *layout);

// Dimensions in the order of `plain` from those in the order of the layout; a split
// axis is multiplied again. False after a report.
bool tvms_data_layout_to_plain(const tvms_inference *in, const tvms_data_layout *layout,
                               const char *plain, tvms_list dims, tvms_dims *result);

// Dimensions in the order of the layout from those in the order of `plain`; false after
// a report.
bool tvms_data_layout_from_plain(const tvms_inference *in,
                                 const tvms_data_layout *layout, const char *plain,
                                 tvms_dims dims, tvms_dims *result);

#endif
