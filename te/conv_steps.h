// The PrimFunc that computes a convolution step by step of its window.
//
// Each step is a product over the places where it meets data, which is added to the result there. The data is
// read where it lies, and what a step gives is in no memory of its own once ScheduleCPU has been there.
#ifndef TVMS_TE_CONV_STEPS_H
#define TVMS_TE_CONV_STEPS_H

#include "te/legalize_call.h"

enum { TVMS_CONV_STEP_AXES = 2, TVMS_MOST_CONV_STEPS = 25 };

// Of one step, along each axis of the window: the places of the result that it reaches, and how far from
// there the data is.
typedef struct {
  int64_t begin[TVMS_CONV_STEP_AXES], end[TVMS_CONV_STEP_AXES],
      shift[TVMS_CONV_STEP_AXES];
  // A leaf of the caller, [channels of the result, of a group of the data, …, …], and the step's place in it.
  const tvms_node *weight;
  int64_t at[TVMS_CONV_STEP_AXES];
  bool whole;  // it reaches all places
} tvms_conv_step;

typedef struct {
  const tvms_node *data;  // a leaf of the caller, channels first
  int64_t groups;
  uint32_t count;
  tvms_conv_step
      steps[TVMS_MOST_CONV_STEPS];  // one that reaches all places is the first one
} tvms_conv_steps;

// The PrimFunc of a convolution without strides, in the place of the call: `conv2d_steps`.
TVMS_NODISCARD bool tvms_legalize_conv_steps(tvms_unit *unit, tvms_unit *caller,
                                             const tvms_call *call,
                                             const tvms_conv_steps *steps,
                                             tvms_legalized *result);

#endif
