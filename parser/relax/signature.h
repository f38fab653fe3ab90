// Signatures of operators: the column of ops.def, parsed once per operator and reading.
#ifndef TVMS_PARSER_RELAX_SIGNATURE_H
#define TVMS_PARSER_RELAX_SIGNATURE_H

#include "parser/relax/state.h"

// The signature of an operator, from its row in ir/ops.def; parsed at first use and
// kept by the reader.
// The signature of an operator in the release that is read, parsed when it is first asked for.
// It lives as long as the reader.
const tvms_op_signature *tvms_relax_op_signature(tvms_reader *reader, tvms_opcode op);

#endif
