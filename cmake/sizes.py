"""Writes the sizes of the parts of a selective build: `sizes.py OBJECT SELECTION.yaml TABLE.txt`.

OBJECT is a relocatable little-endian ELF file with a section for each function. A size is the bytes of code and, behind +, of constants.
A section that only one kernel or only the rewrites reach counts for that part; one that several parts reach is shared. The core is what
the interface reaches without kernels, rewrites and the functions of format/. The remaining functions of format/ are the checks of files.
"""
import collections
import pathlib
import struct
import sys

import yaml

object_file, selection_file, table_file = map(pathlib.Path, sys.argv[1:])
data = object_file.read_bytes()
ALLOCATED, EXECUTABLE = 2, 4
SYMBOLS, RELOCATIONS, WEAK = 2, {4, 9}, 2


def text_at(table, at):
    return data[table + at:data.index(b"\0", table + at)].decode()


Class = collections.namedtuple("Class", "header section symbol_fields symbol info_at info symbol_shift")
class_of = {1: Class("<32xI12xH", "<10I", "name value size info other section", "<IIIBBH", 4, "<I", 8),
            2: Class("<40xQ12xH", "<IIQQQQIIQQ", "name info other section value size", "<IBBHQQ", 8, "<Q", 32)}[data[4]]
offset, count = struct.unpack_from(class_of.header, data)
Section = collections.namedtuple("Section", "name type flags address offset size link info align entry")
Symbol = collections.namedtuple("Symbol", class_of.symbol_fields)
sections = [Section(*struct.unpack_from(class_of.section, data, offset + struct.calcsize(class_of.section) * i)) for i in range(count)]
symbols = []  # name, section, weak
for s in sections:
    if s.type == SYMBOLS:
        for fields in struct.iter_unpack(class_of.symbol, data[s.offset:s.offset + s.size]):
            symbol = Symbol(*fields)
            symbols.append((text_at(sections[s.link].offset, symbol.name), symbol.section, symbol.info >> 4 == WEAK))
reached_from = collections.defaultdict(set)
for s in sections:
    if s.type in RELOCATIONS and sections[s.info].flags & ALLOCATED:
        for at in range(s.offset, s.offset + s.size, s.entry):
            target = symbols[struct.unpack_from(class_of.info, data, at + class_of.info_at)[0] >> class_of.symbol_shift]
            reached_from[s.info].add(target[1])
is_of = {name: section for name, section, _ in symbols if 0 < section < count}
checks = {section for name, section, weak in symbols if "5assay6format" in name[:18] and not weak}


def closure(roots, without=frozenset()):
    found, left = set(), [r for r in roots if r not in without]
    while left:
        at = left.pop()
        if at not in found and 0 < at < count:
            found.add(at)
            left += [s for s in reached_from[at] if s not in without]
    return {s for s in found if sections[s].flags & ALLOCATED}


def size(of):
    code = sum(sections[s].size for s in of if sections[s].flags & EXECUTABLE)
    return code, sum(sections[s].size for s in of) - code


selected = yaml.safe_load(selection_file.read_text()) or {}
rewrites, backends = selected.pop("rewrites", []), selected.pop("backends", [])
parts = {kernel: [kernel] for kernel in sorted({row["kernel"] for rows in selected.values() for row in rows})}
if rewrites:
    parts["rewrites"] = rewrites
parts |= {backend: [backend] for backend in backends}
roots = {part: [is_of[f"_ZN5assay9optimized{len(name)}{name}E"] for name in names] for part, names in parts.items()}
without = {section for part in roots.values() for section in part}
interface = [is_of["assay_program_open"]]
whole = closure(interface)
core = closure(interface, checks | without)
with_checks = closure(interface, without)
reached_by = {part: closure(sections, with_checks) for part, sections in roots.items()}
users = collections.Counter(s for reached in reached_by.values() for s in reached)
lines = [("core", core), ("checks of files", with_checks - core)]
lines += [(part, {s for s in reached if users[s] == 1}) for part, reached in reached_by.items()]
lines += [("shared", {s for s, n in users.items() if n > 1}), ("all", whole)]
table = "".join(f"{name:<24} {code:>8} + {constants}\n" for name, (code, constants) in ((name, size(of)) for name, of in lines))
table_file.write_text(table)
print(table, end="")
