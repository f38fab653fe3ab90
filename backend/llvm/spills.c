// Vector registers that wait on the stack, on x86.
//
// LLVM aligns the stack for such registers only if it knows of them before it needs them: otherwise they lie across
// lines of the cache, by chance of where the stack begins, and come back ten times as late.
#include "backend/llvm/spills.h"

#include <llvm-c/Core.h>

// Vectors that are alive at one place, by address.
typedef struct {
  LLVMValueRef *values;
  uint32_t count, room;
  uint64_t longest;  // bytes, of all that were
} live_set;

// Bytes of registers of a value that needs more than the stack is aligned to; else 0.
static uint64_t wide_bytes(LLVMValueRef value, LLVMTargetDataRef layout) {
  enum { ALIGNMENT = 16 };
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMIsConstant(value)) return 0;
  uint64_t bytes = LLVMABISizeOfType(layout, type);
  return bytes > ALIGNMENT ? bytes : 0;
}

static uint32_t place_of(const live_set *live, LLVMValueRef value) {
  uint32_t i = 0;
  while (i < live->count && live->values[i] != value)
    i++;
  return i;
}

// The most bytes of vectors that are alive at once in a block, from its end on: what is used there or behind counts.
static uint64_t most_alive(LLVMBasicBlockRef block, LLVMTargetDataRef layout,
                           live_set *live) {
  uint64_t bytes = 0, most = 0;
  live->count = 0;
  for (LLVMValueRef i = LLVMGetLastInstruction(block); i;
       i = LLVMGetPreviousInstruction(i)) {
    uint32_t at = place_of(live, i);
    if (at < live->count) {
      bytes -= wide_bytes(i, layout);
      live->values[at] = live->values[--live->count];
    }
    if (LLVMIsAPHINode(i)) continue;
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
      LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
      uint64_t own = wide_bytes(operand, layout);
      if (!own || live->count == live->room || place_of(live, operand) < live->count)
        continue;
      live->values[live->count++] = operand;
      bytes += own;
      if (own > live->longest) live->longest = own;
    }
    if (bytes > most) most = bytes;
  }
  return most;
}

// Are so many vectors alive at once that LLVM, which moves loads forward, may let some of them wait on the stack? Those of
// 64 bytes have 32 registers, others 16 at least.
static bool may_spill(LLVMValueRef function, LLVMTargetDataRef layout) {
  enum { MOST = 256, REGISTER = 64, FEW = 23, FEW_OF_SHORT = 13 };
  LLVMValueRef values[MOST];
  live_set live = {.values = values, .room = MOST};
  uint64_t most = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    uint64_t alive = most_alive(b, layout, &live);
    if (alive > most) most = alive;
  }
  return most
         > (live.longest >= REGISTER ? FEW * REGISTER : FEW_OF_SHORT * live.longest);
}

void tvms_llvm_align_stack(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  static const char name[] = "stackrealign";
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMAttributeRef mark = LLVMCreateStringAttribute(LLVMGetModuleContext(module), name,
                                                    sizeof name - 1, "", 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (may_spill(f, layout))
      LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
  LLVMDisposeTargetData(layout);
}
