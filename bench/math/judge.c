// All 2^32 floats through a function that tvms has compiled, compared with float64, MPFR deciding where that is close.
//
//   judge LIBRARY NAME [N]   the PrimFunc NAME_float32 takes buffers of 65536 float32: in, out; N: every N-th block of them only
//
// Writes one line: the largest error in units in the last place and where, how many results are not the nearest float, and
// how many are wrong (NaN, infinity or sign). Reference: libmvec, within 4 units of float64; what is
// within 2^-16 of a tie or above the largest error so far is computed again with 200 bits.
#include "runtime/abi.h"

#include <dlfcn.h>
#include <immintrin.h>
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536 };

typedef __m256d vector;

#define VECTOR(name) vector _ZGVdN4v_##name(vector)
VECTOR(exp);
VECTOR(exp2);
VECTOR(exp10);
VECTOR(log);
VECTOR(log2);
VECTOR(log10);
VECTOR(tanh);
VECTOR(erf);
VECTOR(sin);
VECTOR(cos);
VECTOR(asin);
VECTOR(acos);
VECTOR(atan);
VECTOR(tan);
VECTOR(log1p);
VECTOR(sinh);
VECTOR(cosh);
VECTOR(asinh);
VECTOR(acosh);
VECTOR(atanh);

static vector vector_sigmoid(vector x) {
  vector one = _mm256_set1_pd(1);
  return _mm256_div_pd(
      one, _mm256_add_pd(one, _ZGVdN4v_exp(_mm256_sub_pd(_mm256_setzero_pd(), x))));
}

static vector vector_rsqrt(vector x) {
  return _mm256_div_pd(_mm256_set1_pd(1), _mm256_sqrt_pd(x));
}

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

static double rsqrt(double x) {
  return 1 / sqrt(x);
}

static int exact_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  mpfr_neg(y, x, mode);
  mpfr_exp(y, y, mode);
  mpfr_add_ui(y, y, 1, mode);
  return mpfr_ui_div(y, 1, y, mode);
}

double exp10(double);

typedef struct {
  const char *name;
  vector (*four)(vector);
  double (*one)(double);
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
} function;

static const function functions[] = {
    {"exp", _ZGVdN4v_exp, exp, mpfr_exp},
    {"exp2", _ZGVdN4v_exp2, exp2, mpfr_exp2},
    {"exp10", _ZGVdN4v_exp10, exp10, mpfr_exp10},
    {"log", _ZGVdN4v_log, log, mpfr_log},
    {"log2", _ZGVdN4v_log2, log2, mpfr_log2},
    {"log10", _ZGVdN4v_log10, log10, mpfr_log10},
    {"tanh", _ZGVdN4v_tanh, tanh, mpfr_tanh},
    {"erf", _ZGVdN4v_erf, erf, mpfr_erf},
    {"sin", _ZGVdN4v_sin, sin, mpfr_sin},
    {"cos", _ZGVdN4v_cos, cos, mpfr_cos},
    {"asin", _ZGVdN4v_asin, asin, mpfr_asin},
    {"acos", _ZGVdN4v_acos, acos, mpfr_acos},
    {"atan", _ZGVdN4v_atan, atan, mpfr_atan},
    {"tan", _ZGVdN4v_tan, tan, mpfr_tan},
    {"log1p", _ZGVdN4v_log1p, log1p, mpfr_log1p},
    {"sinh", _ZGVdN4v_sinh, sinh, mpfr_sinh},
    {"cosh", _ZGVdN4v_cosh, cosh, mpfr_cosh},
    {"asinh", _ZGVdN4v_asinh, asinh, mpfr_asinh},
    {"acosh", _ZGVdN4v_acosh, acosh, mpfr_acosh},
    {"atanh", _ZGVdN4v_atanh, atanh, mpfr_atanh},
    {"sigmoid", vector_sigmoid, sigmoid, exact_sigmoid},
    {"rsqrt", vector_rsqrt, rsqrt, mpfr_rec_sqrt},
};

typedef struct {
  const function *f;
  mpfr_t x, y, got;
  double worst;  // units in the last place
  float worst_at;
  uint64_t not_nearest, wrong;
} judge;

// The distance of floats around a real.
static double unit_of(double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  int exponent = (int)(bits >> 52 & 2047);
  if (exponent < 897) exponent = 897;
  if (exponent > 1150) exponent = 1150;
  bits = (uint64_t)(exponent - 23) << 52;
  memcpy(&real, &bits, sizeof real);
  return real;
}

// |got - exact| in units, of 200 bits.
static double exact_error(judge *j, float x, double got, double unit) {
  mpfr_set_d(j->x, (double)x, MPFR_RNDN);
  j->f->exact(j->y, j->x, MPFR_RNDN);
  mpfr_sub_d(j->y, j->y, got, MPFR_RNDN);
  mpfr_div_d(j->y, j->y, unit, MPFR_RNDN);
  return fabs(mpfr_get_d(j->y, MPFR_RNDN));
}

static void report(judge *j, float x, float got, double want) {
  if (j->wrong++ < 5)
    fprintf(stderr, "%s(%a): %a instead of %a\n", j->f->name, (double)x, (double)got,
            want);
}

static void judge_one(judge *j, float x, float got, double want) {
  if (!isfinite(x) || x == 0) want = j->f->one((double)x);
  if (isnan(want) || isinf(want) || isnan(got)) {
    bool same = isnan(want) ? isnan(got) : (double)got == want;
    if (!same) report(j, x, got, want);
    return;
  }
  if (!signbit(want) != !signbit(got)) report(j, x, got, want);
  if (fabs(want) > 0x1p128) want = copysign(0x1p128, want);  // as infinity
  double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got,
         unit = unit_of(want);
  double error = fabs(value - want) / unit;
  if (error > j->worst + 1e-3 || fabs(error - 0.5) < 0x1p-16)
    error = exact_error(j, x, value, unit);
  if (error > 0.5) j->not_nearest++;
  if (error > j->worst) {
    j->worst = error;
    j->worst_at = x;
  }
}

static void judge_block(judge *j, const float *in, const float *out) {
  for (int i = 0; i < BLOCK; i += 4) {
    double want[4];
    _mm256_storeu_pd(want, j->f->four(_mm256_cvtps_pd(_mm_loadu_ps(in + i))));
    for (int k = 0; k < 4; k++)
      judge_one(j, in[i + k], out[i + k], want[k]);
  }
}

static tvms_dl_tensor tensor_of(float *data, int64_t *shape) {
  tvms_dl_tensor t = {.data = data, .device = {1, 0}, .ndim = 1, .shape = shape};
  t.dtype.code = 2;
  t.dtype.bits = 32;
  t.dtype.lanes = 1;
  return t;
}

static void run(judge *j, tvms_safe_call compiled, uint32_t step) {
  static _Alignas(64) float in[BLOCK], out[BLOCK];
  int64_t shape[] = {BLOCK};
  tvms_dl_tensor a = tensor_of(in, shape), b = tensor_of(out, shape);
  tvms_any args[] = {{.type_index = TVMS_ANY_DL_TENSOR, .v.p = &a},
                     {.type_index = TVMS_ANY_DL_TENSOR, .v.p = &b}};
  for (uint32_t high = 0; high < 65536; high += step) {
    for (uint32_t low = 0; low < BLOCK; low++) {
      uint32_t bits = high << 16 | low;
      memcpy(&in[low], &bits, sizeof bits);
    }
    tvms_any result = {0};
    if (compiled(NULL, args, 2, &result)) exit(3);
    judge_block(j, in, out);
  }
}

int main(int count, char **args) {
  if (count < 3 || count > 4) return 2;
  uint32_t step = count == 4 ? (uint32_t)atoi(args[3]) : 1;
  if (!step) return 2;
  void *library = dlopen(args[1], RTLD_NOW);
  char symbol[64];
  snprintf(symbol, sizeof symbol, TVMS_SAFE_CALL_PREFIX "%s_float32", args[2]);
  void *compiled = library ? dlsym(library, symbol) : NULL;
  if (!compiled) return fprintf(stderr, "%s: no %s\n", args[1], symbol), 2;
  judge j = {0};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (!strcmp(functions[i].name, args[2])) j.f = &functions[i];
  if (!j.f) return fprintf(stderr, "%s: no such function\n", args[2]), 2;
  mpfr_inits2(200, j.x, j.y, j.got, (mpfr_ptr)0);
  run(&j, (tvms_safe_call)compiled, step);
  printf("%s %.3f %a %llu %llu\n", args[2], j.worst, (double)j.worst_at,
         (unsigned long long)j.not_nearest, (unsigned long long)j.wrong);
  return j.wrong || j.worst > 2;
}
