"""Inputs that fuzz targets start from, where programs are not what they read."""
import io, json, os, re, struct, sys, tempfile, zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "syntax"))
import npy
from cases import files_under, tvms
from forms import SOUND

NUMBERS = [("a", "<f4", (2, 3)), ("b", "<i8", (4,)), ("c", "<f2", ()), ("d", "|b1", (1, 2))]


def archive():
    out = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(out, "w") as z:
        for name, kind, shape in NUMBERS:
            path, count = os.path.join(folder, name + ".npy"), 1
            for n in shape:
                count *= n
            npy.write(path, kind, shape, [i % 2 for i in range(count)])
            z.write(path, name + ".npy")
    return out.getvalue()


def safetensors():
    head = {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
            "b": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]}}
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + bytes(range(22))


def schedules():
    """The steps of golden files, and the traces beside them."""
    for path in files_under(os.path.join("tests", "golden", "schedule")):
        with open(path, encoding="utf-8") as f:
            steps = re.search(r"^# SCHEDULE:\n((?:# .*\n)+)", f.read(), re.M)
        if steps:
            yield "".join(line[2:] + "\n" for line in steps.group(1).splitlines()).encode()


def executables():
    """Code of the virtual machine for the golden files of vm/, alone and as a library has it inside."""
    for path in files_under(os.path.join("tests", "golden", "vm")):
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "x.vm")
            if tvms("build", path, "-o", made).returncode == 0:
                with open(made, "rb") as f:
                    code = f.read()
                yield code
                tail = struct.pack("<QQQQQQ", 3, 0, 1, 1, 1, 1) + struct.pack("<Q", 18) + b"relax.VMExecutable"
                tail += struct.pack("<Q", len(code)) + code + struct.pack("<Q", 4) + b"_lib"
                yield struct.pack("<Q", len(tail)) + tail


def pythons():
    """The Python of tests/, and forms of all releases."""
    for path in files_under("tests", suffix=".py"):
        with open(path, "rb") as f:
            yield f.read()[:8192]
    for texts in SOUND.values():
        yield "\n".join(texts).encode()


def jsons():
    """A checkpoint of a cache, and what JSON has otherwise."""
    pages = [{"logical_page_index": i, "start_pos": 16 * i, "length": 16 - 9 * i} for i in range(2)]
    group = {"group_index": 0, "layer_begin": 0, "layer_end": 1, "num_logical_pages": 2, "dtype": "float32", "shape": [1, 2, 2, 2, 16, 8], "nbytes": 4096}
    yield json.dumps({"seq_id": 0, "seq_length": 23, "attn_kinds": ["mha"], "rope": {"theta": 1e4, "scale": -1.5}, "logical_pages": pages, "groups": [group]}).encode()
    yield json.dumps([None, True, False, 0, -(1 << 63), (1 << 63) - 1, 1 << 63, 0.5, 1e300, "\u00e9\n\"\\/", "", [], {}, [[[]]], {"": {"shape": [1]}}], indent=1).encode()
    yield ("[" * 64 + "]" * 64).encode()


def of(target):
    if target == "fuzz_json":
        return list(jsons())
    if target == "fuzz_vm":
        return list(executables())
    if target == "fuzz_weights":
        return [archive(), safetensors()]
    if target == "fuzz_syntax":
        return list(pythons())
    if target == "fuzz_trace":
        return list(schedules())
    return []
