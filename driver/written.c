// Which parameters of a PrimFunc it writes to.
//
// One walk over the function, and over those of the module that it calls, notes which pointers something is stored
// through, and which are views of others. Where functions call each other, they are gone through until nothing changes.
#include "driver/written.h"

#include "driver/inputs.h"
#include "interp/meaning.h"
#include "ir/contract.h"
#include "ir/walk.h"
#include "support/vec.h"

// A view of the memory of another pointer.
typedef struct {
  const tvms_node *view, *of;
} aliased;

// A function that is looked at.
typedef struct {
  const tvms_member *member;
  bool *written;  // by the id of the pointer
} looked_at;

typedef struct {
  tvms_context *context;
  TVMS_VEC(looked_at) functions;
  TVMS_VEC(aliased)
  views;  // of the function in progress, each behind what it is a view of
  const tvms_member *member;
  bool *written;
  bool changed, calls;
} finder;

// The PrimFunc of the module that is called, also by its name, and where its arguments begin.
static const tvms_member *TVMS_NULLABLE callee_of(const tvms_module *module,
                                                  const tvms_call *call,
                                                  uint32_t *first) {
  tvms_tir_opcode op = tvms_call_opcode(&call->head);
  bool named = op == TVMS_TIR_tvm_call_packed || op == TVMS_TIR_tvm_call_cpacked
               || op == TVMS_TIR_call_extern;
  *first = named ? 1 : 0;
  if (named) return tvms_meaning_of_named(module, call->args.items[0]);
  const tvms_member *member = tvms_module_named(module, call->callee);
  bool known =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  return known ? member : NULL;
}

static void note(finder *f, const tvms_node *data) {
  if (data->kind != TVMS_NODE_VAR || f->written[data->id]) return;
  f->written[data->id] = f->changed = true;
}

static void note_view(finder *f, const tvms_node *view,
                      const tvms_node *TVMS_NULLABLE of) {
  if (!of || of == view || of->kind != TVMS_NODE_VAR || view->kind != TVMS_NODE_VAR)
    return;
  aliased pair = {view, of};
  tvms_vec_push(&f->context->memory, &f->views, pair);
}

// ---- Calls ----

// What is known of a function, which is looked at from now on.
static const bool *written_of(finder *f, const tvms_member *member) {
  for (uint32_t i = 0; i < f->functions.len; i++)
    if (f->functions.items[i].member == member) return f->functions.items[i].written;
  looked_at added = {
      member, tvms_arena_array(&f->context->scratch, bool, member->unit->next_id)};
  tvms_vec_push(&f->context->memory, &f->functions, added);
  f->changed = true;
  return added.written;
}

// The pointer that an argument of a function of the module is.
static const tvms_node *pointer_of(const tvms_node *argument) {
  bool tensor = argument->kind == TVMS_NODE_CALL
                && tvms_call_opcode(argument) == TVMS_TIR_tvm_stack_make_array;
  return tensor ? tvms_as_call(argument)->args.items[0] : argument;
}

// The pointer through which a function of C may write that gets this argument. That of T.tvm_access_ptr says whether it may.
static const tvms_node *TVMS_NULLABLE lent_by(const tvms_node *argument) {
  enum { WRITES = 2 };
  if (argument->kind == TVMS_NODE_VAR) return argument;
  const tvms_tir_opcode op = tvms_call_opcode(argument);
  if (op != TVMS_TIR_tvm_access_ptr && op != TVMS_TIR_address_of) return NULL;
  tvms_list args = tvms_as_call(argument)->args;
  if (op == TVMS_TIR_address_of) {
    bool loads = args.len && args.items[0]->kind == TVMS_NODE_BUFFER_LOAD;
    return loads ? tvms_as_buffer(tvms_as_buffer_load(args.items[0])->buffer)->data
                 : NULL;
  }
  bool writes = args.len == 5 && tvms_node_is_int_imm(args.items[4])
                && tvms_as_int_imm(args.items[4])->value & WRITES;
  return writes ? args.items[1] : NULL;
}

static void look_at_c(finder *f, const tvms_call *call) {
  const char *name;
  const tvms_tir_opcode op = tvms_call_opcode(&call->head);
  if (op != TVMS_TIR_call_extern || tvms_meaning_of_extern(call, &name)) return;
  for (uint32_t i = 1; i < call->args.len; i++) {
    const tvms_node *data = lent_by(call->args.items[i]);
    if (data) note(f, data);
  }
}

// A function of the module that gets the pointer may write there, and so may one of C.
static void look_at_call(finder *f, const tvms_call *call) {
  const tvms_module *module = f->member->unit->module;
  uint32_t first;
  const tvms_member *member = module ? callee_of(module, call, &first) : NULL;
  if (!member) {
    look_at_c(f, call);
    return;
  }
  f->calls = true;
  const bool *written = written_of(f, member);
  const tvms_prim_func *callee = tvms_as_prim_func(member->function);
  for (uint32_t i = first; i < call->args.len && i - first < callee->params.len; i++) {
    uint32_t param = i - first;
    const tvms_node *buffer =
        param < callee->buffers.len ? callee->buffers.items[param] : NULL;
    const tvms_node *data =
        buffer ? tvms_as_buffer(buffer)->data : callee->params.items[param];
    if (written[data->id]) note(f, pointer_of(call->args.items[i]));
  }
}

// ---- The whole ----

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  finder *f = self;
  (void)role;
  if (node->kind == TVMS_NODE_STORE) {
    note(f, tvms_as_buffer(tvms_as_store(node)->buffer)->data);
  } else if (node->kind == TVMS_NODE_MATCH_BUFFER_REGION) {
    const tvms_match_buffer_region *match = tvms_as_match_buffer_region(node);
    const tvms_node *buffer = tvms_as_buffer_region(match->source)->buffer;
    note_view(f, tvms_as_buffer(match->buffer)->data, tvms_as_buffer(buffer)->data);
  } else if (node->kind == TVMS_NODE_DECL_BUFFER) {
    const tvms_decl_buffer *declared = tvms_as_decl_buffer(node);
    note_view(f, tvms_as_buffer(declared->buffer)->data, declared->source);
  } else if (node->kind == TVMS_NODE_CALL) {
    look_at_call(f, tvms_as_call(node));
  }
  return TVMS_WALK_ON;
}

static void look_at(finder *f, looked_at function) {
  f->member = function.member;
  f->written = function.written;
  f->views.len = 0;
  tvms_visitor visitor = {.self = f, .enter = enter};
  tvms_walk(&f->context->memory, tvms_as_prim_func(f->member->function)->body,
            &visitor);
  for (uint32_t i = f->views.len; i > 0; i--) {
    const aliased *pair = &f->views.items[i - 1];
    if (f->written[pair->view->id]) note(f, pair->of);
  }
}

// Callees first, so that two rounds are enough for most programs.
static void look_at_all(finder *f, const tvms_member *entry) {
  written_of(f, entry);
  for (uint32_t i = 0; i < f->functions.len; i++)
    look_at(f, f->functions.items[i]);
  f->changed = f->calls;
  while (f->changed) {
    f->changed = false;
    for (uint32_t i = f->functions.len; i > 0; i--)
      look_at(f, f->functions.items[i - 1]);
  }
}

void tvms_inputs_find_written(tvms_context *context, const tvms_member *entry,
                              bool *written) {
  const tvms_prim_func *function = tvms_as_prim_func(entry->function);
  tvms_contract contract = tvms_call_contract(function);
  finder f = {.context = context};
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  if (!contract.result_text) look_at_all(&f, entry);
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    bool result = i >= contract.inputs && i < contract.inputs + contract.results;
    if (!buffer)
      written[i] = tvms_inputs_param_is_object(entry, i);
    else
      written[i] = contract.result_text
                       ? result
                       : f.functions.items[0].written[tvms_as_buffer(buffer)->data->id];
  }
  tvms_vec_fini(&context->memory, &f.functions);
  tvms_vec_fini(&context->memory, &f.views);
  tvms_arena_reset(&context->scratch, mark);
}
