// Functions of TVM's run time that choose the next token of a model (runtime/sample.h).
#include "interp/builtin.h"
#include "runtime/sample.h"

static double real_at(const tvms_builtin *b, uint32_t i) {
  tvms_value value = tvms_interp_builtin_at(b, i);
  if (value.kind == TVMS_VALUE_FLOAT) return value.f;
  if (value.kind != TVMS_VALUE_INT)
    tvms_interp_builtin_refuse(b, "a number is expected");
  return (double)value.i;
}

static tvms_tensor *tensor_at(const tvms_builtin *b, uint32_t i, uint8_t code) {
  tvms_tensor *tensor = tvms_interp_builtin_tensor(b, i);
  tvms_dl_type type = tensor->view.dtype;
  bool fits =
      tensor->view.ndim > 0 && type.code == code && type.bits == 32 && type.lanes == 1;
  if (!fits)
    tvms_interp_builtin_refuse(b, code == TVMS_DL_INT
                                      ? "a tensor of int32 is expected"
                                      : "a tensor of float32 is expected");
  return tensor;
}

static int64_t last_size(const tvms_tensor *tensor) {
  return tensor->shape[tensor->view.ndim - 1];
}

// The scores or probabilities of one step, at least one.
static float *row_at(const tvms_builtin *b, int64_t *count) {
  const tvms_tensor *tensor = tensor_at(b, 0, TVMS_DL_FLOAT);
  *count = last_size(tensor);
  if (*count < 1 || tvms_tensor_len(tensor) != *count)
    tvms_interp_builtin_refuse(b, "one row of at least one number is expected");
  return tensor->view.data;
}

static const int32_t *tokens_at(const tvms_builtin *b, uint32_t i, int64_t *used) {
  const tvms_tensor *tensor = tensor_at(b, i, TVMS_DL_INT);
  *used = last_size(tensor);
  return tensor->view.data;
}

tvms_value tvms_interp_builtin_sample_top_p_from_prob(const tvms_builtin *b) {
  int64_t count;
  const float *probabilities = row_at(b, &count);
  tvms_sample_item *items = tvms_builtin_scratch(b, tvms_sample_item, count);
  int64_t chosen =
      tvms_sample_top_p(items, probabilities, count, real_at(b, 1), real_at(b, 2));
  if (chosen < 0)
    tvms_interp_builtin_refuse(b, "a probability that is a number is expected");
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = chosen};
}

tvms_value tvms_interp_builtin_sample_top_p_from_logits(const tvms_builtin *b) {
  int64_t count;
  const float *scores = row_at(b, &count);
  tvms_sample_item *items = tvms_builtin_scratch(b, tvms_sample_item, count);
  int64_t chosen = tvms_sample_scores(items, scores, count, real_at(b, 1),
                                      real_at(b, 2), real_at(b, 3));
  return (tvms_value){.kind = TVMS_VALUE_INT, .i = chosen};
}

tvms_value tvms_interp_builtin_multinomial_from_uniform(const tvms_builtin *b) {
  const tvms_tensor *rows = tensor_at(b, 0, TVMS_DL_FLOAT);
  const tvms_tensor *numbers = tensor_at(b, 1, TVMS_DL_FLOAT);
  int64_t shape[] = {rows->shape[0], 1}, count = last_size(rows);
  bool fits = count > 0 && tvms_tensor_len(rows) == shape[0] * count
              && tvms_tensor_len(numbers) >= shape[0];
  if (!fits) tvms_interp_builtin_refuse(b, "a number for each row is expected");
  tvms_dl_type type = {TVMS_DL_INT, 64, 1};
  tvms_tensor *made = tvms_interp_builtin_new_tensor(b, type, 2, shape);
  const float *probabilities = rows->view.data, *uniform = numbers->view.data;
  for (int64_t i = 0; i < shape[0]; i++)
    ((int64_t *)made->view.data)[i] =
        tvms_sample_one(probabilities + i * count, count, uniform[i]);
  return tvms_value_of_tensor(made);
}

tvms_value tvms_interp_builtin_apply_repetition_penalty(const tvms_builtin *b) {
  int64_t count, used;
  float *scores = row_at(b, &count);
  const int32_t *tokens = tokens_at(b, 1, &used);
  if (!tvms_sample_penalize(scores, count, tokens, used, real_at(b, 2)))
    tvms_interp_builtin_refuse(b, "tokens that have a score are expected");
  return (tvms_value){0};
}

tvms_value
tvms_interp_builtin_apply_presence_and_frequency_penalty(const tvms_builtin *b) {
  int64_t count, used, timed;
  float *scores = row_at(b, &count);
  const int32_t *tokens = tokens_at(b, 1, &used), *times = tokens_at(b, 2, &timed);
  if (timed < used)
    tvms_interp_builtin_refuse(b, "a number for each token is expected");
  if (!tvms_sample_penalize_often(scores, count, tokens, times, used, real_at(b, 3),
                                  real_at(b, 4)))
    tvms_interp_builtin_refuse(b, "tokens that have a score are expected");
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_apply_softmax_with_temperature(const tvms_builtin *b) {
  int64_t count;
  float *scores = row_at(b, &count);
  tvms_sample_softmax(scores, count, real_at(b, 1));
  return (tvms_value){0};
}
