// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/refined_part.h"

namespace dlcast {

namespace {

using Cases = std::vector<StepRatio>;

// Where models of a GPU say nothing of each other: what is `before` of the GPU and kinds of models, and each model's
// own cases for itself.
std::vector<StepFactor> each_for_itself(const Cases& own, const std::vector<StepFactor>& before) {
    std::vector<StepFactor> out;
    for (const StepFactor& factor : before)
        if (factor.gpu == own.front().gpu && factor.model.empty()) out.push_back(factor);
    std::map<std::string, Cases> by_model;
    for (StepRatio ratio : own) {
        if (ratio.model.empty()) continue;
        ratio.log_ratio -= std::log(step_factor(out, ratio.gpu, ratio.family));
        by_model[ratio.model].push_back(std::move(ratio));
    }
    for (const auto& [model, cases] : by_model) {
        const auto fit = fit_step_factors(cases);
        const std::string &gpu = cases.front().gpu, &family = cases.front().family;
        StepFactor of_model = *model_factor(fit, gpu, family, model);
        of_model.family = family;
        of_model.log_factor = std::log(step_factor(fit, gpu, family, model));
        out.push_back(std::move(of_model));
    }
    return out;
}

bool same_model(const StepRatio& a, const StepRatio& b) { return !a.model.empty() && a.model == b.model; }

// Are they all of one model? Then none of them can be held out to judge what they say of others.
bool of_one_model(const Cases& own) {
    return std::all_of(own.begin(), own.end(), [&](const StepRatio& ratio) { return same_model(ratio, own.front()); });
}

// Each case by factors from others: those of all other models, or those of its own model alone.
enum class JudgedBy { other_models, own_model };
JudgedKind judged(const Cases& own, const std::vector<StepFactor>& before, JudgedBy by) {
    JudgedKind out;
    out.gpu = own.front().gpu;
    out.kind = steps_part;
    bool by_several = true;
    for (std::size_t i = 0; i < own.size(); ++i) {
        out.rows += own[i].runs;
        Cases others;
        for (std::size_t j = 0; j < own.size(); ++j)
            if (j != i && same_model(own[i], own[j]) == (by == JudgedBy::own_model)) others.push_back(own[j]);
        if (others.empty() && by == JudgedBy::own_model) continue;
        by_several &= by == JudgedBy::own_model || !of_one_model(others);
        const auto fit = by == JudgedBy::own_model ? each_for_itself(others, before) : fit_step_factors(others);
        const auto forecast = [&](const std::vector<StepFactor>& factors) {
            return step_factor(factors, out.gpu, own[i].family, own[i].model);
        };
        out.add(forecast(before), forecast(fit), std::exp(own[i].log_ratio));
    }
    out.average();
    // One other model is believed in part only, however far off the device is: how far that leaves others tells
    // nothing.
    if (!by_several) out.after_factor = 1.0;
    return out;
}

}  // namespace

std::vector<StepFactor> refine_factors(const std::vector<StepRatio>& ratios, const std::vector<StepFactor>& before,
                                       RefinedErrors& errors, const Say& say) {
    std::map<std::string, Cases> by_gpu;
    for (const StepRatio& ratio : ratios) by_gpu[ratio.gpu].push_back(ratio);
    std::vector<StepFactor> out;
    for (const auto& [gpu, own] : by_gpu) {
        if (own.size() < 2) {
            say(own.front().what +
                ": left out, for no second step or model's jobs on that GPU could judge it; measure another batch size "
                "or model");
            continue;
        }
        const JudgedKind by_others = judged(own, before, JudgedBy::other_models);
        const bool one_model = of_one_model(own);
        if (!one_model && by_others.after_pct <= by_others.before_pct) {
            errors.push_back(by_others);
            for (StepFactor& factor : fit_step_factors(own)) out.push_back(std::move(factor));
            continue;
        }
        const JudgedKind by_own = judged(own, before, JudgedBy::own_model);
        say(fmt::format("steps on {}: {}; each model is corrected by its own alone{}", gpu,
                        one_model ? "they are of one model, which says nothing of others"
                                  : fmt::format("by what others took, the error of a model would go from {:.1f} to "
                                                "{:.1f} %",
                                                by_others.before_pct, by_others.after_pct),
                        by_own.held_out == 0 ? ", which nothing held out can judge" : ""));
        errors.push_back(by_own);
        for (StepFactor& factor : each_for_itself(own, before)) out.push_back(std::move(factor));
    }
    for (const StepFactor& old : before)
        if (!by_gpu.contains(old.gpu) || by_gpu.at(old.gpu).size() < 2) out.push_back(old);
    return out;
}

}  // namespace dlcast
