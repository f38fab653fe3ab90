// What a loop does that is marked parallel.
#include "backend/core/parallel.h"

#include "interp/meaning.h"
#include "ir/build.h"
#include "ir/walk.h"

// ---- May it run on threads? ----

typedef struct {
  tvms_context *context;
  const tvms_module *program;
  bool *varies;   // by id: a variable that may differ from step to step
  bool *private;  // by id: the data of memory that each step has for itself
  bool called;    // what is looked at is a function that the loop calls
} look;

static tvms_walk_step find_varying(void *self, tvms_node *node, tvms_field_role role) {
  const look *l = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_STOP;
  return node->kind == TVMS_NODE_VAR && l->varies[node->id] ? TVMS_WALK_STOP
                                                            : TVMS_WALK_ON;
}

static bool does_vary(look *l, tvms_node *node) {
  tvms_visitor visitor = {.self = l, .enter = find_varying};
  return node && !tvms_walk(&l->context->memory, node, &visitor);
}

// Does every step write where every other one writes?
static bool is_shared(look *l, const tvms_store *store) {
  if (l->private[tvms_as_buffer(store->buffer)->data->id]) return false;
  for (uint32_t i = 0; i < store->indices.len; i++) {
    if (does_vary(l, store->indices.items[i])) return false;
  }
  return true;
}

static bool allows_called(look *l, const tvms_node *callee);

static bool allows_call(look *l, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind == TVMS_NODE_GLOBAL_VAR) return allows_called(l, call->callee);
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_tvm_call_packed:
  case TVMS_TIR_ret:
  case TVMS_TIR_thread_return:
  case TVMS_TIR_break_loop:
  case TVMS_TIR_continue_loop:
    return l->called && tvms_call_opcode(node) != TVMS_TIR_tvm_call_packed;
  default: return true;
  }
}

static bool allows(look *l, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_RETURN: return l->called;
  case TVMS_NODE_CALL: return allows_call(l, node);
  case TVMS_NODE_STORE: return l->called || !is_shared(l, tvms_as_store(node));
  default: return true;
  }
}

static void note(look *l, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_FOR: {
    const tvms_for *loop = tvms_as_for(node);
    l->varies[loop->var->id] = does_vary(l, loop->min) || does_vary(l, loop->extent);
    return;
  }
  case TVMS_NODE_BIND: {
    const tvms_bind *bind = tvms_as_bind(node);
    l->varies[bind->var->id] = does_vary(l, bind->value);
    return;
  }
  case TVMS_NODE_LET: {
    const tvms_let *let = tvms_as_let(node);
    l->varies[let->var->id] = does_vary(l, let->value);
    return;
  }
  case TVMS_NODE_ALLOCATE: l->private[tvms_as_allocate(node)->var->id] = true; return;
  case TVMS_NODE_ALLOC_BUFFER: {
    const tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
    l->private[tvms_as_buffer(buffer)->data->id] = true;
    return;
  }
  case TVMS_NODE_DECL_BUFFER: {
    // A view: of memory that is not known here, if it has a source of its own.
    const tvms_decl_buffer *declare = tvms_as_decl_buffer(node);
    if (declare->source)
      l->private[tvms_as_buffer(declare->buffer)->data->id] =
          does_vary(l, declare->source);
    return;
  }
  default: return;
  }
}

static tvms_walk_step look_at(void *self, tvms_node *node, tvms_field_role role) {
  look *l = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (!allows(l, node)) return TVMS_WALK_STOP;
  if (!l->called) note(l, node);
  return TVMS_WALK_ON;
}

// A function that is called may jump within itself; functions that it calls are not followed.
static bool allows_called(look *l, const tvms_node *callee) {
  const tvms_member *member = tvms_module_named(l->program, callee);
  if (l->called || !member || !member->function) return false;
  look inside = *l;
  inside.called = true;
  tvms_visitor visitor = {.self = &inside, .enter = look_at};
  return tvms_walk(&l->context->memory, member->function, &visitor);
}

bool tvms_parallel_is_apart(tvms_context *context, const tvms_module *program,
                            const tvms_unit *unit, const tvms_for *loop) {
  if (loop->for_kind != TVMS_FOR_PARALLEL || loop->step) return false;
  bool known = tvms_node_is_int_imm(loop->extent);
  if (known && tvms_as_int_imm(loop->extent)->value < 2) return false;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  look l = {.context = context,
            .program = program,
            .varies = tvms_arena_array(&context->scratch, bool, unit->next_id),
            .private = tvms_arena_array(&context->scratch, bool, unit->next_id)};
  l.varies[loop->var->id] = true;
  tvms_visitor visitor = {.self = &l, .enter = look_at};
  bool fine = tvms_walk(&context->memory, loop->body, &visitor);
  tvms_arena_reset(&context->scratch, mark);
  return fine;
}

// ---- What it uses ----

typedef struct {
  tvms_context *context;
  bool *listed;  // by id
  tvms_parallel_nodes *used;
} collecting;

static tvms_walk_step collect(void *self, tvms_node *node, tvms_field_role role) {
  collecting *c = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR && node->kind != TVMS_NODE_BUFFER)
    return TVMS_WALK_ON;
  if (c->listed[node->id]) return TVMS_WALK_SKIP;
  c->listed[node->id] = true;
  tvms_vec_push(&c->context->memory, c->used, node);
  return TVMS_WALK_ON;
}

void tvms_parallel_collect(tvms_context *context, const tvms_unit *unit,
                           const tvms_for *loop, tvms_parallel_nodes *used) {
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  collecting c = {context, tvms_arena_array(&context->scratch, bool, unit->next_id),
                  used};
  tvms_visitor visitor = {.self = &c, .enter = collect};
  tvms_walk(&context->memory, loop->min, &visitor);
  tvms_walk(&context->memory, loop->body, &visitor);
  tvms_arena_reset(&context->scratch, mark);
}
