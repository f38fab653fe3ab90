// Reading the attributes of LowerRelaxToTIR, which a text may have changed.
#include "ir/contract.h"

#include "ir/object.h"

#include <string.h>

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number of parameters that a text stands for; false if it is not such a text.
static bool count_params(const char *text, bool shapes_are_numbers, uint32_t *count) {
  uint32_t depth = 0;
  *count = 0;
  for (const char *at = text; *at; at++) {
    if (*at == '(') {
      depth++;
    } else if (*at == ')') {
      if (!depth--) return false;
    } else if (*at == 't' || *at == 'n' || *at == 'o') {
      (*count)++;
    } else if (*at == 's') {
      uint32_t rank = 0;
      if (!is_digit(at[1])) return false;
      for (; is_digit(at[1]) && rank < 1000; at++)
        rank = rank * 10 + (uint32_t)(at[1] - '0');
      *count += shapes_are_numbers ? rank : 1;
    } else {
      return false;
    }
  }
  return depth == 0;
}

static bool is_object(const tvms_prim_func *function, uint32_t at) {
  return !function->buffers.items[at]
         && tvms_dtype_is_handle(function->params.items[at]->dtype);
}

// Are there buffers where the texts say tensors and results, and numbers elsewhere?
static bool fits(const tvms_prim_func *function, const tvms_contract *c) {
  uint32_t at = 0;
  for (const char *text = c->input_text; text && *text; text++) {
    if (*text == 't' && !function->buffers.items[at++]) return false;
    if (*text == 'n' && function->buffers.items[at++]) return false;
    if (*text == 'o' && !is_object(function, at++)) return false;
    if (*text != 's') continue;
    uint32_t rank = 0;
    for (; is_digit(text[1]); text++)
      rank = rank * 10 + (uint32_t)(text[1] - '0');
    for (; rank; rank--) {
      if (function->buffers.items[at++]) return false;
    }
  }
  at = c->inputs;
  for (const char *text = c->result_text; *text; text++) {
    if (!tvms_contract_is_value(*text)) continue;
    bool object = *text == 'o';
    if (object ? !is_object(function, at) : !function->buffers.items[at]) return false;
    at++;
  }
  return !c->has_workspace || function->buffers.items[at];
}

uint32_t tvms_contract_items(const char *text) {
  uint32_t depth = 0, count = 0;
  for (; *text && (depth || *text != ')'); text++) {
    count += !depth && (tvms_contract_is_value(*text) || *text == '(');
    if (*text == '(') depth++;
    if (*text == ')') depth--;
  }
  return count;
}

tvms_contract tvms_call_contract(const tvms_prim_func *function) {
  uint32_t params = function->params.len, counted;
  tvms_contract all = {.inputs = params}, c = all;
  int64_t inputs;
  c.result_text =
      tvms_object_as_text(tvms_object_map_get(function->attrs, TVMS_CONTRACT_RESULT));
  c.input_text =
      tvms_object_as_text(tvms_object_map_get(function->attrs, TVMS_CONTRACT_INPUTS));
  const tvms_node *count =
      tvms_object_map_get(function->attrs, TVMS_CONTRACT_INPUT_COUNT);
  bool good = c.result_text && tvms_object_as_int(count, &inputs) && inputs >= 0
              && inputs <= params && count_params(c.result_text, false, &c.results);
  if (!good) return all;
  c.inputs = (uint32_t)inputs;
  if (c.input_text
      && (!count_params(c.input_text, true, &counted) || counted != c.inputs))
    return all;
  uint32_t rest = params - c.inputs;
  if (c.results > rest || rest - c.results > 1) return all;
  c.has_workspace = rest > c.results;
  return fits(function, &c) ? c : all;
}

uint32_t tvms_call_scratch(const tvms_prim_func *function) {
  int64_t count;
  uint32_t params = function->params.len;
  const tvms_node *said = tvms_object_map_get(function->attrs, TVMS_CONTRACT_SCRATCH);
  if (!tvms_object_as_int(said, &count) || count < 0 || count > params) return 0;
  for (uint32_t i = params - (uint32_t)count; i < params; i++) {
    bool pointer = tvms_dtype_is_handle(function->params.items[i]->dtype);
    if (!pointer || function->buffers.items[i]) return 0;
  }
  return (uint32_t)count;
}
