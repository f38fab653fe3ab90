// Calls of PrimFuncs and of members of the module, compiled or interpreted.
//
// Arguments are borrowed, results are the caller's. `span` is the call, for faults; {0, 0}
// for one from outside. `outer` is the frame that calls; NULL from outside.
#ifndef TVMS_INTERP_PRIM_H
#define TVMS_INTERP_PRIM_H

#include "interp/frame.h"
#include "interp/interp.h"

// Counts one step of the program (an iteration, a call); a fault at the limit. Every few
// thousand it looks at the clock as well (tvms_memory_check_time).
void tvms_interp_count_step(tvms_interp_frame *f, tvms_span span);

// Begins a call of `member`: nothing is bound. tvms_interp_close_frame must follow, unless
// a fault unwinds.
void tvms_interp_open_frame(tvms_interp_frame *f, tvms_interp *interp,
                            const tvms_member *member,
                            const tvms_interp_frame *TVMS_NULLABLE outer);

// Ends a call: its memory goes.
void tvms_interp_close_frame(tvms_interp_frame *f);

// Calls a member by what it is: native code if there is some, a PrimFunc or a Relax
// function. `observe` of the interpreter is told.
tvms_value tvms_interp_call_member(tvms_interp *interp, const tvms_member *member,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span,
                                   const tvms_interp_frame *TVMS_NULLABLE outer);

// Interprets a PrimFunc: arguments are checked and bound as TVM's entry does it, sizes that
// stand alone before compound ones. NONE if it returns nothing.
tvms_value tvms_interp_call_prim_func(tvms_interp *interp, const tvms_member *member,
                                      const tvms_value *args, uint32_t count,
                                      tvms_span span,
                                      const tvms_interp_frame *TVMS_NULLABLE outer);

// A borrowed value as an argument of a function of TVM's calling convention; what such a
// function does not take is none.
tvms_any tvms_interp_to_any(tvms_value value);

// One dimension: a variable without a value gets `got`, anything else is compared with it,
// and a fault names dimension `dimension` of `what`.
void tvms_interp_match_size(tvms_interp_frame *f, const tvms_node *size, int64_t got,
                            const char *what, uint32_t dimension, tvms_span span);

// Calls a function of the module with borrowed arguments. For a PrimFunc these are all its
// parameters, outputs among them. On TVMS_OK the result is owned by the caller (tvms_value_drop).
// TVMS_FOUND_ERRORS: a fault was reported. Must run on a deep stack (tvms_memory_protect_deep).
TVMS_NODISCARD tvms_status tvms_interp_call(tvms_interp *interp,
                                            const tvms_member *member,
                                            const tvms_value *args, uint32_t count,
                                            tvms_value *result);

// Value of an expression of constants and bound variables, for sizes of parameters:
// `sizes` is indexed by the id of a variable, `known` says which entries hold. False if a
// variable is not known or the expression has a form that sizes do not have.
TVMS_NODISCARD bool tvms_interp_size_of(const tvms_node *size, const int64_t *sizes,
                                        const bool *known, int64_t *value);

#endif
