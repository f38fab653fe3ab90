// What LegalizeOps writes vision.all_class_non_max_suppression as.
#ifndef TVMS_PASSES_RELAX_LOWER_EXPAND_SUPPRESSION_H
#define TVMS_PASSES_RELAX_LOWER_EXPAND_SUPPRESSION_H

#include "passes/relax/lower/expand_ops.h"

// As tvms_relax_expand_op for such a call. NULL if it gives tables, of which all rows count, or
// has a form that has no description.
tvms_node *TVMS_NULLABLE tvms_relax_expand_suppression(tvms_expansion *e,
                                                       tvms_node *call);

#endif
