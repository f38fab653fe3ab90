// LowerAllocTensor: a tensor is a place in memory of its own.
//
// Before: alloc = R.builtin.alloc_tensor(R.shape([2, n]), R.dtype("float32"), 0, "global")
// After:  storage = R.memory.alloc_storage(R.shape([8 * n]), 0, "global", R.dtype("uint8"))
//         alloc = R.memory.alloc_tensor(storage, 0, R.shape([2, n]), R.dtype("float32"), 0)
//
// Textures, whose size the run time of a device tells, are not known here.
// TVM: relax.transform.LowerAllocTensor.
#include "ir/fold.h"
#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

// The bytes of a tensor: TVM multiplies from the left and folds constants only.
static tvms_node *TVMS_NULLABLE bytes_of(tvms_unit *unit, tvms_list dims,
                                         tvms_dtype dtype) {
  tvms_node *bytes = tvms_sinfo_dim_new(unit, tvms_relax_element_bytes(dtype));
  for (uint32_t i = 0; i < dims.len && bytes; i++) {
    bytes = tvms_build_binary(unit, TVMS_NODE_MUL, bytes, dims.items[i], TVMS_NO_SPAN);
  }
  return bytes;
}

static tvms_node *lower_call(tvms_rewriter *rewriter, tvms_node *node) {
  if (tvms_op_called(node) != TVMS_R_builtin_alloc_tensor) return node;
  tvms_unit *unit = rewriter->unit;
  tvms_node **args = tvms_as_call(node)->args.items;
  tvms_list dims;
  bool known = args[0]->sinfo && tvms_sinfo_dims(args[0]->sinfo, &dims);
  if (!known || args[1]->kind != TVMS_NODE_DTYPE_IMM) {
    tvms_diag_report(&unit->context->diags, TVMS_D_output_shape, node->span);
    return node;
  }
  tvms_node *bytes = bytes_of(unit, dims, tvms_as_dtype_imm(args[1])->value);
  if (!bytes) return node;
  tvms_node *wanted[] = {
      tvms_relax_make_size(unit, bytes),
      args[2],
      args[3],
      tvms_relax_make_dtype(unit, TVMS_DTYPE(UINT, 8)),
  };
  tvms_node *storage =
      tvms_relax_emit(rewriter->self, rewriter,
                      tvms_relax_make_operator_call(unit, TVMS_R_memory_alloc_storage,
                                                    wanted, 4, node->span),
                      "storage");
  tvms_node *placed[] = {storage, tvms_relax_make_int(unit, 0), args[0], args[1],
                         args[2]};
  return tvms_relax_make_operator_call(unit, TVMS_R_memory_alloc_tensor, placed, 5,
                                       node->span);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  tvms_relax_emitter emitter;
  tvms_relax_emitter_init(&emitter, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &emitter);
  tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_CALL] = lower_call;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_emitter_fini(&emitter);
  return changed;
}

void tvms_pass_lower_alloc_tensor(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
