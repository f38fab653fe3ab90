#!/usr/bin/env python3
"""explain --shape and --equals: where each dimension comes from, and numbers for which two differ."""
import glob, json, os, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms

PROGRAM = """
from tvm.script import relax as R, tirx as T

@R.function
def main(x: R.Tensor(("n", 16), "float32"), w: R.Tensor((16, "m"), "float32"), b: R.Tensor(("m",), "float32"), img: R.Tensor((1, 3, 32, "h"), "float32"), k: R.Tensor((8, 3, 3, 3), "float32"), flag: R.Tensor((), "bool")):
    n = T.int64()
    m = T.int64()
    r = T.int64()
    y = R.matmul(x, w)
    z = R.add(y, b)
    c = R.concat([z, z], axis=1)
    p = R.permute_dims(c)
    s = R.split(c, 2, axis=0)
    t = s[0]
    u = R.sum(c, axis=1, keepdims=True)
    conv = R.nn.conv2d(img, k, padding=1, strides=2)
    long = R.reshape(p, R.shape([m * n * 2]))
    flat = R.flatten(c)
    cast = R.match_cast(flat, R.Tensor((r,), "float32"))
    const = R.const([1, 2, 3], "float32")
    alias = conv
    pair = (z, alias)
    second = pair[1]
    if flag:
        a = R.nn.relu(z)
        both = a
    else:
        d = R.exp(z)
        both = d
    return both
"""
# Of a dimension: its step, and the dimensions that the step names.
STEPS = {
    "x[0]": ("n", "the annotation of the parameter", [], None),
    "y[0]": ("n", "R.matmul", ["x[0]"], None),
    "y[1]": ("m", "R.matmul", ["w[1]"], None),
    "z[0]": ("n", "R.add", ["y[0]"], None),
    "z[1]": ("m", "R.add", ["y[1]", "b[0]"], None),
    "c[0]": ("n", "R.concat", ["z[0]"], None),
    "c[1]": ("m * 2", "R.concat", ["z[1]"], "z[1] * 2"),
    "p[0]": ("m * 2", "R.permute_dims", ["c[1]"], None),
    "p[1]": ("n", "R.permute_dims", ["c[0]"], None),
    "s[1][0]": ("n - (n + 1) // 2", "R.split", ["c[0]"], "c[0] - (c[0] + 1) // 2"),
    "t[0]": ("(n + 1) // 2", "an item of a tuple", ["s[0][0]"], None),
    "u[0]": ("n", "R.sum", ["c[0]"], None),
    "u[1]": ("1", "R.sum", [], None),
    "conv[1]": ("8", "R.nn.conv2d", ["k[0]"], None),
    "conv[3]": ("(h - 1) // 2 + 1", "R.nn.conv2d", ["img[3]", "k[3]"], "(img[3] - k[3]) // 2 + 2"),
    "long[0]": ("m * n * 2", "R.reshape", [], None),
    "flat[0]": ("n * (m * 2)", "R.flatten", ["c[0]", "c[1]"], "c[0] * c[1]"),
    "cast[0]": ("r", "R.match_cast", [], None),
    "const[0]": ("3", "the shape of the constant", [], None),
    "alias[1]": ("8", "another name", ["conv[1]"], None),
    "second[1]": ("8", "an item of a tuple", ["pair[1][1]"], None),
    "pair[1][1]": ("8", "an item of the tuple", ["alias[1]"], None),
    "both[0]": ("n", "what both branches agree on", ["a[0]", "d[0]"], None),
}
TEXT = """main.c: R.Tensor((n, m * 2), dtype="float32") (line 11)
  c[0] is n
    c[0] = n: R.concat of z[0] (line 11)
        the dimensions along the axis are added, the others are those that all tensors have
    z[0] = n: R.add of y[0] (line 10)
        the shapes of the operands are broadcast from the right: equal dimensions stay, and 1 gives way to the other
    y[0] = n: R.matmul of x[0] (line 9)
        rows of the first operand, columns of the second, and in front the batch axes, broadcast from the right; the inner dimensions are equal
    x[0] = n: the annotation of the parameter (line 5)
  c[1] is m * 2
    c[1] = m * 2: R.concat of z[1], as z[1] * 2 (line 11)
    z[1] = m: R.add of y[1], b[0] (line 10)
    y[1] = m: R.matmul of w[1] (line 9)
    w[1] = m: the annotation of the parameter (line 5)
    b[0] = m: the annotation of the parameter (line 5)
"""


def explain(*words, status=0, program=PROGRAM):
    p = tvms("explain", *words, "-", stdin=program)
    assert p.returncode == status, (p.returncode, p.stdout, p.stderr)
    return p


def definition(*words):
    return json.loads(explain(*words, "--format", "json").stdout)["results"][0]["definitions"][0]


class Shapes(unittest.TestCase):
    maxDiff = None

    def test_steps(self):
        for name, (is_, rule, sources, formula) in STEPS.items():
            with self.subTest(dimension=name):
                steps = definition("--shape", name.split("[")[0])["steps"]
                step = next(s for s in steps if s["dimension"] == name)
                self.assertEqual((step["is"], step["rule"], [steps[i]["dimension"] for i in step["from"]], step.get("formula")), (is_, rule, sources, formula))

    def test_text(self):
        self.assertEqual(explain("--shape", "c").stdout.decode(), TEXT)
        self.assertEqual(explain("--shape", "main.c").stdout.decode(), TEXT)

    def test_every_chain_ends_in_what_the_program_says(self):
        ends = {"the annotation of the parameter", "R.match_cast", "its value", "the shape of the constant", "the shape as it is written", "another name",
                "the annotation of the variable", "what both branches agree on"}
        for path in sorted(glob.glob(source("corpus", "mlp*.tvms"))):
            results = json.loads(tvms("infer", "--format", "json", path).stdout)["results"]
            for name in sorted({b["name"] for result in results for f in result["functions"] for b in f["bindings"]}):
                for found in json.loads(tvms("explain", "--shape", name, "--format", "json", path).stdout)["results"][0]["definitions"]:
                    for step in found["steps"]:
                        with self.subTest(path=path, dimension=step["dimension"]):
                            self.assertTrue(step["from"] or step.get("words") or step["rule"] in ends, step)

    def test_equality(self):
        def pair(a, b):
            return definition("--shape", a, "--equals", b)["comparisons"][0]["dimensions"]

        self.assertEqual(pair("long", "flat"), [{"dimension": 0, "left": "m * n * 2", "right": "n * (m * 2)", "verdict": "equal"}])
        found = pair("flat", "cast")[0]
        self.assertEqual(found["verdict"], "unproved")
        values = dict(part.split(" = ") for part in found["example"].split(", "))
        n, m, r = (int(values[name]) for name in "nmr")
        self.assertEqual((found["left_value"], found["right_value"]), (n * m * 2, r))
        self.assertNotEqual(n * m * 2, r)
        self.assertEqual([p["verdict"] for p in pair("z", "c")], ["equal", "unproved"])
        self.assertEqual([p["verdict"] for p in pair("conv", "k")], ["different", "different", "different", "unproved"])
        self.assertEqual(pair("z", "b"), [])  # of other ranks
        self.assertIn("the ranks differ", explain("--shape", "z", "--equals", "b").stdout.decode())
        text = explain("--shape", "flat", "--equals", "cast").stdout.decode()
        self.assertIn("flat and cast of main\n  dimension 0: n * (m * 2) and r: not proved equal; with n = 1, m = 1, r = 1 they are 2 and 1\n", text)

    def test_an_error_has_the_numbers(self):
        program = 'from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n + 1", 4), "float32")):\n    return R.concat([x, y], axis=1)\n'
        p = tvms("check", "-", stdin=program)
        self.assertEqual(p.returncode, 1)
        self.assertIn("with n = 1 they are 1 and 2", p.stderr.decode())

    def test_what_is_not_there(self):
        self.assertIn("no Relax function has a value 'nope'", explain("--shape", "nope", status=2).stderr.decode())
        self.assertIn("option '--equals' needs '--shape'", explain("--equals", "nope", status=2).stderr.decode())


if __name__ == "__main__":
    main()
