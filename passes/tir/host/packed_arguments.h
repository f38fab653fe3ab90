// The arguments of a packed call: checked, taken apart and given to parameters.
#ifndef TVMS_PASSES_TIR_HOST_PACKED_ARGUMENTS_H
#define TVMS_PASSES_TIR_HOST_PACKED_ARGUMENTS_H

#include "ir/node.h"

// What is given, and what comes of it: statements in the order in which they run. The
// vectors belong to the caller, who frees them with tvms_packed_arguments_fini.
typedef struct {
  tvms_unit *unit;
  const char *symbol;              // the name under which the function is called
  const tvms_prim_func *function;  // as it was
  tvms_node *args;                 // VAR of the arguments, and of their number
  tvms_node *num_args;
  tvms_node *device_id;  // VAR, defined by the first tensor
  int device_type;       // of DLPack
  const char *device;    // its name
  // What comes of it:
  tvms_node_vec loads;         // definitions, and what must be checked at once
  tvms_node_vec checks;        // of sizes, strides and pointers
  tvms_node_vec declarations;  // of the buffers of the parameters
  bool has_device;             // device_id is defined
} tvms_packed_arguments;

// Fills in the statements. Every failing check names the argument and the function as TVM
// does. TVM 0.26: TVMFFIABIBuilder (src/tirx/transform/tvm_ffi_binder.cc).
void tvms_packed_arguments_bind(tvms_packed_arguments *arguments);

// Frees the vectors; the statements stay with the unit.
void tvms_packed_arguments_fini(tvms_packed_arguments *arguments);

// ---- The layout of what is passed, by field ----

typedef enum {
  TVMS_FIELD_TENSOR_DATA = 1,
  TVMS_FIELD_TENSOR_SHAPE = 2,
  TVMS_FIELD_TENSOR_STRIDES = 3,
  TVMS_FIELD_TENSOR_NDIM = 4,
  TVMS_FIELD_TENSOR_TYPE_CODE = 5,
  TVMS_FIELD_TENSOR_TYPE_BITS = 6,
  TVMS_FIELD_TENSOR_TYPE_LANES = 7,
  TVMS_FIELD_TENSOR_BYTE_OFFSET = 8,
  TVMS_FIELD_TENSOR_DEVICE_ID = 9,
  TVMS_FIELD_TENSOR_DEVICE_TYPE = 10,
  TVMS_FIELD_ANY_TYPE_INDEX = 13,
  TVMS_FIELD_ANY_ZERO_PADDING = 14,
  TVMS_FIELD_ANY_UNION_VALUE = 15,
  TVMS_FIELD_INT64_ELEMENT = 17,
} tvms_packed_field;

// What a TVMFFIAny holds.
typedef enum {
  TVMS_PACKED_NONE = 0,
  TVMS_PACKED_INT = 1,
  TVMS_PACKED_BOOL = 2,
  TVMS_PACKED_FLOAT = 3,
  TVMS_PACKED_POINTER = 4,
  TVMS_PACKED_DL_TENSOR = 7,
  TVMS_PACKED_RAW_STRING = 8,
  TVMS_PACKED_OBJECT = 64,  // the first kind of object
  TVMS_PACKED_TENSOR = 70,
} tvms_packed_kind;

#endif
