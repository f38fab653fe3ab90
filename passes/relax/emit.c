// TVM counts how often each name was asked for, not which names are taken.
#include "passes/relax/emit.h"

#include "ir/build.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(const tvms_relax_emitter *emitter) {
  return emitter->memory;
}

void tvms_relax_emitter_init(tvms_relax_emitter *emitter, tvms_unit *unit) {
  *emitter = (tvms_relax_emitter){.unit = unit, .memory = &unit->context->memory};
}

void tvms_relax_emitter_fini(tvms_relax_emitter *emitter) {
  tvms_vec_fini(memory_of(emitter), &emitter->names);
}

// The place of a name in a table of `cap` places, a power of two: its own, or an empty one.
static struct tvms_relax_name *place_of(struct tvms_relax_name *places, uint32_t cap,
                                        tvms_sym name) {
  uint32_t at = (uint32_t)(name * UINT64_C(2654435769) >> 7) & (cap - 1);
  while (places[at].count && places[at].name != name)
    at = (at + 1) & (cap - 1);
  return &places[at];
}

static void grow(tvms_relax_emitter *emitter) {
  uint32_t cap = emitter->names.cap ? emitter->names.cap * 2 : 16;
  size_t bytes = cap * sizeof *emitter->names.items;
  struct tvms_relax_name *places = tvms_memory_alloc(memory_of(emitter), bytes);
  memset(places, 0, bytes);
  for (uint32_t i = 0; i < emitter->names.cap; i++) {
    const struct tvms_relax_name *old = &emitter->names.items[i];
    if (old->count) *place_of(places, cap, old->name) = *old;
  }
  tvms_memory_free(memory_of(emitter), emitter->names.items);
  emitter->names.items = places;
  emitter->names.cap = cap;
}

static tvms_sym fresh_name(tvms_relax_emitter *emitter, const char *name) {
  tvms_context *context = emitter->unit->context;
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  if (emitter->names.len >= emitter->names.cap / 2) grow(emitter);
  struct tvms_relax_name *place =
      place_of(emitter->names.items, emitter->names.cap, sym);
  if (place->count) {
    char text[96];
    int len = snprintf(text, sizeof text, "%s%u", name, place->count++);
    return tvms_symbol_intern(context, text, (size_t)len);
  }
  *place = (struct tvms_relax_name){sym, 1};
  emitter->names.len++;
  return sym;
}

tvms_node *tvms_relax_bind(tvms_relax_emitter *emitter, tvms_node *value,
                           const char *name, bool dataflow) {
  tvms_unit *unit = emitter->unit;
  const tvms_node *type = value->sinfo;
  bool scalar = type && type->kind == TVMS_NODE_SINFO_PRIM
                && tvms_release_has(unit->dialect, TVMS_FACT_scalars_are_tir);
  tvms_node *var = tvms_var_new(unit, fresh_name(emitter, name),
                                scalar ? type->dtype : (tvms_dtype){0}, value->span);
  var->sinfo = value->sinfo;
  if (dataflow) var->flags |= TVMS_FLAG_DATAFLOW;
  tvms_var_binding *binding = tvms_node_make(unit, VAR_BINDING, value->span);
  binding->value = value;
  binding->var = var;
  return &binding->head;
}

tvms_node *tvms_relax_bind_cast(tvms_relax_emitter *emitter, tvms_node *value,
                                tvms_node *type, const char *name, bool dataflow) {
  const tvms_node *plain = tvms_relax_bind(emitter, value, name, dataflow);
  tvms_match_cast *cast = tvms_node_make(emitter->unit, MATCH_CAST, value->span);
  cast->value = value;
  cast->type = type;
  cast->var = tvms_as_var_binding(plain)->var;
  cast->var->sinfo = type;
  return &cast->head;
}

tvms_node *tvms_relax_emit(tvms_relax_emitter *emitter, tvms_rewriter *rewriter,
                           tvms_node *value, const char *name) {
  bool dataflow = rewriter->sequence && rewriter->sequence->flags & TVMS_FLAG_DATAFLOW;
  tvms_node *binding = tvms_relax_bind(emitter, value, name, dataflow);
  tvms_rewrite_emit(rewriter, binding);
  return tvms_as_var_binding(binding)->var;
}
