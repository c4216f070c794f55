"""The official runtime as a testee: assay runtime python:executorch_runtime, where Python has executorch and torch.

executorch.runtime runs the programs, on tensors of torch. conformance/wire/python/end.py is the server.
"""
import importlib.metadata
import tempfile

from executorch.runtime import Runtime
from torch_kernels import given, taken

name = "executorch.runtime"
facts = {"executorch": importlib.metadata.version("executorch")}


class Loaded:
    def __init__(self, program, data):
        if len(data) > 1:
            raise NotImplementedError("executorch.runtime takes one data file")
        self.file = tempfile.NamedTemporaryFile(suffix=".ptd")  # deleted with the program
        self.file.write(b"".join(data)), self.file.flush()
        self.program, self.methods = Runtime.get().load_program(program, **({"data_path": self.file.name} if data else {})), {}

    def __call__(self, name, inputs):
        if name not in self.program.method_names:
            raise ValueError(f"there is no method {name}")
        if name not in self.methods:  # it keeps its state from then on
            self.methods[name] = done(self.program.load_method, name)
        method = self.methods[name]
        if len(inputs) != method.metadata.num_inputs():
            raise ValueError(f"{method.metadata.num_inputs()} inputs are needed")
        return given(done(method.execute, taken(inputs)))


def done(do, what):
    try:
        return do(what)
    except RuntimeError as error:
        if "0x14" in str(error):
            raise NotImplementedError(f"an operator is missing: {error}") from error
        raise


load = Loaded
