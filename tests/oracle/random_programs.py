#!/usr/bin/env python3
"""Random programs, pass by pass: behind each one `tvms opt` must have what stock TVM has.

    random_programs.py relax|tir|values [FIRST END] [--release R]... [--passes PIPELINE]
    random_programs.py relax|tir|values NUMBER          shows the program

A program is made from a number (random_relax.py, random_tir.py, and ../run/relax_programs.py: modules with values of all kinds). Stock TVM takes it through its pipeline, and tvms takes each text of
stock TVM on the way one pass further. Passes that are in no pipeline get the program as it was read. Texts differ where a program has no order
of its own, so a step that differs must have no difference for `tvms diff`. TVM writes T.min for a Min of numbers, which its reader folds, and tvms
T.Min: that is the same here. known.tsv lists what cannot agree, as for print.py, as
"random relax 17 FuseOps".
"""
import argparse, os, re, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
import random_relax
import random_tir
import relax_programs
from cases import PLAIN, TVMS, tvms
from golden import steps_of
from pipelines import as_module
from stock import difference, judge_releases

SPELLING, RELEASES = "0.27", ["0.26", "0.27"]
RELAX = (
    "DispatchSampling,DispatchSortScan,LegalizeOps,AnnotateTIROpPattern,FoldConstant,FuseOps,FuseTIR,RewriteDataflowReshape,ToNonDataflow,"
    "RemovePurityChecking,CallTIRRewrite,StaticPlanBlockMemory,LowerAllocTensor,KillAfterLastUse,LowerRuntimeBuiltin,ComputePrimValue,VMShapeLower,"
    "AttachGlobalSymbol"
)
# Each alone, on the program as it was read.
GRAPH = (
    "Normalize,CanonicalizeBindings,EliminateCommonSubexpr,DeadCodeElimination,ConvertToDataflow,TopologicalSort,LambdaLift,FoldConstant,"
    "ToNonDataflow,DecomposeOpsForInference,ExpandTupleArguments,RemoveUnusedParameters,RemoveUnusedOutputs,InlinePrivateFunctions,"
    "FastMathTransform,CombineParallelMatmul,ExpandMatmulOfSum,AdjustMatmulOrder,ReorderTakeAfterMatmul,ReorderPermuteDimsAfterConcat,"
    "RemoveRedundantReshape,DataflowUseInplaceCalls,ToMixedPrecision"
)
TIR = (
    "BindTarget,CanonicalizeLoop,LowerCrossThreadReduction,LowerInitBlock,PlanAndUpdateBufferAllocationLocation,ConvertBlocksToOpaque,"
    "CompactBufferAllocation,UnifyThreadBinding,LowerMatchBuffer,StmtSimplify,AnnotateIrregularLoop,LowerOpaqueBlock,FlattenBuffer,"
    "BF16ComputeLegalize,NarrowDataType{target_bits=32},LoopPartition,VectorizeLoop,StorageRewrite,HoistIfThenElse,UnrollLoop,RenormalizeSplitPattern,"
    "StmtSimplify,RemoveNoOp,RewriteUnsafeSelect,CommonSubexprElim,FP8ComputeLegalize,AnnotateEntryFunc,SplitHostDevice,MakePackedAPI,"
    "FP8StorageLegalize,BF16StorageLegalize"
)
# TVM leaves symbolic sizes of an inlined callee undefined.
VALUES_GRAPH = GRAPH.replace("InlinePrivateFunctions,", "")
# The order of these steps' statements is that of a hash table of TVM.
UNORDERED = {"VMShapeLower"}
KINDS = {
    "relax": (random_relax.program, RELAX, GRAPH, 20),
    "values": (lambda number: relax_programs.Module(number, 2).text, RELAX, VALUES_GRAPH, 5),
    "tir": (random_tir.program, TIR, "", 40),
}


def differs(release, ours, wanted):
    """The difference of two texts, "" if they say the same."""
    ours = re.sub(r"\bT\.(Min|Max)\(", lambda found: found.group().lower().replace("t.", "T."), ours)
    if ours.rstrip("\n") == wanted.rstrip("\n"):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("stock.tvms", "ours.tvms")]
        for path, text in zip(paths, (wanted, ours)):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        same = tvms("diff", "--from", release, "--dialect", release, *paths, program=PLAIN).returncode == 0
    return "" if same else difference(wanted, ours)


def take_step(release, step, before, after):
    """What is wrong with a pass on the text before it, "" if nothing. Sanitizers look at the newest release."""
    program = TVMS if release == SPELLING else PLAIN
    p = tvms("opt", "--no-metadata", "--from", release, "--dialect", release, "--passes", step, "-", program=program, stdin=before[1])
    if p.returncode:
        return f"exit {p.returncode}: {p.stderr.decode()[:600]}"
    ours = p.stdout.decode()
    if step in UNORDERED and sorted(ours.splitlines()) == sorted(after[0].splitlines()):
        return ""
    return differs(release, ours, after[0])


def steps_taken(stock, text, chain, alone):
    """(pass, texts before, texts behind) of each step that stock TVM takes, or None where it does not read the program."""
    steps = []
    for passes in [chain] + [[step] for step in alone]:
        answer = stock.ask(text=text, passes=steps_of(",".join(passes)), each=True)
        if "steps" not in answer:
            return steps or None
        steps += zip(passes, answer["steps"], answer["steps"][1:])
    return steps


def judge_program(stock, release, kind, number, chain, alone):
    """What is wrong, "" if nothing, None if stock TVM does not read the program."""
    text = KINDS[kind][0](number)
    if release != SPELLING:
        p = tvms("print", "--from", SPELLING, "--dialect", release, "-", stdin=text)
        if p.returncode:
            return f"print: exit {p.returncode}: {p.stderr.decode()[:600]}"
        text = as_module(p.stdout.decode())
    steps = steps_taken(stock, text, chain, alone)
    if steps is None:
        return None
    wrong = [(step, take_step(release, step, before, after)) for step, before, after in steps]
    return "\n".join(f"behind {step}:\n{said}" for step, said in wrong if said)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("kind", choices=sorted(KINDS))
    arguments.add_argument("--release", action="append")
    arguments.add_argument("--passes")
    arguments.add_argument("numbers", nargs="*", type=int)
    a = arguments.parse_intermixed_args()
    _, chain, alone, count = KINDS[a.kind]
    if len(a.numbers) == 1:
        print(KINDS[a.kind][0](a.numbers[0]))
        return 0
    first, end = a.numbers or (0, count)
    passes = [a.passes or chain, "" if a.passes else alone]
    chain, alone = [[step for step in text.split(",") if step] for text in passes]
    cases = [(f"random {a.kind} {number}", number) for number in range(first, end)]

    def judge(stock, release, number):
        return judge_program(stock, release, a.kind, number, chain, alone)

    return judge_releases(lambda release: cases, judge, a.release or RELEASES)


if __name__ == "__main__":
    sys.exit(main())
