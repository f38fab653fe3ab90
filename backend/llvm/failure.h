// Errors of the compiled program: one block per check that raises, frees and returns.
#ifndef TVMS_BACKEND_LLVM_FAILURE_H
#define TVMS_BACKEND_LLVM_FAILURE_H

#include "backend/llvm/emit.h"

// The function of a module that raises; private once the entries are emitted.
#define TVMS_EMIT_RAISE_NAME "tvms.raise"

// A failure that only the running program knows.
typedef struct {
  LLVMValueRef kind, text;  // pointers to constants
  // NULL: the text is whole. Else what stands in the place of its TVMS_SIGNATURE_MARK; then it has at most so many
  // bytes (i64).
  LLVMValueRef TVMS_NULLABLE signature;
  LLVMValueRef TVMS_NULLABLE bytes;
  LLVMValueRef begin, end;         // i32: its span
  LLVMValueRef TVMS_NULLABLE got;  // both NULL, or two numbers that differ
  LLVMValueRef TVMS_NULLABLE expected;
} found_failure;

// Goes on if `condition` holds; else raises, frees what is live and returns -1.
void tvms_emit_check(emitter *e, LLVMValueRef condition, const failure *what);

// Raises, frees what is live and returns -1: the block is at its end.
void tvms_emit_raise(emitter *e, const failure *what);

// Raises what was found, frees what is live and returns -1.
void tvms_emit_raise_found(emitter *e, const found_failure *what);

// Raises anew what was raised into the words at `from`: frees what is live and returns -1.
void tvms_emit_raise_again(emitter *e, LLVMValueRef from);

// Words of 64 bits that an error is raised into where `self` is not null: of a tvms_raised if
// code is traced, else kind and text.
uint32_t tvms_emit_raised_words(const emitter *e);

// Copies so many words.
void tvms_emit_copy_raised(emitter *e, LLVMValueRef to, LLVMValueRef from);

// Calls the function that raises; where `self` is not null it keeps kind and text there, and nothing else.
void tvms_emit_call_raise(emitter *e, LLVMValueRef self, LLVMValueRef kind,
                          LLVMValueRef text);

// Makes that function, for helpers that call it: none is made while another one is.
void tvms_emit_need_raise(emitter *e);

// The address of a private constant with this text.
LLVMValueRef tvms_emit_text(emitter *e, const char *text);

// The address of constant data, in the module in progress.
LLVMValueRef tvms_emit_data(emitter *e, LLVMValueRef content, const char *name);

// A function of the C library, of tvm-ffi or of tvms, declared once and weak: a library that is
// made has no undefined strong symbol. With functions for C those of the C library are strong:
// a program that is linked needs no more than it names.
LLVMValueRef tvms_emit_weak(emitter *e, const char *name, LLVMTypeRef type);

#endif
