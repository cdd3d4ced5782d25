# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that change after they were submitted, and hosts without the SPANK plugin, or with one of another Slurm."""

import os
import re
import shutil
import subprocess


def changed_jobs(cluster, check):
    """scontrol update, hold and release, requeue: the user's later wish stands"""
    model = cluster.write_model("vgg16.json", epochs=10)
    job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job
    record = cluster.record(job)
    for change, key, value in (("timelimit=77", "TimeLimit", "01:17:00"), ("partition=v100 gres=gpu:v100:1", "Partition", "v100")):
        answer = cluster.run("scontrol", "update", f"jobid={job}", *change.split())
        check(f"scontrol update {change}", answer.rc == 0 and cluster.show(job)[key] == value, answer.err)
    check("the record of the submission stays", cluster.record(job) == record, cluster.show(job))
    for verb in ("release", "hold"):
        answer = cluster.run("scontrol", verb, str(job))
        check(f"scontrol {verb}", answer.rc == 0 and cluster.show(job)["TimeLimit"] == "01:17:00", answer.err)

    answer = cluster.run("sbatch", f"--dl-model={model}", "--gres=gpu:t4:1", "--requeue", "-o", "/dev/null",
                         "--wrap=[ $SLURM_RESTART_COUNT ] || sleep 100")
    before = cluster.show(answer.job)
    check("the job begins", cluster.comes_to(answer.job, "RUNNING"), cluster.show(answer.job))
    check("scontrol requeue", cluster.run("scontrol", "requeue", str(answer.job)).rc == 0 and
          cluster.comes_to(answer.job, "PENDING"), cluster.show(answer.job))
    after = cluster.show(answer.job)
    check("a requeued job keeps limit, partition and record", all(before[key] == after[key]
                                                                  for key in ("TimeLimit", "Partition", "AdminComment")), after)
    check.show(answer.job)


def of_another_slurm(cluster):
    """A copy of spank_dlcast.so that says it was built for another major release; its path."""
    plugin = cluster.plugins + "/spank_dlcast.so"
    symbols = subprocess.run(["readelf", "-sW", plugin], capture_output=True, text=True, check=True).stdout
    value, section = re.search(r"\d+: (\w+) +4 OBJECT +GLOBAL +DEFAULT +(\d+) plugin_version", symbols).groups()
    sections = subprocess.run(["readelf", "-SW", plugin], capture_output=True, text=True, check=True).stdout
    address, offset = re.search(rf"\[ *{section}\] \S+ +\S+ +(\w+) (\w+)", sections).groups()
    path = shutil.copy(plugin, cluster.path("spank_other.so"))
    with open(path, "r+b") as file:
        file.seek(int(value, 16) - int(address, 16) + int(offset, 16))
        file.write((0x150800).to_bytes(4, "little"))  # 21.08.0
    return path


def hosts_without_the_plugin(cluster, check):
    """spank_dlcast.so missing or of another Slurm: on a login node, then on a compute node"""
    model = cluster.write_model("vgg16.json", epochs=10)
    stack = cluster.slurm + "/etc/plugstack.conf"
    with open(stack) as file:
        usual = file.read()

    def plugstack(line):
        with open(stack, "w") as file:
            file.write(f"# SPANK plugins\n{line}\n")

    def submit(*options):
        answer = cluster.submit("--gres=gpu:t4:1", *options)
        print("      " + (answer.err.strip().split("\n")[0] or "(nothing is said)"))
        return answer

    try:
        plugstack("")
        answer = submit()
        check("without the line in plugstack.conf jobs go as ever", answer.rc == 0 and answer.err == "", answer.err)
        answer = submit(f"--dl-model={model}")
        check("and the option is not known", answer.rc != 0 and "unrecognized option '--dl-model=" in answer.err, answer.err)
        for what, path in (("missing", cluster.path("nowhere.so")), ("of another Slurm", of_another_slurm(cluster))):
            plugstack(f"optional {path}")
            answer = submit()
            check(f"a plugin {what}, optional: jobs go", answer.rc == 0 and answer.job, answer.err)
            plugstack(f"required {path}")
            answer = submit()
            check(f"a plugin {what}, required: no job goes", answer.rc != 0 and not answer.job, answer.err)

        # The compute node reads the file when the job starts; the one above it has the plugin.
        for what, line in (("no line", ""), ("a plugin of another Slurm, optional", f"optional {cluster.path('spank_other.so')}")):
            plugstack(usual)
            job = cluster.submit(f"--dl-model={model}", "--gres=gpu:t4:1").job
            plugstack(line)
            cluster.run("scontrol", "release", str(job))
            row = cluster.wait_for_end(job)
            check(f"a job with a forecast runs on a node with {what}", row.startswith("COMPLETED") and "dlcast" in row, row)
    finally:
        with open(stack, "w") as file:
            file.write(usual)
    job = cluster.submit(f"--dl-model={model}", "--gres=gpu:t4:1").job
    check("with its line back the option is there again", cluster.record(job).get("model") == "vgg16", cluster.show(job))
    os.remove(cluster.path("spank_other.so"))


PARTS = [changed_jobs, hosts_without_the_plugin]
