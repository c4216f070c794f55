"""Writes the table of kernels, sorted by operator, from kernels.yaml: `table.py KERNELS.yaml KERNELS.h TABLE.cpp`."""
import pathlib
import sys

import yaml

rows = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
kernels = sorted({kernel for all in rows.values() for kernel in all})


def text(includes, lines):
    return "\n".join([*(f"#include {i}" for i in includes), "", "namespace assay::optimized {", "", *lines, "", "}  // namespace assay::optimized", ""])


declarations = [f"extern const Kernel {kernel};" for kernel in kernels]
pathlib.Path(sys.argv[2]).write_text("#pragma once\n\n" + text(['"optimized/runtime/kernel.h"'], declarations))
table = ["constexpr KernelRow rows[] = {"]
table += [f'    {{"{op}", &{kernel}}},' for op in sorted(rows) for kernel in rows[op]]
table += ["};", "", "std::span<const KernelRow> kernel_table() { return rows; }"]
pathlib.Path(sys.argv[3]).write_text(text(['"kernels.gen.h"', '"optimized/runtime/table.h"'], table))
