#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""When a training stops for its checkpoint."""

import os
import signal
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../contrib/pytorch"))
from job_clock import JobClock  # noqa: E402


class TestJobClock(unittest.TestCase):
    def clock(self, at, **environment):
        return JobClock(environment, now=lambda: at)

    def test_an_epoch_fits_with_a_tenth_of_it_and_the_reserve_to_spare(self):
        # The job ends at 1000; 1.1 x 300 + 60 = 390.
        self.assertTrue(self.clock(600, SLURM_JOB_END_TIME="1000", DLCAST_EPOCH_S="300").fits())
        self.assertFalse(self.clock(620, SLURM_JOB_END_TIME="1000", DLCAST_EPOCH_S="300").fits())

    def test_without_an_end_of_slurm_the_limit_counts_from_the_start(self):
        environment = {"SLURM_JOB_START_TIME": "100", "DLCAST_LIMIT_S": "900", "DLCAST_EPOCH_S": "300"}
        self.assertTrue(self.clock(600, **environment).fits())
        self.assertFalse(self.clock(620, **environment).fits())

    def test_what_an_epoch_took_here_replaces_the_forecast(self):
        clock = self.clock(600, SLURM_JOB_END_TIME="1000", DLCAST_EPOCH_S="300")
        clock.took(400)
        self.assertFalse(clock.fits())

    def test_without_a_limit_everything_fits(self):
        self.assertTrue(self.clock(600).fits())

    def test_after_the_signal_nothing_fits(self):
        clock = self.clock(0, SLURM_JOB_END_TIME="1000")
        os.kill(os.getpid(), signal.SIGUSR1)
        self.assertFalse(clock.fits())


if __name__ == "__main__":
    unittest.main()
