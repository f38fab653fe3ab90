// Objects whose value the text leaves out.
#include "ir/omitted.h"

#include "support/diag_ids.h"

static const tvms_node *TVMS_NULLABLE first_in(const tvms_node *node) {
  if (tvms_node_omitted(node)) return node;
  if (node->kind != TVMS_NODE_TUPLE) return NULL;
  tvms_list fields = tvms_as_tuple(node)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    const tvms_node *found = first_in(fields.items[i]);
    if (found) return found;
  }
  return NULL;
}

bool tvms_node_refuse_omitted(tvms_context *context, const tvms_node *node,
                              const char *user) {
  const tvms_node *found = first_in(node);
  if (!found) return true;
  tvms_diag_report(&context->diags, TVMS_D_omitted_value, found->span, user,
                   tvms_symbol_text(context, tvms_node_omitted(found)));
  return false;
}
