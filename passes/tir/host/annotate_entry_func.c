// AnnotateEntryFunc: the function by which a program begins gets a mark.
//
// Before: one PrimFunc, or one that is public   After: its attributes say "tirx.is_entry_func": True
//
// A module with several public functions, or with a public function that is not a PrimFunc,
// stays as it is. TVM: tirx.transform.AnnotateEntryFunc.
#include "ir/build.h"
#include "ir/object.h"
#include "passes/functions.h"

// The member that is the entry, or UINT32_MAX.
static uint32_t entry_of(const tvms_module *module) {
  uint32_t entry = UINT32_MAX, functions = 0, public_ones = 0;
  bool other = false;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (!function) continue;
    functions++;
    if (function->flags & TVMS_FLAG_PRIVATE) continue;
    public_ones++;
    if (function->kind == TVMS_NODE_PRIM_FUNC)
      entry = i;
    else
      other = true;
  }
  if (functions == 1) {
    for (uint32_t i = 0; i < module->member_count; i++) {
      const tvms_node *function = module->members[i].function;
      if (function && function->kind == TVMS_NODE_PRIM_FUNC) return i;
    }
  }
  return public_ones == 1 && !other ? entry : UINT32_MAX;
}

static tvms_node *mark(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  uint32_t entry = *(uint32_t *)run->state;
  if (tvms_as_prim_func(function)->name != run->module->members[entry].name)
    return function;
  bool tirx = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx);
  const char *key = tirx ? "tirx.is_entry_func" : "tir.is_entry_func";
  int64_t marked;
  const tvms_node *attrs = tvms_as_prim_func(function)->attrs;
  if (tvms_object_as_int(tvms_object_map_get(attrs, key), &marked) && marked)
    return function;
  tvms_node *new = tvms_node_copy(unit, function);
  tvms_node *yes = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  tvms_as_prim_func(new)->attrs = tvms_object_map_with(unit, attrs, key, yes);
  return new;
}

void tvms_pass_annotate_entry_func(tvms_pass_run *run) {
  uint32_t entry = entry_of(run->module);
  if (entry == UINT32_MAX) return;
  run->state = &entry;
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, mark);
}
