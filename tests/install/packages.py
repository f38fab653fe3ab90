#!/usr/bin/env python3
"""Wheel, Debian package and mirror for pre-commit, as somebody gets them who has no network.

They need a build without sanitizers. A build with them makes one in a folder of its own, without LLVM and as
the suites that follow pages of docs/ do: ccache has most of it then.
"""
import json, os, re, shutil, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, source

BUILD = os.environ.get("TVMS_BUILD", "build")
# Debian's own Python, which has pytest and the modules that pre-commit uses.
PYTHON = "/usr/bin/python3"
TOOLS = {"pre-commit": "pre-commit", "git": "git", "dpkg-deb": "dpkg"}
LIBDIR = f"lib/{os.uname().machine}-linux-gnu"
UNTIDY = 'from tvm.script import tirx as T\n\n@T.prim_func\ndef main(A: T.Buffer((4,),"float32")):\n    for i in range(4):\n        A[i]=A[i]+ 1.0\n'
GOLDEN = """# RUN: opt --dialect 0.26 --passes DeadCodeElimination
# WHY: a binding that nothing uses goes
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            unused = R.exp(x)
            y = R.add(x, x)
            R.output(y)
        return y
# CHECK-NOT: R.exp
# CHECK: R.add(x, x)
"""


def run(*command, **more):
    more.setdefault("env", dict(os.environ, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1"))
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, **more)


def release_build():
    """The folder of a build that packages are made from."""
    with open(os.path.join(BUILD, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
        options = {option["name"]: option["value"] for option in json.load(f)}
    if options["b_sanitize"] == "none" and options["libdir"] == LIBDIR:
        return BUILD
    folder = os.path.join(BUILD, "packages")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        p = run("meson", "setup", folder, source(), "--buildtype=plain", "-Dtests=false", "-Dllvm=false", "-Dlibdir=" + LIBDIR,
                env={name: value for name, value in os.environ.items() if name != "CC"})
        assert p.returncode == 0, p.stdout
    p = run("ninja", "--quiet", "-C", folder)
    assert p.returncode == 0, p.stdout
    return folder


def missing():
    lacking = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if run(PYTHON, "-c", "import pytest").returncode:
        lacking.append("python3-pytest")
    return lacking


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build = build = release_build()
        cls.place = tempfile.TemporaryDirectory()
        cls.dist = cls.file("dist")
        cls.wheel, cls.deb = (cls.made(PYTHON, source("tools", f"make_{kind}.py"), build, cls.dist).strip() for kind in ("wheel", "deb"))
        cls.made(PYTHON, "-m", "venv", "--system-site-packages", cls.file("venv"))
        cls.made(cls.file("venv/bin/pip"), "install", "--quiet", "--ignore-installed", cls.wheel)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def file(cls, name):
        return os.path.join(cls.place.name, name)

    @classmethod
    def made(cls, *command, **more):
        p = run(*command, **more)
        assert p.returncode == 0, p.stdout
        return p.stdout

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.file(name)), exist_ok=True)
        with open(self.file(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.file(name)

    def python(self, text, **more):
        return self.made(self.file("venv/bin/python"), "-c", text, **more)

    # ---- The wheel ----

    def test_program(self):
        version = re.search(r"^  version: '(.*)'", open(source("meson.build"), encoding="utf-8").read(), re.M).group(1)
        self.assertEqual(self.made(self.file("venv/bin/tvms"), "--version"), f"tvms {version}\n")
        self.assertEqual(self.made(self.file("venv/bin/python"), "-m", "tvms", "--version"), f"tvms {version}\n")
        self.assertEqual(self.python("import tvms; print(tvms.__version__)"), version + "\n")

    def test_platform(self):
        self.assertRegex(os.path.basename(self.wheel), r"^tvms-[\d.]+-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$")

    def test_what_needs_no_llvm_works(self):
        program = source("corpus", "mlp_module.tvms")
        self.assertIn("result: float32[16, 10]", self.made(self.file("venv/bin/tvms"), "run", "--seed", "1", program))
        p = run(self.file("venv/bin/tvms"), "run", "--backend", "llvm", program)
        self.assertEqual(p.returncode, 2, p.stdout)
        self.assertIn("libtvms-llvm.so", p.stdout)

    def test_program_of_the_page(self):
        with open(source("docs", "python.md"), encoding="utf-8") as f:
            page = f.read()
        text = re.search(r"^```python\n(.*?)^```$", page, re.M | re.S).group(1)
        self.assertEqual(self.python(text), re.search(r"^prints\n\n```\n(.*?)^```$", page, re.M | re.S).group(1))

    def test_functions(self):
        with open(source("corpus", "mlp_module_as_published.tvms"), encoding="utf-8") as f:
            path = f.name
        out = json.loads(self.python(
            f"import json, tvms; text = open({path!r}, encoding='utf-8').read()\n"
            "found = tvms.check(text, name='a.tvms')\n"
            "mended, count = tvms.fix(text)\n"
            "p = tvms.parse(mended)\n"
            "print(json.dumps({'codes': [d.code for d in found], 'line': found[0].place.line, 'safe': found[0].fixes[0].safe, 'text': found[0].fixes[0].text,\n"
            "  'count': count, 'left': len(p.diagnostics), 'kinds': sorted({d.kind for d in p.definitions}), 'formatted': tvms.format(mended) == tvms.format(tvms.format(mended)),\n"
            "  'releases': tvms.releases()[-1], 'migrated': 's_tir=True' in tvms.migrate(mended, '0.27'), 'explained': 'E0201' in tvms.explain('E0201')}))"))
        self.assertEqual(out, {"codes": ["E0201", "E0201"], "line": 44, "safe": True, "text": "lv", "count": 2, "left": 0, "kinds": ["function", "prim_func"],
                               "formatted": True, "releases": "0.27", "migrated": True, "explained": True})

    def test_errors(self):
        out = self.python(
            "import tvms\n"
            "def said(f):\n"
            "    try: f()\n"
            "    except tvms.Error as e: print(str(e).splitlines()[0], [d.code for d in e.diagnostics])\n"
            "said(lambda: tvms.format('def f(:'))\n"
            "said(lambda: tvms.parse('', release='9.9'))\n"
            "said(lambda: tvms.parse('').transform('Nope'))\n"
            "said(lambda: tvms.explain('E9999'))\n")
        lines = out.splitlines()
        self.assertEqual(len(lines), 4, out)
        self.assertIn("['E0119']", lines[0])
        self.assertIn("9.9", lines[1])
        self.assertIn("['E0801']", lines[2])

    def test_threads(self):
        out = self.python(
            "import tvms; from concurrent.futures import ThreadPoolExecutor\n"
            "text = 'from tvm.script import relax as R\\n@R.function\\ndef main(x: R.Tensor((2,), \"float32\")):\\n    return R.add(x, y)\\n'\n"
            "with ThreadPoolExecutor(4) as pool: print({d.code for found in pool.map(tvms.check, [text] * 200) for d in found})")
        self.assertEqual(out, "{'E0201'}\n")

    # ---- pytest ----

    def test_golden_files_in_pytest(self):
        self.write("golden/good.tvms", GOLDEN)
        bad = self.write("golden/bad.tvms", GOLDEN.replace("CHECK: R.add", "CHECK: R.sub"))
        self.write("golden/program.tvms", "x = 1\n")  # not a golden file
        p = run(self.file("venv/bin/python"), "-m", "pytest", "-p", "no:cacheprovider", self.file("golden"))
        self.assertEqual(p.returncode, 1, p.stdout)
        self.assertIn("1 failed, 1 passed", p.stdout)
        self.assertIn("no line that follows has: R.sub(x, x)", p.stdout)
        os.remove(bad)
        self.assertIn("1 passed", self.made(self.file("venv/bin/python"), "-m", "pytest", "-p", "no:cacheprovider", self.file("golden")))

    def test_passes_of_another_program(self):
        self.write("other/good.tvms", GOLDEN.replace("# CHECK: R.add(x, x)", "# CHECK: R.call_tir"))
        # It runs another pass than the one that the golden file names.
        other = self.write("other/passes.py", f"import os; os.execv({self.file('venv/bin/tvms')!r}, ['tvms', 'opt', '--dialect', '0.26', '--passes', 'LegalizeOps', '-'])")
        command = (self.file("venv/bin/python"), "-m", "pytest", "-p", "no:cacheprovider", self.file("other"))
        self.assertIn("1 failed", run(*command).stdout)
        self.assertIn("1 passed", self.made(*command, "--tvms-opt-with", f"{PYTHON} {other}"))

    # ---- pre-commit ----

    def commit(self, folder, environment):
        return run("git", "-C", folder, "-c", "user.name=n", "-c", "user.email=n@localhost", "commit", "-qam", "m", env=environment)

    def repository(self, folder, environment):
        self.made("git", "init", "-q", folder, env=environment)
        self.made("git", "-C", folder, "add", "-A", env=environment)

    def test_a_failing_and_then_a_passing_commit(self):
        # Without a network: the wheel from a folder, and setuptools from what pre-commit's environments begin with.
        environment = dict(os.environ, PRE_COMMIT_HOME=self.file("cache"), PIP_NO_INDEX="1", PIP_FIND_LINKS=self.dist, PIP_NO_BUILD_ISOLATION="0",
                           PIP_DISABLE_PIP_VERSION_CHECK="1", HOME=self.place.name, PATH="/usr/bin:/bin", GIT_CONFIG_GLOBAL="/dev/null")
        mirror, project = self.file("mirror"), self.file("project")
        shutil.copytree(source("packaging", "pre-commit"), mirror)
        self.repository(mirror, environment)
        self.assertEqual(self.commit(mirror, environment).returncode, 0)
        head = self.made("git", "-C", mirror, "rev-parse", "HEAD").strip()
        self.write("project/matmul.py", UNTIDY)
        self.write("project/old/matmul.py", UNTIDY)
        self.write("project/pyproject.toml", '[tool.tvms]\nexclude = ["old"]\n')
        self.write("project/.pre-commit-config.yaml", f"repos:\n  - repo: file://{mirror}\n    rev: {head}\n    hooks:\n      - id: tvms-fmt\n      - id: tvms-check\n")
        self.repository(project, environment)
        self.made("pre-commit", "install", cwd=project, env=environment)
        first = self.commit(project, environment)
        self.assertEqual(first.returncode, 1, first.stdout)
        self.assertRegex(first.stdout, r"tvms fmt\.+Failed")
        self.assertRegex(first.stdout, r"tvms check\.+Passed")
        second = self.commit(project, environment)
        self.assertEqual(second.returncode, 0, second.stdout)
        with open(os.path.join(project, "old", "matmul.py"), encoding="utf-8") as f:
            self.assertEqual(f.read(), UNTIDY)  # what the project excludes stays as it is

    def test_the_mirror_has_this_version(self):
        with open(source("packaging", "pre-commit", "pyproject.toml"), encoding="utf-8") as f:
            wanted = re.search(r"tvms==([\d.]+)", f.read()).group(1)
        self.assertIn(f"tvms-{wanted}-", self.wheel)

    def test_both_have_the_same_hooks(self):
        texts = []
        for parts in ((".pre-commit-hooks.yaml",), ("packaging", "pre-commit", ".pre-commit-hooks.yaml")):
            with open(source(*parts), encoding="utf-8") as f:
                texts.append(re.sub(r"^(#.*|  language: .*)\n", "", f.read(), flags=re.M))
        self.assertEqual(*texts)

    # ---- What is installed, without sanitizers ----

    def test_suite_install(self):
        """What suite install leaves out in a build with sanitizers: programs that are linked statically, and data that nobody writes."""
        out = self.made(sys.executable, source("tests", "install", "install.py"), env=dict(os.environ, TVMS_BUILD=self.build))
        self.assertRegex(out, r"(?m)^[1-9]\d* passed, 0 failed$")

    # ---- Debian ----

    def test_deb(self):
        fields = self.made("dpkg-deb", "--field", self.deb)
        self.assertRegex(fields, r"(?m)^Depends: libc6 \(>= 2\.\d+\), libutf8proc\d+$")
        files = self.made("dpkg-deb", "--contents", self.deb)
        for name in ("./usr/bin/tvms\n", "./usr/bin/tvms-native\n", f"./usr/{LIBDIR}/libtvms.so.0 ->", "./usr/include/tvms/tvms.h\n", f"./usr/{LIBDIR}/pkgconfig/tvms.pc\n", "/man1/tvms.1"):
            self.assertIn(name, files)
        self.assertNotIn("/local/", files)
        self.made("dpkg-deb", "--extract", self.deb, self.file("root"))
        with open(self.file(f"root/usr/{LIBDIR}/pkgconfig/tvms.pc"), encoding="utf-8") as f:
            self.assertNotIn("Requires", f.read(), "a program that links the shared library needs no other package")
        self.assertEqual(self.made(self.file("root/usr/bin/tvms"), "check", source("corpus", "mlp_module.tvms")), "")


if __name__ == "__main__":
    lacking = missing()
    if lacking:
        print("missing packages: " + " ".join(lacking))
        sys.exit(77)
    main()
