// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/model_sums.h"

#include <algorithm>
#include <cmath>

#include "cli/training_steps.h"
#include "predictor/timing/group_index.h"

namespace dlcast {
namespace {

bool is_judge(const ModelsRow& row) {
    return std::count_if(row.published.begin(), row.published.end(),
                         [](const auto& p) { return p.second.total_ms.has_value(); }) > 1;
}

bool is_excluded(const ModelsRow& row, const Exclusions& exclusions) {
    return is_listed(exclusions.gpus, row.gpu) || is_listed(exclusions.gpus, row.device->name) ||
           is_listed(exclusions.sources, row.source) || is_listed(exclusions.families, row.model) ||
           is_listed(exclusions.super_families, super_family_of(row.model));
}

}  // namespace

Result<std::vector<ModelPass>> collect_model_passes(const std::string& end_to_end, const std::string& opgraphs,
                                                    NamedDevices& devices, const Exclusions& exclusions) {
    const auto graphs = read_op_graphs(opgraphs);
    if (!graphs) return graphs.error();
    std::vector<ModelPass> out;
    auto status = read_models(end_to_end, devices, [&](ModelsRow&& row) {
        if (!row.fault.empty() || row.gpus != 1 || row.fused || row.unit == "epoch" || is_judge(row) ||
            is_excluded(row, exclusions))
            return;
        const auto graph = graphs->find({row.model, row.training, row.seq_len, row.batch});
        if (graph == graphs->end() || !(row.dtype.empty() || row.dtype == "fp32")) return;
        LayerOperators operators = graph_operators(graph->second, false);
        const auto add = [&](std::vector<OperatorUse>& list, const std::optional<double>& measured_ms) {
            if (measured_ms && !list.empty())
                out.push_back({row.device, std::move(list), 1e-3 * *measured_ms, row.source});
        };
        add(operators.forward, row.measured.forward_ms);
        add(operators.backward, row.measured.backward_ms);
    });
    if (!status) return status.error();
    return out;
}

Result<ModelSums> sums_of(const std::vector<ModelPass>& passes,
                          const std::array<std::vector<NamedGroup>, net_count>& groups) {
    const std::array<GroupIndex, net_count> index{GroupIndex(groups[0]), GroupIndex(groups[1]), GroupIndex(groups[2])};
    const auto analytic = make_analytic_model();
    ModelSums out;
    for (const ModelPass& pass : passes) {
        double other_s = 0.0;
        for (const OperatorUse& use : pass.operators) {
            const OperatorQuery query{&use.op, pass.device, Clock::kernel};
            if (const auto net = net_of(use.op)) {
                const auto n = static_cast<std::size_t>(*net);
                out.tables[n].append(query, index[n].find(*pass.device, query.clock));
                out.sum[n].push_back(static_cast<std::int32_t>(out.log_time.size()));
                out.count[n].push_back(static_cast<float>(use.count));
                continue;
            }
            const auto time = analytic->times({&query, 1});
            if (!time) return time.error();
            other_s += use.count * time->front().median_s;
        }
        out.log_time.push_back(static_cast<float>(std::log(pass.measured_s)));
        out.other_s.push_back(static_cast<float>(other_s));
    }
    return out;
}

dlcast_torch_sums ModelSums::view() const {
    dlcast_torch_sums out{};
    out.sums = static_cast<std::int64_t>(log_time.size());
    out.log_time = log_time.data();
    out.other_s = other_s.data();
    for (std::size_t n = 0; n < net_count; ++n) {
        const FeatureTable& t = tables[n];
        dlcast_torch_table& table = out.tables[n];
        table.rows = static_cast<std::int64_t>(t.rows());
        table.columns = t.columns;
        table.features = t.features.data();
        table.physics = reinterpret_cast<const float*>(t.physics.data());
        table.launch = t.launch.data();
        table.optimizer = t.optimizer.data();
        table.group = t.group.data();
        out.sum[n] = sum[n].data();
        out.count[n] = count[n].data();
    }
    return out;
}

}  // namespace dlcast
