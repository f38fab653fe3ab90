// What R.call_tir takes for granted: the PrimFunc reads its inputs and writes its outputs.
//
// A buffer may be written wherever it stands but in a load, because its address may be taken;
// it is written for certain by a store. So an output is found missing only if it stands nowhere
// else than in loads, and an input overwritten only if it is stored to. Functions without a
// store and without a call are marks for something that is not there yet.
#include "lint/call_tir.h"

#include "ir/op.h"
#include "ir/walk.h"
#include "support/diag_ids.h"

typedef struct {
  const tvms_node *buffer;  // the parameter that is asked about
  uint32_t seen;            // places where it stands …
  uint32_t loads;           // … that are loads
  bool stored;
  bool works;  // the function stores or calls something
} search;

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER:
    if (node == s->buffer && role != TVMS_ROLE_ACCESS) s->seen++;
    return role == TVMS_ROLE_USE || role == TVMS_ROLE_ACCESS ? TVMS_WALK_SKIP
                                                             : TVMS_WALK_ON;
  case TVMS_NODE_VAR:
    if (node == tvms_as_buffer(s->buffer)->data) s->seen++;
    break;
  case TVMS_NODE_BUFFER_LOAD:
    s->loads += tvms_as_buffer_load(node)->buffer == s->buffer;
    break;
  case TVMS_NODE_STORE:
    s->stored = s->stored || tvms_as_store(node)->buffer == s->buffer;
    s->works = true;
    break;
  case TVMS_NODE_CALL: s->works = true; break;
  default: break;
  }
  return TVMS_WALK_ON;
}

static void report(tvms_lint *lint, tvms_diag_id id, const tvms_node *buffer,
                   const tvms_node *call) {
  tvms_diags *diags = &lint->context->diags;
  tvms_diag *diag =
      tvms_diag_report(diags, id, buffer->span,
                       tvms_symbol_text(lint->context, tvms_as_buffer(buffer)->name));
  tvms_diag_note(diags, diag, call->span, "it is called here");
}

static void check_parameter(tvms_lint *lint, const tvms_prim_func *callee,
                            const tvms_node *buffer, bool is_output,
                            const tvms_node *call) {
  search s = {.buffer = buffer};
  tvms_visitor visitor = {.self = &s, .enter = see};
  (void)tvms_walk(&lint->context->memory, callee->body, &visitor);
  if (is_output && s.works && s.seen == s.loads)
    report(lint, TVMS_D_output_never_written, buffer, call);
  if (!is_output && s.stored) report(lint, TVMS_D_input_overwritten, buffer, call);
}

static void check_callee(tvms_lint *lint, const tvms_prim_func *callee,
                         const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  if (call->args.len < 2 || call->args.items[1]->kind != TVMS_NODE_TUPLE) return;
  if (!call->type_args.len) return;
  uint32_t inputs = tvms_as_tuple(call->args.items[1])->fields.len;
  const tvms_node *type = call->type_args.items[0];
  uint32_t outputs =
      type->kind == TVMS_NODE_SINFO_TUPLE ? tvms_as_sinfo_tuple(type)->fields.len : 1;
  for (uint32_t i = 0; i < callee->buffers.len && i < inputs + outputs; i++) {
    const tvms_node *buffer = callee->buffers.items[i];
    if (buffer) check_parameter(lint, callee, buffer, i >= inputs, node);
  }
}

static tvms_walk_step see_call(void *self, tvms_node *node, tvms_field_role role) {
  tvms_lint *lint = self;
  (void)role;
  if (node->kind != TVMS_NODE_CALL || tvms_op_called(node) != TVMS_R_call_tir)
    return TVMS_WALK_ON;
  const tvms_call *call = tvms_as_call(node);
  const tvms_member *member =
      call->args.len ? tvms_module_function_named(lint->module, call->args.items[0],
                                                  TVMS_NODE_PRIM_FUNC)
                     : NULL;
  if (!member || member->unread || member->assumed) return TVMS_WALK_ON;
  const tvms_prim_func *callee = tvms_as_prim_func(member->function);
  bool *seen = &lint->called[member - lint->module->members];
  if (callee->body && !*seen) check_callee(lint, callee, node);
  *seen = true;
  return TVMS_WALK_ON;
}

void tvms_lint_check_call_tir(tvms_lint *lint) {
  bool wanted = tvms_lint_wants(lint, TVMS_D_output_never_written)
                || tvms_lint_wants(lint, TVMS_D_input_overwritten);
  if (!wanted) return;
  tvms_memory *memory = &lint->context->memory;
  if (!lint->called)
    lint->called = tvms_memory_alloc(memory, lint->module->member_count);
  tvms_visitor visitor = {.self = lint, .enter = see_call};
  (void)tvms_walk(memory, lint->function, &visitor);
}
