// Quotients and remainders of flattened places that belong together.
#ifndef TVMS_ARITH_MERGE_MOD_H
#define TVMS_ARITH_MERGE_MOD_H

#include "arith/analyzer.h"

// `place`, a sum that a dimension was just added to, simplified, with
// (a + c // k) * k + c % k written as a * k + c; with `anywhere` also (a + c // k + b) * k, which TVM leaves. TVM: MergeMulMod of
// src/tirx/ir/buffer.cc.
tvms_node *tvms_analyzer_merge_mod(tvms_analyzer *analyzer, tvms_node *place,
                                   bool anywhere);

#endif
