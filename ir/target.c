// Targets as data: where their fields come from, and how they are shown.
//
// A field comes from the config or the text if that says it, else from the row of the
// processor in ir/cpus.def, else it is 0, which means unknown: nothing is guessed. For
// the host, what the machine itself says stands above the table.
#include "ir/target.h"

#include "ir/build.h"
#include "ir/object.h"
#include "ir/target_config.h"
#include "ir/target_json.h"
#include "support/diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- Processors ----

static const struct {
  const char *name, *architecture;
  uint32_t bits, registers;
  bool fma, quads;
  uint32_t l1, l1_ways, l2, l2_ways;
} cpus[] = {
#define CPU(name, architecture, bits, registers, fma, quads, l1, l1_ways, l2, l2_ways) \
  {name, architecture, bits, registers, fma, quads, l1, l1_ways, l2, l2_ways},
#include "ir/cpus.def"
};

enum { CPU_COUNT = sizeof cpus / sizeof cpus[0] };

static const struct {
  const char *name, *maker;
  uint32_t family, first, last;
} models[] = {
#define CPU_MODEL(name, maker, family, first, last) {name, maker, family, first, last},
#include "ir/cpus.def"
};

// Is the architecture the first part of a triple? "arm64" is Apple's word for aarch64.
static bool is_of(const char *TVMS_NULLABLE triple, const char *architecture) {
  if (!triple) return false;
  size_t len = strcspn(triple, "-");
  bool arm = strcmp(architecture, "aarch64") == 0;
  return (strlen(architecture) == len && memcmp(triple, architecture, len) == 0)
         || (arm && len == 5 && memcmp(triple, "arm64", len) == 0);
}

bool tvms_target_is_of(const tvms_target *target, const char *architecture) {
  return is_of(target->triple, architecture);
}

// The state of a feature in a list like "+avx2,-sse4a": the last mention counts.
static int mention(const char *TVMS_NULLABLE features, const char *name) {
  int found = 0;
  size_t len = strlen(name);
  for (const char *at = features ? features : ""; *at; at += *at == ',') {
    size_t word = strcspn(at, ",");
    if (word == len + 1 && memcmp(at + 1, name, len) == 0) found = *at == '-' ? -1 : 1;
    at += word;
  }
  return found;
}

// The widest registers of x86-64: 512 bits come with AVX-512, and with twice as many.
static void apply_features(tvms_target *target) {
  int wide = mention(target->features, "avx512f");
  bool avx =
      mention(target->features, "avx") > 0 || mention(target->features, "avx2") > 0;
  if (avx && target->vector_bits < 256) target->vector_bits = 256;
  if (wide > 0) {
    target->vector_bits = 512;
    target->vector_registers = 32;
  } else if (wide < 0 && target->vector_bits == 512) {
    target->vector_bits = 256;
    target->vector_registers = 16;
  }
  if (mention(target->features, "avx") < 0) {
    target->vector_bits = 128;
    target->vector_registers = 16;
  }
}

// The row of the processor. Without a triple its name alone decides.
static int row_of(const tvms_target *target) {
  for (size_t i = 0; target->cpu && i < CPU_COUNT; i++) {
    bool fits = !target->triple || is_of(target->triple, cpus[i].architecture);
    if (fits && strcmp(cpus[i].name, target->cpu) == 0) return (int)i;
  }
  return -1;
}

// Fills in what the name of the processor and its features say about vectors and caches.
static void look_up_cpu(tvms_target *target) {
  enum { KIB = 1024, LINE = 64 };
  int row = row_of(target);
  bool x86 = row >= 0 ? strcmp(cpus[row].architecture, "x86_64") == 0
                      : is_of(target->triple, "x86_64");
  if (row >= 0) {
    target->vector_bits = cpus[row].bits;
    target->vector_registers = cpus[row].registers;
    if (cpus[row].l1)
      target->caches[0] = (tvms_cpu_cache){cpus[row].l1 * KIB, cpus[row].l1_ways, LINE};
    if (cpus[row].l2)
      target->caches[1] = (tvms_cpu_cache){cpus[row].l2 * KIB, cpus[row].l2_ways, LINE};
  } else if (x86 || is_of(target->triple, "aarch64")) {
    target->vector_bits = 128;  // what every processor of the architecture has
    target->vector_registers = x86 ? 16 : 32;
  }
  if (x86) apply_features(target);
}

// ---- From a config ----

static uint32_t number_of(const tvms_node *config, const char *key) {
  int64_t value = 0;
  bool given = tvms_object_as_int(tvms_object_map_get(config, key), &value);
  return given && value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static tvms_list list_of(const tvms_node *config, const char *key) {
  const tvms_node *value = tvms_object_map_get(config, key);
  if (!value || value->kind != TVMS_NODE_OBJECT_ARRAY) return (tvms_list){NULL, 0};
  return tvms_as_object_array(value)->items;
}

static const char *TVMS_NULLABLE text_of(const tvms_node *config, const char *key) {
  const char *text = tvms_object_as_text(tvms_object_map_get(config, key));
  return text && *text ? text : NULL;
}

// The texts of a list with commas between them.
static const char *TVMS_NULLABLE joined(tvms_unit *unit, tvms_list list) {
  size_t size = 0;
  for (uint32_t i = 0; i < list.len; i++) {
    const char *text = tvms_object_as_text(list.items[i]);
    size += (text ? strlen(text) : 0) + 1;
  }
  if (!size) return NULL;
  char *all = tvms_arena_alloc(&unit->arena, size), *at = all;
  for (uint32_t i = 0; i < list.len; i++) {
    const char *text = tvms_object_as_text(list.items[i]);
    at += snprintf(at, size - (size_t)(at - all), i ? ",%s" : "%s", text ? text : "");
  }
  return all;
}

static void set_keys(tvms_unit *unit, tvms_target *target, tvms_list list) {
  const char **keys = tvms_arena_array(&unit->arena, const char *, list.len);
  target->keys = keys;
  for (uint32_t i = 0; i < list.len; i++) {
    const char *text = tvms_object_as_text(list.items[i]);
    if (text) keys[target->key_count++] = text;
  }
}

void tvms_target_from_config(tvms_unit *unit, const tvms_node *config,
                             tvms_target *target) {
  *target = (tvms_target){.kind = ""};
  if (config->kind != TVMS_NODE_OBJECT_MAP) {  // the name of a kind that is not known
    const char *name = tvms_object_as_text(config);
    if (name) target->kind = name;
    return;
  }
  const char *kind = text_of(config, "kind");
  if (kind) target->kind = kind;
  target->config = config;
  set_keys(unit, target, list_of(config, "keys"));
  target->triple = text_of(config, "mtriple");
  target->cpu = text_of(config, "mcpu");
  target->features = joined(unit, list_of(config, "mattr"));
  target->cores = number_of(config, "num-cores");
  look_up_cpu(target);
  uint32_t bits = number_of(config, "vector-width");
  if (bits) target->vector_bits = bits;
  uint32_t l2 = number_of(config, "l2_cache_size_bytes");
  if (l2) target->caches[1].size = l2;
}

// ---- From the machine ----

// The name of the processor, or of the highest level of x86-64 that its features reach.
static const char *name_of(const tvms_cpu *cpu) {
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    if (strcmp(models[i].maker, cpu->maker) == 0 && models[i].family == cpu->family
        && models[i].first <= cpu->model && cpu->model <= models[i].last)
      return models[i].name;
  }
  static const struct {
    const char *name, *features[8];
  } levels[] = {
      {"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
      {"x86-64-v3", {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v2", {"cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}},
  };
  if (strcmp(cpu->architecture, "x86_64") != 0) return "generic";
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    uint32_t k = 0;
    while (k < 8 && levels[i].features[k]
           && mention(cpu->features, levels[i].features[k]) > 0) {
      k++;
    }
    if (k == 8 || !levels[i].features[k]) return levels[i].name;
  }
  return "x86-64";
}

void tvms_target_from_host(tvms_unit *unit, tvms_target *target) {
  static const char *const keys[] = {"cpu"};
  const tvms_cpu *cpu = tvms_context_cpu(unit->context);
  char triple[64];
  snprintf(triple, sizeof triple, "%s-linux-gnu", cpu->architecture);
  *target = (tvms_target){
      .host = true,
      .kind = "llvm",
      .keys = keys,
      .key_count = 1,
      .triple = tvms_arena_text(&unit->arena, triple, strlen(triple)),
      .cpu = name_of(cpu),
      .features = tvms_arena_text(&unit->arena, cpu->features, strlen(cpu->features)),
      .cores = cpu->count,
  };
  look_up_cpu(target);
  for (uint32_t i = 0; i < TVMS_CPU_CACHES; i++) {
    if (cpu->caches[i].size) target->caches[i] = cpu->caches[i];
  }
}

// ---- From a text ----

// TRIPLE[,CPU[,FEATURES]]. An empty CPU is any.
static void parse_triple(tvms_unit *unit, const char *text, tvms_target *target) {
  static const char *const keys[] = {"cpu"};
  *target = (tvms_target){.kind = "llvm", .keys = keys, .key_count = 1};
  size_t len = strcspn(text, ",");
  target->triple = tvms_arena_text(&unit->arena, text, len);
  text += len;
  if (*text == ',') {
    len = strcspn(++text, ",");
    if (len) target->cpu = tvms_arena_text(&unit->arena, text, len);
    text += len;
  }
  if (*text == ',')
    target->features = tvms_arena_text(&unit->arena, text + 1, strlen(text + 1));
  look_up_cpu(target);
}

// The triple that is meant by an architecture alone, or by what systems and makers call it.
static const char *TVMS_NULLABLE triple_of(const char *word) {
  static const struct {
    const char *word, *triple;
  } meant[] = {
      {"aarch64", "aarch64-linux-gnu"}, {"amd64", "x86_64-linux-gnu"},
      {"arm", "armv7-linux-gnueabihf"}, {"arm64", "aarch64-linux-gnu"},
      {"riscv32", "riscv32-linux-gnu"}, {"riscv64", "riscv64-linux-gnu"},
      {"x64", "x86_64-linux-gnu"},      {"x86", "x86_64-linux-gnu"},
      {"x86-64", "x86_64-linux-gnu"},   {"x86_64", "x86_64-linux-gnu"},
  };
  enum { COUNT = sizeof meant / sizeof meant[0] };
  const char *names[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    names[i] = meant[i].word;
    if (strcmp(meant[i].word, word) == 0) return meant[i].triple;
  }
  const char *near = tvms_diag_nearest_name(word, names, COUNT);
  return near ? triple_of(near) : NULL;
}

// How a target is written for an architecture or a processor that stands alone: as a triple.
static bool add_triple_meant(const char *text, tvms_strbuf *why) {
  const char *triple = triple_of(text);
  for (size_t i = 0; i < CPU_COUNT && !triple; i++) {
    if (strcmp(cpus[i].name, text) != 0) continue;
    tvms_strbuf_printf(why, "; did you mean '%s-linux-gnu,%s'?", cpus[i].architecture,
                       text);
    return true;
  }
  if (triple) tvms_strbuf_printf(why, "; did you mean '%s'?", triple);
  return triple != NULL;
}

// Is it the name of a processor and no triple, for all its hyphens? "skylake-avx512".
static bool names_processor(const char *text) {
  for (size_t i = 0; i < CPU_COUNT; i++) {
    if (strcmp(cpus[i].name, text) == 0) return true;
  }
  return false;
}

// What the processor of a config for LLVM is of, which says no triple; the machine at hand if it names none that is known.
static void settle_triple(tvms_unit *unit, tvms_target *target) {
  if (target->triple || strcmp(target->kind, "llvm") != 0) return;
  int row = row_of(target);
  const char *architecture =
      row >= 0 ? cpus[row].architecture : tvms_context_cpu(unit->context)->architecture;
  char triple[64];
  snprintf(triple, sizeof triple, "%s-linux-gnu", architecture);
  target->triple = tvms_arena_text(&unit->arena, triple, strlen(triple));
}

bool tvms_target_parse(tvms_unit *unit, const char *text, tvms_target *target,
                       tvms_strbuf *why) {
  if (strcmp(text, "host") == 0) {
    tvms_target_from_host(unit, target);
    return true;
  }
  if (text[strspn(text, " \t\r\n")] == '{') {
    tvms_node *given = tvms_target_json_read(unit, text, why);
    if (!given) return false;
    tvms_target_from_config(unit, given, target);
    settle_triple(unit, target);
    return true;
  }
  tvms_node *config = tvms_target_config_defaults(unit, text, strlen(text));
  if (config) {
    config = tvms_target_config_complete(unit, config, NULL);
    tvms_target_from_config(unit, config, target);
    return true;
  }
  bool options = strchr(text, ' ');
  if (!options && strchr(text, '-') && !strchr(text, '/') && !names_processor(text)) {
    parse_triple(unit, text, target);
    return true;
  }
  tvms_strbuf_printf(why, "unknown target '%s'", text);
  if (options)
    tvms_strbuf_puts(
        why,
        "; options of a kind are given as in '{\"kind\": \"llvm\", \"mcpu\": \"znver4\"}'");
  if (options) return false;
  if (add_triple_meant(text, why)) return false;
  const char *near = tvms_target_config_near(unit->dialect, text);
  if (near) tvms_strbuf_printf(why, "; did you mean '%s'?", near);
  return false;
}

// ---- Questions ----

bool tvms_target_has_key(const tvms_target *target, const char *key) {
  for (uint32_t i = 0; i < target->key_count; i++) {
    if (strcmp(target->keys[i], key) == 0) return true;
  }
  return false;
}

bool tvms_target_has_feature(const tvms_target *target, const char *feature) {
  return mention(target->features, feature) > 0;
}

bool tvms_target_has_fma(tvms_context *context,
                         const tvms_target *TVMS_NULLABLE target) {
  if (!target || target->host) {
    const tvms_cpu *cpu = tvms_context_cpu(context);
    return strcmp(cpu->architecture, "aarch64") == 0
           || mention(cpu->features, "fma") > 0;
  }
  int named = mention(target->features, "fma");
  if (named || mention(target->features, "avx") < 0) return named > 0;
  int row = row_of(target);
  return row >= 0 ? cpus[row].fma : is_of(target->triple, "aarch64");
}

bool tvms_target_has_quads(tvms_context *context,
                           const tvms_target *TVMS_NULLABLE target) {
  static const char *const names[] = {"avx512vnni", "avxvnni"};
  enum { COUNT = sizeof names / sizeof names[0] };
  bool host = !target || target->host;
  const char *features = host ? tvms_context_cpu(context)->features : target->features;
  int row = host ? -1 : row_of(target);
  bool has = row >= 0 && cpus[row].quads;
  for (uint32_t i = 0; i < COUNT; i++) {
    int named = mention(features, names[i]);
    if (named < 0) return false;
    has |= named > 0;
  }
  return has && mention(features, "avx") >= 0;
}

bool tvms_target_has_scaling(tvms_context *context,
                             const tvms_target *TVMS_NULLABLE target) {
  static const char name[] = "avx512f";
  if (!target || target->host)
    return mention(tvms_context_cpu(context)->features, name) > 0;
  int named = mention(target->features, name), row = row_of(target);
  bool x86 = row >= 0 ? strcmp(cpus[row].architecture, "x86_64") == 0
                      : is_of(target->triple, "x86_64");
  return x86 && (named ? named > 0 : row >= 0 && cpus[row].bits == 512);
}

// AVX has them for vectors of 256 bits.
bool tvms_target_has_masks(const tvms_target *target) {
  if (target->vector_bits < 256) return false;
  int row = row_of(target);
  return row >= 0 ? strcmp(cpus[row].architecture, "x86_64") == 0
                  : is_of(target->triple, "x86_64");
}

int64_t tvms_target_number(const tvms_target *target, const char *key,
                           int64_t otherwise) {
  int64_t value;
  const tvms_node *given = tvms_object_map_get(target->config, key);
  return tvms_object_as_int(given, &value) ? value : otherwise;
}

int64_t tvms_target_cache(const tvms_target *target, uint32_t level,
                          int64_t otherwise) {
  uint64_t known = target->caches[level].size;
  return known ? (int64_t)known : otherwise;
}

// ---- Showing ----

typedef struct {
  tvms_strbuf *out;
  size_t column;  // where values begin
} shown;

static void begin_line(const shown *s, const char *what) {
  tvms_strbuf_puts(s->out, what);
  tvms_strbuf_fill(s->out, ' ', s->column - strlen(what));
}

static void show_text(const shown *s, const char *what,
                      const char *TVMS_NULLABLE text) {
  if (!text || !*text) return;
  begin_line(s, what);
  tvms_strbuf_printf(s->out, "%s\n", text);
}

static void show_keys(const shown *s, const tvms_target *target) {
  begin_line(s, "keys");
  for (uint32_t i = 0; i < target->key_count; i++) {
    tvms_strbuf_printf(s->out, i ? ", %s" : "%s", target->keys[i]);
  }
  tvms_strbuf_putc(s->out, '\n');
}

static void show_vectors(const shown *s, const tvms_target *target) {
  if (!target->vector_bits) return;
  begin_line(s, "vectors");
  tvms_strbuf_printf(s->out, "%u bits", target->vector_bits);
  if (target->vector_registers)
    tvms_strbuf_printf(s->out, ", %u registers", target->vector_registers);
  tvms_strbuf_putc(s->out, '\n');
}

static void show_cache(const shown *s, uint32_t level, tvms_cpu_cache cache) {
  enum { KIB = 1024 };
  char what[16];
  if (!cache.size) return;
  snprintf(what, sizeof what, "L%u cache", level);
  begin_line(s, what);
  tvms_strbuf_printf(s->out, cache.size % KIB ? "%u bytes" : "%u KiB",
                     cache.size % KIB ? cache.size : cache.size / KIB);
  if (cache.ways) tvms_strbuf_printf(s->out, ", %u ways", cache.ways);
  if (cache.line) tvms_strbuf_printf(s->out, ", lines of %u bytes", cache.line);
  tvms_strbuf_putc(s->out, '\n');
}

// The keys of a config that have no field of tvms_target.
static bool is_extra(const char *TVMS_NULLABLE key) {
  static const char *const fields[] = {
      "kind",  "keys",      "mtriple",      "mcpu",
      "mattr", "num-cores", "vector-width", "l2_cache_size_bytes"};
  if (!key) return false;
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (strcmp(key, fields[i]) == 0) return false;
  }
  return true;
}

static void show_extra(const shown *s, const tvms_object_map *map) {
  for (uint32_t i = 0; i < map->keys.len; i++) {
    const char *key = tvms_object_as_text(map->keys.items[i]);
    const tvms_node *value = map->values.items[i];
    int64_t number;
    if (!is_extra(key)) continue;
    show_text(s, key, tvms_object_as_text(value));
    if (!tvms_object_as_int(value, &number)) continue;
    begin_line(s, key);
    tvms_strbuf_printf(s->out, "%" PRId64 "\n", number);
  }
}

void tvms_target_describe(const tvms_target *target, tvms_strbuf *out) {
  const tvms_object_map *map =
      target->config ? tvms_as_object_map(target->config) : NULL;
  shown s = {out, strlen("processor  ")};
  for (uint32_t i = 0; map && i < map->keys.len; i++) {
    const char *key = tvms_object_as_text(map->keys.items[i]);
    if (is_extra(key) && strlen(key) + 2 > s.column) s.column = strlen(key) + 2;
  }
  show_text(&s, "kind", target->kind);
  show_keys(&s, target);
  show_text(&s, "triple", target->triple);
  show_text(&s, "processor", target->cpu);
  show_text(&s, "features", target->features);
  show_vectors(&s, target);
  for (uint32_t i = 0; i < TVMS_CPU_CACHES; i++) {
    show_cache(&s, i + 1, target->caches[i]);
  }
  if (target->cores) {
    begin_line(&s, "cores");
    tvms_strbuf_printf(out, "%u\n", target->cores);
  }
  if (map) show_extra(&s, map);
}
