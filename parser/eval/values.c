// What can be done with Python's own values.
#include "parser/eval/attribute.h"
#include "parser/eval/builtin.h"
#include "parser/eval/closure.h"
#include "parser/eval/iterate.h"
#include "parser/eval/ops.h"
#include "parser/eval/subscript.h"

// Nothing but what every object has.
const tvms_eval_value_ops tvms_eval_plain_ops = {0};

const tvms_eval_value_ops tvms_eval_str_ops = {
    .attribute = tvms_eval_text_attribute,
    .method = tvms_eval_text_method,
    .subscript = tvms_eval_sequence_subscript,
    .iterate = tvms_eval_text_iterate,
};

const tvms_eval_value_ops tvms_eval_dtype_ops = {.attribute =
                                                     tvms_eval_dtype_attribute};

// Tuples and lists.
const tvms_eval_value_ops tvms_eval_sequence_ops = {
    .attribute = tvms_eval_list_attribute,
    .method = tvms_eval_list_method,
    .subscript = tvms_eval_sequence_subscript,
};

const tvms_eval_value_ops tvms_eval_dict_ops = {
    .attribute = tvms_eval_dict_attribute,
    .method = tvms_eval_dict_method,
    .subscript = tvms_eval_dict_subscript,
    .iterate = tvms_eval_dict_iterate,
};

const tvms_eval_value_ops tvms_eval_range_ops = {
    .subscript = tvms_eval_range_subscript,
    .iterate = tvms_eval_range_iterate,
};

const tvms_eval_value_ops tvms_eval_slice_ops = {.attribute =
                                                     tvms_eval_slice_attribute};

const tvms_eval_value_ops tvms_eval_lambda_ops = {.call = tvms_closure_call};
const tvms_eval_value_ops tvms_eval_macro_ops = {.call = tvms_closure_call_macro};
const tvms_eval_value_ops tvms_eval_builtin_ops = {.call = tvms_builtin_call};

// Methods are called; which of them take subscripts the receiver knows.
const tvms_eval_value_ops tvms_eval_method_ops = {
    .call = tvms_eval_call_method,
    .subscript = tvms_eval_method_subscript,
};

// A meta_var of x is x for everything but operators.
const tvms_eval_value_ops tvms_eval_meta_ops = {
    .attribute = tvms_eval_meta_attribute,
    .subscript = tvms_eval_meta_subscript,
    .iterate = tvms_eval_meta_iterate,
};
