#!/usr/bin/env python3
"""How fast the interpreter is: iterations of the innermost loop of typical kernels, per second of CPU time.

    run.py [BUILD] [--against PROGRAM] [--runs N] [--out FOLDER]

Each file of kernels/ says how many iterations it has. What counts is the CPU time of a whole `tvms run --backend interp`, from
reading the file to showing the result: the median of N runs (7) of each kernel, and of PROGRAM (another tvms) in turns with it.
Writes a table (Markdown) to standard output, and with --out also report.md and report.json. The results of both must be the same.
"""
import argparse, json, os, re, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ITERATIONS = re.compile(r"^# ITERATIONS: (\d+)$", re.M)


def run_once(program, path):
    """CPU seconds of a run, and what it wrote."""
    with tempfile.TemporaryFile() as out:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        child = os.posix_spawn(program, [program, "run", "--backend", "interp", path], os.environ, file_actions=actions)
        _, status, used = os.wait4(child, 0)
        if status:
            sys.exit(f"{program} run {path} failed: {status}")
        out.seek(0)
        return used.ru_utime + used.ru_stime, out.read()


def measure(programs, path, runs):
    """Median CPU seconds of each program, in turns."""
    times = [[] for _ in programs]
    for _ in range(runs):
        said = set()
        for row, program in zip(times, programs):
            seconds, text = run_once(program, path)
            row.append(seconds)
            said.add(text)
        if len(said) != 1:
            sys.exit(f"{path}: the results differ")
    return [statistics.median(row) for row in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--against")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out")
    options = parser.parse_args()
    programs = [os.path.join(options.build, "tvms")] + ([options.against] if options.against else [])
    head = ["kernel", "iterations", "million a second"] + (["before", "ratio"] if options.against else [])
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    report = {}
    for name in sorted(os.listdir(os.path.join(HERE, "kernels"))):
        path = os.path.join(HERE, "kernels", name)
        with open(path, encoding="utf-8") as f:
            count = int(ITERATIONS.search(f.read()).group(1))
        seconds = measure(programs, path, options.runs)
        speeds = [count / s / 1e6 for s in seconds]
        row = [name[:-5], f"{count:,}", f"{speeds[0]:.1f}"]
        row += [f"{speeds[1]:.1f}", f"{speeds[0] / speeds[1]:.1f}"] if options.against else []
        lines.append("| " + " | ".join(row) + " |")
        report[name[:-5]] = {"iterations": count, "seconds": seconds}
        print(lines[-1], file=sys.stderr)
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        with open(os.path.join(options.out, "report.md"), "w", encoding="utf-8") as f:
            f.write(text)
        with open(os.path.join(options.out, "report.json"), "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()
