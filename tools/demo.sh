#!/bin/sh
# What `./setup demo` shows: the main job on one program, step by step.
set -eu
cd "$(dirname "$0")/.."
tvms=build/tvms

step() {
  printf '\n== %s\n$ %s\n' "$1" "$2"
  sh -c "$2"
}

step "What the program can do" "$tvms --help"
