// Operators of Relax computed by their definition, element by element and without PrimFuncs:
// what `opt --check-semantics` compares LegalizeOps with. Rows of interp/operators.def.
//
// Floats are computed as doubles and rounded once, when the result is written.
#ifndef TVMS_INTERP_OPERATORS_H
#define TVMS_INTERP_OPERATORS_H

#include "interp/frame.h"
#include "ir/op.h"

// A call of an operator in progress.
typedef struct {
  tvms_interp_frame *f;
  const tvms_call *call;
  tvms_opcode opcode;
  const tvms_value *values;          // of the arguments
  tvms_tensor *TVMS_NULLABLE *args;  // those that are tensors; numbers have rank 0
  tvms_tensor *result;               // of the type of the call, to be written
  int64_t len;                       // of the result
} tvms_interp_operator;

// True if the operator has a definition of its own.
bool tvms_interp_defines(tvms_opcode opcode);

// What a call of such an operator gives, a tensor that the caller owns. A fault if the size of
// the result is not known, or an argument is none of the operator's.
tvms_value tvms_interp_compute(tvms_interp_frame *f, const tvms_call *call);

// ---- For the rows ----

enum { TVMS_INTERP_MOST_DIMS = 64 };

// A place in a tensor: its index, which advances row by row.
typedef struct {
  int64_t index[TVMS_INTERP_MOST_DIMS];
  int64_t flat;
} tvms_interp_place;

// Goes on to the next element of the tensor, and counts a step; false behind the last one. A place
// that is all zero is the first.
bool tvms_interp_next(const tvms_interp_operator *o, const tvms_tensor *tensor,
                      tvms_interp_place *place);

// The element of a tensor that stands at this place of the result, to which it is broadcast.
int64_t tvms_interp_broadcast(const tvms_interp_operator *o, const tvms_tensor *tensor,
                              const int64_t *index);

// A fault unless `fits`: what types say of sizes and what a program passes do not agree.
void tvms_interp_need(const tvms_interp_operator *o, bool fits);

// Whether its elements are floats.
bool tvms_interp_is_real(const tvms_tensor *tensor);

// An element as a double.
double tvms_interp_element_real(const tvms_tensor *tensor, int64_t at);

// An element of integers or bools.
int64_t tvms_interp_element_whole(const tvms_tensor *tensor, int64_t at);

// Writes an element of the result, converted to its data type; a fault if it has no such place.
void tvms_interp_put_real(const tvms_interp_operator *o, int64_t at, double value);

// The same of an integer.
void tvms_interp_put_whole(const tvms_interp_operator *o, int64_t at, int64_t value);

// Copies an element of another tensor to the result, converted.
void tvms_interp_put_element(const tvms_interp_operator *o, int64_t at,
                             const tvms_tensor *from, int64_t place);

// The operand `at`; a fault if it is no tensor.
const tvms_tensor *tvms_interp_operand(const tvms_interp_operator *o, uint32_t at);

// Whether an axis counts, for each axis of the tensor: those of a list of numbers, which count from
// the end if they are negative; `all`: every axis.
void tvms_interp_axes(const tvms_tensor *tensor, tvms_list numbers, bool all,
                      bool *axes);

// The place of an element among those with the same index in the axes that are not `wanted`, or
// (wanted false) of its group among all: row by row over the axes whose flag is `wanted`.
int64_t tvms_interp_part(const tvms_tensor *tensor, const int64_t *index,
                         const bool *axes, bool wanted);

#endif
