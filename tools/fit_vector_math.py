#!/usr/bin/env python3
"""The coefficients of passes/tir/math/vector_math.def, computed anew (python3-mpmath of Debian).

    tools/fit_vector_math.py          prints the rows
    tools/fit_vector_math.py --check  compares them with the table, exit status 1 if they differ

Each row is the polynomial of least largest error (Remez's exchange) over an interval, the error weighed as the
function that uses it needs; of those that are given only the error is computed. Coefficients are rounded to float32 all at once, or one by one from the lowest power on with the others
fitted again to what is left: whichever leaves less. Behind each row stands its largest
error in units of 2^-24 (2^-53: rows of doubles).
"""
import os
import re
import struct
import sys

from mpmath import asin, atan, atanh, cos, erf, erfc, exp, floor, log, lu_solve, matrix, mp, mpf, nstr, pi, sin, sqrt, tanh

mp.prec = 320
TABLE = os.path.join(os.path.dirname(__file__), "..", "passes", "tir", "math", "vector_math.def")


def remez(target, weight, powers, low, high):
    """Coefficients of `powers` so that weight(x) * (sum - target(x)) is least; and that largest error."""
    count = len(powers) + 1
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]
    points[0] += (high - low) * mpf(2) ** -40  # targets may have a hole at an end
    grid = [low + (high - low) * (mpf(i) + mpf(1) / 2) / 1200 for i in range(1200)]
    values = [(x, target(x), weight(x)) for x in grid]
    for _ in range(12):
        system = matrix(count, count)
        right = matrix(count, 1)
        for row, x in enumerate(points):
            for column, power in enumerate(powers):
                system[row, column] = x ** power
            system[row, count - 1] = (-1) ** row / weight(x)
            right[row] = target(x)
        solution = lu_solve(system, right)
        factors = [solution[i] for i in range(count - 1)]
        errors = [w * (sum(f * x ** p for f, p in zip(factors, powers)) - y) for x, y, w in values]
        extremes = []
        for (x, _, _), error in zip(values, errors):  # the largest of each run of one sign
            if extremes and (extremes[-1][1] > 0) == (error > 0):
                if abs(error) > abs(extremes[-1][1]):
                    extremes[-1] = (x, error)
            else:
                extremes.append((x, error))
        while len(extremes) > count:
            extremes.pop(0 if abs(extremes[0][1]) < abs(extremes[-1][1]) else -1)
        largest = max(abs(e) for e in errors)
        if len(extremes) < count or largest <= abs(solution[count - 1]) * mpf("1.0001"):
            break
        points = [x for x, _ in extremes]
    return factors, largest


def rounded(x, double):
    form = "d" if double else "f"
    return mpf(struct.unpack(form, struct.pack(form, float(x)))[0])


def fit(target, weight, powers, low, high, double=False):
    """Fitted and rounded coefficients, lowest power first, and the largest error that they leave."""
    powers, low, high = list(powers), mpf(low), mpf(high)
    grid = [low + (high - low) * (i + mpf(1) / 2) / 2000 for i in range(2000)]
    values = [(x, target(x), weight(x)) for x in grid]

    def error_of(factors):
        return max(abs(w * (y - sum(f * x ** p for f, p in zip(factors, powers)))) for x, y, w in values)

    def rest(x):
        return target(x) - sum(f * x ** p for f, p in zip(fixed, powers))
    fixed = []
    at_once = [rounded(f, double) for f in remez(target, weight, powers, low, high)[0]]
    while len(fixed) < len(powers):
        fixed.append(rounded(remez(rest, weight, powers[len(fixed):], low, high)[0][0], double))
    return min(((f, error_of(f)) for f in (fixed, at_once)), key=lambda pair: pair[1])


def log_ratio(s2):
    """log2((1+s)/(1-s)) / s, of s squared."""
    s = sqrt(s2)
    return log((1 + s) / (1 - s)) / (s * log(2))


half_ln2 = log(2) / 2 * mpf("1.001")
low_f, high_f = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
quarter = (pi / 4 * mpf("1.003")) ** 2


def odd(function, count, bound, double=True):
    """function(x) = x + x^3 * … of x^2, x from 0 to a bound: target, weight, powers, interval, double."""
    return (lambda t: (function(sqrt(t)) / sqrt(t) - 1) / t, lambda t: t * sqrt(t) / function(sqrt(t)), range(0, count), mpf(0), mpf(bound) ** 2, double)


ROWS = [
    # name, target, weight, powers, interval, double
    ("exp", lambda r: exp(r) - 1 - r, lambda r: exp(-r), range(2, 7), -half_ln2, half_ln2, False),
    ("exp_short", lambda r: (exp(r) - 1) / r, lambda r: sqrt(r ** 2 + mpf("1e-4")) * (3 - tanh(12 * r)) / 4, range(0, 5), -half_ln2, half_ln2, False),
    ("exp2", lambda r: mpf(2) ** r - 1, lambda r: mpf(2) ** -r, range(1, 7), mpf("-0.5005"), mpf("0.5005"), False),
    ("exp2_short", lambda r: (mpf(2) ** r - 1) / r, lambda r: sqrt(r ** 2 + mpf("1e-4")) * mpf(2) ** -r, range(0, 5), mpf("-0.5005"), mpf("0.5005"), False),
    ("log", lambda f: (log(1 + f) - f) / f ** 2, lambda f: sqrt(f ** 2 + mpf("0.01")) * f / log(1 + f), range(0, 10), low_f, high_f, False),
    ("erf", lambda t: erf(sqrt(t)) / sqrt(t) - 1, lambda t: sqrt(t) / erf(sqrt(t)), range(0, 6),
     mpf(0), mpf(1), False),
    ("erfc", lambda t: log(erfc(t)) / log(2), lambda t: erfc(t) / erf(t) * log(2), range(1, 8), mpf(1), mpf("3.95"), False),
    ("sin", lambda t: (sin(sqrt(t)) / sqrt(t) - 1) / t, lambda t: t * sqrt(t) / sin(sqrt(t)), range(0, 4),
     mpf(0), quarter, False),
    ("cos", lambda t: cos(sqrt(t)) - 1 + t / 2, lambda t: 1 / cos(sqrt(t)), range(2, 5), mpf(0), quarter, False),
    ("asin", lambda t: (asin(sqrt(t)) / sqrt(t) - 1) / t, lambda t: t * sqrt(t) / asin(sqrt(t)), range(0, 6), mpf(0), mpf("0.25"), False),
    ("atan", lambda t: (atan(sqrt(t)) / sqrt(t) - 1) / t, lambda t: t * sqrt(t) / atan(sqrt(t)), range(0, 10), mpf(0), mpf(1), False),
    ("log2_ratio", log_ratio, lambda t: 1 / log_ratio(t), range(0, 6), mpf(0), mpf("0.02945"), True),
    ("exp_double", lambda r: exp(r) - 1 - r, lambda r: exp(-r), range(2, 12), -half_ln2, half_ln2, True),
    ("log_double", lambda t: (log_ratio(t) * log(2) - 2) / t, lambda t: t / (log_ratio(t) * log(2)), range(0, 7), mpf(0), mpf("0.02945"), True),
    ("log_long", lambda t: (log_ratio(t) * log(2) - 2 - 2 * t / 3) / t ** 2, lambda t: t ** 2 / (log_ratio(t) * log(2)), range(0, 7), mpf("1e-9"), mpf("0.02945"), True),
    ("atanh", *odd(atanh, 4, "0.256", False)),
    ("atanh_double", *odd(atanh, 9, "0.256")),
    ("asin_double", *odd(asin, 12, "0.5")),
    ("atan_double", *odd(atan, 20, "1")),
    ("sin_double", *odd(sin, 6, pi / 4 * mpf("1.003"))),
    ("cos_double", lambda t: cos(sqrt(t)) - 1 + t / 2, lambda t: 1 / cos(sqrt(t)), range(2, 8), mpf(0), quarter, True),
    ("sin_wide", *odd(sin, 4, pi / 4 * mpf("1.003"))),
    ("cos_wide", lambda t: cos(sqrt(t)) - 1 + t / 2, lambda t: 1 / cos(sqrt(t)), range(2, 5), mpf(0), quarter, True),
]


# Rows whose coefficients are given: name, what they stand for as a function of r and their sum at r, weight.
GIVEN = [
    ("exp_minus", lambda r, p: exp(-r) - (1 - r - r ** 2 * p), exp, half_ln2),
    ("exp_part", lambda r, p: (exp(2 * r) - 1) * 3 / 4 - (3 * r / 2 + r ** 2 * p), lambda r: 4 / (3 * (exp(2 * r) - 1)), half_ln2 / 2),
]


# Ends of the ranges of x for which sin and cos have constants of their own, as powers of 2.
ENDS = [42, 60, 78, 96, 114, None]


def short(number):
    return re.sub(r"\.?0*p", "p", float(number).hex())


def ranges():
    """2 / pi without the digits whose product with any x of the range is a multiple of 4, in two doubles."""
    begin = 0
    for end in ENDS:
        unit = mpf(2) ** (25 - begin) if begin else mpf(1)
        rest = 2 / pi - floor(2 / pi / unit) * unit
        high = rounded(rest, True)
        below = "INFINITY" if end is None else f"0x1p{end}"
        yield f"RANGE({below}, {short(high)}, {short(rounded(rest - high, True))})"
        begin = end


def given_rows(table):
    """The rows of GIVEN with the largest errors that they leave."""
    for name, error, weight, bound in GIVEN:
        factors = re.search(rf"^(POLYNOMIAL\({name}, F32, (.*)\))", table, re.M)
        values = [mpf(float.fromhex(f)) for f in factors[2].split(", ")]
        grid = [bound * (mpf(i) + mpf(1) / 2) / 1000 for i in range(-1000, 1000)]
        most = max(abs(weight(r) * error(r, sum(v * r ** i for i, v in enumerate(values)))) for r in grid)
        yield f"{factors[1]}  // given: {nstr(most * mpf(2) ** 24, 3)}"


def rows():
    for name, target, weight, powers, low, high, double in ROWS:
        factors, error = fit(target, weight, powers, low, high, double)
        kind = "F64" if double else "F32"
        error = nstr(error * mpf(2) ** (53 if double else 24), 3)
        yield f"POLYNOMIAL({name}, {kind}, {', '.join(map(short, factors))})  // {error}"
    yield from ranges()


if __name__ == "__main__":
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    made = [*rows(), *given_rows(text)]
    if sys.argv[1:] == ["--check"]:
        table = text.splitlines()
        missing = [row for row in made if row not in table]
        print("\n".join(missing) if missing else f"{len(made)} rows are as computed")
        sys.exit(bool(missing))
    print("\n".join(made))
