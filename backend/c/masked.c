// Accesses of lanes that lie side by side in C text: of all, and of some.
#include "backend/c/masked.h"

#include "backend/c/vector.h"
#include "ir/build.h"
#include "ir/op.h"

// ---- All lanes ----

// The accesses of two lanes in half of a vector; that of one word.
static void declare_half(c_emitter *e, tvms_dtype dtype, const char *type) {
  int bits = 2 * (tvms_dtype_is_bool(dtype) ? 8 : dtype.bits);
  bool register_wide = bits == 64;
  const char *word = tvms_c_text(e, "u%dh", bits);
  tvms_strbuf_printf(&e->head, "#define LOAD_2_%s(p) ((%s)", type, type);
  if (register_wide)
    tvms_strbuf_printf(&e->head, "(d64x2a){(i64)*(const %s *)(p), 0})\n", word);
  else
    tvms_strbuf_printf(&e->head, "(u%d)*(const %s *)(p))\n", 2 * bits, word);
  tvms_strbuf_printf(&e->head, "#define STORE_2_%s(p, v) (*(%s *)(p) = (u%d)", type,
                     word, bits);
  tvms_strbuf_printf(&e->head, register_wide ? "((d64x2a)(v))[0])\n" : "(u%d)(v))\n",
                     2 * bits);
}

// Is it half of a vector? Then its accesses are declared.
static bool is_half(c_emitter *e, tvms_dtype dtype, const char *type) {
  bool half = dtype.lanes == 2 && tvms_c_room(dtype) == 4;
  if (half && tvms_c_is_new(e, tvms_c_text(e, "LOAD_2_%s", type)))
    declare_half(e, dtype, type);
  return half;
}

const char *tvms_c_load_whole(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *place) {
  const char *type = tvms_c_type(e, dtype, span);
  return is_half(e, dtype, type) ? tvms_c_text(e, "LOAD_2_%s(%s)", type, place)
                                 : tvms_c_text(e, "*(%sm *)%s", type, place);
}

void tvms_c_store_whole(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *place, const char *value) {
  const char *type = tvms_c_type(e, dtype, span);
  if (is_half(e, dtype, type))
    tvms_c_line(e, "STORE_2_%s(%s, %s);", type, place, value);
  else
    tvms_c_line(e, "*(%sm *)%s = %s;", type, place, value);
}

// ---- What the head has for some lanes ----

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
  tvms_dtype two = tvms_dtype_with_lanes(dtype, 2);
  if (bits == 3 && dtype.lanes > 2 && tvms_c_room(two) == tvms_c_room(dtype))
    return tvms_c_load_whole(e, two, span, place);
  const char *macro = load_macro(e, tvms_c_type(e, dtype, span), tvms_c_room(dtype));
  return tvms_c_text(e, "%s(%s, 0x%llxull)", macro, place, (unsigned long long)bits);
}

void tvms_c_store_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *place, uint64_t bits, const char *value) {
  const char *macro = store_macro(e, tvms_c_type(e, dtype, span), tvms_c_room(dtype));
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
