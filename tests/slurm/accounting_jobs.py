# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of several users and accounts, to every end that accounting tells apart."""

import dataclasses
import json
import time

from cluster import slurm_seconds

LAB = "my lab"
QUOTED = "o`brien lab"  # sacctmgr writes a backtick where a name has a double quote


@dataclasses.dataclass
class Job:
    """What was submitted and what must become of it. `gpus` of one task; times in seconds."""
    user: str
    account: str
    partition: str
    gpus: int
    state: str = "COMPLETED"
    tasks: int = 1
    p50_s: int = 0            # 0: no forecast
    p95_s: int = 0
    limit_min: int = 5
    ours_s: int = 0           # dlcast's limit in the record
    asked: object = "absent"  # the user's own in the record: seconds or None
    model: str = "vgg16"
    comment: str = ""         # instead of a forecast
    kind: str = ""            # "gpus", "nodes", "partition", "requeued": why a completed job is not judged
    id: int = 0

    @property
    def gpu(self):
        return {"a100": "a100", "v100": "v100", "t4": "t4"}[self.partition]

    def record(self, forecast_partition=None, forecast_nodes=None):
        fields = {"v": 1, "id": "0123456789ab", "model": self.model, "gpus": self.gpus, "nodes": forecast_nodes,
                  "partition": forecast_partition or self.partition, "p50_s": self.p50_s, "p95_s": self.p95_s,
                  "limit_s": self.ours_s}
        if self.asked != "absent":
            fields["asked_s"] = self.asked
        return json.dumps({"dlcast": fields}, separators=(",", ":"))


def add_accounts(cluster):
    def admin(*words):
        answer = cluster.run("sacctmgr", "-i", *words)
        assert answer.rc == 0, answer.err + answer.out
    admin("add", "account", "vision", "parent=research")
    admin("add", "account", LAB)
    admin("add", "account", 'o"brien lab')
    for user, account in (("daemon", "vision"), ("games", LAB), ("nobody", LAB), ("daemon", QUOTED)):
        admin("add", "user", user, f"account={account}")
    admin("add", "qos", "urgent", "preempt=normal")
    admin("modify", "user", "root", "where", "account=research", "set", "qos+=urgent")
    admin("modify", "account", "research", "set", "GrpTRESMins=gres/gpu=6000,billing=60000")
    admin("modify", "account", LAB, "set", "GrpTRESMins=gres/gpu:v100=600")


def submit(cluster, job, *options, script="sleep 2"):
    answer = cluster.run("sbatch", "--hold", "--output=/dev/null", "-A", job.account, "-p", job.partition,
                         f"--gres=gpu:{job.gpu}:{job.gpus}", "-t", str(job.limit_min), *options, f"--wrap={script}",
                         user=job.user)
    assert answer.job, answer.err
    job.id = answer.job
    comment = job.comment or (job.record() if job.p50_s else "")
    if comment:
        cluster.run("scontrol", "update", f"jobid={job.id}", f"admincomment={comment}")
    return job


def forecast(user, account, partition, gpus, **more):
    """A job with a forecast of 3 s, 95 % 6 s, and a limit of five minutes that dlcast gave."""
    return Job(user, account, partition, gpus, **{"p50_s": 3, "p95_s": 6, "ours_s": 300, "asked": None, **more})


def run_all(cluster):
    """Submits, lets run, and returns when all have ended but those that stay running or pending."""
    add_accounts(cluster)
    jobs = []

    def take(job, *options, script="sleep 2", hold=False):
        submit(cluster, job, *options, script=script)
        jobs.append(job)
        if not hold:
            cluster.run("scontrol", "release", str(job.id))
        return job

    timeout = take(forecast("daemon", "vision", "t4", 1, state="TIMEOUT", limit_min=1, ours_s=60), script="sleep 200")
    running = take(Job("games", LAB, "v100", 2, state="RUNNING", p50_s=400, p95_s=800, ours_s=1200, limit_min=20), script="sleep 1000")
    take(Job("nobody", LAB, "v100", 1, state="RUNNING", limit_min=30), script="sleep 1000")
    for i in range(20):
        take(forecast("daemon", "vision", "a100", 1 + i % 2, model=("vgg16", "resnet50")[i % 2]), script=f"sleep {1 + i % 3}")
    for i in range(8):
        take(forecast("daemon", QUOTED, "a100", 1, asked=600, limit_min=10, ours_s=240), script="sleep 1")
    for i in range(4):
        take(Job("nobody", LAB, "v100", 1), script="sleep 1")
    take(forecast("games", LAB, "v100", 1, tasks=10), "--array=0-9%4", script="sleep 1")
    take(forecast("games", LAB, "v100", 1, state="FAILED"), script="exit 3")
    take(forecast("games", LAB, "v100", 1, state="FAILED"), script="exit 3")
    cancelled = take(forecast("games", LAB, "v100", 1, state="CANCELLED"), script="sleep 100")
    never = take(forecast("games", LAB, "v100", 1, state="CANCELLED"), hold=True)
    take(Job("daemon", "vision", "a100", 1, comment="ticket 42 | see\nmail"), script="sleep 1")
    take(Job("daemon", "vision", "a100", 1, comment=forecast("daemon", "vision", "a100", 1).record()[:50]), script="sleep 1")
    changed = take(forecast("daemon", "vision", "a100", 1, kind="gpus"), hold=True)
    cluster.run("scontrol", "update", f"jobid={changed.id}", "gres=gpu:a100:3")
    changed.gpus = 3
    cluster.run("scontrol", "release", str(changed.id))
    spread = forecast("daemon", "vision", "a100", 2, kind="nodes")
    spread.comment = spread.record(forecast_nodes=1)
    take(spread, hold=True)
    cluster.run("scontrol", "update", f"jobid={spread.id}", "numnodes=2", "gres=gpu:a100:1")
    cluster.run("scontrol", "release", str(spread.id))
    moved = forecast("daemon", "vision", "a100", 1, kind="partition")
    moved.comment = moved.record(forecast_partition="v100")
    take(moved)
    requeued = take(forecast("daemon", "vision", "a100", 1, kind="requeued"), "--requeue", script="[ $SLURM_RESTART_COUNT ] || sleep 100")
    # One command line, two components; the second has no GPU.
    answer = cluster.run("sbatch", "-A", LAB, "-p", "v100", "--gres=gpu:v100:1", "-t", "5", "--output=/dev/null", ":", "-A", LAB, "-p",
                         "cpu", "-t", "5", "--wrap=sleep 1", user="games")
    assert answer.job, answer.err
    jobs.append(Job("games", LAB, "v100", 1, id=answer.job))
    take(forecast("games", LAB, "v100", 8, state="PENDING", p50_s=3600, p95_s=7200, ours_s=9000, limit_min=150), hold=True)
    take(forecast("games", LAB, "v100", 2, state="PENDING", tasks=5, p50_s=1800, p95_s=3600, ours_s=3600, limit_min=60), "--array=1-9:2",
         hold=True)
    take(Job("daemon", "vision", "t4", 1, state="PENDING", limit_min=120), hold=True)
    # The plugin's own record.
    model = cluster.write_model("vgg16.json", epochs=1)
    answer = cluster.run("sbatch", "--hold", f"--dl-model={model}", "-A", "research", "-p", "a100", "--gres=gpu:a100:1", "--wrap=true")
    assert answer.job, answer.err
    record = cluster.record(answer.job)
    jobs.append(Job("root", "research", "a100", 1, state="PENDING", p50_s=record["p50_s"], p95_s=record["p95_s"], id=answer.job))

    # A job that is requeued while its node still starts it may fail in its second run.
    wait_until(lambda: age_s(cluster, cancelled) >= 3 and age_s(cluster, requeued) >= 3, 40)
    cluster.run("scancel", str(cancelled.id), str(never.id))
    cluster.run("scontrol", "requeue", str(requeued.id))
    # A requeued job may begin again two minutes after its submission, unless its time is brought forward.
    wait_until(lambda: state(cluster, requeued) == "PENDING", 20)
    cluster.run("scontrol", "update", f"jobid={requeued.id}", "starttime=now")
    staying = sum(job.tasks for job in jobs if job.state in ("RUNNING", "PENDING"))
    wait_until(lambda: len(cluster.run("squeue", "-r", "-h", "-o", "%i").out.split()) == staying, 110)
    wait_until(lambda: not rows(cluster, f"id_job={timeout.id} and time_end=0"), 20)
    assert state(cluster, running) == "RUNNING"
    interrupt(cluster, take)
    return jobs


def interrupt(cluster, take):
    """A job whose node is lost, and one that another preempts."""
    lost = take(forecast("daemon", "vision", "a100", 1, state="NODE_FAIL"), "--no-requeue", "-w", "gpua2", script="sleep 100")
    wait_until(lambda: state(cluster, lost) == "RUNNING", 20)
    cluster.run("scontrol", "update", "nodename=gpua2", "state=down", "reason=test")
    wait_until(lambda: not rows(cluster, f"id_job={lost.id} and time_end=0"), 20)
    cluster.run("scontrol", "update", "nodename=gpua2", "state=resume")
    low = take(forecast("daemon", "vision", "t4", 2, state="PREEMPTED"), script="sleep 100")
    wait_until(lambda: state(cluster, low) == "RUNNING", 20)
    urgent = take(Job("root", "research", "t4", 2), "--qos=urgent", script="sleep 1")
    for job in (low, urgent):
        wait_until(lambda: rows(cluster, f"id_job={job.id} and time_end>0"), 40)


def state(cluster, job):
    return cluster.run("squeue", "-h", "-j", str(job.id), "-o", "%T").out.strip()


def age_s(cluster, job):
    """Seconds that a job has run; 0 where it does not run."""
    text = cluster.run("squeue", "-h", "-t", "RUNNING", "-j", str(job.id), "-o", "%M").out.strip()
    return slurm_seconds("0:" + text) if text else 0


def wait_until(holds, seconds):
    end = time.time() + seconds
    while not holds():
        assert time.time() < end, "the jobs do not come to their ends"
        time.sleep(0.3)


def rows(cluster, where="1"):
    """Rows of the accounting database itself: number (an array's first), state, start, end, submit; started runs only."""
    text = cluster.run("mariadb", "--no-defaults", "--protocol=socket", f"--socket={cluster.slurm}/run/sql/socket", "--user=root",
                       "--batch", "--skip-column-names", "slurm_acct_db", "-e",
                       "select if(id_array_job,id_array_job,id_job), state & 255, time_start, time_end, time_submit "
                       f"from dlcast_job_table where time_start>0 and ({where})").out
    return [tuple(int(field) for field in line.split("\t")) for line in text.strip().split("\n") if line]
