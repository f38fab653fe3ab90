// Calls of PrimFuncs: arguments become memory and variables, compiled or interpreted.
#ifndef TVMS_INTERP_PRIM_H
#define TVMS_INTERP_PRIM_H

#include "interp/frame.h"
#include "interp/interp.h"

// Counts one step of the program.
void tvms_interp_count_step(tvms_interp_frame *f, tvms_span span);

// Begins a call of `member`, called from `outer` (NULL: from outside), in the
// caller's storage. Its arrays lie in the scratch arena.
void tvms_interp_open_frame(tvms_interp_frame *f, tvms_interp *interp,
                            const tvms_member *member,
                            const tvms_interp_frame *TVMS_NULLABLE outer);

// Ends the call: gives up its memory and the values of its variables.
void tvms_interp_close_frame(tvms_interp_frame *f);

// Calls a member: compiled code, a PrimFunc or a Relax function.
tvms_value tvms_interp_call_member(tvms_interp *interp, const tvms_member *member,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span,
                                   const tvms_interp_frame *TVMS_NULLABLE outer);

// Calls a PrimFunc, or the compiled code that stands for it. Arguments are borrowed;
// the caller gets the result. Faults are reported at `span`, and left by a jump.
tvms_value tvms_interp_call_prim_func(tvms_interp *interp, const tvms_member *member,
                                      const tvms_value *args, uint32_t count,
                                      tvms_span span,
                                      const tvms_interp_frame *TVMS_NULLABLE outer);

// One dimension: binds an unbound variable or compares. `what` names it in the message.
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
