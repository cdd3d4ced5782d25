// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/step_factor.h"

#include <cmath>
#include <map>
#include <utility>

namespace dlcast {
namespace {

// Standard deviations of the parts, log units. Public steps err by 0.15 to 0.2 on a GPU or kind of model left out, half
// of it in common (step_anchor.cpp); runs of one job differ by a tenth.
constexpr double gpu_sd = 0.2, family_sd = 0.12, model_sd = 0.08, run_sd = 0.1;

// Expectation of a normal effect with prior variance `prior`, from the precision and precision-weighted sum of what it
// was seen through.
double shrunk(double prior, double precision, double weighted_sum) { return weighted_sum / (1.0 / prior + precision); }

// Beyond three of them, the same from several models, a device is none of those that gpu_sd was read off (a CPU, on
// which no public step was measured): then as far as it is.
double sd_of_gpu(double mean, int cases) { return cases >= 2 && std::abs(mean) > 3 * gpu_sd ? std::abs(mean) : gpu_sd; }

struct Family {
    double precision = 0.0, weighted_sum = 0.0;
    int cases = 0;
};

}  // namespace

std::vector<StepFactor> fit_step_factors(const std::vector<StepRatio>& ratios) {
    std::map<std::string, std::map<std::string, Family>> gpus;
    for (const StepRatio& ratio : ratios) {
        const double variance = model_sd * model_sd + run_sd * run_sd / ratio.runs;
        Family& family = gpus[ratio.gpu][ratio.family];
        family.precision += 1.0 / variance;
        family.weighted_sum += ratio.log_ratio / variance;
        ++family.cases;
    }
    std::vector<StepFactor> out;
    for (const auto& [gpu, families] : gpus) {
        // A family's mean is the GPU's effect with the variance of the family's own and of its models.
        double precision = 0.0, weighted_sum = 0.0;
        int cases = 0;
        for (const auto& [name, family] : families) {
            const double variance = family_sd * family_sd + 1.0 / family.precision;
            precision += 1.0 / variance;
            weighted_sum += family.weighted_sum / family.precision / variance;
            cases += family.cases;
        }
        const double sd = sd_of_gpu(weighted_sum / precision, cases);
        const double own = shrunk(sd * sd, precision, weighted_sum);
        out.push_back({gpu, "", own, cases});
        for (const auto& [name, family] : families) {
            const double rest = family.weighted_sum - family.precision * own;
            if (!name.empty())
                out.push_back({gpu, name, shrunk(family_sd * family_sd, family.precision, rest), family.cases});
        }
    }
    return out;
}

double step_factor(const std::vector<StepFactor>& factors, std::string_view gpu, std::string_view family) {
    double log_factor = 0.0;
    for (const StepFactor& factor : factors)
        if (factor.gpu == gpu && (factor.family.empty() || factor.family == family)) log_factor += factor.log_factor;
    return std::exp(log_factor);
}

}  // namespace dlcast
