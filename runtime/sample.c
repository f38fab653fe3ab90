// Sampling in the precision of TVM's functions, so that the same numbers choose the same token.
#include "runtime/sample.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

// The likelier one first, of equal ones the first; what is not a number comes last.
static int by_probability(const void *left, const void *right) {
  const tvms_sample_item *a = left, *b = right;
  int nan = (a->probability != a->probability) - (b->probability != b->probability);
  if (nan) return nan;
  if (a->probability > b->probability) return -1;
  if (a->probability < b->probability) return 1;
  return (a->index > b->index) - (a->index < b->index);
}

static void sort(tvms_sample_item *items, int64_t count) {
  qsort(items, (size_t)count, sizeof *items, by_probability);
}

// Chooses among the first of sorted items that have `top_p` together. -1: all have less.
static int64_t choose(const tvms_sample_item *items, int64_t count, double top_p,
                      double uniform, bool all) {
  float sum = 0;
  int64_t kept = 0;
  for (; kept < count && (double)sum < top_p; kept++)
    sum += items[kept].probability;
  if ((double)sum < top_p && !all) return -1;
  float before = 0;
  for (int64_t i = 0; i < kept; i++) {
    before += items[i].probability;
    if (uniform < (double)(before / sum)) return items[i].index;
  }
  return items[kept ? kept - 1 : 0].index;
}

// Chooses among the tokens that are at least so likely. -1: they have less than `top_p`.
static int64_t choose_above(tvms_sample_item *items, const float *probabilities,
                            int64_t count, double top_p, double uniform, float least) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    if (probabilities[i] >= least)
      items[kept++] = (tvms_sample_item){probabilities[i], i};
  }
  if (!kept) return -1;
  sort(items, kept);
  // What `top_p` is exceeded by does not count here.
  if (uniform < (double)items[0].probability / top_p) return items[0].index;
  return choose(items, kept, top_p, uniform, least == 0);
}

int64_t tvms_sample_top_p(tvms_sample_item *items, const float *probabilities,
                          int64_t count, double top_p, double uniform) {
  enum { PARTS = 1024 };
  int64_t chosen = -1;
  // Few tokens are so likely, and nearly always they are enough.
  if (top_p < 1)
    chosen = choose_above(items, probabilities, count, top_p, uniform,
                          (float)(top_p / PARTS));
  if (chosen < 0) chosen = choose_above(items, probabilities, count, top_p, uniform, 0);
  return chosen;
}

int64_t tvms_sample_scores(tvms_sample_item *items, const float *scores, int64_t count,
                           double temperature, double top_p, double uniform) {
  for (int64_t i = 0; i < count; i++)
    items[i] = (tvms_sample_item){scores[i], i};
  sort(items, count);
  if (temperature < (double)1e-6F) return items[0].index;
  float sum = 0, scale = (float)(1.0F / temperature), greatest = items[0].probability;
  for (int64_t i = 0; i < count; i++) {
    items[i].probability = expf((items[i].probability - greatest) * scale);
    sum += items[i].probability;
  }
  for (int64_t i = 0; i < count; i++)
    items[i].probability /= sum;
  return choose(items, count, top_p, uniform, true);
}

int64_t tvms_sample_one(const float *probabilities, int64_t count, float uniform) {
  float sum = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += probabilities[i];
    if (sum > uniform) return i;
  }
  return count - 1;
}

bool tvms_sample_penalize(float *scores, int64_t count, const int32_t *tokens,
                          int64_t used, double penalty) {
  for (int64_t i = 0; i < used; i++) {
    if (tokens[i] < 0 || tokens[i] >= count) return false;
    float *score = &scores[tokens[i]];
    *score = (float)(*score <= 0 ? (double)*score * penalty : (double)*score / penalty);
  }
  return true;
}

bool tvms_sample_penalize_often(float *scores, int64_t count, const int32_t *tokens,
                                const int32_t *times, int64_t used, double once,
                                double often) {
  for (int64_t i = 0; i < used; i++) {
    if (tokens[i] < 0 || tokens[i] >= count) return false;
    scores[tokens[i]] = (float)((double)scores[tokens[i]] - (times[i] * often + once));
  }
  return true;
}

void tvms_sample_softmax(float *scores, int64_t count, double temperature) {
  float scale = (float)(1.0F / temperature), greatest = FLT_MIN;
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    greatest = fmaxf(greatest, scores[i] * scale);
  for (int64_t i = 0; i < count; i++)
    sum += (double)expf(scores[i] * scale - greatest);
  for (int64_t i = 0; i < count; i++)
    scores[i] = (float)((double)expf(scores[i] * scale - greatest) / sum);
}
