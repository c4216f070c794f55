"""ExecuTorch's kernels for language models, for end.py. The library that has them links torch, and registers each kernel
as an operator of torch; this operator calls the kernel with ExecuTorch's tensors in the memory of torch's tensors. The
operator drops the error of a kernel that refuses the call. The kernel's log has the condition that does not hold."""
import contextlib
import importlib.metadata
import os
import re
import tempfile

import torch
from executorch.extension.llm.custom_ops import custom_ops  # loads the library
from torch_kernels import kernels_of

name = "executorch+llm"
facts = {"executorch": importlib.metadata.version("executorch"), "torch": torch.__version__}
STANDARD_ERROR = 2


@contextlib.contextmanager
def written_to(file):
    """Standard error goes to the file."""
    kept = os.dup(STANDARD_ERROR)
    os.dup2(file.fileno(), STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(kept, STANDARD_ERROR)
        os.close(kept)


def refusing(kernel):
    """The kernel, with an exception where its log has a condition that does not hold."""
    def call(*values, out):
        with tempfile.TemporaryFile() as log:
            with written_to(log):
                result = kernel(*values, out=out)
            log.seek(0)
            if failed := re.search(r"Check failed .*", log.read().decode(errors="replace")):
                raise ValueError(failed[0])
        return result

    return call


kernels = {operator: refusing(kernel) for operator, kernel in kernels_of("llama").items()}
