// The PrimFunc that samples from running sums of probabilities.
#ifndef TVMS_TE_SAMPLE_INDEX_H
#define TVMS_TE_SAMPLE_INDEX_H

#include "te/te.h"

// Data types of its tensors.
typedef struct {
  tvms_dtype sums;     // (batch, vocab_size): running sums of probabilities
  tvms_dtype samples;  // (out_batch, 1): uniform numbers
  tvms_dtype rows;     // (out_batch, 1): the row that each sample is drawn from
  tvms_dtype places;   // (out_batch, 1): the result
} tvms_te_sample_dtypes;

// The PrimFunc get_sample_index, private, without name, with nodes in `unit`: for every sample
// the first place whose sum is greater, or the last. NULL: sums and samples cannot be compared
// in this release. TVM: relax/backend/gpu_generic/sampling.py, generic_get_sample_index.
tvms_node *TVMS_NULLABLE tvms_te_sample_index(tvms_unit *unit,
                                              const tvms_te_sample_dtypes *dtypes);

#endif
