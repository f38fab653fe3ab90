// Putting new functions into a module.
//
// Each function owns its unit, so taking an old one out frees exactly its nodes. A changed
// function shares what did not change with the one that it replaces, in the same unit: copying
// every function for every pass took a third of a pipeline's time. What died is left behind
// when the unit has grown to several times its size.
#include "passes/functions.h"

#include "ir/clone.h"
#include "ir/module_alike.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tvms_unit *tvms_functions_open_unit(tvms_pass_run *run) {
  tvms_unit *unit = tvms_memory_alloc(&run->context->memory, sizeof *unit);
  tvms_unit_init(unit, run->context, run->module->dialect);
  unit->module = run->module;
  return unit;
}

void tvms_functions_drop_unit(tvms_pass_run *run, tvms_unit *unit) {
  tvms_unit_fini(unit);
  tvms_memory_free(&run->context->memory, unit);
}

void tvms_functions_replace(tvms_pass_run *run, uint32_t index, tvms_unit *unit,
                            tvms_node *function) {
  tvms_member *member = &run->module->members[index];
  tvms_functions_drop_unit(run, member->unit);
  member->unit = unit;
  member->function = function;
  tvms_module_member_changed(run->module, index);
  run->changed = true;
}

uint32_t tvms_functions_add(tvms_pass_run *run, tvms_sym name, tvms_unit *unit,
                            tvms_node *function) {
  tvms_module_add(run->module, name, (tvms_span){0, 0});
  uint32_t index = run->module->member_count - 1;
  tvms_functions_replace(run, index, unit, function);
  return index;
}

void tvms_functions_remove(tvms_pass_run *run, const bool *dead) {
  tvms_module *module = run->module;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (dead[i]) {
      tvms_functions_drop_unit(run, module->members[i].unit);
      run->changed = true;
    } else {
      module->members[kept++] = module->members[i];
    }
  }
  module->member_count = kept;
  tvms_module_index_again(module);
}

tvms_sym tvms_functions_fresh_name(tvms_pass_run *run, const char *name) {
  return tvms_module_fresh_name(run->module, name);
}

tvms_sym tvms_functions_add_unique(tvms_pass_run *run, const char *name,
                                   tvms_unit *unit, tvms_node *function) {
  uint32_t same = tvms_module_find_same(run->module, function);
  if (same != UINT32_MAX) {
    tvms_functions_drop_unit(run, unit);
    return run->module->members[same].name;
  }
  tvms_sym fresh = tvms_functions_fresh_name(run, name);
  if (function->kind == TVMS_NODE_PRIM_FUNC) tvms_as_prim_func(function)->name = fresh;
  if (function->kind == TVMS_NODE_FUNCTION) tvms_as_function(function)->name = fresh;
  tvms_functions_add(run, fresh, unit, function);
  return fresh;
}

// From how many bytes on a function of `size` bytes is moved.
static size_t crowded_from(size_t size) {
  enum { TIMES = 4, LEAST = 1 << 16 };
  return size * TIMES < LEAST ? LEAST : size * TIMES;
}

// Puts `new` in the place of a function whose unit it lies in.
static void put_changed(tvms_pass_run *run, tvms_member *member, tvms_node *new) {
  tvms_unit *unit = member->unit;
  size_t size = tvms_arena_size(&unit->arena);
  if (!unit->crowded) unit->crowded = crowded_from(size);
  if (size >= unit->crowded) {
    member->unit = tvms_functions_open_unit(run);
    member->unit->origin = unit->origin;
    new = tvms_clone(member->unit, new, NULL);
    member->unit->crowded = crowded_from(tvms_arena_size(&member->unit->arena));
    tvms_functions_drop_unit(run, unit);
  }
  member->function = new;
  tvms_module_member_changed(run->module, (uint32_t)(member - run->module->members));
  run->changed = true;
}

// Nodes that were made for questions about a function that stays as it is.
static void drop_made(tvms_unit *unit, tvms_mark mark, uint32_t next_id) {
  tvms_arena_reset(&unit->arena, mark);
  unit->next_id = next_id;
  if (unit->plain_before > next_id) unit->plain_before = next_id;
}

static void change_member(tvms_pass_run *run, uint32_t index, tvms_node_kind kind,
                          tvms_function_change *change) {
  tvms_member *member = &run->module->members[index];
  tvms_node *old = member->function;
  if (!old || old->kind != kind) return;
  tvms_unit *unit = member->unit;
  unit->effort = 0;
  tvms_mark mark = tvms_arena_mark(&unit->arena);
  uint32_t next_id = unit->next_id;
  tvms_node *new = change(run, unit, old);
  if (new != old)
    put_changed(run, &run->module->members[index], new);
  else if (kind == TVMS_NODE_PRIM_FUNC)
    drop_made(unit, mark, next_id);
}

void tvms_functions_change(tvms_pass_run *run, tvms_node_kind kind,
                           tvms_function_change *change) {
  uint32_t count = run->module->member_count;
  for (uint32_t i = 0; i < count; i++)
    change_member(run, i, kind, change);
}

typedef struct {
  const char *name;
  uint32_t index;
} named;

static int compare_names(const void *a, const void *b) {
  return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

void tvms_functions_change_by_name(tvms_pass_run *run, tvms_node_kind kind,
                                   tvms_function_change *change) {
  tvms_memory *memory = &run->context->memory;
  uint32_t count = run->module->member_count;
  named *order = tvms_memory_alloc(memory, count * sizeof *order + 1);
  for (uint32_t i = 0; i < count; i++)
    order[i] = (named){tvms_symbol_text(run->context, run->module->members[i].name), i};
  qsort(order, count, sizeof *order, compare_names);
  for (uint32_t i = 0; i < count; i++)
    change_member(run, order[i].index, kind, change);
  tvms_memory_free(memory, order);
}

void tvms_functions_order_by_name(tvms_pass_run *run, tvms_node_kind kind) {
  tvms_memory *memory = &run->context->memory;
  tvms_module *module = run->module;
  uint32_t count = module->member_count, kept = 0, moved = 0;
  named *order = tvms_memory_alloc(memory, count * sizeof *order + 1);
  tvms_member *members = tvms_memory_alloc(memory, count * sizeof *members + 1);
  memcpy(members, module->members, count * sizeof *members);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *function = members[i].function;
    if (function && function->kind == kind)
      order[moved++] = (named){tvms_symbol_text(run->context, members[i].name), i};
    else
      module->members[kept++] = members[i];
  }
  qsort(order, moved, sizeof *order, compare_names);
  for (uint32_t i = 0; i < moved; i++)
    module->members[kept + i] = members[order[i].index];
  for (uint32_t i = 0; i < count; i++)
    run->changed |= module->members[i].name != members[i].name;
  tvms_module_index_again(module);
  tvms_memory_free(memory, members);
  tvms_memory_free(memory, order);
}

void tvms_functions_remake(tvms_pass_run *run, tvms_node_kind kind,
                           tvms_function_remake *remake, void *self) {
  uint32_t count = run->module->member_count;
  tvms_arena arena;
  tvms_arena_init(&arena, &run->context->memory);
  tvms_node **made = tvms_arena_array(&arena, tvms_node *, count);
  tvms_unit **units = tvms_arena_array(&arena, tvms_unit *, count);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *old = run->module->members[i].function;
    if (!old || old->kind != kind) continue;
    units[i] = tvms_functions_open_unit(run);
    units[i]->origin = run->module->members[i].unit->origin;
    made[i] = remake(self, units[i], i);
    if (!made[i]) tvms_functions_drop_unit(run, units[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (made[i]) tvms_functions_replace(run, i, units[i], made[i]);
  }
  tvms_arena_fini(&arena);
}

static tvms_node *rewrite_function(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run);
  (*(tvms_function_setup **)run->state)(&rewriter);
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_functions_rewrite(tvms_pass_run *run, tvms_node_kind kind,
                            tvms_function_setup *setup) {
  void *outer = run->state;
  run->state = &setup;
  tvms_functions_change(run, kind, rewrite_function);
  run->state = outer;
}
