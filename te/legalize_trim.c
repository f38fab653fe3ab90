// Descriptions of vectors of two numbers, which say what rows of a table count.
// TVM: legalize_ops/vision.py, since 0.24.
#include "te/legalize_trim.h"

#include "te/element.h"
#include "te/legalizers.h"

static bool pair(tvms_legal *legal, const char *function, const char *name,
                 tvms_node *TVMS_NULLABLE rows, int64_t value) {
  static const char *const names[] = {"i"};
  tvms_te *te = &legal->te;
  legal->name = function;
  tvms_node *two = INT32(2), *zero = INT32(0);
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, &two, 1), names);
  tvms_node *number = tvms_te_const(te, TVMS_DTYPE(INT, 64), (double)value);
  if (rows) {
    tvms_node *first =
        tvms_te_convert(te, TVMS_DTYPE(INT, 64), tvms_te_load(te, rows, &zero, 1));
    number = IF(EQ(stage.axes.items[0], INT32(0)), first, number);
  }
  return tvms_legal_return(legal, tvms_te_close(&stage, name, number));
}

bool tvms_legalize_trim_begin(tvms_legal *legal) {
  return pair(legal, "build_begin", "begin", NULL, 0);
}

bool tvms_legalize_trim_end(tvms_legal *legal) {
  tvms_node *rows = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  return pair(legal, "build_end", "end", rows, 3);
}

bool tvms_legalize_trim_strides(tvms_legal *legal) {
  return pair(legal, "build_strides", "strides", NULL, 1);
}
