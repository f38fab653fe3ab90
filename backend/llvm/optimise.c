// LLVM's passes over a module that was generated.
//
// Most of them take time that is quadratic in the length of a function at the worst. A long
// one, such as a tensor program that was unrolled into its text, gets a few linear passes
// and the fast code generator only. What is long is decided for each function alone and
// must cost no other one its vectors. Marking it `optnone` would do that, but not spare the
// analyses of loops and memory that LLVM makes even for functions that a pass skips. So the
// long functions wait in a module of their own while the others are optimised:
//
//   module   small: body     big: declaration   as each needs it   \  linked together
//   apart    small: decl.    big: body          the linear passes  /
//
// Long functions that hardly have loops, such as those of thousands of allocations or parameters, go to a module that the
// fast code generator makes as a whole, if there is one: to allocate registers well takes time that is quadratic
// in the number of values that live all along.
//
// So do functions of loops over elements, which get all passes, beside vector code. For the
// kinds of that, whose passes are few, the mark does.
#include "backend/llvm/optimise.h"

#include "backend/llvm/emit.h"
#include "backend/llvm/spills.h"
#include "backend/llvm/straight.h"

#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

enum {
  LONG_FUNCTION = 20000,  // instructions
  LONG_VECTORS = 60000,  // of vector code, whose passes are few: the tiles of a product
  PARAMETER = 32,        // of them are as much work as one, which lives all along
};

// What the code of a function needs. Loops over elements need all of LLVM's passes. What is vector
// code already, because it was scheduled, lacks only its register tiles in registers and its sums
// out of the loops: a few passes do as well, in a fifth of the time. Where such code has loops
// over elements beside it, copies at the edges of tiles for instance, those become vectors, too;
// so do those between parallel loops of vector code.
//
// What keeps no sums moves vectors, and does better with an address that is counted up for each line that it goes along,
// but for short bodies on x86. Loops that keep sums wait for the sums: where an address may be a register and a
// scaled one (x86), that costs the most time of all passes and brings them nothing.
//
// Rows that become an element each (sums, norms) have arithmetic of elements between their loops, which must
// not be done in these.
//
// The tiles of a product, and what only copies, as what packs its panels does, need less: instcombine would take almost
// half of the time of all passes, and the same code comes out. Quotients in their places are another matter, which it
// makes shifts and masks. Nor is anything left in their loops that could be in front of them (backend/llvm/once.h) but
// what they load from the same place in each step; to know what may be written there takes longer than anything else.
enum { SCALAR, LINES, TILES, VECTORS, ROWS, MIXED, KINDS };

// By its name alone instcombine ends the process where one round of it leaves work for another.
#define INSTCOMBINE "instcombine<no-verify-fixpoint>"

#define TILE_PASSES "sroa,early-cse,simplifycfg"
#define FEW_PASSES  TILE_PASSES ",loop-mssa(licm)," INSTCOMBINE
#define LINE_PASSES                                                                    \
  "sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm)," INSTCOMBINE
#define ROW_PASSES  FEW_PASSES ",simplifycfg,loop-mssa(licm)"
#define SOME_PASSES                                                                    \
  "sroa,early-cse,simplifycfg," INSTCOMBINE                                            \
  ",loop-mssa(licm),simplifycfg,loop(indvars),loop-vectorize,loop-load-elim," INSTCOMBINE \
  ",simplifycfg,loop-mssa(licm)"
#define COUNT_ADDRESSES "loop(loop-reduce)"

static const char *const pass_lists[KINDS] = {
    [SCALAR] = "default<O2>,function(" COUNT_ADDRESSES ")",
    [LINES] = "function(" LINE_PASSES "," COUNT_ADDRESSES "),globaldce",
    [TILES] = "function(" FEW_PASSES "," COUNT_ADDRESSES "),globaldce",
    [VECTORS] = "function(" FEW_PASSES "," COUNT_ADDRESSES "),globaldce",
    [ROWS] = "function(" ROW_PASSES "," COUNT_ADDRESSES "),globaldce",
    [MIXED] = "function(" SOME_PASSES "," COUNT_ADDRESSES "),globaldce",
};

// The same for x86.
static const char *const pass_lists_x86[KINDS] = {
    [SCALAR] = "default<O2>,function(" COUNT_ADDRESSES ")",
    [LINES] = "function(" LINE_PASSES "),globaldce",
    // Without a block between two loops, what the second one begins with (28 zeros) is set in each step of the first.
    [TILES] = "function(" TILE_PASSES ",loop-simplify),globaldce",
    [VECTORS] = "function(" FEW_PASSES "),globaldce",
    [ROWS] = "function(" ROW_PASSES "),globaldce",
    [MIXED] = "function(" SOME_PASSES "),globaldce",
};

// Without simplifycfg: it removes the blocks in front of loops, and the code generator puts
// each back in time that is linear in the number of blocks.
static const char linear_pass_list[] = "function(sroa,early-cse),globaldce";

// Says of a function that it was local before one of its callers was set apart.
static const char was_local[] = "tvms-local";

// Says of what kind a function is, as a digit.
static const char kind_name[] = "tvms-kind";

#define EACH_FUNCTION(f, module)                                                       \
  (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))

static bool is_x86(LLVMTargetMachineRef machine) {
  return !strcmp(LLVMGetTargetName(LLVMGetTargetMachineTarget(machine)), "x86-64");
}

// The list of passes for functions of a kind.
static const char *list_of(int kind, LLVMTargetMachineRef machine) {
  return is_x86(machine) ? pass_lists_x86[kind] : pass_lists[kind];
}

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

// The kind of a function with a body; KINDS if it has none or nothing was said.
static int kind_of(LLVMValueRef function) {
  LLVMAttributeRef mark = LLVMGetStringAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind_name,
      sizeof kind_name - 1);
  unsigned len;
  return mark && !LLVMIsDeclaration(function)
             ? LLVMGetStringAttributeValue(mark, &len)[0] - '0'
             : KINDS;
}

static bool is_long(LLVMValueRef function) {
  int kind = kind_of(function);
  bool vectors = kind != KINDS && kind != SCALAR;
  return tvms_llvm_size(function) > (vectors ? LONG_VECTORS : LONG_FUNCTION);
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

// Moves the bodies of some functions to a module of their own, which is the caller's.
static LLVMModuleRef set_apart(LLVMModuleRef module, bool (*belongs)(LLVMValueRef)) {
  LLVMModuleRef apart = LLVMCloneModule(module);
  for
    EACH_FUNCTION(f, module) {
      if (!LLVMIsDeclaration(f)) drop_body(belongs(f) ? f : twin_of(f, apart));
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
    bool outside = LLVMGetLinkage(v) == LLVMExternalLinkage
                   || LLVMGetLinkage(v) == LLVMWeakAnyLinkage;
    if (outside && LLVMGetInitializer(v))
      LLVMSetLinkage(v, LLVMAvailableExternallyLinkage);
  }
  return apart;
}

// ---- Functions that passes leave alone ----

// LLVM wants both attributes together.
static void set_aside(LLVMValueRef function, bool aside) {
  static const char *const names[] = {"noinline", "optnone"};
  LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
  LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  for (size_t i = 0; i < 2; i++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
    if (aside)
      LLVMAddAttributeAtIndex(function, at, LLVMCreateEnumAttribute(llvm, kind, 0));
    else
      LLVMRemoveEnumAttributeAtIndex(function, at, kind);
  }
}

void tvms_llvm_make_fast(LLVMValueRef function) {
  set_aside(function, true);
}

// Code generation takes its fast way for functions that are set aside, too.
static void mark_long(LLVMModuleRef apart) {
  for
    EACH_FUNCTION(f, apart) {
      if (!LLVMIsDeclaration(f)) set_aside(f, true);
    }
}

static bool is_division(LLVMValueRef instruction) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  return opcode == LLVMSDiv || opcode == LLVMSRem || opcode == LLVMUDiv
         || opcode == LLVMURem;
}

// What code that only copies is not made of: it needs places, and loops.
static bool is_arithmetic(LLVMValueRef instruction) {
  switch ((int)LLVMGetInstructionOpcode(instruction)) {
  case LLVMLoad:
  case LLVMStore:
  case LLVMGetElementPtr:
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMSExt:
  case LLVMTrunc:
  case LLVMICmp:
  case LLVMSelect:
  case LLVMPHI:
  case LLVMBr:
  case LLVMRet: return false;
  default: return true;
  }
}

static bool has(LLVMValueRef function, bool (*is_one)(LLVMValueRef instruction)) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      if (is_one(i)) return true;
    }
  }
  return false;
}

static bool is_variable_address(LLVMValueRef value) {
  return LLVMIsAGetElementPtrInst(value)
         && !LLVMIsConstant(
             LLVMGetOperand(value, (unsigned)LLVMGetNumOperands(value) - 1));
}

// Is it a place in the frame that depends on variables? What lies there does not get into registers before its loops do
// (LICM): sums of a schedule that has more of them than are written out, for instance.
static bool is_variable_in_frame(LLVMValueRef instruction) {
  if (!is_variable_address(instruction)) return false;
  LLVMValueRef base = LLVMGetOperand(instruction, 0);
  while (LLVMIsAGetElementPtrInst(base))
    base = LLVMGetOperand(base, 0);
  return LLVMIsAAllocaInst(base);
}

// Would the passes of tiles leave something of it?
static bool is_beyond_tiles(LLVMValueRef instruction) {
  return is_division(instruction) || is_variable_in_frame(instruction);
}

// Does it make an address that is more than a part of others? Numbers are added to one for nothing.
static bool makes_address(LLVMValueRef instruction) {
  if (!is_variable_address(instruction)) return false;
  for (LLVMUseRef use = LLVMGetFirstUse(instruction); use; use = LLVMGetNextUse(use)) {
    if (!is_variable_address(LLVMGetUser(use))) return true;
  }
  return false;
}

// Does a block more than load, compute a little and store, or with many addresses that depend on variables?
static bool has_large_block(LLVMValueRef function) {
  enum { FEW_ADDRESSES = 4, FEW_INSTRUCTIONS = 40 };
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    uint32_t count = 0, addresses = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      count++;
      addresses += makes_address(i);
    }
    if (count > FEW_INSTRUCTIONS || addresses > FEW_ADDRESSES) return true;
  }
  return false;
}

// Has vector code nothing that LLVM would have to find?
static bool is_plain(LLVMValueRef function, uint16_t stores) {
  if (stores & STAYS_IN_LOOPS) return false;
  if (stores & STORES_SUMS) return !has(function, is_beyond_tiles);
  return !has(function, is_arithmetic) && !has_large_block(function);
}

void tvms_llvm_mark_code(LLVMValueRef function, uint16_t stores) {
  bool own = stores & (STORES_VECTORS | STORES_ELEMENTS);
  if (!own && stores & STARTS_THREADS) tvms_llvm_make_fast(function);
  if (!own) return;
  int kind = !(stores & (STORES_VECTORS | THREADS_STORE_VECTORS)) ? SCALAR
             : stores & STORES_ELEMENTS_IN_LOOPS                  ? MIXED
             : stores & STORES_ELEMENTS_AROUND_LOOPS              ? ROWS
             : is_plain(function, stores)                         ? TILES
             : stores & STORES_SUMS                               ? VECTORS
                                                                  : LINES;
  char digit = (char)('0' + kind);
  LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(llvm, kind_name, sizeof kind_name - 1, &digit, 1));
}

bool tvms_llvm_gains_from_order(LLVMModuleRef module) {
  for
    EACH_FUNCTION(f, module) {
      int kind = kind_of(f);
      if (kind != KINDS && kind != VECTORS && kind != TILES) return true;
    }
  return false;
}

static bool is_scalar(LLVMValueRef function) {
  return kind_of(function) == SCALAR;
}

// Puts back what was set apart, and frees the module.
static LLVMErrorRef join(LLVMModuleRef module, LLVMModuleRef apart) {
  if (LLVMLinkModules2(module, apart))
    return LLVMCreateStringError(
        "functions that were set apart cannot be joined again");
  return NULL;
}

// ---- Long functions that hardly have loops ----

static const char straight_name[] = "tvms-straight";

static bool is_straight(LLVMValueRef function) {
  return LLVMGetStringAttributeAtIndex(function,
                                       (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       straight_name, sizeof straight_name - 1);
}

// Marks them; false: there are none.
static bool mark_straight(LLVMModuleRef module, tvms_arena *scratch) {
  enum { SMALL_PART = 8 };
  LLVMContextRef llvm = LLVMGetModuleContext(module);
  LLVMAttributeRef mark =
      LLVMCreateStringAttribute(llvm, straight_name, sizeof straight_name - 1, "", 0);
  bool any = false;
  for
    EACH_FUNCTION(f, module) {
      uint32_t size = tvms_llvm_size(f);
      if (LLVMIsDeclaration(f)
          || size + (uint64_t)LLVMCountParams(f) * PARAMETER <= LONG_FUNCTION)
        continue;
      tvms_mark before = tvms_arena_mark(scratch);
      bool straight = tvms_llvm_size_in_loops(f, scratch) <= size / SMALL_PART;
      tvms_arena_reset(scratch, before);
      if (straight)
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                mark);
      any |= straight;
    }
  return any;
}

// What is moved is hidden from now on, and so is what was local and is used by that.
static void hide_shared(LLVMModuleRef module, LLVMModuleRef apart) {
  LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  for
    EACH_FUNCTION(f, apart) {
      LLVMValueRef twin = twin_of(f, module);
      LLVMValueRef definition = LLVMIsDeclaration(f) ? twin : f;
      if (!definition || LLVMIsDeclaration(definition)) continue;
      bool local = LLVMGetStringAttributeAtIndex(definition, at, was_local,
                                                 sizeof was_local - 1);
      if (definition == twin && !local) continue;
      LLVMRemoveStringAttributeAtIndex(definition, at, was_local, sizeof was_local - 1);
      LLVMSetVisibility(f, LLVMHiddenVisibility);
      if (twin) LLVMSetVisibility(twin, LLVMHiddenVisibility);
    }
}

static LLVMErrorRef move_straight(LLVMModuleRef module, LLVMModuleRef fast,
                                  LLVMTargetMachineRef machine) {
  LLVMModuleRef apart = set_apart(module, is_straight);
  hide_shared(module, apart);
  LLVMErrorRef error = run_passes(apart, machine, linear_pass_list);
  if (!error) return join(fast, apart);
  LLVMDisposeModule(apart);
  return error;
}

static uint32_t count_kinds(const uint32_t *counts, int first) {
  uint32_t kinds = 0;
  for (int kind = first; kind < KINDS; kind++)
    kinds += counts[kind] != 0;
  return kinds;
}

// ---- Addresses that are counted up ----

// For lines on x86, whose list leaves it out.
static LLVMErrorRef count_addresses(LLVMModuleRef module,
                                    LLVMTargetMachineRef machine) {
  uint32_t wanted = 0;
  for
    EACH_FUNCTION(f, module) {
      wanted += kind_of(f) == LINES && has_large_block(f);
    }
  if (!wanted) return NULL;
  for
    EACH_FUNCTION(f, module) {
      bool wants = kind_of(f) == LINES && has_large_block(f);
      if (kind_of(f) != KINDS) set_aside(f, !wants);
    }
  LLVMErrorRef error = run_passes(module, machine, "function(" COUNT_ADDRESSES ")");
  for
    EACH_FUNCTION(f, module) {
      if (kind_of(f) != KINDS) set_aside(f, false);
    }
  return error;
}

// ---- By kind ----

// All kinds of vector code.
static LLVMErrorRef run_vectors(LLVMModuleRef module, LLVMTargetMachineRef machine,
                                const uint32_t *counts) {
  bool several = count_kinds(counts, LINES) > 1;
  LLVMErrorRef error = NULL;
  for (int kind = LINES; kind < KINDS && !error; kind++) {
    if (!counts[kind]) continue;
    for
      EACH_FUNCTION(f, module) {
        if (several && kind_of(f) != KINDS) set_aside(f, kind_of(f) != kind);
      }
    error = run_passes(module, machine, list_of(kind, machine));
  }
  for
    EACH_FUNCTION(f, module) {
      if (several && kind_of(f) != KINDS) set_aside(f, false);
    }
  if (!error && counts[LINES] && is_x86(machine))
    error = count_addresses(module, machine);
  return error;
}

static LLVMErrorRef run_kinds(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  uint32_t counts[KINDS + 1] = {0};
  for
    EACH_FUNCTION(f, module) {
      counts[kind_of(f)]++;
    }
  if (!count_kinds(counts, LINES))
    return run_passes(module, machine, list_of(SCALAR, machine));
  if (!counts[SCALAR]) return run_vectors(module, machine, counts);
  LLVMModuleRef apart = set_apart(module, is_scalar);
  LLVMErrorRef error = run_passes(apart, machine, list_of(SCALAR, machine));
  if (!error) error = run_vectors(module, machine, counts);
  if (!error) return join(module, apart);
  LLVMDisposeModule(apart);
  return error;
}

// The same with the long functions set apart.
static LLVMErrorRef run_around_long(LLVMModuleRef module,
                                    LLVMTargetMachineRef machine) {
  LLVMModuleRef apart = set_apart(module, is_long);
  LLVMErrorRef error = run_passes(apart, machine, linear_pass_list);
  if (!error) error = run_kinds(module, machine);
  if (error) {
    LLVMDisposeModule(apart);
    return error;
  }
  mark_long(apart);
  return join(module, apart);
}

// What one join brings back may be used by functions that still wait for the next, so functions
// become local again behind the last.
LLVMErrorRef tvms_llvm_optimise(LLVMModuleRef module, LLVMModuleRef TVMS_NULLABLE fast,
                                tvms_arena *scratch, LLVMTargetMachineRef machine) {
  LLVMErrorRef error = NULL;
  if (fast && mark_straight(module, scratch))
    error = move_straight(module, fast, machine);
  if (!error)
    error = has_long_function(module) ? run_around_long(module, machine)
                                      : run_kinds(module, machine);
  if (!error) make_local_again(module);
  if (!error && is_x86(machine)) tvms_llvm_align_stack(module, machine);
  return error;
}
