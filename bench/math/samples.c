// Functions of float64, or of two arguments, that tvms has compiled, on many random arguments, MPFR being the judge.
//
//   samples LIBRARY NAME TYPE COUNT   the PrimFunc NAME_TYPE takes buffers of 65536 numbers of TYPE (float32, float64): one or two in, one out;
//                                     COUNT: how many blocks of arguments
//
// Half of the arguments have any bits, the others are of common sizes or near to what functions change their ways at; pairs
// are also neighbours and multiples of each other. Writes one line: the largest error in units in the last place, where, and how many are wrong (NaN, infinity or sign).
#include "runtime/abi.h"

#include <dlfcn.h>
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536, BITS = 160 };

typedef int one_argument(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int two_arguments(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int exact_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  mpfr_neg(y, x, mode);
  mpfr_exp(y, y, mode);
  mpfr_add_ui(y, y, 1, mode);
  return mpfr_ui_div(y, 1, y, mode);
}

typedef struct {
  const char *name;
  one_argument *one;
  two_arguments *two;
} function;

static const function functions[] = {
    {"exp", mpfr_exp, NULL},     {"exp2", mpfr_exp2, NULL},
    {"exp10", mpfr_exp10, NULL}, {"log", mpfr_log, NULL},
    {"log2", mpfr_log2, NULL},   {"log10", mpfr_log10, NULL},
    {"log1p", mpfr_log1p, NULL}, {"tanh", mpfr_tanh, NULL},
    {"sinh", mpfr_sinh, NULL},   {"cosh", mpfr_cosh, NULL},
    {"asinh", mpfr_asinh, NULL}, {"acosh", mpfr_acosh, NULL},
    {"atanh", mpfr_atanh, NULL}, {"sigmoid", exact_sigmoid, NULL},
    {"erf", mpfr_erf, NULL},     {"sin", mpfr_sin, NULL},
    {"cos", mpfr_cos, NULL},     {"tan", mpfr_tan, NULL},
    {"asin", mpfr_asin, NULL},   {"acos", mpfr_acos, NULL},
    {"atan", mpfr_atan, NULL},   {"rsqrt", mpfr_rec_sqrt, NULL},
    {"pow", NULL, mpfr_pow},     {"atan2", NULL, mpfr_atan2},
    {"fmod", NULL, mpfr_fmod},
};

typedef struct {
  const function *f;
  bool wide;
  mpfr_t x, y, value;
  uint64_t state, wrong;
  double worst, at[2];
} judge;

static uint64_t random_bits(judge *j) {
  uint64_t z = j->state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static double between(judge *j, double low, double high) {
  return low + (high - low) * (double)(random_bits(j) >> 11) * 0x1p-53;
}

static double any(judge *j) {
  uint64_t bits = random_bits(j);
  double wide;
  memcpy(&wide, &bits, sizeof wide);
  float narrow;
  uint32_t low = (uint32_t)bits;
  memcpy(&narrow, &low, sizeof narrow);
  return j->wide ? wide : (double)narrow;
}

static double argument(judge *j) {
  double sign = random_bits(j) & 1 ? -1 : 1;
  switch (random_bits(j) % 8) {
  case 0: return sign * exp2(between(j, -6, 10));
  case 1: return between(j, -2, 2);
  case 2: return sign * (1 + exp2(between(j, -53, 0)) * sign);
  case 3: return between(j, -750, 720) / (j->wide ? 1 : 8);
  case 4:  // near quarters of turns
    return sign * (floor(exp2(between(j, 0, 40))) * M_PI_2 + exp2(between(j, -60, 0)));
  default: return any(j);
  }
}

// What goes with x.
static double partner(judge *j, double x) {
  switch (random_bits(j) % 8) {
  case 0: return x * (1 + exp2(between(j, -53, 0)));
  case 1: return x * exp2(between(j, -250, 250));
  case 2: return (double)((int64_t)(random_bits(j) % 64) - 32);
  case 3:
  case 4:
    return between(j, -1080, 1030) / log2(fabs(x) * (1 + 0x1p-50)) / (j->wide ? 1 : 8);
  default: return argument(j);
  }
}

// The distance of numbers around a real.
static double unit_of(const judge *j, double real) {
  int exponent;
  frexp(real, &exponent);
  int least = j->wide ? -1021 : -125;
  return ldexp(1, (exponent < least ? least : exponent) - (j->wide ? 53 : 24));
}

static void wrong(judge *j, const double *x, double got) {
  if (j->wrong++ < 5)
    fprintf(stderr, "%s(%a, %a): %a instead of %a\n", j->f->name, x[0], x[1], got,
            mpfr_get_d(j->value, MPFR_RNDN));
}

static void judge_one(judge *j, const double *x, double got) {
  mpfr_set_d(j->x, x[0], MPFR_RNDN);
  mpfr_set_d(j->y, x[1], MPFR_RNDN);
  if (j->f->one)
    j->f->one(j->value, j->x, MPFR_RNDN);
  else
    j->f->two(j->value, j->x, j->y, MPFR_RNDN);
  double want = mpfr_get_d(j->value, MPFR_RNDN), top = j->wide ? 0x1p1023 : 0x1p128;
  if (isnan(want) || isnan(got) || signbit(want) != signbit(got)) {
    if (!(isnan(want) && isnan(got))) wrong(j, x, got);
    return;
  }
  if (mpfr_inf_p(j->value) ? isinf(got) : want == got) return;
  if (mpfr_inf_p(j->value)) return wrong(j, x, got);
  // Infinity counts as the power of two behind the greatest number; of float64 that is computed in halves.
  double half = j->wide && fabs(want) > 1 ? 0.5 : 1,
         value = isinf(got) ? copysign(top, got) : got * half;
  double unit = unit_of(j, fabs(want) > top ? top : want) * half;
  mpfr_mul_d(j->value, j->value, half, MPFR_RNDN);
  mpfr_sub_d(j->value, j->value, value, MPFR_RNDN);
  mpfr_div_d(j->value, j->value, unit, MPFR_RNDN);
  double error = fabs(mpfr_get_d(j->value, MPFR_RNDN));
  if (!j->wide && isinf(got) && fabs(want) > top) return;
  if (error <= j->worst) return;
  j->worst = error;
  memcpy(j->at, x, sizeof j->at);
}

static double element(const judge *j, const void *data, int i) {
  return j->wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void set(const judge *j, void *data, int i, double value) {
  if (j->wide)
    ((double *)data)[i] = value;
  else
    ((float *)data)[i] = (float)value;
}

static void run(judge *j, tvms_safe_call compiled, int blocks) {
  static _Alignas(64) double data[3][BLOCK];
  int64_t shape[] = {BLOCK};
  tvms_dl_tensor tensors[3];
  tvms_any args[3];
  int count = j->f->one ? 2 : 3;
  for (int i = 0; i < 3; i++) {
    tensors[i] =
        (tvms_dl_tensor){.data = data[i], .device = {1, 0}, .ndim = 1, .shape = shape};
    tensors[i].dtype.code = 2;
    tensors[i].dtype.bits = j->wide ? 64 : 32;
    tensors[i].dtype.lanes = 1;
    args[i < count ? i : 2] =
        (tvms_any){.type_index = TVMS_ANY_DL_TENSOR, .v.p = &tensors[i]};
  }
  while (blocks-- > 0) {
    for (int i = 0; i < BLOCK; i++) {
      set(j, data[0], i, argument(j));
      set(j, data[1], i, partner(j, element(j, data[0], i)));
    }
    tvms_any result = {0};
    if (compiled(NULL, args, count, &result)) exit(3);
    for (int i = 0; i < BLOCK; i++) {
      double x[] = {element(j, data[0], i), count == 3 ? element(j, data[1], i) : 0};
      judge_one(j, x, element(j, data[count - 1], i));
    }
  }
}

int main(int count, char **args) {
  if (count != 5) return 2;
  void *library = dlopen(args[1], RTLD_NOW);
  char symbol[64];
  snprintf(symbol, sizeof symbol, TVMS_SAFE_CALL_PREFIX "%s_%s", args[2], args[3]);
  void *compiled = library ? dlsym(library, symbol) : NULL;
  if (!compiled) return fprintf(stderr, "%s: no %s\n", args[1], symbol), 2;
  judge j = {.wide = !strcmp(args[3], "float64")};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (!strcmp(functions[i].name, args[2])) j.f = &functions[i];
  if (!j.f) return fprintf(stderr, "%s: no such function\n", args[2]), 2;
  mpfr_inits2(BITS, j.x, j.y, j.value, (mpfr_ptr)0);
  run(&j, (tvms_safe_call)compiled, atoi(args[4]));
  printf("%s %.3f %a %a %llu\n", args[2], j.worst, j.at[0], j.at[1],
         (unsigned long long)j.wrong);
  return j.wrong || j.worst > 2;
}
