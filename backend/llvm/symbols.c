// Names of the symbols of compiled code.
#include "backend/llvm/symbols.h"

static const char *join(emitter *e, const char *before, const char *name,
                        const char *after) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &e->context->memory);
  tvms_strbuf_printf(&text, "%s%s%s", before, name, after);
  const char *kept = tvms_arena_text(&e->context->scratch, text.text, text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

const char *tvms_emit_body_name(emitter *e, const tvms_member *member) {
  return join(e, "", tvms_symbol_text(e->context, member->name), ".body");
}

const char *tvms_emit_entry_name(emitter *e, const tvms_member *member) {
  return join(e, TVMS_SAFE_CALL_PREFIX, tvms_symbol_text(e->context, member->name), "");
}
