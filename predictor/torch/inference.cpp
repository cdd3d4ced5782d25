// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/torch/inference.h"

#include <algorithm>
#include <cmath>

#include "predictor/torch/dense_layer.h"

namespace dlcast {
namespace {

constexpr std::int64_t rows_at_once = 64;  // inputs and outputs of a layer stay in the first-level cache
static_assert(rows_at_once % block_rows == 0);

std::vector<float> values(const at::Tensor& tensor) {
    const at::Tensor whole = tensor.contiguous();
    return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

int panels_of(int out) { return (out + lanes - 1) / lanes; }

float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

float smooth_maximum(float log_x, float log_y, float power) {
    const float large = std::max(log_x, log_y);
    return large + std::log1p(std::exp(power * (std::min(log_x, log_y) - large))) / power;
}

}  // namespace

PlainNet::PlainNet(const NetParameters& p)
    : columns_(static_cast<int>(p.mean.size(0))),
      mean_(values(p.mean)),
      inverse_sd_(values(p.inverse_sd)),
      low_(values(p.low)),
      high_(values(p.high)),
      embedding_(values(p.embedding)),
      offset_(values(p.offset)),
      log_launch_(values(p.log_launch)),
      group_launch_(values(p.group_launch)),
      update_(values(p.log_update.exp())),
      groups_(static_cast<std::int32_t>(p.embedding.size(0))),
      slowness_min_(values(p.slowness_min).front()) {
    for (std::size_t i = 0; i < NetParameters::layers; ++i) {
        Layer layer{
            static_cast<int>(p.weight[i].size(1)), static_cast<int>(p.weight[i].size(0)), {}, values(p.bias[i])};
        const std::vector<float> rows = values(p.weight[i]);  // [out][in]
        const std::size_t in = static_cast<std::size_t>(layer.in);
        layer.bias.resize(static_cast<std::size_t>(panels_of(layer.out)) * lanes);
        layer.weight.resize(layer.bias.size() * in);
        for (std::size_t out = 0; out < static_cast<std::size_t>(layer.out); ++out) {
            float* const panel = layer.weight.data() + out / lanes * lanes * in + out % lanes;
            for (std::size_t k = 0; k < in; ++k) panel[k * lanes] = rows[out * in + k];
        }
        layers_.push_back(std::move(layer));
    }
}

void PlainNet::check(const dlcast_torch_table& table) const {
    TORCH_CHECK(table.columns == columns_, "the network reads ", columns_, " columns, not ", table.columns);
    const auto inside = [&](const std::int32_t* index, std::int64_t low, std::int64_t high) {
        return std::all_of(index, index + table.rows, [&](std::int32_t i) { return i >= low && i < high; });
    };
    TORCH_CHECK(inside(table.launch, 0, static_cast<std::int64_t>(log_launch_.size())) &&
                    inside(table.optimizer, 0, static_cast<std::int64_t>(update_.size())) &&
                    inside(table.group, -1, groups_),
                "an index is out of range");
}

// Standardised features inside their range in training, then the embedding, nothing of it for a GPU without a group.
void PlainNet::fill_inputs(const dlcast_torch_table& table, std::int64_t first, std::int64_t rows,
                           float* inputs) const {
    constexpr int width = NetParameters::embedding_width;
    for (std::int64_t row = first; row < first + rows; ++row) {
        const float* const features = table.features + row * columns_;
        for (std::size_t c = 0; c < mean_.size(); ++c)
            *inputs++ = (std::max(std::min(features[c], high_[c]), low_[c]) - mean_[c]) * inverse_sd_[c];
        const std::int32_t group = table.group[row];
        for (int e = 0; e < width; ++e)
            *inputs++ = group < 0 ? 0.0f : embedding_[static_cast<std::size_t>(group * width + e)];
    }
}

float PlainNet::beyond(const float* features) const {
    float out = 0.0f;
    for (std::size_t c = 0; c < mean_.size(); ++c)
        out = std::max(out, std::max(features[c] - high_[c], low_[c] - features[c]) * inverse_sd_[c]);
    return out;
}

PlainNet::Outputs PlainNet::outputs(const float* z, const float* physics, const dlcast_torch_table& table,
                                    std::int64_t row) const {
    const std::int32_t group = table.group[row];
    const auto offset = [&](int which) {
        const float given = table.offsets == nullptr ? 0.0f : table.offsets[row * 3 + which];
        return given + (group < 0 ? 0.0f : offset_[static_cast<std::size_t>(group * 3 + which)]);
    };
    const float log_compute = physics[0] + physics[2] + softplus(z[0]) + offset(1);
    const float log_memory = physics[1] + slowness_min_ + softplus(z[1]) + offset(2);
    const float log_main = smooth_maximum(log_compute, log_memory, 3.0f);
    const float log_launch = physics[5] > 0.5f ? host_launch(group, table.launch[row]) + offset(0) + std::tanh(z[3])
                                               : std::log(static_cast<float>(kernel_start_s));
    float log_time = 0.0f;
    if (physics[3] > 0.5f) {
        const float update = update_[static_cast<std::size_t>(table.optimizer[row])] * physics[4];
        log_time = std::log(std::exp(log_launch) + std::exp(log_main) + update);
    } else {
        const float before = physics[5] > 0.5f ? launch_before : 0.0f;
        const float hidden = smooth_maximum(log_launch + std::log(1.0f - before), log_main, 6.0f);
        log_time = std::log(before * std::exp(log_launch) + std::exp(hidden));
    }
    return {log_time, std::clamp(z[2], -6.0f, 1.0f)};
}

float PlainNet::host_launch(std::int32_t group, std::int32_t slot) const {
    const std::size_t at = static_cast<std::size_t>(slot);
    return log_launch_[at] +
           (group < 0 ? 0.0f : group_launch_[static_cast<std::size_t>(group) * log_launch_.size() + at]);
}

void PlainNet::add_predictions(const dlcast_torch_table& table) const {
    check(table);
    std::size_t width = static_cast<std::size_t>(layers_.front().in);
    for (const Layer& layer : layers_) width = std::max(width, layer.bias.size());
    std::vector<float> from(rows_at_once * width), to(rows_at_once * width);
    for (std::int64_t first = 0; first < table.rows; first += rows_at_once) {
        const std::int64_t rows = std::min(rows_at_once, table.rows - first);
        const int padded = static_cast<int>((rows + block_rows - 1) / block_rows * block_rows);
        fill_inputs(table, first, rows, from.data());
        int stride = layers_.front().in;
        for (const Layer& layer : layers_) {
            const int panels = panels_of(layer.out);
            dense_layer(from.data(), padded, layer.in, stride, layer.weight.data(), layer.bias.data(), panels,
                        &layer != &layers_.back(), to.data());
            stride = panels * lanes;
            std::swap(from, to);
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t row = first + r;
            const Outputs o = outputs(from.data() + r * stride, table.physics + row * 6, table, row);
            table.predicted_log_time[row] += o.log_time;
            table.predicted_log_scale[row] += o.log_scale;
            if (table.beyond != nullptr) table.beyond[row] = beyond(table.features + row * columns_);
        }
    }
}

}  // namespace dlcast
