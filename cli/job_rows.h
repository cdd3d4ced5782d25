// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of sacct and squeue as JobRuns.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/slurm_table.h"
#include "predictor/accounting/calendar.h"
#include "predictor/accounting/job_run.h"

namespace dlcast {

/// Rows that could not be used, and why.
struct SkippedRows {
    std::size_t broken_lines = 0;  // cut off, or pieces of comments with line breaks
    std::string first_broken;      // "sacct.txt:17"
    std::size_t unreadable = 0;    // a job number, time or count that is none
    std::string first_unreadable;  // "sacct.txt:17: ..."
    std::size_t steps = 0;         // rows of job steps
    std::size_t runaway = 0;       // running or pending for sacct, unknown to squeue
    std::size_t foreign_comments = 0, broken_comments = 0;
    // Jobs without GPUs, which are in no sum of GPU-hours; those of them with a forecast.
    std::int64_t cpu_jobs = 0, cpu_forecasts = 0;
    void add_cpu(const JobRun& run) {
        cpu_jobs += run.tasks;
        if (run.has_forecast()) cpu_forecasts += run.tasks;
    }
};

/// The commands whose output is read, as a shell takes them.
extern const char* const sacct_command;
extern const char* const squeue_command;
/// The same as arguments, to be run here.
std::vector<std::string> sacct_arguments(const std::string& begin, const std::string& end);
std::vector<std::string> squeue_arguments();
/// The header that belongs to squeue_arguments, whose own names do not tell columns apart.
extern const char* const squeue_header;

/// What tells one run of a job from its other runs: the number and the moment of submission.
struct RunKey {
    std::string job;
    std::int64_t submit_s = 0;
    bool operator==(const RunKey&) const = default;
};

/// Calls `use` with each run of a sacct table, steps aside. Errors: those of the table; a missing column.
Status read_sacct(LineReader lines, Names& names, Calendar& calendar, SkippedRows& skipped,
                  const std::function<void(const JobRun&, const RunKey&)>& use);
/// The same for squeue, whose rows all are pending or running.
Status read_squeue(LineReader lines, Names& names, Calendar& calendar, SkippedRows& skipped,
                   const std::function<void(const JobRun&, const RunKey&)>& use);

/// Seconds of "90" (of `unit_s` each) or of "1-02:03:04", "02:03", "02:03.500"; nothing where it is neither.
std::optional<std::int64_t> parse_slurm_seconds(std::string_view text, std::int64_t unit_s);

}  // namespace dlcast
