#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""dlcast called wrongly: exit code 2, the option and what would do in one error on stderr, nothing on stdout."""
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
    ("predict resnet18 --gpu a100 --epochs 1 --steps 1", "--steps"),
    ("scale resnet18", "--gpu"),
    ("scale resnet18 --gpu a100 --max-gpus 1e99", RANGE),
    ("compare", "MODEL"),
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
    ("forecast -S foo", "2026-03-29"),
    ("forecast --endtime 2026-13-01", "2026-03-29"),
    ("report --at noon", "2026-03-29"),
    ("report --kill-rate nan", RANGE),
    ("refine --out x --jobs -S foo", "2026-03-29"),
    ("refine --out x --samples a --fit-sizes 0", "1 to 64"),
    ("simulate trace --capacity foo", RANGE),
    ("simulate trace --capacity gpu=0", RANGE),
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

failed = 0
with tempfile.TemporaryDirectory() as folder:
    for line, text in CASES:
        done = subprocess.run([PROGRAM, *line.split()], capture_output=True, text=True, timeout=60, cwd=folder)
        errors = [e for e in done.stderr.splitlines() if "error:" in e]
        option = line.rsplit("--", 1)[1].split()[0] if text == RANGE else ""
        if done.returncode != 2 or done.stdout or len(errors) != 1 or text not in errors[0] or option not in errors[0]:
            failed += 1
            print(f"FAILED: dlcast {line}: exit {done.returncode}, stdout {done.stdout!r}, stderr {done.stderr!r}")
sys.exit(1 if failed else 0)
