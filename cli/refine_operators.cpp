// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/refined_part.h"
#include "predictor/sampling/draw.h"

namespace dlcast {
namespace {

constexpr std::size_t folds = 5, none = folds + 1, fewest_operators = 3;
constexpr std::uint64_t shuffle_seed = 1;

std::vector<MeasuredOperator> measured(const std::vector<SampledCall>& calls, const std::vector<std::size_t>& fold_of,
                                       std::size_t without) {
    std::vector<MeasuredOperator> out;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (fold_of[i] != without) out.push_back({&calls[i].op, calls[i].clock, calls[i].time_s});
    return out;
}

// Operators by the order in which they first occur; new ones, of calls for which `is_new`, come first.
struct Distinct {
    std::vector<std::size_t> number;  // of each call
    std::size_t fresh = 0, all = 0;
};

Distinct distinct_of(const std::vector<SampledCall>& calls, const std::vector<bool>& is_new) {
    Distinct out{std::vector<std::size_t>(calls.size())};
    std::vector<const Operator*> seen;
    for (const bool turn : {true, false}) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (is_new[i] != turn) continue;
            const auto same = [&](const Operator* op) { return *op == calls[i].op; };
            const auto found = std::find_if(seen.begin(), seen.end(), same);
            out.number[i] = static_cast<std::size_t>(found - seen.begin());
            if (found == seen.end()) seen.push_back(&calls[i].op);
        }
        (turn ? out.fresh : out.all) = seen.size();
    }
    return out;
}

// The fold of each call, equal operators in one; as many folds as there are new operators where these are few. Calls
// of other operators are held out by none.
std::vector<std::size_t> folds_of(const Distinct& distinct) {
    const std::size_t count = distinct.fresh;
    std::vector<std::size_t> place(count);
    std::uint64_t random = shuffle_seed;
    for (std::size_t i = 0; i < count; ++i) {
        place[i] = i;
        std::swap(place[i], place[next_random(random) % (i + 1)]);
    }
    std::vector<std::size_t> out;
    for (const std::size_t n : distinct.number) out.push_back(n < count ? place[n] % std::min(folds, count) : folds);
    return out;
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

// Of each call that a fold holds out, by the fit to all others.
Result<std::vector<double>> held_out_s(const LayerTimeModel& network, const Device& device,
                                       const std::vector<SampledCall>& calls, const std::vector<std::size_t>& fold_of) {
    std::vector<double> out(calls.size(), 0.0);
    for (std::size_t fold = 0; fold < folds; ++fold) {
        if (std::find(fold_of.begin(), fold_of.end(), fold) == fold_of.end()) continue;
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

Result<std::vector<FittedCalls>> refine_operators(const SiteSamples& samples, const WeightsInForce& before,
                                                  RefinedErrors& errors, KnownParts& known, const Say& say) {
    std::vector<FittedCalls> out;
    std::map<std::pair<std::string, OperatorKind>, JudgedKind> sums;
    for (const auto& [key, calls] : samples.calls) {
        const auto& [gpu, group] = key;
        std::vector<bool> is_new;
        std::set<OperatorKind> kinds, new_kinds;
        for (const SampledCall& call : calls) {
            is_new.push_back(!contains(before.by, gpu, part_name(group, call.op.kind), call.id));
            kinds.insert(call.op.kind);
            if (is_new.back()) new_kinds.insert(call.op.kind);
        }
        const Distinct distinct = distinct_of(calls, is_new);
        if (distinct.all < fewest_operators) {
            if (!calls.empty())
                say(fmt::format("{} on {}: {} of {} left out; a group of operators needs {} different ones",
                                part_name(group, calls.front().op.kind), gpu, counted(calls.size(), "sample"),
                                counted(distinct.all, "operator"), fewest_operators));
            continue;
        }
        FittedCalls fresh{{gpu, group, {}}, {}};
        for (const OperatorKind kind : kinds) {
            if (new_kinds.contains(kind)) continue;
            fresh.group.except.push_back(kind);
            known.insert(fmt::format("{} on {}", part_name(group, kind), gpu));
        }
        if (new_kinds.empty()) continue;
        const std::vector<std::size_t> fold_of = folds_of(distinct);
        const Device& device = samples.devices.at(gpu);
        const auto now = times_s(before.model, device, calls, nullptr);
        if (!now) return now.error();
        const auto refined = held_out_s(before.network, device, calls, fold_of);
        if (!refined) return refined.error();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const OperatorKind kind = calls[i].op.kind;
            if (!new_kinds.contains(kind)) continue;
            JudgedKind& sum = sums[{gpu, kind}];
            sum.gpu = gpu;
            sum.kind = to_string(kind);
            ++sum.rows;
            fresh.ids[kind].insert(calls[i].id);
            if (!is_new[i]) continue;
            sum.add((*now)[i], (*refined)[i], calls[i].time_s);
        }
        auto fit = fit_group(measured(calls, fold_of, none), device, before.network);
        if (!fit) return fit.error();
        fresh.group.fit = std::move(*fit);
        out.push_back(std::move(fresh));
    }
    for (auto& [key, sum] : sums) {
        sum.average();
        errors.push_back(sum);
    }
    return out;
}

}  // namespace dlcast
