"""A program's bytes: torch.export, edge dialect, passes, memory plan, serialisation."""

import tempfile
from pathlib import Path

from executorch.exir import to_edge
from executorch.exir._serialize._program import deserialize_pte_binary
from torch.export.graph_signature import OutputKind

PROGRAM = "program.pte"


def export(made):
    """The files of a program, and for each method the positions of the inputs that it changes."""
    exported = {name: method.exported() for name, method in made.methods.items()}
    edge = to_edge(exported, constant_methods=made.constants or None, compile_config=made.edge)
    mutated = {name: mutated_inputs(edge.exported_program(name).graph_signature) for name in exported}
    if made.passes:
        edge = edge.transform(made.passes)
    if made.partitioner:
        edge = edge.to_backend(made.partitioner)
    lowered = edge.to_executorch(made.backend)
    return {PROGRAM: lowered.buffer} | data_files(lowered), mutated


def mutated_inputs(signature):
    """Positions among the user inputs, in the order of the outputs that carry their new values."""
    return [
        signature.user_inputs.index(o.target)
        for o in signature.output_specs
        if o.kind == OutputKind.USER_INPUT_MUTATION
    ]


def data_files(lowered):
    """The .ptd files."""
    with tempfile.TemporaryDirectory() as folder:
        lowered.write_tensor_data_to_file(folder)
        return {p.name: p.read_bytes() for p in sorted(Path(folder).iterdir())}


def plans(pte):
    """The execution plans of a .pte, by name."""
    read = deserialize_pte_binary(pte)
    return {p.name: p for p in getattr(read, "program", read).execution_plan}
