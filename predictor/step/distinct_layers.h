// SPDX-License-Identifier: GPL-2.0-or-later
// Layers of one model that run the same kernels: eighty blocks of a transformer are lowered and timed once.
#pragma once

#include <cstdint>
#include <vector>

#include "predictor/model/workload.h"
#include "predictor/timing/lowering.h"

namespace dlcast {

struct DistinctLayers {
    std::vector<std::uint32_t> place;  // of each layer of the model, in the two lists below
    std::vector<std::size_t> example;  // number of the first such layer
    std::vector<double> count;         // how many there are
    std::vector<bool> fused;           // into the layer before, by a compiler
};

/// Equal are layers that agree in all but name and number of block, that have a trained layer before them or not, and
/// that a compiler fuses into the one before (`fused_away`, one a layer; empty: none) or not.
DistinctLayers distinct_layers(const ModelSpec& model, const std::vector<bool>& fused_away = {});

/// The same workload on many places: distinct layers, and their operators for the micro-batch asked for last.
class LoweredLayers {
public:
    explicit LoweredLayers(const Workload& workload);
    /// One entry for each distinct layer; holds until the next call.
    const std::vector<LayerOperators>& operators(std::int64_t micro_batch);
    const DistinctLayers& distinct() const { return distinct_; }

private:
    const Workload& workload_;
    DistinctLayers distinct_;
    std::size_t first_trained_ = 0;
    std::int64_t micro_batch_ = -1;
    std::vector<LayerOperators> operators_;
};

}  // namespace dlcast
