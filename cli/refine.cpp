// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/counted.h"
#include "cli/refine_jobs.h"
#include "cli/refine_release.h"
#include "cli/weights_release.h"

namespace dlcast {
namespace {

constexpr double rounding_pct = 0.01;  // of the network's single precision

bool same_kind(const RefinedKind& a, const RefinedKind& b) { return a.gpu == b.gpu && a.kind == b.kind; }

bool is_worse(const RefinedKind& kind) {
    return kind.held_out > 0 && !(kind.after_pct <= kind.before_pct + rounding_pct && std::isfinite(kind.after_pct));
}

// What the samples and jobs made, not published yet.
struct Fresh {
    std::vector<FittedCalls> calls;
    RefinedSteps steps;
    RefinedBy of_steps;
};

// Those of one GPU, as they were.
template <typename Item>
void keep_old(std::vector<Item>& items, const std::vector<Item>& old, const std::string& gpu) {
    std::erase_if(items, [&](const Item& item) { return item.gpu == gpu; });
    std::copy_if(old.begin(), old.end(), std::back_inserter(items), [&](const Item& item) { return item.gpu == gpu; });
}

void leave(Fresh& fresh, const StartWeights& start, const RefinedKind& kind) {
    if (kind.kind == "collectives") return keep_old(fresh.steps.collectives, start.steps.collectives.refined, kind.gpu);
    if (kind.kind == steps_part) return keep_old(fresh.steps.factors, start.steps.factors, kind.gpu);
    for (FittedCalls& calls : fresh.calls) {
        if (calls.group.gpu != kind.gpu) continue;
        for (auto of = calls.ids.begin(); of != calls.ids.end();) {
            const bool named = to_string(of->first) == kind.kind;
            if (named) calls.group.except.push_back(of->first);
            of = named ? calls.ids.erase(of) : std::next(of);
        }
    }
}

// Steps that the factors in force were fitted to cannot judge them: a GPU with no others is known, its cases are
// dropped; where there are others, the new factors are held against none at all.
std::vector<StepFactor> fair_factors(std::vector<StepRatio>& ratios, const RefinedBy& of_steps, std::size_t of_passes,
                                     const StartWeights& start, const std::vector<FittedCalls>& calls,
                                     KnownParts& known) {
    std::vector<StepFactor> out = start.steps.factors;
    for (const auto& [key, ids] : of_steps) {
        const std::string& gpu = key.first;
        const auto is_old = [&](const std::string& id) { return contains(start.by, gpu, steps_part, id); };
        if (std::none_of(ids.begin(), ids.end(), is_old)) continue;
        const auto on_it = [&](const StepRatio& ratio) { return ratio.gpu == gpu; };
        const bool jobs = std::any_of(ratios.begin() + static_cast<std::ptrdiff_t>(of_passes), ratios.end(), on_it);
        // Operators that are new make other factors of the same steps.
        const bool same_base = std::none_of(
            calls.begin(), calls.end(), [&](const FittedCalls& of) { return of.group.gpu == gpu && !of.ids.empty(); });
        if (!jobs && same_base && std::all_of(ids.begin(), ids.end(), is_old)) {
            std::erase_if(ratios, on_it);
            known.insert("steps on " + gpu);
        } else if (std::count_if(ratios.begin(), ratios.end(), on_it) > 1) {
            std::erase_if(out, [&](const StepFactor& factor) { return factor.gpu == gpu; });
        }
    }
    return out;
}

// The network with these calls, to hold steps against.
Result<std::unique_ptr<LayerTimeModel>> model_with(const RefineOptions& options, RefinedOperators operators,
                                                   const std::vector<FittedCalls>& calls) {
    auto network = open_torch_model(options.module_path, options.weights);
    if (!network) return network;
    for (const FittedCalls& fresh : calls)
        if (!fresh.ids.empty()) replace_group(operators.groups, fresh.group);
    return refine_model(std::move(*network), std::move(operators));
}

// What is published, into the weights that were started from.
void take_over(StartWeights& start, Fresh& fresh, const RefinedErrors& published) {
    for (FittedCalls& calls : fresh.calls) {
        for (auto& [kind, ids] : calls.ids) start.by[{calls.group.gpu, part_name(calls.group.group, kind)}] = ids;
        if (!calls.ids.empty()) replace_group(start.operators.groups, std::move(calls.group));
    }
    for (const RefinedKind& kind : published) {
        const auto steps = fresh.of_steps.find({kind.gpu, steps_part});
        if (kind.kind == steps_part && steps != fresh.of_steps.end()) start.by[steps->first] = steps->second;
        std::erase_if(start.manifest.refined, [&](const RefinedKind& old) { return same_kind(old, kind); });
        start.manifest.refined.push_back(kind);
    }
    start.operators.id.clear();
    const std::string content =
        start.manifest.id + write_refined_operators(start.operators) + write_refined_steps(fresh.steps);
    start.operators.id = weights_id(content).substr(0, 8);
}

}  // namespace

std::string worse_kinds(const RefinedErrors& errors) {
    std::string out;
    for (const RefinedKind& kind : errors)
        if (is_worse(kind))
            out += fmt::format("{}{} on {} from {:.1f} to {:.1f} %", out.empty() ? "" : ", ", kind.kind, kind.gpu,
                               kind.before_pct, kind.after_pct);
    return out;
}

Result<Refined> refine(const RefineOptions& options, const DeviceCatalog& catalog) {
    auto start = open_start(options.module_path, options.weights);
    if (!start) return start.error();
    const WeightsInForce before{*start->model, *start->network, start->steps, start->by};
    Refined out;
    const auto samples = read_site_samples(options.samples, catalog);
    if (!samples) return samples.error();
    Fresh fresh;
    auto calls = refine_operators(*samples, before, out.errors, out.known);
    if (!calls) return calls.error();
    fresh.calls = std::move(*calls);
    fresh.steps.collectives = refine_collectives(*samples, before, options.fit_sizes, out.errors, out.known);
    fresh.of_steps = steps_of(*samples);
    if (!options.force)
        for (const RefinedKind& kind : out.errors)
            if (is_worse(kind)) leave(fresh, *start, kind);
    const auto refined_model = model_with(options, start->operators, fresh.calls);
    if (!refined_model) return refined_model.error();
    auto ratios = step_ratios(*samples, {**refined_model, *start->network, start->steps, start->by}, out.notes);
    if (!ratios) return ratios.error();
    const std::size_t of_passes = ratios->size();
    if (options.jobs) {
        auto jobs = job_ratios(options.accounting, start->model->weights_id(), start->steps.factors, catalog);
        if (!jobs) return jobs.error();
        ratios->insert(ratios->end(), jobs->ratios.begin(), jobs->ratios.end());
        out.notes.insert(out.notes.end(), jobs->notes.begin(), jobs->notes.end());
    }
    const auto factors = fair_factors(*ratios, fresh.of_steps, of_passes, *start, fresh.calls, out.known);
    fresh.steps.factors = refine_factors(*ratios, factors, out.errors);
    if (samples->without_network > 0)
        out.notes.push_back(counted(samples->without_network, "sample", "is", "are") +
                            " of operators that the network does not know");
    if (out.errors.empty() && out.known.empty())
        return invalid_argument(fmt::format(
            "nothing to refine by: {} samples, {} models' jobs; a group of operators needs three different ones, a "
            "GPU's steps two cases",
            samples->read, ratios->size()));
    if (!options.force) {
        for (const RefinedKind& kind : out.errors)
            if (is_worse(kind)) out.left.push_back(kind);
        std::erase_if(out.errors, is_worse);
        if (out.errors.empty() && out.known.empty())
            return invalid_argument(
                fmt::format("the error on held-out measurements would rise: {}; nothing was published. "
                            "Measure more, or publish it all the same with --force",
                            worse_kinds(out.left)));
        for (const RefinedKind& kind : out.left) leave(fresh, *start, kind);
    }
    if (out.errors.empty()) {
        out.published = false;
        out.id = start->model->weights_id();
        return out;
    }
    take_over(*start, fresh, out.errors);
    out.id = start->manifest.id + "+" + start->operators.id;
    const auto fill = [&](const std::string& dir) { return write_release(dir, options.weights, *start, fresh.steps); };
    if (auto s = publish_weights(options.out, fill); !s) return s.error();
    return out;
}

}  // namespace dlcast
