// State of code generation, and the parts that it is made of.
//
// One PrimFunc becomes two functions: the body (`<name>.body`, plain pointers and numbers)
// and the entry (`__tvm_ffi_<name>`, TVM's calling convention with all checks). Both return
// 0, or -1 after an error was raised. What cannot be compiled is reported where it stands
// and unwinds to the entry point of the plug-in; LLVM's objects are closed on the way.
#ifndef TVMS_BACKEND_LLVM_EMIT_H
#define TVMS_BACKEND_LLVM_EMIT_H

#include "backend/backend.h"
#include "backend/core/join.h"
#include "backend/core/params.h"
#include "backend/core/scaled.h"
#include "backend/x86/code.h"
#include "ir/build.h"
#include "support/vec.h"

#include <llvm-c/Core.h>
#include <string.h>

// A buffer where it is used: what interp/frame.h has as tvms_interp_view, with LLVM values
// in the place of numbers. All of them are 64-bit integers; sizes, strides and the offset
// count elements. They are computed where the buffer is defined, and every access is
// data + (offset + sum of index * stride).
typedef struct {
  bool defined;  // by a parameter, statement or block; else made at each use
  LLVMValueRef data;
  LLVMValueRef offset;
  uint32_t ndim;
  LLVMValueRef *shape;
  LLVMValueRef *strides;
  const struct loop_target *TVMS_NULLABLE loop;  // that it is defined in
} view;

// What a function stores, as bits, and whether it starts parallel loops: the optimiser needs to know
// (backend/llvm/optimise.h).
enum {
  STORES_VECTORS = 1,
  STORES_ELEMENTS = 2,
  STORES_ELEMENTS_IN_LOOPS = 4,  // in innermost ones: no others become vectors
  STARTS_THREADS = 8,
  THREADS_STORE_VECTORS = 16,
  STORES_SUMS = 32,  // vectors that a loop keeps in the frame from step to step
  STORES_ELEMENTS_AROUND_LOOPS = 64,
  STAYS_IN_LOOPS =
      128,  // innermost ones, or those that keep sums, go to the same place in each step
  STORES_PAST = 256  // the caches
};

// What is allocated: memory from the C library, or so many boxes of a list.
typedef struct {
  LLVMValueRef place;
  uint32_t boxes;
  LLVMBasicBlockRef TVMS_NULLABLE
      leave;  // frees it and what lies around it, and returns -1
} live_memory;

// A load of every second element (backend/llvm/strided.h), for those that come behind it in its block.
typedef struct {
  LLVMBasicBlockRef block;
  LLVMValueRef place, first;
  LLVMValueRef TVMS_NULLABLE second;  // NULL: it has a neighbour already
  tvms_dtype element;
  uint32_t lanes;
} strided_load;

// Every element of a line that loads of every second one want, in one load with a mask.
typedef struct {
  LLVMBasicBlockRef TVMS_NULLABLE
      block;  // NULL: something may have been stored there since
  LLVMValueRef place, loaded, phases;  // even elements, then odd ones
  tvms_dtype element;
  uint32_t width;
  uint64_t wanted, zeros;  // elements that are loaded, that somebody has as 0
} phased_load;

enum { MOST_STRIDED = 32 };

// A value that its block has made already (backend/llvm/once.h).
typedef struct {
  LLVMBasicBlockRef TVMS_NULLABLE block;
  uint32_t op;
  LLVMValueRef a;
  LLVMValueRef TVMS_NULLABLE b;
  LLVMTypeRef TVMS_NULLABLE type;
  LLVMValueRef value;
} made_once;

enum { ONCE_SETS = 64, ONCE_PLACES = 4 };

// Where break and continue go. What was allocated inside of the loop is freed on the way:
// all of emitter.memory above `memory`.
typedef struct loop_target {
  struct loop_target *outer;
  LLVMBasicBlockRef next;
  LLVMBasicBlockRef end;
  uint32_t memory;
  bool few;      // the loop has few steps: those that are left behind vectors
  bool stores;   // elements, in its own body
  bool vectors;  // its body stores vectors
  bool sums;     // that it keeps in the frame
  bool stays;    // each step goes to the same place of other memory
  bool around;   // there is a loop in its body
  // Of loops that count: the block that they are entered from, the one in front of the loop, which is there for code that
  // runs once if any step runs, and its first one.
  LLVMBasicBlockRef TVMS_NULLABLE from;
  LLVMBasicBlockRef TVMS_NULLABLE before;
  LLVMBasicBlockRef TVMS_NULLABLE body;
  uint32_t in_front;  // values that were put there (backend/llvm/once.h)
  // Where addresses are counted up (backend/llvm/counted.h): the variable and the addresses.
  const tvms_node *TVMS_NULLABLE var;
  struct counted_place *TVMS_NULLABLE places;
  uint32_t place_count;
} loop_target;

// Code generation in progress: first of the module, then of one function at a time.
//
//   def f(A: T.Buffer((n,), "float32")):   entry:  br start        allocas go before this
//       for i in range(n):                 start:  0 < n ? loop : end
//           A[i] = A[i] * 2                loop:   br body
//                                          body:   i = phi [0, loop], [i + 1, next]
//                                                  load, fmul, store; br next
//                                          next:   i + 1 < n ? body : end
//                                          end:    ret 0
//
// Code goes to the end of the builder's block. A statement that leaves (return, break, an
// error) ends that block, and what follows it is not emitted: tvms_emit_is_open.
//
// Invariants:
//   - vars[id] is the value of a variable, or NULL until it is defined. A variable of TIR
//     is assigned once, and the block that defines it dominates its uses, because scopes
//     nest as blocks do; so no variable needs memory.
//   - `memory` lists what is allocated on every path to the current block, and all of it
//     is freed on every path out of its scope: at its end, at jumps, and before an error
//     is raised. Scopes mark and cut it as the interpreter's regions.
//   - Narrow floats are float32 in registers and rounded after each operation, bool is i1
//     in registers and a byte in memory (backend/llvm/types.h).
typedef struct {
  tvms_context *context;
  const tvms_module *program;
  const tvms_native_options *options;
  LLVMContextRef llvm;
  LLVMModuleRef module;  // that code goes to: one of these (backend/llvm/modules.h)
  LLVMModuleRef kernels;
  LLVMModuleRef TVMS_NULLABLE around;
  tvms_x86_code *TVMS_NULLABLE direct;  // entries that need no LLVM; with `around` only
  bool
      joins;  // objects are joined, and with data that they have beside what LLVM makes
  bool in_memory;  // the code stays in this process, where no loader calls its end
  TVMS_VEC(tvms_object_data) data;
  LLVMBuilderRef builder;
  LLVMDIBuilderRef TVMS_NULLABLE debug;  // NULL: code has no lines
  LLVMMetadataRef file;                  // of them
  bool without_half;                     // the processor does not convert float16
  uint32_t steps_used;  // kinds of steps that its entries have, as bits
  LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, pointer;
  uint32_t pointer_bytes;  // 8 or 4
  // Of the function in progress:
  const tvms_member *member;
  const tvms_prim_func *source;
  LLVMValueRef function;
  LLVMMetadataRef TVMS_NULLABLE scope;   // of its lines
  LLVMBasicBlockRef entry;               // for allocas
  LLVMValueRef raised;                   // its `self`: where errors go (failure.c)
  LLVMValueRef TVMS_NULLABLE raiser_of;  // the function that has
  LLVMValueRef raiser;                   // who is told of errors of the run time
  LLVMValueRef result;                   // where a returned scalar goes
  tvms_dtype result_dtype;               // void: nothing is returned
  LLVMValueRef *vars;                    // by id
  LLVMValueRef *wide;                    // of 64 bits, where one of 32 is counted so
  view **views;                          // by id
  const tvms_node *const *bindings;      // values of variables by id
  TVMS_VEC(live_memory) memory;          // live allocations, innermost last
  const struct tvms_borrow *TVMS_NULLABLE borrow;  // NULL: not looked at yet
  uint64_t frame;                                  // bytes of buffers in the frame
  loop_target *loop;
  strided_load strided[MOST_STRIDED];  // the last ones
  uint32_t strided_count;              // of all
  phased_load phased[MOST_STRIDED];
  uint32_t phased_count;
  made_once once[ONCE_SETS][ONCE_PLACES];  // those of a set: the last one first
  uint16_t stores;                         // what it stores: STORES_
  uint32_t past;     // loops around that say that vectors are stored past the caches
  bool in_parallel;  // its code is the steps of a parallel loop
  bool in_index;     // integer arithmetic cannot overflow: it makes an index
} emitter;

// Emits the code of one of two alternatives, and gives its value (tvms_emit_choose).
typedef LLVMValueRef choice(emitter *e, const void *what);

// What is known of an error where it is raised.
typedef struct {
  const char *kind;
  const char *text;
  tvms_span span;
  LLVMValueRef TVMS_NULLABLE got;  // both NULL, or two numbers that differ
  LLVMValueRef TVMS_NULLABLE expected;
  // Of what was called: its place, if no function has been named, and the caller's (backend/llvm/held.h). NULL: none.
  const char *TVMS_NULLABLE in;
  const char *TVMS_NULLABLE by;
  bool by_host;                     // others have raised it
  LLVMValueRef TVMS_NULLABLE held;  // where the function that was called has left it
} failure;

typedef tvms_params_sizes size_vars;

#endif
