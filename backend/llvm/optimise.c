// LLVM's passes over a module that was generated.
//
// Most of them take time that is quadratic in the length of a function at the worst. A long
// one, such as a tensor program that was unrolled into its text, gets a few linear passes
// and the fast code generator only. What is long is decided for each function alone and
// must cost no other one its vectors. Marking it `optnone` would do that, but not spare the
// analyses of loops and memory that LLVM makes even for functions that a pass skips. So the
// long functions wait in a module of their own while the others are optimised:
//
//   module   small: body     big: declaration   default<O2>        \  linked together
//   apart    small: decl.    big: body          the linear passes  /
#include "backend/llvm/optimise.h"

#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

enum { LONG_FUNCTION = 20000 };  // instructions

static const char pass_list[] = "default<O2>";
// Register tiles into registers, sums out of loops: what vector code that was scheduled before
// still lacks.
static const char vector_pass_list[] =
    "function(sroa,early-cse,simplifycfg,loop-mssa(licm),instcombine),globaldce";
// Without simplifycfg: it removes the blocks in front of loops, and the code generator puts
// each back in time that is linear in the number of blocks.
static const char linear_pass_list[] = "function(sroa,early-cse),globaldce";

// Says of a function that it was local before one of its callers was set apart.
static const char was_local[] = "tvms-local";

#define EACH_FUNCTION(f, module)                                                       \
  (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))

static LLVMErrorRef run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine,
                               const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(options, true);
  LLVMPassBuilderOptionsSetSLPVectorization(options, true);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, true);
  LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
  LLVMDisposePassBuilderOptions(options);
  return error;
}

static bool is_long(LLVMValueRef function) {
  uint32_t count = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      if (++count > LONG_FUNCTION) return true;
    }
  }
  return false;
}

static bool has_long_function(LLVMModuleRef module) {
  for
    EACH_FUNCTION(f, module) {
      if (is_long(f)) return true;
    }
  return false;
}

// ---- Splitting and joining ----

// Turns a definition into a declaration. Values may be used in blocks that come earlier, so
// all uses go before what they use.
static void drop_body(LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i; (i = LLVMGetLastInstruction(b));) {
      LLVMTypeRef type = LLVMTypeOf(i);
      if (LLVMGetTypeKind(type) != LLVMVoidTypeKind)
        LLVMReplaceAllUsesWith(i, LLVMGetPoison(type));
      LLVMInstructionEraseFromParent(i);
    }
  }
  for (LLVMBasicBlockRef b; (b = LLVMGetFirstBasicBlock(function));) {
    LLVMDeleteBasicBlock(b);
  }
}

// Makes the definition of a function visible to the module that declares it, if that uses
// it; otherwise removes the declaration, and whoever has the body may inline it for good.
static void connect(LLVMValueRef definition, LLVMValueRef declaration) {
  if (!LLVMGetFirstUse(declaration)) {
    LLVMDeleteFunction(declaration);
    return;
  }
  LLVMLinkage linkage = LLVMGetLinkage(definition);
  if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage) return;
  LLVMSetLinkage(declaration, LLVMExternalLinkage);
  LLVMSetLinkage(definition, LLVMExternalLinkage);
  LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(definition));
  LLVMAttributeRef mark =
      LLVMCreateStringAttribute(llvm, was_local, sizeof was_local - 1, "", 0);
  LLVMAddAttributeAtIndex(definition, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          mark);
}

static void make_local_again(LLVMModuleRef module) {
  LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  for
    EACH_FUNCTION(f, module) {
      if (!LLVMGetStringAttributeAtIndex(f, at, was_local, sizeof was_local - 1))
        continue;
      LLVMRemoveStringAttributeAtIndex(f, at, was_local, sizeof was_local - 1);
      LLVMSetLinkage(f, LLVMInternalLinkage);
    }
}

static LLVMValueRef twin_of(LLVMValueRef function, LLVMModuleRef apart) {
  size_t len;
  return LLVMGetNamedFunction(apart, LLVMGetValueName2(function, &len));
}

// Moves the bodies of long functions to a module of their own, which is the caller's.
static LLVMModuleRef set_long_apart(LLVMModuleRef module) {
  LLVMModuleRef apart = LLVMCloneModule(module);
  for
    EACH_FUNCTION(f, module) {
      if (!LLVMIsDeclaration(f)) drop_body(is_long(f) ? f : twin_of(f, apart));
    }
  for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
    next = LLVMGetNextFunction(f);
    LLVMValueRef twin = twin_of(f, apart);
    if (!LLVMIsDeclaration(f))
      connect(f, twin);
    else if (!LLVMIsDeclaration(twin))
      connect(twin, f);
  }
  // Variables that are seen from outside are defined once.
  for (LLVMValueRef v = LLVMGetFirstGlobal(apart); v; v = LLVMGetNextGlobal(v)) {
    if (LLVMGetLinkage(v) == LLVMExternalLinkage && LLVMGetInitializer(v))
      LLVMSetLinkage(v, LLVMAvailableExternallyLinkage);
  }
  return apart;
}

// Code generation takes its fast way for a function that is marked so; LLVM wants both
// attributes together.
static void mark_long(LLVMModuleRef apart) {
  static const char *const names[] = {"noinline", "optnone"};
  LLVMContextRef llvm = LLVMGetModuleContext(apart);
  for
    EACH_FUNCTION(f, apart) {
      for (size_t i = 0; !LLVMIsDeclaration(f) && i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(llvm, kind, 0));
      }
    }
}

LLVMErrorRef tvms_llvm_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine,
                                bool vectors) {
  const char *passes = vectors ? vector_pass_list : pass_list;
  if (!has_long_function(module)) return run_passes(module, machine, passes);
  LLVMModuleRef apart = set_long_apart(module);
  LLVMErrorRef error = run_passes(apart, machine, linear_pass_list);
  if (!error) error = run_passes(module, machine, passes);
  if (error) {
    LLVMDisposeModule(apart);
    return error;
  }
  mark_long(apart);
  if (LLVMLinkModules2(module, apart))
    return LLVMCreateStringError(
        "functions that were set apart cannot be joined again");
  make_local_again(module);
  return NULL;
}
