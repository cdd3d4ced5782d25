#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports 21 torchvision models and compares FLOPs and parameters with the zoo's, within 1 %; then counts the parameters of
every torchvision model that the zoo knows, which have to be the same.

    tests/model/torch_export_check.py path/to/dlcast

Exit 77: PyTorch or torchvision is missing.
"""
import json
import os
import subprocess
import sys
import tempfile

try:
    import torch
    import torchvision
except ImportError as fault:
    # Debian's modules belong to Debian's Python, whichever stands first in PATH.
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print(f"SKIPPED: {fault}; install python3-torch and python3-torchvision")
    sys.exit(77)

for name in dir(torch.nn.init):  # values do not matter here, and take most of the time
    if name.endswith("_") and not name.startswith("_"):
        setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "contrib"))
from torch_export import export  # noqa: E402

# torchvision's name, its image size.
MODELS = [
    ("alexnet", 224), ("vgg16", 224), ("vgg11_bn", 224), ("resnet18", 224), ("resnet50", 224), ("resnext50_32x4d", 224),
    ("wide_resnet50_2", 224), ("densenet121", 224), ("squeezenet1_0", 224), ("shufflenet_v2_x1_0", 224),
    ("mobilenet_v2", 224), ("mobilenet_v3_large", 224), ("mnasnet1_0", 224), ("efficientnet_b0", 224),
    ("efficientnet_v2_s", 384), ("regnet_y_400mf", 224), ("convnext_tiny", 224), ("swin_t", 224), ("swin_v2_t", 256),
    ("vit_b_32", 224), ("inception_v3", 299),
]


def explain(dlcast, model, size=None):
    train = ["--train", f"image_size={size}"] if size else []
    done = subprocess.run([dlcast, "explain", model, "--json", *train], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{model}: {done.stderr}")
    return json.loads(done.stdout)


def published(name):
    """The module whose parameters torchvision's documentation counts: as its weights were trained."""
    if name == "googlenet":
        return torchvision.models.get_model(name, weights=None, aux_logits=False, init_weights=False)
    if name.startswith(("fcn_", "deeplabv3_")):
        return torchvision.models.get_model(name, weights=None, weights_backbone=None, aux_loss=True)
    if any(part in name for part in ("rcnn", "retinanet", "fcos", "ssd", "lraspp")):
        return torchvision.models.get_model(name, weights=None, weights_backbone=None)
    return torchvision.models.get_model(name, weights=None)


def count(name):
    model = published(name)
    parameters = sum(p.numel() for p in model.parameters())
    # Detectors freeze the norms of a backbone that comes trained; from nothing they are learned.
    frozen = any(part in name for part in ("rcnn", "retinanet", "fcos_")) and not name.endswith("_v2")
    if frozen:
        norms = (m for m in model.backbone.body.modules() if isinstance(m, torch.nn.BatchNorm2d))
        parameters -= sum(p.numel() for norm in norms for p in norm.parameters())
    return parameters


def compare_counts(dlcast):
    listed = subprocess.run([dlcast, "predict", "--list"], capture_output=True, text=True, check=True).stdout
    known = set(torchvision.models.list_models()) & {line.split()[0] for line in listed.splitlines() if line.strip()}
    faults = 0
    for name in sorted(known):
        theirs, ours = count(name), explain(dlcast, name)["parameters"]
        if theirs != ours:
            faults += 1
            print(f"{name}: torchvision has {theirs} parameters, the zoo {ours}")
    print(f"{len(known) - faults} of {len(known)} torchvision models have the zoo's parameters")
    return faults if len(known) >= 80 else faults + 1


class Tied(torch.nn.Module):
    """An embedding whose table is the head's too, and a layer that is called twice."""

    def __init__(self):
        super().__init__()
        self.table, self.inner = torch.nn.Embedding(1000, 64), torch.nn.Linear(64, 64)
        self.head = torch.nn.Linear(64, 1000, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens):
        return self.head(self.inner(self.inner(self.table(tokens))))


def frozen_resnet():
    """With a new head, which alone is trained."""
    model = torchvision.models.resnet18()
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.fc = torch.nn.Linear(512, 10)
    return model


def compare_shared_and_frozen(dlcast, folder):
    faults = 0
    for module, shape, tokens in ((Tied(), [16], True), (frozen_resnet(), [3, 224, 224], False)):
        theirs = [sum(p.numel() for p in module.parameters() if p.requires_grad or every) for every in (True, False)]
        path = os.path.join(folder, "module.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(export(module, shape, tokens=tokens), file)
        said = explain(dlcast, path)
        ours = [said["parameters"], said["trainable_parameters"]]
        faults += ours != theirs
        print(f"{type(module).__name__}: {ours} parameters and trained ones, PyTorch counts {theirs}")
    return faults


def dropouts_are_one_layer():
    """Of elements, of channels and in place: no product with what was drawn stays beside it."""
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Dropout(), torch.nn.Dropout2d(),
                              torch.nn.Dropout(inplace=True), torch.nn.Conv2d(4, 4, 1))
    made = export(net, [3, 8, 8])["model"]["layers"]
    types = [(layer["type"], layer.get("repeat", 1)) for layer in made]
    good = types == [("conv2d", 1), ("dropout", 3), ("conv2d", 1)] and "at" not in made[2]
    print(f"dropouts: {types}  {'ok' if good else 'BAD'}")
    return good


SCRIPT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "contrib", "torch_export.py"))


def tells_that_pytorch_is_missing():
    """Python without its site-packages stands for a host without PyTorch."""
    python = [sys.executable, "-I", "-S", SCRIPT]
    done = subprocess.run([*python, "x:y", "--input", "3"], capture_output=True, text=True)
    told = done.returncode == 1 and done.stderr.count("\n") == 1 and "install it (Debian: python3-torch)" in done.stderr
    told = told and subprocess.run([*python, "--help"], capture_output=True).returncode == 0
    print(f"without PyTorch: {done.stderr.strip()}  {'ok' if told else 'BAD'}")
    return told


PACKAGE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = torch.nn.Embedding(100, 8), torch.nn.Linear(8, 4)

    def forward(self, tokens):
        return self.head(self.table(tokens))

class Sized(Net):
    def __init__(self, size):
        super().__init__()

class Branching(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)

    def forward(self, image):
        image = self.conv(image)
        return image * 2 if image.mean() > 0 else image

class TwoInputs(Net):
    def forward(self, tokens, mask):
        return super().forward(tokens) * mask

class Volumes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv3d(3, 4, 3)

    def forward(self, film):
        return self.conv(film)

number = int
"""

# Arguments, exit code, and what is told.
CALLS = [
    ("my_package.net:Net --input 512 --tokens -o net.json", 0, ""),
    ("my_package.net:Branching --input 3,8,8 --device cpu -o net.json", 0, ""),
    ("my_package.net:Net --input 512", 1, "add --tokens"),
    ("my_package.net:Net --input a,b", 2, "write the sizes of one sample"),
    ("my_package.net:Net --input 8 --tokens -o none/net.json", 1, "name a file in a folder that exists"),
    ("my_package.net:Nat --input 8", 1, "has no class or function 'Nat'"),
    ("my_package:Net --input 8", 1, "has no class or function 'Net'"),
    ("my_package.net --input 8", 1, "write package.module:callable"),
    ("no_package.net:Net --input 8", 1, "call this in the folder that holds it"),
    ("my_package.net:Sized --input 8", 1, "name a function that makes the network"),
    ("my_package.net:number --input 8", 1, "makes no torch.nn.Module (int)"),
    ("my_package.net:Branching --input 3,8,8", 1, "add --device cpu"),
    ("my_package.net:Branching --input 4,8,8 --device cpu", 1, "give the shape of one sample"),
    ("my_package.net:TwoInputs --input 8 --tokens", 1, "wrap it in a module whose forward takes one input"),
    ("my_package.net:Volumes --input 3,8,8,8", 1, "measure a step and state it"),
]


def compare_calls(folder):
    """Modules of the current folder are found; every fault is one line."""
    os.mkdir(os.path.join(folder, "my_package"))
    with open(os.path.join(folder, "my_package", "net.py"), "w", encoding="utf-8") as file:
        file.write(PACKAGE)
    faults = 0
    for arguments, code, part in CALLS:
        done = subprocess.run([sys.executable, SCRIPT, *arguments.split()], capture_output=True, text=True, cwd=folder)
        good = done.returncode == code and part in done.stderr and (code == 0 or done.stderr.count("\n") == 1)
        faults += not good
        print(f"{arguments}: {'ok' if good else f'BAD: {done.returncode} {done.stderr}'}")
    return faults


def main(dlcast):
    faults = 0 if tells_that_pytorch_is_missing() else 1
    faults += 0 if dropouts_are_one_layer() else 1
    faults += compare_counts(dlcast)
    with tempfile.TemporaryDirectory() as folder:
        faults += compare_calls(folder)
        faults += compare_shared_and_frozen(dlcast, folder)
        for name, size in MODELS:
            module = torchvision.models.get_model(name, weights=None)
            path = os.path.join(folder, name + ".json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(export(module, [3, size, size], name), file)
            ours, theirs = explain(dlcast, name, size), explain(dlcast, path)
            differences = [abs(theirs[key] / ours[key] - 1) for key in ("forward_flops", "parameters")]
            bad = max(differences) > 0.01
            faults += bad
            print(f"{name:<22} FLOPs {differences[0]:7.3%}  parameters {differences[1]:7.3%}  {'BAD' if bad else 'ok'}")
    print(f"{len(MODELS)} exports and all counts: {faults} failed" if faults else f"{len(MODELS)} exports: all passed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
