// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refine_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/counted.h"
#include "cli/job_rows.h"
#include "predictor/base/text.h"
#include "predictor/model/workload.h"

namespace dlcast {
namespace {

// Start-up and tail weigh less than a tenth of longer jobs.
constexpr double shortest_s = 300.0;
constexpr std::size_t longest_name = 80;

// What models are called in forecasts, looked up once each.
class Models {
public:
    struct Known {
        std::string family, identity;
    };
    const Known& of(const std::string& model) {
        const auto [found, is_new] = known_.try_emplace(model);
        if (!is_new) return found->second;
        const auto names = zoo_names();
        if (std::find(names.begin(), names.end(), model) == names.end())
            return found->second;  // a user's own; a file of this name here would be another
        if (const auto declaration = read_model_argument(model))
            if (const auto workload = to_workload(*declaration))
                found->second = {workload->model.family, model_identity(workload->model)};
        return found->second;
    }

private:
    std::map<std::string, Known> known_;
};

double median(std::vector<double>& values) {
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), half, values.end());
    return *half;
}

// Standard deviation of a normal distribution with this median distance from the median; the usual one of too few.
double scatter(const std::vector<double>& values, double middle) {
    constexpr double normal = 1.4826;
    constexpr std::size_t fewest = 3;
    if (values.size() < fewest) return usual_run_log_sd;
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::fabs(value - middle));
    return std::max(usual_run_log_sd, normal * median(distances));
}

}  // namespace

Result<JobRatios> job_ratios(const AccountingOptions& accounting, const std::string& weights_id,
                             const std::vector<StepFactor>& in_force, const DeviceCatalog& catalog) {
    Calendar calendar;
    const auto window = window_of(accounting, calendar);
    if (!window) return window.error();
    auto lines = open_sacct(accounting, *window, calendar);
    if (!lines) return lines.error();
    Names names;
    SkippedRows skipped;
    const RunFilter filter(accounting, names);
    const Names::Id ours = names.id(weights_id);
    std::size_t other_weights = 0, used = 0;
    std::map<std::pair<Names::Id, Names::Id>, std::vector<double>> logs;  // by GPU and model
    const auto keep = [&](const JobRun& run, const RunKey&) {
        const bool clean = run.state == RunState::completed && is_judged(run) && run.elapsed_s > 0;
        if (!clean || !filter(run.account, run.user, run.partition) || run.end_s < window->begin_s ||
            run.end_s >= window->end_s || run.p50_s < shortest_s)
            return;
        if (run.weights != ours) {
            ++other_weights;
            return;
        }
        ++used;
        logs[{run.forecast_gpu, run.model}].push_back(std::log(static_cast<double>(run.elapsed_s) / run.p50_s));
    };
    if (auto s = read_sacct(std::move(*lines), names, calendar, skipped, keep); !s) return s.error();

    JobRatios out;
    Models models;
    for (auto& [key, ratios] : logs) {
        std::string assumed;
        const auto device = catalog.find_or_typical(names.at(key.first), assumed);
        if (!device) {
            out.notes.push_back(fmt::format("{} on '{}' {} left out: {}", counted(ratios.size(), "job"),
                                            names.at(key.first), ratios.size() == 1 ? "is" : "are",
                                            device.error().message));
            continue;
        }
        const auto& [family, model] = models.of(names.at(key.second));
        const double earlier = std::log(step_factor(in_force, device->name, family, model));
        const double middle = median(ratios);
        const std::string what = fmt::format("{} of {} on {}", counted(ratios.size(), "job"),
                                             one_line(names.at(key.second), longest_name), device->name);
        if (std::fabs(middle + earlier) > std::log(largest_ratio)) {
            out.notes.push_back(
                fmt::format("{}: left out, {:.3g} times their forecast in the median. Check the GPU's peak "
                            "figures in its entry "
                            "of gpus.toml, or what the jobs did beside training",
                            what, std::exp(middle)));
            continue;
        }
        out.ratios.push_back({device->name, family, model, middle + earlier, static_cast<int>(ratios.size()),
                              scatter(ratios, middle), what});
    }
    out.notes.push_back(counted(used, "finished job"));
    if (other_weights > 0)
        out.notes.push_back(fmt::format("{} more {} forecast by other weights than {} and {} left out", other_weights,
                                        other_weights == 1 ? "was" : "were", weights_id,
                                        other_weights == 1 ? "is" : "are"));
    return out;
}

}  // namespace dlcast
