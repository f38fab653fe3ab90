// Functions that a module has once, beside those of the program: beginning and ending them, and
// what they are made of.
#ifndef TVMS_BACKEND_LLVM_HELPER_H
#define TVMS_BACKEND_LLVM_HELPER_H

#include "backend/core/layout.h"
#include "backend/llvm/frame.h"

enum { TVMS_MEMORY_ALIGN = 64 };  // of all memory that is taken

typedef struct {
  LLVMValueRef function;
  emit_position here;  // where the caller was
  LLVMModuleRef module;
} tvms_helper;

// Begins a private function, around the kernels, and puts the builder there; false if it is there already.
bool tvms_helper_begin(emitter *e, tvms_helper *h, const char *name, LLVMTypeRef type);

// Puts the builder back to where it was before the function was begun, which can be called from there.
void tvms_helper_end(emitter *e, tvms_helper *h);

// A function that stands among the entries as machine code (`direct` of the emitter).
LLVMValueRef tvms_helper_direct(emitter *e, const char *name, LLVMTypeRef type);

// Is such a function used?
bool tvms_helper_is_used(const emitter *e, const char *name);

// A new block of the function.
LLVMBasicBlockRef tvms_helper_block(emitter *e, const tvms_helper *h, const char *name);

// Goes on at the end of a block.
void tvms_helper_enter(emitter *e, LLVMBasicBlockRef to);

// The address of a field of the structure at `base`.
LLVMValueRef tvms_helper_field(emitter *e, LLVMValueRef base, tvms_layout_field field);

// A pointer as the word of 64 bits that a tvms_any has.
LLVMValueRef tvms_helper_word(emitter *e, LLVMValueRef pointer);

// The address `offset` bytes behind `base`.
LLVMValueRef tvms_helper_place(emitter *e, LLVMValueRef base, LLVMValueRef offset);

// The same for a number.
LLVMValueRef tvms_helper_at(emitter *e, LLVMValueRef base, int64_t offset);

// Code that calls aligned_alloc for at least `bytes`; it gives null if there is no memory.
LLVMValueRef tvms_helper_alloc(emitter *e, LLVMValueRef bytes);

// Code that calls free.
void tvms_helper_free(emitter *e, LLVMValueRef block);

#endif
