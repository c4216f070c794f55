"""Programs of the official exporter, with eager PyTorch's answers to some calls of each.

A program is a function under `@program` in one of SUBJECTS: its name is the name of the program, its docstring says
what it is for, and it returns the modules, the settings of the exporter and the calls. `record programs` writes for
each

    golden/programs/<name>/program.pte, the .ptd files it needs, calls.json and the tensors of the calls as .npy

and golden/programs/MANIFEST.json. calls.json is what `assay run program.pte --calls calls.json` reads: calls made in
order on one loaded program, with the inputs, the outputs that eager PyTorch gives, and how near they must be.
Tensors are row-major whatever the program's own layout; bfloat16 is two raw bytes (`V2`).
"""

SUBJECTS = (
    "layers", "functions", "control_flow", "dynamic", "state", "dtypes", "layouts", "interfaces", "plans", "data",
    "quantized", "training", "custom", "delegates", "mobilenet",
)  # fmt: skip

# Features that the exporter refuses, so that no program here has them:
#
#   torch.while_loop                      "Unsupported control flow operator: while_loop"
#   map whose body gives several tensors  "Multiple outputs are not supported"
#   map over several tensors              "Emitting map with more than one mapped args is not supported"
#   _to_copy to channels-last without     "Tensor has a memory_format that is unsupported in ExecuTorch:
#     operators of dim_order, and           torch.channels_last"
#     ones_like with that memory format
#   BatchNorm in training mode            "Missing out variants: {'aten::_native_batch_norm_legit_functional'}"
#   powers of sizes                       "invalid target for call_function <built-in function pow>"
#   int() of a fraction of a size         "Constraints violated": torch replaces it by the value it was traced with
#   a slice to a fraction of a size       "Constraints violated": torch cannot prove that it lies in the tensor
#   a string as output                    "Returning ... is not yet supported in the emitter"
