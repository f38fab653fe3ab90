// What the entry of a PrimFunc says of wrong arguments, in the words of TVM 0.27.
//
// Texts live until the scratch arena is reset.
#ifndef TVMS_BACKEND_LLVM_WORDS_H
#define TVMS_BACKEND_LLVM_WORDS_H

#include "backend/llvm/emit.h"

// A parameter that is a tensor, as it was passed.
typedef struct {
  const tvms_buffer *buffer;
  uint32_t index;       // of the parameter
  LLVMValueRef tensor;  // its tvms_dl_tensor
  LLVMValueRef *shape;  // as passed
  LLVMValueRef *strides;
  LLVMValueRef no_strides;  // i1
  LLVMValueRef byte_offset;
  LLVMValueRef data;
} tensor_param;

// A size that has a value: who defined it, for messages.
typedef struct {
  const tvms_node *var;
  const char *path;  // "A.shape[0]"
} known_size;

// An entry in the making. `known` grows as parameters are checked in order: a size is bound
// by the first place that has it alone, and every later place is compared with it.
typedef struct {
  emitter *e;
  const tvms_prim_func *function;
  const char *signature;
  tensor_param *tensors;
  uint32_t tensor_count;
  TVMS_VEC(known_size) known;
  LLVMValueRef *scalars;  // by parameter
  LLVMValueRef device_id;
  const char *device_path;
} entry;

// The place that gave a variable its value, or NULL.
const known_size *TVMS_NULLABLE tvms_words_known(const entry *n, const tvms_node *var);

// The name of a variable; "v" if it has none.
const char *tvms_words_of_var(const entry *n, const tvms_node *var);

// The name of a buffer.
const char *tvms_words_of_buffer(const entry *n, const tvms_buffer *buffer);

// "f(A: Tensor([n], float32), k: int32)".
const char *tvms_words_signature(entry *n, const tvms_member *member);

// "<format> when calling:\n  `<signature>`<more>"; `more` is "" or tvms_words_expected.
const char *tvms_words_message(entry *n, const char *more, const char *format, ...)
    TVMS_PRINTF(3, 4);

// ",\n  expected <format>".
const char *tvms_words_expected(entry *n, const char *format, ...) TVMS_PRINTF(2, 3);

// "A.shape[0]"; `at` -1: "A.byte_offset".
const char *tvms_words_path(entry *n, const tvms_buffer *buffer, const char *field,
                            int at);

// A compound size, with variables by the places that gave them their values.
const char *tvms_words_size(entry *n, const tvms_node *size);

#endif
