// SPDX-License-Identifier: GPL-2.0-or-later
// The layer-time network as a LayerTimeModel: features in, times out, one call of the module for a whole batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/base/text.h"
#include "predictor/timing/group_index.h"
#include "predictor/timing/layer_time_model.h"
#include "predictor/timing/physics.h"
#include "predictor/timing/time_cache.h"
#include "predictor/timing/torch_module.h"
#include "predictor/timing/weights_manifest.h"

namespace dlcast {
namespace {

constexpr std::size_t max_weights_bytes = 16u << 20;

// Tensor-unit rates rest on whole steps, not on operators: that much less is known of them (log standard deviation).
constexpr double other_precision_log_sd = 0.25;

// Beyond this many standard deviations outside of the range in training, sizes count as far from it.
constexpr float far_sd = 0.25f;

struct Batch {
    FeatureTable table;
    struct Answer {
        std::size_t query, row;
    };
    std::vector<Answer> answers;
    std::vector<float> log_time, log_scale, beyond;
    std::vector<float> offsets;  // rows x 3, or none

    void put_offsets(const GroupOffsets& given) {
        offsets.resize(3 * table.rows(), 0.0f);
        const std::size_t at = offsets.size() - 3;
        offsets[at] = static_cast<float>(given.launch);
        offsets[at + 1] = static_cast<float>(given.compute);
        offsets[at + 2] = static_cast<float>(given.memory);
    }
};

dlcast_torch_table view_of(Batch& batch) {
    FeatureTable& t = batch.table;
    batch.log_time.resize(t.rows());
    batch.log_scale.resize(t.rows());
    batch.beyond.resize(t.rows());
    if (!batch.offsets.empty()) batch.offsets.resize(3 * t.rows(), 0.0f);
    static_assert(sizeof(PhysicsColumns) == physics_columns * sizeof(float));
    return {static_cast<std::int64_t>(t.rows()),
            t.columns,
            t.features.data(),
            reinterpret_cast<const float*>(t.physics.data()),
            t.launch.data(),
            t.optimizer.data(),
            t.group.data(),
            nullptr,
            nullptr,
            batch.log_time.data(),
            batch.log_scale.data(),
            batch.beyond.data(),
            batch.offsets.empty() ? nullptr : batch.offsets.data()};
}

// The two gradients of a convolution, which stand side by side in a layer's operators, have the same sizes and columns.
bool same_question(const OperatorQuery& a, const OperatorQuery& b) {
    if (a.device != b.device || a.clock != b.clock || a.offsets != b.offsets || a.op->kind != OperatorKind::conv2d)
        return false;
    if (a.op->phase != Phase::backward_data || b.op->phase != Phase::backward_weight) return false;
    Operator other = *b.op;
    other.phase = Phase::backward_data;
    return *a.op == other;
}

/// The group of one query after another: its names are looked up where the device or the clock changes.
class GroupFinder {
public:
    explicit GroupFinder(const GroupIndex& index) : index_(index) {}
    std::int32_t of(const OperatorQuery& query) {
        if (query.device != device_ || query.clock != clock_) group_ = index_.find(*query.device, query.clock);
        device_ = query.device;
        clock_ = query.clock;
        return group_;
    }

private:
    const GroupIndex& index_;
    const Device* device_ = nullptr;
    Clock clock_ = Clock::kernel;
    std::int32_t group_ = -1;
};

// What is left of the doubt about a GPU that trained nothing, once some of its rows were measured: three constants tell
// its level, not its shape. A fifth of the variance stays (a K80 left out and fitted to 30 rows strays by 0.09 more
// than the GPUs that trained).
double still_unseen(const OperatorQuery& query) {
    constexpr double shape = 0.2;
    return query.offsets == nullptr ? 1.0 : std::sqrt(shape + (1.0 - shape) / (1.0 + query.offsets->rows));
}

// How much of a memory-bound kernel's forecast is a guess: measured calls take a host's launch of 10 to 45 us at least,
// which hides what is shorter. There the analytic time is taken where it is less.
double hidden_part(double time_s) {
    constexpr double hidden_s = 10e-6, seen_s = 20e-6;
    return std::clamp((seen_s - time_s) / (seen_s - hidden_s), 0.0, 1.0);
}

class TorchModel final : public LayerTimeModel {
public:
    TorchModel(TorchModule module, TorchNetwork network, WeightsManifest manifest)
        : module_(module),
          network_(std::move(network)),
          manifest_(std::move(manifest)),
          groups_{GroupIndex(manifest_.nets[0].groups), GroupIndex(manifest_.nets[1].groups),
                  GroupIndex(manifest_.nets[2].groups)},
          analytic_(make_analytic_model()) {}

    Result<std::vector<OperatorTime>> times(std::span<const OperatorQuery> queries) const override {
        const auto has_offsets = [](const OperatorQuery& query) { return query.offsets != nullptr; };
        if (std::any_of(queries.begin(), queries.end(), has_offsets)) return predicted(queries);  // no cache knows them
        std::vector<OperatorTime> out(queries.size());
        const std::vector<std::size_t> missing = cache_.find(queries, out);
        if (missing.empty()) return out;
        std::vector<OperatorQuery> unknown;
        unknown.reserve(missing.size());
        for (const std::size_t i : missing) unknown.push_back(queries[i]);
        const auto fresh = predicted(unknown);
        if (!fresh) return fresh;
        for (std::size_t i = 0; i < missing.size(); ++i) out[missing[i]] = (*fresh)[i];
        cache_.insert(queries, out, missing);
        return out;
    }
    std::string by() const override { return "torch"; }
    std::string weights_id() const override { return manifest_.id; }

private:
    Result<std::vector<OperatorTime>> predicted(std::span<const OperatorQuery> queries) const {
        // Bounds are checked, and operators that no network knows are answered, by the analytic model.
        auto out = analytic_->times(queries);
        if (!out) return out;
        Batch batches[net_count] = {{FeatureTable(Net::conv), {}, {}, {}, {}, {}},
                                    {FeatureTable(Net::product), {}, {}, {}, {}, {}},
                                    {FeatureTable(Net::memory), {}, {}, {}, {}, {}}};
        GroupFinder groups[net_count] = {GroupFinder(groups_[0]), GroupFinder(groups_[1]), GroupFinder(groups_[2])};
        for (std::size_t i = 0; i < queries.size(); ++i) {
            const auto net = net_of(*queries[i].op);
            if (!net) continue;
            const auto n = static_cast<std::size_t>(*net);
            Batch& batch = batches[n];
            if (batch.answers.empty() || !same_question(queries[batch.answers.back().query], queries[i])) {
                batch.table.append(queries[i], groups[n].of(queries[i]));
                if (queries[i].offsets != nullptr) batch.put_offsets(*queries[i].offsets);
            }
            batch.answers.push_back({i, batch.table.rows() - 1});
        }
        const dlcast_torch_table tables[net_count] = {view_of(batches[0]), view_of(batches[1]), view_of(batches[2])};
        char error[512] = "";
        if (module_.evaluate(network_.get(), tables, error, sizeof error) != 0) {
            return unavailable(fmt::format("the layer-time network: {}", error));
        }
        for (const Batch& batch : batches) {
            const NetManifest& net = manifest_.nets[static_cast<std::size_t>(batch.table.net)];
            for (const auto& [index, row] : batch.answers) {
                const OperatorQuery& query = queries[index];
                double time_s = std::exp(static_cast<double>(batch.log_time[row]));
                if (!std::isfinite(time_s))
                    continue;  // sizes far outside of all measured ones: the analytic answer stands
                if (batch.table.net == Net::memory && query.clock == Clock::kernel)
                    time_s -= hidden_part(time_s) * std::max(0.0, time_s - (*out)[index].median_s);
                const double seen = net.scale_factor * std::exp(static_cast<double>(batch.log_scale[row]));
                const double gpu = batch.table.group[row] < 0 ? net.unseen_log_sd * still_unseen(query) : 0.0;
                const bool unseen = gpu > 0.0 && (query.offsets == nullptr || query.offsets->rows == 0);
                const double precision = on_tensor_units(*query.device, *query.op) ? other_precision_log_sd : 0.0;
                (*out)[index] = {time_s,
                                 std::sqrt(seen * seen + gpu * gpu + precision * precision),
                                 {.unseen_gpu = unseen,
                                  .far_from_data = batch.beyond[row] > far_sd,
                                  .other_precision = precision > 0.0}};
            }
        }
        return out;
    }
    TorchModule module_;
    TorchNetwork network_;
    WeightsManifest manifest_;
    GroupIndex groups_[net_count];
    std::unique_ptr<LayerTimeModel> analytic_;
    mutable TimeCache cache_;
};

Result<WeightsManifest> read_manifest(const std::string& dir) {
    const std::string path = dir + "/" + manifest_file;
    const auto text = read_file(path, 1 << 20);
    if (!text) return unavailable(text.error().message + "; train weights with dlcast train");
    auto manifest = parse_weights_manifest(*text, path);
    if (!manifest) return unavailable(manifest.error().message);
    if (manifest->schema != feature_schema) {
        return unavailable(
            fmt::format("{}: weights of feature schema {} where {} is needed; train them again with dlcast train", path,
                        manifest->schema, feature_schema));
    }
    for (std::size_t n = 0; n < net_count; ++n) {
        const auto expected = feature_columns(static_cast<Net>(n)).size();
        if (manifest->nets[n].columns != static_cast<int>(expected)) {
            return unavailable(
                fmt::format("{}: network {} reads {} columns where there are {}; train the weights again", path,
                            to_string(static_cast<Net>(n)), manifest->nets[n].columns, expected));
        }
    }
    return manifest;
}

}  // namespace

Result<std::unique_ptr<LayerTimeModel>> open_torch_model(const std::string& module_path,
                                                         const std::string& weights_dir) {
    auto manifest = read_manifest(weights_dir);
    if (!manifest) return manifest.error();
    const std::string file = weights_dir + "/" + weights_file;
    const auto content = read_file(file, max_weights_bytes);
    if (!content) return unavailable(content.error().message);
    if (weights_id(*content) != manifest->id) {
        return unavailable(
            fmt::format("{}: not the file that {} describes (cut short, damaged or exchanged); install both again",
                        file, manifest_file));
    }
    const auto module = open_torch_module(module_path);
    if (!module) return module.error();
    dlcast_torch_network* network = nullptr;
    char error[512] = "";
    if (module->open(file.c_str(), &network, error, sizeof error) != 0) {
        return unavailable(fmt::format("{}: {}; install the weights again", file, error));
    }
    auto model = std::make_unique<TorchModel>(*module, TorchNetwork(network, module->close), std::move(*manifest));
    return std::unique_ptr<LayerTimeModel>(std::move(model));
}

}  // namespace dlcast
