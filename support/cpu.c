// Asking the processor and the system.
//
// A feature counts only if the system saves the registers that it uses (XCR0): a kernel, or a
// virtual machine, may know less than the processor. The names are those of compilers, so that
// what is found can be handed to one.
#define _GNU_SOURCE  // sched_getaffinity
#include "support/cpu.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// ---- What architectures share ----

static void add_feature(tvms_cpu *cpu, const char *name) {
  size_t len = strlen(cpu->features), room = sizeof cpu->features - len;
  int wanted = snprintf(cpu->features + len, room, len ? ",+%s" : "+%s", name);
  if (wanted < 0 || (size_t)wanted >= room) cpu->features[len] = '\0';
}

static uint32_t count_processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? (uint32_t)count : 1;
}

// ---- Caches as Linux lists them ----

// One line of a file below the folder of a cache; false if there is none.
static bool read_entry(int index, const char *name, char *line, int size) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
           name);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  bool read = fgets(line, size, file) != NULL;
  fclose(file);
  return read;
}

static uint32_t read_number(int index, const char *name) {
  char line[64];
  unsigned number = 0;
  char unit = '\0';
  if (!read_entry(index, name, line, sizeof line)) return 0;
  int fields = sscanf(line, "%u%c", &number, &unit);
  if (fields == 2 && unit == 'K') return number << 10;
  if (fields == 2 && unit == 'M') return number << 20;
  return fields >= 1 ? number : 0;
}

static void list_caches(tvms_cpu *cpu) {
  char type[64];
  for (int index = 0; read_entry(index, "type", type, sizeof type); index++) {
    uint32_t level = read_number(index, "level");
    if (level < 1 || level > TVMS_CPU_CACHES || *type == 'I') continue;
    cpu->caches[level - 1] = (tvms_cpu_cache){
        read_number(index, "size"), read_number(index, "ways_of_associativity"),
        read_number(index, "coherency_line_size")};
  }
}

// ---- x86-64 ----

#if defined(__x86_64__)
#  include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

typedef struct {
  uint32_t registers[4];
} answer;

// Each question leaves a virtual machine, which takes as long as thousands of instructions.
typedef struct {
  struct {
    uint32_t leaf, subleaf;
    answer said;
  } all[16];
  uint32_t count;
} memory;

static answer ask(uint32_t leaf, uint32_t subleaf) {
  answer a;
  uint32_t *r = a.registers;
  __cpuid_count(leaf, subleaf, r[EAX], r[EBX], r[ECX], r[EDX]);
  return a;
}

// What CPUID says, remembered.
static const uint32_t *ask_once(memory *m, uint32_t leaf, uint32_t subleaf) {
  enum { MOST = sizeof m->all / sizeof m->all[0] };
  uint32_t i = 0;
  while (i < m->count && (m->all[i].leaf != leaf || m->all[i].subleaf != subleaf))
    i++;
  if (i == m->count) {
    if (i == MOST) i = MOST - 1;
    m->all[i].leaf = leaf;
    m->all[i].subleaf = subleaf;
    m->all[i].said = ask(leaf, subleaf);
    m->count = i + 1;
  }
  return m->all[i].said.registers;
}

// The same; zeros for leaves that it does not have. The first leaf of a kind says which is the last.
static const uint32_t *look_up(memory *m, uint32_t leaf, uint32_t subleaf) {
  static const uint32_t zeros[4] = {0};
  bool there = ask_once(m, leaf & 0x80000000, 0)[EAX] >= leaf;
  return there ? ask_once(m, leaf, subleaf) : zeros;
}

// Registers that the system saves, by state of a row of cpu.def.
static uint64_t saved_states(memory *m) {
  enum { OSXSAVE = 1 << 27 };
  if (!(look_up(m, 1, 0)[ECX] & OSXSAVE)) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static void find_features(tvms_cpu *cpu, memory *m) {
  enum { STATE_NONE = 0, STATE_YMM = 0x6, STATE_ZMM = 0xe6 };
  static const struct {
    const char *name;
    uint32_t leaf, subleaf, reg, bit, state;
  } rows[] = {
#  define CPU_FEATURE_X86(name, leaf, subleaf, reg, bit, state)                        \
    {name, leaf, subleaf, reg, bit, STATE_##state},
#  include "support/cpu.def"
  };
  uint64_t saved = saved_states(m);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    // A processor without subleaves of leaf 7 answers as if for the last that it has.
    if (rows[i].subleaf > 0 && look_up(m, rows[i].leaf, 0)[EAX] < rows[i].subleaf)
      continue;
    uint32_t bits = look_up(m, rows[i].leaf, rows[i].subleaf)[rows[i].reg];
    bool usable = (saved & rows[i].state) == rows[i].state;
    if (usable && bits >> rows[i].bit & 1) add_feature(cpu, rows[i].name);
  }
}

static void find_model(tvms_cpu *cpu, memory *m) {
  const uint32_t *who = look_up(m, 0, 0);
  char maker[13] = {0};
  memcpy(maker, &who[EBX], 4);
  memcpy(maker + 4, &who[EDX], 4);
  memcpy(maker + 8, &who[ECX], 4);
  cpu->maker = strcmp(maker, "GenuineIntel") == 0   ? "intel"
               : strcmp(maker, "AuthenticAMD") == 0 ? "amd"
                                                    : "";
  uint32_t bits = look_up(m, 1, 0)[EAX];
  cpu->family = bits >> 8 & 0xf;
  cpu->model = bits >> 4 & 0xf;
  if (cpu->family == 6 || cpu->family == 15) cpu->model += (bits >> 16 & 0xf) << 4;
  if (cpu->family == 15) cpu->family += bits >> 20 & 0xff;
}

// Both makers list caches in the same form, each in a leaf of its own.
static void find_caches(tvms_cpu *cpu, memory *m) {
  enum { INTEL_CACHES = 4, NONE = 0, INSTRUCTIONS = 2, MOST = 16 };
  const uint32_t amd_caches = 0x8000001d;
  uint32_t leaf = strcmp(cpu->maker, "amd") == 0 ? amd_caches : INTEL_CACHES;
  for (uint32_t i = 0; i < MOST; i++) {
    const uint32_t *said = look_up(m, leaf, i);
    uint32_t type = said[EAX] & 0x1f, level = said[EAX] >> 5 & 7;
    if (type == NONE) return;
    if (type == INSTRUCTIONS || level < 1 || level > TVMS_CPU_CACHES) continue;
    uint32_t line = (said[EBX] & 0xfff) + 1;
    uint32_t partitions = (said[EBX] >> 12 & 0x3ff) + 1;
    uint32_t ways = (said[EBX] >> 22) + 1, sets = said[ECX] + 1;
    cpu->caches[level - 1] =
        (tvms_cpu_cache){line * partitions * ways * sets, ways, line};
  }
}

static void ask_processor(tvms_cpu *cpu) {
  cpu->architecture = "x86_64";
  memory asked = {.count = 0};
  find_model(cpu, &asked);
  find_features(cpu, &asked);
  find_caches(cpu, &asked);
}

// ---- aarch64 ----

#elif defined(__aarch64__)
#  include <sys/auxv.h>

static void ask_processor(tvms_cpu *cpu) {
  static const struct {
    const char *name;
    uint32_t word, bit;
  } rows[] = {
#  define CPU_FEATURE_ARM64(name, word, bit) {name, word, bit},
#  include "support/cpu.def"
  };
  unsigned long words[] = {0, getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  cpu->architecture = "aarch64";
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (words[rows[i].word] >> rows[i].bit & 1) add_feature(cpu, rows[i].name);
  }
}

#else

static void ask_processor(tvms_cpu *cpu) {
  (void)add_feature;
  (void)cpu;
}

#endif

void tvms_cpu_detect(tvms_cpu *cpu) {
  *cpu = (tvms_cpu){.architecture = "", .maker = "", .count = count_processors()};
  ask_processor(cpu);
  if (!cpu->caches[0].size) list_caches(cpu);
}
