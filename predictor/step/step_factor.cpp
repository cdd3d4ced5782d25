// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "predictor/model/layer.h"

namespace dlcast {
namespace {

// Standard deviations of the parts, log units. Public steps err by 0.15 to 0.2 on a GPU or kind of model left out, half
// of it in common (step_anchor.cpp); runs of one job differ by a tenth.
constexpr double gpu_sd = 0.2, family_sd = 0.12, model_sd = 0.08;

// Beyond three of them, the same from several models, a device is none of those that gpu_sd was read off (a CPU, on
// which no public step was measured): then as far as it is.
double sd_of_gpu(double mean, int cases) { return cases >= 2 && std::abs(mean) > 3 * gpu_sd ? std::abs(mean) : gpu_sd; }

// What was seen of a sum of parts: through each ratio below it, weighed by its precision (1 / variance).
struct Seen {
    double precision = 0.0, weighted_sum = 0.0;
    int cases = 0;

    double mean() const { return weighted_sum / precision; }
    void add(double value, double variance, int of_cases) {
        precision += 1.0 / variance;
        weighted_sum += value / variance;
        cases += of_cases;
    }
};

// A part of a sum that was seen, where the parts above it are known to be `above`, with the variance `above_variance`:
// its expectation, and the variance of the sum.
struct Part {
    double value, sum_variance;
};
Part part_of(const Seen& seen, double prior_sd, double above, double above_variance) {
    const double prior = 1.0 / (prior_sd * prior_sd), kept = prior / (prior + seen.precision);
    return {(seen.weighted_sum - seen.precision * above) / (prior + seen.precision),
            1.0 / (prior + seen.precision) + kept * kept * above_variance};
}

// The cases of one model.
struct Model {
    Seen seen;
    double scatter_variance = 0.0;  // of runs to come, beyond what runs usually differ by

    explicit Model(const std::vector<StepRatio>& cases, bool is_one) {
        for (const StepRatio& r : cases) seen.add(r.log_ratio, variance_of(r), 1);
        if (!is_one) return;
        double chi2 = 0.0;
        for (const StepRatio& r : cases) {
            const double weight = 1.0 / variance_of(r), stray = r.log_ratio - seen.mean();
            chi2 += weight * stray * stray;
            const double beyond = std::max(0.0, r.run_log_sd * r.run_log_sd - usual_run_log_sd * usual_run_log_sd);
            scatter_variance += weight / seen.precision * beyond;
        }
        const double stretch = std::max(1.0, (expected_cases + chi2) / (expected_cases + seen.cases - 1.0));
        seen.precision /= stretch;
        seen.weighted_sum /= stretch;
        scatter_variance += (stretch - 1.0) * measured_step_log_sd * measured_step_log_sd;
    }

private:
    static constexpr double expected_cases = 2.0;
    static double variance_of(const StepRatio& r) { return r.run_log_sd * r.run_log_sd / r.runs; }
};

struct Family {
    Seen seen;
    std::map<std::string, Model> models;
};

// Ratios of models, collected upwards: a model's mean is the family's sum with the variance of the model's own part.
std::map<std::string, std::map<std::string, Family>> collected(const std::vector<StepRatio>& ratios) {
    std::map<std::string, std::map<std::string, std::map<std::string, std::vector<StepRatio>>>> cases;
    for (const StepRatio& r : ratios) {
        const std::string& kind = r.family.empty() ? "\n" + r.model : r.family;  // no family has a line end in it
        cases[r.gpu][kind][r.model].push_back(r);
    }
    std::map<std::string, std::map<std::string, Family>> gpus;
    for (const auto& [gpu, families] : cases)
        for (const auto& [kind, models] : families) {
            Family& family = gpus[gpu][kind];
            for (const auto& [name, own] : models) {
                const Model& model = family.models.try_emplace(name, own, !name.empty()).first->second;
                family.seen.add(model.seen.mean(), model_sd * model_sd + 1.0 / model.seen.precision, model.seen.cases);
            }
        }
    return gpus;
}

bool is_of(const StepFactor& factor, std::string_view gpu, std::string_view family, std::string_view model) {
    if (factor.gpu != gpu) return false;
    if (factor.model.empty()) return factor.family.empty() || factor.family == family;
    return factor.model == model && factor.family == family;
}

}  // namespace

std::string model_identity(const ModelSpec& model) {
    return fmt::format("{}, {} parameters", model.name, model.parameters);
}

std::vector<StepFactor> fit_step_factors(const std::vector<StepRatio>& ratios) {
    std::vector<StepFactor> out;
    for (const auto& [gpu, families] : collected(ratios)) {
        Seen seen;
        for (const auto& [kind, family] : families)
            seen.add(family.seen.mean(), family_sd * family_sd + 1.0 / family.seen.precision, family.seen.cases);
        const double sd = sd_of_gpu(seen.mean(), seen.cases);
        const Part own = part_of(seen, sd, 0.0, 0.0);
        out.push_back({gpu, "", own.value, seen.cases});
        constexpr double again = measured_step_log_sd * measured_step_log_sd;  // of the run that is forecast
        const double prior_variance = gpu_sd * gpu_sd + family_sd * family_sd + model_sd * model_sd;
        for (const auto& [kind, family] : families) {
            const bool named = kind.front() != '\n';
            const Part part = part_of(family.seen, family_sd, own.value, own.sum_variance);
            if (named) out.push_back({gpu, kind, part.value, family.seen.cases});
            for (const auto& [name, model] : family.models) {
                if (name.empty()) continue;
                const Part rest = part_of(model.seen, model_sd, own.value + part.value, part.sum_variance);
                out.push_back({gpu, named ? kind : "", rest.value + (named ? 0.0 : part.value), model.seen.cases, name,
                               std::sqrt(std::min(1.0, (rest.sum_variance + again) / prior_variance)),
                               std::sqrt(model.scatter_variance)});
            }
        }
    }
    return out;
}

double step_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                   std::string_view model) {
    double log_factor = 0.0;
    for (const StepFactor& factor : factors)
        if (is_of(factor, gpu, family, model)) log_factor += factor.log_factor;
    return std::exp(log_factor);
}

const StepFactor* model_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                               std::string_view model) {
    for (const StepFactor& factor : factors)
        if (!factor.model.empty() && is_of(factor, gpu, family, model)) return &factor;
    return nullptr;
}

double refined_log_sd(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family,
                      std::string_view model, double log_sd) {
    const StepFactor* own = model_factor(factors, gpu, family, model);
    return own == nullptr ? log_sd : std::hypot(own->spread_share * log_sd, own->scatter_log_sd);
}

}  // namespace dlcast
