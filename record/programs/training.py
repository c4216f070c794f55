"""Training graphs: forward and backward in one method that gives loss, gradients and weights."""

import torch
from executorch.exir import ExecutorchBackendConfig
from torch import nn
from torch.export.experimental import _export_forward_backward
from torch.nn import Sequential
from torch.nn import functional as F

from .program import Call, forward, program


class Loss(nn.Module):
    """Cross entropy of a network's answer, and the answer."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, target):
        answer = self.network(x)
        return F.cross_entropy(answer, target), answer.detach().argmax(1)


def joint(module, example):
    return _export_forward_backward(torch.export.export(module, example, strict=False))


def gradients(module, *inputs):
    """The method's outputs: the module's, of which the first is the loss, the gradients and the trained weights."""
    module.zero_grad()
    outputs = module(*inputs)
    outputs[0].backward()
    trained = [p for p in module.parameters() if p.requires_grad]
    return [*outputs, *(p.grad for p in trained), *trained]


def trained(network, *inputs, **settings):
    """A program of the joint graph, and of the methods that say where among its outputs gradients and weights begin."""
    made = forward(Loss(network), *inputs, export=joint, eager=gradients, **settings)
    names = [f"network.{name}" for name, parameter in network.named_parameters() if parameter.requires_grad]
    made.added = {
        "__et_training_gradients_index_forward": 2,
        "__et_training_parameters_index_forward": 2 + len(names),
        "__et_training_fqn_forward": names,
    }
    made.calls += [Call(method, ()) for method in made.added]
    return made


@program
def training_linear():
    """Two linear layers and cross entropy."""
    net = Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    return trained(net, *((torch.randn(4, 5), torch.tensor([0, 2, 1, 1])) for _ in range(2)))


@program
def training_frozen():
    """A network of which the first layer is not trained."""
    net = Sequential(nn.Linear(5, 6), nn.Sigmoid(), nn.Linear(6, 3))
    net[0].requires_grad_(False)
    return trained(net, (torch.randn(3, 5), torch.tensor([0, 2, 1])))


@program
def training_conv():
    """Convolution, max pooling and a linear layer."""
    net = Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3 * 9, 4))
    return trained(net, (torch.randn(2, 2, 6, 6), torch.tensor([3, 0])))


@program
def training_norms():
    """Layer norm, GELU and an average over the sequence."""

    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.out = nn.LayerNorm(6), nn.Linear(6, 3)

        def forward(self, x):
            return self.out(F.gelu(self.norm(x)).mean(1))

    return trained(Mean(), (torch.randn(2, 4, 6), torch.tensor([2, 0])))


@program
def training_embedding():
    """An embedding whose rows are used several times, softmax attention over them."""

    class Attend(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.query = nn.Embedding(7, 6), nn.Linear(6, 1)

        def forward(self, tokens):
            x = self.embed(tokens)
            return (self.query(x).softmax(1) * x).sum(1)

    return trained(Attend(), (torch.tensor([[1, 1, 4], [6, 0, 1]]), torch.tensor([5, 2])))


@program
def training_external():
    """The weights to be trained in a .ptd file."""
    net = Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    backend = ExecutorchBackendConfig(external_mutable_weights=True)
    return trained(net, (torch.randn(3, 4), torch.tensor([0, 2, 1])), backend=backend)
