"""A command that runs one call of a program and exits: assay runtime --programs recorded/mlp "runner:python3 runner.py"

spec/runtime_suite.md defines its options and the files that it writes. Here `assay run` is the runtime: replace it in run() by yours.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

DTYPES = {"float32": "f4", "int64": "i8", "int32": "i4", "bool": "b1", "float64": "f8", "uint8": "u1", "int8": "i1"}


def npy(data, tensor):
    header = f"{{'descr': '<{DTYPES[tensor['dtype']]}', 'fortran_order': False, 'shape': {tuple(tensor['sizes'])}}}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def assay(*words):
    return subprocess.run(["assay", *map(str, words)], capture_output=True, text=True, check=False)


def run(program, method, inputs):
    """The bytes of each output, given the bytes of each input; None if the call is refused, with the reason on standard error."""
    shown = assay("inspect", program, "--json")
    methods = json.loads(shown.stdout)["methods"] if shown.returncode == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        options = []
        for plan in methods:
            for i, data in enumerate(inputs if plan["name"] == method else []):
                file = pathlib.Path(folder) / f"input{i}.npy"
                file.write_bytes(npy(data, plan["values"][plan["inputs"][i]]))
                options += ["--input", file]
        done = assay("run", program, "--method", method, *options, "--output-dir", folder)
        print(shown.stderr, done.stderr, file=sys.stderr)
        outputs = [file.read_bytes() for file in sorted(pathlib.Path(folder).glob("?.npy"))]
        return [data[10 + struct.unpack_from("<H", data, 8)[0]:] for data in outputs] if done.returncode == 0 else None


def main(words):
    flags = dict(word.removeprefix("--").split("=", 1) for word in words)
    inputs = [pathlib.Path(file).read_bytes() for file in flags.get("inputs", "").split(",") if file]
    outputs = run(flags["model_path"], flags.get("method_name", "forward"), inputs)
    for i, data in enumerate(outputs or []):
        pathlib.Path(f"{flags['output_file']}-{i}.bin").write_bytes(data)
    return 1 if outputs is None else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
