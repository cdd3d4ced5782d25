# SPDX-License-Identifier: GPL-2.0-or-later
"""A one-host Slurm cluster with the plugins of a build tree, and what a test needs of it."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

PARTITIONS = [  # name, GPU type, GPUs a node, nodes, MaxTime in minutes: as in contrib/cluster/slurm.conf.in
    ("a100", "a100", 4, 2, 10080), ("v100", "v100", 8, 1, 2880), ("t4", "t4", 2, 1, 20160), ("cpu", "", 0, 1, 1440)]


class Answer:
    """What a command said: rc, out, err."""

    def __init__(self, done):
        self.rc, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def job(self):
        """The number of the job that sbatch, srun or salloc names, or None."""
        found = re.search(r"(?:Submitted batch job|Granted job allocation) (\d+)", self.out + self.err)
        return int(found.group(1)) if found else None


class Cluster:
    def __init__(self, build):
        self.folder = tempfile.mkdtemp(prefix="dlcast-e2e.", dir="/tmp")
        os.chmod(self.folder, 0o755)
        self.slurm = os.path.join(self.folder, "c")
        self.config = self.path("dlcast.toml")
        self.module = self.path("dlcast_torch.so")
        self.built_module = os.path.join(build, "predictor/torch/dlcast_torch.so")
        self.weights = os.path.join(ROOT, "etc/weights")
        self.plugins = os.path.join(build, "plugin")
        self.resting_network = os.path.join(build, "tests/slurm/resting_network.so")
        self.shifted_clock = os.path.join(build, "tests/slurm/shifted_clock.so")
        self.forge = os.path.join(build, "tests/slurm/forge_spank.so")
        self.dlcast = os.path.join(build, "cli/dlcast")
        self.sweep = os.path.join(build, "mpi/dlcast-sweep")
        self.status = ""
        self.environment = dict(os.environ, DLCAST_CONFIG=self.config, DLCAST_MODULE=self.module,
                                SLURM_CONF=self.slurm + "/etc/slurm.conf", MUNGE_SOCKET=self.slurm + "/run/munge/socket",
                                PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        if prefix := os.environ.get("SLURM_PREFIX"):  # a Slurm of its own, instead of the system's
            self.environment["PATH"] = f"{prefix}/sbin:{prefix}/bin:" + self.environment["PATH"]
        self.version = tuple(int(n) for n in re.findall(r"\d+", self.run("slurmctld", "-V").out)[:2])
        self.write_cluster_file()
        self.write_config()
        self.put_module()

    # Files

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def write_model(self, name, epochs=90, **more):
        text = {"model": "vgg16", "dataset": "imagenet-1k", "training": {"epochs": epochs, "batch_size": 32}, **more}
        return self.write(name, json.dumps(text))

    def write_config(self, policy=""):
        """A new dlcast.toml with the lines of `policy` at its top."""
        self.write("dlcast.toml", f"""{policy}
[gpu_names]
a100 = "A100-SXM4-80GB"
v100 = "V100-SXM2-32GB"
[files]
gpus = "{ROOT}/etc/gpus.toml"
weights = "{self.weights}"
{f'status = "{self.status}"' if self.status else ""}
""")

    def write_cluster_file(self):
        text = '[cluster]\nname = "dlcast"\n'
        for name, gpu, per_node, nodes, minutes in PARTITIONS:
            text += f'[[partition]]\nname = "{name}"\nmax_time_min = {minutes}\n[[partition.nodes]]\nnodes = {nodes}\n'
            text += "cpus_per_node = 32\nmemory_bytes = 500000000000\n"
            text += f'gpu = "{gpu}"\ngpus_per_node = {per_node}\n' if gpu else ""
            text += 'features = ["nvlink"]\n' if gpu == "a100" else ""
        self.write("cluster.toml", text)

    def put_module(self, module=None):
        """A new file, as packages install it: a loaded library that is written over takes slurmctld with it."""
        module = module or self.built_module
        if os.path.exists(module):
            os.replace(shutil.copy(module, self.module + ".new"), self.module)

    def change_config(self, policy=""):
        """write_config, and the second in which slurmctld looks no more often for changes."""
        self.write_config(policy)
        time.sleep(1.2)

    def next_status(self):
        """Waits until slurmctld may write the status file anew."""
        time.sleep(10.5)

    # Daemons

    @property
    def has_soft_limits(self):
        return self.version >= (23, 11)

    def start(self, *slurm_conf_lines):
        if self.has_soft_limits:
            slurm_conf_lines += ("SchedulerParameters=sched_interval=2,bf_interval=5,time_min_as_soft_limit",)
        command = [ROOT + "/contrib/cluster/up", "--plugins", self.plugins, "--dir", self.slurm]
        for line in slurm_conf_lines:
            command += ["--set", line]
        subprocess.run(command, env=self.environment, check=True, timeout=180, stdout=subprocess.DEVNULL)

    def controller_command(self, verb):
        return [ROOT + "/contrib/cluster/controller", self.slurm, verb]

    def restart_controller(self, **environment):
        subprocess.run(self.controller_command("restart"), env={**self.environment, **environment}, check=True, timeout=60)

    def stop_controller(self):
        subprocess.run(self.controller_command("stop"), env=self.environment, check=True, timeout=60)

    def stop(self):
        subprocess.run([ROOT + "/contrib/cluster/down", self.slurm], timeout=120)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def controller_pid(self):
        with open(self.slurm + "/run/slurmctld") as file:
            return int(file.read().split()[0])

    def controller_maps(self):
        with open(f"/proc/{self.controller_pid}/maps") as file:
            return file.read()

    def log(self):
        with open(self.slurm + "/log/slurmctld.log", errors="replace") as file:
            return file.read()

    # Clients

    def run(self, *command, user=None, timeout=60):
        """A client's answer; `user` runs it as somebody else."""
        if user:
            command = ("setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups") + command
        return Answer(subprocess.run(command, env=self.environment, cwd=self.folder, timeout=timeout, capture_output=True,
                                     text=True, errors="replace"))

    def submit(self, *options, held=True, user=None):
        """sbatch of a script that only waits; held unless told otherwise."""
        hold = ("--hold",) if held else ()
        return self.run("sbatch", *hold, "--output=/dev/null", *options, "--wrap=sleep 1", user=user)

    def show(self, job):
        """Fields of `scontrol show job`, of an array's or a heterogeneous job's first record."""
        text = self.run("scontrol", "-o", "show", "job", str(job)).out.split("\n")[0]
        fields = dict(re.findall(r"(\S+?)=(\S*)", text))
        comment = re.search(r"AdminComment=(.*?) (?=\w+=)", text)
        fields["AdminComment"] = comment.group(1).strip() if comment else ""
        return fields

    def record(self, job):
        """What dlcast left in admin_comment; {} where there is nothing."""
        comment = self.show(job)["AdminComment"]
        start = comment.find('{"dlcast"')
        return json.loads(comment[start:])["dlcast"] if start >= 0 else {}

    def limit_s(self, job):
        return slurm_seconds(self.show(job)["TimeLimit"])

    def jobs(self):
        return sorted(set(self.run("squeue", "-h", "-o", "%A").out.split()))

    def cancel_all(self):
        if self.jobs():
            self.run("scancel", *self.jobs())

    def comes_to(self, job, state, seconds=30):
        """Whether the job comes to this state in that time."""
        for _ in range(seconds * 5):
            if self.show(job).get("JobState") == state:
                return True
            time.sleep(0.2)
        return False

    def wait_for_end(self, job, seconds=40):
        """The job's row in the accounting database, once its end is written there."""
        for _ in range(seconds * 5):
            row = self.run("sacct", "-X", "-n", "-P", "-j", str(job), "-o", "state,timelimit,partition,admincomment").out.strip()
            state, _, partition = (row.split("|") + ["", ""])[:3]
            if partition and state.split()[0] in ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"):
                return row
            time.sleep(0.2)
        return row


def slurm_seconds(text):
    """Seconds of D-HH:MM:SS; infinite for UNLIMITED."""
    if text == "UNLIMITED":
        return float("inf")
    days, _, clock = text.rpartition("-")
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
