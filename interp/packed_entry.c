// What a caller of TVM's calling convention does: an array of arguments, and room for a result.
#include "interp/packed_entry.h"

#include "interp/buffer.h"
#include "interp/expr.h"
#include "interp/prim.h"
#include "ir/object.h"

#include <stddef.h>

enum { SELF, ARGS, COUNT, RESULT, PARAMS };

bool tvms_interp_is_packed_entry(const tvms_node *function) {
  if (function->kind != TVMS_NODE_PRIM_FUNC) return false;
  const tvms_prim_func *prim = tvms_as_prim_func(function);
  int64_t convention;
  const tvms_node *said =
      prim->attrs ? tvms_object_map_get(prim->attrs, "calling_conv") : NULL;
  if (prim->params.len != PARAMS || !tvms_object_as_int(said, &convention)
      || convention != 1)
    return false;
  for (uint32_t i = 0; i < PARAMS; i++) {
    bool handle = tvms_dtype_is_handle(prim->params.items[i]->dtype);
    if (prim->buffers.items[i] || handle == (i == COUNT)) return false;
  }
  return true;
}

static void add_tensor(tvms_interp_frame *f, tvms_tensor *tensor) {
  uint64_t sizes = sizeof *tensor->view.shape * (uint64_t)tensor->view.ndim;
  tvms_interp_add_region(f, &tensor->view, sizeof tensor->view);
  if (sizes) tvms_interp_add_region(f, tensor->view.shape, sizes);
  if (sizes && tensor->view.strides)
    tvms_interp_add_region(f, tensor->view.strides, sizes);
  tvms_interp_add_region(f, tensor->view.data, tensor->bytes);
}

tvms_any *tvms_interp_bind_packed(tvms_interp_frame *f, const tvms_value *args,
                                  uint32_t count) {
  tvms_list params = tvms_as_prim_func(f->member->function)->params;
  tvms_arena *arena = &f->context->scratch;
  tvms_any *any = tvms_arena_array(arena, tvms_any, count + 1);
  tvms_any *result = tvms_arena_new(arena, tvms_any);
  *result = (tvms_any){.type_index = TVMS_ANY_NONE};
  for (uint32_t i = 0; i < count; i++) {
    any[i] = tvms_interp_to_any(args[i]);
    if (args[i].kind == TVMS_VALUE_TENSOR) add_tensor(f, args[i].tensor);
  }
  tvms_interp_add_region(f, any, sizeof *any * (uint64_t)count);
  tvms_interp_add_region(f, result, sizeof *result);
  tvms_interp_bind_var(f, params.items[SELF], (tvms_scalar){.p = NULL});
  tvms_interp_bind_var(f, params.items[ARGS], (tvms_scalar){.p = any});
  tvms_interp_bind_var(f, params.items[COUNT], (tvms_scalar){.i = count});
  tvms_interp_bind_var(f, params.items[RESULT], (tvms_scalar){.p = result});
  return result;
}
