"""Stock TVM of each release, as something that can be asked and may crash."""
import concurrent.futures, difflib, json, os, select, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import source
from release_tables import written

RELEASES = written(source())
HERE = os.path.dirname(os.path.abspath(__file__))
UNAVAILABLE = 77


def python_of(release):
    """The Python that has this release; ends the test as skipped if it cannot be had."""
    p = subprocess.run(["sh", os.path.join(HERE, "stock-tvm"), release], stdout=subprocess.PIPE, text=True)
    if p.returncode == UNAVAILABLE:
        print(f"SKIPPED: stock TVM {release} cannot be had from PyPI")
        sys.exit(UNAVAILABLE)
    if p.returncode:
        sys.exit(f"tests/oracle/stock-tvm {release} failed")
    return p.stdout.strip()


class Stock:
    """One release. ask() answers {"print": ...}, {"error": ...} or {"crash": ...}."""

    def __init__(self, release, script="ask.py", seconds=60):
        self.command = [python_of(release), os.path.join(HERE, script)]
        self.seconds, self.process = seconds, None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def ask(self, **question):
        if not self.process:
            self.start()
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
            # The first answer waits for TVM to load.
            ready, _, _ = select.select([self.process.stdout], [], [], self.seconds + 60)
            line = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            line = b""
        if line:
            return json.loads(line)
        self.stop()
        return {"crash": "TVM crashed or took too long"}


def known():
    rows = {}
    path = source("tests", "oracle", "known.tsv")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    file, release, why = line.rstrip("\n").split("\t")
                    rows[file, release] = why
    return rows


def difference(stock, ours):
    rows = difflib.unified_diff(stock.splitlines(), ours.splitlines(), "stock TVM", "tvms", n=1, lineterm="")
    return "\n".join(list(rows)[:30])


def definitions_of(text):
    """The text above the first definition with each definition."""
    lines = text.splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("@") and not (i and lines[i - 1].startswith("@"))]
    if len(starts) < 2:
        return [text]
    head = "".join(lines[: starts[0]])
    return [head + "".join(lines[a:b]) for a, b in zip(starts, starts[1:] + [len(lines)])]


def judge_release(release, cases, judge, excused):
    stock = Stock(release)
    passed = failed = unsaid = 0
    lines = []
    for name, case in cases:
        wrong, excuse = judge(stock, release, case), excused.get((name, release))
        if wrong is None:
            unsaid += 1
        elif excuse:
            differs = wrong or excuse.startswith("sometimes: ")
            lines.append(f"known: {release} {name}: {excuse}" if differs else f"superfluous in known.tsv: {release} {name}")
        elif wrong:
            failed += 1
            lines.append(f"--- {release} {name}\n{wrong}")
        else:
            passed += 1
    stock.stop()
    lines.append(f"{release}: {passed} as stock TVM has it, {failed} not" + (f", {unsaid} that this release cannot say" if unsaid else ""))
    return passed, failed, "\n".join(lines)


def judge_releases(cases_of, judge, releases):
    """Judges releases side by side and returns the exit status. `cases_of(release)` lists (name, case) pairs;
    `judge(stock, release, case)` gives what is wrong, "" if nothing, None if there is nothing to compare."""
    excused = known()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(judge_release, release, cases_of(release), judge, excused) for release in releases]
        results = [job.result() for job in jobs]
    for _, _, said in results:
        print(said)
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
