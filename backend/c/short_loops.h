// Loops of C text whose steps are so short that counting them is a good part of their time.
#ifndef TVMS_BACKEND_C_SHORT_LOOPS_H
#define TVMS_BACKEND_C_SHORT_LOOPS_H

#include "backend/c/emit.h"

// Opens the loops that take the steps 0 … extent - 1 of a loop whose own step is 1; gives the number of the step at hand,
// and in `depth` how many were opened.
const char *tvms_c_open_steps(c_emitter *e, const tvms_for *loop, const char *extent,
                              uint32_t *depth);

#endif
