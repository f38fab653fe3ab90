// Calls of functions: their result by the type of the callee, and what a PrimFunc that
// call_tir calls says about its outputs.
#ifndef TVMS_STRUCTINFO_CALL_H
#define TVMS_STRUCTINFO_CALL_H

#include "structinfo/infer.h"

// Result of calling a function of the module, a variable or a packed function.
tvms_node *TVMS_NULLABLE tvms_infer_function_call(tvms_inference *in);

// What call_tir of `callee` with the arguments `args` writes, as it follows from the
// buffers of the PrimFunc: the last `outputs` of them, which get their sizes through the
// others. NULL if it cannot be told. `scalars` are the tir_vars (may be NULL).
tvms_node *TVMS_NULLABLE tvms_infer_prim_func_outputs(
    tvms_prover *prover, const tvms_prim_func *callee, tvms_list args,
    const tvms_node *TVMS_NULLABLE scalars, uint32_t outputs);

// Checks a call_tir against its PrimFunc, if that has been read; false after a report of
// where the stated type cannot hold.
bool tvms_infer_check_call_tir(tvms_inference *in);

// Reports a call that is not pure: in the pure function `function`, or, if that is NULL, in a
// dataflow block. A PrimFunc that is called directly is told how to be called.
void tvms_infer_report_impure(const tvms_module *module, const tvms_call *call,
                              tvms_span span, const char *TVMS_NULLABLE function);

// The PrimFunc of the module that `callee` names, if it has been read; else NULL.
const tvms_prim_func *TVMS_NULLABLE tvms_infer_called_prim_func(
    const tvms_module *TVMS_NULLABLE module, const tvms_node *callee);

#endif
