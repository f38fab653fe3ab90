"""Stock TVM of each release, as something that can be asked and may crash."""
import concurrent.futures, json, os, select, subprocess, sys

RELEASES = ("0.22", "0.25", "0.26", "0.27")
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


def judge_releases(judge, releases):
    """Judges releases side by side; `judge` gives (passed, failed, what is to be said). Returns the exit status."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = [job.result() for job in [pool.submit(judge, release) for release in releases]]
    for _, _, said in results:
        print(said)
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
