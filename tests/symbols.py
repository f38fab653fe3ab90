#!/usr/bin/env python3
"""Every symbol that a static library of the project gives the linker is named for its area.

    symbols.py LIBRARY...

A name is tvms_AREA_… and AREA is one that the library has: a name tells where it is defined,
and two libraries share an area only where one completes what the other declares. libtvms.a,
which joins them all, may have every area.
"""
import os, re, subprocess, sys

# What the fuzzing engine asks a target to define, and what libraries of stock TVM ask who loads them for.
FOREIGN = {"LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize", "TVMFFIErrorSetRaisedFromCStrParts"}
# What sanitizers and Lemon add of their own.
ADDED = re.compile(r"__asan_|__odr_asan|tvms_grammar")
AREAS = {
    "support": "arena check context counts cpu diag diags edits interner json memory names pages shared shares source strbuf textdiff trial vec",
    "grammar": "indentation lexer surface syntax token",
    "config": "config glob toml",
    "lint": "lint",
    "format": "format surface writer",
    # Constructors of nodes are named for the kind of node that they make.
    "ir": """attr build bytes changed clone contract dialect dtype fold global index list meant module namespace node object op program ptx reference release
             rewrite rewriter role spelling stmt substitute target tir unit verify walk wrapper wrappers
             binary bitwise bool broadcast buffer call cast evaluate float int let not pointer ramp range select seq string var""",
    "arith": "analyzer arith canonical domains int iter layout layouts rule rules scopes simplifier tile",
    "structinfo": "builder complete data dim dims in infer placement prover purity regions relax scope sinfo types well windows",
    "parser-eval": "args budget builtin closure eval numeral reader row scope signature",
    "parser-tir": "call definition eval frame node tir",
    "parser-tile": "call tile view",
    "parser-device": "call device legacy ptx spelled wrapper",
    "parser-relax": "call prototype relax",
    "parser": "call decoration definition dialect member metadata namespace near needed parser printed prototype python reader row rows target",
    "migrate": "migrate",
    "printer": "print",
    "runtime": "box sample dl groups heap items kv npy order packed paged part random rnn scalar shape small tensor tuple value",
    "interp": "interp meaning",
    "te": "legal legalize te",
    "vm": "vm",
    "schedule": "axis cache inline reducer sched schedule step storage trace",
    "passes": """
        access
        builtin
        chain
        contraction
        cpu
        cross
        dead
        functions
        fuse
        host
        inplace
        intrinsic
        line
        lift
        linear
        merge
        op
        partition
        packed
        pass
        pipeline
        reducer
        relax
        simplify
        stage
        stmt
        storage
        tile
        touched
        value
        vector
        vectorize
    """,
    "backend": "backend",
    "backend-core": "boxes clamped class division entry join lanes layout parallel params place plain scaled words",
    "backend-c": "c",
    "driver": "bench build compiled copy dialect diff explain format infer inputs machine migrate module native optimize profile program reduce render report runnable semantics timing values",
    "api": "api context diag fix library note pass program release runner source status",
    "cli": "bisect command deliver files findings golden link options pass progress run settings verb workers",
}
# Libraries whose name is not that of their room.
ROOM = {"formatter": "format", "migrator": "migrate", "backend-static": "backend", "cli-native": "cli", "cli-restart": "cli"}
ALL = " ".join(AREAS.values()).split()


def areas_of(library):
    name = os.path.basename(library)[len("lib") : -len(".a")]
    if name == "tvms":
        return ALL
    room = name[len("tvms-") :]
    return AREAS.get(ROOM.get(room, room), "").split()


def main():
    passed = failed = 0
    for library in sys.argv[1:]:
        areas = areas_of(library)
        if not areas:
            print(f"{library}: the library has no row in AREAS")
            failed += 1
        text = subprocess.run(["nm", "--extern-only", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            fields = line.split()
            if len(fields) != 3:
                continue
            words = fields[2].split("_")
            good = words[0] == "tvms" and words[1] in areas or ADDED.match(fields[2]) or fields[2] in FOREIGN
            passed, failed = passed + bool(good), failed + (not good)
            if not good:
                print(f"{library}: {fields[2]} begins with none of the library's areas: {' '.join(areas)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
