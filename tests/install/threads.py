#!/usr/bin/env python3
"""Contexts in eight threads at once, under ThreadSanitizer.

The library is compiled once more for this, unoptimised, with the flags that the build folder has for each file;
threads.c is the program that is run.
"""
import json, os, shlex, shutil, subprocess, sys, tempfile, unittest
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import files_under, main, source

BUILD = os.environ.get("TVMS_BUILD", "build")
# Targets that make libtvms.a.
ROOMS = ("libtvms-backend-static.a.p", "libtvms-backend-core.a.p", "libtvms-backend-c.a.p", "libtvms-api.a.p")
OTHERS = ("cli/", "tests/", "bench/", "tools/", "lib/", "backend/")


def sources():
    """(file, flags) of everything in libtvms.a."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    for command in commands:
        output = command["output"]
        if ".a.p/" not in output or (output.startswith(OTHERS) and not output.split("/")[1] in ROOMS):
            continue
        flags = [w for w in shlex.split(command["command"]) if w.startswith(("-I", "-D", "-std="))]
        yield command["file"], flags


def compile_one(job):
    (file, flags), output = job
    ccache = ["ccache"] if shutil.which("ccache") else []
    command = [*ccache, "clang", *flags, "-O0", "-g1", "-w", "-fsanitize=thread", "-MD", "-c", file, "-o", output]
    return subprocess.run(command, cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Threads(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def build(self):
        jobs = [(one, os.path.join(self.place.name, f"{i}.o")) for i, one in enumerate(sources())]
        self.assertGreater(len(jobs), 200)
        with ThreadPoolExecutor(int(os.environ.get("TVMS_JOBS") or os.cpu_count() or 1)) as pool:
            for process in pool.map(compile_one, jobs):
                self.assertEqual(process.returncode, 0, process.stdout)
        program = os.path.join(self.place.name, "threads")
        text = os.path.join(os.path.dirname(os.path.abspath(__file__)), "threads.c")
        utf8proc = subprocess.run(["pkg-config", "--libs", "libutf8proc"], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
        command = ["clang", "-std=c11", "-O1", "-g", "-fsanitize=thread", "-I" + source("include"), text, *(o for _, o in jobs),
                   "-o", program, "-pthread", "-lm", *utf8proc]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(process.returncode, 0, process.stdout)
        return program

    def run_program(self, *command):
        environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=0 exitcode=66")
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)

    def test_contexts_share_nothing(self):
        program = self.build()
        files = [source("corpus", name) for name in ("mlp_module.tvms", "mlp_ops.tvms", "mlp_module_as_published.tvms", "rfc_first.tvms")]
        for folder in ("classic", "relax", "eval", "tile"):
            files += list(files_under("corpus/" + folder))[:3]
        process = self.run_program(program, *files)
        if "unexpected memory mapping" in process.stdout:
            process = self.run_program("setarch", "-R", program, *files)
        self.assertEqual(process.returncode, 0, process.stdout[-4000:])
        self.assertNotIn("WARNING: ThreadSanitizer", process.stdout)
        self.assertIn(" 0 differences", process.stdout)


if __name__ == "__main__":
    main()
