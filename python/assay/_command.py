"""The command `assay`, which the package contains with all its data."""
import os
import pathlib
import re
import subprocess
import sys

from assay._fault import Fault

COMMAND = pathlib.Path(__file__).resolve().parent / "bin" / "assay"
PYTHON_END = COMMAND.parents[1] / "share" / "assay" / "conformance" / "wire" / "python"
OUTCOMES = {2: "usage", 3: "malformed", 4: "invalid", 5: "unsupported", 6: "fault", 7: "exhausted"}


def main() -> None:
    os.execv(COMMAND, [str(COMMAND), *sys.argv[1:]])


def start(*words: object, **options) -> subprocess.Popen:
    """Starts the command with these words. The python3 of testees is this Python."""
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return subprocess.Popen([str(COMMAND), *map(str, words)], text=True, env=os.environ | {"PATH": path}, **options)


def run(*words: object, differ: bool = False) -> str:
    """Returns what the command prints. Raises Fault if it fails; with `differ`, differing answers are no failure."""
    done = start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = done.communicate()
    refuse(done.returncode, err, differ)
    return out


def refuse(code: int, err: str, differ: bool = True) -> None:
    if code == 0 or (code == 1 and differ):
        return
    said = err.strip().splitlines()[-1].removeprefix("assay: ") if err.strip() else f"it ended with {code}"
    named = re.match(r"\w+, ([\w.:-]+): (.*)", said, re.DOTALL)
    rule, message = named.groups() if named else ("command", said)
    raise Fault(OUTCOMES.get(code, "internal"), rule, "", message)
