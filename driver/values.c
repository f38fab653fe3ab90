// Text of values: a tensor by its type, its statistics and its first elements.
#include "driver/values.h"

#include "driver/inputs.h"
#include "driver/written.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN_ELEMENTS = 6 };

static double number_at(const tvms_tensor *tensor, int64_t at) {
  tvms_scalar item = tvms_tensor_get(tensor, at);
  uint8_t code = tensor->view.dtype.code;
  if (tvms_scalar_kind_is_real(code)) return item.f;
  return code == TVMS_DL_UINT ? (double)(uint64_t)item.i : (double)item.i;
}

static void add_type(tvms_strbuf *out, const tvms_tensor *tensor) {
  char text[TVMS_DTYPE_TEXT];
  tvms_dl_type type = tensor->view.dtype;
  tvms_dtype dtype = {type.code, type.code == TVMS_BOOL ? 1 : type.bits,
                      (int16_t)type.lanes};
  tvms_strbuf_printf(out, "%s[", tvms_dtype_text(dtype, text));
  for (int32_t i = 0; i < tensor->view.ndim; i++) {
    tvms_strbuf_printf(out, i ? ", %lld" : "%lld", (long long)tensor->shape[i]);
  }
  tvms_strbuf_putc(out, ']');
}

static void add_number(tvms_strbuf *out, double value) {
  // The sign of NaN says nothing.
  if (isnan(value))
    tvms_strbuf_puts(out, "nan");
  else
    tvms_strbuf_printf(out, "%.6g", value);
}

// Least, greatest and mean of what is a number, and how many are none.
static void add_statistics(tvms_strbuf *out, const tvms_tensor *tensor) {
  int64_t len = tvms_tensor_len(tensor), nans = 0;
  double least = INFINITY, greatest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < len; i++) {
    double value = number_at(tensor, i);
    nans += isnan(value);
    if (isnan(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    sum += value;
  }
  if (len > nans) {
    tvms_strbuf_printf(out, "  min %.6g  max %.6g  mean ", least, greatest);
    add_number(out, sum / (double)(len - nans));
  }
  if (nans) tvms_strbuf_printf(out, "  %lld NaN", (long long)nans);
}

static void add_elements(tvms_strbuf *out, const tvms_tensor *tensor) {
  int64_t len = tvms_tensor_len(tensor);
  tvms_strbuf_puts(out, "  [");
  for (int64_t i = 0; i < len && i < SHOWN_ELEMENTS; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    add_number(out, number_at(tensor, i));
  }
  tvms_strbuf_puts(out, len > SHOWN_ELEMENTS ? ", ...]" : "]");
}

static void add_shape(tvms_strbuf *out, const tvms_tensor *shape) {
  tvms_strbuf_puts(out, "(");
  for (int32_t i = 0; i < shape->view.ndim; i++) {
    tvms_strbuf_printf(out, i ? ", %lld" : "%lld", (long long)shape->shape[i]);
  }
  tvms_strbuf_puts(out, shape->view.ndim == 1 ? ",)" : ")");
}

void tvms_values_add(tvms_strbuf *out, tvms_value value) {
  switch (value.kind) {
  case TVMS_VALUE_TENSOR:
    add_type(out, value.tensor);
    add_statistics(out, value.tensor);
    add_elements(out, value.tensor);
    break;
  case TVMS_VALUE_SHAPE: add_shape(out, value.tensor); break;
  case TVMS_VALUE_INT: tvms_strbuf_int(out, value.i); break;
  case TVMS_VALUE_BOOL: tvms_strbuf_puts(out, value.i ? "True" : "False"); break;
  case TVMS_VALUE_FLOAT: tvms_strbuf_printf(out, "%.17g", value.f); break;
  case TVMS_VALUE_STR: tvms_strbuf_puts(out, value.text ? value.text : ""); break;
  case TVMS_VALUE_FUNCTION:
  case TVMS_VALUE_CLOSURE: tvms_strbuf_puts(out, "a function"); break;
  default: tvms_strbuf_puts(out, "nothing");
  }
}

// A number as a tensor without dimensions, so that it has a file too.
tvms_tensor *tvms_values_box(tvms_heap *heap, tvms_value value) {
  static const tvms_dl_type types[] = {[TVMS_VALUE_INT] = {TVMS_DL_INT, 64, 1},
                                       [TVMS_VALUE_FLOAT] = {TVMS_DL_FLOAT, 64, 1},
                                       [TVMS_VALUE_BOOL] = {TVMS_DL_BOOL, 8, 1}};
  bool number = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_FLOAT
                || value.kind == TVMS_VALUE_BOOL;
  if (!number) return value.kind == TVMS_VALUE_TENSOR ? value.tensor : NULL;
  tvms_tensor *tensor = tvms_tensor_new(heap, types[value.kind], 0, NULL);
  tvms_scalar scalar = {.i = value.i};
  if (tensor) tvms_tensor_set(tensor, 0, scalar);
  return tensor;
}

// Each "{}" of the format is one value; what is left over follows.
void tvms_values_print(tvms_strbuf *out, const char *format, const tvms_value *values,
                       uint32_t count) {
  uint32_t used = 0;
  for (const char *at = format; *at; at++) {
    if (used < count && at[0] == '{' && at[1] == '}') {
      tvms_values_add(out, values[used++]);
      at++;
    } else {
      tvms_strbuf_putc(out, *at);
    }
  }
  for (; used < count; used++) {
    if (used || *format) tvms_strbuf_putc(out, ' ');
    tvms_values_add(out, values[used]);
  }
  tvms_strbuf_putc(out, '\n');
}

// Fields of a tuple are "result.0" and so on.
void tvms_values_each(const char *name, tvms_value value, tvms_value_visit *visit,
                      void *self) {
  if (value.kind != TVMS_VALUE_TUPLE) {
    visit(self, name, value);
    return;
  }
  for (uint32_t i = 0; i < value.tuple->len; i++) {
    char part[256];
    snprintf(part, sizeof part, "%s.%u", name, i);
    tvms_values_each(part, value.tuple->items[i], visit, self);
  }
}

// A PrimFunc gives what it writes to.
static void visit_written(tvms_context *context, const tvms_member *entry,
                          const tvms_value *values, tvms_value_visit *visit,
                          void *self) {
  uint32_t count = tvms_inputs_param_count(entry), written = 0, shown = 0;
  bool *is_written = tvms_memory_alloc(&context->memory, count + 1);
  tvms_inputs_find_written(context, entry, is_written);
  for (uint32_t i = 0; i < count; i++) {
    written += is_written[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!is_written[i]) continue;
    char name[64] = "result";
    if (written > 1) snprintf(name, sizeof name, "result.%u", shown++);
    bool object = tvms_inputs_param_is_object(entry, i);
    tvms_values_each(name, object ? values[i].tuple->items[0] : values[i], visit, self);
  }
  tvms_memory_free(&context->memory, is_written);
}

void tvms_values_each_result(tvms_context *context, const tvms_member *entry,
                             const tvms_value *values, tvms_value result,
                             tvms_value_visit *visit, void *self) {
  bool is_prim = entry->function->kind == TVMS_NODE_PRIM_FUNC;
  if (is_prim && result.kind == TVMS_VALUE_NONE)
    visit_written(context, entry, values, visit, self);
  else
    tvms_values_each("result", result, visit, self);
}
