"""Golden files of TVMScript as tests of pytest.

Each file `*.tvms` with a line `# RUN:` is a test, which `tvms test` judges. The plug-in comes with the package and needs no settings:

    pytest tests/golden
    pytest tests/golden --tvms-bless
    pytest tests/golden --tvms-opt-with "python3 -m tvms.stock"
"""
import json
import subprocess

import pytest

from ._program import find_program

RUN = "# RUN:"


def pytest_addoption(parser):
    group = parser.getgroup("tvms", "golden files of TVMScript")
    group.addoption("--tvms-bless", action="store_true", help="write what golden files give now as their expectations")
    group.addoption("--tvms-opt-with", metavar="COMMAND", help="run the passes of golden files of opt by COMMAND, such as 'python3 -m tvms.stock'")
    group.addoption("--tvms-timeout", metavar="SECONDS", type=int, help="longest time of one run; default 60")


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".tvms" and _is_golden(file_path):
        return GoldenFile.from_parent(parent, path=file_path)


def _is_golden(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return any(line.startswith(RUN) for line in f)


class GoldenFile(pytest.File):
    def collect(self):
        yield GoldenTest.from_parent(self, name="golden")


class GoldenFailure(Exception):
    """What `tvms test` says of a golden file that fails."""


class GoldenTest(pytest.Item):
    def runtest(self):
        option = self.config.getoption
        command = [find_program(), "test", "--format", "json", str(self.path)]
        if option("--tvms-bless"):
            command.append("--bless")
        for name in ("--tvms-opt-with", "--tvms-timeout"):
            if option(name) is not None:
                command += ["--" + name[len("--tvms-"):], str(option(name))]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            raise GoldenFailure(_said(done))

    def repr_failure(self, excinfo):
        if isinstance(excinfo.value, GoldenFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, str(self.path.name)


def _said(done):
    """The findings of the document with their notes, and what went to standard error."""
    lines = []
    try:
        findings = json.loads(done.stdout)["findings"]
    except ValueError:
        findings, lines = [], [done.stdout]
    for finding in findings:
        lines.append(f"{finding['severity']}[{finding['code']}]: {finding['message']}")
        lines += [note["message"] for note in finding.get("notes", ())]
    return "\n".join(lines + ([done.stderr] if done.stderr else []))
