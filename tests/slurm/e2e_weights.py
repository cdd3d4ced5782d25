# SPDX-License-Identifier: GPL-2.0-or-later
"""Weights that `dlcast refine` publishes: the running slurmctld takes them up, and goes back with them."""

import json
import os
import time

GPU = "A100-SXM4-80GB"
MODELS = ("resnet50", "vgg16", "bert-base-uncased")


def sample(cluster, model, factor):
    """A step of the model as dlcast-profile would write it, `factor` times as long as its forecast."""
    answer = cluster.run(cluster.dlcast, "predict", model, "--gpu", GPU, "--batch-size", "16", "--steps", "100", "--json",
                         "--config", cluster.config)
    seconds = factor * json.loads(answer.out)["step"]["step_ms"] / 1e3
    return json.dumps({"v": 1, "device": {"name": GPU}, "versions": {"backend": "torch-cuda"}, "clock": "kernel",
                       "pass": {"model": model, "batch": 16, "pass": "step", "precision": "fp32", "optimizer": "sgd"},
                       "repetitions": 100, "median_s": seconds, "relative_ci": 0.01})


def published_weights(cluster, check):
    """Weights published by dlcast refine, and turned back"""
    if not os.path.exists(cluster.built_module):
        print("      left out: this build has no dlcast_torch.so, which refine asks")
        return
    usual, link, pid = cluster.weights, cluster.path("refined"), cluster.controller_pid
    model = cluster.write_model("vgg16.json", epochs=10)
    steps = {factor: cluster.write(f"steps-{factor}.jsonl", "\n".join(sample(cluster, m, factor) for m in MODELS))
             for factor in (1.5, 2.5)}

    def refine(factor):
        answer = cluster.run(cluster.dlcast, "refine", "--samples", steps[factor], "--out", link, "--json", "--config", cluster.config)
        check(f"dlcast refine by steps {factor} times as long", answer.rc == 0, answer.err)
        time.sleep(1.2)  # slurmctld looks once a second
        return json.loads(answer.out)["weights"]

    def record():
        return cluster.record(cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job)

    plain = record()
    first = refine(1.5)
    cluster.weights = link
    cluster.change_config()
    once = record()
    check("the weights of dlcast.toml answer, under their id", once["weights"] == first and once["p50_s"] > 1.2 * plain["p50_s"], once)
    second = refine(2.5)
    twice = record()
    check("published anew, the next submission has them", twice["weights"] == second != first and twice["p50_s"] > 1.2 * once["p50_s"],
          (once, twice))
    print(f"      {plain['weights']} {plain['p50_s']} s, {first} {once['p50_s']} s, {second} {twice['p50_s']} s")
    answer = cluster.run(cluster.dlcast, "refine", "--rollback", "--out", link)
    time.sleep(1.2)
    back = record()
    check("dlcast refine --rollback: the ones before answer", answer.rc == 0 and (back["weights"], back["p50_s"]) == (first, once["p50_s"]),
          (answer.err, back))

    version = os.path.realpath(link)
    manifest = os.path.join(version, "manifest.toml")
    text = open(manifest).read()
    for what, spoil, mend in (("broken", lambda: cluster.write(manifest, "schema = \n"), lambda: cluster.write(manifest, text)),
                              ("missing", lambda: os.rename(version, version + "-"), lambda: os.rename(version + "-", version))):
        known = len(cluster.log())
        spoil()
        time.sleep(1.2)
        kept = record()
        lines = [line for line in cluster.log()[known:].split("\n") if "manifest.toml" in line]
        check(f"weights {what}: the ones before go on, and the log says so once",
              (kept["weights"], kept["p50_s"]) == (first, once["p50_s"]) and len(lines) == 1, (kept, lines))
        print("      " + "\n      ".join(lines))
        answer = cluster.run(cluster.dlcast, "check", "--config", cluster.config)
        check("dlcast check names the fault", answer.rc == 1 and "manifest.toml" in answer.out + answer.err, answer.out + answer.err)
        mend()
        time.sleep(1.2)
        record()
    check("slurmctld was not restarted", cluster.controller_pid == pid and cluster.run("scontrol", "ping").rc == 0)
    cluster.weights = usual
    cluster.change_config()


PARTS = [published_weights]
