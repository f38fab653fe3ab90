#!/bin/sh
# What `./setup demo` shows: the main job on one program, step by step.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/build:$PATH
export PATH
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# step TITLE COMMAND [LINES [STATUS]]: shows and runs a command, at most LINES lines of what it
# says. It must end with STATUS, 0 if not given.
step() {
  printf '\n== %s\n$ %s\n' "$1" "$2"
  status=0
  sh -c "$2" >"$out/said" 2>&1 || status=$?
  head -n "${3:-30}" "$out/said"
  [ "$(wc -l <"$out/said")" -le "${3:-30}" ] || echo "..."
  [ "$status" = "${4:-0}" ] || { echo "demo: exit status $status" >&2; exit 1; }
}

echo "corpus/mlp_module.tvms is a network of two layers: PrimFuncs, and a Relax function that calls them."
step "Is it right? (no output: yes)" "tvms check corpus/mlp_module.tvms"
step "The same program with two mistakes: both are found, at their tokens, with a fix" \
  "tvms check corpus/mlp_module_as_published.tvms" 30 1
step "As TVM 0.27 prints it" "tvms print --dialect 0.27 corpus/mlp_module.tvms" 16
step "Which types have its values?" "tvms infer corpus/mlp_module.tvms" 40
step "Blocks lowered to loops" \
  "tvms opt --passes lower-blocks --verify-each corpus/mlp_module.tvms" 24
step "Run it on random inputs, interpreted and compiled: the same numbers" \
  "tvms run --seed 1 corpus/mlp_module.tvms; tvms run --seed 1 --backend llvm corpus/mlp_module.tvms"
step "Compile it to a library that C and Python can call" \
  "tvms build corpus/mlp_module.tvms --primfuncs-only -o $out/mlp.so && ls -s $out/mlp.so"
cat <<'END'

What to try next:
  tvms check --fix FILE        mend what can be mended safely
  tvms fmt -i FILE             format a file, comments kept
  tvms opt --list              every pass
  tvms explain E0201           what a finding means
  tvms --help                  everything else; the program is build/tvms
END
