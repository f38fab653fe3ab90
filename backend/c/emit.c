// Lines, types, values and conversions of C text.
#include "backend/c/emit.h"

#include "backend/core/place.h"
#include "interp/interp.h"
#include "ir/build.h"
#include "runtime/small_float.h"
#include "support/diag_ids.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 16 };  // lanes of which a list is written

void tvms_c_give_up(c_emitter *e) {
  tvms_memory_unwind(&e->context->memory, TVMS_FOUND_ERRORS);
}

void tvms_c_refuse(c_emitter *e, tvms_span span, const char *what) {
  tvms_diag_report(&e->context->diags, TVMS_D_not_compiled, span, what);
  tvms_c_give_up(e);
}

// ---- Text ----

const char *tvms_c_text(c_emitter *e, const char *format, ...) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &e->context->memory);
  va_list arguments;
  va_start(arguments, format);
  tvms_strbuf_vprintf(&out, format, arguments);
  va_end(arguments);
  const char *kept = tvms_arena_text(&e->context->scratch, out.text, out.len);
  tvms_strbuf_fini(&out);
  return kept;
}

static void indent(c_emitter *e) {
  for (uint32_t i = 0; i < e->depth; i++) {
    tvms_strbuf_puts(&e->body, "  ");
  }
}

void tvms_c_at(c_emitter *e, tvms_span span) {
  if (!e->lines_of || !span.end) return;
  e->line = tvms_source_place(&e->context->memory, e->lines_of, span.begin).line;
}

// A compiler counts on from the line that it was told: so each is told anew.
static void say_line(c_emitter *e) {
  if (!e->line) return;
  tvms_strbuf_printf(&e->body, "#line %u \"", e->line);
  for (const char *c = e->lines_of->name; *c; c++) {
    if (*c == '"' || *c == '\\') tvms_strbuf_putc(&e->body, '\\');
    tvms_strbuf_putc(&e->body, *c);
  }
  tvms_strbuf_puts(&e->body, "\"\n");
}

static void put_line(c_emitter *e, const char *end, const char *format,
                     va_list arguments) {
  say_line(e);
  indent(e);
  tvms_strbuf_vprintf(&e->body, format, arguments);
  tvms_strbuf_puts(&e->body, end);
}

void tvms_c_line(c_emitter *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put_line(e, "\n", format, arguments);
  va_end(arguments);
}

void tvms_c_open(c_emitter *e, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put_line(e, " {\n", format, arguments);
  va_end(arguments);
  e->depth++;
  e->block++;
}

void tvms_c_close(c_emitter *e) {
  e->depth--;
  e->block++;
  tvms_c_line(e, "}");
}

const char *tvms_c_literal(c_emitter *e, const char *text) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &e->context->memory);
  tvms_strbuf_putc(&out, '"');
  for (const char *at = text; *at; at++) {
    unsigned char c = (unsigned char)*at;
    bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\' && c != '?';
    if (plain)
      tvms_strbuf_putc(&out, (char)c);
    else
      tvms_strbuf_printf(&out, "\\%03o", c);
  }
  tvms_strbuf_putc(&out, '"');
  const char *kept = tvms_arena_text(&e->context->scratch, out.text, out.len);
  tvms_strbuf_fini(&out);
  return kept;
}

// ---- Types ----

bool tvms_c_is_narrow(tvms_dtype dtype) {
  return (dtype.code == TVMS_FLOAT || dtype.code == TVMS_BFLOAT) && dtype.bits == 16;
}

static const tvms_small_float *TVMS_NULLABLE float8_kind(tvms_dtype dtype) {
  const tvms_small_float *kind = tvms_small_float_of(tvms_interp_dl_type_of(dtype));
  return kind && kind->bits == 8 ? kind : NULL;
}

// Is it a float32 in registers, which is rounded after each operation?
static bool is_rounded(tvms_dtype dtype) {
  return tvms_c_is_narrow(dtype) || float8_kind(dtype);
}

static const char *scalar_type(c_emitter *e, tvms_dtype dtype, tvms_span span) {
  char text[TVMS_DTYPE_TEXT];
  bool whole =
      dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  if (dtype.code == TVMS_BOOL) return "u8";
  if (dtype.code == TVMS_HANDLE) return "ptr";
  if (is_rounded(dtype)) return "f32";
  if (dtype.code == TVMS_INT && whole) return tvms_c_text(e, "i%d", dtype.bits);
  if (dtype.code == TVMS_UINT && whole) return tvms_c_text(e, "u%d", dtype.bits);
  if (dtype.code == TVMS_FLOAT && (dtype.bits == 32 || dtype.bits == 64))
    return tvms_c_text(e, "f%d", dtype.bits);
  tvms_c_refuse(e, span, tvms_dtype_text(dtype, text));
}

static int scalar_bytes(tvms_dtype dtype) {
  if (dtype.code == TVMS_BOOL) return 1;
  return is_rounded(dtype) ? 4 : dtype.bits / 8;
}

static bool is_declared(const c_emitter *e, tvms_dtype dtype) {
  for (uint32_t i = 0; i < e->vectors.len; i++) {
    if (tvms_dtype_same(e->vectors.items[i], dtype)) return true;
  }
  return false;
}

int tvms_c_room(tvms_dtype dtype) {
  int room = dtype.bits <= 32 ? 4 : 2;
  while (room < dtype.lanes)
    room *= 2;
  return room;
}

const char *tvms_c_type(c_emitter *e, tvms_dtype dtype, tvms_span span) {
  char text[TVMS_DTYPE_TEXT];
  const char *scalar = scalar_type(e, tvms_dtype_with_lanes(dtype, 1), span);
  if (dtype.lanes == 1) return scalar;
  if (dtype.lanes < 1 || dtype.code == TVMS_HANDLE)
    tvms_c_refuse(e, span, tvms_dtype_text(dtype, text));
  int room = tvms_c_room(dtype);
  // One declaration for all kinds that are the same in registers.
  tvms_dtype kind = tvms_dtype_with_lanes(dtype, room);
  if (is_rounded(dtype)) kind = (tvms_dtype){TVMS_FLOAT, 32, kind.lanes};
  if (dtype.code == TVMS_BOOL) kind = (tvms_dtype){TVMS_UINT, 8, kind.lanes};
  const char *name = tvms_c_text(e, "%sx%d", scalar, room);
  if (is_declared(e, kind)) return name;
  tvms_vec_push(&e->context->memory, &e->vectors, kind);
  int bytes = scalar_bytes(dtype);
  tvms_strbuf_printf(&e->head,
                     "typedef %s %s __attribute__((vector_size(%d)));\n"
                     "typedef %s %sm __attribute__((vector_size(%d), aligned(%d), "
                     "may_alias));\n",
                     scalar, name, bytes * room, scalar, name, bytes * room, bytes);
  return name;
}

const char *tvms_c_memory_type(c_emitter *e, tvms_dtype element, tvms_span span) {
  if (tvms_c_is_narrow(element)) return "u16m";
  if (float8_kind(element)) return "u8m";
  tvms_dtype scalar = tvms_dtype_with_lanes(element, 1);
  return tvms_c_text(e, "%sm", scalar_type(e, scalar, span));
}

// ---- Values ----

int tvms_c_mask_bits(const char *value) {
  return *value == 'q' ? atoi(value + 1) : 0;
}

const char *tvms_c_lane(c_emitter *e, const char *value, tvms_dtype dtype) {
  if (tvms_c_mask_bits(value)) return tvms_c_text(e, "(%s[k] != 0)", value);
  return dtype.lanes > 1 ? tvms_c_text(e, "%s[k]", value) : value;
}

const char *tvms_c_whole(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *expr) {
  const char *name = tvms_c_text(e, "v%u", e->next++);
  tvms_c_line(e, "const %s %s = %s;", tvms_c_type(e, dtype, span), name, expr);
  return name;
}

// The expression for one lane: `k` is its number.
static void put_lane(tvms_strbuf *out, const char *expr, int lane) {
  for (const char *at = expr; *at;) {
    size_t len =
        strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (len == 1 && *at == 'k')
      tvms_strbuf_printf(out, "%d", lane);
    else
      tvms_strbuf_add(out, at, len ? len : 1);
    at += len ? len : 1;
  }
}

// Compilers join such lists to one operation; of loops over lanes of what is
// in registers they make none.
const char *tvms_c_listed(c_emitter *e, const char *expr, int lanes) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &e->context->memory);
  for (int k = 0; k < lanes; k++) {
    tvms_strbuf_puts(&out, k ? ", " : "{");
    put_lane(&out, expr, k);
  }
  tvms_strbuf_putc(&out, '}');
  const char *kept = tvms_arena_text(&e->context->scratch, out.text, out.len);
  tvms_strbuf_fini(&out);
  return kept;
}

const char *tvms_c_value(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *expr) {
  if (dtype.lanes == 1) return tvms_c_whole(e, dtype, span, expr);
  if (dtype.lanes <= MOST_LISTED)
    return tvms_c_whole(e, dtype, span, tvms_c_listed(e, expr, dtype.lanes));
  const char *name = tvms_c_text(e, "v%u", e->next++);
  tvms_c_line(e, "%s %s;", tvms_c_type(e, dtype, span), name);
  tvms_c_line(e, "for (int k = 0; k < %d; k++) %s[k] = %s;", dtype.lanes, name, expr);
  return name;
}

// ---- Conversions ----

// A call of what the preamble has for floats of 8 bits: of the description the functions get what they need.
static const char *float8_call(c_emitter *e, const tvms_small_float *kind,
                               const char *way, const char *expr) {
  if (kind->style == TVMS_SMALL_UNSIGNED) return tvms_c_text(e, "%s_e8(%s)", way, expr);
  return tvms_c_text(e, "%s_f8(%s, %d, %d, %d, %u, %u)", way, expr, kind->mantissa,
                     kind->bias, kind->style == TVMS_SMALL_IEEE,
                     tvms_small_float_largest(kind), tvms_small_float_nan(kind));
}

const char *TVMS_NULLABLE tvms_c_memory_form(c_emitter *e, const char *value) {
  bool both = *value == 'w' && !value[1 + strspn(value + 1, "0123456789")];
  return both ? tvms_c_text(e, "h%s", value + 1) : NULL;
}

const char *tvms_c_to_memory(c_emitter *e, tvms_dtype dtype, const char *expr) {
  const tvms_small_float *kind = float8_kind(dtype);
  if (kind) return float8_call(e, kind, "to", expr);
  if (!tvms_c_is_narrow(dtype)) return expr;
  const char *form = tvms_c_memory_form(e, expr);
  if (form) return form;
  return tvms_c_text(e, dtype.code == TVMS_FLOAT ? "to_f16(%s)" : "to_bf16(%s)", expr);
}

const char *tvms_c_from_memory(c_emitter *e, tvms_dtype dtype, const char *expr) {
  const tvms_small_float *kind = float8_kind(dtype);
  if (kind) return float8_call(e, kind, "from", expr);
  if (dtype.code == TVMS_BOOL) return tvms_c_text(e, "(%s != 0)", expr);
  if (!tvms_c_is_narrow(dtype)) return expr;
  return tvms_c_text(e, dtype.code == TVMS_FLOAT ? "from_f16(%s)" : "from_bf16(%s)",
                     expr);
}

const char *tvms_c_round(c_emitter *e, tvms_dtype dtype, const char *expr) {
  return is_rounded(dtype)
             ? tvms_c_from_memory(e, dtype, tvms_c_to_memory(e, dtype, expr))
             : expr;
}

const char *tvms_c_convert(c_emitter *e, tvms_dtype from, tvms_dtype to,
                           const char *expr) {
  from.lanes = to.lanes = 1;
  const char *type = scalar_type(e, to, TVMS_NO_SPAN);
  bool from_real = tvms_dtype_is_real(from), to_real = tvms_dtype_is_real(to);
  if (to.code == TVMS_HANDLE || from.code == TVMS_HANDLE) {
    if (to.code == from.code) return expr;
    if (to.code == TVMS_HANDLE)
      return tvms_c_text(e, "(ptr)(__UINTPTR_TYPE__)(%s)", expr);
    return tvms_c_text(e, "(%s)(__UINTPTR_TYPE__)(%s)", type, expr);
  }
  if (to.code == TVMS_BOOL) return tvms_c_text(e, "(%s != 0)", expr);
  if (from_real && !to_real) return tvms_c_text(e, "(%s)to_%s(%s)", type, type, expr);
  const char *cast = tvms_c_text(e, "(%s)(%s)", type, expr);
  return to_real ? tvms_c_round(e, to, cast) : cast;
}

// ---- Failures and functions ----

void tvms_c_free_from(c_emitter *e, uint32_t mark) {
  for (uint32_t i = e->memory.len; i > mark; i--) {
    const c_live *live = &e->memory.items[i - 1];
    if (live->boxes)
      tvms_c_line(e, "tvms_box_drop(%s, %u);", live->name, live->boxes);
    else
      tvms_c_line(e, "give_kept(kept_scratch, 64, %s);", live->name);
  }
}

// Raises, or leaves the error to the caller.
static void write_error(c_emitter *e, const char *kind, const char *text,
                        tvms_span span) {
  if (e->room == C_RELAX)
    text = tvms_place_text(e->context, e->member, span, text, false);
  const char *call = e->room == C_ENTRY ? "fail(" : "hold(held, ";
  tvms_c_line(e, "return %s\"%s\", %s);", call, kind, tvms_c_literal(e, text));
}

void tvms_c_check(c_emitter *e, const char *condition, const char *kind,
                  const char *text, tvms_span span) {
  tvms_c_open(e, "if (!(%s))", condition);
  tvms_c_free_from(e, 0);
  write_error(e, kind, text, span);
  tvms_c_close(e);
}

const char *tvms_c_function(c_emitter *e, const char *name, bool wide, uint32_t arity) {
  const char *full = tvms_c_text(e, "%s%s", name, wide ? "" : "f");
  for (uint32_t i = 0; i < e->functions.len; i++) {
    const c_function *known = &e->functions.items[i];
    if (!strcmp(known->name, name) && known->wide == wide) return full;
  }
  c_function row = {name, wide, arity};
  tvms_vec_push(&e->context->memory, &e->functions, row);
  const char *type = wide ? "f64" : "f32";
  tvms_strbuf_printf(&e->head, "__attribute__((%sconst)) %s %s(%s",
                     e->plain_prefix ? "" : "weak, ", type, full, type);
  for (uint32_t i = 1; i < arity; i++) {
    tvms_strbuf_printf(&e->head, ", %s", type);
  }
  tvms_strbuf_puts(&e->head, ");\n");
  return full;
}
