// The ground of the suites about the evaluation alone.
#include "eval_suite.h"

#include "parser/eval/attribute.h"
#include "parser/eval/expr.h"
#include "parser/eval/python.h"
#include "parser/eval/repr.h"

#include <stdio.h>
#include <string.h>

tvms_context context;
tvms_surface surface;
tvms_reader reader;

static tvms_unit unit;
static bool is_open;

// ---- The room ---------------------------------------------------------------------------

char asked[64];

static tvms_eval_value note(const char *what) {
  snprintf(asked, sizeof asked, "%s", what);
  return tvms_eval_value_text(asked, (uint32_t)strlen(asked));
}

static tvms_eval_value probe_attribute(tvms_reader *r, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref) {
  (void)ref;
  if (name == TVMS_SYM_index) return tvms_eval_bound_method(r, object, name);
  return note(tvms_symbol_text(r->context, name));
}

static tvms_eval_value probe_method(tvms_reader *r, tvms_eval_value receiver,
                                    tvms_sym name, tvms_ref call) {
  (void)r, (void)receiver, (void)call, (void)name;
  return note("method");
}

static tvms_eval_value probe_subscript_method(tvms_reader *r, tvms_eval_value method,
                                              tvms_eval_value index, tvms_ref ref) {
  (void)r, (void)index, (void)ref;
  bool own =
      method.kind == TVMS_EVAL_METHOD && method.as.method->receiver->kind == PROBE;
  return note(own ? "subscript of a method" : "something else");
}

static tvms_eval_value probe_call(tvms_reader *r, tvms_eval_value callee,
                                  tvms_ref call) {
  (void)r, (void)callee, (void)call;
  return note("call");
}

static tvms_eval_value probe_subscript(tvms_reader *r, tvms_eval_value object,
                                       tvms_eval_value index, tvms_ref ref) {
  (void)r, (void)object, (void)ref;
  if (index.kind != TVMS_EVAL_SLICE) return note("subscript");
  return note(index.as.items[2].kind == TVMS_EVAL_NONE ? "slice" : "slice with step");
}

static tvms_eval_value probe_binary(tvms_reader *r, tvms_surf_op op, tvms_eval_value a,
                                    tvms_eval_value b, tvms_ref ref) {
  (void)r, (void)b, (void)ref;
  char text[16];
  snprintf(text, sizeof text, "%s%s", a.kind == PROBE ? "" : "r",
           tvms_surface_operator_text(op));
  return note(text);
}

static tvms_eval_value probe_unary(tvms_reader *r, tvms_surf_op op, tvms_eval_value a,
                                   tvms_ref ref) {
  (void)r, (void)a, (void)ref;
  return note(tvms_surface_operator_text(op));
}

static tvms_eval_value probe_logical(tvms_reader *r, bool is_and, tvms_eval_value a,
                                     tvms_eval_value b, tvms_ref ref) {
  (void)r, (void)a, (void)b, (void)ref;
  return note(is_and ? "and" : "or");
}

static tvms_eval_value probe_choose(tvms_reader *r, tvms_eval_value test,
                                    tvms_eval_value yes, tvms_eval_value no,
                                    tvms_ref ref) {
  (void)r, (void)test, (void)yes, (void)no, (void)ref;
  return note("choose");
}

static bool probe_truth(tvms_eval_value value, bool *known) {
  (void)value;
  *known = false;
  return false;
}

static tvms_eval_value probe_constant(tvms_eval_value value) {
  (void)value;
  return tvms_eval_value_int(7);
}

static const char *probe_describe(tvms_reader *r, tvms_eval_value value) {
  (void)r, (void)value;
  return "a probe";
}

static const tvms_eval_value_ops probe = {
    .rank = ROOM,
    .describe = probe_describe,
    .attribute = probe_attribute,
    .method = probe_method,
    .call = probe_call,
    .subscript = probe_subscript,
    .binary = probe_binary,
    .subscript_method = probe_subscript_method,
    .unary = probe_unary,
    .logical = probe_logical,
    .choose = probe_choose,
    .truth = probe_truth,
    .constant = probe_constant,
};

// A MENTIONED stands for the place that mentions it.
static tvms_eval_value mention(tvms_reader *r, tvms_eval_value value, tvms_ref ref) {
  (void)value;
  return tvms_eval_value_int(tvms_reader_span_of(r, ref).begin);
}
static const tvms_eval_value_ops mentioned = {.mention = mention};

// ---- The tables -------------------------------------------------------------------------

static const tvms_row *no_row(tvms_namespace namespace_, tvms_sym name,
                              tvms_dialect dialect) {
  (void)namespace_, (void)name, (void)dialect;
  return NULL;
}

static const tvms_eval_value_ops *plain_node(const tvms_node *node) {
  (void)node;
  return &tvms_eval_plain_ops;
}

static const tvms_eval_kind_row own[TVMS_EVAL_KINDS] = {
#define VALUE(kind, member, text, ops) [TVMS_EVAL_##kind] = {&tvms_##ops##_ops, text},
#include "parser/eval/values.def"
    [PROBE] = {&probe, "a probe"},
    [MENTIONED] = {&mentioned, "a place"},
};
static tvms_eval_tables tables;

// ---- One text after the other -----------------------------------------------------------

void open_context(void) {
  memcpy(tables.kinds, own, sizeof own);
  tables.find_row = no_row;
  tables.node_ops = plain_node;
  tvms_context_init(&context, &tvms_names);
}

static void close_reader(void) {
  if (!is_open) return;
  tvms_reader_fini(&reader);
  tvms_unit_fini(&unit);
  tvms_surface_fini(&surface);
  is_open = false;
}

void close_context(void) {
  close_reader();
  tvms_context_fini(&context);
}

void begin(const char *text) {
  close_reader();
  tvms_context_fini(&context);
  tvms_context_init(&context, &tvms_names);
  tvms_source *source = tvms_source_create(&context.memory, "test", text, strlen(text));
  context.diags.source = source;
  tvms_surface_parse(&surface, &context, source);
  tvms_reader_init(&reader, &context, &surface, TVMS_DIALECT_CURRENT, &tables);
  tvms_unit_init(&unit, &context, TVMS_DIALECT_CURRENT);
  reader.unit = &unit;
  is_open = true;
}

tvms_sym symbol(const char *name) {
  return tvms_symbol_intern(&context, name, strlen(name));
}

void bind(const char *name, tvms_eval_value value) {
  tvms_scope_bind(&reader, symbol(name), value, (tvms_span){0, 0});
}

void bind_probe(void) {
  bind("probe", (tvms_eval_value){.kind = PROBE, .as.sym = symbol("probe")});
}

tvms_ref expression(void) {
  return tvms_reader_at(&reader, surface.body)->a;
}

const char *findings(void) {
  static char text[256];
  size_t len = 0;
  text[0] = '\0';
  for (const tvms_diag *diag = context.diags.first; diag; diag = diag->next) {
    len += (size_t)snprintf(text + len, sizeof text - len, "%sE%04u", len ? " " : "",
                            tvms_diag_row_of(diag->id)->code);
  }
  return text;
}

const char *shown(tvms_eval_value value) {
  static char text[512];
  uint32_t len;
  if (!tvms_eval_value_is_known(value)) return findings();
  if (context.diags.first) return "a value, and findings";
  tvms_eval_value list = tvms_eval_value_items(TVMS_EVAL_LIST, &value, 1);
  const char *printed = tvms_eval_str(&reader, list, expression(), &len);
  if (!printed) return "a value without text";
  snprintf(text, sizeof text, "%.*s", (int)len - 2, printed + 1);
  return text;
}

const char *in_python(const char *text) {
  begin(text);
  tvms_scope_push_for(&reader, TVMS_EVALUATOR_PYTHON);
  const char *result = shown(tvms_eval(&reader, expression()));
  tvms_scope_pop(&reader);
  return result;
}

const char *with_probe(const char *text, tvms_evaluator evaluator) {
  begin(text);
  tvms_scope_push_for(&reader, evaluator);
  bind_probe();
  const char *result = shown(tvms_eval(&reader, expression()));
  tvms_scope_pop(&reader);
  return result;
}
