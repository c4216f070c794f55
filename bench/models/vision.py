"""Models of torchvision with random weights of the scale that training leaves."""

import torch
import torchvision
from torch import nn

IMAGE = (3, 224, 224)


def vision(name):
    """The model, with activations of about the same size in every layer."""
    model = torchvision.models.get_model(name, weights=None).eval()
    for linear in (m for m in model.modules() if isinstance(m, nn.Linear)):
        nn.init.normal_(linear.weight, std=linear.in_features**-0.5)  # some begin as zeros
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, std=0.2)
        norm.momentum = None  # statistics are those of what it sees
        norm.train()
    with torch.no_grad():
        model(torch.randn(8, *IMAGE))
    return model.eval()
