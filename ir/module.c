// Making and searching modules.
//
// Members keep the order of the text, which is printed; a table by name finds them. Each
// owns its unit, so that a function is replaced or dropped as a whole.
#include "ir/module.h"

#include "ir/module_alike.h"

#include <stdio.h>
#include <string.h>

tvms_module *tvms_module_create(tvms_context *context, tvms_dialect dialect,
                                tvms_sym name) {
  tvms_module *module = tvms_memory_alloc(&context->memory, sizeof *module);
  module->context = context;
  module->dialect = dialect;
  module->name = name;
  module->source = context->diags.source;
  tvms_unit_init(&module->unit, context, dialect);
  return module;
}

void tvms_module_destroy(tvms_module *module) {
  tvms_memory *memory = &module->context->memory;
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_unit_fini(module->members[i].unit);
    tvms_memory_free(memory, module->members[i].unit);
  }
  tvms_unit_fini(&module->unit);
  tvms_memory_free(memory, module->members);
  tvms_memory_free(memory, module->index);
  tvms_counts_fini(memory, &module->tried);
  tvms_module_forget_alike(module);
  tvms_memory_free(memory, module);
}

/* The index: slots hold the number of a member plus one */

enum { INDEXED_FROM = 16 };

static uint32_t slot_of(const tvms_module *module, tvms_sym name) {
  uint32_t at = (uint32_t)(name * UINT64_C(0x9E3779B97F4A7C15) >> 32);
  for (;; at++) {
    uint32_t member = module->index[at & module->index_mask];
    if (!member || module->members[member - 1].name == name)
      return at & module->index_mask;
  }
}

static void index_members(tvms_module *module) {
  while (module->indexed < module->member_count) {
    uint32_t slot = slot_of(module, module->members[module->indexed].name);
    module->index[slot] = ++module->indexed;
  }
}

static void forget_index(tvms_module *module) {
  tvms_memory_free(&module->context->memory, module->index);
  module->index = NULL;
  module->indexed = module->index_mask = 0;
}

// The table anew, which is at most a quarter full.
static void make_index(tvms_module *module) {
  uint32_t slots = 4 * INDEXED_FROM;
  while (slots < module->member_count * 4)
    slots *= 2;
  module->index =
      tvms_memory_alloc(&module->context->memory, slots * sizeof *module->index);
  module->index_mask = slots - 1;
}

void tvms_module_index_again(tvms_module *module) {
  forget_index(module);
  tvms_counts_fini(&module->context->memory, &module->tried);
  tvms_module_forget_alike(module);
  if (module->member_count < INDEXED_FROM) return;
  make_index(module);
  index_members(module);
}

// Adds the newest member; doubles the table when it is half full.
static void update_index(tvms_module *module) {
  uint32_t count = module->member_count;
  if (count < INDEXED_FROM) return;
  bool stale = module->indexed + 1 != count;
  if (stale || count * 2 > module->index_mask) {
    forget_index(module);
    make_index(module);
  }
  index_members(module);
}

tvms_member *tvms_module_add(tvms_module *module, tvms_sym name, tvms_span name_span) {
  tvms_memory *memory = &module->context->memory;
  if (module->member_count == module->member_cap) {
    uint32_t cap = module->member_cap ? module->member_cap * 2 : 8;
    module->members =
        tvms_memory_realloc(memory, module->members, cap * sizeof *module->members);
    module->member_cap = cap;
  }
  tvms_unit *unit = tvms_memory_alloc(memory, sizeof *unit);
  tvms_unit_init(unit, module->context, module->dialect);
  unit->module = module;
  tvms_member *member = &module->members[module->member_count++];
  *member = (tvms_member){.name = name, .name_span = name_span, .unit = unit};
  update_index(module);
  return member;
}

// Names that were tried stay taken while members are only added.
tvms_sym tvms_module_fresh_name(tvms_module *module, const char *name) {
  tvms_context *context = module->context;
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  if (!tvms_module_find(module, sym)) return sym;
  uint32_t *tried = tvms_counts_at(&context->memory, &module->tried, sym);
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  size_t room = strlen(name) + 12;
  char *text = tvms_arena_alloc(&context->scratch, room);
  do {
    int len = snprintf(text, room, "%s%u", name, ++*tried);
    sym = tvms_symbol_intern(context, text, (size_t)len);
  } while (tvms_module_find(module, sym));
  --*tried;  // the caller need not take it
  tvms_arena_reset(&context->scratch, mark);
  return sym;
}

bool tvms_module_shares(const tvms_unit *unit, const tvms_node *node) {
  bool info =
      node->kind == TVMS_NODE_OBJECT_VDEVICE || node->kind == TVMS_NODE_OBJECT_MESH;
  return info && unit->module && tvms_arena_owns(&unit->module->unit.arena, node);
}

tvms_member *tvms_module_find(const tvms_module *module, tvms_sym name) {
  if (module->index && module->indexed == module->member_count) {
    uint32_t member = module->index[slot_of(module, name)];
    return member ? &module->members[member - 1] : NULL;
  }
  for (uint32_t i = module->member_count; i > 0; i--) {
    if (module->members[i - 1].name == name) return &module->members[i - 1];
  }
  return NULL;
}

tvms_member *TVMS_NULLABLE tvms_module_named(const tvms_module *module,
                                             const tvms_node *node) {
  if (node->kind != TVMS_NODE_GLOBAL_VAR) return NULL;
  return tvms_module_find(module, tvms_as_global_var(node)->name);
}

tvms_member *TVMS_NULLABLE tvms_module_function_named(const tvms_module *module,
                                                      const tvms_node *node,
                                                      tvms_node_kind kind) {
  tvms_member *member = tvms_module_named(module, node);
  bool found = member && member->function && member->function->kind == kind;
  return found ? member : NULL;
}

void tvms_program_add(tvms_program *program, tvms_module *module) {
  tvms_memory *memory = &program->context->memory;
  if (program->count == program->cap) {
    uint32_t cap = program->cap ? program->cap * 2 : 4;
    program->modules =
        tvms_memory_realloc(memory, program->modules, cap * sizeof *program->modules);
    program->cap = cap;
  }
  program->modules[program->count++] = module;
}
