// How many parameters of a function come at run time.
#include "passes/relax/analysis/num_input.h"

#include "ir/build.h"
#include "ir/object.h"
#include "support/diag_ids.h"

int64_t tvms_relax_num_input(const tvms_node *node) {
  int64_t count;
  const tvms_function *function = tvms_as_function(node);
  const tvms_node *given = tvms_object_map_get(function->attrs, "num_input");
  bool said =
      tvms_object_as_int(given, &count) && count >= 0 && count <= function->params.len;
  return said ? count : -1;
}

int64_t tvms_relax_num_input_checked(tvms_context *context, const tvms_node *node) {
  int64_t count = tvms_relax_num_input(node);
  const tvms_function *function = tvms_as_function(node);
  const tvms_node *given = tvms_object_map_get(function->attrs, "num_input");
  if (count >= 0 || !given) return count;
  tvms_diag_report(&context->diags, TVMS_D_num_input_unfit, node->span,
                   tvms_symbol_text(context, function->name), function->params.len);
  return -2;
}

void tvms_relax_set_num_input(tvms_unit *unit, tvms_node *node, int64_t count) {
  tvms_function *function = tvms_as_function(node);
  tvms_node *number = tvms_object_int_new(unit, count, TVMS_NO_SPAN);
  function->attrs = tvms_object_map_with(unit, function->attrs, "num_input", number);
}
