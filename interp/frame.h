// One function in progress. Variables and buffers are found by the id of their node.
//
// Faults are reported and unwind to tvms_interp_call; nothing here returns a failure.
#ifndef TVMS_INTERP_FRAME_H
#define TVMS_INTERP_FRAME_H

#include "interp/interp.h"
#include "support/vec.h"

// Memory that the program may touch.
typedef struct {
  char *base;
  uint64_t bytes;
  tvms_tensor *TVMS_NULLABLE owner;  // of an allocation; NULL: a caller's
} tvms_interp_region;

// A buffer as it stands now.
typedef struct {
  bool defined;       // by a parameter, statement or block; else made at each use
  bool constant;      // no variable but `data` is in it
  tvms_dl_type type;  // of elements
  size_t size;        // bytes of an element
  void *data;         // value of its data variable
  tvms_interp_region memory;  // what `data` points into
  int64_t offset;             // of element 0, in elements from `data`
  uint32_t ndim;
  int64_t *shape;
  int64_t *strides;  // of every dimension, in elements
} tvms_interp_view;

typedef struct tvms_interp_frame {
  tvms_interp *interp;
  tvms_context *context;
  const struct tvms_interp_frame *TVMS_NULLABLE
      outer;  // the caller: its memory may be passed on
  const tvms_member *member;
  tvms_scalar *vars;         // by id; a vector: p is an array of its lanes
  uint8_t *bound;            // by id: the variable has a value
  tvms_interp_view **views;  // by id of a BUFFER
  tvms_value *values;        // by id of a Relax variable; NULL for a PrimFunc
  TVMS_VEC(tvms_interp_region)
  regions;       // of parameters, then of allocations, innermost last
  bool returns;  // a value was returned
  tvms_scalar returned;
  tvms_scalar *lanes;  // of the vector store in progress, with their places
  char **places;
  uint32_t lane_room;
} tvms_interp_frame;

// Leaves the call; a fault was reported.
TVMS_NORETURN void tvms_interp_give_up(const tvms_interp_frame *f);

// fault(f, id, span, …) reports and leaves.
#define fault(f, id, ...)                                                              \
  (tvms_diag_report(&(f)->context->diags, (id), __VA_ARGS__), tvms_interp_give_up(f))

// Lane `lane` of a value of TIR; every lane of a scalar is its value.
tvms_scalar tvms_interp_eval(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane);

static inline int64_t tvms_interp_eval_int(tvms_interp_frame *f,
                                           const tvms_node *node) {
  return tvms_interp_eval(f, node, 0).i;
}

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } tvms_interp_flow;

#endif
