"""golden/MANIFEST.json: the recorded files, the versions that recorded them, and the check that a new recording is
equal."""

import hashlib
import importlib.metadata
import json
import os

NAME = "MANIFEST.json"
PACKAGES = ("torch", "executorch", "numpy", "flatbuffers")


def entry(recording, caps):
    """The manifest's lines on one file; `caps`: its size limits; `crashed`: calls that crashed eager; `findings`:
    contradictions in eager's answers."""
    all_lines = caps | {
        "calls": recording.calls,
        "refusals": recording.refusals,
        "bytes": len(recording.file),
        "sha256": hashlib.sha256(recording.file).hexdigest(),
        "crashed": recording.crashed,
        "findings": recording.findings,
    }
    return {k: v for k, v in all_lines.items() if v or isinstance(v, int)}


def lines(folder, name):
    """The manifest's lines on a file, including its caps; none if the file was not recorded."""
    return _read(folder)["files"].get(name, {})


def write(folder, entries, settings):
    """The manifest of `entries`; files recorded earlier with the same versions and settings keep their lines."""
    head = {"versions": {p: importlib.metadata.version(p) for p in PACKAGES}, "settings": settings}
    previous = _read(folder)
    kept = previous["files"] if all(previous.get(k) == v for k, v in head.items()) else {}
    files = {n: e for n, e in (kept | entries).items() if (folder / "operators" / n).exists()}
    text = json.dumps(head | {"files": dict(sorted(files.items()))}, indent=1) + "\n"
    write_atomically(folder / NAME, text.encode())


def strangers(folder):
    """Recorded files that the manifest does not list."""
    return sorted(p for p in (folder / "operators").glob("*.calls") if p.name not in _read(folder)["files"])


def difference(folder, entries):
    """A sentence on every file that differs from the manifest's, None when there is none."""
    files = _read(folder)["files"]
    wrong = [n for n, e in entries.items() if files.get(n) != e or _sha256(folder / "operators" / n) != e["sha256"]]
    return f"recording again gives other bytes for {', '.join(wrong)}" if wrong else None


def _read(folder):
    path = folder / NAME
    return json.loads(path.read_text()) if path.exists() else {"files": {}}


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def write_atomically(path, data):
    temporary = path.with_suffix(".partial")
    temporary.write_bytes(data)
    os.replace(temporary, path)
