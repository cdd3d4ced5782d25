// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/step/runtime_memory.h"

#include <algorithm>

#include "predictor/model/shape.h"

namespace dlcast {
namespace {

constexpr double mib = 1 << 20;

// An idle PyTorch process shows 0.4 GB on a T4 (40 processors), 0.6 GB on an A100 (108) in nvidia-smi.
constexpr double process_bytes = 0.3e9;
constexpr double bytes_per_processor = 2.5e6;

constexpr double most_convolution_bytes = 1024 * mib;
constexpr double neighbours = 3;  // of a ring one, of a tree two

}  // namespace

double context_bytes(const Device& device) { return process_bytes + bytes_per_processor * device.sm_count; }

double library_workspace_bytes(const Workload& workload, std::int64_t micro_batch, const Device& device) {
    const double e = element_bytes(workload.training.precision);
    double convolution = 0;
    for (const Layer& layer : workload.model.layers)
        if (layer.kind == LayerKind::conv2d)
            convolution = std::max(convolution, e * std::max(elements(layer.input), elements(layer.output)));
    const double products = (device.compute_capability >= 9.0 ? 32 : 8) * mib * 2;  // forward's and backward's threads
    return products + std::min(most_convolution_bytes, convolution * static_cast<double>(micro_batch));
}

double channel_bytes(const Layout& layout, const Device& device) {
    const bool nvlink = device.link.starts_with("nvlink") || device.link.starts_with("xgmi");
    const double fast_channels = device.compute_capability >= 8.0 || device.vendor == "amd" ? 24 : 12;
    double sum = 0;
    for (const Group* group : {&layout.data, &layout.tensor, &layout.context}) {
        if (group->ranks() < 2) continue;
        const bool fast = nvlink && group->ranks_per_node > 1;
        sum += neighbours * (fast ? fast_channels * (4 + 0.5 + 4.7) * mib : 4 * (4 + 0.5) * mib);
    }
    return sum;
}

}  // namespace dlcast
