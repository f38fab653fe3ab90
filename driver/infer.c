// Walking the bindings of Relax functions, showing each value with its type.
#include "driver/infer.h"

#include "ir/build.h"
#include "ir/node_map.h"
#include "printer/print.h"

#include <stdio.h>

struct tvms_infer {
  tvms_context *context;
  tvms_printer *printer;  // of types
  tvms_fact_visit *visit;
  void *self;
  const tvms_unit *unit;
  uint32_t level;
  tvms_strbuf type;       // of the fact at hand
  tvms_node_map symbols;  // symbolic variables that were mentioned
};

static void read_body(tvms_infer *in, tvms_node *body);
static void read_function(tvms_infer *in, const char *name, tvms_node *node);

// ---- Facts ----

static void show(tvms_infer *in, const tvms_fact *fact) {
  in->visit(in->self, fact);
}

// A fact without a type.
static void show_mark(tvms_infer *in, tvms_fact_kind kind, const char *name) {
  show(in, &(tvms_fact){.kind = kind, .level = in->level, .name = name, .type = ""});
}

// A value with its type.
static void show_typed(tvms_infer *in, tvms_fact_kind kind, const char *name,
                       const tvms_node *TVMS_NULLABLE type, tvms_span span) {
  in->type.len = 0;
  if (type)
    tvms_print_one(in->printer, in->unit, type, &in->type);
  else
    tvms_strbuf_puts(&in->type, "?");
  show(in, &(tvms_fact){.kind = kind,
                        .level = in->level,
                        .name = name,
                        .type = tvms_strbuf_text(&in->type),
                        .span = span});
}

// ---- Symbolic variables ----

static void note_symbol(tvms_infer *in, tvms_node *node, const char *where,
                        const char *owner, bool dimension) {
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(&in->symbols, node)) return;
  tvms_node_map_put(&in->symbols, node, node);
  char dtype[TVMS_DTYPE_TEXT];
  show(in, &(tvms_fact){.kind = TVMS_FACT_SYMBOL,
                        .level = in->level,
                        .name = tvms_symbol_text(in->context, tvms_as_var(node)->name),
                        .type = tvms_dtype_text(node->dtype, dtype),
                        .bound_by = where,
                        .owner = owner,
                        .is_size = dimension});
}

// The variables that stand alone as a dimension of `type`: its value binds them.
static void note_symbols(tvms_infer *in, const tvms_node *TVMS_NULLABLE type,
                         const char *owner) {
  if (!type) return;
  char where[32];
  tvms_list dims = {0};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      note_symbols(in, fields.items[i], owner);
    }
  } else if (type->kind == TVMS_NODE_SINFO_PRIM && tvms_as_sinfo_prim(type)->value) {
    note_symbol(in, tvms_as_sinfo_prim(type)->value, "value", owner, false);
  } else if (type->kind == TVMS_NODE_SINFO_SHAPE) {
    dims = tvms_as_sinfo_shape(type)->values;
  } else if (type->kind == TVMS_NODE_SINFO_TENSOR) {
    const tvms_node *shape = tvms_as_sinfo_tensor(type)->shape;
    if (shape && shape->kind == TVMS_NODE_SHAPE_EXPR) {
      dims = tvms_as_shape_expr(shape)->values;
    }
  }
  for (uint32_t i = 0; i < dims.len; i++) {
    snprintf(where, sizeof where, "dimension %u", i);
    note_symbol(in, dims.items[i], where, owner, true);
  }
}

// ---- Functions ----

static void read_branch(tvms_infer *in, tvms_fact_kind kind, tvms_node *body) {
  show_mark(in, kind, "");
  read_body(in, body);
  show_mark(in, TVMS_FACT_END, "");
}

static void read_binding(tvms_infer *in, tvms_node *binding) {
  tvms_node *var, *value;
  if (binding->kind == TVMS_NODE_MATCH_CAST) {
    var = tvms_as_match_cast(binding)->var;
    value = tvms_as_match_cast(binding)->value;
  } else {
    var = tvms_as_var_binding(binding)->var;
    value = tvms_as_var_binding(binding)->value;
  }
  const char *name = tvms_symbol_text(in->context, tvms_as_var(var)->name);
  show_typed(in, TVMS_FACT_BINDING, name, var->sinfo, binding->span);
  in->level++;
  if (value->kind == TVMS_NODE_IF) {
    read_branch(in, TVMS_FACT_THEN, tvms_as_if(value)->true_branch);
    read_branch(in, TVMS_FACT_ELSE, tvms_as_if(value)->false_branch);
  } else if (value->kind == TVMS_NODE_FUNCTION) {
    read_function(in, name, value);
  }
  in->level--;
  show_mark(in, TVMS_FACT_END, "");
}

// The bindings of a sequence and the type of its result.
static void read_body(tvms_infer *in, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ_EXPR) return;
  const tvms_seq_expr *seq = tvms_as_seq_expr(body);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      read_binding(in, bindings.items[k]);
    }
  }
}

static void note_casts(tvms_infer *in, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ_EXPR) return;
  const tvms_seq_expr *seq = tvms_as_seq_expr(body);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      if (bindings.items[k]->kind != TVMS_NODE_MATCH_CAST) continue;
      const tvms_match_cast *cast = tvms_as_match_cast(bindings.items[k]);
      const char *name = tvms_symbol_text(in->context, tvms_as_var(cast->var)->name);
      note_symbols(in, cast->type, name);
    }
  }
}

static void read_function(tvms_infer *in, const char *name, tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  show_mark(in, TVMS_FACT_FUNCTION, name);
  in->level++;
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    note_symbols(in, param->sinfo,
                 tvms_symbol_text(in->context, tvms_as_var(param)->name));
  }
  if (function->body) note_casts(in, function->body);
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    show_typed(in, TVMS_FACT_PARAM,
               tvms_symbol_text(in->context, tvms_as_var(param)->name), param->sinfo,
               param->span);
  }
  if (function->body) read_body(in, function->body);
  show_typed(in, TVMS_FACT_RESULT, "return", function->ret, TVMS_NO_SPAN);
  in->level--;
  show_mark(in, TVMS_FACT_END, "");
}

// ---- Modules ----

tvms_infer *tvms_infer_open(tvms_context *context, tvms_dialect dialect,
                            tvms_fact_visit *visit, void *self) {
  tvms_infer *in = tvms_memory_alloc(&context->memory, sizeof *in);
  in->context = context;
  in->visit = visit;
  in->self = self;
  in->printer = tvms_print_nodes(context, dialect);
  tvms_strbuf_init(&in->type, &context->memory);
  tvms_node_map_init(&in->symbols, &context->memory);
  return in;
}

void tvms_infer_add(tvms_infer *in, const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (!member->function || member->function->kind != TVMS_NODE_FUNCTION) continue;
    in->unit = member->unit;
    tvms_node_map_clear(&in->symbols);
    read_function(in, tvms_symbol_text(in->context, member->name), member->function);
  }
}

void tvms_infer_close(tvms_infer *in) {
  tvms_print_close(in->printer);
  tvms_node_map_fini(&in->symbols);
  tvms_strbuf_fini(&in->type);
  tvms_memory_free(&in->context->memory, in);
}
