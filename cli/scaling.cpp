// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/counted.h"
#include "cli/placements.h"
#include "predictor/job/possible_placements.h"
#include "predictor/model/overrides.h"

namespace dlcast {
namespace {

constexpr int usual_most_gpus = 64;
constexpr double samples_without_duration = 1e6;
constexpr double least_gain = 0.5;  // of what as many more GPUs could win

// GPUs of one replica, doubled up to `most`, and the most there are.
std::vector<int> counts_up_to(int most, int replica) {
    std::vector<int> out;
    for (int n = replica; n <= most; n *= 2) out.push_back(n);
    const int last = most / replica * replica;
    if (last > 0 && (out.empty() || out.back() != last)) out.push_back(last);
    return out;
}

struct Place {
    std::string partition, gpu;  // one of them is empty
    int most_gpus = 0;
    bool on_cpu = false;  // its nodes are counted
};

Result<std::vector<Place>> places_of(const ScaleOptions& options, const PredictSite& site,
                                     std::vector<std::string>& left_out) {
    std::vector<Place> out;
    const int standard = options.max_gpus > 0 ? options.max_gpus : usual_most_gpus;
    for (const std::string& gpu : distinct_gpus(options.gpus, *site.catalog)) out.push_back({"", gpu, standard});
    if (!out.empty()) return out;
    const auto partitions = site_partitions(options.predict.partition, site);
    if (!partitions) return partitions.error();
    std::vector<std::string> without_gpus;
    for (const Partition* partition : partitions->taken) {
        const bool on_cpu = !has_gpus(*partition);
        const int has = most_devices(*partition);
        if (on_cpu && !missing_cpu({partition->name}, *site.config).empty())
            without_gpus.push_back(partition->name);
        else if (has == 0)
            left_out.push_back(fmt::format("partition {}: has no nodes", partition->name));
        else
            out.push_back({partition->name, "", options.max_gpus > 0 ? std::min(has, options.max_gpus) : has, on_cpu});
    }
    if (!without_gpus.empty()) left_out.push_back(missing_cpu(without_gpus, *site.config));
    left_out.insert(left_out.end(), partitions->left_out.begin(), partitions->left_out.end());
    if (out.empty()) return invalid_argument(fmt::format("{}", fmt::join(left_out, "; ")));
    return out;
}

std::string curve_name(const Placement& placement) {
    const std::string& partition = placement.allocation.partition;
    return partition.empty() ? placement.gres : fmt::format("{} (partition {})", placement.gres, partition);
}

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// Placements of every count, by kind of node.
Status find_all(const ScaleOptions& options, const PredictSite& site, Scaling& out) {
    auto places = places_of(options, site, out.left_out);
    if (!places) return places.error();
    const Parallel& p = out.workload.training.parallel;
    const double replica = 1.0 * p.tp * p.pp * p.cp;  // double: degrees may be absurd
    Status first = ok();
    for (const Place& place : *places) {
        if (replica > place.most_gpus) {
            out.left_out.push_back(fmt::format("{}: one replica takes {:.0f} {}s, of at most {}",
                                               place.partition.empty() ? place.gpu : place.partition, replica,
                                               place.on_cpu ? "node" : "GPU", place.most_gpus));
            continue;
        }
        for (const int count : counts_up_to(place.most_gpus, static_cast<int>(replica))) {
            PredictOptions one = options.predict;
            one.gpu = place.gpu;
            one.partition = place.partition;
            (place.on_cpu ? one.nodes : one.gpus) = count;
            auto found = placements_of(one, site);
            Status status = found ? keep_possible(out.workload, *found) : Status(found.error());
            if (!status) {
                if (first) first = status;
                out.left_out.push_back(
                    fmt::format("{}: {}", counted(count, place.on_cpu ? "node" : "GPU"), status.error().message));
                continue;
            }
            for (Placement& placement : found->found) {
                const std::string name = curve_name(placement);
                auto curve = std::find_if(out.curves.begin(), out.curves.end(),
                                          [&](const ScaleCurve& c) { return c.name == name; });
                if (curve == out.curves.end()) curve = out.curves.insert(curve, {name, {}, std::nullopt});
                // Nodes of one kind may stand in the cluster file twice.
                if (!curve->points.empty() && curve->points.back().placement.allocation.world_size() == count) continue;
                curve->points.emplace_back().placement = std::move(placement);
            }
        }
    }
    if (!out.curves.empty()) return ok();
    return first ? invalid_argument(fmt::format("no count can be: {}", fmt::join(out.left_out, "; "))) : first;
}

// The job on `point`, where steps with a batch per GPU stand for samples.
std::optional<JobForecast> job_of(const Workload& workload, const ScalePoint& point, double first_samples_per_step,
                                  const JobCosts& costs) {
    const StepEstimate& step = point.candidate.step;
    if (!workload.training.steps || workload.training.global_batch > 0) return point.candidate.job;
    Workload same_samples = workload;
    const double steps = static_cast<double>(*workload.training.steps) * first_samples_per_step / step.samples_per_step;
    same_samples.training.steps = std::max<std::int64_t>(1, std::llround(steps));
    return forecast_job(same_samples, step, point.candidate.allocation, costs);
}

void set_figures(const Workload& workload, ScaleCurve& curve, const JobCosts& costs) {
    const double first_samples = curve.points.front().candidate.step.samples_per_step;
    double first_rate = 0;
    for (ScalePoint& point : curve.points) {
        const StepEstimate& step = point.candidate.step;
        point.samples_per_s = step.samples_per_step / step.step_s;
        const double rate = point.samples_per_s / point.gpus();
        if (first_rate == 0) first_rate = rate;
        point.efficiency = rate / first_rate;
        point.candidate.job = job_of(workload, point, first_samples, costs);
        point.time_s =
            point.candidate.job ? point.candidate.job->p50_s : samples_without_duration / point.samples_per_s;
        point.gpu_hours = point.gpus() * point.time_s / 3600;
        point.cost = point.gpu_hours * point.placement.billing_per_gpu;
    }
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
        const ScalePoint &before = curve.points[i - 1], &now = curve.points[i];
        const double won = now.samples_per_s / before.samples_per_s - 1;
        const double could = static_cast<double>(now.gpus()) / before.gpus() - 1;
        if (won >= least_gain * could) continue;
        curve.knee = i - 1;
        return;
    }
}

void choose(Scaling& out) {
    for (const ScaleCurve& curve : out.curves)
        for (const ScalePoint& point : curve.points) {
            if (!point.fits()) continue;
            if (!out.fastest || point.time_s < out.fastest->time_s) out.fastest = &point;
            const bool is_cheaper = !out.cheapest || point.cost < out.cheapest->cost ||
                                    (point.cost == out.cheapest->cost && point.gpus() < out.cheapest->gpus());
            if (is_cheaper) out.cheapest = &point;
        }
}

}  // namespace

std::string kept_batch(const Workload& workload, const char* unit) {
    const Training& t = workload.training;
    if (t.micro_batch > 0)
        return fmt::format(
            "the global batch of {} is kept in micro-batches of {}, each {} takes fewer (strong scaling)",
            t.global_batch, t.micro_batch, unit);
    if (t.global_batch > 0)
        return fmt::format("the global batch of {} is kept, each {}'s part shrinks (strong scaling)", t.global_batch,
                           unit);
    return fmt::format("the batch of {} a {} is kept, the global batch grows (weak scaling)", t.batch_size, unit);
}

Result<std::unique_ptr<Scaling>> make_scaling(const ScaleOptions& options, const PredictSite& site) {
    const auto declaration = read_model_argument(options.predict.model, options.predict.overrides);
    if (!declaration) return declaration.error();
    auto workload = to_workload(*declaration, options.predict.overrides);
    if (!workload) return workload.error();
    auto out = std::make_unique<Scaling>();
    out->workload = std::move(*workload);
    out->assumed = out->workload.assumed;
    out->warnings = out->workload.warnings;
    if (out->workload.training.parallel.dp > 0) out->assumed.emplace_back("dp follows the count of devices");
    out->workload.training.parallel.dp = 0;
    if (const auto status = find_all(options, site, *out); !status) return status.error();
    std::vector<Placement> all;
    for (const ScaleCurve& curve : out->curves)
        for (const ScalePoint& point : curve.points) all.push_back(point.placement);
    auto candidates = candidates_on(out->workload, all, site);
    if (!candidates) return candidates.error();
    std::size_t next = 0;
    for (ScaleCurve& curve : out->curves) {
        for (ScalePoint& point : curve.points) point.candidate = std::move((*candidates)[next++]);
        set_figures(out->workload, curve, site.config->job);
        out->has_duration = out->has_duration || curve.points.front().candidate.job.has_value();
        // The network is said of many nodes, and is the same for all counts.
        for (const std::string& text : curve.points.back().placement.assumed)
            if (text.find("nodes of") == std::string::npos)
                add_once(out->assumed, out->curves.size() > 1 ? curve.name + ": " + text : text);
    }
    for (std::string& warning : named_but_closed(options.predict.partition, site))
        out->warnings.push_back(std::move(warning));
    if (!out->has_duration) out->warnings.push_back(missing_duration(out->workload, OptionsOf::dlcast));
    choose(*out);
    return out;
}

}  // namespace dlcast
