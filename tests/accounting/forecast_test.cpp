// SPDX-License-Identifier: GPL-2.0-or-later
// `dlcast forecast` from files in the form of Slurm 22.05, and from commands that play Slurm.
#include <fmt/format.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "cli/gpu_hours_output.h"
#include "cli/gpu_hours_query.h"
#include "cli/installation.h"
#include "tests/accounting/zone.h"
#include "tests/scratch_folder.h"

using namespace dlcast;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

const std::string sacct_header =
    "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|ReqTRES|AllocTRES|"
    "AdminComment\n";
const std::string squeue_header_line =
    "JobID|User|Account|Partition|State|TimeLimit|Time|SubmitTime|StartTime|NumNodes|TRES|AdminComment\n";

std::string comment(int gpus, int p50_s, int p95_s) {
    return fmt::format(R"({{"dlcast":{{"v":1,"model":"vgg16","gpus":{},"p50_s":{},"p95_s":{}}}}})", gpus, p50_s, p95_s);
}

struct Files {
    ScratchFolder folder;
    Zone zone{"UTC0"};
    AccountingOptions options;
    Calendar calendar;
    const DeviceCatalog* catalog = nullptr;

    Files() {
        options.at = options.end = "2026-03-10T12:00:00";
        options.begin = "2026-03-01";
        sacct("");
    }
    void sacct(const std::string& rows) { options.sacct_file = folder.write("sacct.txt", sacct_header + rows); }
    void squeue(const std::string& rows) {
        options.squeue_file = folder.write("squeue.txt", squeue_header_line + rows);
    }
    GpuHoursAnswer ask() {
        auto answer = ask_gpu_hours(options, calendar, catalog);
        INFO((answer ? "" : answer.error().message));
        REQUIRE(answer);
        return *answer;
    }
    std::string fault() {
        const auto answer = ask_gpu_hours(options, calendar, catalog);
        REQUIRE_FALSE(answer);
        return answer.error().message;
    }
};

}  // namespace

TEST_CASE("each run of a job counts once: arrays, components, requeues", "[accounting]") {
    Files f;
    // 1 h on 2 GPUs; two array tasks of 1 h; two components, one without GPUs; a run that was requeued and the run
    // after it.
    f.sacct(
        "1|ada|my "
        "lab|a100|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600|60|1||cpu=1,gres/"
        "gpu:a100=2,gres/gpu=2|\n"
        "1.batch|||||2026-03-02T01:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600||1||gres/gpu=2|\n"
        "2_0|ada|my "
        "lab|t4|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600|60|1||gres/gpu:t4=1,gres/"
        "gpu=1|\n"
        "2_1|ada|my "
        "lab|t4|FAILED|2026-03-02T00:00:00|2026-03-02T23:30:00|2026-03-03T00:30:00|3600|60|1||gres/gpu:t4=1,gres/"
        "gpu=1|\n"
        "3+0|bob|o`brien "
        "\"b\"|t4|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600|60|1||gres/gpu:t4=1,gres/"
        "gpu=1|\n"
        "3+1|bob|o`brien "
        "\"b\"|cpu|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600|60|1||cpu=1|\n"
        "4|bob|o`brien "
        "\"b\"|a100|REQUEUED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T01:30:00|1800|60|1||gres/"
        "gpu:a100=4,gres/gpu=4|\n"
        "4|bob|o`brien \"b\"|a100|CANCELLED by "
        "1000|2026-03-02T01:30:00|2026-03-02T02:00:00|2026-03-02T02:15:00|900|60|1||gres/gpu:a100=4,gres/gpu=4|\n"
        "5|bob|o`brien \"b\"|a100|CANCELLED by "
        "1000|2026-03-02T01:30:00|None|2026-03-02T02:15:00|0|60|1|gres/gpu=4||\n");
    const auto answer = f.ask();
    CHECK(answer.by_account.at("my lab").spent.gpu_h == Approx(4));
    CHECK(answer.by_account.at("o`brien \"b\"").spent.gpu_h == Approx(1 + 2 + 1));
    CHECK(answer.by_gpu.at("a100").spent.gpu_h == Approx(5));
    CHECK(answer.by_user.at("ada").finished == 3);
    CHECK(answer.skipped.steps == 1);
    const auto day = *f.calendar.parse("2026-03-02T00:00:00");
    CHECK(answer.by_day.at(day).spent == Approx(8 - 0.5));  // half of 2_1 is after midnight
    CHECK(answer.by_day.at(day + 86'400).spent == Approx(0.5));
}

TEST_CASE("pending and running jobs come from squeue, each once, whatever sacct knows by now", "[accounting]") {
    Files f;
    f.squeue(
        "7_[0-8:2%1]|ada|lab|t4,a100|PENDING|1:00:00|0:00|2026-03-10T00:00:00|N/A|1|gres/gpu=2|" +
        comment(2, 1800, 2400) +
        "\n8|ada|lab|a100|RUNNING|2:00:00|1:00:00|2026-03-10T00:00:00|2026-03-10T11:00:00|1|gres/gpu:a100=4,gres/"
        "gpu=4|\n"
        "9|ada|lab|a100|RUNNING|2:00:00|1:00:00|2026-03-10T00:00:00|2026-03-10T11:00:00|1|gres/gpu:a100=4,gres/gpu=4|\n"
        "10|ada|lab|a100|PENDING|2:00:00|0:00|2026-03-10T11:00:00|N/A|1|gres/gpu=4|\n");
    f.sacct(
        // 9 ended after squeue answered; 10 waits after a first run that was requeued; 11 is a runaway.
        "8|ada|lab|a100|RUNNING|2026-03-10T00:00:00|2026-03-10T11:00:00|Unknown|3600|120|1||gres/gpu:a100=4,gres/"
        "gpu=4|\n"
        "9|ada|lab|a100|COMPLETED|2026-03-10T00:00:00|2026-03-10T11:00:00|2026-03-10T12:00:00|3600|120|1||gres/"
        "gpu:a100=4,gres/gpu=4|\n"
        "10|ada|lab|a100|REQUEUED|2026-03-10T11:00:00|2026-03-10T11:00:00|2026-03-10T11:30:00|1800|120|1||gres/"
        "gpu:a100=4,gres/gpu=4|\n"
        "11|ada|lab|a100|RUNNING|2026-03-01T00:00:00|2026-03-01T11:00:00|Unknown|800000|120|1||gres/gpu:a100=4,gres/"
        "gpu=4|\n"
        "7_[0-8:2%1]|ada|lab|t4|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|60|1|gres/gpu=2||\n");
    const auto all = f.ask().total;
    CHECK(all.pending == 6);                              // five tasks and job 10
    CHECK(all.pending_p50.gpu_h == Approx(5 * 2 * 0.5));  // 1800 s
    CHECK(all.pending_p95.gpu_h == Approx(5 * 2 * 2400 / 3600.0));
    CHECK(all.running == 1);
    CHECK(all.running_spent.gpu_h == Approx(4));
    CHECK(all.left_limit.gpu_h == Approx(4));     // job 8: one hour of its limit
    CHECK(all.pending_limit.gpu_h == Approx(8));  // job 10: its whole limit
    CHECK(all.spent.gpu_h == Approx(4 + 2));
    CHECK(f.ask().skipped.runaway == 1);
}

TEST_CASE("a filter that nothing has is told with the nearest name that is there", "[accounting]") {
    Files f;
    f.sacct(
        "1|ada|lab|t4|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600|60|1||gres/gpu=1|\n");
    f.options.accounts = {"lab,lap"};
    f.options.users = {"ada"};
    f.options.partitions = {"gpu"};
    CHECK(
        f.ask().warnings ==
        std::vector<std::string>{"--account lap: no GPU job of this window and no budget has it; did you mean \"lab\"?",
                                 "--partition gpu: no GPU job of this window and no budget has it; they have t4"});
}

TEST_CASE("a GPU whose type only its forecast tells is the type that Slurm has for it", "[accounting]") {
    Files f;
    const DeviceCatalog catalog = *shipped_catalog();
    f.catalog = &catalog;
    const auto forecast_on = [](const char* gpu) {
        return fmt::format(R"({{"dlcast":{{"v":1,"gpus":1,"gpu":"{}","p50_s":3600,"p95_s":3600}}}})", gpu);
    };
    // 2 h on a GPU of a type, 1 h promised on one that no TRES names, and a GPU of which Slurm has no type here.
    f.sacct(
        "1|ada|lab|v100|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T03:00:00|7200|120|1||"
        "gres/gpu:tesla_t4=1,gres/gpu=1|\n"
        "2|ada|lab|v100|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|120|1|gres/gpu=1||" +
        forecast_on("T4") + "\n3|ada|lab|l4|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|120|1|gres/gpu=1||" +
        forecast_on("L4") + "\n");
    f.options.assoc_file = f.folder.write("assoc.txt",
                                          "Account|ParentName|User|Partition|Share|GrpTRESMins\nroot||||1|\n"
                                          "lab|root|||1|gres/gpu:tesla_t4=600\n");
    const auto answer = f.ask();
    CHECK(answer.by_gpu.size() == 2);
    CHECK(answer.by_gpu.at("tesla_t4").spent.gpu_h == Approx(2));
    CHECK(answer.by_gpu.at("tesla_t4").pending_p50.gpu_h == Approx(1));
    CHECK(answer.by_gpu.at("L4").pending_p50.gpu_h == Approx(1));
    REQUIRE(answer.budgets.size() == 1);
    CHECK(answer.budgets[0].pending.p50 == Approx(1));  // of 10 h, of which 2 are used
    CHECK(answer.budgets[0].after_jobs().p50 == Approx(7));
}

TEST_CASE("jobs without GPUs are in no sum of GPU-hours, and are counted", "[accounting]") {
    Files f;
    // One ended in the window with a forecast, two tasks wait; one ended before, one never began, one has another user.
    f.sacct(
        "1|ada|lab|cpu|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T03:00:00|7200|120|1||node=1|" +
        comment(1, 7000, 7500) +
        "\n2_[0-1]|ada|lab|cpu|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|120|1|node=1||\n"
        "3|ada|lab|cpu|COMPLETED|2026-02-02T00:00:00|2026-02-02T01:00:00|2026-02-02T03:00:00|7200|120|1||node=1|\n"
        "4|ada|lab|cpu|CANCELLED|2026-03-02T00:00:00|None|2026-03-02T03:00:00|0|120|1||node=1|\n"
        "5|bob|lab|cpu|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T03:00:00|7200|120|1||node=1|\n");
    f.options.users = {"ada"};
    const auto answer = f.ask();
    CHECK(answer.total.finished == 0);
    CHECK(answer.skipped.cpu_jobs == 3);
    CHECK(answer.skipped.cpu_forecasts == 1);
    CHECK_THAT(gpu_hours_text(answer, f.calendar),
               Contains("left out: 3 jobs without GPUs, 1 of them with a forecast\n"));
}

TEST_CASE("without squeue, sacct's pending and running rows count", "[accounting]") {
    Files f;
    f.sacct(
        "1|ada|lab|a100|RUNNING|2026-03-10T00:00:00|2026-03-10T11:00:00|Unknown|3600|120|1||gres/gpu=4|\n"
        "2_[3-5]|ada|lab|a100|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|60|1|gres/gpu=1||\n");
    const auto all = f.ask().total;
    CHECK(all.left_limit.gpu_h == Approx(4));
    CHECK(all.pending_limit.gpu_h == Approx(3));
}

TEST_CASE("comments of others, cut-off rows and impossible ones are counted, not fatal", "[accounting]") {
    Files f;
    const std::string job = "|ada|lab|a100|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|60|1|gres/gpu=1||";
    f.sacct("1" + job + "ticket 42 | phone\nsecond line\n" +         // a comment with a separator and a line break
            "2" + job + comment(1, 100, 200).substr(0, 40) + "\n" +  // cut off by somebody
            "3" + job + "note | " + comment(1, 3600, 3600) + "\n" +  // after other text
            "x4" + job + "\n" +                                      // no number
            "5|ada|lab|a100|COMPLETED|2026-03-10T00:00:00|Unknown|Unknown|60|60|1|||\n" +
            "6|ada|lab|a1");  // the file ends here
    const auto answer = f.ask();
    CHECK(answer.skipped.foreign_comments == 1);
    CHECK(answer.skipped.broken_comments == 1);
    CHECK(answer.skipped.broken_lines == 2);
    CHECK_THAT(answer.skipped.first_broken, EndsWith("sacct.txt:3"));
    CHECK_THAT(skipped_lines(answer.skipped).front(),
               StartsWith("2 lines are not whole, the first at /") && Contains("sacct.txt:3: cut off"));
    CHECK(answer.skipped.unreadable == 2);
    CHECK_THAT(answer.skipped.first_unreadable, Contains("sacct.txt: job x4: \"x4\" is no job number"));
    CHECK(answer.total.pending_p50.gpu_h == Approx(1));
    CHECK(answer.total.pending_limit.gpu_h == Approx(2));
}

TEST_CASE("a file that an editor touched reads as before", "[accounting]") {
    Files f;
    f.options.sacct_file = f.folder.write(
        "sacct.txt",
        "\xEF\xBB\xBF" + sacct_header.substr(0, sacct_header.size() - 1) +
            "\r\n1|ada|lab|a100|COMPLETED|2026-03-02T00:00:00|2026-03-02T01:00:00|2026-03-02T02:00:00|3600|"
            "60|1||gres/gpu=2|\r\n\r\n");
    const auto answer = f.ask();
    CHECK(answer.total.spent.gpu_h == Approx(2));
    CHECK(answer.skipped.broken_lines == 0);
}

TEST_CASE("budgets come with what Slurm says was used", "[accounting]") {
    Files f;
    f.options.assoc_file = f.folder.write("assoc.txt",
                                          "Account|ParentName|User|Partition|Share|GrpTRESMins\nroot||||1|\n"
                                          "my lab|root|||1|billing=99999,cpu=5,gres/gpu=600\nmy lab||ada||3|\n");
    f.options.sshare_file = f.folder.write("sshare.txt",
                                           "Account|User|Partition|FairShare|LevelFS|GrpTRESRaw\nroot|||||gres/gpu=1\n"
                                           " my lab||||0.8|billing=60,gres/gpu=480\n"
                                           "  my lab|ada||0.25|inf|gres/gpu=480\n");
    f.sacct("2_[3-5]|ada|my lab|a100|PENDING|2026-03-10T00:00:00|Unknown|Unknown|0|60|1|gres/gpu=1||\n");
    const auto budgets = f.ask().budgets;
    REQUIRE(budgets.size() == 2);
    CHECK(budgets[1].tres == "gres/gpu");
    CHECK(budgets[1].limit_h == Approx(10));
    CHECK(budgets[1].level_fs == 0.8);
    CHECK_FALSE(budgets[1].fair_share);  // users have one
    CHECK(budgets[1].used_h == Approx(8));
    CHECK(budgets[1].without_forecast_h() == Approx(3));
    CHECK(budgets[1].after_jobs().p50 == Approx(-1));  // one hour too many is promised
    f.options.accounts = {"other"};
    CHECK(f.ask().budgets.empty());
}

TEST_CASE("missing, empty and wrong tables are errors with a remedy", "[accounting]") {
    Files f;
    f.options.sacct_file = f.folder.path("none.txt");
    CHECK_THAT(f.fault(), Contains("none.txt': No such file"));
    f.options.sacct_file = f.folder.path("");
    CHECK_THAT(f.fault(), Contains("is a folder"));
    f.options.sacct_file = f.folder.write("sacct.txt", "");
    CHECK_THAT(f.fault(), Contains("nothing in it; print it with `SLURM_TIME_FORMAT=%s sacct"));
    f.options.sacct_file = f.folder.write("sacct.txt", "JobID|JobName|State\n1|x|COMPLETED\n");
    CHECK_THAT(f.fault(), Contains("sacct.txt:1: no column Account in \"JobID|JobName|State\""));
    f.options.sacct_file = f.folder.write("sacct.txt", "\n \n");
    CHECK_THAT(f.fault(), Contains("nothing in it"));
    f.options.sacct_file = f.folder.write("sacct.txt", std::string(1000, '\0'));
    CHECK_THAT(f.fault(), Contains("no column JobID"));
    f.sacct("");
    f.options.sshare_file = f.options.sacct_file;
    CHECK_THAT(f.fault(), Contains("--sshare says what was used of budgets, and --assoc"));
    f.options.sshare_file.clear();
    f.options.begin = "soon";
    CHECK_THAT(f.fault(), Contains("--starttime: \"soon\" is no moment"));
    f.options.begin = "2026-04-01";
    CHECK_THAT(f.fault(), Contains("is not before --endtime"));
}

TEST_CASE("Slurm's commands are asked in a form without ambiguity, and their failure is told", "[accounting]") {
    Files f;
    const auto play = [&](const std::string& name, const std::string& script) {
        chmod(f.folder.write("bin/" + name, "#!/bin/sh\n" + script).c_str(), 0755);
    };
    const Variable path("PATH", f.folder.path("bin") + ":/usr/bin:/bin");
    const Variable format("SLURM_TIME_FORMAT", "%H:%M");
    const Variable bits("SLURM_BITSTR_LEN", "16");
    f.options.sacct_file.clear();
    play("squeue",
         "printf "
         "'7\\037ada\\037lab\\037a100\\037PENDING\\0371:00:00\\0370:00\\037%s\\037N/A\\0371\\037gres/gpu=2\\037\\n' "
         "1773100000\n");
    play("sacct",
         "[ \"$SLURM_TIME_FORMAT\" = %s ] || exit 7\n"
         "printf 'JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES\\n"
         "6|ada|lab|a100|COMPLETED|1773100000|1773100000|1773103600|3600|60|gres/gpu=1\\n'\n");
    play("scontrol", "echo 'ClusterName             = here'\n");
    play("sacctmgr",
         "[ \"$5\" = cluster=here ] || exit 8\necho 'Account|ParentName|User|Partition|Share|GrpTRESMins'\n");
    play("sshare", "exit 1\n");
    const auto answer = f.ask();
    CHECK(answer.total.spent.gpu_h == Approx(1));
    CHECK(answer.total.pending_limit.gpu_h == Approx(2));
    REQUIRE(answer.warnings.size() == 1);
    CHECK_THAT(answer.warnings[0], Contains("`sshare` failed (exit code 1)"));
    play("scontrol", "echo 'ClusterName = here'; echo 'PriorityType = priority/basic'\n");
    play("sshare", "echo 'Account|User|GrpTRESRaw'\n");
    CHECK_THAT(f.ask().warnings.at(0),
               Contains("without PriorityType=priority/multifactor Slurm counts no use; budgets"));
    play("sacct", "echo 'JobID|User' ; exit 1\n");
    CHECK_THAT(f.fault(), Contains("no column Account"));
    play("sacct", "exit 1\n");  // as where slurmdbd is down
    CHECK_THAT(f.fault(), Contains("`sacct` failed (exit code 1); is slurmdbd up") && Contains("--sacct FILE"));
    play("squeue", "exit 1\n");  // as where slurmctld is down
    CHECK_THAT(f.fault(), Contains("`squeue` failed (exit code 1); is slurmctld up") &&
                              Contains("--sacct FILE and --squeue FILE") && !Contains("slurmdbd"));
}
