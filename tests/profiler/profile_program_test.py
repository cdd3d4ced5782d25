#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""dlcast-profile as a user runs it: a small network on this CPU, twice, after a kill, and wrongly."""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
NET = {"model": {"name": "net", "input": [3, 16, 16], "layers": [
    {"type": "conv2d", "out": 8, "kernel": 3, "padding": "same", "activation": "relu"},
    {"type": "flatten"}, {"type": "linear", "out": 10}]},
    "dataset": "cifar10", "training": {"epochs": 1, "batch_size": 4, "optimizer": "momentum"}}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "net.json").write_text(json.dumps(NET))
    out = folder / "samples.jsonl"
    first = run(folder / "net.json", "--budget", "60s", "--ci", "50", "-o", out, "--json")
    check(first.returncode == 0, first.stderr)
    result = json.loads(first.stdout)
    samples = [json.loads(line) for line in out.read_text().splitlines()]
    check(len(samples) == result["measured"] > 10, "one line a point")
    check(not result["refused"], result["refused"])
    check("points, the budget ends in " in first.stderr, "progress with the time left")
    check({s["pass"]["pass"] for s in samples if "pass" in s} == {"forward", "backward", "update", "step"}, "four passes")
    phases = {s["operator"]["phase"] for s in samples if "operator" in s}
    check(phases >= {"forward", "backward_data", "backward_weight", "update"}, phases)
    check(all(s["median_s"] > 0 and s["repetitions"] >= 3 for s in samples), "figures")
    entry = pathlib.Path(f"{out}.gpus.toml").read_text()
    check(f'name = "{samples[0]["device"]["name"]}"' in entry, "the device's entry")

    again = json.loads(run(folder / "net.json", "--budget", "60s", "--ci", "50", "-o", out, "--json").stdout)
    check(again["measured"] == 0 and again["known"] == len(samples), again)

    text = out.read_text()
    out.write_text(text[:-40])
    cut = run(folder / "net.json", "--budget", "60s", "--ci", "50", "-o", out, "--json")
    check("cut off" in cut.stderr and json.loads(cut.stdout)["measured"] == 1, cut.stderr)

    plan = folder / "plan.jsonl"
    plan.write_text(json.dumps({"operator": {"kind": "softmax", "phase": "forward", "precision": "fp32", "rows": 8, "cols": 8}}))
    planned = json.loads(run("--plan", plan, "-o", folder / "p.jsonl", "--json").stdout)
    check(planned["measured"] == 1, planned)
    halves = run(folder / "net.json", "--precision", "fp16", "--gpus", f"{out}.gpus.toml", "-o", folder / "halves.jsonl")
    check(halves.returncode == 0 and halves.stdout.count("does not compute in fp16 on this CPU") == 1, halves.stdout)

    # 20,000 points in five seconds behind the program's start, which is slow on a busy host: reading them leaves time to
    # measure in.
    began = time.monotonic()
    run("--version")
    start_s = time.monotonic() - began
    budget_s = 5 + 4 * start_s
    plan.write_text("".join(json.dumps({"operator": {"kind": "softmax", "phase": "forward", "precision": "fp32", "rows": rows,
                                                     "cols": 8}}) + "\n" for rows in range(1, 20_001)))
    gpus = f"{out}.gpus.toml"
    planned = json.loads(run("--plan", plan, "--budget", f"{budget_s:.1f}s", "--gpus", gpus, "-o", folder / "long.jsonl", "--json").stdout)
    check(planned["measured"] > 0 and planned["measured"] + planned["left"] == 20_000, planned)
    check(planned["spent_s"] < budget_s + 5, planned)

    # Over before the program has started: all points are left, and what took the time is named.
    early = run(folder / "net.json", "--budget", "0.01s", "-o", folder / "early.jsonl")
    check(early.returncode == 0 and "no point was measured: of the budget of 0.01s" in early.stderr, early.stderr)

    # 4 x 10^12 bytes of weights: refused by name and size; of memory no more than for the small network.
    (folder / "wide.json").write_text(json.dumps({**NET, "model": {"name": "wide", "input": [1_000_000], "layers": [
        {"type": "linear", "out": 1_000_000}]}, "dataset": {"samples": 100}}))
    before_KiB = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    wide = run(folder / "wide.json", "--budget", f"{budget_s:.1f}s", "--gpus", gpus, "-o", folder / "wide.jsonl")
    refused = re.search(r"(\d+) not possible", wide.stdout)
    check(wide.returncode == 0 and refused and int(refused[1]) >= 7 and "GiB are free; take a smaller" in wide.stdout, wide.stdout)
    check(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < before_KiB + (512 << 10), "nothing of it is made up")

    named = run(folder / "net.json", "-o", folder / "new\nline" / "samples.jsonl")
    check(named.returncode == 1 and named.stderr.count("\n") == 1 and "new?line" in named.stderr, named.stderr)

    model = run("--plan", folder / "net.json", "-o", folder / "m.jsonl")
    check(model.returncode == 1 and "net.json' is a model, where points to measure are needed" in model.stderr, model.stderr)

    check(run().returncode == 2, "no model is wrong usage")
    check(run("--device", "tpu", "vgg16").returncode == 2, "an unknown device is wrong usage")
    wrong = run("vgg61", "-o", folder / "w.jsonl")
    check(wrong.returncode == 1 and "did you mean" in wrong.stderr, wrong.stderr)
    for option, value in [("--budget", "soon"), ("--precision", "fp12"), ("--precision", "fp8"), ("--optimizer", "foo"),
                          ("--device", "gpu"), ("--ci", "nan"), ("--ci", "abc")]:
        wrong = run("vgg16", option, value)
        check(wrong.returncode == 2 and wrong.stderr.count("error:") == 1 and option in wrong.stderr, wrong.stderr)
        check(option != "--ci" or f'"{value}" should be a number from 0.1 to 50' in wrong.stderr, wrong.stderr)
    wrong = run("vgg16", "--bathc-size", "3")
    check(wrong.returncode == 2 and "did you mean --batch-size?" in wrong.stderr, wrong.stderr)
    for place in ["/dev/null", folder]:
        wrong = run(folder / "net.json", "-o", place)
        check(wrong.returncode == 1 and "no plain file" in wrong.stderr, wrong.stderr)
        check(not pathlib.Path(f"{place}.gpus.toml").exists(), "nothing is written beside it")
    out.write_text("{}\n")
    broken = run(folder / "net.json", "-o", out)
    check(broken.returncode == 1 and "samples.jsonl:1:" in broken.stderr, broken.stderr)
print("dlcast-profile: measured, resumed, planned and refused")
