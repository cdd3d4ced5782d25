// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/job_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/accounting/comment.h"
#include "predictor/accounting/tres.h"
#include "predictor/base/text.h"
#include "predictor/job/array_tasks.h"

namespace dlcast {

const char* const sacct_command =
    "SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 --starttime=... --format="
    "JobID,User,Account,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,NNodes,ReqTRES,AllocTRES,AdminComment";
const char* const squeue_command =
    "(echo \"JobID|User|Account|Partition|State|TimeLimit|Time|SubmitTime|StartTime|NumNodes|TRES|AdminComment\"; "
    "SLURM_TIME_FORMAT=%s squeue --all --array --noheader --Format=\"JobArrayID:0|,UserName:0|,Account:0|,Partition:0|,"
    "State:0|,TimeLimit:0|,TimeUsed:0|,SubmitTime:0|,StartTime:0|,NumNodes:0|,tres-alloc:0|,admin_comment:0\")";
const char* const squeue_header =
    "JobID\x1fUser\x1f"
    "Account\x1fPartition\x1fState\x1fTimeLimit\x1fTime\x1fSubmitTime\x1fStartTime\x1fNumNodes\x1f"
    "TRES\x1f"
    "AdminComment";

namespace {

enum SacctColumn {
    job_id,
    user,
    account,
    partition,
    state,
    submit,
    start,
    end,
    elapsed,
    limit,
    nodes,
    req,
    alloc,
    text
};

const std::vector<SlurmColumn> sacct_columns{{{"JobID"}, true},
                                             {{"User"}, false},
                                             {{"Account"}, true},
                                             {{"Partition"}, true},
                                             {{"State"}, true},
                                             {{"Submit"}, false},
                                             {{"Start"}, true},
                                             {{"End"}, true},
                                             {{"ElapsedRaw", "Elapsed"}, true},
                                             {{"TimelimitRaw", "Timelimit"}, true},
                                             {{"NNodes"}, false},
                                             {{"ReqTRES"}, false},
                                             {{"AllocTRES"}, true},
                                             {{"AdminComment"}, false}};

enum SqueueColumn {
    q_id,
    q_user,
    q_account,
    q_partition,
    q_state,
    q_limit,
    q_time,
    q_submit,
    q_start,
    q_nodes,
    q_tres,
    q_text
};

const std::vector<SlurmColumn> squeue_columns{{{"JobID", "JobArrayID"}, true},
                                              {{"User", "UserName"}, false},
                                              {{"Account"}, true},
                                              {{"Partition"}, true},
                                              {{"State", "StateLong"}, true},
                                              {{"TimeLimit", "Time_Limit"}, true},
                                              {{"Time", "TimeUsed"}, true},
                                              {{"SubmitTime", "Submit_Time"}, false},
                                              {{"StartTime", "Start_Time"}, true},
                                              {{"NumNodes", "Nodes"}, false},
                                              {{"TRES", "tres-alloc", "tres_alloc"}, true},
                                              {{"AdminComment", "Admin_Comment"}, false}};

// "12_[0-50:2%1]" stands for 26 tasks; every other number for one. Nothing where it is no job's number.
std::optional<std::int32_t> tasks_of(std::string_view id) {
    if (id.empty() || id.front() < '0' || id.front() > '9') return std::nullopt;
    const auto open = id.find('[');
    if (open == std::string_view::npos) return 1;
    const auto close = id.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    const auto tasks = count_array_tasks(id.substr(open + 1, close - open - 1));
    if (!tasks || *tasks < 1) return std::nullopt;
    return static_cast<std::int32_t>(*tasks);
}

std::optional<std::int64_t> limit_of(std::string_view text) {
    if (text == "UNLIMITED") return no_limit;
    if (text.empty() || text == "Partition_Limit" || text == "NOT_SET" || text == "INVALID" || text == "N/A")
        return unknown_limit;
    return parse_slurm_seconds(text, 60);
}

void set_tres(JobRun& run, std::string_view list, Names& names) {
    const JobTres tres = parse_job_tres(list);
    run.gpus = static_cast<std::int32_t>(std::lround(std::min(tres.gpus, 1e9)));
    run.gpu = names.id(tres.gpu);
    run.billing = static_cast<float>(tres.billing);
    if (run.nodes == 0) run.nodes = static_cast<std::int32_t>(std::min(tres.nodes, 1e9));
}

// Of a job whose TRES name no type, the forecast knows the GPU.
void count_comment(JobRun& run, SkippedRows& skipped) {
    if (run.gpu == 0 && run.gpus > 0 && run.has_forecast()) run.gpu = run.forecast_gpu;
    if (run.comment == CommentKind::foreign) ++skipped.foreign_comments;
    if (run.comment == CommentKind::broken) ++skipped.broken_comments;
}

std::int32_t node_count(std::string_view text) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(parse_integer(text).value_or(0), 1'000'000'000));
}

// What is wrong with a row; empty: nothing.
using Fields = std::vector<std::string_view>;

std::string from_sacct(const Fields& f, Names& names, Calendar& calendar, JobRun& run, RunKey& key) {
    const auto tasks = tasks_of(f[job_id]);
    if (!tasks) return fmt::format("\"{}\" is no job number", one_line(f[job_id], 40));
    const auto elapsed_s = parse_slurm_seconds(f[elapsed], 1);
    if (!elapsed_s) return fmt::format("Elapsed \"{}\" is no time", one_line(f[elapsed], 40));
    const auto limit_s = limit_of(f[limit]);
    if (!limit_s) return fmt::format("Timelimit \"{}\" is no time", one_line(f[limit], 40));
    run.tasks = *tasks;
    run.state = parse_run_state(f[state]);
    run.elapsed_s = *elapsed_s;
    run.limit_s = *limit_s;
    run.submit_s = calendar.parse(f[submit]).value_or(0);
    run.start_s = calendar.parse(f[start]).value_or(0);
    if (run.state != RunState::pending && run.state != RunState::running) {
        const auto times = calendar.parse_run(f[start], f[end], run.elapsed_s);
        run.end_s = calendar.parse(f[end]).value_or(0);
        if (times) std::tie(run.start_s, run.end_s) = *times;
        if (run.elapsed_s > 0 && !times)
            return fmt::format("Start \"{}\" or End \"{}\" of a run that ended is no moment", one_line(f[start], 40),
                               one_line(f[end], 40));
    }
    run.nodes = node_count(f[nodes]);
    // Before it runs a job has no allocation.
    set_tres(run, f[alloc].empty() ? f[req] : f[alloc], names);
    run.account = names.id(f[account]);
    run.user = names.id(f[user]);
    run.partition = names.id(f[partition]);
    run.job = std::hash<std::string_view>{}(f[job_id]);
    key = {std::string(f[job_id]), run.submit_s};
    read_comment(f[text], names, run);
    return "";
}

std::string from_squeue(const Fields& f, Names& names, Calendar& calendar, JobRun& run, RunKey& key) {
    const auto tasks = tasks_of(f[q_id]);
    if (!tasks) return fmt::format("\"{}\" is no job number", one_line(f[q_id], 40));
    const auto limit_s = limit_of(f[q_limit]);
    if (!limit_s) return fmt::format("TimeLimit \"{}\" is no time", one_line(f[q_limit], 40));
    run.tasks = *tasks;
    run.state = parse_run_state(f[q_state]);
    run.elapsed_s = parse_slurm_seconds(f[q_time], 1).value_or(0);
    run.limit_s = *limit_s;
    run.submit_s = calendar.parse(f[q_submit]).value_or(0);
    run.start_s = calendar.parse(f[q_start]).value_or(0);
    run.nodes = node_count(f[q_nodes]);
    set_tres(run, f[q_tres], names);
    run.account = names.id(f[q_account]);
    run.user = names.id(f[q_user]);
    // Of "t4,a100" the job gets one; until then it stands under what was asked.
    run.partition = names.id(f[q_partition]);
    run.job = std::hash<std::string_view>{}(f[q_id]);
    key = {std::string(f[q_id]), run.submit_s};
    read_comment(f[q_text], names, run);
    return "";
}

template <typename Convert>
Status read_rows(Result<SlurmTable> opened, Names& names, Calendar& calendar, SkippedRows& skipped, Convert convert,
                 const std::function<void(const JobRun&, const RunKey&)>& use) {
    if (!opened) return opened.error();
    SlurmTable& table = *opened;
    Fields fields;
    RunKey key;
    while (true) {
        const auto got = table.next(fields);
        if (!got) return got.error();
        if (!*got) break;
        if (fields[0].find('.') != std::string_view::npos) {
            ++skipped.steps;
            continue;
        }
        JobRun run;
        const std::string fault = convert(fields, names, calendar, run, key);
        if (!fault.empty()) {
            if (skipped.unreadable++ == 0)
                skipped.first_unreadable =
                    fmt::format("{}: job {}: {}", table.source(), one_line(fields[0], 40), fault);
            continue;
        }
        count_comment(run, skipped);
        use(run, key);
    }
    if (skipped.broken_lines == 0 && table.broken_lines() > 0)
        skipped.first_broken = fmt::format("{}:{}", table.source(), table.first_broken_line());
    skipped.broken_lines += table.broken_lines();
    return ok();
}

}  // namespace

std::optional<std::int64_t> parse_slurm_seconds(std::string_view text, std::int64_t unit_s) {
    constexpr std::int64_t most = 100LL * 366 * 86'400;
    if (const auto number = parse_integer(text)) {
        if (*number > most / unit_s) return std::nullopt;
        return *number * unit_s;
    }
    std::int64_t days = 0;
    if (const auto dash = text.find('-'); dash != std::string_view::npos) {
        const auto number = parse_integer(text.substr(0, dash));
        if (!number || *number > most / 86'400) return std::nullopt;
        days = *number;
        text.remove_prefix(dash + 1);
    }
    text = text.substr(0, text.find('.'));  // sacct's fractions of a second
    std::int64_t out = 0;
    int parts = 0;
    for (const std::string& part : split(text, ':')) {
        const auto number = parse_integer(part);
        if (!number || *number > most || ++parts > 3) return std::nullopt;
        out = out * 60 + *number;
    }
    if (parts < 2) return std::nullopt;
    return days * 86'400 + out;
}

std::vector<std::string> sacct_arguments(const std::string& begin, const std::string& end) {
    return {"sacct",
            "--allusers",
            "--allocations",
            "--duplicates",
            "--parsable2",
            "--delimiter=\x1f",
            "--starttime=" + begin,
            "--endtime=" + end,
            "--format=JobID,User,Account,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,NNodes,ReqTRES,"
            "AllocTRES,AdminComment"};
}

std::vector<std::string> squeue_arguments() {
    return {"squeue", "--all", "--array", "--noheader",
            "--Format=JobArrayID:0\x1f,UserName:0\x1f,Account:0\x1f,Partition:0\x1f,State:0\x1f,TimeLimit:0\x1f,"
            "TimeUsed:0\x1f,SubmitTime:0\x1f,StartTime:0\x1f,NumNodes:0\x1f,tres-alloc:0\x1f,admin_comment:0"};
}

Status read_sacct(LineReader lines, Names& names, Calendar& calendar, SkippedRows& skipped,
                  const std::function<void(const JobRun&, const RunKey&)>& use) {
    return read_rows(SlurmTable::open(std::move(lines), sacct_columns, fmt::format("`{}`", sacct_command)), names,
                     calendar, skipped, from_sacct, use);
}

Status read_squeue(LineReader lines, Names& names, Calendar& calendar, SkippedRows& skipped,
                   const std::function<void(const JobRun&, const RunKey&)>& use) {
    return read_rows(SlurmTable::open(std::move(lines), squeue_columns, fmt::format("`{}`", squeue_command)), names,
                     calendar, skipped, from_squeue, use);
}

}  // namespace dlcast
