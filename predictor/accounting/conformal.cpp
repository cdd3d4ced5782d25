// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/accounting/conformal.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "predictor/accounting/remaining.h"
#include "predictor/step/quantile.h"

namespace dlcast {

Score score_of(const JobRun& run) {
    const double log_sd = std::max(log_sd_of(run.p50_s, run.p95_s), least_log_sd);
    return {std::log(static_cast<double>(run.elapsed_s) / run.p50_s) / log_sd, run.state == RunState::timeout};
}

std::optional<double> conformal_margin(std::vector<Score> scores, double kill_rate) {
    const auto n = static_cast<double>(scores.size());
    if (n < (1 - kill_rate) / kill_rate - 1e-9) return std::nullopt;
    std::sort(scores.begin(), scores.end(),
              [](const Score& a, const Score& b) { return a.z != b.z ? a.z < b.z : a.killed < b.killed; });
    // Of n + 1 exchangeable jobs the new one is above the k-th of the others with probability 1 - k / (n + 1).
    const double wanted = kill_rate - (1 - kill_rate) / n + 1e-12;
    double above = 1.0;  // Kaplan and Meier's share of jobs beyond z
    double median = 0.0, last = 0.0, last_above = 1.0;
    bool has_median = false;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (scores[i].killed) continue;
        above *= 1.0 - 1.0 / static_cast<double>(scores.size() - i);
        last = scores[i].z, last_above = above;
        if (!has_median && above <= 0.5) median = last, has_median = true;
        if (above <= wanted) return last;
    }
    if (!has_median) return std::nullopt;
    const double steps = normal_quantile(1 - last_above);  // normal scores between the median and the last one seen
    const double slope = steps > 1e-3 ? (last - median) / steps : 1.0;
    return std::max(last, median + slope * normal_quantile(1 - kill_rate));
}

std::int64_t least_group_jobs(double kill_rate) { return static_cast<std::int64_t>(std::ceil(5 / kill_rate - 1e-9)); }

Margins calibrate(const std::vector<const JobRun*>& runs, const Names& names, double kill_rate, std::int64_t now_s) {
    Names classes;
    std::map<Names::Id, Names::Id> class_of;
    for (const JobRun* run : runs)
        if (class_of.count(run->model) == 0) class_of[run->model] = classes.id(model_class(names.at(run->model)));
    Margins out;
    out.kill_rate = kill_rate;
    out.calibrated_at_s = now_s;
    // One kind of groups after the other: a million scores need not be held four times.
    for (const auto& [by_partition, by_class] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
        std::map<std::pair<Names::Id, Names::Id>, std::vector<Score>> groups;
        for (const JobRun* run : runs)
            if (is_judged(*run))
                groups[{by_partition ? run->partition : 0, by_class ? class_of.at(run->model) : 0}].push_back(
                    score_of(*run));
        for (auto& [key, scores] : groups) {
            const auto jobs = static_cast<std::int64_t>(scores.size());
            if ((by_partition || by_class) && jobs < least_group_jobs(kill_rate)) continue;
            if (const auto margin = conformal_margin(std::move(scores), kill_rate))
                out.rows.push_back({names.at(key.first), classes.at(key.second), jobs, *margin});
        }
    }
    return out;
}

}  // namespace dlcast
