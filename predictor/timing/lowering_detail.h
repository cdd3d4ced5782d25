// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the lowering files alone.
#pragma once

#include "predictor/model/workload.h"
#include "predictor/timing/lowering.h"

namespace dlcast::lowering {

/// One layer, and what its backward owes.
struct Site {
    const Layer& layer;
    const Training& training;
    std::int64_t batch;
    bool data_gradient;
    bool weight_gradient;
    LayerOperators& out;

    bool backward() const { return data_gradient || weight_gradient; }
    /// Samples x tokens of a sequence, samples of a vector.
    std::int64_t rows(const Shape& shape) const { return shape.size() == 2 ? batch * shape[0] : batch; }
};

/// Precision of convolutions and products of two data tensors (fp8 is for linear layers alone), of what runs between
/// them, and of sums that autocast keeps in fp32.
Precision product_precision(const Training& training);
Precision data_precision(const Training& training);
Precision reduction_precision(const Training& training);
bool half_width(const Training& training);

Operator row_wise(OperatorKind kind, Function function, Precision precision, std::int64_t rows, std::int64_t cols);
void put(std::vector<OperatorUse>& list, Operator op, double count = 1.0);
/// The operator forward and, where backward is owed, the same one in Phase::backward.
void put_both(Site& site, const Operator& op, double count = 1.0);

void lower_convolution(Site& site);
void lower_linear(Site& site);
void lower_attention(Site& site);
void lower_activation(Site& site);
void lower_row_wise(Site& site);

}  // namespace dlcast::lowering
