// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/counted.h"
#include "predictor/accounting/outcome.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Fields of a line of SWF, from 1 as the format counts them. Source: D. Feitelson, "The Standard Workload Format",
// version 2.2.
constexpr std::size_t swf_fields = 18;
enum Swf : std::size_t {
    swf_submit = 1,
    swf_run = 3,
    swf_processors = 4,
    swf_asked_processors = 7,
    swf_asked_time = 8
};
constexpr double largest = 1e15;

bool read_numbers(std::string_view line, std::array<double, swf_fields>& out) {
    for (double& number : out) {
        line = trim(line);
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
        if (error != std::errc() || !(number < largest && number > -largest)) return false;
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    }
    return true;
}

// "; MaxProcs: 128" -> 128; 0 where the comment says something else.
std::int64_t header_count(std::string_view line, std::string_view name) {
    line = trim(line.substr(1));
    if (!line.starts_with(name)) return 0;
    line = trim(line.substr(name.size()));
    return line.starts_with(":") ? parse_integer(trim(line.substr(1))).value_or(0) : 0;
}

Status read_swf(LineReader lines, Trace& out) {
    TracePool& pool = out.pools[""];
    std::int64_t processors = 0, nodes = 0;
    std::string_view line;
    while (true) {
        const auto got = lines.next(line);
        if (!got) return got.error();
        if (!*got) break;
        if (trim(line).empty()) continue;
        if (line.front() == ';') {
            processors = std::max(processors, header_count(line, "MaxProcs"));
            nodes = std::max(nodes, header_count(line, "MaxNodes"));
            continue;
        }
        std::array<double, swf_fields> f{};
        if (!read_numbers(line, f))
            return invalid_argument(
                fmt::format("{}:{}: \"{}\" is no row of a Standard Workload Format file, which has 18 "
                            "numbers; sacct's output begins with a row of names",
                            lines.source(), lines.line(), one_line(line, 60)));
        const double size = f[swf_processors] > 0 ? f[swf_processors] : f[swf_asked_processors];
        if (!(f[swf_run] > 0) || !(size > 0) || size > 1e9) {
            ++out.left_out;
            continue;
        }
        TraceJob job;
        job.submit_s = static_cast<std::int64_t>(f[swf_submit]);
        job.run_s = static_cast<std::int64_t>(f[swf_run]);
        job.size = static_cast<std::int32_t>(size);
        if (f[swf_asked_time] > 0) {
            job.own_limit_s = static_cast<std::int64_t>(f[swf_asked_time]);
            // Archives record when a job was found dead: those at their limit were killed there.
            job.timed_out = job.run_s >= job.own_limit_s;
        }
        pool.jobs.push_back(job);
    }
    pool.capacity = processors > 0 ? processors : nodes;
    return ok();
}

Status read_sacct_trace(LineReader lines, const AccountingOptions& options, Calendar& calendar, Trace& out) {
    Names names;
    SkippedRows skipped;
    const RunFilter filter(options, names);
    std::map<std::string, std::vector<std::int64_t>> starts;
    const auto use = [&](const JobRun& run, const RunKey&) {
        const bool ran = run.state != RunState::pending && run.state != RunState::running && run.elapsed_s > 0;
        if (!ran || run.gpus <= 0 || run.submit_s <= 0 || !filter(run.account, run.user, run.partition)) {
            ++out.left_out;
            return;
        }
        TraceJob job;
        job.submit_s = run.submit_s;
        job.run_s = run.elapsed_s;
        job.size = run.gpus;
        job.own_limit_s = std::max<std::int64_t>(-1, own_limit_s(run, {}));
        job.timed_out = run.state == RunState::timeout;
        if (run.has_forecast())
            job.p50_s = static_cast<std::int64_t>(run.p50_s), job.dlcast_limit_s = run.forecast_limit_s;
        // A job that ended by itself was not over its limit, but seen to end a little later.
        if (!job.timed_out && job.own_limit_s > 0 && !limit_is_ours(run))
            job.run_s = std::min(job.run_s, job.own_limit_s);
        const std::string& partition = names.at(run.partition);
        out.pools[partition].jobs.push_back(job);
        starts[partition].push_back(run.start_s);
    };
    if (auto s = read_sacct(std::move(lines), names, calendar, skipped, use); !s) return s;
    out.left_out += skipped.unreadable + skipped.broken_lines;
    for (auto& [partition, pool] : out.pools) pool.capacity = most_in_use(pool.jobs, starts[partition]);
    return ok();
}

}  // namespace

Result<Trace> read_trace(const std::string& path, const AccountingOptions& options, Calendar& calendar) {
    auto probe = LineReader::open(path);
    if (!probe) return probe.error();
    std::string_view first;
    const auto got = probe->next(first);
    if (!got) return got.error();
    Trace out;
    if (!*got) return invalid_argument(fmt::format("{}: nothing in it; name a trace of jobs", path));
    first = trim(first);
    const bool has_names = !first.empty() && ((first.front() >= 'A' && first.front() <= 'Z') ||
                                              (first.front() >= 'a' && first.front() <= 'z'));
    out.format = has_names ? TraceFormat::sacct : TraceFormat::swf;
    auto lines = LineReader::open(path);
    if (!lines) return lines.error();
    const Status done =
        has_names ? read_sacct_trace(std::move(*lines), options, calendar, out) : read_swf(std::move(*lines), out);
    if (!done) return done.error();
    std::erase_if(out.pools, [](const auto& entry) { return entry.second.jobs.empty(); });
    if (out.pools.empty())
        return invalid_argument(
            fmt::format("{}: none of its {} ran on GPUs or processors", path, counted(out.left_out, "job")));
    return out;
}

}  // namespace dlcast
