"""Programs of the official exporter, with eager PyTorch's answers to some calls of each.

A program is a function under `@program` in one of SUBJECTS: its name is the program's, its docstring says what the program
is for, and it returns the modules, the settings of the exporter and the calls. `record programs` writes for each

    golden/programs/<name>/program.pte, the .ptd files it needs, calls.json and the tensors of the calls as .npy

and golden/programs/MANIFEST.json. calls.json is what `assay run program.pte --calls calls.json` reads: calls made in
order on one loaded program, with the inputs, the outputs that eager PyTorch gives, and how near they must be.
Tensors are row-major whatever the program's own layout; bfloat16 is two raw bytes (`V2`).
"""

SUBJECTS = (
    "layers", "functions", "control_flow", "dynamic", "state", "dtypes", "layouts", "interfaces", "plans", "data",
    "quantized", "training", "custom", "delegates", "mobilenet",
)  # fmt: skip
