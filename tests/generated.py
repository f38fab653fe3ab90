"""What the suites of generated kernels share: how one is scheduled, and the loop over many with its verdict."""
import argparse, os, random, subprocess, tempfile

from cases import TVMS

TARGETS = ["x86_64-linux-gnu,haswell", "x86_64-linux-gnu,znver4", "aarch64-linux-gnu,neoverse-n1"]


def run(*arguments):
    return subprocess.run([TVMS, *arguments], capture_output=True, text=True, timeout=300)


def schedule(folder, text, target, reorder, *options):
    """Writes `text` to before.tvms of the folder, what ScheduleCPU makes of it to after.tvms. Returns what is wrong, the two files, and the statistics."""
    before, after = os.path.join(folder, "before.tvms"), os.path.join(folder, "after.tvms")
    with open(before, "w") as f:
        f.write(text)
    passes = f"ScheduleCPU{{target='{target}',reorder={'true' if reorder else 'false'}}}"
    p = run("opt", "--passes", passes, "--verify-each", *options, "--statistics", before)
    if p.returncode:
        return p.stderr.strip(), before, after, ""
    with open(after, "w") as f:
        f.write(p.stdout)
    return "", before, after, p.stderr


def judge_many(doc, count, judge, done="", share=0.0):
    """Judges as many programs as asked for (`count` unless said) and prints a verdict; returns the status to exit with.

    `judge(r, folder)` makes a program and returns its text, how it was run, what is wrong, and whether the pass did something:
    it must (`done` says what) in this share of the programs, since a pass that leaves everything alone changes no result, either.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    r = random.Random(options.seed)
    failed = active = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.count):
            text, how, wrong, did = judge(r, folder)
            active, failed = active + did, failed + bool(wrong)
            if wrong:
                print(f"FAIL program {i} for {how}: {wrong[:600]}\n{text}")
    passed = options.count - failed
    if done:
        enough = active >= share * options.count
        print(f"{active} of {options.count} {done}")
        passed, failed = passed + enough, failed + (not enough)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
