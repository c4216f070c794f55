"""MobileNetV2 (Sandler et al., 2018, table 2), for time and memory; written on demand, 14 MB."""

import torch
from torch import nn

from .program import forward, program


def convolution(inputs, outputs, kernel=1, stride=1, groups=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]


class Bottleneck(nn.Module):
    """Expanded, filtered by channel, projected; added to its input where the shape stays."""

    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        inner = inputs * expansion
        expand = [*convolution(inputs, inner), nn.ReLU6()] if expansion > 1 else []
        self.layers = nn.Sequential(*expand, *convolution(inner, inner, 3, stride, groups=inner), nn.ReLU6(), *convolution(inner, outputs))
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        layers, channels = [*convolution(3, 32, 3, 2), nn.ReLU6()], 32
        # expansion, outputs, repeats, stride of the first
        for expansion, outputs, repeats, stride in (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1):
            for i in range(repeats):
                layers.append(Bottleneck(channels, outputs, stride if i == 0 else 1, expansion))
                channels = outputs
        self.features = nn.Sequential(*layers, *convolution(channels, 1280), nn.ReLU6())
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


@program(on_demand=True)
def mobilenet_v2():
    """MobileNetV2 with random weights on an image of 224 by 224."""
    return forward(MobileNetV2().eval(), (torch.randn(1, 3, 224, 224),))
