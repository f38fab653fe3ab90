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
  tvms_counts_fini(memory_of(emitter), &emitter->names);
}

static tvms_sym fresh_name(tvms_relax_emitter *emitter, const char *name) {
  tvms_context *context = emitter->unit->context;
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  uint32_t before = (*tvms_counts_at(memory_of(emitter), &emitter->names, sym))++;
  if (before == 0) return sym;
  char text[96];
  int len = snprintf(text, sizeof text, "%s%u", name, before);
  return tvms_symbol_intern(context, text, (size_t)len);
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
