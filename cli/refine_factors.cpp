// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/refined_part.h"
#include "predictor/device/usual_node.h"
#include "predictor/step/step_estimate.h"

namespace dlcast {

namespace {

// Where models of a GPU say nothing of each other: what is `before` of the GPU and kinds of models, and each model's
// own cases for itself.
std::vector<StepFactor> each_for_itself(const std::vector<StepRatio>& own, const std::vector<StepFactor>& before) {
    std::vector<StepFactor> out;
    for (const StepFactor& factor : before)
        if (factor.gpu == own.front().gpu && factor.model.empty()) out.push_back(factor);
    std::map<std::string, std::vector<StepRatio>> by_model;
    for (StepRatio ratio : own) {
        if (ratio.model.empty()) continue;
        ratio.log_ratio -= std::log(step_factor(out, ratio.gpu, ratio.family));
        by_model[ratio.model].push_back(std::move(ratio));
    }
    for (const auto& [model, cases] : by_model) {
        const auto fit = fit_step_factors(cases);
        const std::string &gpu = cases.front().gpu, &family = cases.front().family;
        out.push_back({gpu, family, std::log(step_factor(fit, gpu, family, model)), static_cast<int>(cases.size()),
                       model, step_spread_share(fit, gpu, family, model)});
    }
    return out;
}

// Are they all of one model? Then none of them can be held out to judge what they say of others.
bool of_one_model(const std::vector<StepRatio>& own) {
    return std::all_of(own.begin(), own.end(), [&](const StepRatio& ratio) {
        return !ratio.model.empty() && ratio.model == own.front().model;
    });
}

}  // namespace

std::vector<StepFactor> refine_factors(const std::vector<StepRatio>& ratios, const std::vector<StepFactor>& before,
                                       RefinedErrors& errors) {
    std::map<std::string, std::vector<StepRatio>> by_gpu;
    for (const StepRatio& ratio : ratios) by_gpu[ratio.gpu].push_back(ratio);
    std::vector<StepFactor> out;
    for (const auto& [gpu, own] : by_gpu) {
        if (own.size() < 2) continue;
        RefinedKind sum{.gpu = gpu, .kind = "steps"};
        for (std::size_t i = 0; i < own.size(); ++i) {
            std::vector<StepRatio> others = own;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            // The same model's other cases would speak for it.
            std::erase_if(others, [&](const StepRatio& r) { return !r.model.empty() && r.model == own[i].model; });
            const auto fit = fit_step_factors(others);
            const auto error_pct = [&](const std::vector<StepFactor>& factors) {
                return 100.0 *
                       std::fabs(step_factor(factors, gpu, own[i].family, own[i].model) / std::exp(own[i].log_ratio) -
                                 1.0);
            };
            sum.before_pct += error_pct(before) / static_cast<double>(own.size());
            sum.after_pct += error_pct(fit) / static_cast<double>(own.size());
            sum.rows += own[i].runs;
        }
        sum.held_out = static_cast<std::int64_t>(own.size());
        // Worse for others: then nothing changes for them, and each model goes by its own.
        const bool speaks_for_others = !of_one_model(own) && sum.after_pct <= sum.before_pct;
        if (!speaks_for_others) sum.after_pct = sum.before_pct;
        errors.push_back(sum);
        for (StepFactor& factor : speaks_for_others ? fit_step_factors(own) : each_for_itself(own, before))
            out.push_back(std::move(factor));
    }
    for (const StepFactor& old : before)
        if (!by_gpu.contains(old.gpu) || by_gpu.at(old.gpu).size() < 2) out.push_back(old);
    return out;
}

Result<std::vector<StepRatio>> step_ratios(const SiteSamples& samples, const WeightsInForce& before,
                                           std::vector<std::string>& notes) {
    std::vector<StepRatio> out;
    StepWeights plain = before.steps;
    plain.factors.clear();
    for (const SampledPass& sample : samples.passes) {
        const MeasuredPass& pass = sample.pass;
        const bool exchanges = pass.ranks == 1 || pass.bucket_bytes > 0;
        if (pass.pass != Pass::step || !exchanges || pass.ranks % std::max(1, pass.nodes) != 0) continue;
        const auto declaration = read_model_argument(pass.model);
        if (!declaration) {
            notes.push_back(fmt::format("a measured step is left out: {}", declaration.error().message));
            continue;
        }
        WorkloadOverrides overrides;
        overrides.batch_size = pass.batch;
        overrides.precision = pass.precision;
        if (pass.optimizer != Optimizer::none) overrides.optimizer = to_string(pass.optimizer);
        const auto workload = to_workload(*declaration, overrides);
        if (!workload) return workload.error();
        const Device& device = samples.devices.at(sample.gpu);
        Allocation allocation;
        allocation.device = device;
        allocation.nodes = pass.nodes;
        allocation.gpus_per_node = pass.ranks / pass.nodes;
        allocation.intra_node = intra_node_link(device);
        const double node_Bps = usual_network(device).node_Bps(allocation.gpus_per_node);
        allocation.inter_node = {5e-6, network_attained * node_Bps / allocation.gpus_per_node};
        const auto steps = estimate_steps({{&*workload, allocation}}, before.model, plain);
        if (!steps) return steps.error();
        const double log_ratio = std::log(sample.time_s / steps->front().step_s);
        if (std::isfinite(log_ratio))
            out.push_back({sample.gpu, workload->model.family, model_identity(workload->model), log_ratio, 1,
                           measured_step_log_sd});
    }
    return out;
}

}  // namespace dlcast
