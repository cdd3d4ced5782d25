#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes any torch.nn.Module as a dlcast model file, from one forward pass over meta tensors (no memory, no computing).

    contrib/torch_export.py torchvision.models:resnet50 --input 3,224,224 -o resnet50.json
    contrib/torch_export.py my_package.net:Net --input 512 --tokens -o net.json      # token ids

or from Python: `from torch_export import export; json.dump(export(module, [3, 224, 224]), file)`.
Needs PyTorch 1.13 or later. What is not a product, norm, pooling, activation, embedding or sum costs little and is left
out; each operator left out is named on stderr once.
"""
import argparse
import importlib
import json
import sys


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"torch_export: {message}; --help shows how it is called\n")


def shape_of(text):
    sizes = text.split(",")
    if not all(size.strip().isdecimal() and int(size) > 0 for size in sizes):
        raise argparse.ArgumentTypeError(f"'{text}' is no shape; write the sizes of one sample, as 3,224,224")
    return [int(size) for size in sizes]


def parse_arguments():
    parser = Parser(description="Write a torch.nn.Module as a dlcast model file.")
    parser.add_argument("module", help="package.module:callable, as torchvision.models:resnet50")
    parser.add_argument("--input", required=True, type=shape_of, help="shape of one sample, as 3,224,224")
    parser.add_argument("--tokens", action="store_true", help="the input is token ids")
    parser.add_argument("--device", default="meta", help="where the forward pass runs (meta: nowhere)")
    parser.add_argument("-o", "--output", help="file to write, instead of standard output")
    return parser.parse_args()


try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as fault:
    if __name__ != "__main__":
        raise
    parse_arguments()  # --help needs no PyTorch
    raise SystemExit(f"torch_export: no PyTorch of 1.13 or later for {sys.executable} ({fault}); install it "
                     "(Debian: python3-torch), or call this with the Python that has it")

ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "silu": "silu", "sigmoid": "sigmoid", "tanh": "tanh", "hardswish": "hard_swish",
    "hardsigmoid": "hard_sigmoid", "leaky_relu": "leaky_relu", "elu": "elu", "hardtanh": "relu6", "mish": "mish",
    "softplus": "softplus", "_prelu_kernel": "prelu", "_softmax": "softmax", "_log_softmax": "softmax",
    "native_dropout": "dropout",
}
NORMS = {"native_batch_norm": "batch_norm", "cudnn_batch_norm": "batch_norm", "_native_batch_norm_legit": "batch_norm",
         "native_layer_norm": "layer_norm", "native_group_norm": "group_norm"}
SUMS = {"add": "add", "sub": "add", "mul": "multiply", "div": "multiply"}
# Views, masks and numbers: no layer of their own.
SILENT = {
    "t", "transpose", "permute", "view", "_unsafe_view", "reshape", "_reshape_alias", "expand", "unsqueeze", "squeeze",
    "select", "slice", "split", "split_with_sizes", "chunk", "clone", "detach", "contiguous", "empty", "empty_like",
    "zeros", "ones", "full", "arange", "copy_", "_to_copy", "fill_", "zero_", "as_strided", "alias", "unbind", "roll",
    "constant_pad_nd", "new_zeros", "new_empty", "new_full", "ne", "eq", "masked_fill", "masked_fill_", "index",
    "lift_fresh", "rsqrt", "pow", "exp", "sum", "var_mean", "stack", "where", "bernoulli_", "div_", "div", "full_like",
    "linalg_vector_norm", "clamp_min", "clamp", "repeat", "channel_shuffle", "native_channel_shuffle", "ones_like",
    "zeros_like", "scalar_tensor", "triu", "tril", "logical_not", "cumsum", "type_as", "lt", "gt", "rsub", "max", "min",
    "normal_", "uniform_", "randn", "rand", "_local_scalar_dense", "new_ones", "le", "ge", "bitwise_not", "neg", "cos", "sin",
}


def of_one_sample(shape):
    """Channels first, at most three dimensions; the batch is 1 and dropped."""
    sizes = [int(size) for size in shape]
    if len(sizes) > 1 and sizes[0] == 1:
        sizes = sizes[1:]
    while len(sizes) > 3:
        sizes = [sizes[0] * sizes[1]] + sizes[2:]
    return sizes or [1]


def pair(numbers):
    numbers = [int(n) for n in numbers]
    if len(numbers) == 1:
        return [numbers[0], 1]
    return numbers[0] if numbers[0] == numbers[1] else numbers


class Recorder(TorchDispatchMode):
    """Notes every operator that is a layer; tensors derived from parameters by views count as learned."""

    def __init__(self, owners):
        """`owners`: of the id of each parameter, it and the parameter it stands for."""
        super().__init__()
        self.layers, self.current, self.muted, self.left_out = [], None, 0, set()
        self.learned = dict(owners)  # of each tensor: it, and the parameter it shows
        self.used = set()
        self.noise = {}  # of each tensor drawn to drop values: it, kept so that its id stays its own

    def is_learned(self, tensor):
        return isinstance(tensor, torch.Tensor) and id(tensor) in self.learned

    def learns(self, *weights):
        """Of the layer added last: frozen where none of its weights takes a gradient, tied where the first is used again."""
        owners = [self.learned[id(w)][1] for w in weights if self.is_learned(w)]
        if owners and not any(owner.requires_grad for owner in owners):
            self.layers[-1]["trainable"] = False
        if owners and id(owners[0]) in self.used:
            self.layers[-1]["tied"] = True
        self.used.update(id(owner) for owner in owners[:1])

    def add(self, kind, before, after, **keys):
        at, result = of_one_sample(before.shape), of_one_sample(after.shape)
        layer = {"type": kind}
        if at != self.current:
            layer["at"] = at
        layer.update(keys)
        self.layers.append(layer)
        self.current = result

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if not self.muted:
            self.note(func.overloadpacket.__name__, args, out)
        return out

    def note(self, name, args, out):
        plain = name[:-1] if name.endswith("_") and not name.startswith("_") else name
        first = args[0] if args else None
        result = out[0] if isinstance(out, (tuple, list)) and out else out
        if self.is_learned(first) and plain in ("t", "transpose", "view", "expand", "permute", "unsqueeze", "slice",
                                                "select", "detach", "clone", "_to_copy", "alias", "squeeze", "reshape"):
            self.learned[id(result)] = (result, self.learned[id(first)][1])
            return
        if name == "convolution":
            return self.note_convolution(args, out)
        if name in ("addmm", "mm", "bmm", "baddbmm"):
            return self.note_product(name, args, out)
        if plain in NORMS:
            keys = {} if args[2] is not None or args[1] is None else {"bias": False}
            if args[1] is None:
                return self.add("multiply", first, result, at=of_one_sample(result.shape))
            self.add(NORMS[plain], first, result, **keys)
            return self.learns(args[1], args[2])
        if plain in ACTIVATIONS:
            return self.add(ACTIVATIONS[plain], first, result)
        if plain == "bernoulli":
            self.noise[id(result)] = result
            return None
        if plain == "mul" and any(id(factor) in self.noise for factor in args[:2]):  # what a dropout is made of
            image = args[1] if id(first) in self.noise else first
            return self.add("dropout", image, result)
        if plain in SUMS and isinstance(result, torch.Tensor) and result.is_floating_point():
            return self.note_sum(plain, args, out)
        if name == "cat":
            return self.add("concat", out, out, at=of_one_sample(out.shape))
        if name == "embedding":
            self.add("embedding", args[1], out, vocab=int(first.shape[0]), width=int(first.shape[1]))
            return self.learns(first)
        if name in ("max_pool2d_with_indices", "avg_pool2d"):
            sizes = {"kernel": pair(args[1]), "stride": int((args[2] if len(args) > 2 and args[2] else args[1])[0]),
                     "result": pair(result.shape[-2:])}
            return self.add("max_pool" if name.startswith("max") else "avg_pool", first, result, **sizes)
        if name == "_adaptive_avg_pool2d":
            return self.add("adaptive_avg_pool", first, out, out=pair(out.shape[-2:]))
        if name == "mean":
            if first.dim() == 4 and len(args) > 1 and list(args[1]) in ([2, 3], [-1, -2], [-2, -1]):
                self.add("global_avg_pool", first, first.new_empty((1, first.shape[1], 1, 1)))
            return None
        if name.startswith("upsample_"):
            return self.add("upsample", first, out, result=pair(out.shape[-2:]))
        if "scaled_dot_product" in name:
            query, key = args[0], args[1]
            keys = {"heads": int(query.shape[1]), "head_dim": int(query.shape[3]), "fused": True}
            if key.shape[2] != query.shape[2]:
                keys["keys"] = int(key.shape[2])
            flat = query.new_empty((1, query.shape[2], query.shape[1] * query.shape[3]))
            return self.add("scores", flat, flat, **keys)
        if plain not in SILENT and name not in SILENT:
            self.left_out.add(name)
        return None

    def note_convolution(self, args, out):
        image, weight, bias, stride, _, dilation, transposed, _, groups = args[:9]
        if image.dim() > 4:
            raise SystemExit("torch_export: volumes (Conv3d) are not supported; measure a step and state it under "
                             "\"measured\" beside a model of images of about as many FLOPs")
        keys = {"out": int(out.shape[1]), "kernel": pair(weight.shape[2:])}
        if stride[0] != 1:
            keys["stride"] = int(stride[0])
        if dilation[0] != 1:
            keys["dilation"] = int(dilation[0])
        keys["result"] = pair(out.shape[2:])
        if groups != 1:
            keys["groups"] = int(groups)
        if bias is None:
            keys["bias"] = False
        before, after = (t if t.dim() == 4 else t.new_empty((*t.shape, 1)) for t in (image, out))
        self.add("conv2d_transpose" if transposed else "conv2d", before, after, **keys)
        self.learns(weight, bias)

    def note_product(self, name, args, out):
        matrices = args[1:] if name in ("addmm", "baddbmm") else args
        a, b = matrices[0], matrices[1]
        if self.is_learned(b) and b.dim() == 2:
            keys = {"out": int(b.shape[1])}
            if name == "mm":
                keys["bias"] = False
            self.add("linear", a, out, **keys)
            self.learns(b, args[0] if name == "addmm" else None)
        else:
            self.add("product", a, out, out=int(b.shape[-1]))

    def note_sum(self, name, args, out):
        others = [t for t in args[:2] if self.is_learned(t)]
        if len(args) > 1 and not isinstance(args[1], torch.Tensor):
            return
        keys = {"at": of_one_sample(out.shape)}
        if others:
            keys["parameters"] = int(sum(t.numel() for t in others))
        self.add(SUMS[name], out, out, **keys)
        if others and not any(self.learned[id(t)][1].requires_grad for t in others):
            self.layers[-1]["trainable"] = False


def fold(layers, longest=400):
    """Runs that stand several times behind each other become {"repeat": n, "layers": [..]}."""
    texts = [json.dumps(layer) for layer in layers]
    out, i = [], 0
    while i < len(layers):
        best = (0, 1, 1)
        for length in range(1, min(longest, (len(layers) - i) // 2) + 1):
            if texts[i] != texts[i + length]:
                continue
            count = 1
            while texts[i + count * length:i + (count + 1) * length] == texts[i:i + length]:
                count += 1
            best = max(best, ((count - 1) * length, -length, count))
        saved, length, count = best[0], abs(best[1]), best[2]
        if saved == 0:
            out.append(layers[i])
            i += 1
            continue
        run = layers[i:i + length]
        out.append({**run[0], "repeat": count} if length == 1 else {"repeat": count, "layers": run})
        i += length * count
    return out


def record_recurrent(module, recorder):
    """LSTM and GRU are one layer each, whatever they are made of."""
    def before(cell, _):
        recorder.muted += 1

    def after(cell, inputs, outputs):
        recorder.muted -= 1
        sequence, result = inputs[0], outputs[0]
        if not cell.batch_first and sequence.dim() == 3:
            sequence, result = sequence.transpose(0, 1), result.transpose(0, 1)
        width = cell.hidden_size * (2 if cell.bidirectional else 1)
        for number in range(cell.num_layers):
            keys = {"hidden": cell.hidden_size}
            if cell.bidirectional:
                keys["bidirectional"] = True
            inside = sequence if number == 0 else sequence.new_empty((*sequence.shape[:-1], width))
            recorder.add("gru" if isinstance(cell, torch.nn.GRU) else "lstm", inside, result, **keys)

    return [hook for part in module.modules() if isinstance(part, (torch.nn.LSTM, torch.nn.GRU))
            for hook in (part.register_forward_pre_hook(before), part.register_forward_hook(after))]


def slots(module):
    """Every place of a parameter in the module, also those that share one."""
    return [(part, name) for part in module.modules() for name, p in part._parameters.items() if p is not None]


def moved(module, device):
    """The module on the device, and the owners of its parameters: moving parts what was shared."""
    places, first = slots(module), {}
    for place in places:
        part, name = place
        first.setdefault(id(part._parameters[name]), place)
    shared = [first[id(part._parameters[name])] for part, name in places]
    module = module.to(device=device)
    owners = {}
    for (part, name), (owner, owner_name) in zip(places, shared):
        owners[id(part._parameters[name])] = (part._parameters[name], owner._parameters[owner_name])
    return module, owners


def export(module, input_shape, name="", tokens=False, device="meta"):
    """The dlcast model of `module` for one sample of `input_shape` (without the batch); `tokens`: of whole numbers."""
    module, owners = moved(module.train(), device)
    for part in module.modules():  # a batch of one value a channel is refused in training
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.eval()
    shape = (1, *input_shape)
    sample = (torch.zeros(shape, dtype=torch.long, device=device) if tokens else torch.empty(shape, device=device))
    recorder = Recorder(owners)
    hooks = record_recurrent(module, recorder)
    try:
        with torch.no_grad(), recorder:
            module(sample)
    finally:
        for hook in hooks:
            hook.remove()
    if recorder.left_out:
        print("torch_export: left out, as they cost little: " + ", ".join(sorted(recorder.left_out)), file=sys.stderr)
    return {"model": {"name": name or type(module).__name__, "input": list(input_shape), "layers": fold(recorder.layers)}}


def cause(fault):
    """An exception of somebody else's code on one line."""
    return " ".join(f"{type(fault).__name__}: {fault}".split())[:300]


def make_module(text):
    """What `package.module:callable` returns; modules of the current folder are found, as with python -m."""
    sys.path.insert(0, "")
    package, _, function = text.partition(":")
    if not package or not function:
        raise SystemExit(f"torch_export: '{text}' names no callable; write package.module:callable")
    try:
        holder = importlib.import_module(package)
    except Exception as fault:
        raise SystemExit(f"torch_export: cannot import '{package}' ({cause(fault)}); call this in the folder that holds "
                         "it, with the Python that runs it")
    make = getattr(holder, function, None)
    if not callable(make):
        raise SystemExit(f"torch_export: '{package}' has no class or function '{function}'; name one that makes the network")
    try:
        module = make()
    except Exception as fault:
        raise SystemExit(f"torch_export: {text} cannot be called without arguments ({cause(fault)}); name a function "
                         f"that makes the network, as def small(): return {function}(10)")
    if not isinstance(module, torch.nn.Module):
        raise SystemExit(f"torch_export: {text} makes no torch.nn.Module ({type(module).__name__}); name one that does")
    return module


def remedy(told, options):
    """Of a forward pass that failed, by what PyTorch says."""
    if "forward()" in told and "required positional argument" in told:
        return ("wrap it in a module whose forward takes one input and makes the others, as def forward(self, x): return "
                "self.net(x, torch.ones_like(x))")
    if not options.tokens and "indices" in told:
        return "where the input is token ids, add --tokens"
    if options.device == "meta" and "meta" in told.lower():
        return "where values decide what is computed, add --device cpu"
    if options.device != "meta" and "device" in told:
        return "name a device that this PyTorch has, as --device cpu"
    return "give the shape of one sample, without the batch, as --input, and --tokens where it is token ids"


def write(path, text):
    if not path:
        print(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as fault:
        raise SystemExit(f"torch_export: cannot write '{path}' ({fault.strerror}); name a file in a folder that exists")


def main():
    options = parse_arguments()
    module = make_module(options.module)
    try:
        model = export(module, options.input, options.module.partition(":")[2], options.tokens, options.device)
    except Exception as fault:
        told = cause(fault)
        shape = ",".join(str(size) for size in options.input)
        raise SystemExit(f"torch_export: the forward pass over --input {shape} failed ({told}); {remedy(told, options)}")
    write(options.output, json.dumps(model))


if __name__ == "__main__":
    main()
