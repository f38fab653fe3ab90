// Nodes of Relax that several passes make.
#ifndef TVMS_PASSES_RELAX_MAKE_H
#define TVMS_PASSES_RELAX_MAKE_H

#include "ir/build.h"
#include "ir/op.h"

// A scalar of TIR as a value of Relax, with its StructInfo.
tvms_node *tvms_relax_make_prim_value(tvms_unit *unit, tvms_node *value);

// R.call_tir(cls.<name>, args, out_ty=type). Scalars of TIR among the arguments are wrapped.
tvms_node *tvms_relax_make_call_tir(tvms_unit *unit, tvms_sym name, tvms_list args,
                                    tvms_node *type, tvms_span span);

#endif
