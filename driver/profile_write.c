// The profile for machines: trace events for viewers, and the page with its data.
#include "driver/profile_write.h"

#include "driver/profile_plan.h"
#include "driver/profile_sums.h"
#include "ir/op.h"
#include "ir/walk.h"

#include <stdio.h>

static const unsigned char page_begin[] = {
#include "driver/profile_page_begin.inc"
};
static const unsigned char page_end[] = {
#include "driver/profile_page_end.inc"
};

static const char *name_of(const tvms_profile *p, const tvms_member *member) {
  return tvms_symbol_text(p->interp->context, member->name);
}

static void put_number(tvms_json *json, const char *key, double value) {
  char text[64];
  int len = snprintf(text, sizeof text, "%.3f", value);
  tvms_json_key(json, key);
  tvms_json_value(json, text, (size_t)len);
}

static uint32_t line_of(const tvms_profile *p, tvms_span span) {
  tvms_context *context = p->interp->context;
  tvms_source *source = p->interp->module->source;
  if (!source || !span.end) return 0;
  return tvms_source_place(&context->memory, source, span.begin).line;
}

// ---- Trace events ----

void tvms_profile_trace(const tvms_profile *profile, tvms_strbuf *out) {
  tvms_json json;
  tvms_json_init(&json, out);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "displayTimeUnit", "ns");
  tvms_json_key(&json, "traceEvents");
  tvms_json_open(&json, '[');
  for (uint32_t i = 0; i < profile->events.len; i++) {
    const tvms_profile_event *event = &profile->events.items[i];
    tvms_json_open(&json, '{');
    json.compact = true;
    tvms_json_put_text(&json, "name", name_of(profile, event->member));
    tvms_json_put_text(&json, "ph", "X");
    put_number(&json, "ts", event->begin * 1e6);
    put_number(&json, "dur", (event->end - event->begin) * 1e6);
    tvms_json_put_int(&json, "pid", 1);
    tvms_json_put_int(&json, "tid", 1);
    tvms_json_key(&json, "args");
    tvms_json_open(&json, '{');
    tvms_json_put_int(&json, "line", line_of(profile, event->span));
    tvms_json_put_int(&json, "bytes", (int64_t)event->bytes);
    tvms_json_put_int(&json, "operations", (int64_t)event->work);
    tvms_json_close(&json, '}');
    tvms_json_close(&json, '}');
    json.compact = false;
  }
  tvms_json_close(&json, ']');
  tvms_json_close(&json, '}');
  tvms_strbuf_putc(out, '\n');
}

// ---- Data of the page ----

static void put_functions(tvms_json *json, const tvms_profile *p, tvms_arena *arena) {
  tvms_profile_sum *sums;
  uint32_t count = tvms_profile_sum_up(p, arena, &sums);
  tvms_json_key(json, "functions");
  tvms_json_open(json, '[');
  for (uint32_t i = 0; i < count; i++) {
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "name", name_of(p, sums[i].member));
    tvms_json_put_bool(json, "kernel",
                       sums[i].member->function->kind == TVMS_NODE_PRIM_FUNC);
    tvms_json_put_int(json, "calls", (int64_t)sums[i].calls);
    put_number(json, "us", sums[i].own * 1e6);
    tvms_json_put_int(json, "operations", (int64_t)sums[i].work);
    tvms_json_put_int(json, "bytes", (int64_t)sums[i].bytes);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void put_events(tvms_json *json, const tvms_profile *p) {
  tvms_json_key(json, "events");
  tvms_json_open(json, '[');
  for (uint32_t i = 0; i < p->events.len; i++) {
    const tvms_profile_event *event = &p->events.items[i];
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "name", name_of(p, event->member));
    tvms_json_put_int(json, "depth", event->depth);
    tvms_json_put_int(json, "line", line_of(p, event->span));
    put_number(json, "begin", event->begin * 1e6);
    put_number(json, "end", event->end * 1e6);
    tvms_json_put_int(json, "bytes", (int64_t)event->bytes);
    tvms_json_put_int(json, "alive", (int64_t)event->alive);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

// ---- The bindings of the entry ----

// Bindings are numbered in the order of the text; those of branches too.
typedef struct {
  const tvms_profile *p;
  tvms_json *json;
  uint32_t *number;  // of the binding of a variable, one up, by id
  uint32_t count;
} graph;

static void put_binding(graph *g, const tvms_node *var, const tvms_node *value,
                        tvms_span span);

static tvms_walk_step see_binding(void *self, tvms_node *node, tvms_field_role role) {
  graph *g = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR_BINDING) {
    const tvms_var_binding *binding = tvms_as_var_binding(node);
    put_binding(g, binding->var, binding->value, node->span);
    return binding->value->kind == TVMS_NODE_IF ? TVMS_WALK_ON : TVMS_WALK_SKIP;
  }
  if (node->kind != TVMS_NODE_MATCH_CAST) return TVMS_WALK_ON;
  const tvms_match_cast *cast = tvms_as_match_cast(node);
  put_binding(g, cast->var, cast->value, node->span);
  return TVMS_WALK_SKIP;
}

static tvms_walk_step see_use(void *self, tvms_node *node, tvms_field_role role) {
  graph *g = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR && g->number[node->id])
    tvms_json_int(g->json, g->number[node->id] - 1);
  return TVMS_WALK_ON;
}

// What a binding does, in a word.
static const char *label_of(const graph *g, const tvms_node *value) {
  tvms_context *context = g->p->interp->context;
  if (value->kind != TVMS_NODE_CALL)
    return tvms_node_schema_of((tvms_node_kind)value->kind)->name;
  const tvms_call *call = tvms_as_call(value);
  const tvms_node *callee = call->callee;
  tvms_opcode opcode = tvms_op_called(value);
  bool named = call->args.len && call->args.items[0]->kind == TVMS_NODE_GLOBAL_VAR;
  if (opcode != TVMS_R_NONE && named) callee = call->args.items[0];
  if (callee->kind == TVMS_NODE_GLOBAL_VAR)
    return tvms_symbol_text(context, tvms_as_global_var(callee)->name);
  if (opcode != TVMS_R_NONE) return tvms_symbol_text(context, tvms_op_symbol(opcode));
  return "call";
}

static void put_node(graph *g, const tvms_node *var, const char *label,
                     tvms_span span) {
  tvms_context *context = g->p->interp->context;
  tvms_json_put_text(g->json, "name",
                     tvms_symbol_text(context, tvms_as_var(var)->name));
  tvms_json_put_text(g->json, "does", label);
  tvms_json_put_int(g->json, "line", line_of(g->p, span));
  g->number[var->id] = ++g->count;
}

static void put_binding(graph *g, const tvms_node *var, const tvms_node *value,
                        tvms_span span) {
  tvms_json_open(g->json, '{');
  put_node(g, var, label_of(g, value), span);
  tvms_json_key(g->json, "uses");
  tvms_json_open(g->json, '[');
  tvms_visitor visitor = {.self = g, .enter = see_use};
  (void)tvms_walk(g->p->memory, (tvms_node *)(uintptr_t)value, &visitor);
  tvms_json_close(g->json, ']');
  tvms_json_close(g->json, '}');
}

static void put_graph(tvms_json *json, const tvms_profile *p, const tvms_member *entry,
                      tvms_arena *arena) {
  graph g = {.p = p,
             .json = json,
             .number = tvms_arena_array(arena, uint32_t, entry->unit->next_id)};
  tvms_json_key(json, "graph");
  tvms_json_open(json, '[');
  if (entry->function->kind == TVMS_NODE_FUNCTION) {
    const tvms_function *function = tvms_as_function(entry->function);
    for (uint32_t i = 0; i < function->params.len; i++) {
      tvms_json_open(json, '{');
      put_node(&g, function->params.items[i], "parameter",
               function->params.items[i]->span);
      tvms_json_close(json, '}');
    }
    tvms_visitor visitor = {.self = &g, .enter = see_binding};
    (void)tvms_walk(p->memory, function->body, &visitor);
  }
  tvms_json_close(json, ']');
}

static void put_data(const tvms_profile *p, const tvms_member *entry,
                     tvms_strbuf *out) {
  tvms_arena arena;
  tvms_arena_init(&arena, p->memory);
  tvms_json json;
  tvms_json_init(&json, out);
  json.compact = true;
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "entry", name_of(p, entry));
  put_number(&json, "peak", tvms_profile_peak(p->interp->context) * 1e-9);
  put_functions(&json, p, &arena);
  put_events(&json, p);
  put_graph(&json, p, entry, &arena);
  tvms_profile_plan(&json, p, entry, &arena);
  tvms_json_close(&json, '}');
  tvms_arena_fini(&arena);
}

// Data in a page must not end its script.
static void add_escaped(tvms_strbuf *out, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '<')
      tvms_strbuf_puts(out, "\\u003c");
    else
      tvms_strbuf_putc(out, text[i]);
  }
}

void tvms_profile_page(const tvms_profile *profile, const tvms_member *entry,
                       tvms_strbuf *out) {
  tvms_strbuf data;
  tvms_strbuf_init(&data, profile->memory);
  put_data(profile, entry, &data);
  tvms_strbuf_add(out, (const char *)page_begin, sizeof page_begin);
  add_escaped(out, data.text, data.len);
  tvms_strbuf_add(out, (const char *)page_end, sizeof page_end);
  tvms_strbuf_fini(&data);
}
