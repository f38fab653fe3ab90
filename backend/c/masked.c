// Accesses of some lanes in C text.
#include "backend/c/masked.h"

#include "backend/c/vector.h"
#include "ir/build.h"
#include "ir/op.h"

// ---- What the head has for them ----

static const char *load_macro(c_emitter *e, const char *type, int lanes) {
  const char *name = tvms_c_text(e, "LOAD_LANES_%s", type);
  if (!tvms_c_is_new(e, name)) return name;
  tvms_strbuf *head = &e->head;
  tvms_strbuf_printf(head, "#ifndef %s\n#define %s(p, lanes) (%s){", name, name, type);
  for (int k = 0; k < lanes; k++)
    tvms_strbuf_printf(head, "%s(lanes) >> %d & 1 ? (p)[%d] : 0", k ? ", " : "", k, k);
  tvms_strbuf_puts(head, "}\n#endif\n");
  return name;
}

static const char *store_macro(c_emitter *e, const char *type, int lanes) {
  const char *name = tvms_c_text(e, "STORE_LANES_%s", type);
  if (!tvms_c_is_new(e, name)) return name;
  tvms_strbuf *head = &e->head;
  tvms_strbuf_printf(head, "#ifndef %s\n#define %s(p, v, lanes) do { ", name, name);
  for (int k = 0; k < lanes; k++)
    tvms_strbuf_printf(head, "if ((lanes) >> %d & 1) (p)[%d] = (v)[%d]; ", k, k, k);
  tvms_strbuf_puts(head, "} while (0)\n#endif\n");
  return name;
}

const char *tvms_c_load_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *place, uint64_t bits) {
  const char *macro =
      load_macro(e, tvms_c_type(e, dtype, span), tvms_c_room(dtype.lanes));
  return tvms_c_text(e, "%s(%s, 0x%llxull)", macro, place, (unsigned long long)bits);
}

void tvms_c_store_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *place, uint64_t bits, const char *value) {
  const char *macro =
      store_macro(e, tvms_c_type(e, dtype, span), tvms_c_room(dtype.lanes));
  tvms_c_line(e, "%s(%s, %s, 0x%llxull);", macro, place, value,
              (unsigned long long)bits);
}

const char *tvms_c_lanes_mask(c_emitter *e, int width, int lanes, tvms_span span,
                              uint64_t bits) {
  const char *list = "";
  for (int k = 0; k < lanes; k++)
    list = tvms_c_text(e, "%s%s%s", list, k ? ", " : "", bits >> k & 1 ? "-1" : "0");
  tvms_dtype scalar = {TVMS_INT, (uint8_t)width, 1};
  const char *type = tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
  return tvms_c_mask(e, width, lanes, span, tvms_c_text(e, "(%s){%s}", type, list));
}
