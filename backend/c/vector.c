// Vectors of C text as wholes: what GCC and clang have operators for.
#include "backend/c/vector.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = 64 };  // as the macros of preamble.inc

// ---- Types ----

bool tvms_c_is_whole(tvms_dtype dtype) {
  return dtype.lanes > 1 && dtype.lanes <= MOST_LANES;
}

// Bits of a lane in registers.
static int bits_of(tvms_dtype dtype) {
  if (dtype.code == TVMS_BOOL) return 8;
  return tvms_dtype_is_real(dtype) && dtype.bits < 32 ? 32 : dtype.bits;
}

static const char *ints(c_emitter *e, int bits, int lanes, tvms_span span) {
  tvms_dtype scalar = {TVMS_INT, (uint8_t)bits, 1};
  return tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
}

static const char *uints(c_emitter *e, int bits, int lanes, tvms_span span) {
  tvms_dtype scalar = {TVMS_UINT, (uint8_t)bits, 1};
  return tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
}

// ---- Masks ----

int tvms_c_mask_bits(const char *value) {
  return *value == 'q' ? atoi(value + 1) : 0;
}

const char *tvms_c_mask(c_emitter *e, int bits, int lanes, tvms_span span,
                        const char *expr) {
  const char *name = tvms_c_text(e, "q%d_%u", bits, e->next++);
  const char *type = ints(e, bits, lanes, span);
  tvms_c_line(e, "const %s %s = (%s)(%s);", type, name, type, expr);
  return name;
}

const char *tvms_c_compare(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *a, const char *sign, const char *b) {
  return tvms_c_mask(e, bits_of(dtype), dtype.lanes, span,
                     tvms_c_text(e, "%s %s %s", a, sign, b));
}

const char *tvms_c_mask_of(c_emitter *e, const char *value, int lanes, int bits,
                           tvms_span span) {
  int own = tvms_c_mask_bits(value);
  if (own == bits) return value;
  const char *wide = tvms_c_text(e, "__builtin_convertvector(%s, %s)%s", value,
                                 ints(e, bits, lanes, span), own ? "" : " != 0");
  return tvms_c_mask(e, bits, lanes, span, wide);
}

const char *tvms_c_blend(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *test, const char *a, const char *b) {
  int bits = bits_of(dtype);
  const char *mask = tvms_c_mask_of(e, test, dtype.lanes, bits, span);
  const char *type = ints(e, bits, dtype.lanes, span);
  return tvms_c_whole(e, dtype, span,
                      tvms_c_text(e, "(%s)(((%s)%s & %s) | ((%s)%s & ~%s))",
                                  tvms_c_type(e, dtype, span), type, a, mask, type, b,
                                  mask));
}

// ---- Values ----

// So many times the scalar. Lanes that are not used get it as well.
static const char *times(c_emitter *e, int lanes, const char *scalar) {
  int room = 2;
  while (room < lanes)
    room *= 2;
  return tvms_c_text(e, "{X%d(%s)}", room, scalar);
}

const char *tvms_c_spread(c_emitter *e, tvms_dtype dtype, tvms_span span,
                          const char *scalar) {
  return tvms_c_whole(e, dtype, span, times(e, dtype.lanes, scalar));
}

const char *tvms_c_ramp(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *base, const char *stride) {
  const char *type = uints(e, dtype.bits, dtype.lanes, span), *steps = "0";
  for (int k = 1; k < dtype.lanes; k++)
    steps = tvms_c_text(e, "%s, %d", steps, k);
  const char *from = tvms_c_text(e, "(u%d)%s", dtype.bits, base);
  const char *by = tvms_c_text(e, "(u%d)%s", dtype.bits, stride);
  return tvms_c_whole(e, dtype, span,
                      tvms_c_text(e, "(%s)((%s)%s + (%s)%s * (%s){%s})",
                                  tvms_c_type(e, dtype, span), type,
                                  times(e, dtype.lanes, from), type,
                                  times(e, dtype.lanes, by), type, steps));
}

const char *tvms_c_wrapping(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *a, const char *sign, const char *b) {
  const char *type = uints(e, dtype.bits, dtype.lanes, span);
  return tvms_c_whole(e, dtype, span,
                      tvms_c_text(e, "(%s)((%s)%s %s (%s)%s)",
                                  tvms_c_type(e, dtype, span), type, a, sign, type, b));
}

// ---- Functions that the head declares ----

bool tvms_c_is_new(c_emitter *e, const char *helper) {
  for (uint32_t i = 0; i < e->helpers.len; i++) {
    if (!strcmp(e->helpers.items[i], helper)) return false;
  }
  const char *kept =
      tvms_arena_text(&e->context->arena, helper, (uint32_t)strlen(helper));
  tvms_vec_push(&e->context->memory, &e->helpers, kept);
  return true;
}

// What preamble.inc has no instruction for is a list of lanes: compilers mostly join such a list to
// one operation; of loops over lanes of what is in registers they make none.
static void declare_each_lane(c_emitter *e, const char *name, const char *type,
                              int lanes, const char *function, uint32_t arity) {
  tvms_strbuf *head = &e->head;
  tvms_strbuf_printf(head, "#ifndef %s\n#define %s(", name, name);
  for (uint32_t i = 0; i < arity; i++)
    tvms_strbuf_printf(head, "%sa%u", i ? ", " : "", i);
  tvms_strbuf_printf(head, ") (%s){", type);
  for (int k = 0; k < lanes; k++) {
    tvms_strbuf_printf(head, "%s%s(", k ? ", " : "", function);
    for (uint32_t i = 0; i < arity; i++)
      tvms_strbuf_printf(head, "%sa%u[%d]", i ? ", " : "", i, k);
    tvms_strbuf_putc(head, ')');
  }
  tvms_strbuf_puts(head, "}\n#endif\n");
}

const char *tvms_c_each_lane(c_emitter *e, tvms_dtype dtype, tvms_span span,
                             const char *function, const char *const *args,
                             uint32_t arity) {
  const char *type = tvms_c_type(e, dtype, span);
  const char *name = tvms_c_text(e, "%s_%s", function, type), *list = "";
  if (tvms_c_is_new(e, name))
    declare_each_lane(e, name, type, dtype.lanes, function, arity);
  for (uint32_t i = 0; i < arity; i++)
    list = tvms_c_text(e, "%s%s%s", list, i ? ", " : "", args[i]);
  return tvms_c_whole(e, dtype, span, tvms_c_text(e, "%s(%s)", name, list));
}

const char *tvms_c_extreme(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *a, const char *b, bool greater) {
  const char *type = tvms_c_type(e, dtype, span);
  const char *name = tvms_c_text(e, "%s_%s", greater ? "GREATER" : "LESSER", type);
  bool turned = greater && !tvms_dtype_is_real(dtype);
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(
        &e->head,
        "#ifndef %s\n#define %s(a, b) (%s)PICKED(a %s b, (%s)%s, (%s)%s)\n"
        "#endif\n",
        name, name, type, greater && !turned ? ">" : "<",
        ints(e, bits_of(dtype), dtype.lanes, span), turned ? "b" : "a",
        ints(e, bits_of(dtype), dtype.lanes, span), turned ? "a" : "b");
  return tvms_c_whole(e, dtype, span, tvms_c_text(e, "%s(%s, %s)", name, a, b));
}

// The function that converts vectors of narrow floats, with the types that it has.
static const char *narrow(c_emitter *e, tvms_dtype dtype, tvms_span span,
                          const char *way, const char *value) {
  int lanes = dtype.lanes;
  (void)tvms_c_type(e, dtype, span);
  (void)ints(e, 32, lanes, span);
  (void)uints(e, 32, lanes, span);
  (void)uints(e, 16, lanes, span);
  const char *made = tvms_c_text(e, "NARROW(%d)", lanes);
  if (tvms_c_is_new(e, made)) tvms_strbuf_printf(&e->head, "%s\n", made);
  const char *kind = dtype.code == TVMS_FLOAT ? "f16" : "bf16";
  return tvms_c_text(e, "%s_%sx%d(%s)", way, kind, lanes, value);
}

const char *tvms_c_narrowed(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *value) {
  return narrow(e, dtype, span, "to", value);
}

const char *tvms_c_widened(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *value) {
  return narrow(e, dtype, span, "from", value);
}

// ---- Conversions ----

static bool is_plain(tvms_dtype dtype) {
  return dtype.code == TVMS_INT || dtype.code == TVMS_UINT || dtype.code == TVMS_FLOAT
         || dtype.code == TVMS_BFLOAT;
}

bool tvms_c_converts_whole(tvms_dtype from, tvms_dtype to) {
  bool saturates = tvms_dtype_is_real(from) && !tvms_dtype_is_real(to);
  return is_plain(from) && is_plain(to) && !saturates;
}

const char *tvms_c_convert_whole(c_emitter *e, tvms_dtype to, tvms_span span,
                                 const char *value) {
  const char *type = tvms_c_type(e, to, span);
  const char *text = tvms_c_text(e, "__builtin_convertvector(%s, %s)", value, type);
  if (tvms_c_is_narrow(to))
    text = tvms_c_widened(e, to, span, tvms_c_narrowed(e, to, span, text));
  return tvms_c_whole(e, to, span, text);
}

const char *tvms_c_reinterpret_whole(c_emitter *e, tvms_dtype to, tvms_span span,
                                     const char *value) {
  return tvms_c_whole(e, to, span,
                      tvms_c_text(e, "(%s)%s", tvms_c_type(e, to, span), value));
}

const char *tvms_c_pick(c_emitter *e, tvms_dtype dtype, tvms_span span, const char *a,
                        const char *b, const int *indices) {
  const char *list = "";
  for (int k = 0; k < dtype.lanes; k++)
    list = tvms_c_text(e, "%s, %d", list, indices[k]);
  const char *mask = ints(e, bits_of(dtype), dtype.lanes, span);
  return tvms_c_whole(e, dtype, span,
                      tvms_c_text(e, "PICK(%s, %s, %s%s)", mask, a, b, list));
}
