// One function in progress: what its variables, buffers and memory are now.
//
// Faults are reported and unwind to tvms_interp_call; nothing here returns a failure. All of
// a frame lies in the context's scratch arena or is a counted value of the heap, so what an
// unwinding leaves behind goes with them.
#ifndef TVMS_INTERP_FRAME_H
#define TVMS_INTERP_FRAME_H

#include "interp/interp.h"
#include "support/vec.h"

// Memory that the program may touch. A pointer is looked up among the regions of its frame
// and of the callers, newest first, because the memory of a tensor may stand behind
// another's.
typedef struct {
  char *base;
  uint64_t bytes;
  tvms_tensor *TVMS_NULLABLE owner;  // of an allocation; NULL: a caller's
} tvms_interp_region;

// A buffer as it stands now: the shape that the program sees, over bytes of a region.
//
// A buffer of TIR is a name for a way to look at memory, and several may look at the same
// (decl_buffer, match_buffer, views of a pointer). Sizes and strides are expressions, so a
// view is what they came to when the buffer was defined:
//
//   B = T.match_buffer(b, (n, 4), strides=(s, 1))     called with n = 3, s = 8:
//   view {shape 3, 4; strides 8, 1; offset 0}         B[i, j] is element i * 8 + j
//
// Invariant: an access is good if each index is in [0, shape) and the element lies inside
// `memory`; the first alone is not enough, since strides may be anything.
typedef struct {
  bool defined;       // by a parameter, statement or block; else made at each use
  bool constant;      // no variable but `data` is in it
  bool whole;         // indices inside of the shape stay inside of the memory
  tvms_dl_type type;  // of elements
  size_t size;        // bytes of an element
  void *data;         // value of its data variable
  tvms_interp_region memory;  // what `data` points into
  int64_t offset;             // of element 0, in elements from `data`
  uint32_t ndim;
  int64_t *shape;
  int64_t *strides;  // of every dimension, in elements
} tvms_interp_view;

// The state of one call. Nodes of a function are numbered densely (ir/node.h), so what is
// known of a variable or a buffer stands in arrays by its id.
//
//   def f(A: T.Buffer((n,), "float32")):     after three steps of the loop, n = 8:
//       for i in range(n):                   vars[n] = 8, vars[i] = 2, vars[A.data] = p
//           A[i] = T.float32(0)              views[A] = {shape 8, memory of the argument}
//
// Invariants:
//   - vars[id] means something where bound[id] is set, and then fits the type of the
//     variable: integers are wrapped, floats rounded (runtime/number.h).
//   - `regions` is a stack. A SEQ or a block marks its height and cuts it back at its end,
//     so memory lives as long as the statement that allocated it is in scope. A frame sees
//     the memory of its callers through `outer`: it may have been passed on by address.
//   - A Relax variable owns its value until the frame closes or it is bound again.
typedef struct tvms_interp_frame {
  tvms_interp *interp;
  tvms_context *context;
  const struct tvms_interp_frame *TVMS_NULLABLE
      outer;  // the caller: its memory may be passed on
  const tvms_member *member;
  tvms_span at;              // of the last call of a Relax function
  tvms_scalar *vars;         // by id; a vector: p is an array of its lanes
  uint8_t *bound;            // by id: the variable has a value
  tvms_interp_view **views;  // by id of a BUFFER
  tvms_value *values;        // by id of a Relax variable; NULL for a PrimFunc
  TVMS_VEC(tvms_interp_region)
  regions;  // of parameters, then of allocations, innermost last
  struct tvms_interp_boxes *TVMS_NULLABLE boxes;  // lists of objects (interp/boxes.h)
  bool returns;                                   // a value was returned
  tvms_scalar returned;
  tvms_scalar *lanes;  // of the vector store in progress, with their places
  char **places;
  uint32_t lane_room;
} tvms_interp_frame;

// Leaves the outermost call, which returns TVMS_FOUND_ERRORS; a fault was reported.
TVMS_NORETURN void tvms_interp_give_up(const tvms_interp_frame *f);

// fault(f, id, span, …) reports and leaves.
#define fault(f, id, ...)                                                              \
  (tvms_diag_report(&(f)->context->diags, (id), __VA_ARGS__), tvms_interp_give_up(f))

// Lane `lane` of a value of TIR; every lane of a scalar is its value. Declared here, and
// defined in interp/expr.c, for the inline function below.
tvms_scalar tvms_interp_eval(tvms_interp_frame *f, const tvms_node *node,
                             uint32_t lane);

// The value of a scalar integer.
static inline int64_t tvms_interp_eval_int(tvms_interp_frame *f,
                                           const tvms_node *node) {
  return tvms_interp_eval(f, node, 0).i;
}

// Where a statement leaves to: the next one, the end or the next step of the loop around
// it, or the caller.
typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } tvms_interp_flow;

#endif
