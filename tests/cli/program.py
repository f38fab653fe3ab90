#!/usr/bin/env python3
"""The program itself: arguments, exit statuses, files that cannot be read or written."""
import io, json, os, re, shutil, struct, subprocess, sys, tempfile, unittest, zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, memory_of, source, tvms, TVMS


class Arguments(unittest.TestCase):
    def fails(self, said, *arguments):
        p = tvms(*arguments)
        self.assertEqual(p.returncode, 2)
        self.assertIn(said, p.stderr.decode())
        self.assertEqual(p.stdout, b"")

    def test_no_verb(self):
        self.fails("no verb given")

    def test_unknown_verb_is_told_with_a_near_one(self):
        self.fails("unknown verb 'exlain'; did you mean 'explain'?", "exlain")

    def test_unknown_option_is_told_with_a_near_one(self):
        self.fails("unknown option '--blss'; did you mean '--bless'?", "test", "--blss", "x")

    def test_option_of_another_verb(self):
        self.fails("'explain' has no option '--bless'", "explain", "--bless")

    def test_option_without_its_value(self):
        self.fails("takes a value", "test", "--jobs")

    def test_number_that_is_none(self):
        self.fails("takes a number, not 'x'", "test", "-jx", "a")

    def test_choice_that_is_none(self):
        self.fails("is one of text|concise|json|json-lines|github|gitlab|junit|sarif, not 'xml'", "explain", "--format", "xml", "E0401")

    def test_flag_with_a_value(self):
        self.fails("takes no value", "test", "--bless=1", "x")

    def test_help_and_version_go_to_standard_output(self):
        for arguments in (["--help"], ["-h"], ["test", "--help"], ["--version"]):
            p = tvms(*arguments)
            self.assertEqual((p.returncode, p.stderr), (0, b""))
            self.assertTrue(p.stdout)

    def test_words_after_two_dashes_are_paths(self):
        p = tvms("test", "--", "--bless")
        self.assertIn(b"--bless: No such file", p.stdout + p.stderr)


class Explain(unittest.TestCase):
    def test_code_with_and_without_letter_and_by_name(self):
        texts = {tvms("explain", word).stdout for word in ("E0401", "e0401", "0401", "too_deep")}
        self.assertEqual(len(texts), 1)
        self.assertIn(b"nested too deeply", texts.pop())

    def test_names_of_the_language(self):
        p = tvms("explain", "T.ptx_cp_async", "R.strided_slice", "T.exp", "T.anylist_getitem", "T.S")
        self.assertEqual(p.returncode, 0, p.stderr)
        said = p.stdout.decode()
        self.assertIn("T.ptx_cp_async(dtype, shared_ptr, shared_offset, global_ptr, global_offset, bytes)  [up to 0.24]\n", said)
        self.assertIn("R.strided_slice(x, axes, begin, end, strides=None, assume_inbound=False)  [every release]\n    ", said)
        self.assertIn("T.exp(x)  [every release]\n", said)
        self.assertIn("T.S  [since 0.25]\n", said)

    def test_what_a_finding_fills_in_is_left_open(self):
        with open(source("support", "diag.def"), encoding="utf-8") as f:
            codes = re.findall(r"^DIAG\(\w+, (\d+),", f.read(), re.M)
        said = tvms("explain", *codes).stdout.decode()
        headings = re.findall(r"^(?:error|warning|note) \w+: .*", said, re.M)
        self.assertEqual(len(headings), len(codes))
        self.assertEqual([h for h in headings if re.search(r"%|…[a-zA-Z]?\$", h)], [])
        self.assertIn("error E0510: 'R.…' cannot broadcast lengths … and … of axis -…", headings)
        self.assertIn("error E0103: unexpected character ………U+…", headings)

    def test_targets(self):
        p = tvms("explain", "--target", "x86_64-linux-gnu,znver3,+avx512f")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn(b"vectors    512 bits, 32 registers\nL1 cache   32 KiB, 8 ways", p.stdout)
        p = tvms("explain", "--target", "host", "E0401")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertRegex(p.stdout.decode(), r"\Akind +llvm\n(.+\n)*cores +\d+\n\nerror E0401")
        p = tvms("explain", "--target", "cudaa")
        self.assertEqual(p.returncode, 2)
        self.assertEqual(p.stderr, b"tvms: option '--target': unknown target 'cudaa'; did you mean 'cuda'?\n")

    def test_unknown_code(self):
        p = tvms("explain", "E9999")
        self.assertEqual(p.returncode, 2)
        self.assertIn(b"there is no diagnostic or name 'E9999'", p.stderr)
        for word, near in (("Simplfy", "Simplify"), ("legalizeops", "LegalizeOps"), ("lower-block", "lower-blocks"), ("T.gird", "T.grid")):
            p = tvms("explain", word)
            self.assertEqual((p.returncode, p.stderr.decode()), (2, f"tvms: there is no diagnostic or name '{word}'; did you mean '{near}'?\n"))

    def test_pipeline(self):
        said = tvms("explain", "lower-blocks").stdout.decode()
        self.assertTrue(said.startswith("lower-blocks = LowerInitBlock,"), said)


class Surroundings(unittest.TestCase):
    """Golden files are the one kind of input that every build of the program reads."""

    GOLDEN = b"# RUN: nothing\n# WHY: a file with two mistakes\n"

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            p = tvms("--help", stdout=full)
        self.assertEqual(p.returncode, 2)
        self.assertIn(b"No space left", p.stderr)

    def test_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        p = tvms("--help", stdout=writer)
        os.close(writer)
        self.assertEqual((p.returncode, p.stderr), (2, b""))

    def test_words_of_other_programs(self):
        self.assertEqual(tvms("help").stdout, tvms("--help").stdout)
        self.assertEqual(tvms("version").stdout, tvms("--version").stdout)
        self.assertEqual(tvms("-V").stdout, tvms("--version").stdout)

    def test_binary_file_is_one_finding(self):
        p = tvms("check", "--format", "json", "-", stdin=b"\x7fELF\x02\x00\x00\xff" * 500)
        self.assertEqual([f["code"] for f in json.loads(p.stdout)["findings"]], ["E0102"])

    def test_passes_by_the_names_of_others(self):
        for name in ("Legalize", "relax.transform.LegalizeOps", "legalizeops"):
            p = tvms("opt", "--passes", name, "-", stdin="")
            self.assertIn(b"did you mean 'LegalizeOps'?", p.stdout + p.stderr)

    def test_missing_input_is_one_finding(self):
        p = tvms("run", "--in", "x=/nowhere.npy", source("corpus", "mlp_module.tvms"))
        said = (p.stdout + p.stderr).decode()
        self.assertEqual(said.count("nowhere.npy"), 1, said)

    def test_closed_standard_error_is_no_signal(self):
        reader, writer = os.pipe()
        os.close(reader)
        p = tvms("nonsense", stderr=writer)
        os.close(writer)
        self.assertEqual(p.returncode, 2)

    def test_missing_file_and_folder_that_cannot_be_read(self):
        p = tvms("test", "/nowhere/x.tvms")
        self.assertIn(b"No such file or directory", p.stdout + p.stderr)
        self.assertNotEqual(p.returncode, 0)

    def test_findings_come_in_every_format(self):
        # `test` shows what its workers say, in the format asked for.
        with tempfile.NamedTemporaryFile(suffix=".tvms") as f:
            f.write(self.GOLDEN)
            f.flush()
            text = tvms("test", f.name).stdout.decode()
            self.assertIn(f"{f.name}:1:1: error[E1002]: RUN names a verb", text)
            self.assertIn("     1 | # RUN: nothing\n       | ^~~~~~~~~~~~~~\n", text)
            colored = tvms("test", "--color", "always", f.name).stdout.decode()
            self.assertIn("\x1b[1;31merror[E1002]\x1b[0m", colored)


class Hooks(unittest.TestCase):
    """What pre-commit runs: the entry of each hook, with the names of the files behind it."""

    def test_hooks_of_pre_commit(self):
        with open(source(".pre-commit-hooks.yaml"), encoding="utf-8") as f:
            entries = re.findall(r"^  entry: tvms (.+)$", f.read(), re.M)
        self.assertEqual(len(entries), 2)
        for entry in entries:
            with self.subTest(entry=entry), tempfile.TemporaryDirectory() as folder:
                paths = [os.path.join(folder, name) for name in ("a.tvms", "b.tvms")]
                for path in paths:
                    shutil.copy(source("corpus", "mlp_module.tvms"), path)
                self.assertEqual(tvms(*entry.split(), *paths).returncode, 0)
                with open(paths[1], "w", encoding="utf-8") as f:
                    f.write("x = (\n")
                self.assertEqual(tvms(*entry.split(), *paths).returncode, 1)


class Weights(unittest.TestCase):
    """Files of weights that BindParams puts in the place of parameters."""

    PROGRAM = """from tvm.script import relax as R
@R.function
def main(x: R.Tensor((2,), "float32"), w: R.Tensor(("n",), "float32"), b: R.Tensor((), "int64")):
    y = R.add(x, w)
    return (y, b, R.shape([n]))
"""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.program = os.path.join(self.folder, "main.tvms")
        with open(self.program, "w") as f:
            f.write(self.PROGRAM.replace("    y =", "    n = T.int64()\n    y =").replace("relax as R", "relax as R, tirx as T"))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def bound(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(content)
        return tvms("opt", "--passes", f"BindParams{{params={path}}}", self.program)

    def npy(self, kind, shape, data):
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
        head += " " * (-(len(head) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data

    def npz(self, compression=zipfile.ZIP_STORED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", compression) as archive:
            archive.writestr("w.npy", self.npy("<f4", "(2,)", struct.pack("<2f", 1.5, 2.5)))
            archive.writestr("b.npy", self.npy("<i8", "()", struct.pack("<q", 7)))
        return out.getvalue()

    def safetensors(self, dtype="F32", more={}):
        head = {"w": {"dtype": dtype, "shape": [2], "data_offsets": [8, 16]}, "b": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}, **more}
        text = json.dumps(head).encode()
        return struct.pack("<Q", len(text)) + text + struct.pack("<q2f", 7, 1.5, 2.5)

    def holds_weights(self, p):
        self.assertEqual(p.returncode, 0, p.stderr)
        text = p.stdout.decode()
        self.assertIn('def main(x: R.Tensor((2,), dtype="float32")) ->', text)
        self.assertIn('R.const(7, "int64"), R.shape([2])', text)
        self.assertIn("AADAPwAAIEA", text)  # 1.5 and 2.5

    def test_numpy(self):
        self.holds_weights(self.bound("w.npz", self.npz()))

    def test_safetensors(self):
        self.holds_weights(self.bound("w.safetensors", self.safetensors()))

    def test_truths(self):
        with open(self.program, "w") as f:
            f.write("from tvm.script import relax as R\n@R.function\ndef main(m: R.Tensor((3,), 'bool')):\n    return m\n")
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("m.npy", self.npy("|b1", "(3,)", bytes([1, 0, 1])))
        head = json.dumps({"m": {"dtype": "BOOL", "shape": [3], "data_offsets": [0, 3]}}).encode()
        for name, content in [("m.npz", out.getvalue()), ("m.safetensors", struct.pack("<Q", len(head)) + head + bytes([1, 0, 1]))]:
            p = self.bound(name, content)
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertIn('def main() -> R.Tensor((3,), dtype="bool")', p.stdout.decode())

    def test_large_file(self):
        """Files of any size are mapped: what nobody asks for is not read."""
        far = 3 << 30
        head = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [far + 8, far + 16]}, "b": {"dtype": "I64", "shape": [], "data_offsets": [far, far + 8]},
                "unused": {"dtype": "U8", "shape": [far], "data_offsets": [0, far]}}
        text = json.dumps(head).encode()
        path = os.path.join(self.folder, "large.safetensors")
        with open(path, "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text)
            f.seek(far, os.SEEK_CUR)
            f.write(struct.pack("<q2f", 7, 1.5, 2.5))
        self.holds_weights(tvms("opt", "--passes", f"BindParams{{params={path}}}", self.program))
        status, _, touched = memory_of("opt", "--passes", f"BindParams{{params={path}}}", self.program)
        self.assertEqual(status, 0)
        self.assertLess(touched, 600)

    def test_other_characters_in_names(self):
        """TVM writes a parameter `layers.0.w` as layers_0_w."""
        with open(self.program) as f:
            text = f.read()
        with open(self.program, "w") as f:
            f.write(text.replace("w:", "layers_0_w:").replace("(x, w)", "(x, layers_0_w)"))
        content = self.safetensors().replace(b'"w": {"dtype"', b'"layers.0.w": {"dtype"')
        content = struct.pack("<Q", struct.unpack("<Q", content[:8])[0] + 9) + content[8:]
        self.holds_weights(self.bound("w.safetensors", content))

    def test_names_that_begin_with_a_digit(self):
        """A name `0.w` of ONNX is no name in Python; `check --fix` makes it _0_w."""
        with open(self.program) as f:
            text = f.read()
        with open(self.program, "w") as f:
            f.write(text.replace("w:", "0_w:").replace("(x, w)", "(x, 0_w)"))
        self.assertEqual(tvms("check", "--fix", self.program).returncode, 0)
        content = self.safetensors().replace(b'"w": {"dtype"', b'"0.w": {"dtype"')
        content = struct.pack("<Q", struct.unpack("<Q", content[:8])[0] + 2) + content[8:]
        self.holds_weights(self.bound("w.safetensors", content))

    def test_file_that_cannot_be_mapped(self):
        self.refused("not a plain file", "w.safetensors", b"")

    def refused(self, said, name, content):
        p = self.bound(name, content)
        self.assertEqual(p.returncode, 1)
        self.assertIn(said, p.stderr.decode())

    def test_files_that_are_none(self):
        self.refused("error[E0833]", "w.npz", b"PK")
        for head in ({"w": {"dtype": [0], "shape": [2], "data_offsets": [0, 8]}}, {"w": 1}):
            text = json.dumps(head).encode()
            self.refused("cannot be read", "w.safetensors", struct.pack("<Q", len(text)) + text + bytes(8))
        self.refused("no name", "w.safetensors", struct.pack("<Q", 8) + b"{[1]: 2}")
        self.refused("cut off", "w.safetensors", self.safetensors()[:20])
        self.refused("compressed; numpy.savez", "w.npz", self.npz(zipfile.ZIP_DEFLATED))
        self.refused("weights 'w' cannot be read: the file ends before its last element", "w.safetensors", self.safetensors()[:-1])
        self.refused("neither", "w.bin", b"")

    def test_floats_of_eight_bits(self):
        with open(self.program, "w") as f:
            f.write("from tvm.script import relax as R\n@R.function\ndef main(w: R.Tensor((2,), 'KIND')):\n    return R.astype(w, 'float32')\n")
        with open(self.program) as f:
            text = f.read()
        for said, kind in ("F8_E4M3", "float8_e4m3fn"), ("F8_E5M2", "float8_e5m2"):
            with open(self.program, "w") as f:
                f.write(text.replace("KIND", kind))
            head = json.dumps({"w": {"dtype": said, "shape": [2], "data_offsets": [0, 2]}}).encode()
            p = self.bound("w.safetensors", struct.pack("<Q", len(head)) + head + bytes([0x38, 0x3C]))
            self.assertEqual(p.returncode, 0, p.stderr)
            self.assertIn("def main() ->", p.stdout.decode())

    def test_tensors_that_cannot_be_read(self):
        """They are an error if a parameter has their name, and nothing if none has."""
        self.refused("weights 'w' cannot be read: its data type is not known", "w.safetensors", self.safetensors("C64"))
        self.holds_weights(self.bound("w.safetensors", self.safetensors("F32", {"z": {"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}})))
        for kind, count in (">f4", 2), ("<c8", 1), ("|O", 1), ("<U1", 2):
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                archive.writestr("w.npy", self.npy(kind, f"({count},)", bytes(8)))
            self.refused("weights 'w' cannot be read: elements are not numbers or truths", "w.npz", out.getvalue())
        self.refused("weights 'w' cannot be read: the file ends before", "w.npz", self.npz().replace(b"(2,)", b"(9,)"))

    def test_archive_beyond_4_gib(self):
        """Where numbers need more than four bytes they stand elsewhere, which an archive may also do without need."""
        self.holds_weights(self.bound("w.npz", self.wide_npz()))
        for cut in range(1, 200, 7):
            self.assertIn(self.bound("w.npz", self.wide_npz()[:-cut]).returncode, (0, 1))

    def wide_npz(self):
        limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
        zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 10, 1
        try:
            return self.npz()
        finally:
            zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits

    def test_weight_of_another_type(self):
        self.refused("error[E0834]: weight 'w' is", "w.safetensors", self.safetensors("I32"))


if __name__ == "__main__":
    main()
