// Facts as lines of text and as JSON.
#include "driver/infer_text.h"

// ---- Text ----

static const char *TVMS_NULLABLE owner_of(const tvms_module *module) {
  const char *name = tvms_symbol_text(module->context, module->name);
  return module->bare || strcmp(name, "Module") == 0 ? NULL : name;
}

static void put_owner(tvms_strbuf *out, const char *TVMS_NULLABLE owner) {
  if (owner) tvms_strbuf_printf(out, "%s.", owner);
}

// A second definition: from here on the names of the first one's functions say whose they are.
static void name_first(tvms_infer_text *w) {
  if (!w->first_owner) return;
  tvms_strbuf named;
  tvms_strbuf_init(&named, w->out->memory);
  size_t done = 0;
  for (uint32_t i = 0; i < w->first_names.len; i++) {
    size_t at = w->first_names.items[i];
    tvms_strbuf_add(&named, w->out->text + done, at - done);
    put_owner(&named, w->first_owner);
    done = at;
  }
  tvms_strbuf_add(&named, w->out->text + done, w->out->len - done);
  tvms_strbuf_fini(w->out);
  *w->out = named;
}

void tvms_infer_text_begin(tvms_infer_text *text, const tvms_module *module) {
  text->owner = owner_of(module);
  text->begun = false;
}

static void write_function(tvms_infer_text *w, const tvms_fact *fact) {
  if (!w->begun) {
    w->begun = true;
    if (!w->definitions) w->first_owner = w->owner;
    if (w->definitions == 1) name_first(w);
    w->definitions++;
  }
  tvms_strbuf_puts(w->out, "function ");
  if (!fact->level && w->definitions == 1)
    tvms_vec_push(w->out->memory, &w->first_names, w->out->len);
  if (!fact->level && w->definitions > 1) put_owner(w->out, w->owner);
  tvms_strbuf_printf(w->out, "%s\n", fact->name);
}

void tvms_infer_write_text(void *self, const tvms_fact *fact) {
  tvms_infer_text *w = self;
  tvms_strbuf *out = w->out;
  bool silent = fact->kind == TVMS_FACT_THEN || fact->kind == TVMS_FACT_ELSE
                || fact->kind == TVMS_FACT_END;
  if (silent) return;
  for (uint32_t i = 0; i < fact->level; i++) {
    tvms_strbuf_puts(out, "  ");
  }
  if (fact->kind == TVMS_FACT_FUNCTION) {
    write_function(w, fact);
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
  if (w->module && !fact->level) tvms_json_put_text(w->json, "module", w->module);
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
