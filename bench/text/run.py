#!/usr/bin/env python3
"""The text bench: how fast tvms reads, prints and formats, as ratios to what can be known here.

    run.py [BUILD] [--out FOLDER] [--stock-tvm [PYTHON]]

BUILD is a release build (default: build). Everything is measured in one run on one machine, what is compared in turns: CPU time,
the median of several passes; only start-up is wall time too. Writes a table (Markdown) to standard output, and with --out also
report.md, report.json and report.svg. Peers: `limit` (bench/text/limit.re, what the work costs at least), mlir-opt of Debian's
mlir-19-tools if it is installed, stock TVM 0.27 with --stock-tvm (in PYTHON, or else as the oracle tests install it). Nothing of
this runs in the tests.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def run_once(command):
    """CPU and wall seconds, and peak memory in bytes, of a command."""
    quiet = os.open(os.devnull, os.O_RDWR)
    begin = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, quiet, 0), (os.POSIX_SPAWN_DUP2, quiet, 1)]
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - begin
    os.close(quiet)
    if status:
        sys.exit(f"{' '.join(command)} failed: {status}")
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024


def compare(commands, runs):
    """The same of several commands, medians of runs in turns: what the machine does besides meets all of them."""
    measured = [[] for _ in commands]
    for run in range(runs + 1):
        for rows, command in zip(measured, commands):
            row = run_once(command)
            if run:
                rows.append(row)
    return [tuple(statistics.median(column) for column in zip(*rows)) for rows in measured]


def limit_stages(program, path, runs):
    text = subprocess.run([program, "bench", path, str(runs)], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return {row[0]: float(row[1]) / 1e3 for row in rows[1:]}


def own_stages(program, path, runs):
    text = subprocess.run([program, path, str(runs)], capture_output=True, text=True, check=True).stdout
    return {name: float(seconds) for name, seconds in (line.split("\t") for line in text.splitlines())}


def generated(folder, size, *options):
    path = os.path.join(folder, f"{'-'.join((str(size),) + options).replace('--', '')}.tvms")
    with open(path, "w") as f:
        subprocess.run([sys.executable, os.path.join(HERE, "generate.py"), str(size), *options], stdout=f, check=True)
    return path


def lines_of(path):
    return sum(1 for _ in open(path, "rb"))


def mlir_text(size):
    """Loops over buffers in MLIR, as dense as the TVMScript."""
    parts, number, written = [], 0, 0
    while written < size:
        n, m = 16 + number % 100, 8 + number % 50
        parts.append(f"""func.func @f{number}(%a: memref<{n}x{m}xf32>, %b: memref<{n}x{m}xf32>) {{
  affine.for %i = 0 to {n} {{
    affine.for %j = 0 to {m} {{
      %x = affine.load %a[%i, %j] : memref<{n}x{m}xf32>
      %c = arith.constant 0.5 : f32
      %y = arith.mulf %x, %c : f32
      %z = arith.addf %y, %x : f32
      affine.store %z, %b[%i, %j] : memref<{n}x{m}xf32>
    }}
  }}
  return
}}
""")
        written += len(parts[-1])
        number += 1
    return "".join(parts)


def stock_tvm(sample, python):
    """Wall seconds per byte of reading and printing in stock TVM, which gets one definition at a time."""
    sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "oracle")]
    from stock import Stock
    head, *definitions = sample.split("\n\n@")
    stock, seconds, size = Stock("0.27"), 0.0, 0
    if python:
        stock.command[0] = python
    stock.ask(text=f"{head}\n\n@{definitions[0]}")
    for definition in definitions[:100]:
        text = f"{head}\n\n@{definition}"
        begin = time.perf_counter()
        answer = stock.ask(text=text)
        if "print" in answer:
            seconds, size = seconds + time.perf_counter() - begin, size + len(text)
    stock.stop()
    return seconds / size


class Report:
    def __init__(self):
        self.rows, self.facts = [], {}

    def row(self, what, seconds, path, ratio=None, goal=None, to=""):
        size, lines = os.path.getsize(path), lines_of(path)
        self.rows.append({"what": what, "seconds": seconds, "MB/s": size / seconds / 1e6, "ns/line": seconds * 1e9 / lines,
                          "ratio": ratio, "goal": goal, "to": to})

    def table(self):
        lines = ["| what | MB/s | ns/line | ratio | to | goal |", "| --- | ---: | ---: | ---: | --- | ---: |"]
        for r in self.rows:
            ratio = f"{r['ratio']:.2f}" if r["ratio"] is not None else ""
            goal = f"{r['goal']}" if r["goal"] is not None else ""
            lines.append(f"| {r['what']} | {r['MB/s']:.1f} | {r['ns/line']:.0f} | {ratio} | {r['to']} | {goal} |")
        lines += ["", "| fact | value |", "| --- | ---: |"]
        lines += [f"| {k} | {v} |" for k, v in self.facts.items()]
        return "\n".join(lines) + "\n"

    def plot(self):
        """Ratios as bars, with a mark at the goal."""
        rows = [r for r in self.rows if r["ratio"] is not None and r["goal"]]
        height = 28 * len(rows) + 30
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="960" height="{height}" font-family="sans-serif" font-size="13">']
        for i, r in enumerate(rows):
            y, share = 10 + 28 * i, r["ratio"] / r["goal"]
            width = min(share, 2.5) * 150
            color = "#2a7" if share >= 1 else "#c53"
            out.append(f'<text x="300" y="{y + 15}" text-anchor="end">{r["what"]}</text>')
            out.append(f'<rect x="310" y="{y}" width="{width:.0f}" height="20" fill="{color}"/>')
            out.append(f'<text x="{316 + width:.0f}" y="{y + 15}">{r["ratio"]:.2f} x {r["to"]}</text>')
            out.append(f'<line x1="460" x2="460" y1="{y - 3}" y2="{y + 23}" stroke="black"/>')
        out.append(f'<text x="460" y="{height - 6}" text-anchor="middle">goal</text></svg>')
        return "\n".join(out) + "\n"


def stages_of(limit, stages, path, label, runs, report):
    least, own = limit_stages(limit, path, runs), own_stages(stages, path, runs)
    report.row(f"lex, {label}", own["lex"], path, least["lex, 8-byte tokens stored"] / own["lex"], 0.8, "limit")
    report.row(f"text to surface tree, {label}", own["parse"], path, least["lex + intern + parse"] / own["parse"], 0.5, "limit")


def whole(tvms, limit, path, label, runs, report):
    """Whole processes; returns what print and fmt took."""
    verbs = (("print", 0.35), ("fmt", 0.4), ("check", None), ("infer", None))
    floor, *rest = compare([[limit, "print", path]] + [[tvms, verb, path] for verb, _ in verbs], runs)
    report.row(f"limit print, {label}", floor[0], path)
    for (verb, goal), (cpu, _, _) in zip(verbs, rest):
        report.row(f"tvms {verb}, {label}", cpu, path, floor[0] / cpu, goal, "limit print")
    return {verb: row for (verb, _), row in zip(verbs, rest)}


def measure(build, folder, report, options):
    tvms, limit, stages = (os.path.join(build, p) for p in ("tvms", "bench/text/limit", "bench/text/stages"))
    one, sixteen = generated(folder, 10**6), generated(folder, 16 * 10**6)
    stages_of(limit, stages, one, "1 MB", 15, report)
    stages_of(limit, stages, sixteen, "16 MB", 5, report)
    small, large = compare([[stages, path, "once"] for path in (one, sixteen)], 3)
    slope = (large[2] - small[2]) / (os.path.getsize(sixteen) - os.path.getsize(one))
    report.facts["text to surface tree: peak bytes of memory per byte of text (goal at most 12)"] = f"{slope:.1f}"
    small = whole(tvms, limit, one, "1 MB", 15, report)
    for kind in ("tir", "relax"):
        whole(tvms, limit, generated(folder, 10**6, "--only", kind), f"1 MB of {kind}", 9, report)
    large = whole(tvms, limit, sixteen, "16 MB", 5, report)
    for verb in ("print", "fmt"):
        growth = (large[verb][0] / lines_of(sixteen)) / (small[verb][0] / lines_of(one))
        report.facts[f"{verb}: time per line at 16 MB over 1 MB (goal at most 1.2)"] = f"{growth:.2f}"
        slope = (large[verb][2] - small[verb][2]) / (os.path.getsize(sixteen) - os.path.getsize(one))
        report.facts[f"{verb}: peak bytes of memory per byte of text"] = f"{slope:.1f}"
    start_up(tvms, folder, report)
    peers(tvms, one, folder, report, options)


def forty_lines(folder):
    """A file of 40 lines with definitions of both kinds."""
    for seed in range(1, 10000):
        path = generated(folder, 1300, "--seed", str(seed))
        text = open(path).read()
        if lines_of(path) == 40 and "@T.prim_func" in text and "@R.function" in text:
            return path
    sys.exit("no such file")


def start_up(tvms, folder, report):
    small, empty = forty_lines(folder), os.path.join(folder, "empty")
    subprocess.run(["cc", "-O2", "-static", "-x", "c", "-", "-o", empty], input=b"int main(void){return 0;}", check=True)
    least, own = compare([[empty], [tvms, "print", small]], 500)
    report.facts["print of 40 lines over an empty static program: CPU, wall (goal at most 2)"] = f"{own[0] / least[0]:.2f}, {own[1] / least[1]:.2f}"
    report.facts["empty static program, print of 40 lines: ms of CPU"] = f"{least[0] * 1e3:.2f}, {own[0] * 1e3:.2f}"


def peers(tvms, path, folder, report, options):
    mlir = next((p for p in map(shutil.which, ("mlir-opt-19", "mlir-opt")) if p), None)
    seconds = None
    if mlir:
        text = os.path.join(folder, "loops.mlir")
        with open(text, "w") as f:
            f.write(mlir_text(10**6))
        peer, own = compare([[mlir, "--mlir-disable-threading", text], [tvms, "print", path]], 9)
        seconds = own[0]
        ratio = peer[0] / os.path.getsize(text) / (seconds / os.path.getsize(path))
        report.row("mlir-opt, 1 MB", peer[0], text)
        report.row("tvms print, 1 MB ", seconds, path, ratio, 4, "mlir-opt")
    else:
        report.facts["mlir-opt"] = "not installed (mlir-19-tools)"
    if options.stock_tvm is not None:
        seconds = seconds or compare([[tvms, "print", path]], 9)[0][0]
        ratio = stock_tvm(open(path).read(), options.stock_tvm) / (seconds / os.path.getsize(path))
        report.row("tvms print, 1 MB  ", seconds, path, ratio, 500, "stock TVM 0.27")
    else:
        report.facts["stock TVM"] = "not asked for (--stock-tvm)"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", nargs="?", default=os.path.join(ROOT, "build"))
    arguments.add_argument("--out")
    arguments.add_argument("--stock-tvm", nargs="?", const="", metavar="PYTHON")
    a = arguments.parse_args()
    subprocess.run(["ninja", "-C", a.build, "tvms", "bench/text/limit", "bench/text/stages"], check=True, stdout=subprocess.DEVNULL)
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure(a.build, folder, report, a)
    print(report.table(), end="")
    if a.out:
        os.makedirs(a.out, exist_ok=True)
        for name, text in (("report.md", report.table()), ("report.svg", report.plot()),
                           ("report.json", json.dumps({"rows": report.rows, "facts": report.facts}, indent=1) + "\n")):
            with open(os.path.join(a.out, name), "w") as f:
                f.write(text)


main()
