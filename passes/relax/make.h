// Nodes of Relax that several passes make.
#ifndef TVMS_PASSES_RELAX_MAKE_H
#define TVMS_PASSES_RELAX_MAKE_H

#include "ir/build.h"
#include "ir/module.h"
#include "ir/op.h"

// A scalar of TIR as a value of Relax, with its StructInfo.
tvms_node *tvms_relax_make_prim_value(tvms_unit *unit, tvms_node *value);

// The name of a function of the module, whose type nothing says: for calls of functions that
// a pass makes or gives another type.
tvms_node *tvms_relax_make_global_var(tvms_unit *unit, tvms_sym name);

// A parameter that is a function of a number and something else, which returns `result`: what
// weights are fetched with and results are handed over to.
tvms_node *tvms_relax_make_callback(tvms_unit *unit, const char *name,
                                    tvms_node *result, bool pure);

// R.call_tir(cls.<name>, args, out_ty=type). Scalars of TIR among the arguments are wrapped.
tvms_node *tvms_relax_make_call_tir(tvms_unit *unit, tvms_sym name, tvms_list args,
                                    tvms_node *type, tvms_span span);

// An int64 constant as a value of Relax.
tvms_node *tvms_relax_make_int(tvms_unit *unit, int64_t value);

// A text as a value of Relax; it is copied.
tvms_node *tvms_relax_make_text(tvms_unit *unit, const char *text);

// A data type as a value of Relax.
tvms_node *tvms_relax_make_dtype(tvms_unit *unit, tvms_dtype dtype);

// A shape of one dimension, which says a number of bytes.
tvms_node *tvms_relax_make_size(tvms_unit *unit, tvms_node *bytes);

// A call of an operator with arguments that have their types; so has the call.
tvms_node *tvms_relax_make_operator_call(tvms_unit *unit, tvms_opcode opcode,
                                         tvms_node *const *args, uint32_t count,
                                         tvms_span span);

// A call of the packed function `name`, whose result has the type `type`.
tvms_node *tvms_relax_make_packed_call(tvms_unit *unit, const char *name,
                                       tvms_node *const *args, uint32_t count,
                                       tvms_node *type, tvms_span span);

// R.call_builtin_with_ctx: as tvms_relax_make_packed_call with the state of the virtual machine
// in front of the arguments, which are the TUPLE `args`.
tvms_node *tvms_relax_make_context_call(tvms_unit *unit, const char *name,
                                        tvms_node *args, tvms_node *type,
                                        tvms_span span);

// Gives a call the type that follows from its arguments as they are now. A call of a
// function whose type is not at hand keeps the type it has.
void tvms_relax_infer_call(tvms_unit *unit, const tvms_module *TVMS_NULLABLE module,
                           tvms_node *call);

// The number in an argument, which may stand in R.prim_value; NULL: it is not a scalar of TIR.
tvms_node *TVMS_NULLABLE tvms_relax_scalar_of(tvms_node *argument);

// Bytes of one element in memory: whole ones, also of a bool.
int64_t tvms_relax_element_bytes(tvms_dtype dtype);

#endif
