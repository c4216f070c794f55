"""Memory plans and other settings of the last step of the export."""

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.dialects._ops import ops
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy, naive
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn
from torch.export import Dim

from .program import Call, Function, Method, Program, forward, program


class Residual(nn.Module):
    """Values of several sizes and lifetimes."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 24), nn.Linear(24, 8)

    def forward(self, x):
        y = self.first(x).sigmoid()
        z = self.second(y * 2)
        return (z + x).tanh(), y.sum(1)


def planned(*inputs, module=None, dynamic=None, **settings):
    """A residual network with a memory plan of these settings."""
    backend = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(**settings))
    return forward(module or Residual(), *(inputs or ((torch.randn(3, 8),),)), dynamic=dynamic, backend=backend)


@program
def plan_naive():
    """Every value in memory of its own."""
    return planned(memory_planning_algo=MemoryPlanningAlgorithmSuite([naive]))


@program
def plan_greedy():
    """Values that share memory where their lifetimes allow."""
    return planned(memory_planning_algo=MemoryPlanningAlgorithmSuite([greedy]))


@program
def plan_pools():
    """Intermediate values in two memories by turns."""

    class Pools(MemoryPlanningPass):
        def run(self, graph_module, graph_signature=None):
            calls = [n for n in graph_module.graph.nodes if n.op == "call_function" and hasattr(n.target, "_schema")]
            for index, node in enumerate(calls):
                node.meta["spec"].mem_id = 1 + index % 2
            return super().run(graph_module, graph_signature)

    plan = Pools(alloc_graph_input=False, alloc_graph_output=False)

    class Chain(Residual):
        def forward(self, x):
            return self.second(self.first(x).sigmoid() * 2).cos() + 1

    return forward(Chain(), (torch.randn(3, 8),), backend=ExecutorchBackendConfig(memory_planning_pass=plan))


@program
def plan_no_inputs():
    """The caller gives the memory of the inputs."""
    return planned(alloc_graph_input=False)


@program
def plan_no_outputs():
    """The caller gives the memory of the outputs."""
    return planned(alloc_graph_output=False)


@program
def plan_no_interface():
    """The caller gives the memory of inputs and outputs; a dynamic batch."""
    dims = ({0: Dim("batch", min=1, max=6)},)
    inputs = ((torch.randn(n, 8),) for n in (4, 6, 1))
    return planned(*inputs, dynamic=dims, alloc_graph_input=False, alloc_graph_output=False)


@program
def plan_alignment():
    """Values at multiples of 64 bytes."""
    return planned((torch.randn(3, 7),), module=Function(lambda x: ((x + 1) * x[:, :3].sum(), x.amax(1))), alignment=64)


@program
def plan_no_state():
    """A mutable buffer outside the plan: the caller gives its memory by name."""

    class Sum(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x):
            self.total.add_(x)
            return self.total * 1

    plan = MemoryPlanningPass(alloc_mutable_buffers=False)
    backend = ExecutorchBackendConfig(memory_planning_pass=plan, emit_mutable_buffer_names=True)
    return forward(Sum(), *((torch.randn(3),) for _ in range(3)), backend=backend)


@program
def plan_per_method():
    """Two methods with plans of their own: one naive, one without memory for its input."""
    x = torch.randn(2, 8)
    network = Residual()
    passes = {
        "first": MemoryPlanningPass(memory_planning_algo=MemoryPlanningAlgorithmSuite([naive])),
        "second": MemoryPlanningPass(alloc_graph_input=False),
    }
    made = {"first": Method(network, (x,)), "second": Method(Function(lambda x: x.exp() + 1), (x,))}
    calls = [Call("first", (x,)), Call("second", (x,)), Call("first", (x * 2,))]
    return Program(made, calls, backend=ExecutorchBackendConfig(memory_planning_pass=passes))


@program
def constants_aligned():
    """Constants at multiples of 256 bytes and segments at multiples of 4096."""
    backend = ExecutorchBackendConfig(constant_tensor_alignment=256, segment_alignment=4096)
    return forward(Residual(), (torch.randn(2, 8),), backend=backend)


@program
def reinplaced():
    """Operators that the exporter turns into in-place ones: index_put on an intermediate value and on state."""

    class Put(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(6, 2))

        def forward(self, position, x):
            self.cache.index_put_((position,), x)
            return self.cache + 1

    inputs = ((torch.tensor([i, 5 - i]), torch.randn(2, 2)) for i in range(3))
    backend = ExecutorchBackendConfig(run_reinplace_pass=True)
    return forward(Put(), *inputs, passes=[InitializedMutableBufferPass(["cache"])], backend=backend)


@program
def reinplaced_operators():
    """Operators that the exporter changes to in-place operators. No other tensor is planned meanwhile: the exporter ends
    the lifetime of a tensor with the first call that changes it in place, although later calls use it."""
    edge = ops.edge.aten

    def change(x, y):
        return (x * 2).relu().add(y).clamp(max=3).exp()

    functional = {edge.relu.default, edge.add.Tensor, edge.clamp.default}
    backend = ExecutorchBackendConfig(reinplace_extra_ops=frozenset(functional))
    return forward(Function(change), (torch.randn(3, 4), torch.randn(4)), backend=backend)
