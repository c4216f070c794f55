"""The command line of executor_runner, answered by assay run: runner.py ASSAY [FAULT] --model_path=... as spec/runtime_suite.md says."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile

DTYPES = {"float32": "f4", "int64": "i8", "int32": "i4", "bool": "b1", "float64": "f8", "uint8": "u1", "int8": "i1"}


def npy(data, tensor):
    header = f"{{'descr': '<{DTYPES[tensor['dtype']]}', 'fortran_order': False, 'shape': {tuple(tensor['sizes'])}}}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def main(assay, fault, flags):
    flags = dict(flag.removeprefix("--").split("=", 1) for flag in flags)
    method = flags.get("method_name", "forward")
    shown = subprocess.run([assay, "inspect", flags["model_path"], "--json"], capture_output=True, text=True, check=False)
    if shown.returncode:
        os.abort()
    plan, = [plan for plan in json.loads(shown.stdout)["methods"] if plan["name"] == method]
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for i, file in enumerate(filter(None, flags.get("inputs", "").split(","))):
            path = pathlib.Path(folder) / f"{i}.npy"
            path.write_bytes(npy(pathlib.Path(file).read_bytes(), plan["values"][plan["inputs"][i]]))
            inputs += ["--input", path]
        done = subprocess.run([assay, "run", flags["model_path"], "--method", method, *inputs, "--output-dir", folder], capture_output=True, text=True, check=False)
        print(done.stderr)
        if fault == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        for file in pathlib.Path(folder).glob("?.npy") if done.returncode == 0 and fault != "silent" else ():
            data = file.read_bytes()
            output = data[10 + struct.unpack_from("<H", data, 8)[0]:]
            pathlib.Path(f"{flags['output_file']}-{file.stem}.bin").write_bytes(output[::-1] if fault == "wrong" else output)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
