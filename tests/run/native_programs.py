#!/usr/bin/env python3
"""Generated Relax modules (relax_programs.py), a third with local functions: interpreter, native code and the virtual machine give the same.

    native_programs.py [COUNT [FIRST]]      COUNT modules of four functions, from the number FIRST on
"""
import os, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main
from relax_programs import Module
from relax_ways import Ways, differ

COUNT, FIRST = 10, 0
if __name__ == "__main__" and len(sys.argv) > 1 and sys.argv[1].isdigit():
    COUNT, FIRST = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    del sys.argv[1:]


class NativePrograms(unittest.TestCase):
    def one(self, module):
        ways = Ways(module)
        self.addCleanup(ways.close)
        wanted = {name: ways.interpret(name) for name in module.mains}
        library = ways.build("native.so", "--fp", "strict")
        self.assertTrue(library, ways.wrong)
        native = ways.call(library, module.mains)
        machine = ways.build("machine.so", "--vm", "--fp", "strict")
        self.assertTrue(machine, ways.wrong)
        for name in module.mains:
            with self.subTest(module=module.seed, function=name):
                self.assertEqual(differ(native[name], wanted[name]), "", "native code")
                self.assertEqual(differ(ways.run(machine, name), wanted[name]), "", "virtual machine")

    def test_modules(self):
        for seed in range(FIRST, FIRST + COUNT):
            with self.subTest(module=seed):
                self.one(Module(seed, more=["local"] * 4 if seed % 3 == 2 else ()))


if __name__ == "__main__":
    main()
