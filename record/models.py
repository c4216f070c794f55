"""Models of torchvision, timm and transformers with random weights, and inputs for each. models.yaml has their names; a
library that is not installed has none."""

import importlib.util
from pathlib import Path

import torch
import yaml

LISTS = Path(__file__).with_name("models.yaml")


def torchvision_model(name, group):
    import torchvision

    return torchvision.models.get_model(name.rpartition(".")[2], weights=None, **weightless(name))


def weightless(name):
    """No weights for the backbone of a detector or a segmentation either."""
    return {"weights_backbone": None} if name.startswith(("detection.", "segmentation.")) else {}


def timm_model(name, group):
    import timm

    model = timm.create_model(name, pretrained=False)
    group.setdefault("inputs", [[1, *model.pretrained_cfg["input_size"]]])
    return model


def transformers_model(name, group):
    import transformers

    known = transformers.AutoConfig.for_model(name)
    config = transformers.AutoConfig.for_model(name, **{k: v for k, v in group["config"].items() if k in dir(known) or k == "return_dict"})
    return transformers.AutoModel.from_config(config)


MODELS = {"torchvision": torchvision_model, "timm": timm_model, "transformers": transformers_model}


class ByName(torch.nn.Module):
    """A model whose inputs have names."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)))


def made(library, name, group):
    """(the model, its inputs)"""
    torch.manual_seed(0)
    group = dict(group)
    model = MODELS[library](name, group).eval()
    indices = library == "transformers" and group.get("dtype") != "float32"
    inputs = tuple(torch.randint(3, 90, sizes) if indices else torch.randn(sizes) for sizes in group["inputs"])
    return (ByName(model, group["arguments"]) if "arguments" in group else model), inputs


def models():
    """{"library name": function that makes the model and its inputs}"""
    lists = yaml.safe_load(LISTS.read_text())
    return {
        f"{library} {name}": lambda library=library, name=name, group=group: made(library, name, group)
        for library, groups in lists.items() if importlib.util.find_spec(library)
        for group in groups
        for name in group["names"]
    }
