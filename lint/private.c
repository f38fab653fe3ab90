// Private functions that no function of the module names: nothing outside can call them, so
// they are dead.
//
// A module without a public function is a piece of a program that something else completes
// (most are tests of passes), and functions of Python may call by names that nobody sees.
// Nothing is said of those.
#include "lint/private.h"

#include "ir/walk.h"

typedef struct {
  tvms_module *module;
  const tvms_member *from;  // the function that is walked over
  bool *named;              // by number of the member
} search;

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  search *s = self;
  const tvms_member *member = tvms_module_named(s->module, node);
  if (member && member != s->from) s->named[member - s->module->members] = true;
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
  search s = {.module = module,
              .named = tvms_memory_alloc(memory, module->member_count)};
  tvms_visitor visitor = {.self = &s, .enter = see};
  for (uint32_t i = 0; i < module->member_count; i++) {
    s.from = &module->members[i];
    (void)tvms_walk(memory, s.from->function, &visitor);
  }
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (s.named[i] || !is_private(member)) continue;
    tvms_diag_report(&lint->context->diags, TVMS_D_private_never_called,
                     member->name_span, tvms_symbol_text(lint->context, member->name));
  }
  tvms_memory_free(memory, s.named);
}
