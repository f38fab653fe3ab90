// Functions and constants of Python's module math and of numpy that only compute a number.
//
// The source of the rules: CPython's math module and numpy; what they compute of a number of
// another kind, or with more arguments than these, stays unknown.
#include "parser/python_math.h"

#include "parser/eval/iterate.h"
#include "parser/eval/signature.h"
#include "support/trial.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *path;
  double value;
} constants[] = {
    {"math.pi", 3.141592653589793},  {"numpy.pi", 3.141592653589793},
    {"math.e", 2.718281828459045},   {"numpy.e", 2.718281828459045},
    {"math.inf", __builtin_inf()},   {"numpy.inf", __builtin_inf()},
    {"math.nan", __builtin_nan("")}, {"numpy.nan", __builtin_nan("")},
};

// Everything that Python's math has (3.13).
static const char *const members[] = {
    "acos",    "acosh",     "asin",    "asinh",     "atan",      "atan2",    "atanh",
    "cbrt",    "ceil",      "comb",    "copysign",  "cos",       "cosh",     "degrees",
    "dist",    "e",         "erf",     "erfc",      "exp",       "exp2",     "expm1",
    "fabs",    "factorial", "floor",   "fma",       "fmod",      "frexp",    "fsum",
    "gamma",   "gcd",       "hypot",   "inf",       "isclose",   "isfinite", "isinf",
    "isnan",   "isqrt",     "lcm",     "ldexp",     "lgamma",    "log",      "log10",
    "log1p",   "log2",      "modf",    "nan",       "nextafter", "perm",     "pi",
    "pow",     "prod",      "radians", "remainder", "sin",       "sinh",     "sqrt",
    "sumprod", "tan",       "tanh",    "tau",       "trunc",     "ulp",
};
enum { MEMBERS = sizeof members / sizeof members[0] };

bool tvms_python_math_lacks(const char *path, const char *TVMS_NULLABLE *near) {
  if (strncmp(path, "math.", 5) != 0 || path[5] == '_') return false;
  for (size_t i = 0; i < MEMBERS; i++) {
    if (strcmp(members[i], path + 5) == 0) return false;
  }
  *near = tvms_diag_nearest_name(path + 5, members, MEMBERS);
  return true;
}

tvms_eval_value tvms_python_math_constant(const char *path) {
  for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
    if (strcmp(constants[i].path, path) == 0)
      return tvms_eval_value_float(constants[i].value);
  }
  return TVMS_UNKNOWN;
}

// `least`: of the numbers that it is defined for.
static const struct {
  const char *path;
  double (*compute)(double);
  bool to_int;
  double least;
} functions[] = {
    {"math.ceil", ceil, true, -1e15},   {"math.floor", floor, true, -1e15},
    {"math.trunc", trunc, true, -1e15}, {"math.sqrt", sqrt, false, 0},
    {"math.log2", log2, false, 1e-300}, {"math.exp", exp, false, -1e3},
    {"math.log", log, false, 1e-300},   {"math.log10", log10, false, 1e-300},
};

static bool number_of(tvms_eval_value value, double *number) {
  bool whole = value.kind == TVMS_EVAL_INT && !(value.flags & TVMS_EVAL_LARGE);
  if (!whole && value.kind != TVMS_EVAL_FLOAT) return false;
  *number = whole ? (double)value.as.i : value.as.f;
  return true;
}

static tvms_eval_value product(tvms_reader *reader, tvms_eval_value list,
                               tvms_ref call) {
  tvms_eval_items items;
  int64_t all = 1;
  if (!tvms_eval_value_is_sequence(list)
      || !tvms_eval_iterate(reader, list, call, &items))
    return TVMS_UNKNOWN;
  for (uint32_t i = 0; i < items.len; i++) {
    bool whole = items.items[i].kind == TVMS_EVAL_INT
                 && !(items.items[i].flags & TVMS_EVAL_LARGE);
    if (!whole || __builtin_mul_overflow(all, items.items[i].as.i, &all))
      return TVMS_UNKNOWN;
  }
  return tvms_eval_value_int(all);
}

static tvms_eval_value compute(tvms_reader *reader, const char *path,
                               tvms_eval_value given, tvms_ref call) {
  double x;
  if (strcmp(path, "math.prod") == 0 || strcmp(path, "numpy.prod") == 0)
    return product(reader, given, call);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (strcmp(functions[i].path, path) != 0) continue;
    if (!number_of(given, &x) || !(x >= functions[i].least) || x > 1e15) break;
    double result = functions[i].compute(x);
    if (!functions[i].to_int) return tvms_eval_value_float(result);
    return tvms_eval_value_int((int64_t)result);
  }
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_python_math_call(tvms_reader *reader, const char *path,
                                      tvms_ref call) {
  if (strncmp(path, "math.", 5) != 0 && strncmp(path, "numpy.", 6) != 0)
    return TVMS_UNKNOWN;
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_trial_mute(&reader->context->diags);
  bool fits = tvms_signature_bind_method(reader, "x", path, call, args);
  tvms_eval_value value = fits ? compute(reader, path, args[0], call) : TVMS_UNKNOWN;
  tvms_trial_unmute(&reader->context->diags);
  if (!fits || tvms_eval_value_is_known(value)) return value;
  if (!tvms_eval_value_is_known(args[0]))
    tvms_eval_assume_wanted(reader, args[0], TVMS_WANTED_NUMBER);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (strcmp(functions[i].path, path) == 0 && tvms_eval_assume_is_in(reader, args[0]))
      return tvms_eval_assume_result(reader, call, !functions[i].to_int);
  }
  return value;
}
