// What a sum adds up, and a stage behind it computes again, is computed once.
//
// Before: s[i] += exp(X[i, j] - m[i])                          Y[i, j] = exp(X[i, j] - m[i]) / s[i]
// After:  e[i, j] = exp(X[i, j] - m[i])    s[i] += e[i, j]     Y[i, j] = e[i, j] / s[i]
#ifndef TVMS_PASSES_TIR_CPU_SHARED_TERMS_H
#define TVMS_PASSES_TIR_CPU_SHARED_TERMS_H

#include "passes/tir/cpu/distribute.h"

// The statements with costly terms of sums, functions that take long, in buffers of their own where a later stage over the same axes
// computes them, too; `stmts` itself if there are none. The buffers are added to those that the body allocates.
tvms_list tvms_cpu_share_terms(tvms_distribution *body, tvms_list stmts);

#endif
