# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of `dlcast forecast` and `dlcast report` against the database and plain arithmetic."""

import json
import math
import os
import statistics
import subprocess

from accounting_jobs import LAB, QUOTED, rows

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT")
SECOND = 1 / 3600


def ask(cluster, *words, **more):
    answer = subprocess.run([cluster.dlcast, *words, "--json"], env=dict(cluster.environment, **more), capture_output=True, text=True,
                            timeout=60)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def runs_of(cluster, jobs):
    """(job, seconds, end) of each run that began and ended."""
    by_id = {job.id: job for job in jobs}
    return [(by_id[number], end - start, end) for number, _, start, end, _ in rows(cluster) if end and number in by_id]


def named(entries, name):
    return next(entry for entry in entries if entry["name"] == name)


def spent(cluster, jobs, check):
    """GPU-hours spent, by account, user, partition, GPU and day"""
    runs = runs_of(cluster, jobs)
    check(f"{len(runs)} runs of {len({job.account for job in jobs})} accounts ended", len(runs) >= 50)
    got = ask(cluster, "forecast", "-S", "now-1day")
    check.near("all, GPU-hours", got["total"]["spent_gpu_h"], sum(job.gpus * s for job, s, _ in runs) / 3600, 1e-6)
    check("jobs that ended", got["total"]["finished_jobs"] == sum(1 for _, s, _ in runs if s > 0), got["total"])
    for kind, of in (("account", lambda job: job.account), ("user", lambda job: job.user), ("partition", lambda job: job.partition),
                     ("gpu", lambda job: job.gpu)):
        for name in sorted({of(job) for job in jobs}):
            wanted = sum(job.gpus * s for job, s, _ in runs if of(job) == name) / 3600
            check.near(f"{kind} {name}", named(got["by"][kind], name)["spent_gpu_h"], wanted, 1e-6)
    check("names keep spaces and quotes", {LAB, QUOTED} <= {entry["name"] for entry in got["by"]["account"]}, got["by"]["account"])
    days = sum(day["spent_gpu_h"] for day in got["by"]["day"])
    check.near("all days", days, got["total"]["spent_gpu_h"] + got["total"]["running_spent_gpu_h"], 1e-5)
    for zone in ("UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "NZST-12NZDT,M9.5.0,M4.1.0/3"):
        other = ask(cluster, "forecast", "-S", "now-1day", TZ=zone)["total"]["spent_gpu_h"]
        check.near(f"the same in {zone[:4]}", other, got["total"]["spent_gpu_h"], 1e-6)
    one = ask(cluster, "forecast", "-S", "now-1day", "-A", LAB, "-u", "games")
    check("-A and -u choose", [entry["name"] for entry in one["by"]["user"]] == ["games"], one["by"])


def promised(cluster, jobs, check):
    """GPU-hours left in running jobs and promised by pending ones"""
    got = ask(cluster, "forecast", "-S", "now-1day")
    total = got["total"]
    check("running and pending jobs", (total["running_jobs"], total["pending_jobs"]) == (2, 1 + 5 + 1 + 1), total)
    # Held: one job of 8 GPUs, an hour or two; five tasks of 2 GPUs, half an hour or one; and one that the plugin forecast.
    forecast = next(job for job in jobs if job.account == "research")
    check.near("pending, median", total["pending_gpu_h"]["p50"], 8 * 1 + 5 * 2 * 0.5 + forecast.p50_s / 3600, 1e-6)
    check.near("pending, 95 %", total["pending_gpu_h"]["p95"], 8 * 2 + 5 * 2 * 1 + forecast.p95_s / 3600, 1e-6)
    other = total["without_forecast"]
    check("jobs without a forecast", (other["running_jobs"], other["pending_jobs"]) == (1, 1), other)
    check.near("pending by limit", other["pending_limit_gpu_h"], 2, 1e-6)
    # The running job on 2 GPUs: T is log-normal, median 400 s, 95 % 800 s; what is left of it given its age t.
    at = os.popen(f"date -d '{got['window']['at']}' +%s").read()
    start = {number: start for number, _, start, end, _ in rows(cluster, "time_end=0")}
    job = next(job for job in jobs if job.state == "RUNNING" and job.p50_s)
    bare = next(job for job in jobs if job.state == "RUNNING" and not job.p50_s)
    normal = statistics.NormalDist(math.log(400), math.log(2) / statistics.NormalDist().inv_cdf(0.95))
    t = int(at) - start[job.id]
    for name, q in (("p50", 0.5), ("p95", 0.95)):
        gone = normal.cdf(math.log(t))
        left = min(math.exp(normal.inv_cdf(gone + q * (1 - gone))) - t, 1200 - t)
        check.near(f"left in the running job, {name}", total["running_left_gpu_h"][name], 2 * left / 3600, 2 * 2 * SECOND)
    check.near("left by limit", other["running_left_limit_gpu_h"], (1800 - int(at) + start[bare.id]) / 3600, 2 * SECOND)
    check.near("spent by running jobs", total["running_spent_gpu_h"], (2 * t + int(at) - start[bare.id]) / 3600, 6 * SECOND)
    text = cluster.run(cluster.dlcast, "forecast", "-S", "now-1day")
    print("      " + text.out.replace("\n", "\n      "))
    columns = cluster.run(cluster.dlcast, "forecast", "-S", "now-1day", "-P").out.split("\n")
    check("-P has a row for each name", len(columns) == 2 + 1 + sum(len(got["by"][k]) for k in ("account", "user", "partition", "gpu")),
          columns)


def budgets(cluster, jobs, check):
    """Budgets against sshare"""
    got = {(entry["account"], entry["tres"]): entry for entry in ask(cluster, "forecast", "-S", "now-1day")["budgets"]}
    check("each limit of GPUs and billing is a budget", set(got) == {("research", "gres/gpu"), ("research", "billing"), (LAB, "gres/gpu:v100")},
          set(got))
    check("limits in hours", (got["research", "gres/gpu"]["limit_h"], got[LAB, "gres/gpu:v100"]["limit_h"]) == (100, 10), got)
    text = cluster.run("sshare", "-a", "-P", "-o", "Account,User,GrpTRESRaw").out
    for account, tres in got:
        line = next(line for line in text.split("\n") if line.strip().startswith(account + "||"))
        minutes = float(dict(item.split("=") for item in line.split("|")[2].split(","))[tres])
        check.near(f"{account}: {tres} used, as sshare says", got[account, tres]["used_h"], minutes / 60, 1e-6)
    # vision is the only account below research; Slurm rounds to minutes and counts ended jobs at once, others each minute.
    seconds = sum(job.gpus * s for job, s, _ in runs_of(cluster, jobs) if job.account in ("vision", "research"))
    check.near("research has used what its jobs and vision's ran", got["research", "gres/gpu"]["used_h"], seconds / 3600, 1 / 60 + 1e-6)
    text = cluster.run("sshare", "-a", "-P", "-o", "Account,User,LevelFS").out
    for account, entry in {account: entry for (account, _), entry in got.items()}.items():
        said = next(line for line in text.split("\n") if line.strip().startswith(account + "||")).split("|")[2]
        check(f"{account}: its place among its siblings, {said}, as sshare says", entry["level_fs"] == (None if said == "inf" else float(said)),
              entry["level_fs"])
    lab = got[LAB, "gres/gpu:v100"]
    check.near("what stays of the lab's budget", lab["after_jobs_h"]["p50"],
               lab["limit_h"] - lab["used_h"] - lab["running_left_h"]["p50"] - (8 + 5) - lab["without_forecast_h"], 1e-5)
    check("it is used up one day, at the rate of the window", lab["exhausted_on"] is not None and lab["rate_h_per_day"] > 0, lab)


def reported(cluster, jobs, check):
    """Forecast against actual"""
    got = ask(cluster, "report", "-S", "now-1day", "--kill-rate", "0.05")
    runs = runs_of(cluster, jobs)
    counts = got["counts"]
    with_forecast = [(job, s) for job, s, _ in runs if job.p50_s]
    check("ended", counts["ended_jobs"] == sum(1 for _, s, _ in runs), (counts, len(runs)))
    check("without a forecast", counts["without_forecast"] == len(runs) - len(with_forecast), counts)
    check("foreign and cut-off comments", (counts["foreign_comment"], counts["broken_forecast"]) == (1, 1), counts)
    states = counts["by_state"]
    check("failed, cancelled, timed out, requeued", (states["failed"], states["cancelled"], states["timeout"], states["requeued"]) ==
          (2, 1, 1, 1), states)
    check("preempted, lost with its node", (states["preempted"], states["node_fail"]) == (1, 1), states)
    left_out = counts["not_judged"]
    check("told apart: GPUs changed, nodes changed, another partition, interrupted",
          (left_out["gpus_changed"], left_out["nodes_changed"], left_out["other_partition"], left_out["interrupted"]) == (1, 1, 1, 1),
          left_out)
    judged = [(job, s) for job, s in with_forecast if job.state in ("COMPLETED", "TIMEOUT") and not job.kind and s > 0]
    check("judged", counts["judged"] == len(judged), (counts, len(judged)))
    done = [(job, s) for job, s in judged if job.state == "COMPLETED"]
    errors = [100 * abs(job.p50_s / s - 1) for job, s in done]
    check.near("mean error, %", got["errors"]["mape_pct"], statistics.mean(errors), 1e-4)
    check.near("median error, %", got["errors"]["median_ape_pct"], statistics.median(errors), 1e-3)
    check.near("below the median forecast", got["errors"]["below_p50"], sum(s <= job.p50_s for job, s in done) / len(judged), 1e-5)
    check.near("below the 95 % forecast", got["errors"]["below_p95"], sum(s <= job.p95_s for job, s in done) / len(judged), 1e-5)
    run = got["limits"]["as_run"]
    check("killed: the one that timed out", (run["jobs"], run["killed"]) == (len(judged), 1), run)
    # The killed job used its limit, one minute; the seconds until Slurm saw it are not counted.
    used = sum(job.gpus * (60 if job.state == "TIMEOUT" else s) for job, s in judged) / 3600
    asked = sum(job.gpus * job.limit_min * 60 for job, s in judged) / 3600
    check.near("asked for, GPU-hours", run["asked_gpu_h"], asked, 1e-6)
    check.near("used, GPU-hours", run["used_gpu_h"], used, 1e-6)
    check.near("asked over used", run["asked_over_used"], asked / used, 1e-5)
    ours = got["limits"]["set_by_dlcast"]
    check("under dlcast's limits: all but the eight that kept their own", ours["jobs"] == len(judged) - 8, ours)
    rollout = got["rollout"]
    check("enforcing would have shortened those eight", (rollout["jobs"], rollout["would_be_killed"]) == (8, 0), rollout)
    check.near("and saved, GPU-hours", rollout["saved_gpu_h"], 8 * (600 - 240) / 3600, 1e-6)
    for kind, of in (("model", lambda job: job.model), ("partition", lambda job: job.partition), ("user", lambda job: job.user)):
        for name in sorted({of(job) for job, _ in judged}):
            wanted = [100 * abs(job.p50_s / s - 1) for job, s in done if of(job) == name]
            entry = named(got["by"][kind], name)
            if wanted:
                check.near(f"{kind} {name}: mean error, %", entry["errors"]["mape_pct"], statistics.mean(wanted), 1e-3)
    check("margins from the judged jobs", got["margins"][0]["jobs"] == len(judged), got["margins"])
    text = cluster.run(cluster.dlcast, "report", "-S", "now-1day")
    print("      " + text.out.replace("\n", "\n      "))


PARTS = (spent, promised, budgets, reported)
