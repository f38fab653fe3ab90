// RewriteUnsafeSelect: a T.Select that must not evaluate both values becomes a branch.
//
// Before: T.Select(i < n, A[i], 0.0)   After: T.if_then_else(i < n, A[i], 0.0)
//
// Loads and calls with effects are unsafe: the condition may be what keeps an index inside
// the buffer. A vector of conditions stays, since a branch has only one.
// TVM: s_tir.transform.RewriteUnsafeSelect.
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"

// A choice is as safe as its condition: its values are guarded in turn.
static bool is_unsafe(tvms_memory *memory, tvms_node *node);

static bool has_unsafe_child(tvms_memory *memory, const tvms_node *node) {
  bool unsafe = false;
  tvms_node *child;
  for (tvms_child_at at = {0}; !unsafe && (child = tvms_walk_next_child(node, &at));)
    unsafe = at.role == TVMS_ROLE_USE && is_unsafe(memory, child);
  return unsafe;
}

static bool is_unsafe_call(tvms_memory *memory, const tvms_node *node) {
  tvms_tir_opcode op = tvms_call_opcode(node);
  tvms_list args = tvms_as_call(node)->args;
  if (op == TVMS_TIR_NONE) return true;
  if (op == TVMS_TIR_if_then_else && args.len) return is_unsafe(memory, args.items[0]);
  bool address = op == TVMS_TIR_address_of && args.len
                 && args.items[0]->kind == TVMS_NODE_BUFFER_LOAD;
  if (address) args = tvms_as_buffer_load(args.items[0])->indices;
  uint8_t effect = tvms_tir_op_row_of(op)->effect;
  if (!address && effect != TVMS_EFFECT_PURE && effect != TVMS_EFFECT_ANNOTATION)
    return true;
  bool unsafe = false;
  for (uint32_t i = 0; i < args.len && !unsafe; i++)
    unsafe = is_unsafe(memory, args.items[i]);
  return unsafe;
}

static bool is_unsafe(tvms_memory *memory, tvms_node *node) {
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  bool unsafe = false;
  if (node->kind == TVMS_NODE_SELECT)
    unsafe = is_unsafe(memory, tvms_as_select(node)->condition);
  else if (node->kind == TVMS_NODE_CALL)
    unsafe = is_unsafe_call(memory, node);
  else if (node->kind == TVMS_NODE_RAMP)
    unsafe = is_unsafe(memory, tvms_as_ramp(node)->base)
             && is_unsafe(memory, tvms_as_ramp(node)->stride);
  else
    unsafe = node->kind == TVMS_NODE_BUFFER_LOAD || has_unsafe_child(memory, node);
  tvms_memory_leave(memory);
  return unsafe;
}

static tvms_node *leave_select(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_memory *memory = &rewriter->unit->context->memory;
  const tvms_select *select = tvms_as_select(node);
  tvms_dtype dtype = select->condition->dtype;
  if (!tvms_dtype_is_bool(dtype) || !tvms_dtype_is_scalar(dtype)) return node;
  if (!is_unsafe(memory, select->true_value) && !is_unsafe(memory, select->false_value))
    return node;
  tvms_node *args[] = {select->condition, select->true_value, select->false_value};
  return tvms_call_new_of(rewriter->unit, node->dtype, TVMS_TIR_if_then_else, args, 3,
                          node->span);
}

static void setup(tvms_rewriter *rewriter) {
  rewriter->leave[TVMS_NODE_SELECT] = leave_select;
}

void tvms_pass_rewrite_unsafe_select(tvms_pass_run *run) {
  tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
}
