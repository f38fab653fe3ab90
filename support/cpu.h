// The processor that the program runs on: what it can do, its caches, how many of them.
//
// On x86-64 everything comes from the CPUID instruction, elsewhere from Linux. What cannot
// be found out is 0 or empty: nothing here fails.
#ifndef TVMS_SUPPORT_CPU_H
#define TVMS_SUPPORT_CPU_H

#include <stdint.h>

enum { TVMS_CPU_CACHES = 3 };

// Of one core, or of those that share it.
typedef struct {
  uint32_t size;  // in bytes; 0: none, or not known
  uint32_t ways;
  uint32_t line;  // in bytes
} tvms_cpu_cache;

typedef struct {
  const char *architecture;  // "x86_64", "aarch64" or ""
  const char *maker;         // "amd", "intel" or ""
  uint32_t family, model;    // of an x86-64 processor, as its maker counts
  char features[512];        // in order of name: "+avx,+avx2"
  tvms_cpu_cache caches[TVMS_CPU_CACHES];  // data: L1, L2, L3
  uint32_t count;  // processors that threads of this process may run on; at least 1
} tvms_cpu;

// Fills in what is known of this machine. Features that the system does not save registers
// for are left out.
void tvms_cpu_detect(tvms_cpu *cpu);

#endif
