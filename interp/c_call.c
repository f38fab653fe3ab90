// Calls of functions of C, of which only the address is known.
//
// The processors below pass whole numbers and pointers in registers of one kind, reals in registers of another, each
// in order, and what is left over in words on the stack, in order, too (System V ABI of x86-64, section 3.2.3; AAPCS64 of
// ARM, section 6.4). Registers and words that a function does not look at may hold anything. So one prototype with all of
// them serves any arguments.
#include "interp/c_call.h"

#include "interp/expr.h"
#include "interp/meaning.h"
#include "interp/prim.h"
#include "ir/op.h"
#include "runtime/number.h"
#include "support/diag_ids.h"

#include <string.h>

#ifdef __x86_64__
enum { WHOLES = 6 };
#else
enum { WHOLES = 8 };
#endif
enum { REALS = 8, WORDS = 24 };

// What a call passes.
typedef struct {
  int64_t whole[8];
  double real[REALS];
  int64_t word[WORDS];
  uint32_t wholes, reals, words;
} passed;

// ---- The call ----

#ifdef __x86_64__
#  define WHOLE_TYPES     int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#  define WHOLE_VALUES(p) p[0], p[1], p[2], p[3], p[4], p[5]
#else
#  define WHOLE_TYPES                                                                  \
    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#  define WHOLE_VALUES(p) p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
#endif
#define REAL_TYPES double, double, double, double, double, double, double, double
#define EIGHT_TYPES                                                                    \
  int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t
#define EIGHT_VALUES(p) (p)[0], (p)[1], (p)[2], (p)[3], (p)[4], (p)[5], (p)[6], (p)[7]

#define KIND(name, type)                                                               \
  typedef type (*short_##name)(WHOLE_TYPES, REAL_TYPES);                               \
  typedef type (*long_##name)(WHOLE_TYPES, REAL_TYPES, EIGHT_TYPES, EIGHT_TYPES,       \
                              EIGHT_TYPES);                                            \
  static type call_##name(void *address, const passed *p) {                            \
    short_##name few;                                                                  \
    long_##name many;                                                                  \
    memcpy(&few, &address, sizeof few);                                                \
    memcpy(&many, &address, sizeof many);                                              \
    if (!p->words) return few(WHOLE_VALUES(p->whole), EIGHT_VALUES(p->real));          \
    return many(WHOLE_VALUES(p->whole), EIGHT_VALUES(p->real), EIGHT_VALUES(p->word),  \
                EIGHT_VALUES(p->word + 8), EIGHT_VALUES(p->word + 16));                \
  }
KIND(whole, int64_t)
KIND(single, float)
KIND(real, double)
#undef KIND

static bool is_half(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT && dtype.bits == 16;
}

static tvms_scalar call_as(void *address, const passed *p, tvms_dtype result) {
  tvms_scalar value = {.i = 0};
  if (tvms_dtype_is_void(result) || !tvms_dtype_is_real(result)) {
    value.i = call_whole(address, p);
    // C leaves the bits above the type as they are.
    if (tvms_dtype_is_bool(result)) return (tvms_scalar){.i = (value.i & 0xff) != 0};
    bool pointer = tvms_dtype_is_void(result) || tvms_dtype_is_handle(result);
    return pointer ? value : tvms_scalar_fit(value, tvms_interp_dl_type_of(result));
  }
  tvms_dl_type type = tvms_interp_dl_type_of(result);
  if (is_half(result)) {
    double given = call_real(address, p);
    return tvms_dl_element_get(&given, type);
  }
  value.f = result.bits == 64 ? call_real(address, p) : (double)call_single(address, p);
  return tvms_scalar_fit(value, type);
}

// ---- Arguments ----

static bool pass_word(passed *p, int64_t word) {
  if (p->words == WORDS) return false;
  p->word[p->words++] = word;
  return true;
}

static bool pass_whole(passed *p, int64_t value) {
  if (p->wholes == WHOLES) return pass_word(p, value);
  p->whole[p->wholes++] = value;
  return true;
}

// A real stands at the lower end of its register or word. A bfloat16 is passed as a float, as TVM does.
static bool pass_real(passed *p, tvms_scalar value, tvms_dtype dtype) {
  int64_t word = 0;
  if (dtype.code == TVMS_BFLOAT) dtype = TVMS_DTYPE(FLOAT, 32);
  tvms_dl_element_set(&word, tvms_interp_dl_type_of(dtype), value);
  if (p->reals == REALS) return pass_word(p, word);
  memcpy(&p->real[p->reals++], &word, sizeof word);
  return true;
}

static bool pass(tvms_interp_frame *f, passed *p, const tvms_node *node) {
  if (node->kind == TVMS_NODE_STRING_IMM)
    return pass_whole(p, (int64_t)(intptr_t)tvms_as_string_imm(node)->value.text);
  tvms_scalar value = tvms_interp_eval(f, node, 0);
  if (tvms_dtype_is_handle(node->dtype))
    return pass_whole(p, (int64_t)(intptr_t)value.p);
  if (tvms_dtype_is_real(node->dtype)) return pass_real(p, value, node->dtype);
  return pass_whole(p, value.i);
}

tvms_scalar tvms_interp_call_c(tvms_interp_frame *f, const tvms_call *call,
                               void *address) {
  const char *name;
  (void)tvms_meaning_of_extern(call, &name);
  const tvms_node *odd = tvms_meaning_not_of_c(call);
  char type[TVMS_DTYPE_TEXT];
  if (odd)
    fault(f, TVMS_D_not_of_c, odd->span, name, tvms_dtype_text(odd->dtype, type));
#if defined __x86_64__ || defined __aarch64__
  bool known = true;
#else
  bool known = false;
#endif
  passed p = {.wholes = 0};
  for (uint32_t i = 1; i < call->args.len && known; i++)
    known = pass(f, &p, call->args.items[i]);
  if (!known) fault(f, TVMS_D_call_not_interpreted, call->head.span, name);
  return call_as(address, &p, call->head.dtype);
}
