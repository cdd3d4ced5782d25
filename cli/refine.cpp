// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/refine_jobs.h"
#include "cli/weights_release.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::size_t largest_weights = 16u << 20;
constexpr double rounding_pct = 0.01;  // of the network's single precision

bool same_kind(const RefinedKind& a, const RefinedKind& b) { return a.gpu == b.gpu && a.kind == b.kind; }

// What is in the directory to start from, read once.
struct Start {
    WeightsManifest manifest;
    std::string manifest_text;
    RefinedOperators operators;
    std::unique_ptr<LayerTimeModel> model, network;
    StepWeights steps;
};

Result<Start> open_start(const RefineOptions& options) {
    Start out;
    const std::string manifest = options.weights + "/" + manifest_file;
    const auto text = read_file(manifest, largest_weights);
    if (!text) return text.error();
    auto parsed = parse_weights_manifest(*text, manifest);
    if (!parsed) return parsed.error();
    out.manifest = std::move(*parsed);
    auto model = open_refined_model(options.module_path, options.weights);
    if (!model) return model.error();
    out.model = std::move(*model);
    auto network = open_torch_model(options.module_path, options.weights);
    if (!network) return network.error();
    out.network = std::move(*network);
    auto steps = read_step_weights(options.weights);
    if (!steps) return steps.error();
    out.steps = std::move(*steps);
    const std::string refined = options.weights + "/" + refined_operators_file;
    if (!std::filesystem::exists(refined)) return out;
    const auto operators_text = read_file(refined, largest_weights);
    if (!operators_text) return operators_text.error();
    auto operators = parse_refined_operators(*operators_text, refined);
    if (!operators) return operators.error();
    out.operators = std::move(*operators);
    return out;
}

// Groups measured now replace those of before.
void merge(std::vector<RefinedGroup>& into, std::vector<RefinedGroup> fresh) {
    for (RefinedGroup& group : fresh) {
        std::erase_if(into, [&](const RefinedGroup& old) { return old.gpu == group.gpu && old.group == group.group; });
        into.push_back(std::move(group));
    }
}

Status copy_file(const std::string& from, const std::string& to) {
    if (!std::filesystem::exists(from)) return ok();
    const auto text = read_file(from, largest_weights);
    if (!text) return text.error();
    return write_file_atomically(to, *text);
}

Status write_release(const std::string& dir, const RefineOptions& options, const Start& start,
                     const RefinedSteps& steps) {
    for (const char* file : {weights_file, step_weights_file, collectives_file})
        if (auto s = copy_file(options.weights + "/" + file, dir + "/" + file); !s) return s;
    const std::string operators = write_refined_operators(start.operators), of_steps = write_refined_steps(steps),
                      manifest = write_weights_manifest(start.manifest);
    // Impossible measurements make figures that cannot be read again.
    if (auto read = parse_refined_operators(operators, refined_operators_file); !read) return read.error();
    if (auto read = parse_refined_steps(of_steps, refined_steps_file); !read) return read.error();
    if (auto read = parse_weights_manifest(manifest, manifest_file); !read) return read.error();
    if (auto s = write_file_atomically(dir + "/" + refined_operators_file, operators); !s) return s;
    if (auto s = write_file_atomically(dir + "/" + refined_steps_file, of_steps); !s) return s;
    return write_file_atomically(dir + "/" + manifest_file, manifest);
}

}  // namespace

std::string worse_kinds(const RefinedErrors& errors) {
    std::string out;
    for (const RefinedKind& kind : errors)
        if (kind.held_out > 0 && !(kind.after_pct <= kind.before_pct + rounding_pct && std::isfinite(kind.after_pct)))
            out += fmt::format("{}{} on {} from {:.1f} to {:.1f} %", out.empty() ? "" : ", ", kind.kind, kind.gpu,
                               kind.before_pct, kind.after_pct);
    return out;
}

Result<Refined> refine(const RefineOptions& options, const DeviceCatalog& catalog) {
    auto start = open_start(options);
    if (!start) return start.error();
    const WeightsInForce before{*start->model, *start->network, start->steps};
    Refined out;
    const auto samples = read_site_samples(options.samples, catalog);
    if (!samples) return samples.error();
    auto groups = refine_operators(*samples, before, out.errors);
    if (!groups) return groups.error();
    RefinedSteps steps;
    steps.collectives = refine_collectives(*samples, before, options.fit_sizes, out.errors);
    auto ratios = step_ratios(*samples, before, out.notes);
    if (!ratios) return ratios.error();
    if (options.jobs) {
        auto jobs = job_ratios(options.accounting, start->model->weights_id(), start->steps.factors, catalog);
        if (!jobs) return jobs.error();
        ratios->insert(ratios->end(), jobs->ratios.begin(), jobs->ratios.end());
        out.notes.insert(out.notes.end(), jobs->notes.begin(), jobs->notes.end());
    }
    steps.factors = refine_factors(*ratios, start->steps.factors, out.errors);
    if (samples->without_network > 0)
        out.notes.push_back(
            fmt::format("{} samples are of operators that the network does not know", samples->without_network));
    if (out.errors.empty())
        return invalid_argument(fmt::format(
            "nothing to refine by: {} samples, {} models' jobs; a group of operators needs three different ones, a "
            "GPU's steps two cases",
            samples->read, ratios->size()));
    if (const std::string worse = worse_kinds(out.errors); !worse.empty() && !options.force)
        return invalid_argument(
            fmt::format("the error on held-out measurements would rise: {}; nothing was published. "
                        "Measure more, or publish it all the same with --force",
                        worse));

    merge(start->operators.groups, std::move(*groups));
    for (const RefinedKind& kind : out.errors) {
        std::erase_if(start->manifest.refined, [&](const RefinedKind& old) { return same_kind(old, kind); });
        start->manifest.refined.push_back(kind);
    }
    start->operators.id.clear();
    const std::string content =
        start->manifest.id + write_refined_operators(start->operators) + write_refined_steps(steps);
    start->operators.id = weights_id(content).substr(0, 8);
    out.id = start->manifest.id + "+" + start->operators.id;
    const auto fill = [&](const std::string& dir) { return write_release(dir, options, *start, steps); };
    if (auto s = publish_weights(options.out, fill); !s) return s.error();
    return out;
}

}  // namespace dlcast
