// From a call of an operator of Relax to the PrimFunc that computes it.
//
// The column `legalize` of ir/ops.def names the description of an operator:
// tvms_legalize_<name> of one of the files te/legalize_*.c.
#ifndef TVMS_TE_LEGALIZE_H
#define TVMS_TE_LEGALIZE_H

#include "ir/clone.h"
#include "ir/op.h"
#include "te/topi.h"

// A call being legalised. The PrimFunc lies in te.unit, which is not the caller's unit;
// its symbolic variables are fresh, and inner[i] stands for the caller's outer[i].
typedef struct {
  tvms_te te;
  tvms_unit *caller;
  const tvms_call *call;
  const void *TVMS_NULLABLE what;  // more than the call says, of tvms_legalize_as
  const char *name;                // of the PrimFunc to be made
  tvms_node_vec args;              // values of the caller that call_tir passes
  tvms_node_vec sizes;  // variables of the caller that call_tir passes as tir_vars
  tvms_node_vec outer;  // symbolic variables of the caller
  tvms_node_vec inner;  // what stands for them in the PrimFunc
  tvms_node_map known;  // what was copied from the caller
} tvms_legal;

// What comes out. Nodes of `args` and `types` lie in the caller's unit.
typedef struct {
  tvms_node *function;  // PRIM_FUNC in the unit given
  const char *name;     // to be made unique in the module
  tvms_list args;
  tvms_list types;                   // SINFO_TENSOR of each output
  tvms_list sizes;                   // VAR, tir_vars of call_tir; none from 0.24 on
  tvms_node *TVMS_NULLABLE vdevice;  // of the outputs
} tvms_legalized;

// Whether the shapes and dtypes of all arguments and of the result are known, which TVM asks
// before it legalises.
bool tvms_legalize_is_possible(const tvms_call *call);

// The same without the dtypes, for operators that compute nothing.
bool tvms_legalize_knows_sizes(const tvms_call *call);

// ---- For descriptions ----

// An argument of the call as a tensor, which becomes a parameter.
tvms_node *tvms_legal_tensor(tvms_legal *legal, const tvms_node *arg);
// A PRIM_VALUE or a variable of scalar type: what no tensor can be made of.
static inline bool tvms_legal_is_prim(const tvms_node *arg) {
  return arg->kind == TVMS_NODE_PRIM_VALUE
         || (arg->sinfo && arg->sinfo->kind == TVMS_NODE_SINFO_PRIM);
}

// The value of a constant scalar or of a scalar of Relax, or NULL.
tvms_node *TVMS_NULLABLE tvms_legal_scalar(tvms_legal *legal, const tvms_node *arg);
// As tvms_legal_tensor, but a scalar is its value.
tvms_node *tvms_legal_operand(tvms_legal *legal, const tvms_node *arg);
// The value of a constant scalar, or NULL.
tvms_node *TVMS_NULLABLE tvms_legal_constant(tvms_legal *legal, const tvms_node *arg);
// An expression of TIR over the caller's variables, or a scalar of Relax, in te.unit. A
// scalar variable becomes a parameter where it is first asked for.
tvms_node *tvms_legal_expr(tvms_legal *legal, const tvms_node *expr);
// The values of a shape of the caller; false if they are not known.
TVMS_NODISCARD bool tvms_legal_shape(tvms_legal *legal, const tvms_node *shape,
                                     tvms_list *values);
// Shape and dtype that inference found for the call.
TVMS_NODISCARD bool tvms_legal_result_shape(tvms_legal *legal, tvms_list *values);

// The dtype that inference found for the call.
tvms_dtype tvms_legal_result_dtype(const tvms_legal *legal);

static inline const tvms_node *tvms_legal_arg(const tvms_legal *legal, uint32_t i) {
  return legal->call->args.items[i];
}

// Flags of the axes in attribute `place` (a list, NULL: all), one per dimension.
bool *tvms_legal_axes(tvms_legal *legal, uint32_t rank, tvms_list axes, bool all);
// An axis that may count from the end.
static inline uint32_t tvms_legal_axis(int64_t axis, uint32_t rank) {
  return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

#endif
