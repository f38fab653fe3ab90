// Vectors of C text as wholes: what GCC and clang have operators for.
#include "backend/c/vector.h"

#include "backend/c/truths.h"

#include <string.h>

enum { MOST_LANES = 64 };  // as the macros of preamble.inc

// ---- Types ----

bool tvms_c_is_whole(tvms_dtype dtype) {
  return dtype.lanes > 1 && dtype.lanes <= MOST_LANES;
}

// Bits of a lane in registers.
int tvms_c_bits_in_register(tvms_dtype dtype) {
  if (dtype.code == TVMS_BOOL) return 8;
  return tvms_dtype_is_real(dtype) && dtype.bits < 32 ? 32 : dtype.bits;
}

const char *tvms_c_mask_type(c_emitter *e, int bits, int lanes, tvms_span span) {
  tvms_dtype scalar = {TVMS_INT, (uint8_t)bits, 1};
  return tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
}

static const char *uints(c_emitter *e, int bits, int lanes, tvms_span span) {
  tvms_dtype scalar = {TVMS_UINT, (uint8_t)bits, 1};
  return tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
}

// ---- Masks ----

const char *tvms_c_mask(c_emitter *e, int bits, int lanes, tvms_span span,
                        const char *expr) {
  const char *name = tvms_c_text(e, "q%d_%u", bits, e->next++);
  const char *type = tvms_c_mask_type(e, bits, lanes, span);
  tvms_c_line(e, "const %s %s = (%s)(%s);", type, name, type, expr);
  return name;
}

const char *tvms_c_compare(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *a, const char *sign, const char *b) {
  const char *mask = tvms_c_mask(e, tvms_c_bits_in_register(dtype), dtype.lanes, span,
                                 tvms_c_text(e, "%s %s %s", a, sign, b));
  tvms_c_note_compared(e, mask, dtype, a, sign, b);
  return mask;
}

const char *tvms_c_register_type(c_emitter *e, int bits, int lanes) {
  int bytes = bits / 8 * lanes < 16 ? 16 : bits / 8 * lanes;
  char letter = bits == 8 ? 'c' : bits == 16 ? 'h' : bits == 32 ? 'w' : 'd';
  return tvms_c_text(e, "%c%dx%da", letter, bits, bytes / (bits / 8));
}

const char *tvms_c_in_register(c_emitter *e, int bits, int lanes, const char *value) {
  int bytes = bits / 8 * lanes;
  const char *type = tvms_c_register_type(e, bits, lanes);
  return bytes < 16 ? tvms_c_text(e, "(%s)OF_%d(%s)", type, bytes, value)
                    : tvms_c_text(e, "(%s)(%s)", type, value);
}

static const char *of_register(c_emitter *e, int bytes, const char *value) {
  return bytes < 16 ? tvms_c_text(e, "TO_%d(%s)", bytes, value) : value;
}

// Lanes of the vector that C has for so many integers.
static int room_of(int bits, int lanes) {
  return tvms_c_room((tvms_dtype){TVMS_INT, (uint8_t)bits, (int16_t)lanes});
}

// A vector as one of another type, which has as many lanes or not: then two are used.
static const char *converted(c_emitter *e, const char *value, const char *type,
                             bool same) {
  return same ? tvms_c_text(e, "__builtin_convertvector(%s, %s)", value, type)
              : tvms_c_text(e, "(%s){(%s)[0], (%s)[1]}", type, value, value);
}

// Writes the instruction of x86 that makes integers of one width those of another: GCC has none for these.
static void declare_resizing(c_emitter *e, const char *name, const char *type, int code,
                             int from, int to, int lanes) {
  static const char letters[] = " bw d   q";
  int wide = from < to ? to : from, room = room_of(to, lanes);
  int bytes = wide / 8 * room_of(wide, lanes);
  bytes = bytes < 16 ? 16 : bytes;
  const char *value = tvms_c_in_register(e, from, room_of(from, lanes), "v"), *call;
  const char *into = tvms_c_register_type(e, to, room);
  char a = letters[from / 8], b = letters[to / 8];
  bool masks = from > to || bytes == 64;
  const char *rest = masks ? tvms_c_text(e, ", (%s){0}, -1", into) : "";
  if (from < to)
    call = tvms_c_text(e, "__builtin_ia32_pmov%cx%c%c%d%s(%s%s)",
                       code == TVMS_INT ? 's' : 'z', a, b, bytes * 8,
                       masks ? "_mask" : "", value, rest);
  else
    call = tvms_c_text(e, "__builtin_ia32_pmov%c%c%d_mask(%s%s)", a, b, bytes * 8,
                       value, rest);
  tvms_strbuf_printf(
      &e->head,
      "#if defined %s && !defined __clang__\n#define %s(v) ((%s)%s)\n#endif\n",
      masks ? "ALL_OF_512" : "__AVX2__", name, type,
      of_register(e, to / 8 * room, call));
}

// The macro that makes integers of one width those of another, all as signed ones or all as unsigned ones. Without an
// instruction GCC goes by half or twice the width: other steps it does lane by lane.
static const char *resizing(c_emitter *e, int code, int from, int to, int lanes,
                            tvms_span span) {
  int had = from;
  tvms_dtype scalar = {(uint8_t)code, (uint8_t)from, 1};
  const char *type = tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
  const char *text = "v", *source = type;
  while (from != to) {
    int step = from < to ? 2 * from : from / 2;
    scalar.bits = (uint8_t)step;
    type = tvms_c_type(e, tvms_dtype_with_lanes(scalar, lanes), span);
    text = converted(e, text, type, room_of(from, lanes) == room_of(step, lanes));
    from = step;
  }
  const char *name = tvms_c_text(e, "%s_of_%s", type, source);
  if (!tvms_c_is_new(e, name)) return name;
  int room = room_of(had > to ? had : to, lanes);
  if ((had > to ? had : to) / 8 * room <= 64)
    declare_resizing(e, name, type, code, had, to, lanes);
  tvms_strbuf_printf(&e->head, "#ifndef %s\n#define %s(v) %s\n#endif\n", name, name,
                     text);
  return name;
}

static const char *resize(c_emitter *e, int code, int from, int to, int lanes,
                          tvms_span span, const char *value) {
  if (from == to) return value;
  const char *macro = resizing(e, code, from, to, lanes, span);
  tvms_dtype scalar = {(uint8_t)code, (uint8_t)to, 1};
  return tvms_c_whole(e, tvms_dtype_with_lanes(scalar, lanes), span,
                      tvms_c_text(e, "%s(%s)", macro, value));
}

static const char *spread_mask(c_emitter *e, int bits, int lanes, tvms_span span,
                               const char *scalar) {
  const char *type = tvms_c_mask_type(e, bits, lanes, span);
  return tvms_c_mask(
      e, bits, lanes, span,
      tvms_c_text(e, "(%s){X%d(-(i%d)%s)}", type, room_of(bits, lanes), bits, scalar));
}

const char *tvms_c_mask_of(c_emitter *e, const char *value, int lanes, int bits,
                           tvms_span span) {
  int own = tvms_c_mask_bits(value);
  if (own == bits) return value;
  const char *scalar = tvms_c_scalar_of(e, value);
  if (scalar) return spread_mask(e, bits, lanes, span, scalar);
  if (!own) value = tvms_c_mask(e, 8, lanes, span, tvms_c_text(e, "%s != 0", value));
  value = resize(e, TVMS_INT, own ? own : 8, bits, lanes, span, value);
  return tvms_c_mask_bits(value) ? value : tvms_c_mask(e, bits, lanes, span, value);
}

const char *tvms_c_blend(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *test, const char *a, const char *b) {
  int bits = tvms_c_bits_in_register(dtype);
  const char *mask = tvms_c_mask_of(e, test, dtype.lanes, bits, span);
  const char *lanes = tvms_c_bits_of(e, test), *made = NULL;
  if (lanes) made = tvms_c_choose_by_bits(e, dtype, span, lanes, mask, a, b);
  if (made) return tvms_c_whole(e, dtype, span, made);
  const char *type = tvms_c_mask_type(e, bits, dtype.lanes, span);
  return tvms_c_whole(e, dtype, span,
                      tvms_c_text(e, "(%s)(((%s)%s & %s) | ((%s)%s & ~%s))",
                                  tvms_c_type(e, dtype, span), type, a, mask, type, b,
                                  mask));
}

// ---- Values ----

// So many times the scalar. Lanes that are not used get it as well.
static const char *times(c_emitter *e, tvms_dtype dtype, const char *scalar) {
  return tvms_c_text(e, "{X%d(%s)}", tvms_c_room(dtype), scalar);
}

const char *tvms_c_spread(c_emitter *e, tvms_dtype dtype, tvms_span span,
                          const char *scalar) {
  const char *value = tvms_c_whole(e, dtype, span, times(e, dtype, scalar));
  if (tvms_dtype_is_bool(dtype)) tvms_c_note_spread(e, value, scalar);
  return value;
}

const char *tvms_c_ramp(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *base, const char *stride) {
  const char *type = uints(e, dtype.bits, dtype.lanes, span), *steps = "0";
  for (int k = 1; k < dtype.lanes; k++)
    steps = tvms_c_text(e, "%s, %d", steps, k);
  const char *from = tvms_c_text(e, "(u%d)%s", dtype.bits, base);
  const char *by = tvms_c_text(e, "(u%d)%s", dtype.bits, stride);
  return tvms_c_whole(
      e, dtype, span,
      tvms_c_text(e, "(%s)((%s)%s + (%s)%s * (%s){%s})", tvms_c_type(e, dtype, span),
                  type, times(e, dtype, from), type, times(e, dtype, by), type, steps));
}

// Processors multiply no bytes: both of each 16 bits.
static const char *product_of_bytes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                                    const char *a, const char *b) {
  const char *pairs = uints(e, 16, dtype.lanes / 2, span);
  const char *x = tvms_c_text(e, "(%s)%s", pairs, a),
             *y = tvms_c_text(e, "(%s)%s", pairs, b);
  return tvms_c_whole(
      e, dtype, span,
      tvms_c_text(e, "(%s)(((%s * %s) & 255) | ((%s >> 8) * (%s & 0xff00)))",
                  tvms_c_type(e, dtype, span), x, y, x, y));
}

const char *tvms_c_wrapping(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *a, const char *sign, const char *b) {
  if (*sign == '*' && dtype.bits == 8 && tvms_c_room(dtype) == dtype.lanes
      && dtype.lanes > 4)
    return product_of_bytes(e, dtype, span, a, b);
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

// What preamble_vectors.inc has no instruction for is a list of lanes: compilers mostly join such a list to
// one operation; of loops over lanes of what is in registers they make none.
static void declare_each_lane(c_emitter *e, const char *name, const char *type,
                              int lanes, const char *function, uint32_t arity) {
  tvms_strbuf *head = &e->head;
  tvms_strbuf_printf(head, "#define %s(", name);
  for (uint32_t i = 0; i < arity; i++)
    tvms_strbuf_printf(head, "%sa%u", i ? ", " : "", i);
  tvms_strbuf_printf(head, ") (%s){", type);
  for (int k = 0; k < lanes; k++) {
    tvms_strbuf_printf(head, "%s%s(", k ? ", " : "", function);
    for (uint32_t i = 0; i < arity; i++)
      tvms_strbuf_printf(head, "%s(a%u)[%d]", i ? ", " : "", i, k);
    tvms_strbuf_putc(head, ')');
  }
  tvms_strbuf_puts(head, "}\n#endif\n");
}

// The name of a function on vectors of which so many lanes are used. One instruction takes those that are not used as
// well, calls leave them out.
static const char *each_lane_name(c_emitter *e, tvms_dtype dtype, tvms_span span,
                                  const char *function, uint32_t arity) {
  const char *type = tvms_c_type(e, dtype, span);
  const char *whole = tvms_c_text(e, "%s_%s", function, type);
  bool all = tvms_c_room(dtype) == dtype.lanes;
  const char *name = all ? whole : tvms_c_text(e, "%s_first_%d", whole, dtype.lanes);
  if (!tvms_c_is_new(e, name)) return name;
  if (all)
    tvms_strbuf_printf(&e->head, "#ifndef %s\n", name);
  else
    tvms_strbuf_printf(&e->head, "#ifdef %s\n#define %s %s\n#else\n", whole, name,
                       whole);
  declare_each_lane(e, name, type, dtype.lanes, function, arity);
  return name;
}

const char *tvms_c_each_lane(c_emitter *e, tvms_dtype dtype, tvms_span span,
                             const char *function, const char *const *args,
                             uint32_t arity) {
  const char *name = each_lane_name(e, dtype, span, function, arity), *list = "";
  for (uint32_t i = 0; i < arity; i++)
    list = tvms_c_text(e, "%s%s%s", list, i ? ", " : "", args[i]);
  return tvms_c_whole(e, dtype, span, tvms_c_text(e, "%s(%s)", name, list));
}

const char *tvms_c_times(c_emitter *e, tvms_dtype dtype, tvms_span span, const char *a,
                         const char *b) {
  const char *type = uints(e, 64, dtype.lanes, span);
  const char *form = tvms_c_register_type(e, 64, dtype.lanes);
  const char *name = tvms_c_text(e, "TIMES_%s", type);
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(
        &e->head,
        "#if defined ALL_OF_512\n"
        "#define %s(a, b) __builtin_ia32_pmullq%d_mask((%s)(a), (%s)(b), (%s){0}, -1)\n"
        "#else\n#define %s(a, b) ((%s)(a) * (%s)(b))\n#endif\n",
        name, 64 * dtype.lanes, form, form, form, name, type, type);
  return tvms_c_whole(
      e, dtype, span,
      tvms_c_text(e, "(%s)%s(%s, %s)", tvms_c_type(e, dtype, span), name, a, b));
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
        tvms_c_mask_type(e, tvms_c_bits_in_register(dtype), dtype.lanes, span),
        turned ? "b" : "a",
        tvms_c_mask_type(e, tvms_c_bits_in_register(dtype), dtype.lanes, span),
        turned ? "a" : "b");
  return tvms_c_whole(e, dtype, span, tvms_c_text(e, "%s(%s, %s)", name, a, b));
}

// The function that converts vectors of narrow floats, with the types that it has.
static const char *narrow(c_emitter *e, tvms_dtype dtype, tvms_span span,
                          const char *way, const char *value) {
  int lanes = tvms_c_room(dtype);
  (void)tvms_c_type(e, dtype, span);
  (void)tvms_c_mask_type(e, 32, lanes, span);
  (void)uints(e, 32, lanes, span);
  (void)uints(e, 16, lanes, span);
  (void)resizing(e, TVMS_UINT, 16, 32, lanes, span);
  (void)resizing(e, TVMS_UINT, 32, 16, lanes, span);
  const char *made = tvms_c_text(e, "NARROW(%d)", lanes);
  if (tvms_c_is_new(e, made))
    tvms_strbuf_printf(&e->head,
                       "%s\n#ifndef from_f16x%d\n#define from_f16x%d real_of_f16x%d\n"
                       "#define to_f16x%d f16_of_realx%d\n#endif\n",
                       made, lanes, lanes, lanes, lanes, lanes);
  const char *kind = dtype.code == TVMS_FLOAT ? "f16" : "bf16";
  return tvms_c_text(e, "%s_%sx%d(%s)", way, kind, lanes, value);
}

const char *tvms_c_narrowed(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *value) {
  const char *form = tvms_c_memory_form(e, value);
  return form ? form : narrow(e, dtype, span, "to", value);
}

const char *tvms_c_widen(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *expr) {
  tvms_dtype narrow_type = {TVMS_UINT, 16, dtype.lanes};
  const char *number = tvms_c_text(e, "%u", e->next++);
  tvms_c_line(e, "const %s h%s = %s;", tvms_c_type(e, narrow_type, span), number, expr);
  const char *form = tvms_c_text(e, "h%s", number);
  const char *wide = dtype.lanes > 1 ? narrow(e, dtype, span, "from", form)
                                     : tvms_c_from_memory(e, dtype, form);
  tvms_c_line(e, "const %s w%s = %s;", tvms_c_type(e, dtype, span), number, wide);
  return tvms_c_text(e, "w%s", number);
}

const char *tvms_c_rounded(c_emitter *e, tvms_dtype dtype, tvms_span span,
                           const char *exact) {
  if (tvms_c_memory_form(e, exact)) return exact;
  if (dtype.code == TVMS_FLOAT)
    return tvms_c_widen(e, dtype, span, tvms_c_narrowed(e, dtype, span, exact));
  tvms_dtype narrow_type = {TVMS_UINT, 16, dtype.lanes};
  const char *number = tvms_c_text(e, "%u", e->next++);
  const char *wide = narrow(e, dtype, span, "rounded", exact);
  tvms_c_line(e, "const %s w%s = %s;", tvms_c_type(e, dtype, span), number, wide);
  const char *half = narrow(e, dtype, span, "half_of", tvms_c_text(e, "w%s", number));
  tvms_c_line(e, "const %s h%s = %s;", tvms_c_type(e, narrow_type, span), number, half);
  return tvms_c_text(e, "w%s", number);
}

// ---- Conversions ----

static bool is_plain(tvms_dtype dtype) {
  return dtype.code == TVMS_INT || dtype.code == TVMS_UINT || dtype.code == TVMS_FLOAT
         || dtype.code == TVMS_BFLOAT;
}

bool tvms_c_converts_whole(tvms_dtype from, tvms_dtype to) {
  return (is_plain(from) || from.code == TVMS_BOOL)
         && (is_plain(to) || to.code == TVMS_BOOL);
}

// The macro that converts vectors of which one is of reals.
static const char *converting(c_emitter *e, tvms_dtype to, tvms_dtype from,
                              tvms_span span) {
  const char *type = tvms_c_type(e, to, span);
  const char *name = tvms_c_text(e, "%s_of_%s", type, tvms_c_type(e, from, span));
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(&e->head, "#ifndef %s\n#define %s(v) %s\n#endif\n", name, name,
                       converted(e, "v", type, tvms_c_room(to) == tvms_c_room(from)));
  return name;
}

// The text of what C converts, lane by lane; reals become integers only within the range of these.
static const char *convert_plain(c_emitter *e, tvms_dtype from, tvms_dtype to,
                                 tvms_span span, const char *value) {
  bool from_real = tvms_dtype_is_real(from), to_real = tvms_dtype_is_real(to);
  tvms_dtype word = tvms_dtype_with_lanes(TVMS_DTYPE(INT, 32), to.lanes);
  int code = from.code == TVMS_INT ? TVMS_INT : TVMS_UINT,
      bits = tvms_c_bits_in_register(from);
  const char *type = tvms_c_type(e, to, span);
  if (from_real && !to_real && to.bits < 32) {
    value = tvms_c_whole(e, word, span, convert_plain(e, from, word, span, value));
    code = TVMS_INT;
    bits = 32;
    from_real = false;
  }
  if (!from_real && !to_real)
    return tvms_c_text(e, "(%s)%s", type,
                       resize(e, code, bits, to.bits, to.lanes, span, value));
  if (!from_real && bits < 32)
    value = tvms_c_text(e, "(%s)%s", tvms_c_type(e, word, span),
                        resize(e, code, bits, 32, to.lanes, span, value));
  if (tvms_c_bits_in_register(from) < 32) from = word;
  return tvms_c_text(e, "%s(%s)", converting(e, to, from, span), value);
}

const char *tvms_c_convert_inside(c_emitter *e, tvms_dtype from, tvms_dtype to,
                                  tvms_span span, const char *value) {
  return tvms_c_whole(e, to, span, convert_plain(e, from, to, span, value));
}

// Reals to integers: those out of range give the nearest end of it, NaN gives 0.
static const char *saturate(c_emitter *e, tvms_dtype from, tvms_dtype to,
                            tvms_span span, const char *value) {
  bool is_signed = to.code == TVMS_INT,
       exact = tvms_c_bits_in_register(from) == 64 || to.bits < 32;
  int bits = to.bits - is_signed;
  exact &= to.bits < 64;
  const char *end = tvms_c_bits_in_register(from) == 64 ? "" : "f";
  unsigned long long most = ~0ull >> (64 - bits);
  const char *least = is_signed ? tvms_c_text(e, "-0x1p+%d%s", bits, end) : "0";
  const char *inside =
      tvms_c_extreme(e, from, span, value, tvms_c_spread(e, from, span, least), true);
  const char *number = tvms_c_compare(e, from, span, value, "==", value);
  if (exact) {
    const char *last =
        tvms_c_spread(e, from, span, tvms_c_text(e, "%llu.0%s", most, end));
    inside = tvms_c_extreme(e, from, span, inside, last, false);
    inside =
        tvms_c_blend(e, from, span, number, inside, tvms_c_spread(e, from, span, "0"));
    return tvms_c_convert_inside(e, from, to, span, inside);
  }
  const char *first = tvms_c_text(e, "0x1p+%d%s", bits, end);
  const char *beyond =
      tvms_c_compare(e, from, span, value, ">=", tvms_c_spread(e, from, span, first));
  inside =
      tvms_c_blend(e, from, span, beyond, tvms_c_spread(e, from, span, "0"), inside);
  const char *made = tvms_c_convert_inside(e, from, to, span, inside);
  made =
      tvms_c_blend(e, to, span, beyond,
                   tvms_c_spread(e, to, span, tvms_c_text(e, "%lluull", most)), made);
  return tvms_c_blend(e, to, span, number, made, tvms_c_spread(e, to, span, "0"));
}

const char *tvms_c_truths(c_emitter *e, int lanes, tvms_span span, const char *value) {
  if (!tvms_c_mask_bits(value)) return value;
  tvms_dtype truth = tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), lanes);
  const char *bytes = tvms_c_text(e, "(%s)(%s & 1)", tvms_c_type(e, truth, span),
                                  tvms_c_mask_of(e, value, lanes, 8, span));
  const char *bits = tvms_c_bits_of(e, value), *made = NULL;
  if (bits) made = tvms_c_bytes_by_bits(e, lanes, span, bits, bytes);
  return tvms_c_whole(e, truth, span, made ? made : bytes);
}

const char *tvms_c_convert_whole(c_emitter *e, tvms_dtype from, tvms_dtype to,
                                 tvms_span span, const char *value) {
  if (from.code == TVMS_BOOL) value = tvms_c_truths(e, from.lanes, span, value);
  if (to.code == TVMS_BOOL && from.code == TVMS_BOOL) return value;
  if (to.code == TVMS_BOOL)
    return tvms_c_compare(e, from, span, value,
                          "!=", tvms_c_spread(e, from, span, "0"));
  if (tvms_dtype_is_real(from) && !tvms_dtype_is_real(to))
    return saturate(e, from, to, span, value);
  const char *text = convert_plain(e, from, to, span, value);
  if (tvms_c_is_narrow(to)) return tvms_c_rounded(e, to, span, text);
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
  int lanes = dtype.lanes, room = tvms_c_room(dtype);
  for (int k = 0; k < room; k++) {
    int at = k < lanes ? indices[k] : -1;
    list = tvms_c_text(e, "%s, %d", list, at < lanes ? at : room + at - lanes);
  }
  const char *first = tvms_c_memory_form(e, a), *second = tvms_c_memory_form(e, b);
  bool narrow_forms = first && second;
  const char *mask = tvms_c_mask_type(
      e, narrow_forms ? 16 : tvms_c_bits_in_register(dtype), dtype.lanes, span);
  const char *picked =
      tvms_c_text(e, "PICK(%s, %s, %s%s)", mask, narrow_forms ? first : a,
                  narrow_forms ? second : b, list);
  return narrow_forms ? tvms_c_widen(e, dtype, span, picked)
                      : tvms_c_whole(e, dtype, span, picked);
}

// The text of lanes of a vector, as one of a type that has room for so many.
static const char *lanes_picked(c_emitter *e, const char *type, int room, int lanes,
                                const char *value, const int *indices) {
  const char *list = "", *numbers = "";
  for (int k = 0; k < room; k++) {
    int at = k < lanes ? indices[k] : -1;
    if (at >= 0) list = tvms_c_text(e, "%s%s%s[%d]", list, k ? ", " : "", value, at);
    numbers = tvms_c_text(e, "%s, %d", numbers, at);
  }
  return tvms_c_text(e, "PART(((%s){%s}), %s%s)", type, list, value, numbers);
}

const char *tvms_c_lanes_of(c_emitter *e, tvms_dtype dtype, tvms_span span,
                            const char *value, const int *indices) {
  const char *type = tvms_c_type(e, dtype, span);
  return tvms_c_whole(
      e, dtype, span,
      lanes_picked(e, type, tvms_c_room(dtype), dtype.lanes, value, indices));
}

const char *tvms_c_join(c_emitter *e, tvms_dtype dtype, tvms_span span, const char *a,
                        const char *b) {
  const char *lanes = "", *numbers = "";
  for (int k = 0; k < dtype.lanes; k++) {
    int half = dtype.lanes / 2;
    lanes =
        tvms_c_text(e, "%s%s%s[%d]", lanes, k ? ", " : "", k < half ? a : b, k % half);
    numbers = tvms_c_text(e, "%s, %d", numbers, k);
  }
  return tvms_c_whole(e, dtype, span,
                      tvms_c_text(e, "JOIN(((%s){%s}), %s, %s%s)",
                                  tvms_c_type(e, dtype, span), lanes, a, b, numbers));
}

const char *tvms_c_part(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *value, int first) {
  int indices[MOST_LANES];
  int lanes = dtype.lanes, bits = tvms_c_mask_bits(value);
  for (int k = 0; k < lanes; k++)
    indices[k] = first + k;
  if (!bits) return tvms_c_lanes_of(e, dtype, span, value, indices);
  const char *mask =
      tvms_c_mask(e, bits, lanes, span,
                  lanes_picked(e, tvms_c_mask_type(e, bits, lanes, span),
                               room_of(bits, lanes), lanes, value, indices));
  tvms_c_note_part(e, mask, value, first);
  return mask;
}
