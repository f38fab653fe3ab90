// Removing what nothing uses, for passes that leave such things behind.
#ifndef TVMS_PASSES_RELAX_DEAD_CODE_H
#define TVMS_PASSES_RELAX_DEAD_CODE_H

#include "passes/edit.h"

#endif
