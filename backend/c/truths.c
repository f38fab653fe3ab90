// How vectors of truths came to be, for processors whose registers of masks hold one bit for each lane.
#include "backend/c/truths.h"

#include "backend/c/vector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
  DEEPEST = 6,      // what is joined of what is joined: texts would double
  REGISTERS = 7,    // of bits, besides the one that stands for all lanes
  REMEMBERED = 32,  // of what was chosen by
};

// ---- What is known ----

static bool is_name(const char *text) {
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return isalpha((unsigned char)*text);
}

// The number that ends a name; no two values have the same.
static uint32_t number_of(const char *name) {
  const char *digits = name + strlen(name);
  while (digits > name && isdigit((unsigned char)digits[-1]))
    digits--;
  return (uint32_t)strtoul(digits, NULL, 10);
}

// Names are noted when they are made, so that numbers ascend.
static const c_truths *TVMS_NULLABLE find(const c_emitter *e, const char *name) {
  uint32_t number = number_of(name), low = 0, high = e->truths.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (e->truths.items[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  bool known = low < e->truths.len && e->truths.items[low].number == number;
  return known && is_name(name) ? &e->truths.items[low] : NULL;
}

static void note(c_emitter *e, const char *name, const char *bits, uint32_t depth) {
  c_truths row = {.number = number_of(name), .depth = depth, .bits = bits};
  tvms_vec_push(&e->context->memory, &e->truths, row);
}

void tvms_c_note_spread(c_emitter *e, const char *truths, const char *scalar) {
  c_truths row = {.number = number_of(truths), .scalar = scalar};
  tvms_vec_push(&e->context->memory, &e->truths, row);
}

const char *tvms_c_scalar_of(c_emitter *e, const char *truths) {
  const c_truths *known = find(e, truths);
  return known ? known->scalar : NULL;
}

const char *tvms_c_bits_of(c_emitter *e, const char *truths) {
  const c_truths *known = find(e, truths);
  return known ? known->bits : NULL;
}

// ---- Comparisons ----

// What instructions have for an operator; reals are compared without a signal for NaN.
static int predicate_of(const char *sign, bool real) {
  static const struct {
    const char *sign;
    int real, whole;
  } rows[] = {{"==", 0, 0},  {"!=", 4, 4},  {"<", 17, 1},
              {"<=", 18, 2}, {">=", 29, 5}, {">", 30, 6}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (!strcmp(rows[i].sign, sign)) return real ? rows[i].real : rows[i].whole;
  return -1;
}

// What instructions are called by that take whole numbers of so many bits.
static char letter_of(int bits) {
  return " bw d   q"[bits / 8];
}

// Bytes of the register for so many lanes; 0: there is none.
static int register_bytes(int bits, int lanes) {
  int bytes = bits / 8 * lanes;
  return bytes < 16 ? 16 : bytes > 64 ? 0 : bytes;
}

void tvms_c_note_compared(c_emitter *e, const char *truths, tvms_dtype dtype,
                          const char *a, const char *sign, const char *b) {
  bool real = tvms_dtype_is_real(dtype);
  int bits = tvms_c_bits_in_register(dtype), lanes = tvms_c_room(dtype);
  int bytes = register_bytes(bits, lanes), predicate = predicate_of(sign, real);
  if (!bytes || predicate < 0 || !is_name(a) || (b && !is_name(b))) return;
  if (real && bits / 8 * lanes < 16) return;
  const char *end = real && bytes == 64 ? ", 4" : "";
  const char *left = real ? a : tvms_c_in_register(e, bits, lanes, a);
  const char *right =
      real ? b
      : b  ? tvms_c_in_register(e, bits, lanes, b)
           : tvms_c_text(e, "(%s){0}", tvms_c_register_type(e, bits, lanes));
  const char *kind = real                     ? bits == 64 ? "cmppd" : "cmpps"
                     : dtype.code == TVMS_INT ? "cmp"
                                              : "ucmp";
  const char *letter = real ? "" : tvms_c_text(e, "%c", letter_of(bits));
  note(e, truths,
       tvms_c_text(e, "__builtin_ia32_%s%s%d_mask(%s, %s, %d, -1%s)", kind, letter,
                   8 * bytes, left, right, predicate, end),
       1);
}

void tvms_c_note_joined(c_emitter *e, const char *truths, const char *a,
                        const char *sign, const char *b) {
  const c_truths *left = find(e, a), *right = b ? find(e, b) : NULL;
  if (!left || !left->bits || (b && (!right || !right->bits))) return;
  uint32_t depth =
      1 + (right && right->depth > left->depth ? right->depth : left->depth);
  if (depth > DEEPEST) return;
  note(e, truths,
       b ? tvms_c_text(e, "(%s %s %s)", left->bits, sign, right->bits)
         : tvms_c_text(e, "~%s", left->bits),
       depth);
}

void tvms_c_note_part(c_emitter *e, const char *truths, const char *whole, int first) {
  const c_truths *known = find(e, whole);
  if (!known || !known->bits) return;
  note(e, truths,
       first ? tvms_c_text(e, "(%s >> %d)", known->bits, first) : known->bits,
       known->depth);
}

// ---- How many are wanted at once ----

// Bits that are chosen by again lived as long as all that were chosen by in between; the last ones stand in front.
static void choose_by(c_emitter *e, const char *bits) {
  uint32_t at = 0, last;
  while (at < e->chosen.len && strcmp(e->chosen.items[at], bits))
    at++;
  bool again = at < e->chosen.len;
  if (!again && at < REMEMBERED) tvms_vec_push(&e->context->memory, &e->chosen, bits);
  e->crowded |= again && at > REGISTERS;
  last = again ? at : e->chosen.len - 1;
  memmove(e->chosen.items + 1, e->chosen.items, last * sizeof *e->chosen.items);
  e->chosen.items[0] = bits;
}

// ---- What takes them ----

const char *tvms_c_choose_by_bits(c_emitter *e, tvms_dtype dtype, tvms_span span,
                                  const char *bits, const char *mask, const char *a,
                                  const char *b) {
  int width = tvms_c_bits_in_register(dtype), lanes = tvms_c_room(dtype);
  int bytes = width / 8 * lanes;
  if (bytes < 16 || bytes > 64) return NULL;
  choose_by(e, bits);
  bool real = tvms_dtype_is_real(dtype);
  const char *kind =
      real ? width == 64 ? "pd_" : "ps_" : tvms_c_text(e, "%c_", letter_of(width));
  const char *type = tvms_c_type(e, dtype, span);
  const char *name = tvms_c_text(e, "CHOOSE_%s", type);
  const char *form =
      real ? "" : tvms_c_text(e, "(%s)", tvms_c_register_type(e, width, lanes));
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(
        &e->head,
        "#if defined ALL_OF_512\n"
        "#define %s(bits, mask, a, b) (%s)__builtin_ia32_blendm%s%d_mask(%s(b), %s(a), bits)\n"
        "#else\n#define %s(bits, mask, a, b) (%s)PICKED(mask, (%s)(a), (%s)(b))\n#endif\n",
        name, type, kind, 8 * bytes, form, form, name, type,
        tvms_c_mask_type(e, width, lanes, span),
        tvms_c_mask_type(e, width, lanes, span));
  return tvms_c_text(e, "%s(%s, %s, %s, %s)", name, bits, mask, a, b);
}

const char *tvms_c_bytes_by_bits(c_emitter *e, int lanes, tvms_span span,
                                 const char *bits, const char *bytes) {
  tvms_dtype truth = tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), lanes);
  const char *type = tvms_c_type(e, truth, span);
  int room = tvms_c_room(truth), size = room < 16 ? 16 : room;
  if (room < 2 || room > 64) return NULL;
  const char *name = tvms_c_text(e, "BYTES_%s", type);
  const char *ones = tvms_c_text(e, "(c8x%da){X%d(1)}", size, size);
  const char *made = tvms_c_text(
      e, "__builtin_ia32_movdquqi%d_mask(%s, (c8x%da){0}, bits)", 8 * size, ones, size);
  if (size > room) made = tvms_c_text(e, "TO_%d(%s)", room, made);
  if (tvms_c_is_new(e, name))
    tvms_strbuf_printf(&e->head,
                       "#if defined ALL_OF_512\n#define %s(bits, bytes) ((%s)%s)\n"
                       "#else\n#define %s(bits, bytes) (bytes)\n#endif\n",
                       name, type, made, name);
  return tvms_c_text(e, "%s(%s, %s)", name, bits, bytes);
}
