#!/usr/bin/env python3
"""Make a Debian package from a release build, with everything that `meson install` installs.

    make_deb.py BUILD OUT

Writes OUT/tvms_VERSION_ARCHITECTURE.deb and prints its path. What it depends on is asked of the files: the packages that own the libraries they need. The
plug-in's libraries are recommended, not required: all but native code works without. Needs dpkg-deb, dpkg-query and readelf.
"""
import json, os, re, shutil, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_wheel import ROOT, readelf, version

PLUGIN = "libtvms-llvm.so"


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def owner(library):
    """The package that a library of this system belongs to, without its architecture."""
    for line in run("dpkg-query", "--search", f"*/{os.uname().machine}-linux-gnu/{library}").splitlines():
        return line.split(":")[0]
    sys.exit(f"make_deb: no package has {library}")


def packages(paths):
    """The packages whose libraries files need, each with the oldest version that will do (of the C library: the newest that is asked for)."""
    names, newest = set(), (2, 17)
    for path in paths:
        names.update(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path)))
        newest = max([newest] + [tuple(map(int, v)) for v in re.findall(r"GLIBC_(\d+)\.(\d+)", readelf("-V", path))])
    owners = {owner(name) for name in names if not name.startswith(("libtvms", "ld-linux"))}
    return sorted(f"{name} (>= {newest[0]}.{newest[1]})" if name == "libc6" else name for name in owners)


def is_elf(path):
    with open(path, "rb") as f:
        return not os.path.islink(path) and f.read(4) == b"\x7fELF"


def files_of(stage):
    return [os.path.join(folder, name) for folder, _, names in os.walk(stage) for name in names]


def control(stage):
    elf = [path for path in files_of(stage) if is_elf(path)]
    needed = packages([path for path in elf if not path.endswith(PLUGIN)])
    wanted = [name for name in packages([path for path in elf if path.endswith(PLUGIN)]) if name.split()[0] not in {n.split()[0] for n in needed}]
    size = sum(os.path.getsize(path) for path in files_of(stage) if not os.path.islink(path)) // 1024
    lines = ["Package: tvms", f"Version: {version()}", f"Architecture: {run('dpkg', '--print-architecture').strip()}", "Section: devel", "Priority: optional",
             "Maintainer: the maintainers of tvms <maintainers@localhost>", f"Installed-Size: {size}", "Depends: " + ", ".join(needed)]
    lines += ["Recommends: " + ", ".join(wanted)] if wanted else []
    lines += ["Suggests: libutf8proc-dev"]  # to link libtvms.a
    lines += ["Description: check, format, print, transform, run and compile TVMScript",
              " The text of Apache TVM's IR, read without TVM and without Python: the program tvms,", " the library libtvms with its headers, and the plug-in for native code."]
    return "\n".join(lines) + "\n"


def check_folder(build):
    """Libraries must be where Debian's linker looks; meson finds that out only if dpkg-dev is installed."""
    options = json.loads(run("meson", "introspect", "--buildoptions", build))
    libdir = next(option["value"] for option in options if option["name"] == "libdir")
    wanted = f"lib/{os.uname().machine}-linux-gnu"
    if libdir != wanted:
        sys.exit(f"make_deb: {build} has its libraries in {libdir}: run 'meson configure {build} -Dlibdir={wanted}' and 'ninja -C {build}'")


def make(build, out):
    check_folder(build)
    with open(os.path.join(ROOT, "LICENSE"), encoding="utf-8") as f:
        license_text = f.read()
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        stage = os.path.join(place, "stage")
        run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", stage)
        # A build is configured for /usr/local; packages own /usr.
        local = os.path.join(stage, "usr", "local")
        if os.path.isdir(local):
            shutil.move(local, os.path.join(place, "usr"))
            shutil.rmtree(os.path.join(stage, "usr"))
            shutil.move(os.path.join(place, "usr"), os.path.join(stage, "usr"))
        folder = os.path.join(stage, "usr", "share", "doc", "tvms")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "copyright"), "w", encoding="utf-8") as f:
            f.write(license_text)
        text = control(stage)
        os.makedirs(os.path.join(stage, "DEBIAN"))
        with open(os.path.join(stage, "DEBIAN", "control"), "w", encoding="utf-8") as f:
            f.write(text)
        path = os.path.join(os.path.abspath(out), f"tvms_{version()}_{run('dpkg', '--print-architecture').strip()}.deb")
        run("dpkg-deb", "--root-owner-group", "--build", stage, path)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(make(sys.argv[1], sys.argv[2]))
