# SPDX-License-Identifier: GPL-2.0-or-later
"""What accounting says to the next submission: budgets and margins, through `dlcast sync` and `report`, to sbatch."""

import math
import os
import signal
import statistics
import tomllib

from accounting_checks import ask
from accounting_jobs import LAB

POLICY = "Batch job submission failed: Job violates accounting/QOS policy"


def read(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def submit(cluster, model, *options, user=None):
    answer = cluster.run("sbatch", "--hold", "--output=/dev/null", f"--dl-model={model}", *options, "--wrap=true", user=user)
    if answer.job:
        cluster.record_of_last = cluster.record(answer.job)
        cluster.last_limit_s = cluster.limit_s(answer.job)
        cluster.run("scancel", str(answer.job))
    return answer


def synced_budgets(cluster, jobs, check):
    """Budgets in the cluster file"""
    told = {(entry["account"], entry["tres"]): entry for entry in ask(cluster, "forecast", "-S", "now-1day")["budgets"]}
    answer = cluster.run(cluster.dlcast, "sync", "--output", cluster.path("cluster.toml"))
    check("dlcast sync", answer.rc == 0, answer.err)
    file = read(cluster.path("cluster.toml"))
    budgets = {(budget["account"], budget.get("gpu", "")): budget for budget in file["budget"]}
    check("a budget for each limit of GPUs", set(budgets) == {("research", ""), (LAB, "v100")}, set(budgets))
    check("accounts below them", file["account"] == [{"name": "vision", "parent": "research"}], file.get("account"))
    check("default accounts", {"name": "games", "uid": 5, "default_account": LAB} in file["user"], file["user"])
    for key, tres in ((("research", ""), "gres/gpu"), ((LAB, "v100"), "gres/gpu:v100")):
        check.near(f"{key[0]}: limit", budgets[key]["limit_gpu_h"], told[key[0], tres]["limit_h"], 1e-4)
        # The jobs that run use some between the two questions.
        check.near(f"{key[0]}: used", budgets[key]["used_gpu_h"], told[key[0], tres]["used_h"], 3 * 10 / 3600)
    lab = budgets[LAB, "v100"]
    check.near("the lab's pending jobs promise 8 and 5 x 2 x 0.5 GPU-hours", lab["pending_gpu_h"], 13, 1e-4)
    entry = told[LAB, "gres/gpu:v100"]
    check.near("its running jobs have left", lab["running_gpu_h"], entry["running_left_h"]["p50"] + entry["without_forecast_h"], 3 * 10 / 3600)


def refused(cluster, jobs, check):
    """A submission against its account's budget"""
    big, small = cluster.write_model("big.json", epochs=3000), cluster.write_model("small.json", epochs=1)
    cluster.change_config('[budget]\npolicy = "reject"\n')
    answer = submit(cluster, small, "-p", "v100", "--gres=gpu:v100:1", user="games")
    check("who names no account is held against the default one, which has nothing free", answer.rc == 1 and answer.job is None and
          f"sbatch: error: dlcast: vgg16, 1 x v100 (partition v100): the budget of account {LAB} on v100 GPUs is 10.0 GPU-hours: " in
          answer.err and " 13.0 pending, none free (" in answer.err and POLICY in answer.err, answer.err)
    print("      " + answer.err.strip().replace("\n", "\n      "))
    answer = submit(cluster, small, "-p", "t4", "--gres=gpu:t4:1", user="games")
    check("on other GPUs that budget does not bind", answer.rc == 0, answer.err)
    answer = submit(cluster, big, "-p", "a100", "--gres=gpu:a100:4", "-A", "vision", user="daemon")
    check("an account is held against the one above it", answer.rc == 1 and "the budget of account research is 100.0 GPU-hours" in answer.err
          and "(account vision is below research)" in answer.err, answer.err)
    answer = submit(cluster, small, "-p", "a100", "--gres=gpu:a100:1", "-A", "vision", user="daemon")
    check("a small job fits", answer.rc == 0 and "budget" not in answer.err, answer.err)
    free = sum(budget["limit_gpu_h"] - budget["used_gpu_h"] - budget["running_gpu_h"] - budget["pending_gpu_h"]
               for budget in read(cluster.path("cluster.toml"))["budget"] if budget["account"] == "research")
    each = cluster.record_of_last["p50_s"] / 3600
    tasks = int(free / each)
    for more, fits in ((-1, True), (2, False)):
        answer = submit(cluster, small, "-p", "a100", "--gres=gpu:a100:1", "-A", "vision", f"--array=1-{tasks + more}", user="daemon")
        check(f"an array of {tasks + more} x {each:.2f} GPU-hours {'fits' if fits else 'does not fit'} into {free:.1f}",
              (answer.rc == 0) == fits, answer.err)
    cluster.change_config('[budget]\npolicy = "warn"\n')
    answer = submit(cluster, big, "-p", "a100", "--gres=gpu:a100:4", "-A", "vision", user="daemon")
    check("warned, the job goes on", answer.rc == 0 and "sbatch: dlcast: warning: the budget of account research is" in answer.err, answer.err)


def calibrated(cluster, jobs, check):
    """A kill rate that slurmctld keeps"""
    path = cluster.path("margins.toml")
    model = cluster.write_model("model.json", epochs=20)
    options = ("-p", "a100", "--gres=gpu:a100:1", "-A", "research")
    answer = cluster.run(cluster.dlcast, "report", "-S", "now-1day", "--kill-rate", "0.2", "--write-margins", path)
    check("dlcast report writes the margins", answer.rc == 0, answer.err)
    rows = read(path)["margin"]
    # 5 / 0.2 = 25 jobs make a group; a100 has more than that.
    row = next(row for row in rows if row.get("partition") == "a100" and "model_class" not in row)
    cluster.change_config("[time_limit]\nkill_rate = 0.2\nround_up_min = 1\nfloor_min = 1\n")
    answer = submit(cluster, model, *options)
    record = cluster.record_of_last
    sd = math.log(record["p95_s"] / record["p50_s"]) / statistics.NormalDist().inv_cdf(0.95)
    own = [row for row in rows if row.get("partition") == "a100" and row.get("model_class") == "vgg"]
    wanted = record["p50_s"] * math.exp((own[0] if own else row)["deviations"] * sd)
    check("the user reads the kill rate", answer.rc == 0 and "(kill rate 20 %)" in answer.err, answer.err)
    check.near("the limit is the median with its partition's margin, s", cluster.last_limit_s, wanted, 61)
    told = ask(cluster, "predict", model, "--config", cluster.config, "--partition", "a100", "--gpus", "1")
    # The controller leaves layers below a hundredth of a step to the constants.
    check.near("dlcast predict gives the same limit within 1 %, s", told["walltime"]["limit_min"] * 60, cluster.last_limit_s,
               0.01 * cluster.last_limit_s)
    answer = cluster.run(cluster.dlcast, "check", "--config", cluster.config)
    check("dlcast check names the margins", answer.rc == 0 and "kill rate 20 % by " in answer.out, answer.out + answer.err)
    os.remove(path)
    cluster.change_config("[time_limit]\nkill_rate = 0.2\nround_up_min = 1\nfloor_min = 1\n")
    for _ in range(3):
        answer = submit(cluster, model, *options)
    check("without the file it is quantile x margin_factor", "(95 %)" in answer.err, answer.err)
    check.near("of the forecast, s", cluster.last_limit_s, cluster.record_of_last["p95_s"] * 1.2, 61)
    check("and one line in slurmctld's log", cluster.log().count("dlcast: cannot read '" + path) == 1, cluster.log()[-2000:])


def database_down(cluster, jobs, check):
    """slurmdbd down"""
    with open(cluster.slurm + "/run/slurmdbd") as file:
        os.kill(int(file.read().split()[0]), signal.SIGTERM)
    for verb in ("forecast", "report"):
        answer = cluster.run(cluster.dlcast, verb)
        check(f"{verb}: a clear error, exit 1", answer.rc == 1 and answer.err.startswith("dlcast: error: `sacct` failed (exit code 1): sacct: ")
              and "; is slurmdbd up" in answer.err, answer.err)
    before = read(cluster.path("cluster.toml"))
    answer = cluster.run(cluster.dlcast, "sync", "--output", cluster.path("cluster.toml"))
    check("sync: a clear error, exit 1", answer.rc == 1 and "is slurmdbd up? The cluster file stays as it is" in answer.err, answer.err)
    check("and it does", read(cluster.path("cluster.toml")) == before)


PARTS = (synced_budgets, refused, calibrated, database_down)
