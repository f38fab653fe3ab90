// Choosing the next token: what functions of TVM's run time do with the last scores or probabilities of a model.
//
// The file behind this needs nothing but libc and libm: it stands in libtvms_rt.a, too.
// TVM: src/runtime/vm/lm_support.cc.
#ifndef TVMS_RUNTIME_SAMPLE_H
#define TVMS_RUNTIME_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

// A token and its probability; memory for those that are looked at.
typedef struct {
  float probability;
  int64_t index;
} tvms_sample_item;

// One of `count` (positive) tokens, whose probabilities are given, among the likeliest that have `top_p` together;
// `uniform` decides, a number of [0, 1). `items` has room for all. -1: all are NaN.
int64_t tvms_sample_top_p(tvms_sample_item *items, const float *probabilities,
                          int64_t count, double top_p, double uniform);

// The same of scores, whose softmax over the temperature the probabilities are; the greatest score if that is 0.
int64_t tvms_sample_scores(tvms_sample_item *items, const float *scores, int64_t count,
                           double temperature, double top_p, double uniform);

// The token at which the sum of the probabilities in front of it passes a number; the last if none does.
int64_t tvms_sample_one(const float *probabilities, int64_t count, float uniform);

// Makes scores of tokens that have been used less: divides positive ones by the penalty, multiplies others.
// False: there is no such token, and nothing more is done.
bool tvms_sample_penalize(float *scores, int64_t count, const int32_t *tokens,
                          int64_t used, double penalty);

// Takes `once` and for each time `often` from scores of tokens that have been used. False, as above.
bool tvms_sample_penalize_often(float *scores, int64_t count, const int32_t *tokens,
                                const int32_t *times, int64_t used, double once,
                                double often);

// Makes probabilities of scores, in their place.
void tvms_sample_softmax(float *scores, int64_t count, double temperature);

#endif
