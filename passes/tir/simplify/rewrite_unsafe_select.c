// RewriteUnsafeSelect: a T.Select that must not evaluate both values becomes a branch.
//
// Before: T.Select(i < n, A[i], 0.0)   After: T.if_then_else(i < n, A[i], 0.0)
//
// Loads and calls with effects are unsafe: the condition may be what keeps an index inside
// the buffer. A vector of conditions stays, since a branch has only one. With `proved` (not in TVM) loads
// whose indices are in range whatever the condition are safe, so that loops around the choice can become
// vectors.
// TVM: s_tir.transform.RewriteUnsafeSelect.
#include "arith/scopes.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"

typedef struct {
  tvms_memory *memory;
  tvms_analyzer *TVMS_NULLABLE analyzer;  // NULL: nothing is proved
} safety;

// A choice is as safe as its condition: its values are guarded in turn.
static bool is_unsafe(const safety *s, tvms_node *node);

static bool has_unsafe_child(const safety *s, const tvms_node *node) {
  bool unsafe = false;
  tvms_node *child;
  for (tvms_child_at at = {0}; !unsafe && (child = tvms_walk_next_child(node, &at));)
    unsafe = at.role == TVMS_ROLE_USE && is_unsafe(s, child);
  return unsafe;
}

static bool is_unsafe_call(const safety *s, const tvms_node *node) {
  tvms_tir_opcode op = tvms_call_opcode(node);
  tvms_list args = tvms_as_call(node)->args;
  if (op == TVMS_TIR_NONE) return true;
  if (op == TVMS_TIR_if_then_else && args.len) return is_unsafe(s, args.items[0]);
  bool address = op == TVMS_TIR_address_of && args.len
                 && args.items[0]->kind == TVMS_NODE_BUFFER_LOAD;
  if (address) args = tvms_as_buffer_load(args.items[0])->indices;
  uint8_t effect = tvms_tir_op_row_of(op)->effect;
  if (!address && effect != TVMS_EFFECT_PURE && effect != TVMS_EFFECT_ANNOTATION)
    return true;
  bool unsafe = false;
  for (uint32_t i = 0; i < args.len && !unsafe; i++)
    unsafe = is_unsafe(s, args.items[i]);
  return unsafe;
}

// Is every index in the range of its dimension, here?
static bool is_in_range(const safety *s, const tvms_buffer_load *load) {
  const tvms_buffer *buffer = tvms_as_buffer(load->buffer);
  if (!s->analyzer || load->predicate || load->indices.len != buffer->shape.len)
    return false;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    tvms_node *index = load->indices.items[i];
    const tvms_node *extent = buffer->shape.items[i];
    if (!tvms_node_is_int_imm(extent) || !tvms_dtype_is_scalar(index->dtype)
        || is_unsafe(s, index) || !tvms_analyzer_can_prove_ge(s->analyzer, index, 0)
        || !tvms_analyzer_can_prove_lt(s->analyzer, index,
                                       tvms_as_int_imm(extent)->value))
      return false;
  }
  return true;
}

static bool is_unsafe(const safety *s, tvms_node *node) {
  tvms_memory *memory = s->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  bool unsafe = false;
  if (node->kind == TVMS_NODE_SELECT)
    unsafe = is_unsafe(s, tvms_as_select(node)->condition);
  else if (node->kind == TVMS_NODE_CALL)
    unsafe = is_unsafe_call(s, node);
  else if (node->kind == TVMS_NODE_RAMP)
    unsafe = is_unsafe(s, tvms_as_ramp(node)->base)
             && is_unsafe(s, tvms_as_ramp(node)->stride);
  else
    unsafe = node->kind == TVMS_NODE_BUFFER_LOAD
                 ? !is_in_range(s, tvms_as_buffer_load(node))
                 : has_unsafe_child(s, node);
  tvms_memory_leave(memory);
  return unsafe;
}

static tvms_node *leave_select(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_scopes *scopes = rewriter->self;
  safety now = {&rewriter->unit->context->memory, scopes ? scopes->analyzer : NULL};
  const tvms_select *select = tvms_as_select(node);
  tvms_dtype dtype = select->condition->dtype;
  if (!tvms_dtype_is_bool(dtype) || !tvms_dtype_is_scalar(dtype)) return node;
  if (!is_unsafe(&now, select->true_value) && !is_unsafe(&now, select->false_value))
    return node;
  tvms_node *args[] = {select->condition, select->true_value, select->false_value};
  return tvms_call_new_of(rewriter->unit, node->dtype, TVMS_TIR_if_then_else, args, 3,
                          node->span);
}

// The rewriter's own pointer is to the ranges of variables, or NULL.
static void setup(tvms_rewriter *rewriter) {
  rewriter->self = NULL;
  rewriter->leave[TVMS_NODE_SELECT] = leave_select;
}

static tvms_node *rewrite_proved(tvms_pass_run *run, tvms_unit *unit,
                                 tvms_node *function) {
  (void)run;
  tvms_scopes scopes;
  tvms_scopes_init(&scopes, unit);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &scopes);
  setup(&r);
  r.self = &scopes;
  r.watch = &scopes.watch;
  tvms_node *made = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_scopes_fini(&scopes);
  return made;
}

void tvms_pass_rewrite_unsafe_select(tvms_pass_run *run) {
  if (TVMS_OPTION(run, RewriteUnsafeSelect, proved).number != 0)
    tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, rewrite_proved);
  else
    tvms_functions_rewrite(run, TVMS_NODE_PRIM_FUNC, setup);
}
