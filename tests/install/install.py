#!/usr/bin/env python3
"""What `meson install` puts somewhere: headers, both libraries, the program with its plug-in, and the rest.

Everything is installed into a temporary folder, so every path that something was configured with is wrong: what is
installed must find its parts from where it stands. The example is the one of docs/embedding.md.
"""
import json, os, re, shutil, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, source

BUILD = os.environ.get("TVMS_BUILD", "build")
PUBLIC = source("include", "tvms")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, **more):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def build_options():
    text = subprocess.run(["meson", "introspect", "--buildoptions", BUILD], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {option["name"]: option["value"] for option in json.loads(text)}


OPTIONS = build_options()
# What is linked to a library with sanitizers needs them, too, and cannot be static.
SANITIZE = [] if OPTIONS["b_sanitize"] == "none" else ["-fsanitize=" + OPTIONS["b_sanitize"]]
CC = "clang" if SANITIZE else "cc"
NATIVE = OPTIONS["llvm"]


def headers():
    return sorted(name for name in os.listdir(PUBLIC) if name.endswith(".h"))


# What a plug-in exports is declared there, and not in the library.
OF_PLUGINS = "plugin.h"


def declared():
    """The functions of the library that the public headers declare."""
    found = set()
    for name in headers():
        if name == OF_PLUGINS:
            continue
        with open(os.path.join(PUBLIC, name), encoding="utf-8") as f:
            text = re.sub(r"//[^\n]*", "", f.read())
        found.update(re.findall(r"^(?!typedef)[a-z][^;{}()#]*?\b(tvms_\w+)\(", text, re.M))
    return found


def listed():
    """The functions that lib/tvms.map makes visible."""
    with open(source("lib", "tvms.map"), encoding="utf-8") as f:
        return set(re.findall(r"^    (tvms_\w+);$", f.read(), re.M))


def example():
    with open(source("docs", "embedding.md"), encoding="utf-8") as f:
        return re.search(r"^```c\n(.*?)^```$", f.read(), re.M | re.S).group(1)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        p = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", os.path.join(cls.place.name, "stage"))
        assert p.returncode == 0, p.stdout
        # Moved as a whole: neither the prefix nor the staging folder is there any more.
        cls.prefix = os.path.join(cls.place.name, "moved")
        shutil.move(os.path.join(cls.place.name, "stage") + OPTIONS["prefix"], cls.prefix)
        cls.libraries = os.path.join(cls.prefix, OPTIONS["libdir"])
        cls.program = os.path.join(cls.prefix, OPTIONS["bindir"], "tvms")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def file(self, name):
        return os.path.join(self.place.name, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.file(name)

    def done(self, process):
        self.assertEqual(process.returncode, 0, process.stdout)
        return process.stdout

    def package(self, *options):
        environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(self.libraries, "pkgconfig"))
        # A build folder that is older than the option has the prefix in the file.
        moved = [] if OPTIONS.get("pkgconfig.relocatable") else ["--define-variable=prefix=" + self.prefix]
        return self.done(run("pkg-config", *moved, *options, "tvms", env=environment)).split()

    def environment(self):
        return dict(os.environ, LD_LIBRARY_PATH=self.libraries)

    def test_files(self):
        share = os.path.join(self.prefix, OPTIONS["datadir"])
        wanted = [os.path.join(self.prefix, OPTIONS["mandir"], "man1", "tvms.1"),
                  os.path.join(share, "bash-completion", "completions", "tvms"),
                  os.path.join(share, "zsh", "site-functions", "_tvms"),
                  os.path.join(share, "fish", "vendor_completions.d", "tvms.fish"),
                  os.path.join(self.libraries, "libtvms.a"),
                  os.path.join(self.libraries, "libtvms.so"),
                  os.path.join(self.libraries, "libtvms.so.0"),
                  os.path.join(self.libraries, "pkgconfig", "tvms.pc")]
        for path in wanted:
            with self.subTest(path=path):
                self.assertTrue(os.path.exists(path))
        self.assertEqual(sorted(os.listdir(os.path.join(self.prefix, OPTIONS["includedir"], "tvms"))), headers())
        self.assertLessEqual(len(set(headers()) - {OF_PLUGINS}), 9)

    def test_each_header_stands_alone(self):
        languages = [("c", "c11", ("cc", "gcc", "clang")), ("c++", "c++17", ("g++", "clang++"))]
        for language, standard, compilers in languages:
            there = [c for c in compilers if shutil.which(c)]
            self.assertTrue(there, f"no compiler for {language}")
            for compiler in there:
                for header in headers():
                    with self.subTest(header=header, compiler=compiler):
                        text = self.write("alone." + language, f"#include <tvms/{header}>\n")
                        self.done(run(compiler, "-x", language, "-std=" + standard, *STRICT, "-I" + os.path.join(self.prefix, OPTIONS["includedir"]),
                                      "-fsyntax-only", text))

    def test_a_program_in_cxx_links(self):
        text = self.write("use.cc", "#include <tvms/tvms.h>\nint main() {\n  tvms_context_options options{};\n  options.size = sizeof options;\n"
                          "  tvms_context *context;\n  if (tvms_context_create(&options, &context) != TVMS_OK) return 1;\n"
                          "  tvms_context_destroy(context);\n  return 0;\n}\n")
        compiler = "g++" if shutil.which("g++") else "clang++"
        self.done(run(compiler, "-std=c++17", *STRICT, "-c", text, "-o", self.file("use.o"), *self.package("--cflags")))
        # By the C compiler: nothing of C++ is needed.
        self.done(run(CC, *SANITIZE, self.file("use.o"), "-o", self.file("use"), *self.package("--libs")))
        self.done(run(self.file("use"), env=self.environment()))

    def check_example(self, *linking):
        text = self.write("example.c", example())
        self.assertLessEqual(len(example().splitlines()), 48)
        self.done(run(CC, "-std=c11", *STRICT, *SANITIZE, text, "-o", self.file("example"), *linking))
        said = self.done(run(self.file("example"), source("corpus", "mlp_ops.tvms"), env=self.environment()))
        printed = [self.done(run(self.program, *verb, source("corpus", "mlp_ops.tvms"))) for verb in
                   (["print", "--dialect", "0.26"], ["opt", "--passes", "LegalizeOps"])]
        self.assertEqual(said, "".join(printed))
        p = run(self.file("example"), source("corpus", "mlp_module_as_published.tvms"), env=self.environment())
        self.assertEqual((p.returncode, p.stdout), (1, "44:41: E0201 name 'lv0' is not defined\n  safe fix at 44:41: 'lv' for 3 byte(s)\n"
                                                       "45:77: E0201 name 'b' is not defined\n  safe fix at 45:77: 'n' for 1 byte(s)\n"))

    def test_the_example_with_the_shared_library(self):
        self.check_example(*self.package("--cflags", "--libs"))

    def test_the_example_with_the_static_library(self):
        if SANITIZE:
            flags = [f for f in self.package("--cflags", "--libs", "--static") if f != "-ltvms"]
            self.check_example(os.path.join(self.libraries, "libtvms.a"), *flags)
        else:
            self.check_example("-static", *self.package("--cflags", "--libs", "--static"))
            self.assertIn("not a dynamic executable", run("ldd", self.file("example")).stdout)

    def test_the_list_of_symbols(self):
        text = self.done(run("nm", "--dynamic", "--defined-only", os.path.join(self.libraries, "libtvms.so")))
        shown = {line.split()[-1].split("@")[0] for line in text.splitlines() if line.split()[-2] in "TDBRVW"}
        shown = {name for name in shown if not name.startswith(("__asan_", "__odr_asan"))}
        self.assertEqual(shown, listed())
        self.assertEqual(declared(), listed())

    def test_the_library_prints_nothing_and_ends_no_process(self):
        text = self.done(run("nm", "--dynamic", "--undefined-only", os.path.join(self.libraries, "libtvms.so")))
        wanted = {line.split()[-1].split("@")[0] for line in text.splitlines()}
        # abort and stderr are for failed checks outside of calls, which no function of the library makes.
        self.assertIn("abort", wanted)
        never = {"exit", "_exit", "quick_exit", "printf", "puts", "putchar", "perror", "signal", "sigaction", "setlocale", "fork", "system"}
        self.assertEqual(wanted & never, set())

    def test_the_version_of_the_library(self):
        text = self.done(run("readelf", "--dynamic", os.path.join(self.libraries, "libtvms.so")))
        self.assertIn("Library soname: [libtvms.so.0]", text)
        self.assertNotIn("TEXTREL", text)

    @unittest.skipIf(SANITIZE, "sanitizers have variables of their own")
    def test_nothing_static_is_written(self):
        text = self.done(run("size", "--format=sysv", os.path.join(self.libraries, "libtvms.a")))
        written = re.findall(r"^\.(?:data|bss)\S*\s+(\d+)", re.sub(r"^\.data\.rel\.ro\S*.*$", "", text, flags=re.M), re.M)
        self.assertGreater(len(written), 100)
        self.assertEqual([n for n in written if n != "0"], [])

    def test_the_program_runs_and_builds_native_code(self):
        if not NATIVE:
            self.skipTest("built without LLVM")
        model = source("corpus", "mlp_module.tvms")
        results = [self.done(run(self.program, "run", "--backend", backend, model)) for backend in ("interp", "llvm")]
        self.assertEqual(results[0], results[1])
        self.assertTrue(results[0].startswith("result: float32[16, 10]"))
        self.done(run(self.program, "build", "--primfuncs-only", model, "-o", self.file("mlp.so")))
        self.assertIn("__tvm_ffi_relu", self.done(run("nm", "--dynamic", self.file("mlp.so"))))

    def compile_tool(self, name, *linking):
        self.done(run(CC, "-std=c11", "-O1", *STRICT, *SANITIZE, os.path.join(HERE, name + ".c"), "-o", self.file(name), "-pthread", *linking))
        return self.file(name)

    def test_the_shared_library_finds_the_plugin(self):
        if not NATIVE:
            self.skipTest("built without LLVM")
        tool = self.compile_tool("threads", *self.package("--cflags", "--libs"))
        said = self.done(run(tool, "--native", source("corpus", "mlp_module.tvms"), source("corpus", "native", "arguments.tvms"), env=self.environment()))
        self.assertIn("native code: done\nobject file: done\n", said)

    def test_the_static_library_says_that_it_has_no_native_code(self):
        flags = [f for f in self.package("--cflags", "--libs", "--static") if f != "-ltvms"]
        tool = self.compile_tool("threads", os.path.join(self.libraries, "libtvms.a"), *flags)
        said = self.done(run(tool, "--native", source("corpus", "mlp_module.tvms")))
        self.assertIn("native code: not available: no native code: the static library cannot load it", said)
        self.assertIn("object file: not available\n", said)

    @unittest.skipUnless(shutil.which("localedef") and os.path.exists("/usr/share/i18n/locales/de_DE"), "Debian's package locales is not installed")
    def test_the_locale_of_the_host_does_not_matter(self):
        self.done(run("localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", self.file("de_DE.UTF-8")))
        text = self.write("locale.c", "#include <locale.h>\n#include <stdio.h>\n#define main example\n" + example().replace("#include <stdio.h>\n", "") +
                          '#undef main\nint main(int argc, char **argv) {\n  if (!setlocale(LC_ALL, "de_DE.UTF-8")) return 9;\n  fprintf(stderr, "%.1f\\n", 0.5);\n'
                          "  return example(argc, argv);\n}\n")
        self.done(run(CC, "-std=c11", *STRICT, *SANITIZE, text, "-o", self.file("locale"), *self.package("--cflags", "--libs")))
        program = self.write("tenth.tvms", "from tvm.script import tirx as T\n\n@T.prim_func\ndef main(A: T.Buffer((1,), \"float64\")):\n    A[0] = T.float64(0.1)\n")
        environment = dict(self.environment(), LOCPATH=self.place.name)
        p = subprocess.run([self.file("locale"), program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.assertEqual((p.returncode, p.stderr), (0, "0,5\n"))
        self.assertIn(" = T.float64(0.10000000000000001)\n", p.stdout)


if __name__ == "__main__":
    main()
