#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cpu_training_test.py DLCAST TRAINING MODELS MPIRUN: the networks of contrib/cpu_training are those that their model files
describe, they learn, and ranks learn the same weights together."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

DLCAST, TRAINING, MODELS, MPIRUN = sys.argv[1:5]
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1")
# A batch norm of n channels has 2n, a 3x3 convolution without bias 9 x in x out, a linear layer (in + 1) x out:
#   27x32 + 64 + 288x64 + 128 + 576x128 + 256 + 1152x128 + 256 + 129x10 = 242,474
#   1000x128 + 2 (2x256 + 4 x 129x128 + 129x512 + 513x128) + 256 + 129x1000 = 653,800
PARAMETERS = {"cnn": 242_474, "transformer": 653_800}


def output(*command):
    return subprocess.run(list(map(str, command)), env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True).stdout


def trained(name, batch, steps, ranks=1):
    mpirun = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", ranks] if ranks > 1 else []
    return json.loads(output(*mpirun, TRAINING, name, batch, steps))


class TestCpuTraining(unittest.TestCase):
    def test_network_and_model_file_have_the_same_parameters(self):
        for name, parameters in PARAMETERS.items():
            described = json.loads(output(DLCAST, "explain", pathlib.Path(MODELS) / f"{name}.json", "--json"))
            self.assertEqual(described["parameters"], parameters)
            self.assertEqual(trained(name, 4, 1)["parameters"], parameters)

    def test_training_lowers_the_loss(self):
        for name in PARAMETERS:
            run = trained(name, 16, 30)
            self.assertLess(run["last_loss"], 0.9 * run["first_loss"], name)

    def test_two_ranks_train_together(self):
        run = trained("cnn", 16, 20, ranks=2)
        self.assertEqual(run["ranks"], 2)
        self.assertLess(run["last_loss"], 0.9 * run["first_loss"])

    def test_wrong_use_is_refused(self):
        run = lambda *words: subprocess.run([TRAINING, *words], capture_output=True, text=True, check=False)
        self.assertEqual(run("cnn").returncode, 2)
        self.assertEqual(run("cnn", "0", "1").returncode, 1)
        self.assertIn("take cnn or transformer", run("lstm", "4", "1").stderr)
        self.assertIn("1 to 1024 samples", run("cnn", "2000", "1").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
