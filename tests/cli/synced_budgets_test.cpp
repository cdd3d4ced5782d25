// SPDX-License-Identifier: GPL-2.0-or-later
// Budgets in the cluster file, from tables in the form in which Slurm 22.05.8 prints them.
#include "cli/synced_budgets.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "cli/slurm_output.h"
#include "cli/sync.h"
#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;

namespace {

const std::string associations =
    "Account|ParentName|User|Partition|MaxWall|Def QOS|GrpTRESMins\n"
    "root||||||\n"
    "root||root||||\n"
    "my lab|root|||||gres/gpu:v100=600\n"
    "my lab||games||||\n"
    "o`brien lab|my lab|||||\n"
    "research|root|||||billing=60000,gres/gpu=6000\n"
    "research||root||||\n"
    "theory|root|||||cpu=99\n"
    "vision|research|||||\n"
    "vision||daemon||||gres/gpu=60\n"
    "vision||nobody|a100|||gres/gpu=33\n";

const std::string shares =
    "Account|User|Partition|FairShare|GrpTRESRaw\n"
    "root||||cpu=9,gres/gpu=1000,gres/gpu:a100=880,gres/gpu:v100=120\n"
    " root|root||1.000000|cpu=0,gres/gpu=0\n"
    " my lab||||cpu=0,gres/gpu=120,gres/gpu:a100=0,gres/gpu:v100=120\n"
    "  my lab|games||0.500000|cpu=0,gres/gpu=120,gres/gpu:v100=120\n"
    "  o`brien lab||||cpu=0,gres/gpu=0,gres/gpu:v100=0\n"
    " research||||billing=480,cpu=9,gres/gpu=480,gres/gpu:a100=480\n"
    "  vision||||billing=480,cpu=9,gres/gpu=480\n"
    "   vision|daemon||0.250000|cpu=9,gres/gpu=30\n"
    "   vision|nobody|a100|0.250000|cpu=9,gres/gpu=6\n";

// daemon runs on 2 GPUs for an hour of its two; five tasks of 4 GPUs wait with a forecast of half an hour, and one job
// of 8 v100 without a forecast, of three hours.
const std::string queue =
    "JobID|User|Account|Partition|State|TimeLimit|Time|SubmitTime|StartTime|NumNodes|TRES|AdminComment\n"
    "7|daemon|vision|t4|RUNNING|2:00:00|1:00:00|1773100000|1773100000|1|cpu=1,gres/gpu:t4=2,gres/gpu=2|\n"
    "8_[1-5]|nobody|vision|a100|PENDING|1:00:00|0:00|1773100000|N/A|1|cpu=1,gres/gpu=4,gres/gpu:a100=4|"
    "{\"dlcast\":{\"v\":1,\"model\":\"vgg16\",\"gpus\":4,\"p50_s\":1800,\"p95_s\":2400}}\n"
    "9|games|o`brien lab|v100|PENDING|3:00:00|0:00|1773100000|N/A|1|cpu=1,gres/gpu=8,gres/gpu:v100=8|\n";

constexpr std::int64_t now_s = 1'773'103'600;

struct Synced {
    Cluster cluster;
    std::vector<std::string> warnings;
};
Synced synced(const BudgetTables& tables) {
    const Zone zone("UTC0");
    Synced out;
    const auto status = add_budgets(out.cluster, tables, now_s, out.warnings);
    if (!status) FAIL(status.error().message);
    return out;
}

const GpuBudget& of(const Synced& synced, const std::string& account, const std::string& user = "") {
    for (const GpuBudget& budget : synced.cluster.budgets)
        if (budget.account == account && budget.user == user) return budget;
    FAIL("no budget of " + account + " " + user);
    return synced.cluster.budgets.front();
}

void check(const GpuBudget& budget, double limit, double used, double running, double pending) {
    INFO(budget.account << " " << budget.user);
    CHECK(budget.limit_gpu_h == Approx(limit));
    CHECK(budget.used_gpu_h == Approx(used));
    CHECK(budget.running_gpu_h == Approx(running));
    CHECK(budget.pending_gpu_h == Approx(pending));
}

}  // namespace

TEST_CASE("each limit of GPU-minutes is a budget in hours, with what is used, runs and waits", "[sync]") {
    const Synced all = synced({associations, shares, queue});
    CHECK(all.warnings.empty());
    CHECK(all.cluster.budgets.size() == 4);
    // vision is below research: 2 GPUs for an hour yet; 5 tasks x 4 GPUs x half an hour.
    check(of(all, "research"), 100, 8, 2, 10);
    check(of(all, "vision", "daemon"), 1, 0.5, 2, 0);
    check(of(all, "vision", "nobody"), 33 / 60.0, 0.1, 0, 10);
    CHECK(of(all, "vision", "nobody").partition == "a100");
    // The v100 of the account below count: 8 GPUs for their limit of three hours.
    check(of(all, "my lab"), 10, 2, 0, 24);
    CHECK(of(all, "my lab").gpu == "v100");
}

TEST_CASE("accounts below a budget come with the one above them", "[sync]") {
    const auto accounts = synced({associations, shares, queue}).cluster.accounts;
    REQUIRE(accounts.size() == 2);
    CHECK(accounts[0].name == "o`brien lab");
    CHECK(accounts[0].parent == "my lab");
    CHECK(accounts[1].name == "vision");
    CHECK(accounts[1].parent == "research");
    // A limit on top binds everybody.
    std::string with_root = associations;
    with_root.replace(with_root.find("root||||||\n"), 11, "root||||||gres/gpu=60\n");
    CHECK(synced({with_root, shares, queue}).cluster.accounts.size() == 5);
}

TEST_CASE("budgets nobody knows the use of are left out and told", "[sync]") {
    const Synced unused = synced({associations, "", queue});
    CHECK(unused.cluster.budgets.empty());
    CHECK(unused.cluster.accounts.empty());
    REQUIRE(unused.warnings.size() == 4);
    CHECK_THAT(unused.warnings[1], Contains("sshare does not tell how much account research has used of gres/gpu"));
    const Synced unqueued = synced({associations, shares, ""});
    check(of(unqueued, "research"), 100, 8, 0, 0);
    CHECK_THAT(unqueued.warnings.at(0), Contains("nothing counts as running or pending"));
}

TEST_CASE("tables without their columns are errors, and tables without budgets are not asked for them", "[sync]") {
    Cluster cluster;
    std::vector<std::string> warnings;
    CHECK_THAT(add_budgets(cluster, {associations, "Account|User\nvision|\n", queue}, now_s, warnings).error().message,
               Contains("sshare's shares:1: no column GrpTRESRaw"));
    CHECK_THAT(add_budgets(cluster, {associations, shares, "JobID\n7\n"}, now_s, warnings).error().message,
               Contains("squeue's jobs:1: no column"));
    CHECK(has_gpu_budgets(associations));
    CHECK_FALSE(has_gpu_budgets("Account|ParentName|User|GrpTRESMins\nroot|||cpu=5\n"));
    CHECK_FALSE(has_gpu_budgets("Account|User|Partition|MaxWall|Def QOS\nroot||||normal\n"));
    CHECK_FALSE(has_gpu_budgets(""));
}

TEST_CASE("the cluster file holds budgets, their accounts and users, and reads back", "[sync]") {
    auto output = read_slurm_output(DLCAST_SOURCE_DIR "/tests/cli/data/slurm-22.05");
    REQUIRE(output);
    const std::string basic = output->config;
    const std::string_view type = "priority/basic";
    output->config.replace(basic.find(type), type.size(), "priority/multifactor");
    output->associations = associations, output->shares = shares, output->queue = queue;
    output->users = "User|Def Acct\ndaemon|vision\n";
    NameService names;
    names.uid_of = [](const std::string&) { return std::optional<std::uint32_t>(1); };
    std::vector<std::string> warnings;
    const auto cluster = cluster_from_slurm(*output, warnings, names, now_s);
    if (!cluster) FAIL(cluster.error().message);
    const std::string text = write_cluster(*cluster);
    CHECK_THAT(text, Contains("[[account]]\nname = \"o`brien lab\"\nparent = \"my lab\"\n"));
    CHECK_THAT(text, Contains("[[budget]]\naccount = \"vision\"\nuser = \"nobody\"\npartition = \"a100\"\n"
                              "limit_gpu_h = 0.5500\nused_gpu_h = 0.1000\nrunning_gpu_h = 0.0000\npending_gpu_h = "
                              "10.0000\n"));
    const auto read = parse_cluster(text, "cluster.toml");
    if (!read) FAIL(read.error().message);
    CHECK(write_cluster(*read) == text);
    CHECK(read->budgets.size() == 4);
    CHECK(read->users.at(0).default_account == "vision");

    output->config = basic;
    warnings.clear();
    CHECK(cluster_from_slurm(*output, warnings, names, now_s)->budgets.empty());
    CHECK_THAT(warnings.at(0),
               Contains("budgets of GPU-hours are left out: without PriorityType=priority/multifactor"));
}

TEST_CASE("Slurm's commands are asked for budgets, and where slurmdbd does not answer nothing is said", "[sync]") {
    const ScratchFolder folder;
    const auto play = [&](const std::string& name, const std::string& script) {
        chmod(folder.write("bin/" + name, "#!/bin/sh\n" + script).c_str(), 0755);
    };
    const Variable path("PATH", folder.path("bin") + ":/usr/bin:/bin");
    const std::string saved = DLCAST_SOURCE_DIR "/tests/cli/data/slurm-22.05/";
    folder.write("assoc", associations), folder.write("shares", shares);
    const auto scontrol = [&](const std::string& storage) {
        play("scontrol", "case \"$*\" in *partition*) cat " + saved + "scontrol-partition.txt ;; *node*) cat " + saved +
                             "scontrol-node.txt ;; *) echo 'ClusterName = dlcast'; echo 'AccountingStorageType = " +
                             storage + "' ;; esac\n");
    };
    scontrol("accounting_storage/slurmdbd");
    play("sacctmgr", "case \"$3\" in assoc) [ \"$5\" = cluster=dlcast ] && cat " + folder.path("assoc") +
                         " ;; user) echo 'User|Def Acct' ;; qos) echo 'Name|MaxWall|Flags' ;; esac\n");
    play("sshare", "cat " + folder.path("shares") + "\n");
    play("squeue",
         "[ \"$SLURM_TIME_FORMAT\" = %s ] && printf '9\\037games\\037o`brien lab\\037v100\\037PENDING\\0373:00:00"
         "\\0370:00\\0371773100000\\037N/A\\0371\\037gres/gpu=8,gres/gpu:v100=8\\037\\n'\n");
    std::vector<std::string> warnings;
    const auto output = ask_slurm(warnings);
    if (!output) FAIL(output.error().message);
    CHECK(warnings.empty());
    const auto cluster = cluster_from_slurm(*output, warnings, {}, now_s);
    if (!cluster) FAIL(cluster.error().message);
    CHECK(cluster->budgets.size() == 4);
    CHECK(cluster->budgets[0].pending_gpu_h == Approx(24));  // the lab's: 8 GPUs for three hours

    play("squeue", "exit 1\n");
    warnings.clear();
    REQUIRE(ask_slurm(warnings));
    CHECK_THAT(warnings.at(0), Contains("`squeue"));
    play("sacctmgr", "exit 1\n");
    const auto down = ask_slurm(warnings);
    REQUIRE_FALSE(down);
    CHECK_THAT(down.error().message,
               Contains("`sacctmgr --parsable2 show qos format=Name,MaxWall,Flags` failed (exit code "
                        "1); is slurmdbd up? The cluster file stays as it is"));
    scontrol("accounting_storage/none");
    warnings.clear();
    CHECK(ask_slurm(warnings));
    CHECK_THAT(warnings.at(0), Contains("this Slurm has no slurmdbd"));
}
