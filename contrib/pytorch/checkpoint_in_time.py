#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A PyTorch training that ends with a checkpoint before Slurm ends it, and goes on from there in its next job.

    #SBATCH --dl-model=job.json
    #SBATCH --signal=B:USR1@300        # five minutes before the limit, to the batch shell
    #SBATCH --requeue
    trap 'kill -USR1 $pid; wait $pid' USR1
    python3 checkpoint_in_time.py --epochs 90 & pid=$!
    wait $pid || scontrol requeue $SLURM_JOB_ID

Exit status: 0 the training is done, 75 there is a checkpoint and more to do."""

import argparse
import os
import sys
import time

import torch

from job_clock import JobClock

UNFINISHED = 75  # EX_TEMPFAIL of sysexits.h


def save(path, model, optimizer, epoch):
    """Beside the old file and over it in one step: a job that is killed here loses nothing."""
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path + ".new")
    os.replace(path + ".new", path)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--epochs", type=int, default=90)
    options.add_argument("--checkpoint", default="checkpoint.pt")
    options.add_argument("--steps-per-epoch", type=int, default=100)
    options = options.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    first = 0
    if os.path.exists(options.checkpoint):
        state = torch.load(options.checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
    clock = JobClock()
    for epoch in range(first, options.epochs):
        if not clock.fits():
            print(f"stopping after epoch {epoch} of {options.epochs}: the next one does not fit", file=sys.stderr)
            return UNFINISHED
        start = time.time()
        for _ in range(options.steps_per_epoch):  # your data loader here
            loss = torch.nn.functional.cross_entropy(model(torch.randn(32, 64, device=device)),
                                                     torch.randint(0, 10, (32,), device=device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if clock.asked_to_stop:  # the epoch is lost, what was saved after the last one is not
                return UNFINISHED
        save(options.checkpoint, model, optimizer, epoch + 1)
        clock.took(time.time() - start)
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, {clock.epoch_s:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
