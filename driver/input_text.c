// Texts of inputs, which know nothing of the function that they are for.
#include "driver/input_text.h"

#include "ir/dtype.h"
#include "support/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *trimmed(tvms_arena *arena, const char *begin, const char *end) {
  while (begin < end && *begin == ' ')
    begin++;
  while (end > begin && end[-1] == ' ')
    end--;
  return tvms_arena_text(arena, begin, (size_t)(end - begin));
}

// The end of the part that begins here: a comma or the parenthesis that closes the tuple. NULL: neither comes.
static const char *TVMS_NULLABLE end_of_part(const char *at) {
  for (int depth = 0; *at; at++) {
    if (!depth && (*at == ',' || *at == ')')) return at;
    depth += (*at == '(') - (*at == ')');
  }
  return NULL;
}

const char **tvms_inputs_parts(tvms_arena *arena, const char *text, uint32_t *count) {
  const char **parts = tvms_arena_array(arena, const char *, strlen(text) + 1);
  *count = 0;
  if (*text++ != '(') return NULL;
  for (;;) {
    const char *end = end_of_part(text);
    if (!end) return NULL;
    const char *part = trimmed(arena, text, end);
    bool empty = !*part;
    if (empty && *end == ',') return NULL;
    if (!empty) parts[(*count)++] = part;
    text = end + 1;
    if (*end == ')') return *text ? NULL : parts;
  }
}

tvms_value tvms_inputs_of_scalar(tvms_dl_type type, tvms_scalar number) {
  if (tvms_scalar_kind_is_real(type.code))
    return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = number.f};
  bool is_bool = type.code == TVMS_DL_BOOL;
  return (tvms_value){.kind = is_bool ? TVMS_VALUE_BOOL : TVMS_VALUE_INT,
                      .i = number.i};
}

bool tvms_inputs_number(tvms_dl_type type, const char *text, tvms_value *value) {
  char *end;
  if (!*text || *text == ' ') return false;
  if (type.code == TVMS_DL_BOOL) {
    bool is = !strcmp(text, "True"), is_not = !strcmp(text, "False");
    *value = (tvms_value){.kind = TVMS_VALUE_BOOL, .i = is};
    return is || is_not;
  }
  errno = 0;
  if (tvms_scalar_kind_is_real(type.code)) {
    *value = (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = strtod(text, &end)};
    return !*end;
  }
  *value = (tvms_value){.kind = TVMS_VALUE_INT, .i = strtoll(text, &end, 10)};
  return !*end && !errno;
}

bool tvms_inputs_shape(tvms_arena *arena, tvms_heap *heap, const char *text,
                       tvms_value *value) {
  uint32_t count;
  const char **parts = tvms_inputs_parts(arena, text, &count);
  int64_t *sizes = tvms_arena_array(arena, int64_t, (size_t)count + 1);
  for (uint32_t i = 0; parts && i < count; i++) {
    tvms_value size;
    bool good = tvms_inputs_number((tvms_dl_type){TVMS_DL_INT, 64, 1}, parts[i], &size);
    if (!good || size.i < 0) return false;
    sizes[i] = size.i;
  }
  if (parts)
    *value = (tvms_value){.kind = TVMS_VALUE_SHAPE,
                          .tensor = tvms_shape_new(heap, (int32_t)count, sizes)};
  return parts != NULL;
}

static const char *other_type(tvms_context *context, const tvms_npy *npy,
                              tvms_dl_type wanted) {
  tvms_dl_type is = tvms_npy_type(npy);
  char texts[2][TVMS_DTYPE_TEXT];
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_dtype_text((tvms_dtype){is.code, is.bits, (int16_t)is.lanes}, texts[0]);
  tvms_dtype_text((tvms_dtype){wanted.code, wanted.bits, (int16_t)wanted.lanes},
                  texts[1]);
  tvms_strbuf_printf(&text, "its data type is %s, but that of the parameter is %s",
                     is.lanes ? texts[0] : "another one", texts[1]);
  const char *kept =
      tvms_arena_text(&context->arena, tvms_strbuf_text(&text), text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

const char *tvms_inputs_array(tvms_context *context, tvms_heap *heap,
                              tvms_input_files files, const char *path,
                              tvms_dl_type type, tvms_value *value) {
  const tvms_source *array = files.read(files.state, path);
  if (!array) {
    char reason[256];
    snprintf(reason, sizeof reason, "'%.128s' cannot be read: %s", path,
             strerror(errno));
    return tvms_arena_text(&context->arena, reason, strlen(reason));
  }
  tvms_npy npy;
  const char *wrong = tvms_npy_parse(&npy, array->text, array->size);
  if (wrong) return wrong;
  if (!type.lanes) type = tvms_npy_type(&npy);
  if (!tvms_npy_fits(&npy, type)) return other_type(context, &npy, type);
  tvms_tensor *tensor = tvms_npy_tensor(heap, &npy, array->text, type);
  if (!tensor) return "its tensor is too large";
  *value = tvms_value_of_tensor(tensor);
  return NULL;
}

tvms_value tvms_inputs_scalar_tensor(tvms_heap *heap, tvms_dl_type type,
                                     tvms_value number) {
  tvms_tensor *tensor = tvms_tensor_new(heap, type, 0, NULL);
  tvms_scalar scalar = {.i = number.i};
  if (number.kind == TVMS_VALUE_FLOAT) scalar.f = number.f;
  tvms_tensor_set(tensor, 0, tvms_scalar_fit(scalar, type));
  return tvms_value_of_tensor(tensor);
}

const char *tvms_inputs_tuple(tvms_context *context, tvms_heap *heap, const char *text,
                              uint32_t count, const char ***parts, tvms_value *value) {
  uint32_t given;
  *parts = tvms_inputs_parts(&context->arena, text, &given);
  if (*parts && given == count) {
    *value =
        (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tvms_tuple_new(heap, count)};
    return NULL;
  }
  char reason[64];
  snprintf(reason, sizeof reason, "a tuple of %u value%s is expected", count,
           tvms_diag_plural(count));
  return tvms_arena_text(&context->arena, reason, strlen(reason));
}

tvms_value tvms_inputs_unbox(tvms_value value) {
  if (value.kind != TVMS_VALUE_TENSOR || tvms_tensor_len(value.tensor) != 1)
    return value;
  return tvms_inputs_of_scalar(value.tensor->view.dtype,
                               tvms_tensor_get(value.tensor, 0));
}

int64_t tvms_inputs_next_field(const char **place) {
  const char *at = *place;
  char *end;
  if (*at++ != '.' || *at < '0' || *at > '9') return -1;
  errno = 0;
  int64_t field = strtoll(at, &end, 10);
  if (errno || (*end && *end != '.')) return -1;
  *place = end;
  return field;
}

size_t tvms_inputs_shorter(const char *name, size_t len) {
  while (len && name[len - 1] != '.')
    len--;
  return len ? len - 1 : 0;
}
