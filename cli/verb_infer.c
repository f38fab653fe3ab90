// `tvms infer FILE...`: the type of every parameter, binding and result of Relax functions,
// and what is known of their symbolic variables.
//
// Text has one line per value, indented as the program nests. JSON is one document per
// file, before the document of the findings.
#include "cli/files.h"
#include "cli/program.h"
#include "ir/build.h"
#include "ir/node_map.h"
#include "printer/print.h"

#include <stdio.h>

typedef struct {
  tvms_run *run;
  tvms_source *source;
  const tvms_unit *unit;
  tvms_printer *TVMS_NULLABLE printer;  // of types; opened for the first module
  tvms_json *TVMS_NULLABLE json;
  uint32_t level;
  tvms_node_map symbols;  // symbolic variables that were mentioned
} inferring;

static void read_body(inferring *in, tvms_node *body);
static void read_function(inferring *in, const char *name, tvms_node *node);

// ---- Lines and objects ----

static void put_text(inferring *in, const char *key, const char *text) {
  if (in->json) tvms_json_put_text(in->json, key, text);
}

static void open_list(inferring *in, const char *key) {
  if (!in->json) return;
  tvms_json_key(in->json, key);
  tvms_json_open(in->json, '[');
}

static void close_list(inferring *in) {
  if (in->json) tvms_json_close(in->json, ']');
}

static void begin_line(inferring *in) {
  for (uint32_t i = 0; i < in->level; i++) {
    tvms_strbuf_puts(&in->run->result, "  ");
  }
}

static void put_place(inferring *in, tvms_span span) {
  if (!in->json || !span.end) return;
  tvms_place place =
      tvms_source_place(&in->run->context->memory, in->source, span.begin);
  tvms_json_put_int(in->json, "line", place.line);
  tvms_json_put_int(in->json, "column", place.column);
}

static void add_node(inferring *in, const tvms_node *TVMS_NULLABLE node,
                     tvms_strbuf *out) {
  if (node)
    tvms_print_one(in->printer, in->unit, node, out);
  else
    tvms_strbuf_puts(out, "?");
}

// One value with its type: "name: type", or an object that is left open for more.
static void put_typed(inferring *in, const char *name,
                      const tvms_node *TVMS_NULLABLE type, tvms_span span) {
  if (!in->json) {
    begin_line(in);
    tvms_strbuf_puts(&in->run->result, name);
    tvms_strbuf_puts(&in->run->result, ": ");
    add_node(in, type, &in->run->result);
    tvms_strbuf_putc(&in->run->result, '\n');
    return;
  }
  tvms_strbuf text;
  tvms_strbuf_init(&text, &in->run->context->memory);
  add_node(in, type, &text);
  tvms_json_open(in->json, '{');
  tvms_json_put_text(in->json, "name", name);
  tvms_json_put_text(in->json, "type", tvms_strbuf_text(&text));
  put_place(in, span);
  tvms_strbuf_fini(&text);
}

static void end_typed(inferring *in) {
  if (in->json) tvms_json_close(in->json, '}');
}

// ---- Symbolic variables ----

static void put_symbol(inferring *in, const tvms_node *var, const char *where,
                       const char *owner, bool dimension) {
  const char *name = tvms_symbol_text(in->run->context, tvms_as_var(var)->name);
  char buffer[TVMS_DTYPE_TEXT];
  const char *dtype = tvms_dtype_text(var->dtype, buffer);
  if (in->json) {
    tvms_json_open(in->json, '{');
    tvms_json_put_text(in->json, "name", name);
    tvms_json_put_text(in->json, "dtype", dtype);
    if (dimension) tvms_json_put_int(in->json, "min", 0);
    tvms_json_put_text(in->json, "bound_by", where);
    tvms_json_put_text(in->json, "value", owner);
    tvms_json_close(in->json, '}');
    return;
  }
  begin_line(in);
  tvms_strbuf_printf(&in->run->result, "symbol %s: %s%s, bound by %s%s of %s\n", name,
                     dtype, dimension ? ", >= 0" : "", dimension ? "" : "the ", where,
                     owner);
}

static void note_symbol(inferring *in, tvms_node *node, const char *where,
                        const char *owner, bool dimension) {
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(&in->symbols, node)) return;
  tvms_node_map_put(&in->symbols, node, node);
  put_symbol(in, node, where, owner, dimension);
}

// The variables that stand alone as a dimension of `type`: its value binds them.
static void note_symbols(inferring *in, const tvms_node *TVMS_NULLABLE type,
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

static void read_branches(inferring *in, const tvms_if *branch) {
  open_list(in, "then");
  in->level++;
  read_body(in, branch->true_branch);
  close_list(in);
  open_list(in, "else");
  read_body(in, branch->false_branch);
  in->level--;
  close_list(in);
}

static void read_binding(inferring *in, tvms_node *binding) {
  tvms_node *var, *value;
  if (binding->kind == TVMS_NODE_MATCH_CAST) {
    var = tvms_as_match_cast(binding)->var;
    value = tvms_as_match_cast(binding)->value;
  } else {
    var = tvms_as_var_binding(binding)->var;
    value = tvms_as_var_binding(binding)->value;
  }
  const char *name = tvms_symbol_text(in->run->context, tvms_as_var(var)->name);
  put_typed(in, name, var->sinfo, binding->span);
  if (value->kind == TVMS_NODE_IF) {
    read_branches(in, tvms_as_if(value));
  } else if (value->kind == TVMS_NODE_FUNCTION) {
    open_list(in, "function");
    in->level++;
    read_function(in, name, value);
    in->level--;
    close_list(in);
  }
  end_typed(in);
}

// The bindings of a sequence and the type of its result.
static void read_body(inferring *in, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ_EXPR) return;
  const tvms_seq_expr *seq = tvms_as_seq_expr(body);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      read_binding(in, bindings.items[k]);
    }
  }
}

static void note_casts(inferring *in, tvms_node *body) {
  if (body->kind != TVMS_NODE_SEQ_EXPR) return;
  const tvms_seq_expr *seq = tvms_as_seq_expr(body);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      if (bindings.items[k]->kind != TVMS_NODE_MATCH_CAST) continue;
      const tvms_match_cast *cast = tvms_as_match_cast(bindings.items[k]);
      const char *name =
          tvms_symbol_text(in->run->context, tvms_as_var(cast->var)->name);
      note_symbols(in, cast->type, name);
    }
  }
}

static void read_function(inferring *in, const char *name, tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  if (in->json) {
    tvms_json_open(in->json, '{');
  } else {
    begin_line(in);
    tvms_strbuf_printf(&in->run->result, "function %s\n", name);
  }
  put_text(in, "name", name);
  in->level++;
  open_list(in, "symbols");
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    note_symbols(in, param->sinfo,
                 tvms_symbol_text(in->run->context, tvms_as_var(param)->name));
  }
  if (function->body) note_casts(in, function->body);
  close_list(in);
  open_list(in, "params");
  for (uint32_t i = 0; i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    put_typed(in, tvms_symbol_text(in->run->context, tvms_as_var(param)->name),
              param->sinfo, param->span);
    end_typed(in);
  }
  close_list(in);
  open_list(in, "bindings");
  if (function->body) read_body(in, function->body);
  close_list(in);
  if (in->json) tvms_json_key(in->json, "result");
  put_typed(in, "return", function->ret, TVMS_NO_SPAN);
  end_typed(in);
  in->level--;
  if (in->json) tvms_json_close(in->json, '}');
}

static bool read_module(void *self, tvms_module *module) {
  inferring *in = self;
  tvms_run *run = in->run;
  if (!in->printer) {
    tvms_dialect dialect = tvms_run_written_dialect(run, module->dialect);
    in->printer = tvms_print_nodes(run->context, dialect);
  }
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (!member->function || member->function->kind != TVMS_NODE_FUNCTION) continue;
    in->unit = member->unit;
    tvms_node_map_clear(&in->symbols);
    read_function(in, tvms_symbol_text(run->context, member->name), member->function);
  }
  return false;
}

static tvms_status infer_source(tvms_run *run, tvms_source *source) {
  inferring in = {.run = run, .source = source};
  tvms_node_map_init(&in.symbols, &run->context->memory);
  tvms_json json;
  tvms_json_init(&json, &run->result);
  bool is_json = run->options.format && strcmp(run->options.format, "json") == 0;
  if (is_json) {
    in.json = &json;
    tvms_json_open(&json, '{');
    tvms_json_put_text(&json, "file", source->name);
    open_list(&in, "functions");
  }
  tvms_run_each_module(run, source, read_module, &in);
  if (is_json) {
    close_list(&in);
    tvms_json_close(&json, '}');
    tvms_strbuf_putc(&run->result, '\n');
  }
  if (in.printer) tvms_print_close(in.printer);
  if (run->context->diags.errors) tvms_strbuf_fini(&run->result);
  tvms_node_map_fini(&in.symbols);
  return TVMS_OK;
}

tvms_status tvms_verb_infer(tvms_run *run) {
  if (!tvms_run_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_files_each(run, infer_source);
}
