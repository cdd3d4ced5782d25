// SPDX-License-Identifier: GPL-2.0-or-later
// The network for forecasts: the same formula as predict() in network.h, over plain arrays. A submission asks for a few
// hundred rows, for which LibTorch's bookkeeping of tensors would take several times as long as the arithmetic.
#pragma once

#include <vector>

#include "predictor/torch/network.h"

namespace dlcast {

/// One network of one member, laid out for reading in order.
class PlainNet {
public:
    /// `parameters` have passed check().
    explicit PlainNet(const NetParameters& parameters);
    /// Adds this member's log time and log scale of each row to the table's predicted columns. A row's answer does not
    /// depend on the other rows. Throws c10::Error where the table has other columns, or an index out of range.
    void add_predictions(const dlcast_torch_table& table) const;

private:
    struct Layer {
        int in = 0, out = 0;        // `out` without padding
        std::vector<float> weight;  // panels of `lanes` outputs, each [in][lanes]
        std::vector<float> bias;    // padded to whole panels
    };
    struct Outputs {
        float log_time, log_scale;
    };
    void check(const dlcast_torch_table& table) const;
    void fill_inputs(const dlcast_torch_table& table, std::int64_t first, std::int64_t rows, float* inputs) const;
    float beyond(const float* features) const;
    float host_launch(std::int32_t group, std::int32_t slot) const;
    Outputs outputs(const float* z, const float* physics, const dlcast_torch_table& table, std::int64_t row) const;

    int columns_ = 0;
    std::vector<float> mean_, inverse_sd_, low_, high_;
    std::vector<Layer> layers_;
    std::vector<float> embedding_, offset_;                  // [groups, embedding_width], [groups, 3]
    std::vector<float> log_launch_, group_launch_, update_;  // [slots], [groups, slots], [optimizers]
    std::int32_t groups_ = 0;
    float slowness_min_ = 0.0f;
};

}  // namespace dlcast
