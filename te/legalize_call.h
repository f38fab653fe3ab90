// From a call of an operator of Relax to the PrimFunc that computes it.
#ifndef TVMS_TE_LEGALIZE_CALL_H
#define TVMS_TE_LEGALIZE_CALL_H

#include "te/legalize.h"

// A description that is none of an operator: fills in legal->name and the results, from the call and
// from legal->what.
typedef bool tvms_legal_description(tvms_legal *legal);

// The PrimFunc of such a description, which takes the place of `call`.
TVMS_NODISCARD bool tvms_legalize_as(tvms_legal_description *description,
                                     tvms_unit *unit, tvms_unit *caller,
                                     const tvms_call *call, const void *what,
                                     tvms_legalized *result);

// Has the operator a description?
bool tvms_legalize_describes(tvms_opcode opcode);

// Legalises a call. Returns false if the operator has no description or the call is of a
// form that has none (unknown shapes): then the call stays.
TVMS_NODISCARD bool tvms_legalize_call(tvms_unit *unit, tvms_unit *caller,
                                       const tvms_call *call, tvms_legalized *result);

// The same by the descriptions of te/dispatch.def, for a CPU.
TVMS_NODISCARD bool tvms_legalize_dispatched(tvms_unit *unit, tvms_unit *caller,
                                             const tvms_call *call,
                                             tvms_legalized *result);

// Has the operator a row of te/dispatch.def?
bool tvms_legalize_has_dispatch(tvms_opcode opcode);

// Has the operator an approximation, a row of te/fast.def?
bool tvms_legalize_has_fast(tvms_opcode opcode);

// The same as tvms_legalize_call by the approximations of te/fast.def.
TVMS_NODISCARD bool tvms_legalize_fast(tvms_unit *unit, tvms_unit *caller,
                                       const tvms_call *call, tvms_legalized *result);

// The same for a call of R.matmul whose second argument is the transpose of what is meant: by its
// last two axes, of which there are at least two. The call has the type of the product.
TVMS_NODISCARD bool tvms_legalize_nt_matmul(tvms_unit *unit, tvms_unit *caller,
                                            const tvms_call *call,
                                            tvms_legalized *result);

// What a PrimFunc computes of a call: all of it, or a part that other calls need.
typedef enum {
  TVMS_LEGAL_RESULT,
  // All of it, and nothing is read outside of a tensor where TVM reads and drops what it gets.
  TVMS_LEGAL_INSIDE,
  // A vector of int64: the shape of what dynamic_strided_slice gives.
  TVMS_LEGAL_SHAPE,
  // Operands of a dynamic_strided_slice, as te/legalize_trim.h makes them.
  TVMS_LEGAL_BEGIN,
  TVMS_LEGAL_END,
  TVMS_LEGAL_STRIDES,
  TVMS_LEGAL_PARTS
} tvms_legal_part;

// The same as tvms_legalize_call for one part.
TVMS_NODISCARD bool tvms_legalize_part(tvms_unit *unit, tvms_unit *caller,
                                       const tvms_call *call, tvms_legal_part part,
                                       tvms_legalized *result);

#endif
