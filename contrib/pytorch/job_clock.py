# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a job still has, by its limit and dlcast's forecast of it."""

import os
import signal
import time


class JobClock:
    """Says whether one more epoch fits: by what the last one took here, before that by the forecast."""

    def __init__(self, environment=os.environ, now=time.time):
        self.now, self.end, self.asked_to_stop = now, None, False
        if "SLURM_JOB_END_TIME" in environment:
            self.end = float(environment["SLURM_JOB_END_TIME"])
        elif "DLCAST_LIMIT_S" in environment:
            self.end = float(environment.get("SLURM_JOB_START_TIME", now())) + float(environment["DLCAST_LIMIT_S"])
        self.epoch_s = float(environment.get("DLCAST_EPOCH_S", 0))
        signal.signal(signal.SIGUSR1, self.stop)

    def stop(self, *_):
        self.asked_to_stop = True

    def took(self, seconds):
        self.epoch_s = seconds

    def fits(self, reserve_s=60):
        """`reserve_s`: to write the checkpoint and to end."""
        if self.asked_to_stop:
            return False
        return self.end is None or self.now() + 1.1 * self.epoch_s + reserve_s < self.end
