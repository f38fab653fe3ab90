// Calls of operators whose arguments no rule describes.
#ifndef TVMS_PARSER_TIR_INTRINSIC_H
#define TVMS_PARSER_TIR_INTRINSIC_H

#include "parser/tir/tir.h"

// T.tvm_access_ptr of five values: type, pointer, offset, extent, mask; unknown after a
// report.
tvms_eval_value tvms_tir_access_ptr(tvms_reader *reader,
                                    const tvms_eval_value values[5],
                                    const tvms_ref refs[5], tvms_ref ref);

// T.address_of(value); unknown after a report.
tvms_eval_value tvms_tir_address_of(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref);

#endif
