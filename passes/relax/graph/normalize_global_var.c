// NormalizeGlobalVar: every public function is called what its global_symbol says.
//
// Before: def f1(): R.func_attr({"global_symbol": "f"}) …   def f(…), private
// After:  def f(): …                                        def f1(…), private
//
// A private function that has the name of a public one gets another. Nothing changes if all
// public functions have their names. TVM: relax.transform.NormalizeGlobalVar.
#include "ir/clone.h"
#include "ir/global_symbol.h"
#include "ir/object.h"
#include "passes/functions.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_pass_run *run;
  uint32_t count;   // members as they were
  tvms_sym *names;  // by member: what it is called from now on
  bool *public;
  tvms_counts taken;  // not 0: a function is called so from now on
  tvms_counts tried;  // numbers behind a name that are taken with certainty
} renaming;

// What the attributes say, or 0.
static tvms_sym symbol_of(const renaming *r, const tvms_node *TVMS_NULLABLE function) {
  const char *text = tvms_object_as_text(tvms_global_symbol_attr(function));
  return text ? tvms_symbol_intern(r->run->context, text, strlen(text)) : 0;
}

// The name, with a number if a function has it already; it is taken from then on.
static tvms_sym fresh_name(renaming *r, tvms_sym name) {
  tvms_context *context = r->run->context;
  tvms_sym made = name;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  const char *base = tvms_symbol_text(context, name);
  size_t room = strlen(base) + 12;
  char *text = tvms_arena_alloc(&context->scratch, room);
  uint32_t number = *tvms_counts_at(&context->memory, &r->tried, name);
  while (*tvms_counts_at(&context->memory, &r->taken, made)) {
    int len = snprintf(text, room, "%s%u", base, ++number);
    made = tvms_symbol_intern(context, text, (size_t)len);
  }
  *tvms_counts_at(&context->memory, &r->tried, name) = number;
  *tvms_counts_at(&context->memory, &r->taken, made) = 1;
  tvms_arena_reset(&context->scratch, mark);
  return made;
}

// Chooses all names; false if every function has its own already.
static bool choose_names(renaming *r) {
  const tvms_member *members = r->run->module->members;
  bool changes = false;
  for (uint32_t i = 0; i < r->count; i++) {
    const tvms_node *function = members[i].function;
    tvms_sym symbol = symbol_of(r, function);
    bool private = function && function->flags & TVMS_FLAG_PRIVATE;
    r->public[i] = symbol || !private;
    if (!r->public[i]) continue;
    r->names[i] = symbol ? symbol : members[i].name;
    *tvms_counts_at(&r->run->context->memory, &r->taken, r->names[i]) = 1;
    changes |= r->names[i] != members[i].name;
  }
  for (uint32_t i = 0; i < r->count; i++) {
    if (!r->public[i]) r->names[i] = fresh_name(r, members[i].name);
  }
  return changes;
}

static tvms_node *rename_mention(tvms_rewriter *rewriter, tvms_node *node) {
  const renaming *r = rewriter->self;
  const tvms_module *module = r->run->module;
  const tvms_member *member = tvms_module_find(module, tvms_as_global_var(node)->name);
  if (!member) return node;
  tvms_sym name = r->names[member - module->members];
  return name == member->name ? node : tvms_relax_make_global_var(rewriter->unit, name);
}

static tvms_node *leave_call(tvms_rewriter *rewriter, tvms_node *node) {
  const renaming *r = rewriter->self;
  return tvms_relax_retype_call(rewriter, r->run->module, node);
}

static tvms_node *renamed(renaming *r, uint32_t index, tvms_unit *unit) {
  tvms_node *copy = tvms_clone(unit, r->run->module->members[index].function, NULL);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, r);
  if (copy->kind == TVMS_NODE_FUNCTION) tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_GLOBAL_VAR] = rename_mention;
  if (copy->kind == TVMS_NODE_FUNCTION) rewriter.leave[TVMS_NODE_CALL] = leave_call;
  tvms_node *made = tvms_rewrite(&rewriter, copy);
  tvms_rewriter_fini(&rewriter);
  made = tvms_node_copy(unit, made);
  bool has_symbol = symbol_of(r, made) != 0;
  if (made->kind == TVMS_NODE_FUNCTION) {
    tvms_function *function = tvms_as_function(made);
    function->name = r->names[index];
    if (has_symbol)
      function->attrs =
          tvms_object_map_with(unit, function->attrs, "global_symbol", NULL);
  } else if (made->kind == TVMS_NODE_PRIM_FUNC) {
    tvms_prim_func *function = tvms_as_prim_func(made);
    function->name = r->names[index];
    if (has_symbol)
      function->attrs =
          tvms_object_map_with(unit, function->attrs, "global_symbol", NULL);
  }
  return made;
}

// New members behind the old ones, public ones first; then the old ones go.
static void rename_members(renaming *r, tvms_arena *arena) {
  tvms_module *module = r->run->module;
  tvms_unit **units = tvms_arena_array(arena, tvms_unit *, r->count);
  tvms_node **made = tvms_arena_array(arena, tvms_node *, r->count);
  for (uint32_t i = 0; i < r->count; i++) {
    units[i] = tvms_functions_open_unit(r->run);
    made[i] = renamed(r, i, units[i]);
  }
  for (int private = 0; private < 2; private ++) {
    for (uint32_t i = 0; i < r->count; i++) {
      if (r->public[i] == !private)
        tvms_functions_add(r->run, r->names[i], units[i], made[i]);
    }
  }
  bool *dead = tvms_arena_array(arena, bool, module->member_count);
  memset(dead, true, r->count);
  tvms_functions_remove(r->run, dead);
}

void tvms_pass_normalize_global_var(tvms_pass_run *run) {
  uint32_t count = run->module->member_count;
  for (uint32_t i = 0; i < count; i++) {
    if (!run->module->members[i].function) return;
  }
  tvms_arena arena;
  tvms_arena_init(&arena, &run->context->memory);
  renaming r = {.run = run,
                .count = count,
                .names = tvms_arena_array(&arena, tvms_sym, count),
                .public = tvms_arena_array(&arena, bool, count)};
  if (choose_names(&r)) rename_members(&r, &arena);
  tvms_counts_fini(&run->context->memory, &r.taken);
  tvms_counts_fini(&run->context->memory, &r.tried);
  tvms_arena_fini(&arena);
}
