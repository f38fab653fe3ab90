// Which member of a module is the same function as another: chains of members by the hashes of their functions.
#include "ir/module_alike.h"

#include "ir/equal.h"

enum { LEAST_HEADS = 16 };

// Never 0, which stands for a hash that is not known.
static uint64_t hash_of(tvms_context *context,
                        const tvms_node *TVMS_NULLABLE function) {
  uint64_t hash = function ? tvms_node_hash(context, function) : 0;
  return hash ? hash : 1;
}

static uint32_t *head_of(const tvms_module_alike *alike, uint64_t hash) {
  return &alike->heads[(uint32_t)(hash >> 32) & alike->mask];
}

void tvms_module_forget_alike(tvms_module *module) {
  tvms_memory *memory = &module->context->memory;
  tvms_memory_free(memory, module->alike.heads);
  tvms_vec_fini(memory, &module->alike.links);
  tvms_vec_fini(memory, &module->alike.changed);
  module->alike = (tvms_module_alike){0};
}

static void enter(tvms_module *module, uint32_t index) {
  tvms_module_alike *alike = &module->alike;
  tvms_member *member = &module->members[index];
  if (!member->hash) member->hash = hash_of(module->context, member->function);
  tvms_vec_reach(&module->context->memory, &alike->links, index);
  uint32_t *head = head_of(alike, member->hash);
  alike->links.items[index] = (struct tvms_module_link){.next = *head};
  if (*head) alike->links.items[*head - 1].before = index + 1;
  *head = index + 1;
}

static void leave(tvms_module_alike *alike, uint32_t index, uint64_t hash) {
  struct tvms_module_link link = alike->links.items[index];
  if (link.next) alike->links.items[link.next - 1].before = link.before;
  if (link.before)
    alike->links.items[link.before - 1].next = link.next;
  else
    *head_of(alike, hash) = link.next;
}

static void make_heads(tvms_module *module) {
  uint32_t heads = LEAST_HEADS;
  while (heads < module->member_count * 2)
    heads *= 2;
  module->alike.heads =
      tvms_memory_alloc(&module->context->memory, heads * sizeof *module->alike.heads);
  module->alike.mask = heads - 1;
}

// Enters what was added or changed since.
static void catch_up(tvms_module *module) {
  tvms_module_alike *alike = &module->alike;
  if (alike->heads && module->member_count > alike->mask)
    tvms_module_forget_alike(module);
  if (!alike->heads) make_heads(module);
  while (alike->changed.len)
    enter(module, alike->changed.items[--alike->changed.len]);
  while (alike->seen < module->member_count)
    enter(module, alike->seen++);
}

void tvms_module_member_changed(tvms_module *module, uint32_t index) {
  tvms_module_alike *alike = &module->alike;
  tvms_member *member = &module->members[index];
  if (index < alike->seen && member->hash) {
    leave(alike, index, member->hash);
    tvms_vec_push(&module->context->memory, &alike->changed, index);
  }
  member->hash = 0;
}

uint32_t tvms_module_find_same(tvms_module *module, const tvms_node *function) {
  catch_up(module);
  uint64_t hash = hash_of(module->context, function);
  uint32_t first = UINT32_MAX;
  for (uint32_t at = *head_of(&module->alike, hash); at;
       at = module->alike.links.items[at - 1].next) {
    const tvms_member *member = &module->members[at - 1];
    const tvms_node *other = member->function;
    if (at - 1 > first || member->hash != hash || !other) continue;
    if (other->kind != function->kind || other->flags != function->flags) continue;
    if (tvms_node_equal(module->context, other, function)) first = at - 1;
  }
  return first;
}
