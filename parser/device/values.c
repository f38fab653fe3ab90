// What can be done with operators by their spelling below T, T.ptx.cp_async.
#include "parser/device/spelled.h"
#include "parser/eval/ops.h"

const tvms_eval_value_ops tvms_device_operator_ops = {
    .attribute = tvms_spelled_attribute,
    .call = tvms_spelled_call,
    .subscript = tvms_spelled_subscript,
};
