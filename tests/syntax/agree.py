#!/usr/bin/env python3
"""The syntax check against CPython: what the compiler behind ast.parse takes has no mistake, what it refuses has one.

    agree.py [--files N] [--broken N] [--seed N] [FILE...]

Forms of tests/syntax/forms.py (each of them as far as the Python that runs this has it), files of Python's own library, and copies of parts of them in which some bytes were changed.
"""
import argparse, os, random, subprocess, sys, sysconfig, tempfile, unittest, warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import TVMS, main
from forms import REFUSED, SOUND

warnings.simplefilter("ignore")
CHECK = os.path.join(os.path.dirname(TVMS), "tests", "syntax", "mistakes-of")
BITS = ["(", ")", "[", "]", "{", "}", ":", "\n", "    ", "'", '"', '"""', "f'{", "=", "match ", "case ", "async ", "await ", "lambda ", "*", "**", "@", "\\\n", "#", "def f(", "class ", "if ", "else:", "try:",
        "except ", "with (", "as ", ";", ",", "->", ":=", "!", 'f"{x!r:{', "yield ", " in ", "not ", "0", "é", "del ", "import ", "for ", "."]


def refusal(text):
    """What CPython says of the text, or None if it takes it."""
    try:
        compile(text, "text", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        return "limits"
    return None


def mistakes(names):
    """By file: what the check says."""
    out = subprocess.run([CHECK], input="\n".join(names).encode() + b"\n", stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")
    found = {name: [] for name in names}
    for line in out.splitlines():
        name, *rest = line.split("\t")
        found[name].append(" ".join(rest))
    return found


def of_texts(texts):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, text in enumerate(texts):
            names.append(os.path.join(folder, f"{i}.py"))
            with open(names[-1], "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass") + b"\n")
        found = mistakes(names)
        return [found[name] for name in names]


def library_files():
    for root, folders, files in sorted(os.walk(sysconfig.get_paths()["stdlib"])):
        folders[:] = sorted(f for f in folders if f not in ("site-packages", "lib2to3", "dist-packages"))
        yield from (os.path.join(root, f) for f in sorted(files) if f.endswith(".py"))


def broken(text, rng):
    """A part of the text with some bytes put in or taken out."""
    at = rng.randrange(max(1, len(text) - 1500))
    at = text.rfind("\n", 0, at) + 1
    text = text[at : at + rng.randrange(40, 1500)]
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + (rng.choice(BITS) + text[place:] if rng.random() < 0.5 else text[place + rng.randrange(1, 8) :])
    # A joined line at the end of a text is a matter of releases; what __future__ has is not syntax.
    return text.rstrip("\\\n ").replace("__future__", "future").replace("\ufeff", "")


class Agree(unittest.TestCase):
    def test_forms_are_taken(self):
        # All of them, whatever release runs this; what it has is judged by it, too.
        forms = [(since, text) for since, texts in SOUND.items() for text in texts]
        for (since, text), found in zip(forms, of_texts([text for _, text in forms])):
            with self.subTest(form=text):
                self.assertEqual(found, [])
                if sys.version_info >= since:
                    self.assertIsNone(refusal(text))

    def test_mistakes_are_one(self):
        for text, found in zip(REFUSED, of_texts(REFUSED)):
            with self.subTest(form=text):
                self.assertIsNotNone(refusal(text))
                self.assertEqual(len(found), 1, found)

    def test_library(self):
        files = OPTIONS.names or list(library_files())
        names = sorted(random.Random(OPTIONS.seed).sample(files, min(OPTIONS.files, len(files))))
        for name, found in mistakes(names).items():
            with open(name, "rb") as file:
                said = refusal(file.read())
            with self.subTest(file=name):
                if said is None:
                    self.assertEqual(found, [])
                else:
                    self.assertTrue(found, said)

    @unittest.skipUnless((3, 8) <= sys.version_info < (3, 14), "the check has the rules of Python 3.8 to 3.13")
    def test_broken(self):
        rng, texts = random.Random(OPTIONS.seed), []
        files = OPTIONS.names or list(library_files())
        for _ in range(OPTIONS.broken):
            with open(rng.choice(files), encoding="utf-8", errors="replace") as file:
                texts.append(broken(file.read(), rng))
        for text, found in zip(texts, of_texts(texts)):
            said = refusal(text)
            with self.subTest(text=text):
                self.assertEqual(bool(found), said is not None, (said, found))


parser = argparse.ArgumentParser()
parser.add_argument("--files", type=int, default=400)
parser.add_argument("--broken", type=int, default=1000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("names", nargs="*")
OPTIONS = parser.parse_args()
sys.argv[1:] = []
main()
