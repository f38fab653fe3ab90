// Calls of intrinsics of CUDA, PTX, NVSHMEM and NKI as programs write them: ir/device/wrappers.def says
// how their arguments become those of the operator.
#ifndef TVMS_PARSER_DEVICE_WRAPPER_H
#define TVMS_PARSER_DEVICE_WRAPPER_H

#include "ir/device/wrappers.h"
#include "parser/eval/eval.h"

// The row with this spelling below T in the dialect that is read, or NULL.
const tvms_wrapper *TVMS_NULLABLE tvms_wrapper_find(const tvms_reader *reader,
                                                    const char *path, size_t len);

// Does any row have a spelling that begins with `path.`?
bool tvms_wrapper_is_prefix(const tvms_reader *reader, const char *path, size_t len);

// The call of the operator that CALL stands for; unknown after a report.
tvms_eval_value tvms_wrapper_call(tvms_reader *reader, const tvms_wrapper *wrapper,
                                  tvms_ref call);

#endif
