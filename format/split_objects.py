"""split_objects.py GENERATED FOLDER: what flatc --gen-object-api writes, as two headers of the folder.

<format>_generated.h has the tables in place, which nearly every file of ours reads; <format>_objects_generated.h has the
structures that own what tables say, which few files need and which are most of what a compiler reads. Without the option
flatc would declare the tables otherwise, and a program would have two classes of one name.
"""

import re
import sys
from pathlib import Path


def main(generated, folder):
    text, name, folder = Path(generated).read_text(), Path(generated).name, Path(folder)
    found = re.findall(r"^struct (?:(\w+T) : public flatbuffers::NativeTable|(\w+Union)) \{$", text, re.M)
    objects = {table or union for table, union in found}
    assert objects, f"{generated}: no structures of flatc's object API, or not as flatc 2.0 writes them"
    tables, owners = [], []
    # What begins at the margin is a declaration with its body, and one of objects when it names one there.
    for piece in re.split(r"^(?=[^\s}]|\}  // namespace)", text, flags=re.M):
        head = piece.split("\n")[0]
        of_objects = objects & set(re.findall(r"\w+", head)) and not re.fullmatch(r"struct \w+;", head)
        in_both = re.match(r"#|//|namespace|\}|$", head)
        if in_both or not of_objects:
            tables.append(piece)
        if in_both or of_objects:
            owners.append(piece)
    (folder / name).write_text("".join(tables))
    owners = "".join(owners).replace("FLATBUFFERS_GENERATED_", "FLATBUFFERS_GENERATED_OBJECTS_")
    owners = owners.replace('#include "flatbuffers/flatbuffers.h"', f'#include "{name}"')
    (folder / name.replace("_generated", "_objects_generated")).write_text(owners)


main(*sys.argv[1:])
