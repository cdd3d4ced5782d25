#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""dlcast called wrongly: exit code 2, the option and what would do in one error on stderr, nothing on stdout."""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
RANGE = "should be a"
CASES = [
    # command line, what the message has
    ("predict resnet18", "--gpu"),
    ("predict", "MODEL"),
    ("predict resnet18 --gpu a100 --precision fp12", "fp32, tf32, amp"),
    ("predict resnet18 --gpu a100 --network-gbps nan", RANGE),
    ("predict resnet18 --gpu a100 --network-gbps -1", RANGE),
    ("predict resnet18 --gpu a100 --gpus 0", RANGE),
    ("predict resnet18 --gpu a100 --epochs inf", RANGE),
    ("predict resnet18 --gpu a100 --tokens -5", RANGE),
    ("predict resnet18 --gpu a100 --epochs 1 --steps 1", " exclude each other; keep one"),
    ("predict resnet18 --gpu a100 --epochs 1 --epochs 2", "--epochs stands 2 times; keep one"),
    ("predict resnet18 --gpu a100 --epochs abc", "--epochs: \"abc\" " + RANGE + " number from 1e-06 to 1e+09"),
    ("predict resnet18 --gpu a100 --epochs", "--epochs lacks a value; write --epochs E"),
    ("predict resnet18 --gpu a100 --json=maybe", "--json takes no value"),
    ("check foo", "`dlcast check` does not take \"foo\"; leave it out"),
    ("predict resnet18 --gpu a100 --optimizer adm", "--optimizer: \"adm\" is unknown; did you mean \"adam\"?"),
    ("predict resnet18 --gpu a100 --optimizer zzz", "one of none, sgd, momentum"),
    ("predict resnet18 --gpu a100 --set training.foo=1", "--set training.foo=1: "),
    ("predict resnet18 --gpu a100 --set foo=1", "--set foo=1: unknown key"),
    ("predict resnet18 --gpu a100 --train epochs=1,foo=1", "--train foo=1: "),
    ("predict resnet18 --gpu a100 --dataset imagnet", "--dataset imagnet: "),
    ("predict resnet18 --gpu a100 --dataset imagnet", "did you mean \"imagenet-1k\"?"),
    ("predict resnet18 --gpu a100 --gpus 3 --nodes 2", "--gpus 3 does not divide evenly over --nodes 2"),
    ("compare resnet18 --gpu a100 --gpus 3 --nodes 2", "--gpus 3 does not divide evenly over --nodes 2"),
    ("scale resnet18 --gpu a100 --set training.foo=1", "--set training.foo=1: "),
    ("scale resnet18", "--gpu"),
    ("scale resnet18 --gpu a100 --max-gpus 1e99", RANGE),
    ("compare", "`dlcast compare` needs MODEL: zoo name, model file or directory"),
    ("calibrate resnet18 --gpu a100 --batch-sizes 0", RANGE),
    ("calibrate resnet18 --gpu a100 --batch-sizes 8,-1", RANGE),
    ("calibrate resnet18 --gpu a100 --precisions fp12", "fp32, tf32, amp"),
    ("calibrate resnet18 --gpu a100 --budget 0", RANGE),
    ("calibrate resnet18 --gpu a100 --budget -1", RANGE),
    ("calibrate resnet18 --gpu a100 --seed nan", RANGE),
    ("evaluate sampling a.csv b.csv --target t --budget 0", RANGE),
    ("evaluate ops a.csv --cross-validate gpu --work w --effort nan", RANGE),
    ("evaluate ops a.csv --cross-validate gpu --work w --fit-rows -1", RANGE),
    ("evaluate collectives a.csv b.csv --fit-sizes 65", RANGE),
    ("evaluate ops a.csv --cross-validate foo", "--cross-validate: \"foo\" should be one of gpu, source"),
    ("evaluate ops a.csv --work w", "--work goes with --cross-validate; add that too"),
    ("forecast -S foo", "2026-03-29"),
    ("forecast --endtime 2026-13-01", "2026-03-29"),
    ("forecast -S 2026-03-02 -E 2026-03-01", "--starttime 2026-03-02"),
    ("report -S 2026-03-02 -E 2026-03-01", "is not before --endtime 2026-03-01"),
    ("report --at noon", "2026-03-29"),
    ("report --kill-rate nan", RANGE),
    ("report --write-margins m.toml", "--write-margins needs the kill rate to keep; add --kill-rate"),
    ("refine --out x --jobs -S foo", "2026-03-29"),
    ("refine --out x --samples a --fit-sizes 0", "1 to 64"),
    ("refine --out x --rollback --samples a", "--samples and --rollback exclude each other; keep one"),
    ("refine --out x --rollback --jobs", "exclude each other; keep one"),
    ("refine --out x --rollback --force --json", "exclude each other; keep one"),
    ("refine --out x --rollback -S today", "exclude each other; keep one"),
    ("simulate", "`dlcast simulate` needs TRACE: output of sacct, or a Standard Workload Format file"),
    ("simulate trace --capacity foo", RANGE),
    ("simulate trace --capacity gpu=0", RANGE),
    ("simulate trace --capacity a100=8,v100=0", "\"v100=0\" " + RANGE),
    ("simulate trace --error-sd nan", RANGE),
    ("simulate trace --kill-rate inf", RANGE),
    ("simulate trace --round-up-min 0", RANGE),
    ("simulate trace --seed -1", RANGE),
    ("train --ops a.csv --out x --effort nan", RANGE),
    ("train --ops a.csv --out x --members 0", RANGE),
    ("train --out x", "--ops"),
    ("predikt", "predict"),
    ("", "simulate"),
    ("evaluate", "collectives"),
    ("evaluate stepz a.csv", "steps"),
    ("predict resnet18 --gpuss a100", "did you mean --gpus?"),
    ("evaluate ops a.csv --weight w", "--weights"),
]

# What is wrong is no usage: exit code 1, the place and the fault in one error.
FAULTS = [
    ("predict vgg61", "no file and no known model 'vgg61'; did you mean \"vgg11\"?"),
    ("predict resnet18 --gpu foo", "gpus.toml beside dlcast.toml lists those known (k40, "),
    ("sync --output x --from nowhere", "`scontrol --all show partition --oneliner` prints, or leave --from out"),
    ("explain resnet18 --train foo=1", "--train foo=1: resnet18: training: unknown key \"foo\""),
    ("predict ./bad.json --gpu a100", "./bad.json:1:"),
    ("predict inner/../bad.json --gpu a100", "inner/../bad.json:1:"),
]
# A configuration by DLCAST_CONFIG: every verb that reads one names it, and --config wins.
CONFIGURED = ["check", "doctor", "status", "sync", "predict resnet18 --gpu a100", "compare resnet18 --gpu a100",
              "scale resnet18 --gpu a100", "refine --jobs --out x", "calibrate resnet18 --gpu a100"]

failed = 0
with tempfile.TemporaryDirectory() as folder:
    for line, text in CASES:
        done = subprocess.run([PROGRAM, *line.split()], capture_output=True, text=True, timeout=60, cwd=folder)
        errors = [e for e in done.stderr.splitlines() if "error:" in e]
        option = line.rsplit("--", 1)[1].split()[0] if text == RANGE else ""
        if done.returncode != 2 or done.stdout or len(errors) != 1 or text not in errors[0] or option not in errors[0]:
            failed += 1
            print(f"FAILED: dlcast {line}: exit {done.returncode}, stdout {done.stdout!r}, stderr {done.stderr!r}")
    os.mkdir(os.path.join(folder, "inner"))
    for name, text in (("bad.json", "{ \"model\": 3 "), ("theirs.toml", "mode = \"theirs\"\n"), ("named.toml", "mode = \"named\"\n")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    for line, text in FAULTS:
        done = subprocess.run([PROGRAM, *line.split()], capture_output=True, text=True, timeout=60, cwd=folder)
        if done.returncode != 1 or done.stderr.count("error:") != 1 or text not in done.stderr:
            failed += 1
            print(f"FAILED: dlcast {line}: exit {done.returncode}, stderr {done.stderr!r}")
    for version in ("first", "second"):
        os.mkdir(os.path.join(folder, version))
    os.symlink("second", os.path.join(folder, "weights"))
    os.symlink("first", os.path.join(folder, "weights.last"))
    done = subprocess.run([PROGRAM, *"refine --rollback --out weights --json".split()], capture_output=True, text=True, timeout=60,
                          cwd=folder)
    if done.returncode != 0 or json.loads(done.stdout) != {"version": "first", "out": "weights"}:
        failed += 1
        print(f"FAILED: dlcast refine --rollback --json: exit {done.returncode}, {done.stdout!r} {done.stderr!r}")
    # A trace without limits: what users asked for over what they used is not known.
    with open(os.path.join(folder, "trace.swf"), "w") as file:
        file.write("; MaxProcs: 8\n1 0 0 100 4 -1 -1 4" + 10 * " -1" + "\n")
    done = subprocess.run([PROGRAM, "simulate", "trace.swf"], capture_output=True, text=True, timeout=60, cwd=folder)
    users = [row for row in done.stdout.splitlines() if "users' limits" in row]
    if done.returncode != 0 or not users or not users[0].endswith(" -"):
        failed += 1
        print(f"FAILED: dlcast simulate: exit {done.returncode}, {done.stdout!r} {done.stderr!r}")
    for line in CONFIGURED:
        for more, text in (([], "mode is \"theirs\""), (["--config", "named.toml"], "mode is \"named\"")):
            done = subprocess.run([PROGRAM, *line.split(), *more], capture_output=True, text=True, timeout=60, cwd=folder,
                                  env={**os.environ, "DLCAST_CONFIG": "theirs.toml"})
            if done.returncode != 1 or text not in done.stdout + done.stderr:
                failed += 1
                print(f"FAILED: dlcast {line} {more}: exit {done.returncode}, {done.stdout!r} {done.stderr!r}")
sys.exit(1 if failed else 0)
