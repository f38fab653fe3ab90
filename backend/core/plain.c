// A header declares more than the function `f`: f_inputs, f_results, f_workspace, f_within and a size for each result
// (driver/c_header.c). A function of the module may be called so, too; it makes room.
#include "backend/core/plain.h"

#include "support/context.h"

#include <stdio.h>
#include <string.h>

bool tvms_plain_serves(const tvms_member *member, tvms_contract *contract) {
  const tvms_node *function = member->function;
  if (!function || function->kind != TVMS_NODE_PRIM_FUNC) return false;
  *contract = tvms_call_contract(tvms_as_prim_func(function));
  return contract->result_text && !(function->flags & TVMS_FLAG_PRIVATE);
}

// Is a name that of what belongs to the function `other`?
static bool belongs_to(const char *name, const char *other) {
  static const char *const parts[] = {"_inputs", "_results", "_workspace", "_within"};
  static const char result[] = "_result", size[] = "_size";
  size_t len = strlen(other), left = strlen(name);
  if (strncmp(name, other, len) != 0) return false;
  const char *part = name + len;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (!strcmp(part, parts[i])) return true;
  }
  left -= len;
  return left >= sizeof result + sizeof size - 2
         && !strncmp(part, result, sizeof result - 1)
         && !strcmp(part + left - (sizeof size - 1), size);
}

// Is a name taken by another function, or by what belongs to one?
static bool is_taken(const tvms_module *module, const tvms_member *own,
                     const char *name) {
  tvms_contract contract;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (member == own || !tvms_plain_serves(member, &contract)) continue;
    const char *other = tvms_symbol_text(module->context, member->name);
    if (!strcmp(name, other) || belongs_to(name, other)) return true;
  }
  return false;
}

const char *tvms_plain_name(const tvms_module *module, const tvms_member *member,
                            const char *prefix) {
  enum { MOST_DIGITS = 10 };
  tvms_arena *arena = &module->context->arena;
  const char *own = tvms_symbol_text(module->context, member->name);
  size_t head = strlen(prefix) + 1, room = head + strlen(own) + MOST_DIGITS + 2;
  char *name = tvms_arena_alloc(arena, room);
  snprintf(name, room, "%s_%s", prefix, own);
  for (uint32_t i = 1; is_taken(module, member, name + head); i++)
    snprintf(name, room, "%s_%s_%u", prefix, own, i);
  return name;
}
