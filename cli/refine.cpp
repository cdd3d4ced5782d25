// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/counted.h"
#include "cli/doubtful_samples.h"
#include "cli/refine_jobs.h"
#include "cli/refine_release.h"
#include "cli/weights_release.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr double rounding_pct = 0.01;  // of the network's single precision
constexpr std::size_t largest_weights = 16u << 20;

bool same_kind(const RefinedKind& a, const RefinedKind& b) { return a.gpu == b.gpu && a.kind == b.kind; }

bool is_worse(const JudgedKind& kind) {
    return kind.held_out > 0 && !(kind.after_pct <= kind.before_pct + rounding_pct && std::isfinite(kind.after_pct));
}

// Public steps and operators of GPUs left out are forecast within a factor of 1.2 on average, and fits to a site's own
// calls are nearer: what is off by this much was not understood.
constexpr double far_off_factor = 3.0;

bool is_far_off(const JudgedKind& kind) { return kind.held_out > 0 && !(kind.after_factor <= far_off_factor); }

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

void say_unknown(const SiteSamples& samples, const Say& say) {
    std::size_t count = 0;
    std::string kinds;
    for (const auto& [kind, of_kind] : samples.without_network) {
        count += of_kind;
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", of_kind, to_string(kind));
    }
    if (count > 0)
        say(fmt::format("{} of operators that the network does not know, and left out: {}",
                        counted(count, "sample", "is", "are"), kinds));
}

// Out of `out.errors` and of what is to be published. Errors: no kind is left.
Status leave_bad_kinds(Refined& out, Fresh& fresh, const StartWeights& start, bool force) {
    for (const JudgedKind& kind : out.errors)
        if (is_far_off(kind))
            out.far_off.push_back(kind);
        else if (is_worse(kind) && !force)
            out.left.push_back(kind);
    std::erase_if(out.errors, [&](const JudgedKind& kind) { return is_far_off(kind) || (is_worse(kind) && !force); });
    for (const RefinedErrors* left : {&out.left, &out.far_off})
        for (const JudgedKind& kind : *left) leave(fresh, start, kind);
    if (!out.errors.empty() || !out.known.empty()) return ok();
    std::string why;
    if (!out.far_off.empty()) why += "forecasts of what was held out would still be off: " + far_off_kinds(out.far_off);
    if (!out.left.empty())
        why += fmt::format(
            "{}the error on held-out measurements would rise: {}. Measure more, or publish it all the "
            "same with --force",
            why.empty() ? "" : "; ", worse_kinds(out.left));
    return invalid_argument("nothing was published: " + why);
}

// Do the weights published last hold the same network and refinement?
bool holds(const std::string& out, const StartWeights& now) {
    const auto manifest_text = read_file(out + "/" + manifest_file, largest_weights);
    const auto operators_text = read_file(out + "/" + refined_operators_file, largest_weights);
    if (!manifest_text || !operators_text) return false;
    const auto manifest = parse_weights_manifest(*manifest_text, out);
    const auto operators = parse_refined_operators(*operators_text, out);
    const auto by = read_refined_by(out);
    return manifest && operators && by && manifest->id == now.manifest.id && operators->id == now.operators.id &&
           *by == now.by;
}

// What the version published last was refined by and `now` is not: "linear on L40S, steps on T4".
std::string lost_kinds(const std::string& out, const WeightsManifest& now) {
    const auto text = read_file(out + "/" + manifest_file, largest_weights);
    if (!text) return "";
    const auto last = parse_weights_manifest(*text, out);
    if (!last) return "";
    std::string lost;
    for (const RefinedKind& old : last->refined)
        if (std::none_of(now.refined.begin(), now.refined.end(),
                         [&](const auto& kind) { return same_kind(kind, old); }))
            lost += fmt::format("{}{} on {}", lost.empty() ? "" : ", ", old.kind, old.gpu);
    return lost;
}

}  // namespace

std::string worse_kinds(const RefinedErrors& errors) {
    std::string out;
    for (const JudgedKind& kind : errors)
        if (is_worse(kind))
            out += fmt::format("{}{} on {} from {:.1f} to {:.1f} %", out.empty() ? "" : ", ", kind.kind, kind.gpu,
                               kind.before_pct, kind.after_pct);
    return out;
}

std::string far_off_kinds(const RefinedErrors& errors) {
    std::string out;
    for (const JudgedKind& kind : errors)
        if (is_far_off(kind))
            out += fmt::format("{}{} on {} by a factor of {:.3g}", out.empty() ? "" : ", ", kind.kind, kind.gpu,
                               kind.after_factor);
    return out.empty() ? out
                       : out +
                             "; check the peak figures in the device's entry of gpus.toml, and how the samples were "
                             "measured";
}

Result<Refined> refine(const RefineOptions& options, const DeviceCatalog& catalog) {
    const Say say = options.say ? options.say : [](const std::string&) {};
    // From here on: another refinement into the same folder starts from what this one publishes.
    const auto place = WeightsPlace::hold(options.out, say);
    if (!place) return place.error();
    auto start = open_start(options.module_path, options.weights);
    if (!start) return start.error();
    const WeightsInForce before{*start->model, *start->network, start->steps, start->by};
    Refined out;
    auto samples = read_site_samples(options.samples, catalog);
    if (!samples) return samples.error();
    if (samples->copies > 0)
        say(fmt::format("{} of others, equal in all they say, and left out",
                        counted(samples->copies, "sample", "is a copy", "are copies")));
    say_unknown(*samples, say);
    if (auto s = leave_out_impossible_calls(*samples, *start->network, say); !s) return s.error();
    leave_out_impossible_collectives(*samples, before, say);
    leave_out_contradictions(*samples, say);
    Fresh fresh;
    auto calls = refine_operators(*samples, before, out.errors, out.known, say);
    if (!calls) return calls.error();
    fresh.calls = std::move(*calls);
    fresh.steps.collectives = refine_collectives(*samples, before, options.fit_sizes, out.errors, out.known, say);
    for (const JudgedKind& kind : out.errors)
        if (is_far_off(kind) || (is_worse(kind) && !options.force)) leave(fresh, *start, kind);
    const auto refined_model = model_with(options, start->operators, fresh.calls);
    if (!refined_model) return refined_model.error();
    auto ratios = step_ratios(*samples, {**refined_model, *start->network, start->steps, start->by}, say);
    if (!ratios) return ratios.error();
    say_low_entries(*samples, catalog, options.entries_file, say);
    fresh.of_steps = steps_of(*samples);
    const std::size_t of_passes = ratios->size();
    if (options.jobs) {
        auto jobs = job_ratios(options.accounting, start->model->weights_id(), start->steps.factors, catalog);
        if (!jobs) return jobs.error();
        ratios->insert(ratios->end(), jobs->ratios.begin(), jobs->ratios.end());
        for (const std::string& note : jobs->notes) say(note);
    }
    const auto factors = fair_factors(*ratios, fresh.of_steps, of_passes, *start, fresh.calls, out.known);
    fresh.steps.factors = refine_factors(*ratios, factors, out.errors, say);
    if (out.errors.empty() && out.known.empty())
        return invalid_argument(fmt::format(
            "nothing to refine by: {} read, {} of steps or a model's jobs usable; a group of operators needs three "
            "different ones, a GPU's steps two cases",
            counted(samples->read, "sample"), counted(ratios->size(), "case")));
    if (auto s = leave_bad_kinds(out, fresh, *start, options.force); !s) return s.error();
    if (out.errors.empty()) {
        out.published = false;
        out.id = start->model->weights_id();
        return out;
    }
    take_over(*start, fresh, out.errors);
    out.id = start->manifest.id + "+" + start->operators.id;
    if (holds(options.out, *start)) {
        out.published = false;
        out.waiting = true;
        return out;
    }
    const auto fill = [&](const std::string& dir) { return write_release(dir, options.weights, *start, fresh.steps); };
    if (const std::string lost = lost_kinds(options.out, start->manifest); !lost.empty() && !options.force)
        return invalid_argument(
            fmt::format("nothing was published: '{0}' is refined by {1} already, which this refinement of '{2}' would "
                        "drop; start from it with --weights '{0}', name another --out, or replace it with --force",
                        shown_path(options.out), lost, shown_path(options.weights)));
    if (auto s = place->publish(fill); !s) return s.error();
    return out;
}

}  // namespace dlcast
