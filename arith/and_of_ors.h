// Conditions as conjunctions of disjunctions.
#ifndef TVMS_ARITH_AND_OF_ORS_H
#define TVMS_ARITH_AND_OF_ORS_H

#include "arith/internal.h"

// `condition`, an `and` or an `or`, written as (a or b …) and (c or d …) …, with what two
// of its parts say together simplified. One whose form would be too long stays as it is.
// TVM: SimplifyAsAndOfOrs.
tvms_node *tvms_arith_and_of_ors(tvms_analyzer *analyzer, tvms_node *condition);

#endif
