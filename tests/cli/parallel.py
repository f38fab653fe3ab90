#!/usr/bin/env python3
"""T.parallel in native code: loops run on threads, give what they say, and fail as a serial loop does."""
import ctypes, os, re, struct, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, source, tvms
from library_calls import call, listen

HEAD = "from tvm.script import tirx as T\n\n"
SUMS = HEAD + """@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    Y = T.alloc_buffer((n, m), "float32")
    for i in T.parallel(n):
        Z = T.alloc_buffer((m,), "float32")
        for j in range(m):
            Z[j] = A[i, j] * T.float32(2)
        for j in range(m):
            Y[i, j] = T.if_then_else(j > 0, Z[j] + Z[j - 1], Z[j])
    for i in T.parallel(2, n):
        for j in T.parallel(m):
            B[i, j] = Y[i, j] - Y[i - 2, j]
    for i, j in T.grid(2, m):
        B[i, j] = T.float32(0)
"""
DIVISIONS = HEAD + """@T.prim_func
def f(A: T.Buffer((64, 64), "int32"), B: T.Buffer((64, 64), "int32"), C: T.Buffer((64, 64), "int32")):
    for i in T.parallel(64):
        for j in range(64):
            assert A[i, j] != 77, "it is 77"
            C[i, j] = A[i, j] // B[i, j]
"""
# More values than there are registers for, and memory that the library keeps.
MANY = HEAD + """@T.prim_func
def f(a: T.handle, b: T.handle, c: T.handle, d: T.handle, e: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "int32")
    B = T.match_buffer(b, (n, m), "int32")
    C = T.match_buffer(c, (n, m), "int32")
    D = T.match_buffer(d, (n, m), "int32")
    E = T.match_buffer(e, (n, m), "int32")
    Z = T.alloc_buffer((1000000,), "int32")
    for i in range(1000000):
        Z[i] = 3
    for i in T.parallel(n):
        for j in range(m):
            assert D[i, j] != 77, "it is 77"
            E[i, j] = A[i, j] // B[i, j] + C[i, j] * D[i, j] + Z[i * m + j]
"""
# Each is what its steps give one after another, whatever is marked.
SERIAL = {
    "all steps write one element": """    for i in T.parallel(1000):
        B[0] = B[0] + A[i]
""", "all steps write the same row": """    for i in T.parallel(10):
        for j in range(100):
            B[j] = A[i * 100 + j]
""", "a step leaves": """    for i in T.parallel(1000):
        if A[i] > T.float32(2):
            T.evaluate(T.break_loop())
        B[i] = A[i]
""", "steps share memory that is outside": """    Y = T.alloc_buffer((16,), "float32")
    for i in T.parallel(62):
        for j in range(16):
            Y[j] = A[i * 16 + j]
        for j in range(16):
            B[i * 16 + j] = Y[15 - j]
"""}


def ints(value, count=64 * 64):
    return bytearray(struct.pack("<i", value) * count)


class Parallel(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def file(self, name):
        return os.path.join(self.place.name, name)

    def text(self, program):
        p = tvms("build", "-", "-o", self.file("x.ll"), stdin=program)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        with open(self.file("x.ll"), encoding="utf-8") as f:
            return f.read()

    def build(self, program, name="x.so"):
        p = tvms("build", "-", "-o", self.file(name), stdin=program)
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        return self.file(name)

    def results(self, program, backend, threads, *more):
        p = tvms("run", "-", "--backend", backend, "--out", self.place.name, *more, stdin=program, env=dict(os.environ, TVMS_NUM_THREADS=str(threads)))
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        with open(self.file("result.npy"), "rb") as f:
            return p.stdout, f.read()

    def test_results_are_those_of_the_interpreter(self):
        self.assertEqual(len(re.findall(r"^define internal [^\n]*@f\.task", self.text(SUMS), re.M)), 2)
        wanted = self.results(SUMS, "interp", 1)
        for threads in (1, 2, 3, 7):
            with self.subTest(threads=threads):
                self.assertEqual(self.results(SUMS, "llvm", threads), wanted)

    def test_what_must_be_serial_is(self):
        for name, body in SERIAL.items():
            program = HEAD + '@T.prim_func\ndef f(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):\n' + body
            with self.subTest(name=name):
                self.assertNotIn("f.task", self.text(program))
                self.assertEqual(self.results(program, "llvm", 5), self.results(program, "interp", 1))

    def test_an_error_is_raised_once_and_is_the_first(self):
        library, said = ctypes.CDLL(self.build(DIVISIONS)), []
        listen(library, said)
        a, b, c = ints(5), ints(1), ints(0)
        for _ in range(20):
            self.assertEqual(call(library, [("<i4", (64, 64), x) for x in (a, b, c)]), 0)
            self.assertEqual((said, c), ([], ints(5)))
        for row in range(0, 64, 7):
            for line in range(row, 64):
                struct.pack_into("<i", b if line % 2 == row % 2 else a, 4 * (64 * line + line), 0 if line % 2 == row % 2 else 77)
            self.assertEqual(call(library, [("<i4", (64, 64), x) for x in (a, b, c)]), -1)
            self.assertEqual(said, [("ZeroDivisionError", "division by zero")])
            said.clear()
            a, b = ints(5), ints(1)

    def test_many_values(self):
        library, said = ctypes.CDLL(self.build(MANY)), []
        listen(library, said)
        tensors = [("<i4", (64, 64), ints(value)) for value in (24, 2, 5, 7, 0)]
        self.assertEqual(call(library, tensors), 0)
        self.assertEqual((said, tensors[4][2]), ([], ints(24 // 2 + 5 * 7 + 3)))
        struct.pack_into("<i", tensors[1][2], 4 * 64 * 33, 0)
        struct.pack_into("<i", tensors[3][2], 4 * 64 * 50, 77)
        self.assertEqual(call(library, tensors), -1)
        self.assertEqual(said, [("ZeroDivisionError", "division by zero")])

    def test_kept_memory_goes_with_the_library(self):
        """4 MB that a call needs are kept for the next one, and freed when the library is unloaded."""
        code = """
import ctypes, sys, _ctypes
sys.path.insert(0, sys.argv[2])
from library_calls import call
def pages():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1])
for turn in range(30):
    library = ctypes.CDLL(sys.argv[1])
    assert call(library, [("<i4", (4, 4), bytearray(64 * b"\\1")) for _ in range(5)]) == 0
    handle, library = library._handle, None
    _ctypes.dlclose(handle)
    if turn == 12:
        before = pages()
assert pages() - before < 3000, pages() - before
"""
        p = subprocess.run([sys.executable, "-c", code, self.build(MANY), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))],
                           timeout=120, capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr.decode())

    def test_an_error_of_run_has_its_place(self):
        program = DIVISIONS.replace("A[i, j] // B[i, j]", "A[i, j] // (i - 40)")
        said = [tvms("run", "-", "--backend", backend, stdin=program, env=dict(os.environ, TVMS_NUM_THREADS="4")) for backend in ("interp", "llvm")]
        for p in said:
            self.assertEqual(p.returncode, 1)
            self.assertEqual(re.findall(r":(\d+):\d+: error", p.stderr.decode()), ["8"], p.stderr.decode())

    def test_unloaded_and_forked(self):
        """In a process of its own: a library is loaded, used, forked and unloaded again and again."""
        code = """
import ctypes, os, sys, _ctypes
sys.path.insert(0, sys.argv[2])
from library_calls import call
def run(library):
    a, b, c = (bytearray((i).to_bytes(4, "little") * 4096) for i in (6, 2, 0))
    status = call(library, [("<i4", (64, 64), x) for x in (a, b, c)])
    return status == 0 and c == bytearray((3).to_bytes(4, "little") * 4096)
for turn in range(20):
    library = ctypes.CDLL(sys.argv[1])
    assert run(library)
    child = os.fork()
    if child == 0:
        os._exit(0 if run(library) and run(library) else 1)
    assert run(library)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    handle, library = library._handle, None
    _ctypes.dlclose(handle)
"""
        p = subprocess.run([sys.executable, "-c", code, self.build(DIVISIONS), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))],
                           env=dict(os.environ, TVMS_NUM_THREADS="4"), timeout=120, capture_output=True)
        self.assertEqual(p.returncode, 0, p.stderr.decode())

    def test_who_loads_a_library_can_have_the_threads(self):
        library = ctypes.CDLL(self.build(DIVISIONS))
        asked = []
        task = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

        class Environment(ctypes.Structure):
            _fields_ = [("sync", ctypes.c_void_p), ("tasks", ctypes.c_int)]

        @ctypes.CFUNCTYPE(ctypes.c_int, task, ctypes.c_void_p, ctypes.c_int)
        def launch(function, data, most):
            asked.append(most)
            environment = Environment(None, 5)
            for i in (3, 1, 4, 0, 2):
                self.assertEqual(function(i, ctypes.addressof(environment), data), 0)
            return 0

        ctypes.c_void_p.in_dll(library, "__TVMBackendParallelLaunch").value = ctypes.cast(launch, ctypes.c_void_p).value
        c = ints(0)
        self.assertEqual(call(library, [("<i4", (64, 64), x) for x in (ints(9), ints(3), c)]), 0)
        self.assertEqual((asked, c), ([0], ints(3)))

    def test_an_object_without_threads_is_serial(self):
        """Linked by somebody else, without libtvms_rt.a."""
        self.build(DIVISIONS, "x.o")
        subprocess.run(["cc", "-shared", self.file("x.o"), "-o", self.file("y.so"), "-Wl,-z,defs"], check=True)
        c = ints(0)
        self.assertEqual(call(ctypes.CDLL(self.file("y.so")), [("<i4", (64, 64), x) for x in (ints(9), ints(3), c)]), 0)
        self.assertEqual(c, ints(3))

    def test_the_pool_under_thread_sanitizer(self):
        program = self.file("pool")
        c = subprocess.run(["clang", "-std=c11", "-O1", "-g", "-fsanitize=thread", "-pthread", "-I" + source("."), source("tests", "cli", "parallel.c"),
                            source("runtime", "parallel.c"), "-o", program], capture_output=True)
        self.assertEqual(c.returncode, 0, c.stderr.decode())
        for threads in ("1", "2", "8"):
            p = subprocess.run([program], env=dict(os.environ, TVMS_NUM_THREADS=threads, TSAN_OPTIONS="exitcode=66 die_after_fork=0"), timeout=300, capture_output=True)
            self.assertEqual((p.returncode, p.stderr.decode()), (0, ""), threads)

    def test_workers_do_not_take_the_processor_from_their_caller(self):
        """On one processor a worker that is woken asks once where it runs, and sleeps: if it looked for work as long as elsewhere, it would ask 125 times
        a call (and without the question never: each call asks once for itself)."""
        program = self.file("pinned")
        subprocess.run(["cc", "-std=c11", "-O2", "-pthread", "-I" + source("."), source("tests", "cli", "parallel.c"), source("runtime", "parallel.c"), "-o", program], check=True)
        p = subprocess.run([program, "pinned"], env=dict(os.environ, TVMS_NUM_THREADS="2"), timeout=300, capture_output=True, check=True)
        calls = 1000
        self.assertGreater(int(p.stdout), calls)
        self.assertLessEqual(int(p.stdout), 2 * calls + 1)



if __name__ == "__main__":
    main()
