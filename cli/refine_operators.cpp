// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/refined_part.h"
#include "predictor/sampling/draw.h"

namespace dlcast {
namespace {

constexpr std::size_t folds = 5, fewest_operators = 3;
constexpr std::uint64_t shuffle_seed = 1;

std::vector<MeasuredOperator> measured(const std::vector<SampledCall>& calls, const std::vector<std::size_t>& fold_of,
                                       std::size_t without) {
    std::vector<MeasuredOperator> out;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (fold_of[i] != without) out.push_back({&calls[i].op, calls[i].clock, calls[i].time_s});
    return out;
}

// The fold of each call, equal operators in one; as many folds as there are operators where these are few.
std::vector<std::size_t> folds_of(const std::vector<SampledCall>& calls, std::size_t& count) {
    std::vector<std::size_t> number(calls.size());
    std::vector<const Operator*> distinct;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto same = [&](const Operator* op) { return *op == calls[i].op; };
        const auto found = std::find_if(distinct.begin(), distinct.end(), same);
        number[i] = static_cast<std::size_t>(found - distinct.begin());
        if (found == distinct.end()) distinct.push_back(&calls[i].op);
    }
    count = distinct.size();
    std::vector<std::size_t> place(count);
    std::uint64_t random = shuffle_seed;
    for (std::size_t i = 0; i < count; ++i) {
        place[i] = i;
        std::swap(place[i], place[next_random(random) % (i + 1)]);
    }
    for (std::size_t& n : number) n = place[n] % std::min(folds, count);
    return number;
}

Result<std::vector<double>> times_s(const LayerTimeModel& model, const Device& device,
                                    const std::vector<SampledCall>& calls, const GroupOffsets* offsets) {
    std::vector<OperatorQuery> queries;
    for (const SampledCall& call : calls) queries.push_back({&call.op, &device, call.clock, offsets});
    const auto times = model.times(queries);
    if (!times) return times.error();
    std::vector<double> out;
    for (const OperatorTime& time : *times) out.push_back(time.median_s);
    return out;
}

// Of each call, by the fit to the other folds.
Result<std::vector<double>> held_out_s(const LayerTimeModel& network, const Device& device,
                                       const std::vector<SampledCall>& calls, const std::vector<std::size_t>& fold_of) {
    std::vector<double> out(calls.size(), 0.0);
    const std::size_t last = *std::max_element(fold_of.begin(), fold_of.end());
    for (std::size_t fold = 0; fold <= last; ++fold) {
        const auto fit = fit_group(measured(calls, fold_of, fold), device, network);
        if (!fit) return fit.error();
        const auto times = times_s(network, device, calls, &fit->offsets);
        if (!times) return times.error();
        for (std::size_t i = 0; i < calls.size(); ++i)
            if (fold_of[i] == fold) out[i] = (*times)[i] * std::exp(fit->residual.at(calls[i].op, (*times)[i]));
    }
    return out;
}

}  // namespace

Result<std::vector<RefinedGroup>> refine_operators(const SiteSamples& samples, const WeightsInForce& before,
                                                   RefinedErrors& errors) {
    std::vector<RefinedGroup> out;
    std::map<std::pair<std::string, OperatorKind>, RefinedKind> sums;
    for (const auto& [key, calls] : samples.calls) {
        std::size_t operators = 0;
        const std::vector<std::size_t> fold_of = folds_of(calls, operators);
        if (operators < fewest_operators) continue;
        const Device& device = samples.devices.at(key.first);
        const auto now = times_s(before.model, device, calls, nullptr);
        if (!now) return now.error();
        const auto refined = held_out_s(before.network, device, calls, fold_of);
        if (!refined) return refined.error();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            RefinedKind& sum = sums[{key.first, calls[i].op.kind}];
            sum.gpu = key.first;
            sum.kind = to_string(calls[i].op.kind);
            sum.before_pct += 100.0 * std::fabs((*now)[i] / calls[i].time_s - 1.0);
            sum.after_pct += 100.0 * std::fabs((*refined)[i] / calls[i].time_s - 1.0);
            ++sum.rows;
        }
        auto fit = fit_group(measured(calls, fold_of, folds), device, before.network);
        if (!fit) return fit.error();
        out.push_back({key.first, key.second, std::move(*fit)});
    }
    for (auto& [key, sum] : sums) {
        sum.held_out = sum.rows;
        sum.before_pct /= static_cast<double>(sum.rows);
        sum.after_pct /= static_cast<double>(sum.rows);
        errors.push_back(sum);
    }
    return out;
}

}  // namespace dlcast
