// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/job_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dlcast {

std::vector<std::string> job_environment(const Workload& workload, const Candidate& candidate, const SiteConfig& site,
                                         std::int64_t limit_min) {
    std::vector<std::string> out;
    const auto put = [&out](const char* name, double value) {
        if (std::isfinite(value) && value >= 0) out.push_back(fmt::format("DLCAST_{}={:.0f}", name, std::ceil(value)));
    };
    const JobForecast& job = *candidate.job;
    put("FORECAST_P50_S", job.p50_s);
    put("FORECAST_P95_S", job.p95_s);
    put("STARTUP_S", job.startup_s);
    out.push_back(fmt::format("DLCAST_STEP_S={:.6g}", candidate.step.step_s));
    if (limit_min > 0) put("LIMIT_S", static_cast<double>(limit_min) * 60);
    if (workload.dataset.samples <= 0 || candidate.step.samples_per_step <= 0 || job.steps <= 0) return out;
    const double steps = std::ceil(static_cast<double>(workload.dataset.samples) / candidate.step.samples_per_step);
    const double epoch_s = steps / job.steps * (job.training_s + job.validation_s);
    put("EPOCH_S", epoch_s);
    if (limit_min <= 0 || epoch_s <= 0 || job.p50_s <= 0) return out;
    const double slow = job.quantile_s(site.quantile) / job.p50_s;
    const double fit = std::floor((static_cast<double>(limit_min) * 60 - slow * job.startup_s) / (slow * epoch_s));
    if (std::isfinite(fit) && fit < 1e9) out.push_back(fmt::format("DLCAST_EPOCHS_FIT={:.0f}", std::max(0.0, fit)));
    return out;
}

}  // namespace dlcast
