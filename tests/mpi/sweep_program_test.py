#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""dlcast-sweep under mpirun: a whole sweep over two ranks, a rank that hangs (stopped by a signal), one that dies."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

MPIRUN, SWEEP, CHECK = sys.argv[1:4]
NET = {"model": {"name": "net", "input": [3, 16, 16], "layers": [
    {"type": "conv2d", "out": 8, "kernel": 3, "padding": "same", "activation": "relu"},
    {"type": "flatten"}, {"type": "linear", "out": 10}]},
    "dataset": "cifar10", "training": {"epochs": 1, "batch_size": 4, "optimizer": "sgd"}}
RUN = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def mpirun(ranks, *command):
    return subprocess.run([*RUN, "-np", str(ranks), *map(str, command)], capture_output=True, text=True, timeout=240)


def ranks_of(mpirun_pid):
    """Processes of the sweep below this mpirun, by their rank."""
    out = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            environment = (entry / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            continue
        rank = [v for v in environment if v.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if parent == mpirun_pid and rank:
            out[int(rank[0].split(b"=")[1])] = int(entry.name)
    return out


def disturbed(folder, what, victim, *options):
    """Starts a sweep of a minute, sends `what` to a rank once samples come, and gives (exit code, stderr, samples)."""
    out = folder / f"{what.name}{victim}.jsonl"
    process = subprocess.Popen(
        # Many points, so that the first has three seconds of the minute.
        [*RUN, "-np", "3", SWEEP, "--budget", "1min", "--ci", "0.1", "--min-bytes", "4", "--max-bytes", "4096",
         "--gpus", folder / "sweep.jsonl.gpus.toml", "-o", out, *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (out.exists() and out.read_text().count("\n") >= 1):
        time.sleep(0.05)
    victims = ranks_of(process.pid)
    check(len(victims) == 3, f"three ranks run: {victims}")
    os.kill(victims[victim], what)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        for pid in victims.values():  # a stopped rank must not stay behind
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return process.returncode, err, [json.loads(line) for line in out.read_text().splitlines()]


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "net.json").write_text(json.dumps(NET))
    out = folder / "sweep.jsonl"
    sweep = [SWEEP, folder / "net.json", "--budget", "2min", "--ci", "50", "--max-bytes", "4096", "-o", out]
    first = mpirun(2, *sweep)
    check(first.returncode == 0, first.stderr)
    samples = [json.loads(line) for line in out.read_text().splitlines()]
    layers = [s for s in samples if "operator" in s]
    check({s["rank"] for s in layers} == {0, 1} and len(layers) % 2 == 0, "a sample of each layer by each rank")
    collectives = {s["collective"]["name"] for s in samples if "collective" in s}
    check(collectives == {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "sendrecv"}, collectives)
    check(all(s["collective"]["ranks"] == 2 for s in samples if "collective" in s), "over two ranks")
    steps = [s["pass"] for s in samples if "pass" in s]
    check(sorted(s.get("bucket_bytes", 0) for s in steps) == [0, 25 << 20], steps)
    check("of the median rank" in first.stdout and "a step takes" in first.stdout, first.stdout)
    again = mpirun(2, *sweep)
    points = [json.dumps([s["rank"], s.get("operator"), s.get("collective"), s.get("pass")])
              for s in map(json.loads, out.read_text().splitlines())]
    check(again.returncode == 0 and len(points) == len(set(points)), "nothing is measured twice")

    # One rank has nobody to exchange with: layers, and a step that is no difference of two.
    # On one thread, as a rank of two: the device's entry is there.
    alone = mpirun(1, "env", "OMP_NUM_THREADS=1", SWEEP, folder / "net.json", "--budget", "1min", "--ci", "50", "--gpus", f"{out}.gpus.toml", "-o",
                   folder / "alone.jsonl")
    check(alone.returncode == 0 and alone.stdout.startswith("1 rank on 1 node"), alone.stdout + alone.stderr)
    check("a step of one rank takes" in alone.stdout and "does not hide" not in alone.stdout and "collectives  " not in alone.stdout,
          alone.stdout)
    check(len([s for s in map(json.loads, (folder / "alone.jsonl").read_text().splitlines()) if "pass" in s]) == 1, "one step")

    # A tenth of a second is over when the ranks have started: each part asks rank 0 and ends, on all of them.
    began = time.monotonic()
    late = mpirun(2, SWEEP, folder / "net.json", "--budget", "0.1s", "--gpus", f"{out}.gpus.toml", "-o", folder / "late.jsonl")
    check(late.returncode == 0 and late.stdout.count("no time within the budget") == 3, late.stdout + late.stderr)
    check(not (folder / "late.jsonl").read_text(), "nothing is measured after the budget")
    check(time.monotonic() - began < 60, "no rank waits for another")
    # What the memory does not hold is refused by all before anything is made up: 4 x 10^12 bytes of weights.
    (folder / "wide.json").write_text(json.dumps({**NET, "model": {"name": "wide", "input": [1_000_000], "layers": [
        {"type": "linear", "out": 1_000_000}]}, "dataset": {"samples": 100}}))
    wide = mpirun(2, SWEEP, folder / "wide.json", "--budget", "1min", "--ci", "50", "--max-bytes", "1024", "--gpus",
                  f"{out}.gpus.toml", "-o", folder / "wide.jsonl")
    refused = wide.stdout.count("GiB are free") + sum(map(int, re.findall(r" and (\d+) more: .*GiB are free", wide.stdout)))
    check(wide.returncode == 0 and refused >= 5, wide.stdout + wide.stderr)

    averaged = mpirun(3, CHECK)
    check(averaged.returncode == 0 and "averaged in 2 buckets" in averaged.stdout, averaged.stderr)
    failed = mpirun(3, CHECK, "fail")
    check(failed.returncode != 0 and "rank 2 on " in failed.stderr and "its disk is full" in failed.stderr, failed.stderr)

    host = socket.gethostname()
    for victim in (1, 0):  # rank 0 is the one that names the others
        code, err, kept = disturbed(folder, signal.SIGSTOP, victim, "--timeout", "3")
        check(code != 0 and f"error: rank {victim} on {host} hangs: " in err and "samples so far are in" in err, err)
        check(len(kept) >= 1, "samples so far are kept")
    code, err, kept = disturbed(folder, signal.SIGKILL, 1)
    check(code != 0 and re.search(rf"rank 1 .*on node {re.escape(host)} exited on signal 9", err), err)  # mpirun names it
    check(len(kept) >= 1, "samples so far are kept")

    check(mpirun(2, SWEEP, "--collective", "gossip").returncode == 2, "an unknown collective is wrong usage")
    alone = mpirun(1, SWEEP, "-o", folder / "nothing.jsonl")
    check(alone.returncode == 2 and "one rank has no collectives and no MODEL is named" in alone.stderr, alone.stderr)
    for line, option in [("--timeout nan", "--timeout"), ("--min-bytes 64 --max-bytes 8", "--min-bytes"),
                         ("--budget abc", "--budget"), ("--precision fp12", "--precision"), ("--ci nan", "--ci")]:
        wrong = subprocess.run([SWEEP, *line.split()], capture_output=True, text=True, timeout=120)
        check(wrong.returncode == 2 and option in wrong.stderr, wrong.stderr)
    wrong = mpirun(2, SWEEP, "vgg61", "-o", folder / "w.jsonl")
    check(wrong.returncode == 1 and wrong.stderr.count("did you mean") == 1, wrong.stderr)
print("dlcast-sweep: swept, resumed, averaged; a failed, a hanging and a dead rank are named")
