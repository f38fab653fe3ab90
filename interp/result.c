// What a PrimFunc returns. Up to TVM 0.25 only T.ret says so, not the signature.
#include "interp/result.h"

#include "interp/interp.h"
#include "ir/build.h"
#include "ir/walk.h"

static tvms_walk_step look_for_return(void *self, tvms_node *node,
                                      tvms_field_role role) {
  tvms_dtype *dtype = self;
  (void)role;
  if (tvms_call_opcode(node) == TVMS_TIR_ret && tvms_as_call(node)->args.len) {
    *dtype = tvms_as_call(node)->args.items[0]->dtype;
  }
  if (node->kind == TVMS_NODE_RETURN && tvms_as_return(node)->value) {
    *dtype = tvms_as_return(node)->value->dtype;
  }
  return tvms_dtype_is_void(*dtype) ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// The dtype of a pointer or tensor type is that of its elements.
static tvms_dtype dtype_of_type(const tvms_node *TVMS_NULLABLE type) {
  if (type && type->kind == TVMS_NODE_SINFO_POINTER) return TVMS_DTYPE(HANDLE, 64);
  return type && type->kind == TVMS_NODE_SINFO_PRIM ? type->dtype : (tvms_dtype){0};
}

tvms_dtype tvms_interp_result_dtype(tvms_memory *memory, const tvms_node *prim_func) {
  const tvms_prim_func *function = tvms_as_prim_func(prim_func);
  tvms_dtype dtype = dtype_of_type(function->ret);
  tvms_visitor visitor = {.self = &dtype, .enter = look_for_return};
  if (tvms_dtype_is_void(dtype)) tvms_walk(memory, function->body, &visitor);
  return dtype;
}
