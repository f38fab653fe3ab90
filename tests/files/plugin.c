#include <tvms/plugin.h>

#include <stdlib.h>
#include <string.h>

// my.scale(x, factor, y): y = x * factor, of float32.
static int scale(void *self, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)result;
  if (count != 3 || args[0].type_index != TVMS_ANY_DL_TENSOR
      || args[2].type_index != TVMS_ANY_DL_TENSOR) {
    tvms_plugin *plugin = self;
    plugin->raise(plugin, "TypeError", "my.scale takes two tensors and a number");
    return -1;
  }
  const tvms_dl_tensor *x = args[0].v.p, *y = args[2].v.p;
  double factor =
      args[1].type_index == TVMS_ANY_FLOAT ? args[1].v.f : (double)args[1].v.i;
  int64_t n = 1;
  for (int32_t i = 0; i < x->ndim; i++)
    n *= x->shape[i];
  for (int64_t i = 0; i < n; i++)
    ((float *)y->data)[i] = (float)(((float *)x->data)[i] * factor);
  return 0;
}

// my.add(a, b): a number.
static int add(void *self, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)self, (void)count;
  *result = args[0];
  if (args[0].type_index == TVMS_ANY_FLOAT)
    result->v.f += args[1].v.f;
  else
    result->v.i += args[1].v.i;
  return 0;
}

typedef struct {
  tvms_any_object head;
  tvms_dl_tensor tensor;
  int64_t shape[1];
  float data[];
} own_tensor;

static void free_tensor(void *object, int flags) {
  (void)flags;
  free(object);
}

// my.sizes(s): the numbers of a shape as a new tensor; my.sizes((x, s)) those of the field.
static int sizes(void *self, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)self, (void)count;
  const tvms_any *shape = args;
  if (args->type_index == TVMS_ANY_ARRAY)
    shape = *(tvms_any **)((char *)args->v.p + sizeof(tvms_any_object)) + 1;
  struct {
    int64_t *sizes;
    size_t count;
  } *content = (void *)((char *)shape->v.p + sizeof(tvms_any_object));
  own_tensor *made = calloc(1, sizeof *made + content->count * sizeof(float));
  made->head = (tvms_any_object){0x100000001, TVMS_ANY_TENSOR, 0, free_tensor};
  made->shape[0] = (int64_t)content->count;
  made->tensor = (tvms_dl_tensor){
      made->data, {TVMS_DL_CPU, 0}, 1, {TVMS_DL_FLOAT, 32, 1}, made->shape, NULL, 0};
  for (size_t i = 0; i < content->count; i++)
    made->data[i] = (float)content->sizes[i];
  result->type_index = TVMS_ANY_TENSOR;
  result->v.p = made;
  return 0;
}

// my.same(x): its argument.
static int same(void *self, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)self, (void)count;
  *result = args[0];
  return 0;
}

int tvms_plugin_open(tvms_plugin *plugin) {
  plugin->define(plugin, "my.scale", scale, plugin);
  plugin->define(plugin, "my.add", add, NULL);
  plugin->define(plugin, "my.sizes", sizes, NULL);
  plugin->define(plugin, "my.same", same, NULL);
  return 0;
}
