# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens when something is missing, broken or restarted."""

import glob
import os
import shutil
import struct


def restart_with_pending_jobs(cluster, check):
    """slurmctld restarted with jobs pending"""
    model = cluster.write_model("vgg16.json", epochs=10)
    job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:2").job
    before = cluster.show(job)
    cluster.restart_controller()
    after = cluster.show(job)
    keys = ("TimeLimit", "Partition", "AdminComment")
    check("limit, partition and record are still there", all(before[key] == after[key] for key in keys), (before, after))
    check("the state file holds no payload", not any(b"DLCAST_MODEL=" in open(path, "rb").read()
                                                     for path in glob.glob(cluster.slurm + "/state/job_state*")))
    check.show(job)


def module_removed(cluster, check):
    """The LibTorch module removed"""
    os.remove(cluster.module)
    known = len(cluster.log())
    cluster.restart_controller()
    model = cluster.write_model("vgg16.json", epochs=10)
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1")
    check('the job gets a forecast, "by":"analytic"', cluster.record(answer.job).get("by") == "analytic", answer.err)
    check("slurmctld serves jobs without LibTorch", "libtorch_cpu" not in cluster.controller_maps())
    lines = [line for line in cluster.log()[known:].split("\n") if "dlcast_torch.so" in line]
    check("the log says so once", len(lines) == 1, lines)
    print("      " + "\n      ".join(lines))
    check.show(answer.job)
    cluster.put_module()
    cluster.restart_controller()


def configuration_broken(cluster, check):
    """dlcast.toml broken"""
    cluster.write("dlcast.toml", "mode = \n")
    cluster.restart_controller()
    model = cluster.write_model("vgg16.json", epochs=10)
    for _ in range(3):
        answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "-p", "a100")
    fields = cluster.show(answer.job)
    check("slurmctld starts, the job passes untouched", fields["TimeLimit"] == "7-00:00:00" and fields["AdminComment"] == "", fields)
    lines = [line for line in cluster.log().split("\n") if "dlcast.toml:1:" in line]
    check("one line in the log", len(lines) == 1, lines)
    print("      " + "\n      ".join(lines))
    cluster.change_config()
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1")
    check("mended, it works again without a restart", cluster.record(answer.job).get("model") == "vgg16", answer.err)
    cluster.change_config("mode = ")
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1")
    check("broken while slurmctld runs, the old one goes on", cluster.record(answer.job).get("model") == "vgg16", answer.err)
    cluster.change_config()


def weights_broken(cluster, check):
    """Weights damaged while slurmctld runs"""
    model = cluster.write_model("vgg16.json", epochs=10)
    shipped, cluster.weights = cluster.weights, shutil.copytree(cluster.weights, cluster.path("damaged"))
    cluster.change_config()
    before = cluster.record(cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job)
    known = len(cluster.log())
    os.truncate(cluster.path("damaged/network.pt"), 1000)
    os.utime(cluster.path("damaged/manifest.toml"))
    cluster.change_config()
    for _ in range(3):
        answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1")
    after = cluster.record(answer.job)
    check("the weights loaded before go on", after["by"] == "torch" and after["weights"] == before["weights"], (before, after))
    lines = [line for line in cluster.log()[known:].split("\n") if "the weights loaded before stay" in line]
    check("the log says so once", len(lines) == 1, lines)
    print("      " + "\n      ".join(lines))
    cluster.weights = shipped
    cluster.change_config()


def network_rests(cluster, check):
    """The network fails, rests for a minute of slurmctld's clock, fails at its trial, rests again, and answers again"""
    flag, clock, shift_s = cluster.path("out_of_order"), cluster.path("clock"), 0

    def pass_time(seconds):
        nonlocal shift_s
        shift_s += seconds
        with open(clock, "r+b") as file:  # in place: slurmctld has it mapped
            file.write(struct.pack("q", shift_s))

    with open(clock, "wb") as file:
        file.write(struct.pack("q", 0))
    cluster.put_module(cluster.resting_network)
    cluster.restart_controller(RESTING_NETWORK_MODULE=cluster.built_module, RESTING_NETWORK_FAILS=flag,
                               LD_PRELOAD=cluster.shifted_clock, SHIFTED_CLOCK=clock)
    batch_sizes = iter(range(33, 100))  # layers that are not remembered

    def submitted(count, **training):
        model = cluster.write_model("vgg16.json", training={"epochs": 10, "batch_size": next(batch_sizes), **training})
        return [cluster.record(cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job) for _ in range(count)]

    def told(known):
        words = ("the layer-time network: out of order", "the analytic model answers for a minute", "the network answers again")
        return [line for line in cluster.log()[known:].split("\n") if any(text in line for text in words)]

    before, known = submitted(1)[0], len(cluster.log())
    check('the network answers, "by":"torch"', before["by"] == "torch", before)
    cluster.write("out_of_order", "")
    records, lines = submitted(4), told(known)
    check('forecasts go on, "by":"analytic", without weights', all((r["by"], r["weights"]) == ("analytic", "") for r in records), records)
    check("two failures are told, then the rest", [("out of order" in line, "failed 3 times in a row; " in line) for line in lines]
          == [(True, False), (True, False), (False, True)], lines)
    amp = submitted(1, precision="amp")[0]
    check("mixed precision, which the constants answer anyway, is no stand-in", (amp["by"], amp["weights"])
          == ("analytic", before["weights"]), amp)
    known = len(cluster.log())
    pass_time(40)
    resting = submitted(1)[0]
    check("before the minute is over, nobody tries it", resting["by"] == "analytic" and told(known) == [], resting)
    pass_time(21)
    records, trials = submitted(2), told(known)
    check("after a minute one job tries it, and it rests again", len(trials) == 1 and "failed 4 times in a row; " in trials[0], trials)
    os.remove(flag)
    resting = submitted(1)[0]
    check("mended within that minute, it is left alone", resting["by"] == "analytic", resting)
    known = len(cluster.log())
    pass_time(61)
    records, closing = submitted(3), told(known)
    check('then it answers, "by":"torch"', all((r["by"], r["weights"]) == ("torch", before["weights"]) for r in records), records)
    check("the log says so once", len(closing) == 1 and "the network answers again" in closing[0], closing)
    print("      " + "\n      ".join(lines + trials + closing))
    cluster.put_module()
    cluster.restart_controller()


def forged_payload(cluster, check):
    """A client of one's own, 1 MiB of nonsense, and PrologSlurmctld"""
    with open(cluster.slurm + "/etc/plugstack.conf", "a") as file:
        file.write(f"optional {cluster.forge}\n")
    pid = cluster.controller_pid
    for size in (100_000, 1 << 20):
        answer = cluster.run("env", f"FORGED_BYTES={size}", "sbatch", "-p", "cpu", "-o", "/dev/null", "--wrap=sleep 1")
        row = cluster.wait_for_end(answer.job)
        check(f"a job with {size} bytes runs to its end", row.startswith("COMPLETED"), (row, answer.err))
    check("slurmctld lives", cluster.controller_pid == pid and "slurmctld" in cluster.controller_maps())
    print("      " + answer.err.split("\n")[0])


PARTS = [forged_payload, restart_with_pending_jobs, weights_broken, network_rests, module_removed, configuration_broken]
