"""The symbols of the deployable libraries: they need no heap, no exceptions, no RTTI and no initialization."""
import os
import pathlib
import re
import subprocess
import unittest

build = pathlib.Path(os.environ["ASSAY_BUILD"])
# By library, a symbol that it must have.
libraries = {
    "format/libassay_format.a": r"assay::format::open_program\(.*",
    "planning/libassay_planning.a": r"assay::planning::plan_arena\(.*",
    "optimized/libassay_optimized.a": r"assay_execute",
    "optimized/kernels/libassay_kernels.a": r"assay::kernels::matmul\(.*",
}
forbidden = [
    r"malloc|calloc|realloc|free|operator delete.*|operator new(\[\])?\((?!unsigned long, void\*\)).*",  # but in place
    r"__cxa_(throw|begin_catch|allocate_exception|guard_\w+|atexit).*|_Unwind_Resume|__gxx_personality_v0|std::__throw_.*",
    r"(typeinfo|guard variable|vtable) for .*",
    r"(std::)?(cout|cerr|ios_base.*|basic_ostream.*)|f?printf|f(open|write|puts)|exit|abort|getenv",
]
initialized = r"_GLOBAL__sub_I_.*"


def matches(pattern, symbols):
    return sorted(s for s in symbols if re.fullmatch(pattern, s))


def symbols_of(library):
    listed = subprocess.run(["nm", "--demangle", build / library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^[ 0-9a-f]{16} [a-zA-Z] (.+)$", listed, re.MULTILINE))


class Symbols(unittest.TestCase):
    def each(self, check):
        for library, sure in libraries.items():
            with self.subTest(library):
                check(symbols_of(library), sure)

    def test_symbols_can_be_read(self):
        self.each(lambda symbols, sure: self.assertTrue(matches(sure, symbols)))

    def test_no_forbidden_symbol_is_used(self):
        self.each(lambda symbols, _: self.assertEqual([m for p in forbidden for m in matches(p, symbols)], []))

    def test_no_mmx_registers_are_used(self):
        """Their use without EMMS makes the x87 instructions of a client compute NaN."""
        for library in libraries:
            code = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", build / library], capture_output=True, text=True, check=True).stdout
            self.assertIn("\tret", code, library)
            self.assertEqual(re.findall(r".*%mm[0-7].*", code), [], library)

    def test_no_static_initializers(self):
        self.each(lambda symbols, _: self.assertEqual(matches(initialized, symbols), []))


if __name__ == "__main__":
    unittest.main()
