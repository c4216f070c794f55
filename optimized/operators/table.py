"""Writes the table of kernels, sorted by operator: `table.py KERNELS.yaml KERNELS.h TABLE.cpp [SELECTION.yaml]`.

Without a selection, what assay select writes, all rows of KERNELS.yaml are there, for whatever operands their kernels accept.
"""
import pathlib
import sys

import yaml

kernels_file, header, table_file, *selection = map(pathlib.Path, sys.argv[1:])
known = yaml.safe_load(kernels_file.read_text())
kernels = sorted({kernel for all in known.values() for kernel in all})
rows = [(op, kernel, "") for op in sorted(known) for kernel in known[op]]
if selection:
    selected = yaml.safe_load(selection[0].read_text()) or {}
    rows = [(op, row["kernel"], row["operands"]) for op in sorted(selected) for row in selected[op]]
    for op, kernel, _ in rows:
        if kernel not in known.get(op, []):
            sys.exit(f"{selection[0]}: {op} has no kernel {kernel}")
    rows.sort(key=lambda row: (row[0], known[row[0]].index(row[1]), row[2]))


def text(includes, lines):
    return "\n".join([*(f"#include {i}" for i in includes), "", "namespace assay::optimized {", "", *lines, "", "}  // namespace assay::optimized", ""])


declarations = [f"extern const Kernel {kernel};" for kernel in kernels]
header.write_text("#pragma once\n\n" + text(['"optimized/runtime/kernel.h"'], declarations))
table = [f"constexpr std::array<KernelRow, {len(rows)}> rows{{{{"]
table += [f'    {{"{op}", &{kernel}, "{operands}"}},' for op, kernel, operands in rows]
table += ["}};", "", "std::span<const KernelRow> kernel_table() { return rows; }"]
table_file.write_text("#include <array>\n\n" + text(['"kernels.gen.h"', '"optimized/runtime/table.h"'], table))
