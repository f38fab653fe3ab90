#!/usr/bin/env python3
"""What tests/unit/eval_cases.txt says of expressions of Python is what CPython says of them.

Each line is `expression => value`, the value as Python's repr shows it, or
`expression => Exception E0210`: Python raises it, and tvms reports the diagnostic of that code.
tests/unit/test_eval.c asks the evaluation of tvms for the same values. With `--write` the right
sides are made anew, but for codes.
"""
import os, sys, warnings

CASES = os.path.join(os.environ.get("TVMS_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")), "tests/unit/eval_cases.txt")


def worth(expression):
    """What CPython makes of an expression."""
    try:
        return repr(eval(expression, {}))
    except Exception as raised:
        return type(raised).__name__


def main():
    warnings.simplefilter("ignore")  # of programs that are wrong on purpose
    passed, failed, lines = 0, 0, []
    with open(CASES, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            expression, arrow, expected = line.rstrip("\n").partition(" => ")
            lines.append(line)
            if not arrow:
                continue
            value = worth(expression)
            code = expected.rpartition(" E")[2]
            if value.endswith("Error") and code.isdigit():
                value += " E" + code
            if value == expected:
                passed += 1
                continue
            failed += 1
            lines[-1] = f"{expression} => {value}\n"
            print(f"line {number}: {expression} is {value}, not {expected}")
    if "--write" in sys.argv[1:]:
        with open(CASES, "w", encoding="utf-8") as f:
            f.writelines(lines)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
