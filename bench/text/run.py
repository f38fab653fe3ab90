#!/usr/bin/env python3
"""The text bench: how fast tvms reads, prints and formats, as ratios to what can be known here.

    run.py [BUILD] [--out FOLDER] [--stock-tvm]

BUILD is a release build (default: build). Everything is measured in one run on one machine: CPU time, the median of several
passes; only start-up is wall time too. Writes a table (Markdown) to standard output, and with --out also report.md,
report.json and report.svg. Peers: `limit` (bench/text/limit.re, what the work costs at least), mlir-opt of Debian's mlir-19-tools
if it is installed, stock TVM 0.27 with --stock-tvm. Nothing of this runs in the tests.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def process(command, runs):
    """Median CPU and wall seconds, and peak memory in bytes, of a command."""
    cpu, wall, peak = [], [], 0
    quiet = os.open(os.devnull, os.O_RDWR)
    for run in range(runs + 1):
        begin = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, quiet, 0), (os.POSIX_SPAWN_DUP2, quiet, 1)]
        child = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        _, status, used = os.wait4(child, 0)
        if status:
            sys.exit(f"{' '.join(command)} failed: {status}")
        if run:
            cpu.append(used.ru_utime + used.ru_stime)
            wall.append(time.perf_counter() - begin)
        peak = used.ru_maxrss * 1024
    os.close(quiet)
    return statistics.median(cpu), statistics.median(wall), peak


def limit_stages(program, path, runs):
    text = subprocess.run([program, "bench", path, str(runs)], capture_output=True, text=True, check=True).stdout
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return {row[0]: float(row[1]) / 1e3 for row in rows[1:]}


def own_stages(program, path, runs):
    text = subprocess.run([program, path, str(runs)], capture_output=True, text=True, check=True).stdout
    return {name: float(seconds) for name, seconds in (line.split("\t") for line in text.splitlines())}


def generated(folder, size):
    path = os.path.join(folder, f"{size}.tvms")
    with open(path, "w") as f:
        subprocess.run([sys.executable, os.path.join(HERE, "generate.py"), str(size)], stdout=f, check=True)
    return path


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


def stock_tvm(sample):
    """Seconds per byte of reading and printing in stock TVM."""
    sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "oracle")]
    from stock import Stock
    head, *definitions = sample.split("\n\n@")
    stock, seconds, size = Stock("0.27"), 0.0, 0
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
        size, lines = os.path.getsize(path), sum(1 for _ in open(path, "rb"))
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
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" font-family="sans-serif" font-size="13">']
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


def measure(build, folder, report, with_stock):
    tvms, limit, stages = (os.path.join(build, p) for p in ("tvms", "bench/text/limit", "bench/text/stages"))
    one, sixteen = generated(folder, 10**6), generated(folder, 16 * 10**6)
    for path, label, runs in ((one, "1 MB", 15), (sixteen, "16 MB", 5)):
        least, own = limit_stages(limit, path, runs), own_stages(stages, path, runs)
        whole_lex = least["lex, 8-byte tokens stored"]
        report.row(f"lex, {label}", own["lex"], path, whole_lex / own["lex"], 0.8, "limit")
        whole = least["lex + intern + parse"]
        report.row(f"text to surface tree, {label}", own["parse"], path, whole / own["parse"], 0.5, "limit")
    peaks = [process([stages, path, "once"], 3)[2] for path in (one, sixteen)]
    report.facts["text to surface tree: peak bytes of memory per byte of text (goal at most 12)"] = f"{(peaks[1] - peaks[0]) / 15e6:.1f}"
    memory = {}
    for path, label, runs in ((one, "1 MB", 9), (sixteen, "16 MB", 3)):
        floor, _, _ = process([limit, "print", path], runs)
        report.row(f"limit print, {label}", floor, path)
        for verb, goal in (("print", 0.35), ("fmt", 0.4)):
            seconds, _, peak = process([tvms, verb, path], runs)
            report.row(f"tvms {verb}, {label}", seconds, path, floor / seconds, goal, "limit print")
            memory[verb, label] = (seconds, peak)
    lines = {label: sum(1 for _ in open(p, "rb")) for p, label in ((one, "1 MB"), (sixteen, "16 MB"))}
    for verb in ("print", "fmt"):
        growth = (memory[verb, "16 MB"][0] / lines["16 MB"]) / (memory[verb, "1 MB"][0] / lines["1 MB"])
        report.facts[f"{verb}: time per line at 16 MB over 1 MB (goal at most 1.2)"] = f"{growth:.2f}"
        slope = (memory[verb, "16 MB"][1] - memory[verb, "1 MB"][1]) / 15e6
        report.facts[f"{verb}: peak bytes of memory per byte of text"] = f"{slope:.1f}"
    start_up(tvms, folder, report)
    peers(tvms, one, memory["print", "1 MB"][0], folder, report, with_stock)


def start_up(tvms, folder, report):
    small, empty = os.path.join(folder, "small.tvms"), os.path.join(folder, "empty")
    shutil.copy(generated(folder, 1400), small)
    subprocess.run(["cc", "-O2", "-static", "-x", "c", "-", "-o", empty], input=b"int main(void){return 0;}", check=True)
    cpu0, wall0, _ = process([empty], 200)
    cpu1, wall1, _ = process([tvms, "print", small], 200)
    count = sum(1 for _ in open(small))
    report.facts[f"print of {count} lines over an empty static program: CPU, wall (goal at most 2)"] = f"{cpu1 / cpu0:.2f}, {wall1 / wall0:.2f}"
    report.facts["empty static program, ms of CPU"] = f"{cpu0 * 1e3:.2f}"


def peers(tvms, path, seconds, folder, report, with_stock):
    per_byte = seconds / os.path.getsize(path)
    mlir = next((p for p in map(shutil.which, ("mlir-opt-19", "mlir-opt")) if p), None)
    if mlir:
        text = os.path.join(folder, "loops.mlir")
        with open(text, "w") as f:
            f.write(mlir_text(10**6))
        peer, _, _ = process([mlir, "--mlir-disable-threading", text], 5)
        ratio = peer / os.path.getsize(text) / per_byte
        report.row("mlir-opt, 1 MB", peer, text)
        report.row("tvms print, 1 MB ", seconds, path, ratio, 4, "mlir-opt")
    else:
        report.facts["mlir-opt"] = "not installed (mlir-19-tools)"
    if with_stock:
        ratio = stock_tvm(open(path).read()) / per_byte
        report.row("tvms print, 1 MB  ", seconds, path, ratio, 500, "stock TVM 0.27")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", nargs="?", default=os.path.join(ROOT, "build"))
    arguments.add_argument("--out")
    arguments.add_argument("--stock-tvm", action="store_true")
    a = arguments.parse_args()
    subprocess.run(["ninja", "-C", a.build, "tvms", "bench/text/limit", "bench/text/stages"], check=True, stdout=subprocess.DEVNULL)
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure(a.build, folder, report, a.stock_tvm)
    print(report.table(), end="")
    if a.out:
        os.makedirs(a.out, exist_ok=True)
        for name, text in (("report.md", report.table()), ("report.svg", report.plot()),
                           ("report.json", json.dumps({"rows": report.rows, "facts": report.facts}, indent=1) + "\n")):
            with open(os.path.join(a.out, name), "w") as f:
                f.write(text)


main()
