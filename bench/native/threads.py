#!/usr/bin/env python3
"""What threads gain: kernels of 10 us to some ms, and whole models, on several threads against one.

    python3 bench/native/threads.py build-rel [--only PATTERN] [--threads N] [--turns N] [--out bench/native/results]

Each library is loaded by two processes, one with one thread and one with as many as are asked for, which take turns of some milliseconds; wall time, the least of
all calls, so on a shared machine it is enough that the processors are free for one call. Both must give the same bits.
"""
import argparse, os, re, subprocess, sys, tempfile, time

import models, rows, schedules

TURN = 0.02  # seconds, and at least two calls


def kernels():
    for n in (48, 96, 128, 192, 256, 384):
        m = models.Model(f"product of {n} x {n} x {n}", n, n)
        m.dense("x", n)
        yield m
    for n, k in ((1, 1024), (1, 4096), (16, 1024)):
        m = models.Model(f"{n} row{'s' * (n > 1)} times {k} x {k}", n, k)
        m.dense("x", k)
        yield m
    for shape in ((64, 64), (128, 256), (256, 1024), (1024, 1024)):
        elements = " x ".join(map(str, shape))
        for name, make in (("sum", lambda m: m.plus("x", "x")), ("gelu", lambda m: m.add(shape, "R.nn.gelu(x)", "", [])),
                           ("softmax", lambda m: m.add(shape, "R.nn.softmax(x, axis=-1)", "", [])), ("layer norm", lambda m: m.norm("x")),
                           ("transpose", lambda m: m.add(shape[::-1], "R.permute_dims(x)", "", []))):
            m = models.Model(f"{name} of {elements}", *shape)
            make(m)
            yield m
    for shape in ((1, 32, 28, 28), (1, 64, 56, 56), (1, 256, 56, 56)):
        m = models.Model(f"depthwise 3x3 of {' x '.join(map(str, shape))}", *shape)
        m.conv("x", shape[1], 3, groups=shape[1], norm=False)
        yield m


def child(path, shape):
    """Answers each line with the least time of the calls of one turn; the first line names a file for the result."""
    import numpy, tvm_ffi
    main = tvm_ffi.load_module(path)["main"]
    given = tvm_ffi.from_dlpack(schedules.aligned(numpy.random.default_rng(1).random(shape, "f4") - 0.5))
    numpy.save(sys.stdin.readline().strip(), numpy.from_dlpack(main(given)))
    print("ready", flush=True)
    for _ in sys.stdin:
        least, end, calls = float("inf"), time.perf_counter() + TURN, 0
        while calls < 2 or time.perf_counter() < end:
            begin = time.perf_counter()
            main(given)
            least = min(least, time.perf_counter() - begin)
            calls += 1
        print(least, flush=True)


def measure(library, shape, threads, turns, folder):
    import numpy
    command = [sys.executable, os.path.abspath(__file__), "--child", library, *map(str, shape)]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ, TVMS_NUM_THREADS=str(n))) for n in (1, threads)]

    def ask(process, line):
        print(line, file=process.stdin, flush=True)
        return process.stdout.readline().strip()

    files = [os.path.join(folder, f"result{i}.npy") for i in range(2)]
    for process, file in zip(children, files):
        if ask(process, file) != "ready":
            sys.exit(f"{library}: no result")
    least = [float("inf")] * 2
    for _ in range(turns):
        for i, process in enumerate(children):
            least[i] = min(least[i], float(ask(process, "")))
    for process in children:
        process.stdin.close()
        process.wait()
    one, more = map(numpy.load, files)
    if one.tobytes() != more.tobytes():
        sys.exit(f"{library}: threads give another result")
    return least


def inside(tvms, given):
    lines = [f"{given.threads} threads against one; wall time.", "", f"| what | 1 thread, ms | {given.threads} threads, ms | faster |", "| --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for model in (*kernels(), *models.models()):
            if not re.search(given.only, model.name):
                continue
            library, _ = models.built(tvms, model, folder)
            one, more = measure(library, model.input, given.threads, given.turns, folder)
            lines.append(f"| {model.name} | {one * 1e3:.4f} | {more * 1e3:.4f} | {one / more:.2f} |")
            print(lines[-1], flush=True)
    models.keep(lines, "threads", 1, given.out)


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], tuple(map(int, sys.argv[3:])))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only what has a name that it matches")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--out", help="folder for threads.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return inside(os.path.join(given.build, "tvms"), given)
    return subprocess.run([rows.peers_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
