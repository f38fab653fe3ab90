#!/bin/sh
# Makes the wheel of another processor on a Debian 12 machine for x86-64, and tries it under qemu-user.
#
#   cross_wheel.sh OUT [FOLDER]
#
# The only other processor is aarch64. It is built in FOLDER (build-aarch64) without LLVM; compiler, libraries and qemu come from Debian.
# The wheel's programs are run under emulation, and its Python module by Debian's Python of that processor.
set -eu
out=$(mkdir -p "${1:?usage: cross_wheel.sh OUT [FOLDER]}" && cd "$1" && pwd)
folder=${2:-build-aarch64}
cd "$(dirname "$0")/.."
packages='meson ninja-build pkg-config re2c lemon python3 gcc libc6-dev gcc-aarch64-linux-gnu qemu-user binutils libc6-dev:arm64 libutf8proc-dev:arm64
  libutf8proc-dev'

if ! dpkg --print-foreign-architectures | grep -qx arm64; then
  dpkg --add-architecture arm64
  apt-get update -qq
fi
# shellcheck disable=SC2086
env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null

[ -e "$folder/build.ninja" ] ||
  meson setup "$folder" --cross-file tools/aarch64.ini -Dbuildtype=release -Dtests=false -Dllvm=false >"$out/aarch64.log" 2>&1 || {
    cat "$out/aarch64.log" >&2
    exit 1
  }
rm -f "$out/aarch64.log"
ninja --quiet -C "$folder"
wheel=$(python3 tools/make_wheel.py "$folder" "$out")
echo "$wheel"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m zipfile -e "$wheel" "$place"
run() {
  qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"
}
chmod +x "$place"/tvms-*.data/scripts/*
program=$(echo "$place"/tvms-*.data/scripts/tvms)
run "$program" --version
run "$program" check corpus/mlp_module.tvms
run "$program" print --dialect 0.26 corpus/mlp_module.tvms >"$place/printed.tvms"
run "$program" check "$place/printed.tvms"
run "$program-native" run --seed 1 corpus/mlp_module.tvms
# The library by a Python of its own processor, which needs no installation.
(cd "$place" && apt-get download -qq libpython3.11-minimal:arm64 libpython3.11-stdlib:arm64 python3.11-minimal:arm64 libffi8:arm64 libexpat1:arm64 zlib1g:arm64 \
  libc6:arm64 >/dev/null && for package in *.deb; do dpkg-deb -x "$package" root; done)
PYTHONPATH="$place" qemu-aarch64 -L "$place/root" -E LD_LIBRARY_PATH="$place/root/lib/aarch64-linux-gnu:$place/root/usr/lib/aarch64-linux-gnu" \
  -E PYTHONHOME="$place/root/usr" "$place/root/usr/bin/python3.11" -c '
import tvms
found = tvms.check("from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return R.add(x, y)\n")
print(tvms.__version__, [d.code for d in found])'
