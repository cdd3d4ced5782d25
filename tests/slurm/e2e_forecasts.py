# SPDX-License-Identifier: GPL-2.0-or-later
"""That the forecast is real, and that the site's policy and the user's own wishes hold."""

import json
import os
import random
import shutil


def forecast_is_real(cluster, check):
    """The network in slurmctld makes the forecast"""
    maps = cluster.controller_maps()
    libraries = sorted({line.split()[-1] for line in maps.split("\n") if "libtorch_cpu" in line})
    check("libtorch_cpu is mapped by slurmctld", bool(libraries), "not in /proc/PID/maps")
    print(f"      pid {cluster.controller_pid}: {' '.join(libraries)}")

    def submit(epochs, gpus):
        model = cluster.write_model("vgg16.json", epochs=epochs)
        job = cluster.submit(f"--dl-model={model}", f"--gres=gpu:{gpus}").job
        check.show(job)
        return cluster.record(job)

    few, many, slow = submit(10, "a100:1"), submit(40, "a100:1"), submit(10, "t4:1")
    check('admin_comment says "by":"torch"', few["by"] == "torch" and few["weights"] != "", few)
    check("four times the epochs, about four times the time", 3.5 < many["p50_s"] / few["p50_s"] < 4.5, (few, many))
    check("the limit grows with the epochs", many["limit_s"] > few["limit_s"], (few, many))
    check("a t4 takes longer than an a100", slow["limit_s"] > few["limit_s"], (few, slow))


def slow_operators(path):
    """A table of made-up measurements: operators of an A100 at 1 TFLOP/s and 50 GB/s, a tenth of the real ones at best."""
    columns = ("rid,set,source,src_split,gpu,framework,op,phase,optimizer,activation,dtype,batch,m,k,n,in_ch,out_ch,in_hw,out_hw,"
               "ksize,stride,padding,bias,rows,cols,vocab,time_ms,time_rsd,ctx").split(",")
    dice = random.Random(1)
    with open(path, "w") as file:
        file.write(",".join(columns) + "\n")
        for i in range(900):
            batch, width, size = dice.randint(8, 128), 2 ** dice.randint(4, 10), dice.choice((7, 14, 28, 56))
            row = {"rid": i, "set": "valid" if i % 5 == 0 else "train", "source": "slow", "gpu": "A100-SXM4-80GB",
                   "framework": "pytorch-2.1.0", "phase": "forward", "dtype": "fp32", "batch": batch}
            if i % 3 == 0:
                row.update(op="conv2d", in_ch=width, out_ch=width, in_hw=size, out_hw=size, ksize=3, stride=1, padding=1, bias=1)
                seconds = 2 * batch * size * size * 9 * width * width / 1e12
            elif i % 3 == 1:
                row.update(op="linear", batch=1, m=batch, k=4 * width, n=width, bias=1)
                seconds = 2 * batch * 4 * width * width / 1e12
            else:
                row.update(op="relu", rows=batch, cols=width * size)
                seconds = 8 * batch * width * size / 50e9
            row["time_ms"] = 0.02 + 1e3 * seconds
            file.write(",".join(str(row.get(column, "")) for column in columns) + "\n")
    return path


def other_weights(cluster, check):
    """Other weights, trained from measurements of a slow machine, give another limit"""
    model = cluster.write_model("vgg16.json", epochs=10)
    before = cluster.record(cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job)
    shipped, cluster.weights = cluster.weights, cluster.path("weights")
    answer = cluster.run(cluster.dlcast, "train", "--ops", slow_operators(cluster.path("slow.csv")), "--out", cluster.weights,
                         timeout=300)
    check("dlcast train writes them", answer.rc == 0, answer.err)
    # The constants of whole steps stay, so that the network alone makes the difference.
    shutil.copy(os.path.join(shipped, "steps.toml"), cluster.weights)
    cluster.change_config()
    job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job
    after = cluster.record(job)
    check("the record names other weights", after["by"] == "torch" and after["weights"] != before["weights"], (before, after))
    check("the forecast and the limit are longer", after["p50_s"] > 1.2 * before["p50_s"] and after["limit_s"] > before["limit_s"],
          (before, after))
    check.show(job)
    cluster.weights = shipped
    cluster.change_config()


def wishes_of_the_user(cluster, check):
    """What the user asked for stays"""
    model = cluster.write_model("vgg16.json", epochs=10)
    job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "-t", "77").job
    check("-t 77 stays, the forecast is recorded", cluster.limit_s(job) == 77 * 60 and cluster.record(job)["p50_s"] > 0,
          cluster.show(job))
    check.show(job)
    for wish, among in (("v100", ["v100"]), ("t4", ["t4"]), ("t4,v100", ["t4", "v100"])):
        job = cluster.submit(f"--dl-model={model}", "--gpus=1", "-p", wish).job
        check(f"-p {wish} is the list of candidates", cluster.show(job)["Partition"] in among + [wish], cluster.show(job))
    for where in ("--nodelist=gpuv1", "--exclude=gpua1,gpua2"):
        answer = cluster.submit(f"--dl-model={model}", "--gpus=1", "-p", "a100,v100", where)
        check(f"{where} leaves the partitions", answer.rc == 0 and cluster.show(answer.job)["Partition"] == "a100,v100", answer.err)
    job = cluster.submit(f"--dl-model={model}", "--gpus=1", "-p", "a100", "--deadline=now+2hours", held=False).job
    check("--deadline ends no job before its time", cluster.wait_for_end(job).startswith("COMPLETED"), cluster.show(job))
    job = cluster.submit(f"--dl-model={model}", "--gpus=1").job
    check("without -p a partition with GPUs is chosen", cluster.show(job)["Partition"] in ("a100", "v100", "t4"), cluster.show(job))
    check.show(job)


def modes(cluster, check):
    """shadow, advise and enforce, changed while slurmctld runs"""
    model = cluster.write_model("vgg16.json", epochs=10)
    for mode, prints, sets in (("shadow", False, False), ("advise", True, False), ("enforce", True, True)):
        cluster.change_config(f'mode = "{mode}"')
        answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "-p", "a100")
        fields = cluster.show(answer.job)
        check(f"{mode} {'prints' if prints else 'is silent'}", ("dlcast:" in answer.err) == prints, answer.err)
        check(f"{mode} {'sets' if sets else 'does not set'} the limit", (fields["TimeLimit"] != "7-00:00:00") == sets, fields)
        check(f"{mode} records the forecast", cluster.record(answer.job).get("model") == "vgg16", fields)
    cluster.change_config()


def large_model(cluster, check):
    """PrologSlurmctld with a model between 32 and 64 KiB"""
    layers = [{"type": "linear", "out": 1000 + i % 97, "name": f"layer_{i:04}_of_a_long_network"} for i in range(800)]
    model = cluster.write("large.json", json.dumps({"model": {"name": "large", "input": [512], "layers": layers},
                                                    "dataset": {"samples": 10000}, "training": {"epochs": 1, "batch_size": 32}}))
    pid = cluster.controller_pid
    answer = cluster.run("sbatch", f"--dl-model={model}", "--gres=gpu:t4:1", "-o", cluster.path("size"),
                         "--wrap=echo ${#SLURM_SPANK_DLCAST_MODEL}")
    row = cluster.wait_for_end(answer.job)
    check("the job runs to its end", row.startswith("COMPLETED"), (row, answer.err))
    with open(cluster.path("size")) as file:
        size = int(file.read())
    check("its environment does not hold the model", size == 0, size)
    check("slurmctld lives", os.path.exists(f"/proc/{pid}/maps") and cluster.controller_maps() != "")
    check("PrologSlurmctld ran", os.path.exists(cluster.path("prolog.ran")))
    with open(cluster.path("prolog.env")) as file:
        environment = file.read()
    check("PrologSlurmctld did not see the model", "DLCAST_MODEL" not in environment and "dl_model" not in environment, environment[:200])


def accounting(cluster, check):
    """The record in slurmdbd after the job's end"""
    model = cluster.write_model("vgg16.json", epochs=1)
    ended = cluster.submit(f"--dl-model={model}", "--gres=gpu:t4:1", held=False).job
    cancelled = cluster.submit(f"--dl-model={model}", "--gres=gpu:t4:1").job
    record = cluster.record(ended)
    cluster.run("scancel", str(cancelled))
    row = cluster.wait_for_end(ended)
    check("of a job that ended", row.startswith("COMPLETED") and json.loads(row.split("|")[3])["dlcast"] == record, row)
    print("      " + row)
    row = cluster.wait_for_end(cancelled)
    check("of a job that was cancelled while it waited", row.startswith("CANCELLED") and '{"dlcast":{' in row, row)


PARTS = [forecast_is_real, other_weights, wishes_of_the_user, modes, large_model, accounting]
