// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

// Slurm keeps limits in 32 bits; ten years is beyond any job.
constexpr std::int64_t longest_min = 10LL * 365 * 24 * 60;

// Up to a multiple of round_up_min, from the floor on.
std::int64_t rounded_min(double minutes, const SiteConfig& site) {
    const double step = std::max(1, site.round_up_min);
    const double wanted = std::min(2.0 * longest_min, minutes);
    // A hair below a whole number of steps: 60.000000001 min is not a reason for 75.
    const auto out = static_cast<std::int64_t>(std::ceil(wanted / step - 1e-9) * step);
    return std::max<std::int64_t>({out, site.floor_min, 1});
}

}  // namespace

std::string format_limit(std::int64_t minutes) {
    std::string text = format_slurm_time(minutes * 60);
    if (text.front() == '0' && text.size() == 8) text.erase(0, 1);  // "04:00:00" as people write it
    return text;
}

TimeLimit choose_time_limit(const JobForecast& forecast, const SiteConfig& site, const TimeCap& cap,
                            const Margin* margin) {
    const double quantile_min = forecast.quantile_s(site.quantile) / 60;
    TimeLimit out;
    out.minutes = rounded_min(
        margin ? forecast.p50_s / 60 * margin_factor(*margin, forecast.log_sd) : quantile_min * site.margin_factor,
        site);
    if (margin) out.keeps = fmt::format("kill rate {:.4g} %", site.kill_rate * 100);
    const auto cap_at = [&](std::int64_t cap_min, const std::string& name, const std::string& in_short) {
        if (cap_min <= 0 || out.minutes <= cap_min) return;
        out.minutes = cap_min;
        out.capped_by = in_short;
        out.cap = fmt::format("{} {}", name, format_limit(cap_min));
        out.fits = out.fits && quantile_min <= static_cast<double>(cap_min);
    };
    cap_at(longest_min, "the longest limit given,", "longest limit given");
    cap_at(site.ceiling_min, "site ceiling_min", "site's ceiling_min");
    cap_at(cap.minutes, cap.name, cap.in_short);
    return out;
}

std::int64_t soft_limit_min(const JobForecast& forecast, const SiteConfig& site, std::int64_t limit_min) {
    return std::min(limit_min, rounded_min(forecast.p50_s / 60, site));
}

bool may_set_limit(Overwrite overwrite, std::int64_t asked_min, std::int64_t ours_min) {
    if (asked_min < 0 || overwrite == Overwrite::always) return true;
    if (overwrite == Overwrite::never) return false;
    return asked_min == 0 || ours_min < asked_min;
}

}  // namespace dlcast
