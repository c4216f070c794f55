"""Writes the tables of a build: `table.py KERNELS.yaml REWRITES.yaml [--host KERNELS.yaml] FOLDER [SELECTION.yaml]`.

FOLDER gets kernels.gen.h and rewrites.gen.h, which declare all kernels and rewrites, pointwise.gen.h and plain.gen.h, which define the
pointwise kernels and the plain ones, and tables.gen.cpp with the kernels of the build, sorted by operator, and its rewrites in their order. SELECTION.yaml, which `assay select`
writes, limits the build to some kernels for some operands, to some rewrites, and to some backends. Kernels of `--host` are asked before the others; a
selection has none of them.
"""
import argparse
import pathlib
import sys

import yaml

parser = argparse.ArgumentParser()
for name in "kernels", "rewrites", "folder":
    parser.add_argument(name, type=pathlib.Path)
parser.add_argument("selection", type=pathlib.Path, nargs="?")
parser.add_argument("--host", type=pathlib.Path)
files = parser.parse_args()
folder, selection = files.folder, files.selection
kernels = yaml.safe_load(files.kernels.read_text())
families = [kernels[family] for family in ("pointwise", "others", "loops")]
known = {op: [kernel for family in families for kernel in family.get(op, [])] for op in sorted(set().union(*families))}
plain = {kernel: kernel.removesuffix("f32") + "plain" for kernel in kernels["plain"]}
known = {op: [one for kernel in all for one in (kernel, plain.get(kernel)) if one] for op, all in known.items()}
rewrites = yaml.safe_load(files.rewrites.read_text())
if files.host:
    for op, host in yaml.safe_load(files.host.read_text()).items():
        known[op] = host + known[op]
rows = [(op, kernel, "") for op in sorted(known) for kernel in known[op]]
wanted, backends = rewrites, ["program_backend"]
if selection:
    selected = yaml.safe_load(selection.read_text()) or {}
    wanted, backends = selected.pop("rewrites", []), selected.pop("backends", [])
    rows = [(op, row["kernel"], row["operands"]) for op in sorted(selected) for row in selected[op]]
    for op, kernel, _ in rows:
        if kernel not in known.get(op, []):
            sys.exit(f"{selection}: {op} has no kernel {kernel}")
    for name in wanted:
        if name not in rewrites:
            sys.exit(f"{selection}: there is no rewrite {name}")
    rows.sort(key=lambda row: (row[0], known[row[0]].index(row[1]), row[2]))


def write(name, before, lines):
    text = [*before, "", "namespace assay::optimized {", "", *lines, "", "}  // namespace assay::optimized", ""]
    (folder / name).write_text("\n".join(text))


def declare(name, include, kind, all):
    write(name, ["#pragma once", "", f'#include "{include}"'], [f"extern const {kind} {one};" for one in all])


def pointwise(kernel):
    """The definition of a pointwise kernel: `add_f32` is the operation "add" on elements of type f32."""
    name, element = kernel.rsplit("_", 1)
    variant = kernels["variants"].get(kernel, kernels["variants"].get(name, {}))
    arguments = [f'"{variant.get("operation", name)}"', "Element::" + {"bool": "boolean"}.get(element, element), *filter(None, [variant.get("if")])]
    return f'constexpr Kernel {kernel} = pointwise<{", ".join(arguments)}>("{kernel}");'


declare("kernels.gen.h", "optimized/runtime/kernel.h", "Kernel", sorted({kernel for all in known.values() for kernel in all}))
write("pointwise.gen.h", ["#pragma once"], [pointwise(one) for one in sorted({one for all in kernels["pointwise"].values() for one in all})])
write("plain.gen.h", ["#pragma once"], [f'constexpr Kernel {name} = plain<{kernel}>("{name}");' for kernel, name in plain.items()])
declare("rewrites.gen.h", "optimized/draft/draft.h", "Rewrite", rewrites)
tables = [f"constexpr std::array<KernelRow, {len(rows)}> kernels{{{{"]
loops = {kernel for all in kernels["loops"].values() for kernel in all}
tables += [f'    {{"{op}", &{kernel}, "{operands}", {str(kernel in loops).lower()}}},' for op, kernel, operands in rows]
tables += ["}};", f"constexpr std::array<const Rewrite*, {len(wanted)}> rewrites{{{', '.join('&' + r for r in rewrites if r in wanted)}}};", ""]
tables += [f"extern const PlannedBackend {', '.join(backends)};"] if backends else []
tables += [f"constexpr std::array<const PlannedBackend*, {len(backends)}> backends{{{', '.join('&' + b for b in backends)}}};", ""]
tables += ["std::span<const PlannedBackend* const> backend_table() { return backends; }"]
tables += ["std::span<const KernelRow> kernel_table() { return kernels; }"]
tables += ["std::span<const Rewrite* const> rewrite_table() { return rewrites; }"]
includes = ["<array>", "", '"kernels.gen.h"', '"optimized/runtime/table.h"', '"rewrites.gen.h"']
write("tables.gen.cpp", [f"#include {i}" if i else "" for i in includes], tables)
