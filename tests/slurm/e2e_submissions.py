# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways to submit a job, and the ways to get the model wrong."""

import json
import os


def forecast_of(cluster, job):
    """True where limit, partition and record were filled in."""
    record = cluster.record(job)
    return record.get("limit_s") == cluster.limit_s(job) and record.get("partition", "") == cluster.show(job)["Partition"]


def show_lines(text):
    for line in text.strip().split("\n"):
        print("      " + line)


def clients(cluster, check):
    """sbatch, srun and salloc"""
    model = cluster.write_model("vgg16.json")
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:4")
    check("sbatch --dl-model: limit, partition and record", forecast_of(cluster, answer.job), answer.err)
    check("sbatch prints the forecast", answer.err.startswith("sbatch: dlcast: vgg16, 4 x a100 (partition a100): "), answer.err)
    show_lines(answer.err)
    check.show(answer.job)

    for client in ("srun", "salloc"):
        answer = cluster.run(client, f"--dl-model={model}", "--gres=gpu:t4:1", "sh", "-c", "echo job $SLURM_JOB_ID")
        job = answer.out.split()[1]
        check(f"{client} --dl-model: limit, partition and record", answer.rc == 0 and forecast_of(cluster, job), answer.err)
        check(f"{client} prints the line", f"{client}: dlcast: vgg16, 1 x t4 (partition t4): " in answer.err, answer.err)
        check.show(job)

    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:4", user="nobody")
    check("an ordinary user gets the same", answer.rc == 0 and forecast_of(cluster, answer.job), answer.err)

    before = cluster.jobs()
    answer = cluster.run("sbatch", "--test-only", f"--dl-model={model}", "--gres=gpu:a100:4", "--wrap=true")
    check("sbatch --test-only answers and submits nothing", answer.rc == 0 and cluster.jobs() == before, answer.err)

    # docs/admin-guide.md: the first submission of a new site, which a bare name would not pass where the site enforces.
    guide = ("sbatch", "--test-only", "--dl-model=vgg16", "--gres=gpu:1", "--wrap=true")
    answer = cluster.run(*guide)
    check("a name alone has no duration; the message gives the option", answer.rc != 0 and
          "add --dl-train=epochs=90,dataset=imagenet-1k" in answer.err, answer.err)
    answer = cluster.run(*guide, "--dl-train=epochs=1,dataset=imagenet-1k")
    check("with it the job is looked at", answer.rc == 0 and "dlcast: vgg16, 1 x " in answer.err, answer.err)
    show_lines(answer.err)


def places(cluster, check):
    """The option in the script, on the command line, in both, nowhere"""
    cluster.write_model("vgg16.json", epochs=90)
    cluster.write("resnet.json", json.dumps({"model": "resnet18", "training": {"steps": 1000, "batch_size": 32}}))
    script = cluster.write("job.sh", "#!/bin/sh\n#SBATCH --dl-model=vgg16.json\n#SBATCH --gres=gpu:a100:1 -o /dev/null\nsleep 1\n")
    plain = cluster.write("plain.sh", "#!/bin/sh\n#SBATCH --gres=gpu:a100:1 -p a100 -o /dev/null\nsleep 1\n")

    job = cluster.run("sbatch", "--hold", script).job
    check("in the script", cluster.record(job)["model"] == "vgg16", cluster.show(job))
    job = cluster.run("sbatch", "--hold", "--dl-model=vgg16.json", plain).job
    check("on the command line", cluster.record(job)["model"] == "vgg16", cluster.show(job))
    job = cluster.run("sbatch", "--hold", "--dl-model=resnet.json", script).job
    check("in both: the command line wins", cluster.record(job)["model"] == "resnet18", cluster.show(job))
    answer = cluster.run("sbatch", "--hold", plain)
    fields = cluster.show(answer.job)
    check("nowhere: nothing is said, nothing is set", answer.err == "" and fields["TimeLimit"] == "7-00:00:00" and
          fields["AdminComment"] == "", fields)
    check.show(answer.job)
    answer = cluster.run("sbatch", "--hold", "--dl-model=resnet18", "--gres=gpu:a100:1", "--wrap=true")
    check("a zoo name without a duration is refused with the remedy", answer.rc == 1 and "epochs" in answer.err, answer.err)
    show_lines(answer.err)


def shapes(cluster, check):
    """Arrays, heterogeneous jobs, jobs inside jobs"""
    model = cluster.write_model("vgg16.json")
    answer = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1", "--array=0-9%3")
    single = cluster.submit(f"--dl-model={model}", "--gres=gpu:a100:1").job
    check("an array of ten: the limit of one task", cluster.limit_s(answer.job) == cluster.limit_s(single), cluster.show(answer.job))
    check("an array of ten: the GPU-hours of ten tasks beside those of one", "in 10 tasks" in answer.err, answer.err)
    show_lines(answer.err)
    check.show(answer.job)

    script = cluster.write("het.sh", "#!/bin/sh\n#SBATCH --gres=gpu:t4:1 -o /dev/null --hold\n#SBATCH hetjob\n#SBATCH -p cpu\nsleep 1\n")
    job = cluster.run("sbatch", "--dl-model=" + model, script).job
    second = cluster.run("squeue", "-h", "-j", str(job), "-o", "%i %A").out.split("\n")
    other = next((line.split()[1] for line in second if "+1" in line), None)
    check("a heterogeneous job: the first component has the forecast", cluster.record(job).get("model") == "vgg16", second)
    check("a heterogeneous job: the second one, without the option, has none", other and not cluster.record(other), second)

    script = cluster.write("two.sh", f"#!/bin/sh\n#SBATCH --dl-model={model} --gres=gpu:t4:1 -o /dev/null --hold\n#SBATCH hetjob\n"
                           f"#SBATCH --dl-model={model} --gres=gpu:a100:1\nsleep 1\n")
    answer = cluster.run("sbatch", script)
    check("a script's second --dl-model, which Slurm does not hand over, is said once",
          answer.err.count("gives --dl-model to a later component too") == 1, answer.err)
    answer = cluster.run("sbatch", "--hold", f"--dl-model={model}", "--gres=gpu:t4:1", ":", f"--dl-model={model}", "--gres=gpu:a100:1",
                         cluster.write("plain2.sh", "#!/bin/sh\nsleep 1\n"))
    check("on the command line each component has its own forecast", "1 x t4" in answer.err and "1 x a100" in answer.err and
          "later component" not in answer.err, answer.err)

    inner = cluster.write("outer.sh", f"#!/bin/sh\nsbatch --hold -p cpu -o /dev/null --wrap=true >{cluster.folder}/inner\n")
    os.chmod(inner, 0o755)
    job = cluster.run("sbatch", "--dl-model=" + model, "--gres=gpu:t4:1", "-o", "/dev/null", inner).job
    cluster.wait_for_end(job)
    with open(cluster.path("inner")) as file:
        inner_job = file.read().split()[-1]
    check("a job submitted inside a job does not inherit the model", not cluster.record(inner_job), cluster.show(inner_job))


def bad_models(cluster, check):
    """Models that cannot be: a message, rc 1, nothing submitted"""
    layer = '{"name": "net", "input": [3, 32, 32], "layers": [\n  {"type": "conv2d", "out": 64, "kernel": 3},\n  {"type": "cov2d", "out": 64}]}'
    models = [
        ("missing", cluster.path("missing.json"), "missing.json"),
        ("empty", cluster.write("empty.json", ""), "empty.json"),
        ("a directory without a model", cluster.folder, cluster.folder),
        ("of 2 MiB", cluster.write("big.json", '{"model": "vgg16", "x": "' + "x" * (2 << 20) + '"}'), "big.json"),
        ("10,000 levels deep", cluster.write("deep.json", "[" * 10000 + "]" * 10000), "deep.json:1:"),
        ("not UTF-8", cluster.write("latin.json", b'{"model": "vgg\xff16"}'), "latin.json:1:"),
        ("with a key twice", cluster.write("twice.json", '{"model": "vgg16",\n "model": "vgg19"}'), "twice.json:2:2:"),
        ("with an unknown layer", cluster.write("layer.json", '{"model": ' + layer + ', "training": {"steps": 1}}'), "layer.json:3:"),
    ]
    before = cluster.jobs()
    for what, path, place in models:
        answer = cluster.submit(f"--dl-model={path}", "--gres=gpu:a100:1")
        line = answer.err.split("\n")[0]
        check(f"a model {what}", answer.rc == 1 and line.startswith("sbatch: error: dlcast: ") and place in line and
              cluster.jobs() == before, answer.err)
        print("      " + line)
    for client in ("srun", "salloc"):
        answer = cluster.run(client, "--dl-model=missing.json", "--gres=gpu:a100:1", "true")
        check(f"{client} with a missing model", answer.rc == 1 and cluster.jobs() == before, answer.err)


PARTS = [clients, places, shapes, bad_models]
