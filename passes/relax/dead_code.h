// Removing what nothing uses, for passes that leave such things behind.
#ifndef TVMS_PASSES_RELAX_DEAD_CODE_H
#define TVMS_PASSES_RELAX_DEAD_CODE_H

#include "passes/edit.h"

// What DeadCodeElimination does; `entry` names functions to keep, ';' between them.
void tvms_dead_code_eliminate(tvms_pass_run *run, const char *entry);

#endif
