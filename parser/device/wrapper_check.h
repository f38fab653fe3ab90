// What a call of an intrinsic that is written with other arguments may be given.
#ifndef TVMS_PARSER_DEVICE_WRAPPER_CHECK_H
#define TVMS_PARSER_DEVICE_WRAPPER_CHECK_H

#include "ir/device/wrappers.h"
#include "parser/device/wrapper.h"
#include "parser/eval/row.h"

// A call on its way to the operator.
//
// An intrinsic has a function of Python in TVM whose parameters differ from the arguments of
// the operator that it calls: keywords, defaults, texts that become numbers. A row of
// ir/device/wrappers.def says how. T.ptx.cp_async(dst, src, 16), say, is bound to the signature
// of its row (`args`), checked against what the row allows, and then its items are appended to
// `values` one by one. TVM prints the operator's own arguments; such a call is told from the
// other by what the row says of it (`raw`) and taken as it is.
typedef struct {
  tvms_reader *reader;
  const tvms_wrapper *wrapper;
  const tvms_signature *signature;
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  uint64_t given;
  tvms_ref call;
  tvms_eval_value_vec values;  // arguments of the operator
  bool failed;
} tvms_wrapper_work;

// The index of the parameter `name`; TVMS_WRAPPER_NO_PARAM: the signature has it not.
int tvms_wrapper_param(const tvms_wrapper_work *w, const char *name);

// The value of a parameter; nothing if the signature has it not.
tvms_eval_value tvms_wrapper_arg(const tvms_wrapper_work *w, int param);

// The truth of a value in the sense of Python; true of what is not known.
bool tvms_wrapper_is_true(tvms_eval_value value);

// The number of values that a value is: of items, 0 for None, else 1.
int64_t tvms_wrapper_count_of(tvms_eval_value value);

// Reports what the row of the intrinsic does not allow; then the call has failed.
void tvms_wrapper_check(tvms_wrapper_work *w);

#endif
