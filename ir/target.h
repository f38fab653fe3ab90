// Targets as data: what passes, schedules and back ends may ask about the machine that code
// is made for.
//
// A target comes from a program (T.target({…}), whose config ir/target_config.h completes),
// from the command line (--target) or from the machine at hand. What is not known is 0 or
// NULL, and who asks must have an answer of his own then: nothing is invented here. Widths
// and sizes are looked up by the name of the processor (ir/cpus.def), and those of vectors
// follow its features, too.
#ifndef TVMS_IR_TARGET_H
#define TVMS_IR_TARGET_H

#include "ir/node.h"
#include "support/cpu.h"
#include "support/strbuf.h"

// So many registers for vectors are many: 16 hold the sums of a tile, and constants are loaded then.
enum { TVMS_MANY_REGISTERS = 32 };

typedef struct {
  bool host;                // the machine that tvms runs on
  const char *kind;         // "llvm", "cuda"
  const char *const *keys;  // "cpu", "gpu": what schedules are chosen by
  uint32_t key_count;
  const char *TVMS_NULLABLE triple;    // "x86_64-linux-gnu"
  const char *TVMS_NULLABLE cpu;       // as LLVM names it: "znver4"; NULL: any
  const char *TVMS_NULLABLE features;  // in LLVM's words: "+avx2,-sse4a"
  uint32_t vector_bits;                // of a register of fixed width
  uint32_t vector_registers;
  tvms_cpu_cache caches[TVMS_CPU_CACHES];  // of data: L1, L2, L3
  uint32_t cores;
  const tvms_node *TVMS_NULLABLE config;  // OBJECT_MAP that it was made from
} tvms_target;

// The target that a config of a program is; it points into the config and `unit`.
void tvms_target_from_config(tvms_unit *unit, const tvms_node *config,
                             tvms_target *target);

// The machine that tvms runs on, as far as it can be asked; texts live in the unit.
void tvms_target_from_host(tvms_unit *unit, tvms_target *target);

// A target in a text: "host"; a kind ("cuda") or tag ("nvidia/nvidia-a100") of the unit's
// release; its config as JSON ({"kind": "llvm", "mcpu": "znver4"}; without "mtriple" the processor's architecture, on
// Linux); or TRIPLE[,CPU[,FEATURES]] in LLVM's words, whose names are not checked here.
// Returns false, and a sentence in `why`, if it is none of these.
TVMS_NODISCARD bool tvms_target_parse(tvms_unit *unit, const char *text,
                                      tvms_target *target, tvms_strbuf *why);

// Is `key` one of the target's keys?
bool tvms_target_has_key(const tvms_target *target, const char *key);

// Is this the target's architecture, as the first part of triples names it?
bool tvms_target_is_of(const tvms_target *target, const char *architecture);

// Is a feature on: named by the target, and not taken back behind that?
bool tvms_target_has_feature(const tvms_target *target, const char *feature);

// Is a fused multiply-add an instruction of the target? NULL: of this machine. False where it is
// not known.
bool tvms_target_has_fma(tvms_context *context,
                         const tvms_target *TVMS_NULLABLE target);

// Is the sum of four products of bytes (ir/quad.h) an instruction of the target, in vectors? NULL: of this machine. False
// where it is not known.
bool tvms_target_has_quads(tvms_context *context,
                           const tvms_target *TVMS_NULLABLE target);

// Is the product of floats and powers of two, in vectors of 512 bits, an instruction of the target (vscalef of x86)? NULL: of
// this machine. False where it is not known.
bool tvms_target_has_scaling(tvms_context *context,
                             const tvms_target *TVMS_NULLABLE target);

// Can lanes of 32 and 64 bits be left out of loads and stores by instructions of the target? False where it is
// not known.
bool tvms_target_has_masks(const tvms_target *target);

// A number of the config, such as "max_num_threads", or `otherwise` if it has none.
int64_t tvms_target_number(const tvms_target *target, const char *key,
                           int64_t otherwise);

// Bytes of the cache of data number `level` (0: the first one), or `otherwise` where the target does not say.
int64_t tvms_target_cache(const tvms_target *target, uint32_t level, int64_t otherwise);

// Appends what is known of the target, a line each.
void tvms_target_describe(const tvms_target *target, tvms_strbuf *out);

#endif
