"""The rules of files need no heap, no exceptions, no types at run time, nothing that is initialized: so say the symbols
of their library."""
import os
import pathlib
import re
import subprocess
import unittest

library = pathlib.Path(os.environ["ASSAY_BUILD"]) / "format" / "libassay_format.a"
sanitized = os.environ["ASSAY_SANITIZE"]
forbidden = [
    r"malloc|calloc|realloc|free|operator delete.*|operator new(\[\])?\((?!unsigned long, void\*\)).*",  # but in place
    r"__cxa_(throw|begin_catch|allocate_exception|guard_\w+|atexit).*|_Unwind_Resume|__gxx_personality_v0|std::__throw_.*",
    r"(typeinfo|guard variable|vtable) for .*",
    r"(std::)?(cout|cerr|ios_base.*|basic_ostream.*)|f?printf|f(open|write|puts)|exit|abort|getenv",
]
initialized = r"_GLOBAL__sub_I_.*"


def matches(pattern, symbols):
    return sorted(s for s in symbols if re.fullmatch(pattern, s))


class Symbols(unittest.TestCase):
    def setUp(self):
        listed = subprocess.run(["nm", "--demangle", library], capture_output=True, text=True, check=True).stdout
        self.symbols = set(re.findall(r"^[ 0-9a-f]{16} [a-zA-Z] (.+)$", listed, re.MULTILINE))

    def test_are_read(self):
        self.assertTrue(matches(r"assay::format::open_program\(.*", self.symbols))

    def test_are_none_that_are_forbidden(self):
        for pattern in forbidden:
            self.assertEqual(matches(pattern, self.symbols), [])

    @unittest.skipIf(sanitized, "sanitizers have initializers of their own")
    def test_initialize_nothing(self):
        self.assertEqual(matches(initialized, self.symbols), [])


if __name__ == "__main__":
    unittest.main()
