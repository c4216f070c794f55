"""What spec/dtypes.yaml states: the dtypes, the sets of them that rules name, and the orders in which they are tried."""
import pathlib

import yaml

SPEC = yaml.safe_load((pathlib.Path(__file__).parents[2] / "spec" / "dtypes.yaml").read_text())
DTYPES, ORDERS = SPEC["dtypes"], SPEC["orders"]
# What C++ calls a dtype, which has a keyword for one of the names.
ENUMERATORS = {name: "boolean" if name == "bool" else name for name in DTYPES}
ALIASES = {row["alias"]: name for name, row in DTYPES.items()}


def members(name):
    """The dtypes of a set, or the dtype of that name."""
    return [name] if name in DTYPES else [dtype for part in SPEC["sets"][name] for dtype in members(part)]


# By the name that a rule has for it: each dtype is a set, too.
SETS = {ENUMERATORS[name]: [name] for name in DTYPES} | {name: members(name) for name in SPEC["sets"]} | {"any": list(DTYPES)}


def of_kind(kind):
    return [name for name, row in DTYPES.items() if row["kind"] == kind]


def numpy_code(name):
    """What numpy calls the dtype, without the byte order; raw bytes where numpy has no such dtype."""
    return DTYPES[name].get("numpy", f"V{DTYPES[name]['bytes']}")
