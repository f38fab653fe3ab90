// Loops and blocks around the body of a stage.
#ifndef TVMS_TE_NEST_H
#define TVMS_TE_NEST_H

#include "te/te.h"

// Wraps the body of a stage, which speaks of the stage's axes, into its block and loops, and
// adds them to the stages of stage->te. A reduced axis whose extent depends on other axes
// has a level of its own: the outer levels get blocks NAME_l1, NAME_l2 …, in which the axes
// that are known there have variables of their own. `init` NULL: nothing is reduced. TVM:
// GenerateStmtFromCompute in te/operation/create_primfunc.cc.
void tvms_te_nest(tvms_stage *stage, const char *name, tvms_node *TVMS_NULLABLE init,
                  tvms_node *body);

// A name for a block: `name`, or the first of name_1, name_2 … that is free.
const char *tvms_te_block_name(tvms_te *te, const char *name);

#endif
