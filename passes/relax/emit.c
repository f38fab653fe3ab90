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

static tvms_sym fresh_name(tvms_relax_emitter *emitter, const char *name) {
  tvms_context *context = emitter->unit->context;
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  for (uint32_t i = 0; i < emitter->names.len; i++) {
    if (emitter->names.items[i].name != sym) continue;
    char text[96];
    int len =
        snprintf(text, sizeof text, "%s%u", name, emitter->names.items[i].count++);
    return tvms_symbol_intern(context, text, (size_t)len);
  }
  struct tvms_relax_name first = {sym, 1};
  tvms_vec_push(memory_of(emitter), &emitter->names, first);
  return sym;
}

tvms_node *tvms_relax_bind(tvms_relax_emitter *emitter, tvms_node *value,
                           const char *name, bool dataflow) {
  tvms_unit *unit = emitter->unit;
  tvms_node *var =
      tvms_var_new(unit, fresh_name(emitter, name), (tvms_dtype){0}, value->span);
  var->sinfo = value->sinfo;
  if (dataflow) var->flags |= TVMS_FLAG_DATAFLOW;
  tvms_var_binding *binding = tvms_node_make(unit, VAR_BINDING, value->span);
  binding->value = value;
  binding->var = var;
  return &binding->head;
}

tvms_node *tvms_relax_emit(tvms_relax_emitter *emitter, tvms_rewriter *rewriter,
                           tvms_node *value, const char *name) {
  bool dataflow = rewriter->sequence && rewriter->sequence->flags & TVMS_FLAG_DATAFLOW;
  tvms_node *binding = tvms_relax_bind(emitter, value, name, dataflow);
  tvms_rewrite_emit(rewriter, binding);
  return tvms_as_var_binding(binding)->var;
}
