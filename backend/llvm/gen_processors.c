// Build-time program: which processors and features the LLVM of this build knows.
//
//   gen_processors OUT.def
//
// Writes rows PROCESSOR(architecture, name, usable) and FEATURE(architecture, name, on,
// off). LLVM only warns of names that it does not know, ends the process where code for a
// known one is impossible (no 64-bit mode), and its C interface lists neither. So the names
// are taken from what it prints for the processor "help", and each is tried: a child
// process compiles a small function for it, must say nothing, and may die of that.
#define _POSIX_C_SOURCE 200809L
#include "support/intern.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_NAMES = 1000, LONGEST_NAME = 64, LONGEST_HELP = 1 << 18 };

typedef char name[LONGEST_NAME];

typedef struct {
  name items[MOST_NAMES];
  uint32_t count;
} names;

// What a child tries: names of processors, or of features behind a sign.
typedef struct {
  const char *triple;
  const names *list;
  char sign;  // 0: processors
  bool fine[MOST_NAMES];
} trial;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void register_targets(void) {
#define MACHINE(family, architecture, triple)                                          \
  LLVMInitialize##family##TargetInfo();                                                \
  LLVMInitialize##family##Target();                                                    \
  LLVMInitialize##family##TargetMC();                                                  \
  LLVMInitialize##family##AsmPrinter();
#include "backend/llvm/machines.def"
}

static LLVMTargetMachineRef open_machine(const char *triple, const char *processor,
                                         const char *features) {
  LLVMTargetRef target;
  char *why = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) {
    fprintf(stderr, "gen_processors: %s\n", why);
    exit(1);
  }
  return LLVMCreateTargetMachine(target, triple, processor, features,
                                 LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
}

// ---- Names ----

// The lines "  name  - text" between a header that begins with `heading` and a blank line.
static void collect(names *list, const char *help, const char *heading) {
  const char *at = strstr(help, heading);
  at = at ? strstr(at, "\n\n") : NULL;
  if (!at) fail("gen_processors: LLVM's help has another form");
  for (at += 2; at[0] == ' ' && at[1] == ' '; at = strchr(at, '\n') + 1) {
    size_t len = strcspn(at + 2, " \n");
    if (len >= LONGEST_NAME || list->count == MOST_NAMES || !strchr(at, '\n')) {
      fail("gen_processors: more names than room");
    }
    memcpy(list->items[list->count++], at + 2, len);
  }
}

// Names that LLVM takes beside those that it lists.
static void add_aliases(names *list, const char *architecture) {
  static const struct {
    const char *architecture, *processor;
  } aliases[] = {
#define ALIAS(architecture, processor) {architecture, processor},
#include "backend/llvm/machines.def"
  };
  for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
    if (strcmp(aliases[i].architecture, architecture) != 0) continue;
    if (list->count == MOST_NAMES) fail("gen_processors: more names than room");
    strcpy(list->items[list->count++], aliases[i].processor);
  }
}

// What LLVM says on standard error about processors and features.
static char *ask_for_help(const char *triple) {
  int ends[2];
  char *help = calloc(LONGEST_HELP, 1);
  if (!help || pipe(ends) != 0) fail("pipe");
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    open_machine(triple, "help", "");
    _exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  ssize_t got;
  while ((got = read(ends[0], help + len, LONGEST_HELP - 1 - len)) > 0) {
    len += (size_t)got;
  }
  close(ends[0]);
  waitpid(child, NULL, 0);
  return help;
}

// ---- Trials ----

static void note_error(LLVMDiagnosticInfoRef info, void *wrong) {
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) *(bool *)wrong = true;
}

// A function with what kernels do: numbers of each kind in registers, memory, a call.
static void make_function(LLVMModuleRef module, LLVMContextRef llvm) {
  LLVMTypeRef real = LLVMDoubleTypeInContext(llvm),
              single = LLVMFloatTypeInContext(llvm);
  LLVMTypeRef vector = LLVMVectorType(single, 8);
  LLVMTypeRef params[] = {LLVMPointerTypeInContext(llvm, 0), single, real,
                          LLVMInt64TypeInContext(llvm)};
  LLVMTypeRef type = LLVMFunctionType(real, params, 4, false);
  LLVMTypeRef math = LLVMFunctionType(real, &real, 1, false);
  LLVMValueRef function = LLVMAddFunction(module, "f", type);
  LLVMValueRef called = LLVMAddFunction(module, "sin", math);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(llvm);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(llvm, function, ""));
  LLVMValueRef memory = LLVMGetParam(function, 0), n = LLVMGetParam(function, 3);
  LLVMValueRef loaded = LLVMBuildLoad2(b, vector, memory, "");
  LLVMBuildStore(b, LLVMBuildFMul(b, loaded, loaded, ""), memory);
  LLVMValueRef product =
      LLVMBuildFMul(b, LLVMBuildFPExt(b, LLVMGetParam(function, 1), real, ""),
                    LLVMGetParam(function, 2), "");
  LLVMValueRef whole = LLVMBuildSIToFP(b, LLVMBuildSDiv(b, n, n, ""), real, "");
  LLVMValueRef sum = LLVMBuildFAdd(b, product, whole, "");
  LLVMBuildRet(b, LLVMBuildCall2(b, math, called, &sum, 1, ""));
  LLVMDisposeBuilder(b);
}

static bool compiles(const char *triple, const char *processor, const char *features) {
  bool wrong = false;
  char *why = NULL;
  LLVMMemoryBufferRef object = NULL;
  LLVMContextRef llvm = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(llvm, note_error, &wrong);
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("try", llvm);
  LLVMTargetMachineRef machine = open_machine(triple, processor, features);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  make_function(module, llvm);
  wrong |= LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &why,
                                               &object);
  LLVMDisposeMessage(why);
  if (object) LLVMDisposeMemoryBuffer(object);
  LLVMDisposeTargetData(layout);
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeModule(module);
  LLVMContextDispose(llvm);
  return !wrong;
}

// Tries the names from `first` on, and writes a byte for each that was got through. What
// LLVM says on standard error is a warning of a name that it does not know.
static void try_rest(const trial *t, uint32_t first, int out) {
  FILE *said = tmpfile();
  if (!said || dup2(fileno(said), STDERR_FILENO) < 0) _exit(1);
  for (uint32_t i = first; i < t->list->count; i++) {
    const char *item = t->list->items[i];
    char features[LONGEST_NAME + 2];
    snprintf(features, sizeof features, "%c%s", t->sign, item);
    off_t before = lseek(STDERR_FILENO, 0, SEEK_END);
    char fine = t->sign ? compiles(t->triple, "generic", features)
                        : compiles(t->triple, item, "");
    if (lseek(STDERR_FILENO, 0, SEEK_END) != before) fine = false;
    if (write(out, &fine, 1) != 1) _exit(1);
  }
}

// A child that dies has tried one name too many: the next one goes on behind it.
static void try_all(trial *t) {
  for (uint32_t done = 0; done < t->list->count; done++) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      close(ends[0]);
      try_rest(t, done, ends[1]);
      _exit(0);
    }
    close(ends[1]);
    for (char fine; read(ends[0], &fine, 1) == 1; done++) {
      t->fine[done] = fine;
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
  }
}

static void write_machine(FILE *out, const char *architecture, const char *triple) {
  static names processors, features;
  static trial tried, on, off;
  fflush(out);  // lest a child that LLVM ends writes it once more
  memset(&processors, 0, sizeof processors);
  memset(&features, 0, sizeof features);
  char *help = ask_for_help(triple);
  collect(&processors, help, "Available CPUs");
  collect(&features, help, "Available features");
  free(help);
  add_aliases(&processors, architecture);
  tried = (trial){.triple = triple, .list = &processors};
  on = (trial){.triple = triple, .list = &features, .sign = '+'};
  off = (trial){.triple = triple, .list = &features, .sign = '-'};
  try_all(&tried), try_all(&on), try_all(&off);
  for (uint32_t i = 0; i < processors.count; i++) {
    fprintf(out, "PROCESSOR(\"%s\", \"%s\", %d)\n", architecture, processors.items[i],
            tried.fine[i]);
  }
  for (uint32_t i = 0; i < features.count; i++) {
    fprintf(out, "FEATURE(\"%s\", \"%s\", %d, %d)\n", architecture, features.items[i],
            on.fine[i], off.fine[i]);
  }
}

int main(int argc, char **argv) {
  FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
  if (!out) fail("gen_processors");
  register_targets();
#define MACHINE(family, architecture, triple) write_machine(out, architecture, triple);
#include "backend/llvm/machines.def"
  return fclose(out) == 0 ? 0 : 1;
}
