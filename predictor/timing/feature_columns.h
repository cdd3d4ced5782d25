// SPDX-License-Identifier: GPL-2.0-or-later
// Inside of features.h: one row of columns for one network.
#pragma once

#include <string_view>
#include <vector>

#include "predictor/timing/features.h"

namespace dlcast {

/// Appends values in a fixed order; keeps their names when asked to.
class ColumnWriter {
public:
    ColumnWriter(std::vector<float>& values, std::vector<FeatureColumn>* columns)
        : values_(values), columns_(columns) {}
    void put(std::string_view name, double value, double noise = 0.0) {
        values_.push_back(static_cast<float>(value));
        if (columns_ != nullptr) columns_->push_back({std::string(name), static_cast<float>(noise)});
    }
    void flag(std::string_view name, bool value) { put(name, value ? 1.0 : 0.0); }

private:
    std::vector<float>& values_;
    std::vector<FeatureColumn>* columns_;
};

void put_features(ColumnWriter& w, Net net, const OperatorQuery& q);

/// A cuDNN convolution of this shape may use an algorithm that saves arithmetic.
bool winograd_may_run(const Operator& op);
bool fft_may_run(const Operator& op);

}  // namespace dlcast
