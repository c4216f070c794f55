#!/usr/bin/env python3
"""The blocks of checked-in files that are generated from spec/: files that are installed, or that strangers copy, and a page.

    blocks.py          says which files differ from what would be generated; exit code 1 if any does
    blocks.py --write  rewrites them

A block is the lines between one that holds `begin generated NAME` and one that holds `end generated NAME`."""
import argparse
import pathlib
import re
import sys
import textwrap

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from dtype_facts import DTYPES, numpy_code  # noqa: E402
import protocol  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
DATA = "build", "fuzz", "golden"  # rooms without blocks, of many files
BLOCK = re.compile(r"(^[^\n]*begin generated (\w+)[^\n]*\n)(.*?)(^[^\n]*end generated \2)", re.M | re.S)


def blocks():
    """{name: its lines}"""
    numbers = yaml.safe_load((ROOT / "spec" / "protocol.yaml").read_text())
    of_protocol = {name.removesuffix("_block"): make for name, make in vars(protocol).items() if name.endswith("_block")}
    return {"numpy_dtypes": numpy_dtypes(), "numpy_numbers": numpy_numbers(), "widths": widths()} | {name: make(numbers) for name, make in of_protocol.items()}


def numpy_dtypes():
    """By name."""
    return codes(f'"{name}": "{numpy_code(name)}"' for name in DTYPES)


def numpy_numbers():
    """By number."""
    return codes(f'{facts["number"]}: "{numpy_code(name)}"' for name, facts in DTYPES.items())


def codes(items):
    """A dict of items "key: value", as many in a line as fit."""
    text = ", ".join(item.replace(" ", "\0") for item in items) + ","
    lines = textwrap.wrap(text, 120, initial_indent="    ", subsequent_indent="    ")
    return ["CODES = {", *(line.replace("\0", " ") for line in lines), "}"]


def widths():
    by_number = {facts["number"]: facts["bytes"] for facts in DTYPES.values()}
    return [f"  static const unsigned char widths[] = {{{', '.join(str(by_number.get(n, 0)) for n in range(max(by_number) + 1))}}};"]


def files():
    """{path: (its text, what would be generated)} of each file that has blocks."""
    found, known, used = {}, blocks(), set()
    rooms = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in DATA and not path.name.startswith(".")]
    for path in sorted(p for room in rooms for suffix in ("py", "h", "md") for p in room.rglob(f"*.{suffix}")):
        if "begin generated " in (text := path.read_text()) and path != pathlib.Path(__file__).resolve():
            found[path] = text, BLOCK.sub(lambda m: m[1] + "".join(line + "\n" for line in known[m[2]]) + m[4], text)
            used |= {m[2] for m in BLOCK.finditer(text)}
    if unused := known.keys() - used:
        sys.exit(f"blocks.py: no file contains the block {', '.join(sorted(unused))}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="rewrite the files that differ")
    write = parser.parse_args().write
    stale = {path: generated for path, (text, generated) in files().items() if text != generated}
    for path, generated in stale.items():
        print(path.relative_to(ROOT))
        if write:
            path.write_text(generated)
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
