// Targets as data: from configs, from texts, and from the machine at hand. Expected values
// of the machine are those that Linux says.
#include "ir/object.h"
#include "ir/target.h"
#include "ir/target_config.h"
#include "support/context.h"
#include "support/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tvms_context context;
static tvms_unit unit;
static tvms_strbuf why;

static void open_unit(void) {
  tvms_context_init(&context, &tvms_names);
  tvms_unit_init(&unit, &context, TVMS_DIALECT_CURRENT);
  tvms_strbuf_init(&why, &context.memory);
}
static void close_unit(void) {
  tvms_unit_fini(&unit);
  tvms_context_fini(&context);
}

TestSuite(target, .init = open_unit, .fini = close_unit);

static tvms_target parsed(const char *text) {
  tvms_target target;
  cr_assert(tvms_target_parse(&unit, text, &target, &why), "%s",
            tvms_strbuf_text(&why));
  return target;
}

// A completed config of a kind with one more text.
static tvms_target configured(const char *kind, const char *key, const char *value) {
  tvms_node *given = tvms_object_map_with(
      &unit, NULL, key,
      tvms_object_str_new(&unit, value, strlen(value), (tvms_span){0, 0}));
  tvms_node *defaults = tvms_target_config_defaults(&unit, kind, strlen(kind));
  cr_assert_not_null(defaults);
  tvms_target target;
  tvms_target_from_config(&unit, tvms_target_config_complete(&unit, defaults, given),
                          &target);
  return target;
}

Test(target, a_tag_says_everything_about_a_device) {
  tvms_target a100 = parsed("nvidia/nvidia-a100");
  cr_assert_str_eq(a100.kind, "cuda");
  cr_assert(tvms_target_has_key(&a100, "gpu") && !tvms_target_has_key(&a100, "cpu"));
  cr_assert_eq(a100.caches[1].size, 40u << 20);
  cr_assert_eq(tvms_target_number(&a100, "thread_warp_size", 0), 32);
  cr_assert_eq(tvms_target_number(&a100, "no_such_number", -1), -1);
  cr_assert_null(a100.triple);
}

Test(target, a_processor_is_looked_up) {
  tvms_target target = configured("llvm", "mcpu", "skylake-avx512");
  cr_assert_str_eq(target.cpu, "skylake-avx512");
  cr_assert_eq(target.vector_bits, 512);
  cr_assert_eq(target.vector_registers, 32);
  cr_assert_eq(target.caches[0].size, 32u << 10);
  cr_assert_eq(target.caches[1].ways, 16);
  target = parsed("aws/cpu/c5.9xlarge");
  cr_assert_eq(target.cores, 18);
  cr_assert_eq(target.vector_bits, 512);
}

Test(target, features_widen_and_narrow_vectors) {
  static const struct {
    const char *text;
    uint32_t bits, registers;
  } cases[] = {
      {"x86_64-linux-gnu", 128, 16},
      {"x86_64-linux-gnu,znver3", 256, 16},
      {"x86_64-linux-gnu,,+avx2", 256, 16},
      {"x86_64-linux-gnu,znver3,+avx512f", 512, 32},
      {"x86_64-linux-gnu,znver4,-avx512f", 256, 16},
      {"x86_64-linux-gnu,znver4,-avx512f,-avx", 128, 16},
      {"x86_64-linux-gnu,znver4,-avx512f,+avx512f", 512, 32},
      {"x86_64-linux-gnu,no-such-cpu", 128, 16},
      {"aarch64-linux-gnu,cortex-a72", 128, 32},
      {"arm64-apple-macos", 128, 32},
      {"riscv64-linux-gnu", 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tvms_target target = parsed(cases[i].text);
    cr_assert_eq(target.vector_bits, cases[i].bits, "%s: %u", cases[i].text,
                 target.vector_bits);
    cr_assert_eq(target.vector_registers, cases[i].registers, "%s", cases[i].text);
  }
  tvms_target target = parsed("x86_64-linux-gnu,,+avx2,-fma");
  cr_assert_str_eq(target.features, "+avx2,-fma");
  cr_assert(tvms_target_has_feature(&target, "avx2"));
  cr_assert(!tvms_target_has_feature(&target, "fma"));
  cr_assert(!tvms_target_has_feature(&target, "avx"));
}

Test(target, sums_of_four_bytes_follow_from_the_processor_and_its_features) {
  static const struct {
    const char *text;
    bool quads;
  } cases[] = {
      {"x86_64-linux-gnu,znver4", true},
      {"x86_64-linux-gnu,alderlake", true},
      {"x86_64-linux-gnu,skylake-avx512", false},
      {"x86_64-linux-gnu,znver4,-avx512vnni", false},
      {"x86_64-linux-gnu,haswell,+avxvnni", true},
      {"x86_64-linux-gnu", false},
      {"aarch64-linux-gnu,neoverse-n2", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tvms_target target = parsed(cases[i].text);
    cr_assert_eq(tvms_target_has_quads(unit.context, &target), cases[i].quads, "%s",
                 cases[i].text);
  }
}

Test(target, the_width_that_a_program_gives_counts) {
  tvms_node *width = tvms_object_int_new(&unit, 256, (tvms_span){0, 0});
  tvms_node *given = tvms_object_map_with(&unit, NULL, "vector-width", width);
  tvms_node *defaults = tvms_target_config_defaults(&unit, "llvm", 4);
  tvms_target target;
  tvms_target_from_config(&unit, tvms_target_config_complete(&unit, defaults, given),
                          &target);
  cr_assert_eq(target.vector_bits, 256);
  cr_assert_str_eq(target.triple, "x86_64-conda-linux-gnu");
}

Test(target, an_unknown_name_is_refused_with_a_near_one) {
  tvms_target target;
  cr_assert(!tvms_target_parse(&unit, "cudaa", &target, &why));
  cr_assert_str_eq(tvms_strbuf_text(&why),
                   "unknown target 'cudaa'; did you mean 'cuda'?");
}

// ---- The machine at hand ----

// A number in a file below the folder of a cache of Linux, with K or M behind it.
static uint32_t listed(int index, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index,
           name);
  FILE *file = fopen(path, "r");
  unsigned number = 0;
  char unit_letter = ' ';
  if (!file) return 0;
  (void)!fscanf(file, "%u%c", &number, &unit_letter);
  fclose(file);
  return unit_letter == 'K' ? number << 10 : unit_letter == 'M' ? number << 20 : number;
}

static bool is_of_instructions(int index) {
  char path[128], type[32] = "";
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", index);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  (void)!fscanf(file, "%31s", type);
  fclose(file);
  return strcmp(type, "Instruction") == 0;
}

Test(target, caches_of_the_machine_are_those_that_linux_lists) {
  tvms_target host = parsed("host");
  for (int i = 0; listed(i, "level"); i++) {
    uint32_t level = listed(i, "level");
    if (level > TVMS_CPU_CACHES || is_of_instructions(i)) continue;
    cr_assert_eq(host.caches[level - 1].size, listed(i, "size"), "L%u", level);
    cr_assert_eq(host.caches[level - 1].ways, listed(i, "ways_of_associativity"));
    cr_assert_eq(host.caches[level - 1].line, listed(i, "coherency_line_size"));
  }
}

Test(target, the_machine_has_the_processors_that_may_be_used) {
  tvms_target host = parsed("host");
  cr_assert(host.host);
  cr_assert_geq(host.cores, 1);
  cr_assert_leq(host.cores, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
}

// /proc/cpuinfo of x86-64 has a few names of its own.
static const char *linux_name(const char *feature) {
  static const struct {
    const char *ours, *theirs;
  } names[] = {
      {"avx512bf16", "avx512_bf16"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512fp16", "avx512_fp16"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avxvnni", "avx_vnni"},
      {"bmi", "bmi1"},
      {"lzcnt", "abm"},
      {"pclmul", "pclmulqdq"},
      {"sse3", "pni"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i].ours, feature) == 0) return names[i].theirs;
  }
  return feature;
}

Test(target, features_of_the_machine_are_those_that_linux_lists) {
#ifdef __x86_64__
  static char flags[1 << 14];
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(flags, sizeof flags, file) && strncmp(flags, "flags", 5) != 0) {
  }
  if (!file || strncmp(flags, "flags", 5) != 0) return;
  fclose(file);
  flags[strcspn(flags, "\n")] = ' ';
  static const char *const all[] = {
#  define CPU_FEATURE_X86(name, leaf, subleaf, reg, bit, state) name,
#  include "support/cpu.def"
  };
  tvms_target host = parsed("host");
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", linux_name(all[i]));
    cr_assert_eq(tvms_target_has_feature(&host, all[i]), strstr(flags, word) != NULL,
                 "%s", all[i]);
  }
#endif
}
