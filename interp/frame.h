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
} region;

// A buffer as it stands now.
typedef struct {
  bool defined;       // by a parameter, statement or block; else made at each use
  bool constant;      // no variable but `data` is in it
  tvms_dl_type type;  // of elements
  size_t size;        // bytes of an element
  void *data;         // value of its data variable
  region memory;      // what `data` points into
  int64_t offset;     // of element 0, in elements from `data`
  uint32_t ndim;
  int64_t *shape;
  int64_t *strides;  // of every dimension, in elements
} view;

typedef struct frame {
  tvms_interp *interp;
  tvms_context *context;
  const struct frame *TVMS_NULLABLE outer;  // the caller: its memory may be passed on
  const tvms_member *member;
  tvms_scalar *vars;         // by id; a vector: p is an array of its lanes
  uint8_t *bound;            // by id: the variable has a value
  view **views;              // by id of a BUFFER
  tvms_value *values;        // by id of a Relax variable; NULL for a PrimFunc
  TVMS_VEC(region) regions;  // of parameters, then of allocations, innermost last
  bool returns;              // a value was returned
  tvms_scalar returned;
  tvms_scalar *lanes;  // of the vector store in progress, with their places
  char **places;
  uint32_t lane_room;
} frame;

// Leaves the call; a fault was reported.
TVMS_NORETURN void tvms_interp_give_up(const frame *f);

// fault(f, id, span, …) reports and leaves.
#define fault(f, id, ...)                                                              \
  (tvms_diag_report(&(f)->context->diags, (id), __VA_ARGS__), tvms_interp_give_up(f))

// Counts one step of the program.
void tvms_interp_count_step(frame *f, tvms_span span);

// Lane `lane` of a value of TIR; every lane of a scalar is its value.
tvms_scalar tvms_interp_eval(frame *f, const tvms_node *node, uint32_t lane);
tvms_scalar tvms_interp_eval_call(frame *f, const tvms_call *call, uint32_t lane);

static inline int64_t tvms_interp_eval_int(frame *f, const tvms_node *node) {
  return tvms_interp_eval(f, node, 0).i;
}

// Gives a variable a value. Vectors are evaluated lane by lane from `value`.
void tvms_interp_bind_var(frame *f, const tvms_node *var, tvms_scalar value);
void tvms_interp_bind_expr(frame *f, const tvms_node *var, const tvms_node *value);

// The buffer as it stands, made if no definition was met.
view *tvms_interp_use_buffer(frame *f, const tvms_node *buffer, tvms_span span);

// Defines a buffer over memory of `data` (NULL: the value of its data variable, which it
// binds otherwise).
view *tvms_interp_define_buffer(frame *f, const tvms_node *buffer,
                                void *TVMS_NULLABLE data);

// Defines a buffer over fresh memory that end_memory frees.
void tvms_interp_allocate_buffer(frame *f, const tvms_node *buffer);

// Takes memory for `extents` elements and returns it.
void *tvms_interp_allocate(frame *f, tvms_dtype element, tvms_list extents,
                           tvms_span span);
uint32_t tvms_interp_begin_memory(const frame *f);
void tvms_interp_end_memory(frame *f, uint32_t mark);

// Declares memory that a caller owns.
void tvms_interp_add_region(frame *f, void *base, uint64_t bytes);

// Address of the element that a load or store of `lane` means; checks every index.
char *tvms_interp_element_at(frame *f, view *v, const tvms_node *buffer,
                             tvms_list indices, uint32_t lane, tvms_span span);

// Address that T.address_of means: as element_at, but one past the end is allowed.
char *tvms_interp_address_at(frame *f, view *v, tvms_list indices);

typedef enum { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } flow;
flow tvms_interp_exec(frame *f, const tvms_node *statement);

void tvms_interp_open_frame(frame *f, tvms_interp *interp, const tvms_member *member,
                            const frame *TVMS_NULLABLE outer);
void tvms_interp_close_frame(frame *f);

// Calls a member: compiled code, a PrimFunc or a Relax function.
tvms_value tvms_interp_call_member(tvms_interp *interp, const tvms_member *member,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span, const frame *TVMS_NULLABLE outer);
tvms_value tvms_interp_call_prim_func(tvms_interp *interp, const tvms_member *member,
                                      const tvms_value *args, uint32_t count,
                                      tvms_span span, const frame *TVMS_NULLABLE outer);
tvms_value tvms_interp_call_function(tvms_interp *interp, const tvms_member *member,
                                     const tvms_value *args, uint32_t count,
                                     tvms_span span, const frame *TVMS_NULLABLE outer);
tvms_value tvms_interp_eval_relax(frame *f, const tvms_node *node);
tvms_value tvms_interp_call_relax_operator(frame *f, const tvms_call *call);

// Checks a value against a type and binds the variables that are new in it.
void tvms_interp_match_type(frame *f, const tvms_node *type, tvms_value value,
                            const char *name, tvms_span span);

// A tensor of the type `sinfo`, whose sizes are all known here.
tvms_tensor *tvms_interp_make_tensor(frame *f, const tvms_node *sinfo, tvms_span span);

// One dimension: binds an unbound variable or compares. `what` names it in the message.
void tvms_interp_match_size(frame *f, const tvms_node *size, int64_t got,
                            const char *what, uint32_t dimension, tvms_span span);

#endif
