// What the entry of a PrimFunc checks and loads, as a list of steps: TVM's calling
// convention, with TVM's checks in TVM's words, for every emitter.
//
//   f(A: T.Buffer((n,), "float32"))        0  ARGUMENTS
//                                          1  COUNT
//                                          2  IS %1, 1
//                                          3  CHECK %2       TypeError: Expected 1 arguments …
//                                          …
//                                          6  LOAD_INT32 [%0 + 0]    guarded
//
// A step's value is a 64-bit integer, a truth (0 or 1) or a pointer, known by the step's
// number. Steps are in the order in which errors are found. One that is `guarded` must not
// be taken unless all checks before it hold; what stands between two guarded ones may be
// taken in any order.
#ifndef TVMS_BACKEND_CORE_ENTRY_H
#define TVMS_BACKEND_CORE_ENTRY_H

#include "backend/core/layout.h"
#include "ir/contract.h"
#include "ir/module.h"
#include "support/vec.h"

typedef enum {
#define STEP(name) TVMS_ENTRY_##name,
#include "backend/core/steps.def"
#undef STEP
  TVMS_ENTRY_STEP_COUNT
} tvms_entry_step_kind;

typedef struct {
  uint8_t kind;  // tvms_entry_step_kind
  bool guarded;
  bool fixed;  // of a tensor in `fixed` of the entry; nothing else uses its value
  uint8_t
      field;  // tvms_layout_field: `number` is its offset where pointers have 64 bits
  uint32_t a, b, c;                 // steps that it uses; 0 where it uses none
  int64_t number;                   // a constant, an offset in bytes, a number of bits
  const char *TVMS_NULLABLE error;  // of a check: "ValueError"
  const char *TVMS_NULLABLE
      text;        // of a check; TVMS_SIGNATURE_MARK stands for the signature
  tvms_span span;  // {0, 0}: of an argument
} tvms_entry_step;

// A tensor whose sizes are numbers, as weights are. It has steps, too; an emitter may check many of these by a loop instead
// (backend/llvm/fixed.h). The first tensor of a function is none: others are compared with its device.
typedef struct {
  const tvms_buffer *buffer;
  uint32_t param;  // which it is
  uint32_t list;   // the step of the arguments, or of the items of a tuple
  int64_t slot;    // where it stands in these, in bytes
} tvms_entry_fixed;

// A result that the entry makes (ir/contract.h), and where the body writes it.
typedef struct {
  uint32_t param;
  char kind;  // 't', 'n', 's' or 'o'
  tvms_dtype element;
  uint32_t ndim;      // 't'; of 's' the number of sizes
  uint32_t *dims;     // 't': steps
  uint32_t *strides;  // 't': steps
  uint32_t bytes;     // 't': a step
} tvms_entry_result;

// The entry of one function. It lives in the scratch arena of the context.
typedef struct {
  tvms_context *context;
  const tvms_prim_func *function;
  const char *signature;  // what the texts of checks are filled with
  uint32_t text_bytes;    // of the longest one when it is filled, with its end
  uint32_t count;
  tvms_entry_step *steps;
  uint32_t *
      params;  // the step of each parameter: the data of a tensor, the bits of a number
  uint32_t *vars;  // by id: the step of a variable that is known, plus one; or 0
  tvms_contract contract;
  tvms_entry_result *results;  // as many as the contract has
  uint32_t workspace;          // the step of its bytes, if there is one
  tvms_entry_fixed *fixed;
  uint32_t fixed_count;
  uint32_t device_id;  // the step of the first tensor's, if there is one
} tvms_entry;

// The entry of a PrimFunc. With `serves` one that was a Relax function takes the arguments of
// that function and makes its results; otherwise all parameters are arguments. A size that no list of steps can say is reported, and the call
// unwinds with TVMS_FOUND_ERRORS.
const tvms_entry *tvms_entry_new(tvms_context *context, const tvms_member *member,
                                 bool serves);

#endif
