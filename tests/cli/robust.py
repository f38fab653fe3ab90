#!/usr/bin/env python3
"""What must never end in a crash: memory that runs out, deep and long programs, bad files."""
import concurrent.futures, os, pathlib, resource, stat, subprocess, sys, tempfile, threading, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, memory_of, source, tvms, TVMS

MLP = [source("corpus", name) for name in ("mlp_module.tvms", "mlp_ops.tvms", "mlp_module_as_published.tvms")]
PREFIX = "from tvm.script import tir as T\n\n@T.prim_func(private=True)\ndef main(A: T.Buffer((16,), \"int32\")):\n"


class Memory(unittest.TestCase):
    """Every allocation fails once: exit 3, one line that says so, nothing written."""

    def fail_all(self, verb, path):
        whole = tvms(verb, path)
        self.assertIn(whole.returncode, (0, 1))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            first = 1
            while True:
                numbers = range(first, first + 64)
                runs = list(pool.map(lambda n: tvms(verb, "--fail-allocation", str(n), path), numbers))
                for n, run in zip(numbers, runs):
                    if run.returncode != 3:
                        # The program needs no more than n - 1 allocations.
                        self.assertGreater(n, 10)
                        self.assertEqual((run.returncode, run.stdout), (whole.returncode, whole.stdout))
                        return
                    self.assertEqual(run.stdout, b"", n)
                    said = run.stderr.decode()
                    self.assertIn("out of memory", said)
                    self.assertEqual(said.count("\n"), 1, said)
                first += 64

    def test_print(self):
        for path in MLP:
            with self.subTest(path=path):
                self.fail_all("print", path)

    def test_check(self):
        for path in MLP:
            with self.subTest(path=path):
                self.fail_all("check", path)

    def test_fmt(self):
        self.fail_all("fmt", MLP[0])

    def test_limit(self):
        p = tvms("print", "--memory", "1", "-", stdin=PREFIX + "    A[0] = 1\n" * 100000)
        self.assertEqual((p.returncode, p.stdout), (3, b""))
        self.assertIn(b"out of memory", p.stderr)


class Evaluation(unittest.TestCase):
    """Constants that ask for more than there is: one error, in little memory and time."""

    def test_large_values(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.tvms")

            def run(value):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(PREFIX + f"    A[0] = len({value})\n")
                return memory_of("check", path)

            least = run("[1]")[2]
            for value in ("[0] * 10 ** 9", '"ab" * (1 << 40)', "range(1 << 40)", '"".join(["ab" * 1000] * 100000)',
                          '", ".join(f"{i:08d}" for i in range(10000000))', "[i for i in range(1000) for j in range(1000) for k in range(9)]",
                          "str([['ab' * 1000] * 1000] * 1000)", '("{}" * 1000).format(*["ab" * 10000] * 10000)', '("a " * 10000000).split()',
                          '("a" * 10000).replace("a", "b" * 10000)', "f\"{'a' * 20000000}{'b' * 20000000}\"",
                          " + ".join(["[0] * 200000"] * 100), "[x for x in [0] * 100000 if x in [1] * 100000]"):
                with self.subTest(value=value[:60]):
                    status, said, memory = run(value)
                    self.assertEqual((status, said.count("error[")), (1, 1), said)
                    self.assertIn("error[E0226]", said)
                    self.assertLess(memory - least, 200)


class Shapes(unittest.TestCase):
    def prints(self, text, statuses=(0,)):
        p = tvms("print", "-", stdin=text)
        self.assertIn(p.returncode, statuses, p.stderr[-500:])
        if p.returncode:
            self.assertRegex(p.stderr.decode(), r"^<stdin>:\d+:\d+: error\[E\d{4}\]: ")
        return p.stdout

    def test_chain_of_100000_terms(self):
        out = self.prints(PREFIX + "    A[0] = A[1]" + " + A[2]" * 100000 + "\n")
        self.assertEqual(out.count(b"A[2]"), 100000)

    def test_chain_to_the_right(self):
        n = 20000
        out = self.prints(PREFIX + "    A[0] = " + "A[1] - (" * n + "A[2]" + ")" * n + "\n")
        self.assertEqual(out.count(b"A[1]"), n)

    def test_3000_nested_blocks(self):
        lines = [PREFIX]
        for depth in range(3000):
            lines.append(" " * (4 + depth) + f"for i{depth} in range(2):\n")
        lines.append(" " * 3004 + "A[0] = 1\n")
        out = self.prints("".join(lines))
        # Loops without anything between them are printed as one T.grid.
        self.assertIn(b" i2999 in T.grid(2, 2, ", out)

    def test_3000_nested_scopes(self):
        current = PREFIX.replace("tir as T", "tirx as T").replace("(private=True)", "(private=True, s_tir=True)")
        for head in ("if A[{0} % 16] > {0}:", "with T.sblock(\"b{0}\"):", "while A[0] < {0}:"):
            lines = [" " * (4 + depth) + head.format(depth) + "\n" for depth in range(3000)]
            out = self.prints(current + "".join(lines) + " " * 3004 + "A[0] = 1\n")
            self.assertIn(b"2999", out)

    def test_100000_bindings_of_relax(self):
        head = "from tvm.script import relax as R\n\n@R.function\ndef main(x: R.Tensor((4,), \"float32\")):\n"
        lines = ["    v0 = R.sin(x)\n"] + [f"    v{i} = R.sin(v{i - 1})\n" for i in range(1, 100000)]
        out = self.prints(head + "".join(lines) + "    return v99999\n")
        self.assertEqual(out.count(b"R.sin"), 100000)

    def test_large_sets_and_dicts(self):
        many = ", ".join(f"'k{i}': {i}" for i in range(100000))
        for value in ("len(set(range(1000000)))", "len({i: i for i in range(300000)})", "len({" + many + "})"):
            self.prints(PREFIX + "    A[0] = " + value + "\n")

    def test_1000_branches_that_give_a_function(self):
        head = [
            "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass M:\n",
            "    @R.function\n    def f(x: R.Tensor((4,), \"float32\"), k: R.Prim(\"int64\")):\n        return x\n\n",
            "    @R.function\n    def main(x: R.Tensor((4,), \"float32\"), c: R.Tensor((), \"bool\"), k: R.Prim(\"int64\")):\n        cls = M\n",
            "        if c:\n            a0: R.Any = R.make_closure(cls.f, (R.prim_value(k + 1),))\n",
            "        else:\n            a0: R.Any = R.make_closure(cls.f, (R.prim_value(k),))\n",
        ]
        both = "        if c:\n            a{1}: R.Any = a{0}\n        else:\n            a{1}: R.Any = a{0}\n"
        end = "        r = R.invoke_pure_closure(a1000, (x,), ty_args=(R.Tensor((4,), \"float32\"),))\n        return r\n"
        text = "".join(head) + "".join(both.format(i, i + 1) for i in range(1000)) + end
        done = tvms("opt", "--passes", "memory", "-", stdin=text, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr[-500:])
        self.assertEqual(done.stdout.count(b"Module.f_unpacked("), 2)

    def test_100000_constants_inside_each_other(self):
        for begin, end in (("(", ",)"), ("[", "]"), ('{"a": ', "}")):
            lines = ["x0 = 1"] + [f"x{i} = {begin}x{i - 1}{end}" for i in range(1, 100000)]
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.py")
                with open(path, "w") as f:
                    f.write("from tvm.script import tirx as T\n" + "\n".join(lines) + "\n\n\n@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\")):\n    A[len(x99999)] = T.float32(0)\n")
                done = tvms("check", path, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr[:300])

    def test_100000_names_at_once(self):
        names = ", ".join(f"v{i}" for i in range(100000))
        self.prints(PREFIX + f"    {names} = T.meta_var(tuple(range(100000)))\n    A[0] = v99999\n")

    RELAX = "from tvm.script import relax as R, tirx as T\n\n@R.function\ndef main({}):\n{}"

    def test_sums_and_products_of_10000_symbols(self):
        symbols = [f"s{i}" for i in range(10000)]
        dims = ", ".join(f'"{s}"' for s in symbols)
        own = "".join(f"    {s} = T.int64()\n" for s in symbols)
        total, back = " + ".join(symbols), " + ".join(reversed(symbols))
        head = self.RELAX.format(f'x: R.Tensor(({dims}), "float32"), y: R.Tensor(("{total}",), "float32")', own)
        sums = f"    z = R.add(y, R.zeros(({back},), \"float32\"))\n"
        products = f"    w = R.add(R.flatten(x), R.reshape(x, ({' * '.join(symbols)},)))\n"
        out = self.prints(head + sums + products + "    return z\n")
        self.assertEqual(out.count(b"s9999 = T.int64()") + out.count(b"s9999 = TypeVar"), 1)

    def test_10000_unknown_names_among_10000(self):
        known = "".join(f"    name{i}: T.let = A[{i % 16}]\n" for i in range(10000))
        unknown = "".join(f"    A[0] = nome{i}\n" for i in range(10000))
        p = tvms("check", "-", stdin=PREFIX.replace("tir as T", "tirx as T") + known + unknown)
        self.assertEqual(p.returncode, 1)
        self.assertEqual(p.stderr.count(b"error[E0201]"), 10000)
        self.assertIn(b"did you mean 'name0'?", p.stderr)

    def test_10000_unknown_functions_among_10000(self):
        one = "    @T.prim_func\n    def name{0}(x: T.int32):\n        cls.nome{0}(x)\n"
        head = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n"
        p = tvms("check", "-", stdin=head + "".join(one.format(i) for i in range(10000)))
        self.assertEqual(p.returncode, 1)

    def test_regions_of_10000_remainders(self):
        terms = " + ".join(f"A[v % {k + 2}]" for k in range(10000))
        lines = ["    for i in range(65536):", "        with T.sblock():", "            v = T.axis.spatial(65536, i)", "            A[v] = " + terms]
        head = PREFIX.replace("tir as T", "tirx as T").replace("(private=True)", "(private=True, s_tir=True)").replace("(16,)", "(65536,)")
        out = self.prints(head + "\n".join(lines) + "\n")
        self.assertEqual(out.count(b"A[v % "), 10000)

    def test_evaluation_that_does_not_end(self):
        for value in ("sum([i for i in range(10**12)])", "(lambda f: f(f))(lambda f: f(f))", "'a' * 10**12", "9**9**9"):
            self.prints(PREFIX + f"    A[0] = {value}\n", (1,))

    def test_calls_whose_result_has_an_argument_more_than_once(self):
        """Each inside of another: the text of the innermost would be written 2 ** 1000 times and more."""
        for begin in ("T.abs(", "T.ceildiv(A[1], "):
            with self.subTest(call=begin):
                p = tvms("check", "-", stdin=PREFIX + "    A[0] = " + begin * 1000 + "A[2]" + ")" * 1000 + "\n", timeout=60)
                self.assertEqual((p.returncode, p.stderr.count(b"error[")), (1, 1))
                self.assertIn(b"error[E0226]", p.stderr)
                p = tvms("check", "-", stdin=PREFIX + "    A[0] = " + begin * 8 + "A[2]" + ")" * 8 + "\n")
                self.assertEqual((p.returncode, p.stderr), (0, b""))

    def test_10000_nested_brackets(self):
        self.prints(PREFIX + "    A[0] = " + "(" * 10000 + "1" + ")" * 10000 + "\n")

    def test_1000000_nested_brackets(self):
        for left, right in ("()", "[]", "{}"):
            text = PREFIX + "    A[0] = " + left * 1000000 + "1" + right * 1000000 + "\n"
            self.prints(text, (0, 1))

    def test_unbalanced_brackets(self):
        for bracket in "([{":
            self.prints(PREFIX + "    A[0] = " + bracket * 100000 + "\n", (1,))

    def test_long_line_with_an_error_is_cut_in_the_message(self):
        p = tvms("print", "-", stdin=PREFIX + "    A[0] = undefined_name" + " + A[1]" * 50000 + "\n")
        self.assertEqual(p.returncode, 1)
        self.assertLess(len(p.stderr), 4000)

    def test_100000_functions(self):
        one = "@T.prim_func(private=True)\ndef f{}(A: T.Buffer((16,), \"int32\")):\n    A[0] = 1\n\n"
        text = "from tvm.script import tir as T\n\n" + "".join(one.format(i) for i in range(100000))
        self.assertEqual(self.prints(text).count(b"def "), 100000)


class Files(unittest.TestCase):
    VERBS = ("check", "print", "fmt", "infer")

    def test_unreadable_file(self):
        for verb in self.VERBS:
            p = tvms(verb, "/nowhere/file.tvms")
            self.assertEqual((p.returncode, p.stdout), (2, b""))
            self.assertEqual(p.stderr, b"tvms: /nowhere/file.tvms: No such file or directory\n")

    def test_file_that_fails_while_it_is_read(self):
        for verb in self.VERBS:
            p = tvms(verb, "/proc/self/mem")
            self.assertEqual((p.returncode, p.stdout), (2, b""), p.stderr)
            self.assertIn(b"/proc/self/mem: Input/output error", p.stderr)

    def test_pipes_in_a_folder_are_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "a.tvms"))
            os.symlink("/", os.path.join(folder, "b.tvms"))
            for words in (["check"], ["fmt", "--check"], ["print"]):
                self.assertEqual(tvms(*words, folder).returncode, 0)
            self.assertEqual(tvms("test", folder).returncode, 1)

    def test_folder_without_files_and_device(self):
        p = tvms("check", "/dev/full")
        self.assertIn(p.returncode, (0, 2, 3))

    def test_full_disk(self):
        for words in (["print"], ["fmt"], ["infer"], ["migrate", "--dialect", "0.22"], ["check", "--format", "json"]):
            with open("/dev/full", "wb") as full:
                p = tvms(*words, MLP[0], stdout=full)
            self.assertEqual(p.returncode, 2)
            self.assertIn(b"No space left on device", p.stderr)

    def test_closed_pipe(self):
        for words in (["print"], ["fmt"], ["infer"], ["migrate", "--dialect", "0.22"], ["check", "--format", "json"]):
            reader, writer = os.pipe()
            os.close(reader)
            p = tvms(*words, MLP[0], stdout=writer)
            os.close(writer)
            # Who closed it knows: `tvms print FILE | head` says nothing.
            self.assertEqual((p.returncode, p.stderr), (2, b""))

    def test_file_in_a_folder_that_cannot_be_written_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.tvms")
            with open(path, "w") as f:
                f.write("x  =  1\n")
            # The size limit makes the write fail half way.
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            p = tvms("fmt", "-i", path, preexec_fn=limit)
            self.assertEqual(p.returncode, 2, p.stderr)
            with open(path) as f:
                self.assertEqual(f.read(), "x  =  1\n")
            self.assertEqual(os.listdir(folder), ["a.tvms"])

    def test_in_place_keeps_mode_and_link(self):
        with tempfile.TemporaryDirectory() as folder:
            path, link = os.path.join(folder, "a.tvms"), os.path.join(folder, "link.tvms")
            with open(path, "w") as f:
                f.write("x  =  1\n")
            os.chmod(path, 0o640)
            os.symlink("a.tvms", link)
            p = tvms("fmt", "-i", link)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertTrue(os.path.islink(link))
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
            with open(path) as f:
                self.assertEqual(f.read(), "x = 1\n")

    def test_in_place_leaves_pipes_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.tvms")
            os.mkfifo(path)
            writer = threading.Thread(target=pathlib.Path(path).write_bytes, args=(b"x  =  1\n",))
            writer.start()
            p = tvms("fmt", "-i", path)
            writer.join()
            self.assertIn(b"not a regular file", p.stderr)
            self.assertEqual(p.returncode, 2)
            self.assertTrue(stat.S_ISFIFO(os.lstat(path).st_mode))

    def test_in_place_leaves_protected_files_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.tvms")
            with open(path, "w") as f:
                f.write("x  =  1\n")
            os.chmod(path, 0o444)
            # Root may write it all the same, unless it gives that right away.
            lowly = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
            p = subprocess.run([*lowly, TVMS, "fmt", "-i", path], stderr=subprocess.PIPE, check=False)
            self.assertEqual(p.returncode, 2, p.stderr)
            self.assertIn(b"Permission denied", p.stderr)
            with open(path) as f:
                self.assertEqual(f.read(), "x  =  1\n")

    def test_bytes_that_are_no_text(self):
        for data in (b"\xff\xfe\x00\x01", b"\x00" * 100, b"\xc3\x28" * 50, bytes(range(256)) * 20):
            for verb in self.VERBS:
                p = tvms(verb, "-", stdin=data)
                self.assertEqual(p.returncode, 1, (verb, data[:10], p.stderr[:300]))

    def test_text_of_two_bytes_a_letter(self):
        for coding in ("utf-16-le", "utf-16-be"):
            p = tvms("check", "-", stdin="\ufefffrom tvm.script import relax as R\r\n".encode(coding))
            self.assertEqual(p.returncode, 1)
            self.assertIn(b"error[E0102]", p.stderr)
            self.assertIn(b"the text is UTF-16; save it as UTF-8", p.stderr)
            self.assertEqual(p.stderr.count(b"error"), 1)

    def test_carriage_returns_alone_end_lines(self):
        """Whatever looks for lines finds them, also where the text is wrong."""
        texts = [
            b"# from tvm.script import ir\xff\n@I.ir_\xff\rdule\nclass Module:\n    pass\n",
            b"@T.prim_func(s_tir=True)\rdef main(A: T.Buffer((20,K, 'int16'), B: T.Buffer((20,), 'int16')):\r    A[0] = B[0]\r",
        ]
        for path in MLP:
            with open(path, "rb") as f:
                whole = f.read().replace(b"\n", b"\r")
            texts += [whole[:cut] for cut in range(0, len(whole), 97)]
        for verb in ("check", "fmt", "print"):
            for text in texts:
                self.assertIn(tvms(verb, "-", stdin=text).returncode, (0, 1), (verb, text))
        with open(MLP[0]) as f:
            text = f.read()
        self.assertEqual(tvms("print", "-", stdin=text.replace("\n", "\r")).stdout, tvms("print", "-", stdin=text).stdout)

    def test_functions_that_end_too_early(self):
        head = "# from tvm.script import ir as I\n# from tvm.script import tirx as T\n# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n"
        relax = '    @R.function\n    def main(x: R.Tensor((2,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):\n        gv = R.abs(x)\nreturn gv\n'
        tir = '    @T.prim_func(s_tir=True)\n    def main(A: T.Buffer((2,), "float32")):\n        T.evaluate(0)\ni = T.int32()\nT.attr(i, "pragma_loop_partition_hint", 1)\n'
        for text in (relax, tir):
            for verb in ("check", "fmt", "print"):
                self.assertIn(tvms(verb, "-", stdin=head + text).returncode, (0, 1), (verb, text))

    def test_empty_files(self):
        for data in (b"", b"\n", b"# only a comment\n", b"\xef\xbb\xbf"):
            for verb in self.VERBS:
                self.assertEqual(tvms(verb, "-", stdin=data).returncode, 0)


if __name__ == "__main__":
    main()
