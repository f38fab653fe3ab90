// Functions of TVM's run time that choose the next token of a model (runtime/sample.h), for native code.
#include "runtime/box_object.h"
#include "runtime/sample.h"

#include <stdlib.h>

static double real_at(tvms_box_args *a, int32_t i) {
  if (i < a->count && a->args[i].type_index == TVMS_ANY_FLOAT) return a->args[i].v.f;
  return (double)tvms_box_number(a, i);
}

static const tvms_dl_tensor *TVMS_NULLABLE tensor_at(tvms_box_args *a, int32_t i,
                                                     uint8_t code) {
  const tvms_dl_tensor *tensor = tvms_box_tensor_at(a, i);
  if (!tensor) return NULL;
  bool fits = tensor->ndim > 0 && tensor->dtype.code == code && tensor->dtype.bits == 32
              && tensor->dtype.lanes == 1;
  if (!fits)
    tvms_box_refuse(a,
                    code == TVMS_DL_INT ? "a tensor of int32" : "a tensor of float32");
  return fits ? tensor : NULL;
}

static int64_t length(const tvms_dl_tensor *tensor) {
  int64_t product = 1;
  for (int32_t i = 0; i < tensor->ndim; i++)
    product *= tensor->shape[i];
  return product;
}

static int64_t last_size(const tvms_dl_tensor *tensor) {
  return tensor->shape[tensor->ndim - 1];
}

static float *floats(const tvms_dl_tensor *tensor) {
  return (float *)(void *)tvms_box_data(tensor);
}

// The scores or probabilities of one step, at least one.
static float *TVMS_NULLABLE row_at(tvms_box_args *a, int64_t *count) {
  const tvms_dl_tensor *tensor = tensor_at(a, 0, TVMS_DL_FLOAT);
  if (!tensor) return NULL;
  *count = last_size(tensor);
  bool one = *count > 0 && length(tensor) == *count;
  if (!one) tvms_box_refuse(a, "one row of at least one number");
  return one ? floats(tensor) : NULL;
}

static const int32_t *TVMS_NULLABLE tokens_at(tvms_box_args *a, int32_t i,
                                              int64_t *used) {
  const tvms_dl_tensor *tensor = tensor_at(a, i, TVMS_DL_INT);
  *used = tensor ? last_size(tensor) : 0;
  return tensor ? (const int32_t *)(void *)tvms_box_data(tensor) : NULL;
}

static tvms_sample_item *TVMS_NULLABLE room_for(tvms_box_args *a, int64_t count) {
  tvms_sample_item *items = malloc((size_t)count * sizeof *items);
  if (!items) tvms_box_no_memory(a);
  return items;
}

static int32_t give_token(tvms_box_args *a, int64_t chosen, tvms_any *result) {
  if (chosen < 0) return tvms_box_refuse(a, "a probability that is a number");
  *result = (tvms_any){.type_index = TVMS_ANY_INT, .v.i = chosen};
  return 0;
}

int32_t tvms_box_sample_top_p_from_prob(void *raise, const tvms_any *args,
                                        int32_t count, tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.sample_top_p_from_prob", args, count);
  int64_t size;
  const float *probabilities = row_at(&a, &size);
  double top_p = real_at(&a, 1), uniform = real_at(&a, 2);
  tvms_sample_item *items = a.failed ? NULL : room_for(&a, size);
  if (!items) return -1;
  int64_t chosen = tvms_sample_top_p(items, probabilities, size, top_p, uniform);
  free(items);
  return give_token(&a, chosen, result);
}

int32_t tvms_box_sample_top_p_from_logits(void *raise, const tvms_any *args,
                                          int32_t count, tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.sample_top_p_from_logits", args, count);
  int64_t size;
  const float *scores = row_at(&a, &size);
  double temperature = real_at(&a, 1), top_p = real_at(&a, 2), uniform = real_at(&a, 3);
  tvms_sample_item *items = a.failed ? NULL : room_for(&a, size);
  if (!items) return -1;
  int64_t chosen = tvms_sample_scores(items, scores, size, temperature, top_p, uniform);
  free(items);
  return give_token(&a, chosen, result);
}

int32_t tvms_box_multinomial_from_uniform(void *raise, const tvms_any *args,
                                          int32_t count, tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.multinomial_from_uniform", args, count);
  const tvms_dl_tensor *rows = tensor_at(&a, 0, TVMS_DL_FLOAT);
  const tvms_dl_tensor *numbers = rows ? tensor_at(&a, 1, TVMS_DL_FLOAT) : NULL;
  if (!numbers) return -1;
  int64_t sizes[] = {rows->shape[0], 1}, size = last_size(rows);
  bool fits =
      size > 0 && length(rows) == sizes[0] * size && length(numbers) >= sizes[0];
  if (!fits) return tvms_box_refuse(&a, "a number for each row");
  tvms_dl_type type = {TVMS_DL_INT, 64, 1};
  tvms_box_tensor *made = tvms_box_tensor_new(&a, type, 2, sizes, NULL, NULL);
  if (!made) return -1;
  for (int64_t i = 0; i < sizes[0]; i++)
    ((int64_t *)made->tensor.data)[i] =
        tvms_sample_one(floats(rows) + i * size, size, floats(numbers)[i]);
  return tvms_box_give(result, TVMS_ANY_TENSOR, made);
}

int32_t tvms_box_apply_repetition_penalty(void *raise, const tvms_any *args,
                                          int32_t count, tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.apply_repetition_penalty", args, count);
  int64_t size, used;
  float *scores = row_at(&a, &size);
  const int32_t *tokens = tokens_at(&a, 1, &used);
  double penalty = real_at(&a, 2);
  (void)result;
  if (a.failed) return -1;
  return tvms_sample_penalize(scores, size, tokens, used, penalty)
             ? 0
             : tvms_box_refuse(&a, "a token that has a score");
}

int32_t tvms_box_apply_presence_and_frequency_penalty(void *raise, const tvms_any *args,
                                                      int32_t count, tvms_any *result) {
  tvms_box_args a = tvms_box_open(
      raise, "vm.builtin.apply_presence_and_frequency_penalty", args, count);
  int64_t size, used, timed;
  float *scores = row_at(&a, &size);
  const int32_t *tokens = tokens_at(&a, 1, &used), *times = tokens_at(&a, 2, &timed);
  double once = real_at(&a, 3), often = real_at(&a, 4);
  (void)result;
  if (a.failed) return -1;
  if (timed < used) return tvms_box_refuse(&a, "a number for each token");
  return tvms_sample_penalize_often(scores, size, tokens, times, used, once, often)
             ? 0
             : tvms_box_refuse(&a, "a token that has a score");
}

int32_t tvms_box_apply_softmax_with_temperature(void *raise, const tvms_any *args,
                                                int32_t count, tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.apply_softmax_with_temperature", args, count);
  int64_t size;
  float *scores = row_at(&a, &size);
  double temperature = real_at(&a, 1);
  (void)result;
  if (a.failed) return -1;
  tvms_sample_softmax(scores, size, temperature);
  return 0;
}
