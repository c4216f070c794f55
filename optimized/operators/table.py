"""Writes the table of kernels, sorted by operator, from kernels.yaml: `table.py KERNELS.yaml TABLE.cpp`."""
import pathlib
import sys

import yaml


def text(rows):
    kernels = sorted({kernel for all in rows.values() for kernel in all})
    lines = ['#include <span>', '', '#include "optimized/runtime/kernel.h"', '', 'namespace assay::optimized {', '']
    lines += [f"extern const Kernel {kernel};" for kernel in kernels]
    if rows:
        lines += ["", "constexpr KernelRow rows[] = {"]
        lines += [f'    {{"{op}", &{kernel}}},' for op in sorted(rows) for kernel in rows[op]]
        lines += ["};"]
    lines += ["", f"std::span<const KernelRow> kernel_table() {{ return {'rows' if rows else '{}'}; }}", "", "}  // namespace assay::optimized", ""]
    return "\n".join(lines)


rows = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
pathlib.Path(sys.argv[2]).write_text(text(rows))
