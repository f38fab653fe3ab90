// Data types that the top of a body declares names with.
#include "parser/eval/declared.h"

#include "parser/eval/expr.h"

// The dtype in `n = T.int64()`, or in its place of `n, m = T.int64(), T.int64()`.
static bool declared_dtype(tvms_reader *reader, tvms_ref target, tvms_ref value,
                           tvms_sym name, tvms_dtype *dtype) {
  const tvms_surf *left = tvms_reader_at(reader, target),
                  *right = tvms_reader_at(reader, value);
  if (left->kind == TVMS_SURF_TUPLE && right->kind == TVMS_SURF_TUPLE) {
    tvms_ref item = right->a;
    tvms_surface_each(reader->surface, part, left->a) {
      if (!item) return false;
      if (declared_dtype(reader, part, item, name, dtype)) return true;
      item = tvms_reader_at(reader, item)->next;
    }
    return false;
  }
  if (left->kind != TVMS_SURF_NAME || left->a != name) return false;
  if (right->kind != TVMS_SURF_CALL || right->b) return false;
  if (tvms_reader_at(reader, right->a)->kind != TVMS_SURF_ATTRIBUTE) return false;
  tvms_eval_value constructor = tvms_eval(reader, right->a);
  if (constructor.kind != TVMS_EVAL_DTYPE_NAME) return false;
  *dtype = constructor.as.dtype;
  return true;
}

// A quoted dim has the dtype that the declarations at the top of the body give it: TVM 0.26
// prints them so, although it cannot read them back.
bool tvms_reader_declared_dtype(tvms_reader *reader, tvms_ref body, tvms_sym name,
                                tvms_dtype *dtype) {
  tvms_surface_each(reader->surface, ref, body) {
    const tvms_surf *stmt = tvms_reader_at(reader, ref);
    if (stmt->kind == TVMS_SURF_EXPRESSION) continue;
    if (stmt->kind != TVMS_SURF_ASSIGN) return false;
    if (declared_dtype(reader, stmt->a, stmt->b, name, dtype)) return true;
  }
  return false;
}
