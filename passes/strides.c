// What passes take for granted of buffers and TVM does not check where it reads a program.
//
// TVM reads `T.match_buffer(a, (4, 4), strides=[1])` and prints it; every pass that asks where
// an element is ends with an internal check. Buffers of blocks are an exception: CompactBufferAllocation gives
// them strides of its own before anything asks.
#include "passes/strides.h"

#include "ir/node_map.h"
#include "ir/walk.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_node_map allocated;  // buffers of blocks
  const tvms_node *TVMS_NULLABLE found;
} looking;

static tvms_walk_step look(void *self, tvms_node *node, tvms_field_role role) {
  looking *l = self;
  (void)role;
  if (node->kind == TVMS_NODE_BLOCK) {
    tvms_list buffers = tvms_as_block(node)->alloc_buffers;
    for (uint32_t i = 0; i < buffers.len; i++)
      tvms_node_map_put(&l->allocated, buffers.items[i], node);
  }
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  bool fits = !buffer->strides.len || buffer->strides.len == buffer->shape.len;
  if (fits || tvms_node_map_get(&l->allocated, node)) return TVMS_WALK_ON;
  l->found = node;
  return TVMS_WALK_STOP;
}

bool tvms_pass_strides_fit(const tvms_module *module) {
  tvms_context *context = module->context;
  bool fit = true;
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    if (!function || function->kind != TVMS_NODE_PRIM_FUNC) continue;
    looking l = {0};
    tvms_node_map_init(&l.allocated, &context->memory);
    tvms_visitor visitor = {.self = &l, .enter = look};
    bool fits = tvms_walk(&context->memory, function, &visitor);
    tvms_node_map_fini(&l.allocated);
    if (fits) continue;
    const tvms_buffer *buffer = tvms_as_buffer(l.found);
    tvms_diag_report(&context->diags, TVMS_D_strides_differ, l.found->span,
                     tvms_symbol_text(context, buffer->name), buffer->shape.len,
                     tvms_diag_plural(buffer->shape.len), buffer->strides.len,
                     tvms_diag_plural(buffer->strides.len));
    fit = false;
  }
  return fit;
}
