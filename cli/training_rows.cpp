// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/training_rows.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

using Key = std::tuple<std::string, bool, Net>;  // GPU, session, network

Key key_of(const OpsRow& row) { return {row.device->name, row.clock == Clock::session, *net_of(row.op)}; }

}  // namespace

// NeuSight's P4 linear layers for training ran at a quarter of the speed of its test rows (1.1 against 4.2 TFLOPS).
// Three of eight traces on A100-PCIE-40GB ran products at half the speed of the others (9 to 10 against 17 TFLOPS), so
// that their sums are 1.5 times the whole models'.
bool is_known_wrong(const OpsRow& row) {
    if (row.set == "trace" && row.gpu == "A100-PCIE-40GB" && net_of(row.op) == Net::product) return true;
    return row.source == "neusight" && row.gpu == "P4" && row.op.kind == OperatorKind::linear && row.set != "trace";
}

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return squeeze(n) == squeeze(name); });
}

Result<TrainingRows> collect_training_rows(const std::vector<std::string>& files, NamedDevices& devices,
                                           const Exclusions& exclusions) {
    TrainingRows out;
    std::vector<OpsRow> traces;
    for (const std::string& file : files) {
        auto status = read_ops(file, devices, [&](OpsRow&& row) {
            if (!row.fault.empty() || !row.time_ms || !net_of(row.op) || row.set.starts_with("test") ||
                is_known_wrong(row))
                return;
            if (is_listed(exclusions.gpus, row.gpu) || is_listed(exclusions.gpus, row.device->name) ||
                is_listed(exclusions.sources, row.source))
                return;
            auto& rows = row.set == "valid" ? out.held_out : row.set == "trace" ? traces : out.train;
            rows.push_back(std::move(row));
        });
        if (!status) return status.error();
    }
    std::set<Key> trained;
    for (const OpsRow& row : out.train) trained.insert(key_of(row));
    for (OpsRow& row : traces) (trained.contains(key_of(row)) ? out.train : out.held_out).push_back(std::move(row));
    for (const auto& [gpu, session, net] : trained) {
        std::string fault;
        const Device* device = devices.find(gpu, fault);
        out.groups[static_cast<std::size_t>(net)].push_back({gpu, device == nullptr ? "" : device->product, session});
    }
    return out;
}

double training_weight(const OpsRow& row) {
    if (row.clock == Clock::kernel) return 8.0;  // few, and the very thing a forecast sums up
    // PyTorch's convolutions are few shapes on five GPUs each; cuDNN's choice of an algorithm for one is soon learnt by
    // heart, and tells nothing of the next.
    if (row.clock == Clock::call && net_of(row.op) == Net::conv) return 0.4;
    return row.device->vendor == "amd" && net_of(row.op) == Net::product ? 2.0 : 1.0;
}

}  // namespace dlcast
