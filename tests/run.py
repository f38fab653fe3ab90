#!/usr/bin/env python3
"""Run every suite of a build and end with "N passed, N failed".

    run.py BUILD [SUITE...]

The suites are the tests that meson knows. Each case of a suite counts: Criterion prints
a synthesis, every other suite ends with a line "N passed, N failed". A suite that fails
without counting a failure, or that counts nothing, is one failure. Exit status 77 is a
suite that could not run here; it is shown, and with CI set it is a failure.
"""
import json, os, re, subprocess, sys

CRITERION = re.compile(r"Tested: .*?(\d+).*?Passing: .*?(\d+).*?Failing: .*?(\d+).*?Crashing: .*?(\d+)")
COUNTED = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SKIPPED = 77


def count(output):
    output = COLOUR.sub("", output)
    found = CRITERION.search(output)
    if found:
        _, passed, failing, crashing = map(int, found.groups())
        return passed, failing + crashing
    found = COUNTED.findall(output)
    return tuple(map(int, found[-1])) if found else (0, 0)


def judge(record):
    """Returns passed, failed and a remark for one suite."""
    output = record.get("stdout", "") + "\n" + record.get("stderr", "")
    passed, failed = count(output)
    if record["returncode"] == SKIPPED:
        return passed, failed + bool(os.environ.get("CI")), "SKIPPED " + output.strip().split("\n")[-1]
    good = record["result"] in ("OK", "EXPECTEDFAIL")
    if not good and not failed:
        failed = 1
    if good and not passed:
        return 0, 1, "counted nothing"
    return passed, failed, "" if good else record["result"]


def why_nothing_ran(build, status):
    path = os.path.join(build, "meson-info", "intro-buildoptions.json")
    if not os.path.exists(path):
        return f"{build} is not a build folder: './setup test' makes one and runs all suites"
    with open(path, encoding="utf-8") as f:
        options = {option["name"]: option["value"] for option in json.load(f)}
    if not options["tests"]:
        return (f"{build} is built without tests, as by './setup build': run 'meson configure {build} -Dtests=true' and "
                f"'ninja -C {build}' (this needs the Debian package libcriterion-dev), or './setup test'")
    return f"meson test ended with {status} and left no log"


def main():
    build, suites = sys.argv[1], sys.argv[2:]
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    jobs = os.environ.get("TVMS_JOBS") or str(os.cpu_count() or 1)
    command = ["meson", "test", "-C", build, "--no-rebuild", "--num-processes", jobs, *suites]
    status = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    records = [json.loads(line) for line in open(log, encoding="utf-8")] if os.path.exists(log) else []
    passed = failed = 0
    for record in sorted(records, key=lambda r: r["name"]):
        good, bad, remark = judge(record)
        passed, failed = passed + good, failed + bad
        name = record["name"].split(" / ")[-1]
        print(f"{name:<24} {good:>6} passed {bad:>4} failed {record['duration']:7.1f} s  {remark}".rstrip())
        if bad and not remark.startswith("SKIPPED"):
            print((record.get("stdout", "") + record.get("stderr", ""))[-6000:])
    if not records:
        failed += 1
        print(why_nothing_ran(build, status))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
