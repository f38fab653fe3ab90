// Facts as lines of text and as JSON.
#include "driver/infer.h"

// ---- Text ----

void tvms_infer_write_text(void *self, const tvms_fact *fact) {
  tvms_strbuf *out = self;
  bool silent = fact->kind == TVMS_FACT_THEN || fact->kind == TVMS_FACT_ELSE
                || fact->kind == TVMS_FACT_END;
  if (silent) return;
  for (uint32_t i = 0; i < fact->level; i++) {
    tvms_strbuf_puts(out, "  ");
  }
  if (fact->kind == TVMS_FACT_FUNCTION) {
    tvms_strbuf_printf(out, "function %s\n", fact->name);
  } else if (fact->kind == TVMS_FACT_SYMBOL) {
    tvms_strbuf_printf(out, "symbol %s: %s%s, bound by %s%s of %s\n", fact->name,
                       fact->type, fact->is_size ? ", >= 0" : "",
                       fact->is_size ? "" : "the ", fact->bound_by, fact->owner);
  } else {
    tvms_strbuf_puts(out, fact->name);
    tvms_strbuf_puts(out, ": ");
    tvms_strbuf_puts(out, fact->type);
    tvms_strbuf_putc(out, '\n');
  }
}

// ---- JSON ----

// What is open: the section of a function that is being written, or something else.
enum { SYMBOLS, PARAMS, BINDINGS, RESULT, BINDING, BRANCH };

static void open_list(tvms_json *json, const char *key) {
  tvms_json_key(json, key);
  tvms_json_open(json, '[');
}

static void begin_function(tvms_infer_json *w, const tvms_fact *fact) {
  if (w->open.len) open_list(w->json, "function");
  tvms_json_open(w->json, '{');
  tvms_json_put_text(w->json, "name", fact->name);
  open_list(w->json, "symbols");
  tvms_vec_push(w->memory, &w->open, SYMBOLS);
}

// Goes on to a later section of the function at hand. Each has its list, but the result.
static void enter_section(tvms_infer_json *w, uint8_t section) {
  static const char *const keys[] = {"symbols", "params", "bindings"};
  uint8_t *at = &w->open.items[w->open.len - 1];
  while (*at < section) {
    tvms_json_close(w->json, ']');
    if (++*at < RESULT) open_list(w->json, keys[*at]);
  }
}

static void put_symbol(tvms_json *json, const tvms_fact *fact) {
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "name", fact->name);
  tvms_json_put_text(json, "dtype", fact->type);
  if (fact->is_size) tvms_json_put_int(json, "min", 0);
  tvms_json_put_text(json, "bound_by", fact->bound_by);
  tvms_json_put_text(json, "value", fact->owner);
  tvms_json_close(json, '}');
}

// An object that is left open.
static void put_typed(tvms_infer_json *w, const tvms_fact *fact) {
  tvms_json_open(w->json, '{');
  tvms_json_put_text(w->json, "name", fact->name);
  tvms_json_put_text(w->json, "type", fact->type);
  if (!fact->span.end) return;
  tvms_place place = tvms_source_place(w->memory, w->source, fact->span.begin);
  tvms_json_put_int(w->json, "line", place.line);
  tvms_json_put_int(w->json, "column", place.column);
}

static void end_innermost(tvms_infer_json *w) {
  uint8_t ended = w->open.items[--w->open.len];
  tvms_json_close(w->json, ended == BRANCH ? ']' : '}');
  if (ended < BINDING && w->open.len) tvms_json_close(w->json, ']');
}

void tvms_infer_write_json(void *self, const tvms_fact *fact) {
  tvms_infer_json *w = self;
  switch (fact->kind) {
  case TVMS_FACT_FUNCTION: begin_function(w, fact); break;
  case TVMS_FACT_SYMBOL: put_symbol(w->json, fact); break;
  case TVMS_FACT_PARAM:
    enter_section(w, PARAMS);
    put_typed(w, fact);
    tvms_json_close(w->json, '}');
    break;
  case TVMS_FACT_BINDING:
    if (w->open.items[w->open.len - 1] < BINDING) enter_section(w, BINDINGS);
    put_typed(w, fact);
    tvms_vec_push(w->memory, &w->open, BINDING);
    break;
  case TVMS_FACT_THEN:
  case TVMS_FACT_ELSE:
    open_list(w->json, fact->kind == TVMS_FACT_THEN ? "then" : "else");
    tvms_vec_push(w->memory, &w->open, BRANCH);
    break;
  case TVMS_FACT_RESULT:
    enter_section(w, RESULT);
    tvms_json_key(w->json, "result");
    put_typed(w, fact);
    tvms_json_close(w->json, '}');
    break;
  case TVMS_FACT_END: end_innermost(w); break;
  }
}
