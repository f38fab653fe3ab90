// Results that the entry of a function makes: new tensors, shapes and tuples of tvm-ffi.
#ifndef TVMS_BACKEND_LLVM_RESULTS_H
#define TVMS_BACKEND_LLVM_RESULTS_H

#include "backend/core/entry.h"
#include "backend/llvm/emit.h"

// What an entry has made before it calls the body.
typedef struct {
  LLVMValueRef *places;  // per result: its object, or where a number is written
  LLVMValueRef *tuples;  // in the order in which they begin in the contract
  uint32_t tuple_count;
  LLVMValueRef *objects;  // all objects
  uint32_t object_count;
  LLVMValueRef *boxes;  // results that are objects: a tvms_any each
  uint32_t box_count;
  LLVMValueRef TVMS_NULLABLE workspace;
  LLVMBasicBlockRef
      none;  // what frees all that was made, and raises that there is no memory
} made_results;

// Makes the objects of the results and finds a workspace, and puts what the body takes of
// them into `params`, which has an item per parameter. Leaves the entry with an error if there is
// no memory.
void tvms_emit_make_results(emitter *e, const tvms_entry *entry,
                            LLVMValueRef const *values, LLVMValueRef *params,
                            made_results *made);

// Hands the results over if the status of the body is 0, else raises what it has left in `held`, if it has some, and
// frees them; returns from the entry.
void tvms_emit_give_results(emitter *e, const tvms_entry *entry,
                            const made_results *made, LLVMValueRef TVMS_NULLABLE held,
                            LLVMValueRef status);

// Stores a number in memory as a tvms_any.
void tvms_emit_store_any(emitter *e, tvms_dtype dtype, LLVMValueRef place,
                         LLVMValueRef any);

#endif
