// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "cli/model_sums.h"
#include "cli/operator_errors.h"
#include "predictor/base/text.h"
#include "predictor/timing/group_index.h"
#include "predictor/timing/torch_module.h"

namespace dlcast {
namespace {

// Width and epochs of each network, chosen by error on held-out rows against the time of a forecast and of training.
// The least log time over the memory bound leaves room for a cache that holds what a call reads.
struct NetChoice {
    int width, epochs;
    float slowness_min, weight_decay;
    double unseen_log_sd;  // bias of a GPU that trained nothing: leaving one out at a time gave 0.13 to 0.26
};
constexpr std::array<NetChoice, net_count> choices{
    {{128, 24, -0.7f, 0.3f, 0.20}, {128, 28, -1.1f, 0.1f, 0.20}, {96, 24, -0.3f, 0.1f, 0.20}}};

// What the public tables are; rows of other sources are the user's own.
struct KnownSource {
    const char *name, *origin, *licence;
};
constexpr std::array<KnownSource, 4> known_sources{
    {{"justus2018", "CDECatapult/ml-performance-prediction e649f32", "Apache-2.0"},
     {"neusight", "sitar-lab/NeuSight 6945927", "MIT"},
     {"neusight_amd", "sitar-lab/NeuSight 6945927", "MIT"},
     {"neusight_trace", "sitar-lab/NeuSight 6945927", "MIT"}}};

struct Examples {
    FeatureTable table;
    std::vector<float> log_time, weight, noise;
    std::vector<std::int32_t> figure;
};

Examples examples_of(Net net, const TrainingRows& rows) {
    Examples out{FeatureTable(net), {}, {}, {}, {}};
    const GroupIndex groups(rows.groups[static_cast<std::size_t>(net)]);
    for (const OpsRow& row : rows.train) {
        if (net_of(row.op) != net) continue;
        out.table.append({&row.op, row.device, row.clock}, groups.find(*row.device, row.clock));
        // A forecast sums kernels of a running stream; a trace has the sizes and clocks of one, each call alone.
        if (row.clock == Clock::kernel) out.table.physics.back().host_launch = 1.0f;
        out.log_time.push_back(static_cast<float>(std::log(1e-3 * *row.time_ms)));
        out.weight.push_back(static_cast<float>(training_weight(row)));
    }
    for (const FeatureColumn& column : feature_columns(net)) {
        out.noise.push_back(column.noise);
        out.figure.push_back(static_cast<std::int32_t>(column.figure));
    }
    return out;
}

dlcast_torch_table view_of(const Examples& e) {
    return {static_cast<std::int64_t>(e.table.rows()),
            e.table.columns,
            e.table.features.data(),
            reinterpret_cast<const float*>(e.table.physics.data()),
            e.table.launch.data(),
            e.table.optimizer.data(),
            e.table.group.data(),
            e.log_time.data(),
            e.weight.data(),
            nullptr,
            nullptr,
            nullptr,
            nullptr};
}

// A line every few seconds while a person waits.
struct Progress {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    double last_s = -10.0;

    static void report(void* self, double done) {
        auto& p = *static_cast<Progress*>(self);
        const double spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - p.start).count();
        if (spent_s - p.last_s < 5.0 || done <= 0.0) return;
        p.last_s = spent_s;
        fmt::print(stderr, "dlcast: training {:3.0f} %, {} left\n", 100.0 * done,
                   format_duration(spent_s * (1.0 - done) / done));
    }
};

Result<TorchNetwork> fit_network(const TorchModule& module, const TrainingRows& rows,
                                 const std::vector<ModelPass>& passes, const TrainOptions& options) {
    const auto sums = sums_of(passes, rows.groups);
    if (!sums) return sums.error();
    const dlcast_torch_sums sums_view = sums->view();
    const std::array<Examples, net_count> examples{examples_of(Net::conv, rows), examples_of(Net::product, rows),
                                                   examples_of(Net::memory, rows)};
    const std::array<dlcast_torch_table, net_count> tables{view_of(examples[0]), view_of(examples[1]),
                                                           view_of(examples[2])};
    Progress progress;
    dlcast_torch_fit_options fit{};
    fit.members = options.members;
    fit.seed = static_cast<std::uint64_t>(options.seed);
    fit.batch = 1024;
    fit.learning_rate = 4e-3f;
    fit.group_dropout = 0.35f;
    fit.launch_slots = launch_slots;
    fit.optimizer_slots = optimizer_slots;
    fit.progress = &Progress::report;
    fit.user = &progress;
    for (std::size_t n = 0; n < net_count; ++n) {
        fit.nets[n] = {choices[n].width,
                       std::max(1, static_cast<int>(std::lround(choices[n].epochs * options.effort))),
                       static_cast<std::int32_t>(rows.groups[n].size()),
                       choices[n].slowness_min,
                       choices[n].weight_decay,
                       figure_count,
                       examples[n].figure.data(),
                       examples[n].noise.data()};
    }
    dlcast_torch_network* network = nullptr;
    char error[512] = "";
    if (module.fit(tables.data(), &sums_view, &fit, &network, error, sizeof error) != 0)
        return unavailable(fmt::format("training stopped: {}", error));
    return TorchNetwork(network, module.close);
}

TrainingSource source_of(const std::string& source, const std::string& name, std::int64_t rows) {
    for (const KnownSource& known : known_sources) {
        if (source == known.name) return {name, known.origin, known.licence, rows};
    }
    return {name, "as given", "as given", rows};
}

WeightsManifest describe(const TrainingRows& rows, const std::vector<ModelPass>& passes, const TrainOptions& options) {
    WeightsManifest m;
    m.seed = options.seed;
    m.members = options.members;
    const Exclusions& out = options.exclusions;
    for (const auto* names : {&out.gpus, &out.sources, &out.families, &out.super_families})
        m.excluded.insert(m.excluded.end(), names->begin(), names->end());
    for (std::size_t n = 0; n < net_count; ++n) {
        m.nets[n] = {static_cast<int>(feature_columns(static_cast<Net>(n)).size()), 1.0, choices[n].unseen_log_sd,
                     rows.groups[n]};
    }
    std::map<std::string, std::int64_t> operators, models;
    for (const OpsRow& row : rows.train) ++operators[row.source];
    for (const ModelPass& pass : passes) ++models[pass.source];
    for (const auto& [source, count] : operators) m.sources.push_back(source_of(source, source, count));
    for (const auto& [source, count] : models) m.sources.push_back(source_of(source, source + ", whole models", count));
    return m;
}

// The factor on a network's scale with which 90 % of the held-out rows of named GPUs lie inside their 90 % interval.
void calibrate(WeightsManifest& manifest, const std::vector<OpsRow>& rows, const std::vector<OperatorTime>& times) {
    for (std::size_t n = 0; n < net_count; ++n) {
        const GroupIndex groups(manifest.nets[n].groups);
        std::vector<double> ratios;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (net_of(rows[i].op) != static_cast<Net>(n) || groups.find(*rows[i].device, rows[i].clock) < 0) continue;
            ratios.push_back(std::abs(std::log(1e-3 * *rows[i].time_ms / times[i].median_s)) /
                             (1.6449 * times[i].log_sd));
        }
        if (ratios.size() < 100) continue;
        const auto at = ratios.begin() + static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(ratios.size()));
        std::nth_element(ratios.begin(), at, ratios.end());
        manifest.nets[n].scale_factor *= std::clamp(*at, 0.01, 100.0);
    }
}

void add_errors(WeightsManifest& manifest, const std::vector<OpsRow>& rows, const std::vector<OperatorTime>& times) {
    for (const auto& [group, f] : operator_errors(rows, times).groups("source/operator")) {
        const auto slash = group.find('/');
        manifest.held_out.push_back({group.substr(0, slash), group.substr(slash + 1), static_cast<std::int64_t>(f.rows),
                                     f.mape_pct, f.median_ape_pct, f.baseline_mape_pct});
    }
}

}  // namespace

Result<WeightsManifest> train_weights(const TrainOptions& options, const DeviceCatalog& catalog) {
    const auto module = open_torch_module(options.module_path);
    if (!module) return module.error();
    NamedDevices devices(catalog);
    const auto rows = collect_training_rows(options.ops, devices, options.exclusions);
    if (!rows) return rows.error();
    if (rows->train.empty())
        return invalid_argument("no row to learn from: each needs a known GPU, a known operator and time_ms");
    Result<std::vector<ModelPass>> passes = std::vector<ModelPass>();
    if (!options.end_to_end.empty())
        passes = collect_model_passes(options.end_to_end, options.opgraphs, devices, options.exclusions);
    if (!passes) return passes.error();
    const auto network = fit_network(*module, *rows, *passes, options);
    if (!network) return network.error();

    std::error_code failed;
    std::filesystem::create_directories(options.out, failed);
    const std::string file = options.out + "/" + weights_file, manifest_path = options.out + "/" + manifest_file;
    char error[512] = "";
    if (failed || module->save(network->get(), file.c_str(), error, sizeof error) != 0)
        return invalid_argument(fmt::format("cannot write '{}': {}", file, failed ? failed.message() : error));
    const auto content = read_file(file, 1u << 30);
    if (!content) return content.error();
    WeightsManifest manifest = describe(*rows, *passes, options);
    manifest.id = weights_id(*content);
    if (auto s = write_file_atomically(manifest_path, write_weights_manifest(manifest)); !s) return s.error();

    // What stands on disk is what is judged.
    const auto model = open_torch_model(options.module_path, options.out);
    if (!model) return model.error();
    const auto times = operator_times(rows->held_out, **model);
    if (!times) return times.error();
    calibrate(manifest, rows->held_out, *times);
    add_errors(manifest, rows->held_out, *times);
    if (auto s = write_file_atomically(manifest_path, write_weights_manifest(manifest)); !s) return s.error();
    return manifest;
}

}  // namespace dlcast
