// Operands of the dynamic_strided_slice that takes the rows which count of a table of three
// columns: vectors of two numbers of int64. Each description returns false if an error was
// reported.
#ifndef TVMS_TE_LEGALIZE_TRIM_H
#define TVMS_TE_LEGALIZE_TRIM_H

#include "te/legalize.h"

// Where it begins, (0, 0); the call has no arguments.
bool tvms_legalize_trim_begin(tvms_legal *legal);

// Where it ends; the only argument of the call is a vector with the number of rows.
bool tvms_legalize_trim_end(tvms_legal *legal);

// Its steps, (1, 1); the call has no arguments.
bool tvms_legalize_trim_strides(tvms_legal *legal);

#endif
