// What the rules of operators share: their arguments, their attributes, their errors.
#ifndef TVMS_STRUCTINFO_INFER_COMMON_H
#define TVMS_STRUCTINFO_INFER_COMMON_H

#include "structinfo/infer.h"

// The rules, one per name in the infer column of ops.def.
#define OP(ident, name, schema, bind, signature, infer, ...)                           \
  tvms_infer_fn tvms_infer_##infer;
#include "ir/ops.def"

// For rows without a rule, and calls that no rule covers: reports.
tvms_infer_fn tvms_infer_none;

// A tensor argument.
typedef struct {
  tvms_node *sinfo;
  int64_t ndim;  // TVMS_UNKNOWN_NDIM
  tvms_dtype dtype;
  tvms_node *TVMS_NULLABLE vdevice;
  tvms_node *TVMS_NULLABLE shape;
  bool known;      // the shape is written out
  tvms_list dims;  // if known
} tvms_tensor_argument;

// A list of dimensions being made, in the scratch arena.
typedef struct {
  tvms_node **items;
  uint32_t len;
} tvms_dims;

// ---- Arguments ----

// Number of arguments in [least, most]; reports otherwise.
bool tvms_in_count(const tvms_inference *in, uint32_t least, uint32_t most);

// Argument `i`, which exists.
static inline tvms_node *tvms_in_arg(const tvms_inference *in, uint32_t i) {
  return in->call->args.items[i];
}

// The type of argument `i`.
tvms_node *tvms_in_sinfo(const tvms_inference *in, uint32_t i);

// Where argument `i` stands in the text; that of the call for TVMS_THE_CALL and for
// what has no place.
tvms_span tvms_in_span(const tvms_inference *in, uint32_t i);

// Argument `i` as a tensor; reports if it is not one (or is missing).
bool tvms_in_tensor(const tvms_inference *in, uint32_t i, tvms_tensor_argument *tensor);

// Takes a tensor type apart.
tvms_tensor_argument tvms_in_tensor_of(tvms_node *sinfo);

// Argument `i` as a tuple of tensors, in the scratch arena.
bool tvms_in_tensors(const tvms_inference *in, uint32_t i,
                     tvms_tensor_argument **tensors, uint32_t *count);

// The scalar in argument `i`, NULL if it is a variable whose value is not known; reports
// if it is not a scalar.
bool tvms_in_prim(const tvms_inference *in, uint32_t i, tvms_node **value);

// Dimensions of a tensor's shape, also if its shape is a variable with known dimensions.
bool tvms_in_tensor_values(const tvms_tensor_argument *tensor, tvms_list *dims);

// float and bfloat of any width; the eight-bit floats do not count.
static inline bool tvms_dtype_is_floating(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT || dtype.code == TVMS_BFLOAT;
}

// Signed and unsigned integers; bool is not one.
static inline bool tvms_dtype_is_integer(tvms_dtype dtype) {
  return dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
}

// ---- Results ----

// Room for `count` dimensions in the scratch arena.
tvms_dims tvms_dims_new(const tvms_inference *in, uint32_t count);

// A copy in the scratch arena, to be changed.
tvms_dims tvms_dims_copy(const tvms_inference *in, tvms_list list);

// A tensor with these dimensions: the result of a rule, in the unit.
tvms_node *tvms_in_result(const tvms_inference *in, tvms_dims dims, tvms_dtype dtype,
                          tvms_node *TVMS_NULLABLE vdevice);

// A tensor of which only the rank is known, or not even that.
tvms_node *tvms_in_result_ndim(const tvms_inference *in, int64_t ndim, tvms_dtype dtype,
                               tvms_node *TVMS_NULLABLE vdevice);

// The type of `tensor` with other elements.
tvms_node *tvms_in_result_like(const tvms_inference *in,
                               const tvms_tensor_argument *tensor, tvms_dtype dtype);

// ---- Attributes ----

// An axis of a tensor with `ndim` axes, counted from 0; reports if it is out of range.
bool tvms_in_axis(const tvms_inference *in, int64_t ndim, int64_t axis,
                  int64_t *result);

// Axes of a list, each once, into `result` (room for list.len). Reports.
bool tvms_in_axes(const tvms_inference *in, int64_t ndim, tvms_list list,
                  int64_t *result);

// Room for `count` numbers in the scratch arena.
int64_t *tvms_in_ints(const tvms_inference *in, uint32_t count);

// ---- Common rules ----

// Element type of two operands: equal, or one is bool; void if unknown. Reports.
bool tvms_in_common_dtype(const tvms_inference *in, tvms_node *a, tvms_node *b,
                          tvms_dtype *dtype);

// Device of two operands; reports if they differ.
bool tvms_in_common_vdevice(const tvms_inference *in, const tvms_node *a,
                            const tvms_node *b, tvms_node **vdevice);

// The device that all tensors agree on; NULL if they do not.
tvms_node *TVMS_NULLABLE tvms_in_shared_vdevice(const tvms_inference *in,
                                                const tvms_tensor_argument *tensors,
                                                uint32_t count);

typedef enum {
  TVMS_BROADCAST_KNOWN,
  TVMS_BROADCAST_UNKNOWN,
  TVMS_BROADCAST_FAILED
} tvms_broadcasting;

// Broadcasts two shapes: KNOWN fills *result, UNKNOWN means it cannot be decided, FAILED
// has been reported.
tvms_broadcasting tvms_in_broadcast(const tvms_inference *in, tvms_list a, tvms_list b,
                                    tvms_dims *result);

// ---- Errors. Each returns NULL so that rules can return it. ----

// "'R.op' expects <what>", at argument `i` (UINT32_MAX: the call).
tvms_node *TVMS_NULLABLE tvms_in_expects(const tvms_inference *in, uint32_t i,
                                         const char *what);

// Adds to the last finding, if argument `i` is a variable with a tuple, that a part of it may be meant.
void tvms_in_note_part(const tvms_inference *in, uint32_t i);

// "'R.op' expects <what>" for the data type of an argument, and says which it has.
tvms_node *TVMS_NULLABLE tvms_in_wrong_dtype(const tvms_inference *in, uint32_t i,
                                             const char *what, tvms_dtype got);

// The same for the number of axes.
tvms_node *TVMS_NULLABLE tvms_in_wrong_ndim(const tvms_inference *in, uint32_t i,
                                            int64_t wanted, int64_t got);

// Reports that two parts of the arguments that must be equal are not; shows both.
tvms_node *TVMS_NULLABLE tvms_in_unequal(const tvms_inference *in, uint32_t i,
                                         const char *what, const tvms_node *a,
                                         const tvms_node *b);

#define TVMS_THE_CALL UINT32_MAX

#endif
