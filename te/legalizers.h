// The descriptions that the column `legalize` of ir/ops.def names.
#ifndef TVMS_TE_LEGALIZERS_H
#define TVMS_TE_LEGALIZERS_H

#include "te/legalize.h"

// Makes one tensor the result. Returns false for NULL.
TVMS_NODISCARD bool tvms_legal_return(tvms_legal *legal,
                                      tvms_node *TVMS_NULLABLE tensor);

// Each fills in legal->name and the results, or legal->replacement. Returns false if the
// call must stay as it is.
#define OP(ident, name, schema, bind, signature, infer, purity, legalize, since, doc)  \
  bool tvms_legalize_##legalize(tvms_legal *legal);
#include "ir/ops.def"

// The same for the descriptions that te/dispatch.def names.
#define DISPATCH(op, description)                                                      \
  bool tvms_te_dispatch_##description(tvms_legal *legal);
#include "te/dispatch.def"

// The same for the descriptions that te/fast.def names.
#define FAST(op, description) bool tvms_te_fast_##description(tvms_legal *legal);
#include "te/fast.def"

#endif
