"""MobileNetV2 as torchvision has it, for time and memory; written on demand, 14 MB."""

import torch

from .program import forward, program


@program(on_demand=True)
def mobilenet_v2():
    """MobileNetV2 with random weights on an image of 224 by 224; torchvision must be installed."""
    from torchvision.models import mobilenet_v2 as network

    return forward(network(weights=None).eval(), (torch.randn(1, 3, 224, 224),))
