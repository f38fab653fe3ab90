// Checks of values that are neither tensors nor shapes, which are in box.c, and data types as values.
//
// TVM: src/runtime/vm/builtin.cc.
#include "runtime/box_object.h"

#include <stdio.h>
#include <string.h>

// The kind of tvm-ffi for a data type, which lies in the value itself.
enum { DATA_TYPE = 5 };

int32_t tvms_box_data_type(void *raise, const tvms_any *args, int32_t count,
                           tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "tvms.data_type", args, count);
  const char *text = tvms_box_text(&a, 0);
  tvms_dl_type type;
  if (!text || !tvms_box_dtype(text, &type))
    return tvms_box_refuse(&a, "the name of a data type");
  *result = (tvms_any){.type_index = DATA_TYPE};
  memcpy(&result->v, &type, sizeof type);
  return 0;
}

int32_t tvms_box_check_tuple_info(void *raise, const tvms_any *args, int32_t count,
                                  tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.check_tuple_info", args, count);
  int64_t fields = tvms_box_number(&a, 1), len = 0;
  (void)result;
  if (a.failed) return -1;
  bool same = tvms_box_items(args[0], &len) && len == fields;
  char wanted[64];
  snprintf(wanted, sizeof wanted, "a tuple of %lld fields", (long long)fields);
  return same ? 0 : tvms_box_mismatch(&a, wanted, args);
}

int32_t tvms_box_check_string_info(void *raise, const tvms_any *args, int32_t count,
                                   tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.check_string_info", args, count);
  (void)result;
  uint64_t len;
  if (!count) return tvms_box_refuse(&a, "a text");
  if (tvms_box_text_bytes(args, &len)) return 0;
  return tvms_box_mismatch(&a, "a text", args);
}

int32_t tvms_box_check_prim_value_info(void *raise, const tvms_any *args, int32_t count,
                                       tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.check_prim_value_info", args, count);
  const char *dtype = tvms_box_text(&a, 1);
  tvms_dl_type type;
  (void)result;
  if (!count || !dtype || !tvms_box_dtype(dtype, &type))
    return tvms_box_refuse(&a, "the name of a data type");
  int32_t kind = args[0].type_index;
  bool real = type.code == TVMS_DL_FLOAT || type.code == TVMS_DL_BFLOAT;
  bool same =
      real ? kind == TVMS_ANY_FLOAT : kind == TVMS_ANY_INT || kind == TVMS_ANY_BOOL;
  return same ? 0 : tvms_box_mismatch(&a, real ? "a real number" : "an integer", args);
}

int32_t tvms_box_check_func_info(void *raise, const tvms_any *args, int32_t count,
                                 tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "vm.builtin.check_func_info", args, count);
  (void)result;
  if (count > 0 && args[0].type_index == TVMS_ANY_FUNCTION) return 0;
  return tvms_box_mismatch(&a, "a function", NULL);
}
