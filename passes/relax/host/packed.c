// A packed function is called by T.call_packed and writes into tensors that it is given: a tensor
// that it made itself would have a size that nobody knows, and T.call_packed gives 32 bits.
#include "passes/relax/host/packed.h"

#include "ir/build.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/values.h"
#include "structinfo/sinfo.h"

static const tvms_dtype pointer_type = {.code = TVMS_HANDLE, .bits = 64, .lanes = 1};

static tvms_node *zero_of(tvms_host *h, tvms_dtype dtype) {
  if (tvms_dtype_is_real(dtype))
    return tvms_float_imm_new(h->unit, dtype, 0, TVMS_NO_SPAN);
  return tvms_int_imm_new(h->unit, dtype, 0, TVMS_NO_SPAN);
}

// What a packed function takes for a tensor.
static tvms_node *packed_tensor(tvms_host *h, const tvms_host_value *tensor) {
  tvms_unit *unit = h->unit;
  tvms_node *dims =
      tvms_call_new_of(unit, pointer_type, TVMS_TIR_tvm_stack_make_shape,
                       tensor->dims.items, tensor->dims.len, TVMS_NO_SPAN);
  dims->sinfo =
      tvms_pointer_var_new(unit, 0, TVMS_DTYPE(INT, 64), 0, TVMS_NO_SPAN)->sinfo;
  tvms_dtype index = TVMS_DTYPE(INT, 32);
  tvms_node *args[] = {
      tensor->data,
      dims,
      zero_of(h, index),
      tvms_int_imm_new(unit, index, tensor->dims.len, TVMS_NO_SPAN),
      zero_of(h, tensor->dtype),
      zero_of(h, TVMS_DTYPE(INT, 64)),
  };
  return tvms_call_new_of(unit, pointer_type, TVMS_TIR_tvm_stack_make_array, args, 6,
                          TVMS_NO_SPAN);
}

static tvms_node *TVMS_NULLABLE packed_argument(tvms_host *h, tvms_node *node) {
  if (node->kind == TVMS_NODE_STRING_IMM) {
    tvms_bytes text = tvms_as_string_imm(node)->value;
    return tvms_string_imm_new(h->unit, text.text, text.len, node->span);
  }
  tvms_host_value *value = tvms_host_eval(h, node);
  if (!value) return NULL;
  if (value->kind == TVMS_HOST_TENSOR) return packed_tensor(h, value);
  if (value->kind == TVMS_HOST_NUMBER) return value->number;
  return tvms_host_refuse(
      h, node->span,
      "a packed function is passed neither a tensor, a number nor a text");
}

tvms_host_value *tvms_host_call_packed(tvms_host *h, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_bytes name = tvms_as_extern_func(call->callee)->symbol;
  bool nothing = !node->sinfo || node->sinfo->kind == TVMS_NODE_SINFO_OBJECT
                 || tvms_sinfo_is_void(node->sinfo);
  if (!nothing)
    return tvms_host_refuse(
        h, node->span,
        "a packed function makes its result; R.call_dps_packed has it write into one");
  tvms_node_vec args = {0};
  tvms_memory *memory = tvms_host_memory(h);
  tvms_vec_push(memory, &args,
                tvms_string_imm_new(h->unit, name.text, name.len, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < call->args.len && !h->failed; i++)
    tvms_vec_push(memory, &args, packed_argument(h, call->args.items[i]));
  tvms_node *made = NULL;
  if (!h->failed)
    made = tvms_call_new_of(h->unit, TVMS_DTYPE(INT, 32), TVMS_TIR_tvm_call_packed,
                            args.items, args.len, node->span);
  tvms_vec_fini(memory, &args);
  if (!made) return NULL;
  tvms_host_push(h, tvms_evaluate_new(h->unit, made, node->span));
  return tvms_host_value_new(h, TVMS_HOST_NOTHING);
}
