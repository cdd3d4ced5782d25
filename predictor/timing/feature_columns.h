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
    void put(std::string_view name, double value, Figure figure = Figure::none, double noise = 0.0) {
        values_.push_back(static_cast<float>(value));
        if (columns_ != nullptr) columns_->push_back({std::string(name), figure, static_cast<float>(noise)});
    }
    void flag(std::string_view name, bool value) { put(name, value ? 1.0 : 0.0); }

private:
    std::vector<float>& values_;
    std::vector<FeatureColumn>* columns_;
};

void put_features(ColumnWriter& w, Net net, const OperatorQuery& q);

namespace columns {

void put_conv(ColumnWriter& w, const OperatorQuery& q);
void put_product(ColumnWriter& w, const OperatorQuery& q);
void put_memory(ColumnWriter& w, const OperatorQuery& q);

/// At least 1.
double multiprocessors(const Device& device);
/// log(size), 0 below 1.
double log_size(double size);
/// Rounds of blocks over what the multiprocessors hold at once, and how full the last is: 1.01 take as long as 2.
void put_waves(ColumnWriter& w, std::string_view waves_name, std::string_view fill_name, double waves);
/// Rounds in which the multiprocessors compute `batch` results of m x n in tiles of rows x cols.
double tile_waves(double batch, double m, double n, double rows, double cols, const Device& device);
void put_tiles(ColumnWriter& w, double batch, double m, double n, const Device& device);
/// The products of a backward pass have results of other shapes: the gradient of the data m x k, of the weight k x n.
void put_gradient_tiles(ColumnWriter& w, double batch, double m, double k, double n, const Device& device);
void put_alignment(ColumnWriter& w, std::string_view by_4, std::string_view by_32, std::int64_t size);
void put_activation(ColumnWriter& w, Function f);
void put_device(ColumnWriter& w, const Device& device);
/// Log of arithmetic over traffic, both in seconds, as fp32: the networks learnt from fp32 rows, and judge shapes in
/// another precision beside them; its sustained rate enters by formula.
double log_intensity(const OperatorQuery& q);

}  // namespace columns

/// A cuDNN convolution of this shape may use an algorithm that saves arithmetic.
bool winograd_may_run(const Operator& op);
bool fft_may_run(const Operator& op);

}  // namespace dlcast
