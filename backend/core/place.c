// Where an error of compiled code was, for its text (backend/core/place.h).
#include "backend/core/place.h"

#include "interp/meaning.h"
#include "ir/contract.h"
#include "ir/object.h"
#include "support/strbuf.h"

#include <string.h>

static const char *TVMS_NULLABLE text_of(const tvms_node *function, const char *key) {
  if (function->kind != TVMS_NODE_PRIM_FUNC) return NULL;
  return tvms_object_as_text(
      tvms_object_map_get(tvms_as_prim_func(function)->attrs, key));
}

bool tvms_place_is_relax(const tvms_node *function) {
  return text_of(function, TVMS_CONTRACT_DIRECT)
         || text_of(function, TVMS_CONTRACT_RESULT);
}

// Its name in the program, where it is the form of a function that is called directly.
static void add_name(tvms_context *context, tvms_strbuf *out,
                     const tvms_member *member) {
  static const char unpacked[] = "_unpacked";
  const char *relax = text_of(member->function, TVMS_CONTRACT_DIRECT);
  const char *name = relax ? relax : tvms_symbol_text(context, member->name);
  size_t len = strlen(name), end = sizeof unpacked - 1;
  if (!relax && len > end && strcmp(name + len - end, unpacked) == 0) len -= end;
  tvms_strbuf_printf(out, "'%.*s'", (int)len, name);
}

// What no text stands behind has no line.
static const char *finish(tvms_context *context, tvms_strbuf *text, tvms_span span) {
  tvms_source *source = context->diags.source;
  if (source && span.end > span.begin)
    tvms_strbuf_printf(text, " (line %u)",
                       tvms_source_place(&context->memory, source, span.begin).line);
  const char *made =
      tvms_arena_text(&context->scratch, tvms_strbuf_text(text), text->len);
  tvms_strbuf_fini(text);
  return made;
}

const char *tvms_place_text(tvms_context *context, const tvms_member *function,
                            tvms_span span, const char *text, bool numbers) {
  tvms_strbuf plain, out;
  tvms_strbuf_init(&plain, &context->memory);
  tvms_strbuf_init(&out, &context->memory);
  for (const char *at = text; *at; at++) {
    if (numbers && *at == '%') tvms_strbuf_putc(&plain, '%');
    tvms_strbuf_putc(&plain, *at);
  }
  if (numbers)
    tvms_meaning_put_sides(&out, tvms_strbuf_text(&plain), "%lld", "%lld");
  else
    tvms_strbuf_puts(&out, tvms_strbuf_text(&plain));
  tvms_strbuf_fini(&plain);
  tvms_strbuf_puts(&out, "\n  in ");
  add_name(context, &out, function);
  return finish(context, &out, span);
}

const char *tvms_place_of_callee(tvms_context *context, const tvms_member *callee) {
  // A Relax function has said where it was.
  if (tvms_place_is_relax(callee->function)) return "";
  return tvms_place_text(context, callee, TVMS_NO_SPAN, "", false);
}

const char *tvms_place_of_caller(tvms_context *context, const tvms_member *caller,
                                 tvms_span span) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_strbuf_puts(&text, ", called by ");
  add_name(context, &text, caller);
  return finish(context, &text, span);
}
