#!/usr/bin/env python3
"""Loops as PolyBench has them, written plainly in TIR, against the same loops in C by `cc -O3 -march=native -ffast-math`.

    python3 bench/native/polybench.py build-rel [--only PATTERN] [--out bench/native/results]

A kernel is written once; the loops of C are made of that text. Both are called in one process, in turns; one thread, CPU time, the least of several. The contents of all tensors are
compared afterwards: the largest error over the largest value, which is what another order of sums makes.
"""
import ctypes, os, re, subprocess, tempfile

import models, schedules

# Name, sizes, tensors, loops. `#` stands for a number of float32; a tensor with `*` is positive definite, one with `!` is a variable of the kernel.
KERNELS = {
    "atax": ("M=1000 N=900", "A:M,N x:N y:N t:M", """
for j in range(N):
    y[j] = #0
for i in range(M):
    t[i] = #0
    for j in range(N):
        t[i] = t[i] + A[i, j] * x[j]
    for j in range(N):
        y[j] = y[j] + A[i, j] * t[i]
"""),
    "bicg": ("M=1000 N=900", "A:M,N s:N q:M p:N r:M", """
for j in range(N):
    s[j] = #0
for i in range(M):
    q[i] = #0
    for j in range(N):
        s[j] = s[j] + r[i] * A[i, j]
        q[i] = q[i] + A[i, j] * p[j]
"""),
    "mvt": ("N=1000", "A:N,N a:N b:N c:N d:N", """
for i in range(N):
    for j in range(N):
        a[i] = a[i] + A[i, j] * c[j]
for i in range(N):
    for j in range(N):
        b[i] = b[i] + A[j, i] * d[j]
"""),
    "gemver": ("N=1000", "A:N,N u:N v:N p:N q:N w:N x:N y:N z:N", """
for i in range(N):
    for j in range(N):
        A[i, j] = A[i, j] * #0.001 + u[i] * v[j] + p[i] * q[j]
for i in range(N):
    for j in range(N):
        x[i] = x[i] + #0.001 * A[j, i] * y[j]
for i in range(N):
    x[i] = x[i] + z[i]
for i in range(N):
    for j in range(N):
        w[i] = w[i] + #0.001 * A[i, j] * x[j]
"""),
    "gesummv": ("N=1000", "A:N,N B:N,N t:N x:N y:N", """
for i in range(N):
    t[i] = #0
    y[i] = #0
    for j in range(N):
        t[i] = A[i, j] * x[j] + t[i]
        y[i] = B[i, j] * x[j] + y[i]
    y[i] = #1.5 * t[i] + #1.2 * y[i]
"""),
    "gemm": ("N=200 M=220 K=240", "C:N,M A:N,K B:K,M", """
for i in range(N):
    for j in range(M):
        C[i, j] = C[i, j] * #1.2
    for k in range(K):
        for j in range(M):
            C[i, j] = C[i, j] + #1.5 * A[i, k] * B[k, j]
"""),
    "2mm": ("N=180 M=190 K=210 L=220", "X:N,M A:N,K B:K,M C:M,L D:N,L", """
for i in range(N):
    for j in range(M):
        X[i, j] = #0
        for k in range(K):
            X[i, j] = X[i, j] + #1.5 * A[i, k] * B[k, j]
for i in range(N):
    for j in range(L):
        D[i, j] = D[i, j] * #1.2
        for k in range(M):
            D[i, j] = D[i, j] + X[i, k] * C[k, j]
"""),
    "3mm": ("N=180 M=190 K=200 L=210 O=220", "E:N,M A:N,K B:K,M F:M,L C:M,O D:O,L G:N,L", """
for i in range(N):
    for j in range(M):
        E[i, j] = #0
        for k in range(K):
            E[i, j] = E[i, j] + A[i, k] * B[k, j]
for i in range(M):
    for j in range(L):
        F[i, j] = #0
        for k in range(O):
            F[i, j] = F[i, j] + C[i, k] * D[k, j]
for i in range(N):
    for j in range(L):
        G[i, j] = #0
        for k in range(M):
            G[i, j] = G[i, j] + E[i, k] * F[k, j]
"""),
    "syrk": ("N=240 M=200", "C:N,N A:N,M", """
for i in range(N):
    for j in range(i + 1):
        C[i, j] = C[i, j] * #1.2
    for k in range(M):
        for j in range(i + 1):
            C[i, j] = C[i, j] + #1.5 * A[i, k] * A[j, k]
"""),
    "syr2k": ("N=240 M=200", "C:N,N A:N,M B:N,M", """
for i in range(N):
    for j in range(i + 1):
        C[i, j] = C[i, j] * #1.2
    for k in range(M):
        for j in range(i + 1):
            C[i, j] = C[i, j] + A[j, k] * #1.5 * B[i, k] + B[j, k] * #1.5 * A[i, k]
"""),
    "trmm": ("M=200 N=240", "A:M,M B:M,N", """
for i in range(M):
    for j in range(N):
        for k in range(i + 1, M):
            B[i, j] = B[i, j] + A[k, i] * B[k, j]
        B[i, j] = #0.01 * B[i, j]
"""),
    "symm": ("M=200 N=240", "C:M,N A:M,M B:M,N t:1!", """
for i in range(M):
    for j in range(N):
        t[0] = #0
        for k in range(i):
            C[k, j] = C[k, j] + #1.5 * B[i, j] * A[i, k]
            t[0] = t[0] + B[k, j] * A[i, k]
        C[i, j] = #1.2 * C[i, j] + #1.5 * B[i, j] * A[i, i] + #1.5 * t[0]
"""),
    "doitgen": ("R=50 Q=40 P=60", "A:R,Q,P C:P,P s:P", """
for r in range(R):
    for q in range(Q):
        for p in range(P):
            s[p] = #0
            for k in range(P):
                s[p] = s[p] + A[r, q, k] * C[k, p]
        for p in range(P):
            A[r, q, p] = s[p]
"""),
    "jacobi-1d": ("S=100 N=2000", "A:N B:N", """
for t in range(S):
    for i in range(1, N - 1):
        B[i] = #0.33333 * (A[i - 1] + A[i] + A[i + 1])
    for i in range(1, N - 1):
        A[i] = #0.33333 * (B[i - 1] + B[i] + B[i + 1])
"""),
    "jacobi-2d": ("S=20 N=250", "A:N,N B:N,N", """
for t in range(S):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            B[i, j] = #0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            A[i, j] = #0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
"""),
    "heat-3d": ("S=10 N=40", "A:N,N,N B:N,N,N", """
for t in range(S):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            for k in range(1, N - 1):
                B[i, j, k] = #0.125 * (A[i + 1, j, k] - #2 * A[i, j, k] + A[i - 1, j, k]) + #0.125 * (A[i, j + 1, k] - #2 * A[i, j, k] + A[i, j - 1, k]) + #0.125 * (A[i, j, k + 1] - #2 * A[i, j, k] + A[i, j, k - 1]) + A[i, j, k]
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            for k in range(1, N - 1):
                A[i, j, k] = #0.125 * (B[i + 1, j, k] - #2 * B[i, j, k] + B[i - 1, j, k]) + #0.125 * (B[i, j + 1, k] - #2 * B[i, j, k] + B[i, j - 1, k]) + #0.125 * (B[i, j, k + 1] - #2 * B[i, j, k] + B[i, j, k - 1]) + B[i, j, k]
"""),
    "seidel-2d": ("S=5 N=200", "A:N,N", """
for t in range(S):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            A[i, j] = (A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / #9
"""),
    "fdtd-2d": ("S=20 N=200 M=240", "X:N,M Y:N,M H:N,M f:S", """
for t in range(S):
    for j in range(M):
        Y[0, j] = f[t]
    for i in range(1, N):
        for j in range(M):
            Y[i, j] = Y[i, j] - #0.5 * (H[i, j] - H[i - 1, j])
    for i in range(N):
        for j in range(1, M):
            X[i, j] = X[i, j] - #0.5 * (H[i, j] - H[i, j - 1])
    for i in range(N - 1):
        for j in range(M - 1):
            H[i, j] = H[i, j] - #0.7 * (X[i, j + 1] - X[i, j] + Y[i + 1, j] - Y[i, j])
"""),
    "covariance": ("N=260 M=240", "D:N,M V:M,M m:M", """
for j in range(M):
    m[j] = #0
    for i in range(N):
        m[j] = m[j] + D[i, j]
    m[j] = m[j] / #260
for i in range(N):
    for j in range(M):
        D[i, j] = D[i, j] - m[j]
for i in range(M):
    for j in range(i, M):
        V[i, j] = #0
        for k in range(N):
            V[i, j] = V[i, j] + D[k, i] * D[k, j]
        V[i, j] = V[i, j] / #259
        V[j, i] = V[i, j]
"""),
    "correlation": ("N=260 M=240", "D:N,M V:M,M m:M s:M", """
for j in range(M):
    m[j] = #0
    for i in range(N):
        m[j] = m[j] + D[i, j]
    m[j] = m[j] / #260
for j in range(M):
    s[j] = #0
    for i in range(N):
        s[j] = s[j] + (D[i, j] - m[j]) * (D[i, j] - m[j])
    s[j] = sqrt(s[j] / #260)
for i in range(N):
    for j in range(M):
        D[i, j] = (D[i, j] - m[j]) / (#16.1245 * s[j])
for i in range(M):
    V[i, i] = #1
    for j in range(i + 1, M):
        V[i, j] = #0
        for k in range(N):
            V[i, j] = V[i, j] + D[k, i] * D[k, j]
        V[j, i] = V[i, j]
"""),
    "gramschmidt": ("M=200 N=160", "A:M,N R:N,N Q:M,N t:1!", """
for k in range(N):
    t[0] = #0
    for i in range(M):
        t[0] = t[0] + A[i, k] * A[i, k]
    R[k, k] = sqrt(t[0])
    for i in range(M):
        Q[i, k] = A[i, k] / R[k, k]
    for j in range(k + 1, N):
        R[k, j] = #0
        for i in range(M):
            R[k, j] = R[k, j] + Q[i, k] * A[i, j]
        for i in range(M):
            A[i, j] = A[i, j] - Q[i, k] * R[k, j]
"""),
    "lu": ("N=200", "A:N,N*", """
for i in range(N):
    for j in range(i):
        for k in range(j):
            A[i, j] = A[i, j] - A[i, k] * A[k, j]
        A[i, j] = A[i, j] / A[j, j]
    for j in range(i, N):
        for k in range(i):
            A[i, j] = A[i, j] - A[i, k] * A[k, j]
"""),
    "cholesky": ("N=200", "A:N,N*", """
for i in range(N):
    for j in range(i):
        for k in range(j):
            A[i, j] = A[i, j] - A[i, k] * A[j, k]
        A[i, j] = A[i, j] / A[j, j]
    for k in range(i):
        A[i, i] = A[i, i] - A[i, k] * A[i, k]
    A[i, i] = sqrt(A[i, i])
"""),
    "durbin": ("N=400", "r:N y:N z:N a:1! b:1! s:1!", """
y[0] = #-0.01 * r[0]
b[0] = #1
a[0] = #-0.01 * r[0]
for k in range(1, N):
    b[0] = (#1 - a[0] * a[0]) * b[0]
    s[0] = #0
    for i in range(k):
        s[0] = s[0] + #0.01 * r[k - i - 1] * y[i]
    a[0] = #-1 * (#0.01 * r[k] + s[0]) / b[0]
    for i in range(k):
        z[i] = y[i] + a[0] * y[k - i - 1]
    for i in range(k):
        y[i] = z[i]
    y[k] = a[0]
"""),
    "trisolv": ("N=1000", "L:N,N* x:N b:N", """
for i in range(N):
    x[i] = b[i]
    for j in range(i):
        x[i] = x[i] - L[i, j] * x[j]
    x[i] = x[i] / L[i, i]
"""),
    "floyd-warshall": ("N=180", "p:N,N", """
for k in range(N):
    for i in range(N):
        for j in range(N):
            p[i, j] = min(p[i, j], p[i, k] + p[k, j])
"""),
    "nussinov": ("N=180", "s:N p:N,N", """
for q in range(N):
    for j in range(N - q, N):
        if j > 0:
            p[N - 1 - q, j] = max(p[N - 1 - q, j], p[N - 1 - q, j - 1])
        if N - q < N:
            p[N - 1 - q, j] = max(p[N - 1 - q, j], p[N - q, j])
        if j > 0 and N - q < N:
            if N - 1 - q < j - 1:
                p[N - 1 - q, j] = max(p[N - 1 - q, j], p[N - q, j - 1] + s[j])
            else:
                p[N - 1 - q, j] = max(p[N - 1 - q, j], p[N - q, j - 1])
        for k in range(N - q, j):
            p[N - 1 - q, j] = max(p[N - 1 - q, j], p[N - 1 - q, k] + p[k + 1, j])
"""),
}


class Kernel:
    def __init__(self, name):
        sizes, tensors, self.loops = KERNELS[name]
        self.name, self.sizes = name, dict((n, int(v)) for n, v in (s.split("=") for s in sizes.split()))
        self.tensors, self.variables, self.diagonal = {}, {}, set()
        for tensor in tensors.split():
            letter, shape = tensor.split(":")
            if shape.endswith("*"):
                self.diagonal.add(letter)
            (self.variables if shape.endswith("!") else self.tensors)[letter] = [self.sizes.get(d) or int(d) for d in shape.rstrip("*!").split(",")]

    def with_sizes(self):
        return re.sub(r"\b(" + "|".join(self.sizes) + r")\b(?!\[)", lambda m: str(self.sizes[m[1]]), self.loops.strip("\n"))

    def tir(self):
        body = re.sub(r"#(-?[0-9.]+)", r"T.float32(\1)", self.with_sizes())
        body = re.sub(r"\b(sqrt|min|max)\(", r"T.\1(", body)
        params = ", ".join(f'{n}: T.Buffer(({", ".join(map(str, s))}{"," * (len(s) == 1)}), "float32")' for n, s in self.tensors.items())
        return "\n".join(["from tvm.script import ir as I, tirx as T", "@I.ir_module", "class Module:", "    @T.prim_func(s_tir=True)", f"    def main({params}):",
                          '        T.func_attr({"tirx.noalias": True})', *(f"        {n} = T.alloc_buffer(({d},))" for n, (d,) in self.variables.items()), *("        " + line for line in body.splitlines()), ""])

    def c(self):
        out = ["#include <math.h>", "#define min(a, b) ((a) < (b) ? (a) : (b))", "#define max(a, b) ((a) > (b) ? (a) : (b))", "#define sqrt sqrtf",
               "void kernel(" + ", ".join(f"float {n}[restrict {s[0]}]" + "".join(f"[{d}]" for d in s[1:]) for n, s in self.tensors.items()) + ") {", *(f"float {n}[{d}];" for n, (d,) in self.variables.items())]
        depth = 0
        for line in self.with_sizes().splitlines():
            level = (len(line) - len(line.lstrip())) // 4
            out += ["}"] * (depth - level)
            depth, text = level, re.sub(r"\[([^][]*)\]", lambda m: "".join(f"[{i.strip()}]" for i in m[1].split(",")), line.strip())
            text = re.sub(r"#(-?[0-9.]+)", lambda m: f"({float(m[1])}f)", text)
            loop = re.match(r"for (\w) in range\((?:(.*), )?(.*)\):", text)
            if loop:
                text, depth = f"for (int {loop[1]} = {loop[2] or 0}; {loop[1]} < {loop[3]}; {loop[1]}++) {{", depth + 1
            elif text.startswith(("if ", "else")):
                text, depth = re.sub(r"if (.*):", r"if (\1) {", text).replace(" and ", " && ").replace("else:", "else {"), depth + 1
            else:
                text += ";"
            out.append(text)
        return "\n".join(out + ["}"] * (depth + 1) + [""])

    def values(self):
        import numpy
        random = numpy.random.default_rng(3)
        made = {}
        for name, shape in self.tensors.items():
            value = random.random(shape, "f4")
            if name in self.diagonal:
                value = value @ value.T / shape[0] + 2 * numpy.eye(shape[0], dtype="f4")
            made[name] = schedules.aligned(value.astype("f4"))
        return made


def measure(tvms, kernel, folder):
    """Seconds of both, and the largest error over the largest value."""
    import numpy, tvm_ffi
    function = schedules.built(tvms, kernel.tir(), folder, kernel.name)[0]
    base = os.path.join(folder, kernel.name)
    with open(base + ".c", "w", encoding="utf-8") as f:
        f.write(kernel.c())
    subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", base + ".c", "-o", base + "_c.so", "-lm"], check=True)
    theirs = ctypes.CDLL(base + "_c.so").kernel
    ours, others, start = kernel.values(), kernel.values(), kernel.values()
    given = [tvm_ffi.from_dlpack(v) for v in ours.values()]
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in others.values()]
    function(*given)
    theirs(*pointers)
    error = max(float(numpy.abs(ours[n] - others[n]).max() / max(numpy.abs(others[n]).max(), 1e-30)) for n in ours)

    def again(values, call):
        """From the same contents each time; the copies are the same work on both sides."""
        for name, value in values.items():
            value[...] = start[name]
        call()

    times = schedules.least_times({"tvms": lambda: again(ours, lambda: function(*given)), "C": lambda: again(others, lambda: theirs(*pointers)), "copies": lambda: again(ours, lambda: None)})
    return {way: max(times[way] - times["copies"], 1e-7) for way in ("tvms", "C")}, error


def inside(tvms, pattern, threads, out):
    lines = ["| kernel | tvms, us | C, us | tvms / C | difference |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    schedules.BUDGET = 0.4
    with tempfile.TemporaryDirectory() as folder:
        for name in KERNELS:
            if not re.search(pattern, name):
                continue
            times, error = measure(tvms, Kernel(name), folder)
            lines.append(f"| {name} | {times['tvms'] * 1e6:.1f} | {times['C'] * 1e6:.1f} | {times['tvms'] / times['C']:.2f} | {error:.1e} |")
            print(lines[-1], flush=True)
    models.keep(lines, "polybench", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "polybench", inside)
