// Calls of PTX instructions from 0.27 on: T.ptx.ld.acquire.gpu.global_.b32(d, addr).
#ifndef TVMS_PARSER_DEVICE_PTX_H
#define TVMS_PARSER_DEVICE_PTX_H

#include "parser/device/room.h"
#include "parser/eval/eval.h"

// Does "ptx.family…" name an instruction of PTX in this dialect?
bool tvms_ptx_is_operator_family(const tvms_reader *reader, const char *path,
                                 size_t len);

// The call of an instruction by the path of its chain, "ptx.ld.global_.b32"; unknown after
// a report.
tvms_eval_value tvms_ptx_call(tvms_reader *reader, const char *path, size_t len,
                              tvms_ref call);

// T.ptx.pred(x) and T.ptx.addr(x, n).
tvms_eval_value tvms_ptx_call_pred(tvms_reader *reader, tvms_ref call);

// T.ptx.addr(x, n): an address and an offset in bytes, as the value of kind PTX that
// a call of an instruction takes apart. Unknown after a report.
tvms_eval_value tvms_ptx_call_addr(tvms_reader *reader, tvms_ref call);

#endif
