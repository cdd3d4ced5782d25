# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way to ask for GPUs and time, every limit, and what the job itself is told."""

import os
import re

from cluster import slurm_seconds


def gpu_requests(cluster, check):
    """GPUs and nodes, as sbatch's options say them"""
    model = cluster.write_model("vgg16.json", epochs=10)
    forms = [  # options, GPUs forecast, GPU
        (["--gres=gpu:2"], 2, ""), (["--gres=gpu:a100:4"], 4, "a100"), (["--gres=gpu"], 1, ""),
        (["-G", "2"], 2, ""), (["--gpus=v100:8"], 8, "v100"), (["--gpus=8", "--gpus-per-node=4"], 8, "a100"),
        (["--gpus-per-node=t4:2"], 2, "t4"), (["-N2", "--gpus-per-node=a100:4"], 8, "a100"),
        (["-N1-2", "--gpus=a100:8"], 8, "a100"), (["-N1-2", "--gpus-per-node=a100:4"], 4, "a100"),
        (["-n4", "--gpus-per-task=1"], 4, ""), (["-N2", "--ntasks-per-node=2", "--gpus-per-task=a100:1"], 4, "a100"),
        (["-n8", "--ntasks-per-gpu=2"], 4, ""), (["--sockets-per-node=2", "--gpus-per-socket=1"], 2, ""),
        (["--gres=gpu:a100:4", "--gpus-per-node=a100:4"], 4, "a100"), (["--gres=gpu:2", "--gpus=2"], 2, ""),
        (["--gres=gpu:a100:2", "--constraint=nvlink"], 2, "a100"), (["--gpus=a100:7", "-N2"], 7, "a100"),
        (["--exclusive", "-p", "a100"], 4, "a100"),
    ]
    for options, gpus, kind in forms:
        answer = cluster.submit(f"--dl-model={model}", *options)
        record = cluster.record(answer.job) if answer.job else {}
        words = f"vgg16, {gpus} x {kind}"
        check(" ".join(options), record.get("gpus") == gpus and words in answer.err, answer.err)
        print("      " + answer.err.split("\n")[0])
    answer = cluster.submit(f"--dl-model={model}", "-p", "cpu")
    check("no GPU: said, and the job goes on as written", answer.rc == 0 and "asks for no GPU" in answer.err and
          not cluster.record(answer.job), answer.err)
    print("      " + answer.err.split("\n")[0])


def time_forms(cluster, check):
    """Limits of the user's own, in every form"""
    model = cluster.write_model("vgg16.json", epochs=10)
    for form, seconds in (("0:240:0", 4 * 3600), ("1-12", 36 * 3600), ("90:30", 91 * 60), ("90", 5400), ("1-0:0:1", 24 * 3600 + 60)):
        job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "-t", form).job
        check(f"-t {form} stays", cluster.limit_s(job) == seconds and cluster.record(job).get("p50_s", 0) > 0, cluster.show(job))
    for form in ("0", "UNLIMITED"):
        answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "-t", form)
        check(f"-t {form} stays: no time limit, as asked", "no time limit, as you asked" in answer.err, answer.err)
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "-t", "10")
    check("-t 10, too short: kept, with a warning", "your time limit 0:10:00 stays" in answer.err and
          "longer than your time limit 0:10:00; ask for --time=" in answer.err, answer.err)
    print("      " + "\n      ".join(answer.err.strip().split("\n")[:2]))
    job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "--time-min=10").job
    check("--time-min alone stays, beside our limit", cluster.show(job).get("TimeMin") == "00:10:00" and
          cluster.record(job)["limit_s"] == cluster.limit_s(job), cluster.show(job))
    cluster.change_config("[time_limit]\nsoft_limit = true")
    if not cluster.has_soft_limits:
        job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job
        check("on this Slurm a soft limit would kill: TimeMin is left alone", cluster.show(job).get("TimeMin") == "N/A", cluster.show(job))
        lines = [line for line in cluster.log().split("\n") if "soft_limit: this Slurm does not take" in line]
        check("the log says so once", len(lines) == 1, lines)
    else:
        saved = open(cluster.path("cluster.toml")).read()
        answer = cluster.run(cluster.dlcast, "sync", "--output", cluster.path("cluster.toml"))
        check("dlcast sync sees time_min_as_soft_limit", "soft_time_limit = true" in open(cluster.path("cluster.toml")).read(), answer.err)
        cluster.change_config("[time_limit]\nsoft_limit = true")
        job = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job
        fields = cluster.show(job)
        check("the median is TimeMin, the quantile the limit", cluster.record(job)["p50_s"] <= slurm_seconds(fields["TimeMin"]) <
              slurm_seconds(fields["TimeLimit"]), fields)
        check.show(job)
        cluster.write("cluster.toml", saved)
    cluster.change_config()


def limits(cluster, check):
    """Limits of the accounting, synced from Slurm and named"""
    manager = lambda *words: cluster.run("sacctmgr", "-i", *words)  # noqa: E731
    manager("add", "qos", "short", "set", "maxwall=60", "flags=DenyOnLimit")
    manager("modify", "user", "root", "set", "qos+=short")
    manager("modify", "user", "nobody", "set", "maxwall=120")
    saved = open(cluster.path("cluster.toml")).read()
    answer = cluster.run(cluster.dlcast, "sync", "--output", cluster.path("cluster.toml"))
    with open(cluster.path("cluster.toml")) as file:
        text = file.read()
    check("dlcast sync writes QOS, accounts and users", answer.rc == 0 and 'name = "short"' in text and
          re.search(r'user = "nobody"\n(partition.*\n)?max_time_min = 120', text) is not None and
          f"uid = {os.stat('/').st_uid}" in text, answer.err + text[-800:])
    cluster.change_config()
    model = cluster.write_model("vgg16.json", epochs=90)
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "--qos=short")
    check("the QOS that binds is named, and Slurm accepts the limit", answer.job and cluster.limit_s(answer.job) == 3600 and
          "longer than QOS short MaxWall 1:00:00" in answer.err, answer.err)
    print("      " + "\n      ".join(answer.err.strip().split("\n")[:2]))
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", user="nobody")
    check("the user's own MaxWall is named", answer.job and cluster.limit_s(answer.job) == 7200 and
          "MaxWall of nobody in account research 2:00:00" in answer.err, answer.err)
    print("      " + "\n      ".join(answer.err.strip().split("\n")[:2]))
    cluster.change_config('on_no_fit = "reject"')
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "--qos=short")
    check("refused where the site says so, in Slurm's own words", answer.rc == 1 and "Requested time limit is invalid" in answer.err and
          "or chain" in answer.err, answer.err)
    print("      " + "\n      ".join(answer.err.strip().split("\n")))
    manager("modify", "user", "nobody", "set", "maxwall=-1")
    cluster.write("cluster.toml", saved)
    cluster.change_config()


def told_to_the_job(cluster, check):
    """What the job finds in its environment"""
    model = cluster.write_model("vgg16.json", epochs=10)
    out = cluster.path("job.env")
    answer = cluster.run("sbatch", f"--dl-model={model}", "--gres=gpu:t4:1", "-o", out, "--wrap=env | grep -E '^(SLURM_SPANK_)?DLCAST'")
    cluster.wait_for_end(answer.job)
    with open(out) as file:
        variables = dict(line.strip().split("=", 1) for line in file if "=" in line)
    record, limit = cluster.record(answer.job), cluster.limit_s(answer.job)
    check("DLCAST_LIMIT_S is the job's limit", variables.get("DLCAST_LIMIT_S") == str(int(limit)), variables)
    check("DLCAST_FORECAST_P50_S is the record's", abs(int(variables.get("DLCAST_FORECAST_P50_S", 0)) - record["p50_s"]) <= 1, variables)
    check("ten epochs fit into the limit that was made for ten", variables.get("DLCAST_EPOCHS_FIT", "0").isdigit() and
          10 <= int(variables["DLCAST_EPOCHS_FIT"]) <= 13, variables)
    check("the payload is not in the job's environment", "SLURM_SPANK_DLCAST_MODEL" not in variables, list(variables))
    print("      " + " ".join(f"{key}={value}" for key, value in sorted(variables.items()) if key.startswith("DLCAST_") and
                              not key.endswith(("CONFIG", "MODULE"))))


def counters(cluster, check):
    """Counters in the status file"""
    status = cluster.path("dlcast.prom")
    cluster.status = status
    cluster.change_config()
    model = cluster.write_model("vgg16.json", epochs=7)
    for _ in range(2):
        cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1")
    cluster.next_status()
    cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1")
    answer = cluster.run(cluster.dlcast, "status", "--config", cluster.config)
    check("dlcast status prints them", answer.rc == 0 and re.search(r"^forecasts +\d+ by the network", answer.out, re.M) is not None and
          re.search(r"^time +p50 [\d.]+ (us|ms), p99", answer.out, re.M) is not None, answer.out + answer.err)
    print("      " + "\n      ".join(answer.out.strip().split("\n")))
    with open(status) as file:
        text = file.read()
    check("the file is in the text format of Prometheus", all(re.match(r"# (HELP|TYPE) dlcast_|dlcast_\w+(\{[^}]*\})? [-+.\de]+$", line)
                                                               for line in text.strip().split("\n")), text)
    answer = cluster.run(cluster.dlcast, "doctor", "--config", cluster.config, "--slurm-conf", cluster.slurm + "/etc/slurm.conf")
    check("dlcast doctor finds this host in order", answer.rc == 0 and "FAULT" not in answer.out and "controller" in answer.out, answer.out)
    print("      " + "\n      ".join(answer.out.strip().split("\n")))


PARTS = [gpu_requests, time_forms, limits, told_to_the_job, counters]
