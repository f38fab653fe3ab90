// Inference: the StructInfo of a call, by the rule of its operator or the type of its
// callee.
#ifndef TVMS_STRUCTINFO_INFER_H
#define TVMS_STRUCTINFO_INFER_H

#include "ir/module.h"
#include "ir/op.h"
#include "structinfo/relate.h"

// One call that is being inferred. The functions of the table get it.
typedef struct tvms_inference {
  tvms_prover *prover;
  tvms_unit *unit;  // of the function being built
  const tvms_module *TVMS_NULLABLE module;
  // What is being built around the call, to look bindings up; NULL: nothing.
  const struct tvms_builder *TVMS_NULLABLE builder;
  const tvms_call *call;
  tvms_opcode op;
  // Places of the arguments as written, as many as call->args; NULL: that of the call.
  const tvms_span *TVMS_NULLABLE arg_spans;
} tvms_inference;

// The rule of one operator. Returns NULL after a report.
typedef tvms_node *TVMS_NULLABLE tvms_infer_fn(tvms_inference *in);

// StructInfo of `in->call`, whose arguments have theirs: by operator, or by the function
// type of the callee. `in->op` need not be set. Returns NULL after a report.
tvms_node *TVMS_NULLABLE tvms_infer_call(tvms_inference *in);

// Are the shapes of all operands of this operator broadcast, and nothing else?
bool tvms_infer_is_broadcast(tvms_opcode opcode);

// True if calling this has no effect beyond its result: by operator, by the body of a PrimFunc
// of the module, by function type, or, where a name has none, by the function of the module.
bool tvms_infer_call_is_pure(const tvms_module *TVMS_NULLABLE module,
                             const tvms_call *call);

#endif
