# SPDX-License-Identifier: GPL-2.0-or-later
"""dlcast-sweep inside of batch jobs: several tasks of a node, and of two nodes."""

import json
import os
import re

NET = {"model": {"name": "net", "input": [3, 16, 16], "layers": [
    {"type": "conv2d", "out": 8, "kernel": 3, "padding": "same", "activation": "relu"},
    {"type": "flatten"}, {"type": "linear", "out": 10}]},
    "dataset": "cifar10", "training": {"epochs": 1, "batch_size": 4, "optimizer": "sgd"}}
# The test runs as root, with more ranks than CPUs. Nodes of this cluster are one host: OpenMPI names its shared memory by host and
# rank on the node, so that ranks of two nodes would take each other's; they speak TCP as those of two hosts do.
MPI = """export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
"""


def job(cluster, name, command, *options):
    """Runs a script in a batch job; (its row in accounting, what it said, its samples)."""
    model, out, said = cluster.write("net.json", json.dumps(NET)), cluster.path(name + ".jsonl"), cluster.path(name + ".out")
    sweep = f"{cluster.sweep} {model} --ci 30 --budget 30s --max-bytes 16384 --collective all_reduce -o {out}"
    script = cluster.write(name + ".sh", "#!/bin/sh\n" + MPI + command.format(sweep=sweep) + "\n")
    answer = cluster.run("sbatch", *options, "-o", said, script)
    row = cluster.wait_for_end(answer.job, 90)
    with open(said, errors="replace") as file:
        text = file.read()
    try:
        with open(out) as file:
            samples = [json.loads(line) for line in file]
    except FileNotFoundError:
        samples = []
    return row, text, samples


def whole(samples, hosts, ranks):
    """Whether each layer was measured by each rank on its host, and the rest over all ranks and nodes."""
    layers = [s for s in samples if "operator" in s]
    together = [s.get("collective") or s["pass"] for s in samples if "operator" not in s]
    by_rank = {s["rank"]: s["host"] for s in layers}
    return (sorted(by_rank) == list(range(ranks)) and len(layers) % ranks == 0 and set(by_rank.values()) == set(hosts) and
            len(together) >= 4 and all(t["ranks"] == ranks and t["nodes"] == len(hosts) for t in together))


def sweeps(cluster, check):
    """dlcast-sweep in batch jobs"""
    if not os.path.exists(cluster.sweep):
        print("      left out: this build has no dlcast-sweep")
        return
    # Only within one node: Slurm's PMIx makes one folder in /tmp for a step, and a second slurmd of this host finds it there.
    start = "srun --mpi=pmix" if "pmix" in cluster.run("srun", "--mpi=list").out else "mpirun"
    for name, start, options, hosts, ranks in (("one", start, ["-p", "cpu", "-n", "2"], ["cpu1"], 2),
                                               ("two", "mpirun", ["-p", "a100", "-N", "2", "--ntasks-per-node=2"], ["gpua1", "gpua2"], 4)):
        row, text, samples = job(cluster, name, start + " {sweep}", *options)
        check(f"{start}, {len(hosts)} node{'s' * (len(hosts) > 1)}, {ranks} ranks: the job ends well; each layer by each rank, under its node's name",
              row.startswith("COMPLETED") and whole(samples, hosts, ranks), row + text)
        print("      " + "\n      ".join(line for line in text.split("\n") if re.search("ranks on|measured|of the median", line)))


PARTS = [sweeps]
