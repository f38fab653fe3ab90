#!/usr/bin/env python3
"""Make the wheel of the Python package from a release build: programs, library and python/tvms.

    make_wheel.py BUILD OUT

Writes OUT/tvms-VERSION-py3-none-PLATFORM.whl and prints its path. The platform is asked of the files: their machine, and the newest version of the C
library that they need (PEP 600). What the library needs beside the C library goes in beside it. The plug-in for native code does not: it needs LLVM.
The same build gives the same bytes. Needs only what builds tvms (readelf and strip of binutils).
"""
import base64, hashlib, os, re, subprocess, sys, tempfile, zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "python", "tvms")
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|pthread|rt))\.so\.\d+$")
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], stdout=subprocess.PIPE, check=True, text=True).stdout


def needed(path):
    """Libraries that a file names, without those of the C library."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))
    return [name for name in names if not SYSTEM.match(name)]


def folders(machine):
    """Where Debian has libraries of a machine."""
    return [f"/usr/lib/{machine}-linux-gnu", f"/lib/{machine}-linux-gnu", "/usr/lib64", "/usr/lib"]


def found(name, machine):
    for folder in folders(machine):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    sys.exit(f"make_wheel: {name} is not in {', '.join(folders(machine))}")


def platform(paths):
    """The platform tag of files, and their machine."""
    machine = MACHINES[re.search(r"Machine:\s*(.*)", readelf("-h", paths[0])).group(1).strip()]
    versions = [tuple(map(int, v)) for path in paths for v in re.findall(r"GLIBC_(\d+)\.(\d+)", readelf("-V", path))]
    newest = max(versions + [(2, 17)])
    return f"manylinux_{newest[0]}_{newest[1]}_{machine}", machine


def version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        return re.search(r"^  version: '(.*)'", f.read(), re.M).group(1)


def metadata(number):
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as f:
        text = f.read()
    return (f"Metadata-Version: 2.1\nName: tvms\nVersion: {number}\nSummary: Check, format, print, transform and run TVMScript without TVM\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nClassifier: Framework :: Pytest\nClassifier: Operating System :: POSIX :: Linux\n"
            f"Description-Content-Type: text/markdown\n\n{text}")


class Wheel:
    """A zip file with the record of what is in it."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.info, self.record = info, []

    def add(self, name, data, executable=False):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        name = self.info + "/RECORD"
        self.record.append(name + ",,")
        self.zip.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), "\n".join(self.record) + "\n")
        self.zip.close()


def read(*parts):
    with open(os.path.join(*parts), "rb") as f:
        return f.read()


def stripped(path, machine):
    """The bytes of a program or library without its debug information."""
    tool = "strip" if machine == os.uname().machine else f"{machine}-linux-gnu-strip"
    with tempfile.NamedTemporaryFile() as small:
        subprocess.run([tool, "--strip-unneeded", "-o", small.name, path], check=True)
        return read(small.name)


def make(build, out):
    programs = [os.path.join(build, name) for name in ("tvms", "tvms-native")]
    library = os.path.realpath(os.path.join(build, "lib", "libtvms.so.0"))
    for path in programs + [library]:
        if not os.path.exists(path):
            sys.exit(f"make_wheel: {path} is not there: build without sanitizers (./setup build)")
    tag, machine = platform(programs + [library])
    number = version()
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, f"tvms-{number}-py3-none-{tag}.whl")
    info = f"tvms-{number}.dist-info"
    wheel = Wheel(path + ".part", info)
    for name in sorted(os.listdir(PACKAGE)):
        if name.endswith((".py", ".typed")):
            wheel.add("tvms/" + name, read(PACKAGE, name))
    wheel.add("tvms/libtvms.so.0", stripped(library, machine), executable=True)
    for name in needed(library):
        wheel.add("tvms/" + name, read(found(name, machine)), executable=True)
    for program in programs:
        wheel.add(f"tvms-{number}.data/scripts/{os.path.basename(program)}", stripped(program, machine), executable=True)
    wheel.add(info + "/METADATA", metadata(number).encode())
    wheel.add(info + "/WHEEL", f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode())
    wheel.add(info + "/entry_points.txt", b"[pytest11]\ntvms = tvms.pytest_plugin\n")
    wheel.add(info + "/LICENSE", read(ROOT, "LICENSE"))
    wheel.close()
    os.replace(path + ".part", path)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(make(sys.argv[1], sys.argv[2]))
