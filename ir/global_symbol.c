// Global symbols: an attribute for functions whose symbol is not their name, implied for all
// other public ones.
//
// TVM writes the attribute into every public function when it reads one, and its printer hides
// it where it repeats the name. Here it is in the IR only where it says something else, so that
// `R.func_attr({"global_symbol": "f"})` in a function `f` and nothing at all are one program.
#include "ir/global_symbol.h"

#include "ir/object.h"

#include <string.h>

static const char key[] = "global_symbol";

static const tvms_node *TVMS_NULLABLE
attrs_of(const tvms_node *TVMS_NULLABLE function) {
  if (!function) return NULL;
  if (function->kind == TVMS_NODE_FUNCTION) return tvms_as_function(function)->attrs;
  return function->kind == TVMS_NODE_PRIM_FUNC ? tvms_as_prim_func(function)->attrs
                                               : NULL;
}

const tvms_node *TVMS_NULLABLE
tvms_global_symbol_attr(const tvms_node *TVMS_NULLABLE function) {
  return tvms_object_map_get(attrs_of(function), key);
}

const char *TVMS_NULLABLE tvms_global_symbol_of(const tvms_context *context,
                                                const tvms_member *member) {
  const tvms_node *function = member->function;
  const char *said = tvms_object_as_text(tvms_global_symbol_attr(function));
  if (said) return said;
  bool named = function && function->kind != TVMS_NODE_EXTERN_FUNC
               && !(function->flags & TVMS_FLAG_PRIVATE);
  return named ? tvms_symbol_text(context, member->name) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_global_symbol_drop(tvms_unit *unit,
                                                 tvms_node *TVMS_NULLABLE attrs) {
  tvms_node *left = tvms_object_map_get(attrs, key)
                        ? tvms_object_map_with(unit, attrs, key, NULL)
                        : attrs;
  return tvms_object_map_count(left) ? left : NULL;
}

tvms_node *TVMS_NULLABLE tvms_global_symbol_drop_own(tvms_unit *unit,
                                                     tvms_node *TVMS_NULLABLE attrs,
                                                     tvms_sym name) {
  const char *said = tvms_object_as_text(tvms_object_map_get(attrs, key));
  bool own = said && strcmp(said, tvms_symbol_text(unit->context, name)) == 0;
  if (own) return tvms_global_symbol_drop(unit, attrs);
  return tvms_object_map_count(attrs) ? attrs : NULL;
}
