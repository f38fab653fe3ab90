// What passes take for granted of buffers and TVM does not check where it reads a program.
//
// TVM reads `T.match_buffer(a, (4, 4), strides=[1])` and prints it; every pass that asks where
// an element is ends with an internal check.
#include "passes/strides.h"

#include "ir/walk.h"
#include "support/diag_ids.h"

static tvms_walk_step look(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  bool fits = !buffer->strides.len || buffer->strides.len == buffer->shape.len;
  if (fits) return TVMS_WALK_ON;
  *(const tvms_node **)self = node;
  return TVMS_WALK_STOP;
}

bool tvms_pass_strides_fit(const tvms_module *module) {
  tvms_context *context = module->context;
  bool fit = true;
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    if (!function || function->kind != TVMS_NODE_PRIM_FUNC) continue;
    const tvms_node *found = NULL;
    tvms_visitor visitor = {.self = &found, .enter = look};
    if (tvms_walk(&context->memory, function, &visitor)) continue;
    const tvms_buffer *buffer = tvms_as_buffer(found);
    tvms_diag_report(&context->diags, TVMS_D_strides_differ, found->span,
                     tvms_symbol_text(context, buffer->name), buffer->shape.len,
                     tvms_diag_plural(buffer->shape.len), buffer->strides.len,
                     tvms_diag_plural(buffer->strides.len));
    fit = false;
  }
  return fit;
}
