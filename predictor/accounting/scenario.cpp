// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/scenario.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "predictor/step/quantile.h"

namespace dlcast {
namespace {

std::int64_t longest_limit_s(const std::vector<TraceJob>& jobs) {
    std::int64_t out = 0;
    for (const TraceJob& job : jobs) out = std::max({out, job.own_limit_s, job.run_s});
    return out;
}

}  // namespace

const char* to_string(LimitKind kind) {
    if (kind == LimitKind::users) return "users";
    return kind == LimitKind::dlcast ? "dlcast" : "soft";
}

void make_up_forecasts(std::vector<TraceJob>& jobs, const MadeUpForecasts& how) {
    const double log_sd = std::sqrt(std::log1p(how.rel_sd * how.rel_sd));
    const double margin = std::exp(normal_quantile(1 - how.kill_rate) * log_sd);
    std::mt19937_64 dice(how.seed);
    for (TraceJob& job : jobs) {
        // The library's own normal law differs from one library to the next.
        const double u = (static_cast<double>(dice() >> 11) + 0.5) / 9007199254740992.0;
        if (job.p50_s >= 0) continue;
        const double p50_s = static_cast<double>(job.run_s) * std::exp(log_sd * normal_quantile(u));
        job.p50_s = static_cast<std::int64_t>(std::llround(std::max(1.0, p50_s)));
        const double step_s = static_cast<double>(std::max<std::int64_t>(1, how.round_up_s));
        job.dlcast_limit_s = static_cast<std::int64_t>(std::ceil(p50_s * margin / step_s) * step_s);
    }
}

SimulationResult run_scenario(const TracePool& pool, LimitKind kind) {
    const std::int64_t longest_s = longest_limit_s(pool.jobs);
    std::vector<SimulatedJob> jobs;
    jobs.reserve(pool.jobs.size());
    for (const TraceJob& job : pool.jobs) {
        const bool ours = kind != LimitKind::users && job.dlcast_limit_s > 0;
        SimulatedJob out{job.submit_s, job.run_s,    0, ours ? job.dlcast_limit_s : job.own_limit_s,
                         job.size,     job.timed_out};
        // Slurm ends jobs a little late.
        if (job.timed_out && out.limit_s >= 0 && out.limit_s == job.own_limit_s) out.run_s = out.limit_s;
        out.planned_s = out.limit_s >= 0 ? out.limit_s : longest_s;
        if (ours && kind == LimitKind::soft && job.p50_s > 0) out.planned_s = std::min(job.p50_s, out.planned_s);
        jobs.push_back(out);
    }
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const SimulatedJob& a, const SimulatedJob& b) { return a.submit_s < b.submit_s; });
    return simulate_easy(jobs, pool.capacity);
}

std::int64_t most_in_use(const std::vector<TraceJob>& jobs, const std::vector<std::int64_t>& start_s) {
    std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // ends before begins of the same second
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        changes.emplace_back(start_s[i], jobs[i].size);
        changes.emplace_back(start_s[i] + jobs[i].run_s, -static_cast<std::int64_t>(jobs[i].size));
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t now = 0, most = 0;
    for (const auto& [moment, change] : changes) most = std::max(most, now += change);
    return most;
}

}  // namespace dlcast
