"""Programs with parts delegated to a test backend, whose payload is itself a program.

`ProgramBackend` lowers the part that it is given to a complete .pte with one method `forward`; a runtime executes the
payload with the first arguments of the delegate call as inputs and the others as outputs.
"""

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.canonical_partitioners.pattern_op_partitioner import generate_pattern_op_partitions
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from executorch.exir.program import EdgeProgramManager
from torch import nn
from torch.export import Dim
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.nn import Sequential

from .program import UNCHECKED, Function, forward, program


class ProgramBackend(BackendDetails):
    """The payload is the part's .pte; with a compile spec `named_data` it is named data of that key instead."""

    @staticmethod
    def preprocess(edge_program, compile_specs):
        payload = EdgeProgramManager(edge_program, compile_config=UNCHECKED).to_executorch().buffer
        key = next((s.value.decode() for s in compile_specs if s.key == "named_data"), None)
        if key is None:
            return PreprocessResult(processed_bytes=payload)
        store = NamedDataStore()
        store.add_named_data(key, payload, alignment=16)
        return PreprocessResult(processed_bytes=b"", data_store_output=store.get_named_data_store_output())


class Delegate(Partitioner):
    """Gives ProgramBackend the operators of these names (all without names), with the weights that only they use."""

    def __init__(self, *names, **specs):
        super().__init__()
        self.names = names
        self.specification = DelegationSpec(
            ProgramBackend.__name__, [CompileSpec(key, value.encode()) for key, value in specs.items()]
        )

    def partition(self, exported_program):
        tags = {}
        for part in generate_pattern_op_partitions(exported_program.graph_module, op_support=_Support(self.names)):
            for node in part.nodes:
                node.meta["delegation_tag"] = f"part{part.id}"
                tags[f"part{part.id}"] = self.specification
        tag_constant_data(exported_program)
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)


class _Support(OperatorSupportBase):
    def __init__(self, names):
        self.names = names

    def is_node_supported(self, submodules, node):
        if node.op != "call_function":
            return False
        return not self.names or any(f"aten.{name}." in str(node.target) for name in self.names)


INLINE = ExecutorchBackendConfig(extract_delegate_segments=False)
SEGMENT = ExecutorchBackendConfig(extract_delegate_segments=True)


def network():
    return Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


@program
def delegate_inline():
    """A whole network as one delegate; the payload lies in the program."""
    return forward(network(), (torch.randn(2, 6),), (torch.randn(2, 6),), partitioner=Delegate(), backend=INLINE)


@program
def delegate_segment():
    """A whole network as one delegate; the payload lies in a segment."""
    return forward(network(), (torch.randn(2, 6),), partitioner=Delegate(), backend=SEGMENT)


@program
def delegate_named_data():
    """A delegate whose payload is named data; a compile spec has the key."""
    return forward(network(), (torch.randn(2, 6),), partitioner=Delegate(named_data="network"), backend=SEGMENT)


@program
def delegate_compile_specs():
    """A delegate with several compile specs, an empty value among them."""
    delegate = Delegate(optimize="speed", threads="2", nothing="")
    return forward(network(), (torch.randn(2, 6),), partitioner=delegate, backend=INLINE)


@program
def delegate_parts():
    """Two delegates with operators between them; a value that the first gives to the caller and to an operator."""

    def compute(x, y):
        z = (x + y) * y
        return ((z.sin() + y) * y).exp(), z

    inputs = torch.randn(2, 3), torch.randn(2, 3)
    return forward(Function(compute), inputs, partitioner=Delegate("add", "mul"), backend=SEGMENT)


@program
def delegate_outputs():
    """A delegate with three outputs, one of them an integer tensor."""

    def compute(x):
        return x.relu(), x.argmax(1), x.sum(1)

    return forward(Function(compute), (torch.randn(3, 4),), partitioner=Delegate(), backend=INLINE)


@program
def delegate_dynamic():
    """A delegate on a dynamic batch."""
    dims = ({0: Dim("batch", min=1, max=8)},)
    inputs = ((torch.randn(n, 6),) for n in (3, 8, 1))
    return forward(network(), *inputs, dynamic=dims, partitioner=Delegate(), backend=SEGMENT)


@program
def delegate_layers():
    """The linear layers of a network delegated, its activations not."""
    net = Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(-1))
    return forward(net, (torch.randn(2, 6),), partitioner=Delegate("addmm", "permute_copy", "linear"), backend=SEGMENT)
