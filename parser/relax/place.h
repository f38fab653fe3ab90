// Findings of inference at the argument that is wrong.
#ifndef TVMS_PARSER_RELAX_PLACE_H
#define TVMS_PARSER_RELAX_PLACE_H

#include "parser/relax/argument.h"

// Inference knows a call and its operands, not how attributes were written: findings behind
// `before` (NULL: all) that stand at the whole call move to the argument that they are about,
// where the text gives it. `given`: the parameters that it gives.
void tvms_relax_place_findings(const tvms_relax_op_call *call, uint64_t given,
                               const tvms_diag *TVMS_NULLABLE before);

#endif
