// Whether the functions of a module run beside threads.
#ifndef TVMS_PASSES_TIR_CPU_COMPANY_H
#define TVMS_PASSES_TIR_CPU_COMPANY_H

#include "ir/module.h"

// Steps of a nest of loops from which on contractions and rows run on threads.
enum { TVMS_CPU_MANY_STEPS = 1 << 20 };

// Does a function of the module have a nest of that many steps? Then threads are awake between its functions, too.
bool tvms_cpu_module_has_threads(const tvms_module *module);

#endif
