// Checking --target, and opening LLVM's machine for it.
//
// LLVM itself goes on with a warning on standard error where it does not know a processor
// or a feature, and ends the process where one has no 64-bit mode. So names are compared
// with what the LLVM of this build was found to know (gen_processors.c) before it sees
// them. What no single name decides, such as features that contradict each other, is
// reported when code is generated.
#include "backend/llvm/target.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *architecture;
  const char *name;
  bool fine;      // of a processor: there is code for it; of a feature: it can be on
  bool fine_off;  // a feature can be off
} known_name;

static const known_name processors[] = {
#define PROCESSOR(architecture, name, usable) {architecture, name, usable, false},
#define FEATURE(architecture, name, on, off)
#include "backend/processors.def"
#undef PROCESSOR
#undef FEATURE
};

static const known_name features[] = {
#define PROCESSOR(architecture, name, usable)
#define FEATURE(architecture, name, on, off) {architecture, name, on, off},
#include "backend/processors.def"
#undef PROCESSOR
#undef FEATURE
};

static const char *const architectures[] = {
#define MACHINE(family, architecture, triple) architecture,
#include "backend/llvm/machines.def"
};

enum {
  PROCESSOR_COUNT = sizeof processors / sizeof processors[0],
  FEATURE_COUNT = sizeof features / sizeof features[0],
  ARCHITECTURE_COUNT = sizeof architectures / sizeof architectures[0],
  MOST_NAMES = PROCESSOR_COUNT + FEATURE_COUNT,
  MOST_SHOWN = 5,
};

// The code generator would reduce the strength of every loop, which takes a sixth of all the time, and
// brings nothing to loops that lack nothing: whether a loop gets it is said by the lists of passes
// (backend/llvm/optimise.c). Nor does it look for integers that could be masks of AVX-512: a fiftieth of its time, and our
// masks are vectors of bits already. A whole process has one such switch, and no other way to it.
static void leave_loops_to_passes(void) {
  static const char *const words[] = {"tvms", "-disable-lsr",
                                      "-disable-x86-domain-reassignment"};
  LLVMParseCommandLineOptions(sizeof words / sizeof words[0], words, NULL);
}

static void add_targets(void) {
  leave_loops_to_passes();
#define MACHINE(family, architecture, triple)                                          \
  LLVMInitialize##family##TargetInfo();                                                \
  LLVMInitialize##family##Target();                                                    \
  LLVMInitialize##family##TargetMC();                                                  \
  LLVMInitialize##family##AsmPrinter();
#include "backend/llvm/machines.def"
}

// LLVM's list of targets is one for the process, and contexts may be used by several
// threads.
static void register_targets(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, add_targets);
}

// ---- Near names ----

static size_t common_prefix(const char *a, const char *b) {
  size_t len = 0;
  while (a[len] && a[len] == b[len]) {
    len++;
  }
  return len;
}

// The nearest name, or else the first few of those that begin most like it.
static void add_near(tvms_strbuf *why, const char *word, const char *const *names,
                     uint32_t count) {
  const char *near = tvms_diag_nearest_name(word, names, count);
  if (near) {
    tvms_strbuf_printf(why, "; did you mean '%s'?", near);
    return;
  }
  size_t longest = 0;
  for (uint32_t i = 0; i < count; i++) {
    size_t len = common_prefix(word, names[i]);
    if (len > longest) longest = len;
  }
  uint32_t shown = 0;
  for (uint32_t i = 0; i < count && shown < MOST_SHOWN; i++) {
    if (common_prefix(word, names[i]) < longest) continue;
    tvms_strbuf_printf(why, shown++ ? ", '%s'" : "; there is '%s'", names[i]);
  }
}

// Near names among those rows of an architecture that can be used.
static void add_near_known(tvms_strbuf *why, const char *architecture, const char *word,
                           const known_name *rows, uint32_t count) {
  const char *names[MOST_NAMES];
  uint32_t usable = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (rows[i].fine && strcmp(rows[i].architecture, architecture) == 0)
      names[usable++] = rows[i].name;
  }
  add_near(why, word, names, usable);
}

static const known_name *TVMS_NULLABLE find(const char *architecture, const char *word,
                                            const known_name *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(rows[i].name, word) == 0
        && strcmp(rows[i].architecture, architecture) == 0)
      return &rows[i];
  }
  return NULL;
}

// ---- The three parts ----

// What the default level does beyond the one below it is mostly to order instructions once more when they have
// registers. The processors of x86-64 do that themselves.
static LLVMCodeGenOptLevel level_of(const char *triple, bool orders) {
  return strncmp(triple, "x86_64", 6) == 0 && !orders ? LLVMCodeGenLevelLess
                                                      : LLVMCodeGenLevelDefault;
}

// LLVM finds the system and its ABI in triples of four parts only.
static LLVMTargetMachineRef open_machine(const char *triple, const char *cpu,
                                         const char *with, bool orders, char **why) {
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple(triple, &target, why)) return NULL;
  char *whole = LLVMNormalizeTargetTriple(triple);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, whole, cpu, with, level_of(triple, orders),
                              LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMDisposeMessage(whole);
  return machine;
}

// Structures are laid out as backend/core/layout.def says.
static bool is_supported(const char *target, const char *triple) {
  char *why = NULL;
  LLVMTargetMachineRef machine = open_machine(triple, "", "", true, &why);
  if (!machine) LLVMDisposeMessage(why);
  if (!machine) return false;
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMContextRef llvm = LLVMContextCreate();
  unsigned pointer = LLVMPointerSize(layout),
           align = LLVMABIAlignmentOfType(layout, LLVMInt64TypeInContext(llvm));
  LLVMContextDispose(llvm);
  bool x86 = strncmp(target, "x86", 3) == 0;
  bool supported = LLVMByteOrder(layout) == LLVMLittleEndian
                   && (pointer == 8 || (pointer == 4 && !x86 && align == 8));
  LLVMDisposeTargetData(layout);
  LLVMDisposeTargetMachine(machine);
  return supported;
}

// The architecture whose rows hold for a triple, or NULL: `why` says why there is none.
static const char *TVMS_NULLABLE check_triple(const char *triple, tvms_strbuf *why) {
  LLVMTargetRef target;
  char *reason = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &reason)) {
    LLVMDisposeMessage(reason);
    char word[64];
    size_t len = strcspn(triple, "-");
    if (len >= sizeof word) len = sizeof word - 1;
    memcpy(word, triple, len);
    word[len] = '\0';
    tvms_strbuf_printf(why, "unknown machine '%s'", triple);
    add_near(why, word, architectures, ARCHITECTURE_COUNT);
    return NULL;
  }
  const char *name = LLVMGetTargetName(target);
  if (!is_supported(name, triple)) {
    tvms_strbuf_printf(why, "'%s' is not a machine that native code can be made for",
                       triple);
    return NULL;
  }
  for (size_t i = 0; i < ARCHITECTURE_COUNT; i++) {
    if (strcmp(architectures[i], name) == 0) return architectures[i];
  }
  return strcmp(name, "x86-64") == 0 ? "x86_64" : "aarch64";
}

static bool check_processor(const char *architecture, const char *word,
                            tvms_strbuf *why) {
  const known_name *row = find(architecture, word, processors, PROCESSOR_COUNT);
  if (row && row->fine) return true;
  if (row) {
    tvms_strbuf_printf(why, "processor '%s' has no 64-bit mode", word);
    return false;
  }
  tvms_strbuf_printf(why, "unknown processor '%s' of %s", word, architecture);
  add_near_known(why, architecture, word, processors, PROCESSOR_COUNT);
  return false;
}

// One of "+avx2,-sse4a".
static bool check_feature(const char *architecture, const char *word,
                          tvms_strbuf *why) {
  if (*word != '+' && *word != '-') {
    tvms_strbuf_printf(why, "feature '%s' must begin with '+' or '-'", word);
    return false;
  }
  const known_name *row = find(architecture, word + 1, features, FEATURE_COUNT);
  if (row && (*word == '+' ? row->fine : row->fine_off)) return true;
  if (row) {
    tvms_strbuf_printf(why, "feature '%s' cannot be turned %s", row->name,
                       *word == '+' ? "on" : "off");
    return false;
  }
  tvms_strbuf_printf(why, "unknown feature '%s' of %s", word + 1, architecture);
  add_near_known(why, architecture, word + 1, features, FEATURE_COUNT);
  return false;
}

static bool check_features(const char *architecture, const char *list,
                           tvms_strbuf *why) {
  for (const char *at = list; *at; at += *at == ',') {
    char word[128];
    size_t len = strcspn(at, ",");
    if (len >= sizeof word) len = sizeof word - 1;
    memcpy(word, at, len);
    word[len] = '\0';
    if (len && !check_feature(architecture, word, why)) return false;
    at += strcspn(at, ",");
  }
  return true;
}

// The triple of a machine that has the name of a kind of TVM.
static void add_machine(tvms_strbuf *why, const char *kind) {
#define MACHINE(family, architecture, triple)                                          \
  if (strcmp(kind, architecture) == 0)                                                 \
    tvms_strbuf_printf(why, "; did you mean '%s'?", triple);
#include "backend/llvm/machines.def"
}

static bool is_host(const tvms_native_options *options) {
  return !options->target || options->target->host;
}

bool tvms_llvm_check_target(const tvms_native_options *options, tvms_strbuf *why) {
  if (is_host(options)) return true;
  const tvms_target *target = options->target;
  if (!target->triple) {
    tvms_strbuf_printf(why, "native code cannot be made for '%s'", target->kind);
    add_machine(why, target->kind);
    return false;
  }
  register_targets();
  const char *architecture = check_triple(target->triple, why);
  if (!architecture) return false;
  return (!target->cpu || check_processor(architecture, target->cpu, why))
         && (!target->features || check_features(architecture, target->features, why));
}

// Machines of the host that no compilation uses, the second of those that order. They are the same for all, and
// making one and its tables takes half a millisecond, a fifth of all that a small kernel takes.
static _Atomic(LLVMTargetMachineRef) idle_hosts[2];

// LLVM knows more processors by name than ir/cpus.def, and all features of each.
static LLVMTargetMachineRef open_host(bool orders, char **why) {
  LLVMTargetMachineRef idle = atomic_exchange(&idle_hosts[orders], NULL);
  if (idle) return idle;
  char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(),
       *with = LLVMGetHostCPUFeatures();
  LLVMTargetMachineRef machine = open_machine(triple, cpu, with, orders, why);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(with);
  return machine;
}

// What systems for a machine are made for, where LLVM's generic processor has less. That of RISC-V has
// integers only, while everything that is called expects floats in registers (the ABIs lp64d and
// ilp32d): systems are for rv64gc and rv32gc. Triples of ARM that end in "hf" pass floats in registers,
// too; processors for them have at least VFPv3, small ones (M) floats of 32 bits.
static const struct {
  const char *begin, *end, *cpu, *features;
} usual[] = {
    {"riscv64", "", "generic-rv64", "+m,+a,+f,+d,+c,"},
    {"riscv32", "", "generic-rv32", "+m,+a,+f,+d,+c,"},
    {"thumbv7em", "hf", "cortex-m4", ""},
    {"thumbv8m", "hf", "cortex-m33", ""},
    {"arm", "hf", "generic", "+vfp3d16,"},
    {"thumb", "hf", "generic", "+vfp3d16,"},
};

static bool ends_with(const char *text, const char *end) {
  size_t len = strlen(text), end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static LLVMTargetMachineRef open_usual(const tvms_target *target, bool orders,
                                       char **why) {
  const char *more = target->features ? target->features : "";
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
    if (strncmp(target->triple, usual[i].begin, strlen(usual[i].begin)) != 0
        || !ends_with(target->triple, usual[i].end))
      continue;
    char with[1024];
    snprintf(with, sizeof with, "%s%s", usual[i].features, more);
    return open_machine(target->triple, usual[i].cpu, with, orders, why);
  }
  return open_machine(target->triple, "generic", more, orders, why);
}

LLVMTargetMachineRef tvms_llvm_open_machine(const tvms_native_options *options,
                                            bool orders, char **why) {
  register_targets();
  if (is_host(options)) return open_host(orders, why);
  const tvms_target *target = options->target;
  if (!target->cpu) return open_usual(target, orders, why);
  return open_machine(target->triple, target->cpu,
                      target->features ? target->features : "", orders, why);
}

void tvms_llvm_close_machine(const tvms_native_options *options, bool orders,
                             LLVMTargetMachineRef machine) {
  if (is_host(options)) machine = atomic_exchange(&idle_hosts[orders], machine);
  if (machine) LLVMDisposeTargetMachine(machine);
}

// Only there are object files joined.
LLVMTargetMachineRef tvms_llvm_open_quick_machine(const char *triple) {
  LLVMTargetRef target;
  bool joins = !strncmp(triple, "x86_64", 6) && strstr(triple, "linux");
  if (!joins || LLVMGetTargetFromTriple(triple, &target, NULL)) return NULL;
  return LLVMCreateTargetMachine(target, triple, "x86-64", "", LLVMCodeGenLevelNone,
                                 LLVMRelocPIC, LLVMCodeModelDefault);
}

// aarch64 always has them, and the compiler's library for x86-64 has functions.
bool tvms_llvm_lacks_half(const char *triple, LLVMTargetMachineRef machine) {
  bool has = !strncmp(triple, "x86_64", 6) || !strncmp(triple, "aarch64", 7)
             || !strncmp(triple, "arm64", 5);
  if (has) return false;
  char *with = LLVMGetTargetMachineFeatureString(machine);
  bool lacks = !strstr(with, "+zfh");
  LLVMDisposeMessage(with);
  return lacks;
}
