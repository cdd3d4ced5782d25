// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/remedy.h"

#include <fmt/format.h>

#include <cmath>

namespace dlcast {

std::string time_remedy(const Workload& workload, const JobForecast& job, const SiteConfig& site, std::int64_t cap_min,
                        const char* unit) {
    const double all_s = job.quantile_s(site.quantile) - job.startup_s;
    const double held_s = static_cast<double>(cap_min) * 60 - job.startup_s;
    std::string out = fmt::format("take more {}s", unit);
    if (held_s <= 0 || all_s <= 0) return out;
    const double share = held_s / all_s;
    if (share < 1 && share > 1e-4)
        out += fmt::format(", or chain {:.0f} jobs that resume from checkpoints", std::ceil(1 / share));
    if (workload.training.epochs && *workload.training.epochs * share >= 1)
        out += fmt::format(", or train {:.0f} epochs", std::floor(*workload.training.epochs * share));
    else if (workload.training.steps && static_cast<double>(*workload.training.steps) * share >= 1)
        out +=
            fmt::format(", or train {:.0f} steps", std::floor(static_cast<double>(*workload.training.steps) * share));
    return out;
}

}  // namespace dlcast
