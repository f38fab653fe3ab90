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

// Reports what cannot be compiled and leaves.
TVMS_NORETURN void tvms_emit_give_up(emitter *e);
TVMS_NORETURN void tvms_emit_refuse(emitter *e, tvms_span span, const char *what);

// Types of values in registers and in memory. Floats narrower than 32 bits are computed as
// float32 and rounded after each step.
LLVMTypeRef tvms_emit_type(emitter *e, tvms_dtype dtype, tvms_span span);
LLVMTypeRef tvms_emit_memory_type(emitter *e, tvms_dtype dtype, tvms_span span);

// One element of memory; `dtype` scalar. Conversion to and from the register form.
LLVMValueRef tvms_emit_load(emitter *e, tvms_dtype dtype, LLVMValueRef at,
                            tvms_span span);
void tvms_emit_store(emitter *e, tvms_dtype dtype, LLVMValueRef value, LLVMValueRef at,
                     tvms_span span);

// Rounds a float32 register to a narrower float kind; other kinds pass through.
LLVMValueRef tvms_emit_round(emitter *e, tvms_dtype dtype, LLVMValueRef value);
LLVMValueRef tvms_emit_convert(emitter *e, tvms_dtype from, tvms_dtype to,
                               LLVMValueRef value, tvms_span span);

LLVMValueRef tvms_emit_int(emitter *e, int64_t value);  // i64
LLVMValueRef tvms_emit_expr(emitter *e, const tvms_node *node);
LLVMValueRef tvms_emit_call(emitter *e, const tvms_call *call);
// A condition: bool, or an integer that is true unless it is zero.
LLVMValueRef tvms_emit_condition(emitter *e, const tvms_node *node);
// An expression as a 64-bit index.
LLVMValueRef tvms_emit_index(emitter *e, const tvms_node *node);
// A value of a lane, and a vector of scalars.
LLVMValueRef tvms_emit_lane(emitter *e, LLVMValueRef vector, uint32_t lane);
LLVMValueRef tvms_emit_splat(emitter *e, LLVMValueRef scalar, uint32_t lanes);

// Computes one of two values; each is only computed where it is wanted.
typedef LLVMValueRef choice(emitter *e, const void *what);
LLVMValueRef tvms_emit_choose(emitter *e, LLVMValueRef condition, choice *yes,
                              const void *yes_what, choice *no, const void *no_what);
// True if computing it early can do no harm: no loads, divisions or calls.
bool tvms_emit_is_safe(const tvms_node *node);

void tvms_emit_stmt(emitter *e, const tvms_node *node);

view *tvms_emit_define_buffer(emitter *e, const tvms_node *buffer, LLVMValueRef data);
view *tvms_emit_use_buffer(emitter *e, const tvms_node *buffer, tvms_span span);
void tvms_emit_allocate_buffer(emitter *e, const tvms_node *buffer);
LLVMValueRef tvms_emit_allocate(emitter *e, tvms_dtype element, tvms_list extents,
                                tvms_span span);
void tvms_emit_free_from(emitter *e, uint32_t mark);  // code only
void tvms_emit_end_memory(emitter *e, uint32_t mark);
// Address of an element. Indices are scalars; checked if the options say so.
LLVMValueRef tvms_emit_address(emitter *e, view *v, const tvms_node *buffer,
                               LLVMValueRef const *indices, uint32_t count,
                               tvms_span span);
LLVMValueRef tvms_emit_buffer_load(emitter *e, const tvms_node *node);
void tvms_emit_buffer_store(emitter *e, const tvms_node *node);

// What is known of an error where it is raised.
typedef struct {
  const char *kind;
  const char *text;
  tvms_span span;
  LLVMValueRef TVMS_NULLABLE got;  // both NULL, or two numbers that differ
  LLVMValueRef TVMS_NULLABLE expected;
} failure;

// Goes on if `condition` holds; else frees what lives, raises and returns -1.
void tvms_emit_check(emitter *e, LLVMValueRef condition, const failure *what);
void tvms_emit_raise(emitter *e, const failure *what);  // code that raises and returns
LLVMValueRef tvms_emit_text(emitter *e, const char *text);  // a private constant

// A new block after the current one, and moving there.
LLVMBasicBlockRef tvms_emit_block(emitter *e, const char *name);
void tvms_emit_enter(emitter *e, LLVMBasicBlockRef block);
bool tvms_emit_is_open(emitter *e);  // the current block has no end yet

// Functions.
void tvms_emit_body(emitter *e, const tvms_member *member);
void tvms_emit_entry(emitter *e, const tvms_member *member);
LLVMValueRef tvms_emit_weak(emitter *e, const char *name, LLVMTypeRef type);

// Variables that the body takes beside its parameters: sizes, strides and offsets of
// buffers, in the order of their first use.
typedef TVMS_VEC(const tvms_node *) size_vars;
void tvms_emit_collect_sizes(emitter *e, const tvms_prim_func *function,
                             size_vars *sizes);
LLVMTypeRef tvms_emit_body_type(emitter *e, const tvms_prim_func *function,
                                const size_vars *sizes);

// Everything of a module. The caller disposes of it.
LLVMModuleRef tvms_emit_module(emitter *e);

#endif
