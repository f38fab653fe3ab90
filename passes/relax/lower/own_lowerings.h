// Lowerings of operators that the user has written: PrimFuncs of a file, or of a class of the
// same text, that say in the attribute "tvms.lowers" which operator they compute.
//
//   @T.prim_func(private=True)
//   def soft_clip(x: T.Buffer((n, m), "float32"), alpha: T.float64, y: T.Buffer((n, m), "float32")):
//       T.func_attr({"tvms.lowers": "relax.nn.leakyrelu"})
//
// Buffers are the operands of the operator, in order, and behind them its results. A scalar is
// the attribute of its name, else the operand that is a number. Sizes that are variables are
// what the call has there.
#ifndef TVMS_PASSES_RELAX_LOWER_OWN_LOWERINGS_H
#define TVMS_PASSES_RELAX_LOWER_OWN_LOWERINGS_H

#include "passes/relax/mutator.h"

typedef struct {
  const tvms_member *member;
  tvms_opcode opcode;  // of the operator that it lowers
} tvms_own_lowering;

typedef struct {
  tvms_source *TVMS_NULLABLE source;  // that the functions stand in
  bool must_fit;                      // a call that none fits is an error
  TVMS_VEC(tvms_own_lowering) items;
} tvms_own_lowerings;

// Finds the lowerings of the class `name` of the program, or else of the file of that name.
// Reports what is wrong with them, in their source; false if none can be used. `fini` frees
// the list in both cases; what was read stays with the context.
TVMS_NODISCARD bool tvms_relax_own_lowerings_init(tvms_own_lowerings *own,
                                                  tvms_pass_run *run, const char *name);

// Frees the list.
void tvms_relax_own_lowerings_fini(tvms_own_lowerings *own, tvms_memory *memory);

// The call of the first lowering that fits, whose PrimFunc is put into the module; NULL: there
// is none, which is noted with the reason if one is for this operator.
tvms_node *TVMS_NULLABLE tvms_relax_own_lowering_of(const tvms_own_lowerings *own,
                                                    tvms_relax_mutator *m,
                                                    tvms_node *node);

#endif
