// Which Relax functions of a module may write over what they are given: what each function calls is a list of
// edges, and along these it spreads from callees to callers.
#include "passes/relax/analysis/writers.h"

#include "ir/module.h"
#include "ir/op.h"
#include "ir/walk.h"
#include "structinfo/infer.h"
#include "support/vec.h"

// What is known of one member.
typedef struct {
  tvms_sym name;
  bool writes;
  uint32_t callers;  // number of the last edge to it + 1
} fact;

struct tvms_relax_writers {
  uint32_t count;
  fact facts[];
};

typedef struct {
  uint32_t caller;
  uint32_t next;  // the edge to the same callee before + 1
} edge;

typedef struct {
  const tvms_module *module;
  tvms_memory *memory;
  struct tvms_relax_writers *found;
  TVMS_VEC(edge) edges;
  TVMS_VEC(uint32_t) queue;  // members that write, whose callers are not looked at yet
  uint32_t at;               // the member at hand
} search;

bool tvms_relax_is_inplace(const tvms_node *call) {
  tvms_opcode opcode = tvms_op_called(call);
  return opcode == TVMS_R_call_tir_inplace || opcode == TVMS_R_call_inplace_packed;
}

// Does the call itself write, or what it calls, unless that is a Relax function of the module?
static bool writes_alone(const tvms_module *module, const tvms_node *call) {
  const tvms_node *name = tvms_as_call(call)->callee;
  if (tvms_relax_is_inplace(call) || name->kind == TVMS_NODE_VAR) return true;
  if (name->kind == TVMS_NODE_EXTERN_FUNC)
    return !tvms_infer_call_is_pure(module, tvms_as_call(call));
  return name->kind == TVMS_NODE_GLOBAL_VAR
         && !tvms_module_function_named(module, name, TVMS_NODE_FUNCTION);
}

// The Relax function of the module that is called, if it is one.
static const tvms_member *TVMS_NULLABLE callee_of(const tvms_module *module,
                                                  const tvms_node *call) {
  return tvms_module_function_named(module, tvms_as_call(call)->callee,
                                    TVMS_NODE_FUNCTION);
}

static void note_writer(search *s, uint32_t member) {
  fact *known = &s->found->facts[member];
  if (known->writes) return;
  known->writes = true;
  tvms_vec_push(s->memory, &s->queue, member);
}

static tvms_walk_step look_at_call(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  if (writes_alone(s->module, node)) {
    note_writer(s, s->at);
    return TVMS_WALK_STOP;
  }
  const tvms_member *callee = callee_of(s->module, node);
  if (!callee) return TVMS_WALK_ON;
  fact *called = &s->found->facts[callee - s->module->members];
  tvms_vec_push(s->memory, &s->edges, ((edge){s->at, called->callers}));
  called->callers = s->edges.len;
  return TVMS_WALK_ON;
}

static void look_at_member(search *s, const tvms_member *member) {
  s->at = (uint32_t)(member - s->module->members);
  s->found->facts[s->at] =
      (fact){.name = member->name, .callers = s->found->facts[s->at].callers};
  const tvms_node *function = member->function;
  if (!function || function->kind != TVMS_NODE_FUNCTION) return;
  tvms_node *body = tvms_as_function(function)->body;
  tvms_visitor visitor = {.self = s, .enter = look_at_call};
  if (body) (void)tvms_walk(s->memory, body, &visitor);
}

static void find(tvms_pass_run *run) {
  search s = {.module = run->module, .memory = &run->context->memory};
  uint32_t count = run->module->member_count;
  size_t size = sizeof *s.found + count * sizeof s.found->facts[0];
  s.found = tvms_memory_alloc(s.memory, size);
  s.found->count = count;
  for (uint32_t i = 0; i < count; i++)
    s.found->facts[i] = (fact){0};
  for (uint32_t i = 0; i < count; i++)
    look_at_member(&s, &run->module->members[i]);
  for (uint32_t i = 0; i < s.queue.len; i++) {
    uint32_t to = s.found->facts[s.queue.items[i]].callers;
    for (; to; to = s.edges.items[to - 1].next)
      note_writer(&s, s.edges.items[to - 1].caller);
  }
  tvms_vec_fini(s.memory, &s.edges);
  tvms_vec_fini(s.memory, &s.queue);
  run->writers = s.found;
}

bool tvms_relax_writes(tvms_pass_run *run, const tvms_node *call) {
  if (writes_alone(run->module, call)) return true;
  const tvms_member *callee = callee_of(run->module, call);
  if (!callee) return false;
  if (!run->writers) find(run);
  uint32_t at = (uint32_t)(callee - run->module->members);
  const struct tvms_relax_writers *found = run->writers;
  return at >= found->count || found->facts[at].name != callee->name
         || found->facts[at].writes;
}
