"""The settings to make before torch is loaded: one instruction set, one thread, one hash seed.

The bytes of a recording depend on them: sums and libm calls differ in the last place between instruction sets.
"""

import os
import sys

VARIABLES = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}


def enforce():
    """Restarts the program if the environment differs from these variables: a hash seed cannot be changed later."""
    if any(os.environ.get(k) != v for k, v in VARIABLES.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | VARIABLES)
