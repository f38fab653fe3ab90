// Private functions that no public function of the module leads to: nothing outside can call
// them, so they are dead, even if they call each other.
//
// A module without a public function is a piece of a program that something else completes
// (most are tests of passes), and functions of Python may call by names that nobody sees.
// Nothing is said of those.
#include "lint/private.h"

#include "ir/walk.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_memory *memory;
  tvms_module *module;
  bool *named;  // by number of the member: what is reached names it
  TVMS_VEC(uint32_t) waiting;
} search;

static void reach(search *s, uint32_t member) {
  if (s->named[member]) return;
  s->named[member] = true;
  tvms_vec_push(s->memory, &s->waiting, member);
}

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  search *s = self;
  const tvms_member *member = tvms_module_named(s->module, node);
  if (member) reach(s, (uint32_t)(member - s->module->members));
  return TVMS_WALK_ON;
}

static bool is_private(const tvms_member *member) {
  return member->function->flags & TVMS_FLAG_PRIVATE;
}

// Whether all that may call a function of the module is in it.
static bool is_complete(const tvms_module *module) {
  bool is_public = false, any = false;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (member->function->kind == TVMS_NODE_EXTERN_FUNC) return false;
    is_public = is_public || !is_private(member);
    any = any || is_private(member);
  }
  return is_public && any && !module->rewriter;
}

void tvms_lint_private_functions(tvms_lint *lint) {
  tvms_module *module = lint->module;
  if (!is_complete(module)) return;
  tvms_memory *memory = &lint->context->memory;
  search s = {.memory = memory,
              .module = module,
              .named = tvms_memory_alloc(memory, module->member_count)};
  tvms_visitor visitor = {.self = &s, .enter = see};
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (!is_private(&module->members[i])) reach(&s, i);
  }
  while (s.waiting.len) {
    uint32_t next = s.waiting.items[--s.waiting.len];
    (void)tvms_walk(memory, module->members[next].function, &visitor);
  }
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (s.named[i]) continue;
    tvms_diag_report(&lint->context->diags, TVMS_D_private_never_called,
                     member->name_span, tvms_symbol_text(lint->context, member->name));
  }
  tvms_vec_fini(memory, &s.waiting);
  tvms_memory_free(memory, s.named);
}
