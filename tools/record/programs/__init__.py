"""Programs of the official exporter, with eager PyTorch's answers to some calls of each.

A program is a function under `@program` in one of SUBJECTS = ("layers", "control_flow", "dynamic", "state", "dtypes")
