// State of code generation, and the parts that it is made of.
//
// One PrimFunc becomes two functions: the body (`<name>.body`, plain pointers and numbers)
// and the entry (`__tvm_ffi_<name>`, TVM's calling convention with all checks). Both return
// 0, or -1 after an error was raised. What cannot be compiled is reported where it stands
// and unwinds to the entry point of the plug-in; LLVM's objects are closed on the way.
#ifndef TVMS_BACKEND_LLVM_EMIT_H
#define TVMS_BACKEND_LLVM_EMIT_H

#include "backend/backend.h"
#include "ir/build.h"
#include "support/vec.h"

#include <llvm-c/Core.h>
#include <string.h>

// A buffer: all values are 64-bit integers, sizes in elements.
typedef struct {
  bool defined;  // by a parameter, statement or block; else made at each use
  LLVMValueRef data;
  LLVMValueRef offset;
  uint32_t ndim;
  LLVMValueRef *shape;
  LLVMValueRef *strides;
} view;

// Where break and continue go.
typedef struct loop_target {
  struct loop_target *outer;
  LLVMBasicBlockRef next;
  LLVMBasicBlockRef end;
  uint32_t memory;  // allocations that live outside the loop
} loop_target;

typedef struct {
  tvms_context *context;
  const tvms_module *program;
  const tvms_native_options *options;
  LLVMContextRef llvm;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, pointer;
  // Of the function in progress:
  const tvms_member *member;
  const tvms_prim_func *source;
  LLVMValueRef function;
  LLVMBasicBlockRef entry;        // for allocas
  LLVMValueRef raised;            // its `self`: a tvms_raised if traced
  LLVMValueRef result;            // where a returned scalar goes
  tvms_dtype result_dtype;        // void: nothing is returned
  LLVMValueRef *vars;             // by id
  view **views;                   // by id
  TVMS_VEC(LLVMValueRef) memory;  // live allocations, innermost last
  loop_target *loop;
  bool in_index;  // integer arithmetic cannot overflow: it makes an index
} emitter;

// Computes one of two values; each is only computed where it is wanted.
typedef LLVMValueRef choice(emitter *e, const void *what);

// What is known of an error where it is raised.
typedef struct {
  const char *kind;
  const char *text;
  tvms_span span;
  LLVMValueRef TVMS_NULLABLE got;  // both NULL, or two numbers that differ
  LLVMValueRef TVMS_NULLABLE expected;
} failure;

// Variables that the body takes beside its parameters: sizes, strides and offsets of
// buffers, in the order of their first use.
typedef TVMS_VEC(const tvms_node *) size_vars;

#endif
