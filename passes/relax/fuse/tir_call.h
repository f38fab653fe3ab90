// Calls of PrimFuncs in Relax functions, and whether a PrimFunc could make them.
#ifndef TVMS_PASSES_RELAX_FUSE_TIR_CALL_H
#define TVMS_PASSES_RELAX_FUSE_TIR_CALL_H

#include "passes/functions.h"
#include "structinfo/definitions.h"
#include "structinfo/dims.h"
#include "support/vec.h"

// The function in which the calls stand.
typedef struct {
  tvms_pass_run *run;
  tvms_unit *unit;
  const tvms_relax_definitions *definitions;
  tvms_prover *prover;  // which knows what sizes are not negative
  // Where sizes need not be proved: gets what must hold when the call runs. NULL: they must.
  tvms_node_vec *TVMS_NULLABLE doubts;
} tvms_fuse_caller;

// The call of a PrimFunc of the module in a binding; NULL: it is none. `*callee` gets the
// index of the member, `*in_place` whether it writes into tensors that it is given.
const tvms_call *TVMS_NULLABLE tvms_fuse_tir_call_of(const tvms_fuse_caller *f,
                                                     const tvms_node *binding,
                                                     uint32_t *callee, bool *in_place);

// What is handed over for one parameter of a callee.
typedef struct {
  tvms_node *TVMS_NULLABLE value;  // a variable, or a number; NULL: a result
  tvms_node *TVMS_NULLABLE type;   // of a variable or a result; NULL: a number
} tvms_fuse_passed;

typedef TVMS_VEC(tvms_fuse_passed) tvms_fuse_passed_list;

// Appends what the call hands over, in the order of the callee's parameters: arguments, results
// of call_tir, and the sizes of `tir_vars`.
void tvms_fuse_tir_call_passed(const tvms_fuse_caller *f, const tvms_call *call,
                               bool in_place, tvms_fuse_passed_list *passed);

// The variable that a copy of a variable names.
tvms_node *tvms_fuse_tir_call_original(const tvms_fuse_caller *f, tvms_node *var);

// Why the call cannot be made by a PrimFunc with pointers; NULL: it can.
const char *TVMS_NULLABLE tvms_fuse_tir_call_obstacle(const tvms_fuse_caller *f,
                                                      const tvms_node *binding,
                                                      const tvms_call *call,
                                                      uint32_t callee, bool in_place);

#endif
