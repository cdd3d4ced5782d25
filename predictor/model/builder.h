// SPDX-License-Identifier: GPL-2.0-or-later
// Appends layers one by one while it infers shapes and counts parameters: zoo entries and every file format are built
// on it.
#pragma once

#include <cstdint>
#include <string>

#include "predictor/base/result.h"
#include "predictor/model/layer.h"

namespace dlcast {

/// A sliding window. `same`: output = ceil(input / stride), whatever the padding.
struct Window {
    std::int64_t kernel_h = 1, kernel_w = 1;
    std::int64_t stride = 1;
    std::int64_t pad_h = 0, pad_w = 0;
    std::int64_t dilation = 1;
    std::int64_t stride_w = 0, dilation_w = 0;  // along the width; 0: as along the height
    bool same = false;
    bool ceil_mode = false;
    std::int64_t out_h = 0, out_w = 0;  // where the padding does not tell; 0: it does
};

/// A square window; `padding` on every side.
Window window(std::int64_t kernel, std::int64_t stride = 1, std::int64_t padding = 0);

/// Each call appends a layer that reads the tensor of shape() and leaves its own output there. Faults (a shape that
/// does not fit, an absurd size, too many layers) are kept: the first comes out of finish(), later calls do nothing.
class ModelBuilder {
public:
    explicit ModelBuilder(Shape input);

    const Shape& shape() const { return shape_; }
    /// Goes on from another tensor: a branch, a second input.
    void continue_from(Shape shape) { shape_ = std::move(shape); }

    // Images, [C, H, W].
    Layer& conv(std::string name, std::int64_t out, const Window& w, bool bias = false, std::int64_t groups = 1);
    Layer& transposed_conv(std::string name, std::int64_t out, const Window& w, bool bias = false,
                           std::int64_t groups = 1);
    Layer& max_pool(std::string name, const Window& w);
    Layer& avg_pool(std::string name, const Window& w);
    /// Averages (or any reduction) to height x width, whatever came in.
    Layer& adaptive_pool(std::string name, std::int64_t height, std::int64_t width);
    Layer& global_avg_pool(std::string name);
    Layer& upsample(std::string name, std::int64_t factor);

    // Any shape; the last dimension is the width (the first for batch and group norm of an image).
    Layer& linear(std::string name, std::int64_t out, bool bias = true);
    Layer& norm(std::string name, LayerKind kind, bool bias = true);
    Layer& activation(std::string name, std::string function);
    Layer& dropout(std::string name);
    Layer& softmax(std::string name);
    Layer& add(std::string name);
    Layer& multiply(std::string name);
    /// Joins `others` more channels (or columns) to the current tensor.
    Layer& concat(std::string name, std::int64_t others);
    Layer& flatten(std::string name);
    /// A view or a gather; costs nothing.
    Layer& reshape(std::string name, Shape output);
    Layer& loss(std::string name);

    // Sequences, [tokens, width].
    Layer& embedding(std::string name, std::int64_t vocab, std::int64_t width);
    Layer& attention(std::string name, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim);
    Layer& recurrent(std::string name, LayerKind kind, std::int64_t hidden, bool bidirectional = false);

    /// Layers appended from now on belong to this block (-1: none), or to a head.
    void set_block(int block) { block_ = block; }
    void set_head(bool head) { head_ = head; }
    /// Adds parameters that are no product of the layer's shapes (class tokens, more experts); below 0 takes tied ones
    /// away.
    void add_parameters(Layer& layer, double count);

    /// The weights of the layer last appended, or of all from number `first` on, are those of earlier layers.
    void share();
    void share_from(std::size_t first);
    /// No weight of the layers from number `first` on is trained.
    void freeze_from(std::size_t first);

    void fail(std::string text);
    bool failed() const { return !fault_.empty(); }
    const std::string& fault() const { return fault_; }
    std::size_t size() const { return model_.layers.size(); }
    Layer& back() { return model_.layers.back(); }
    Layer& layer(std::size_t index) { return model_.layers[index]; }

    /// The model with its sums, or the first fault (invalid_argument, no place in front).
    Result<ModelSpec> finish(std::string name, std::string family);

private:
    Layer& append(std::string name, LayerKind kind, Shape output, double parameters);
    bool is_image(const char* kind);
    Shape windowed(const Window& w, std::int64_t channels);
    Layer& pool(std::string name, LayerKind kind, const Window& w);

    Shape shape_;
    ModelSpec model_;
    Layer discarded_;  // written to after a fault
    std::string fault_;
    double parameters_ = 0.0;
    int block_ = -1;
    bool head_ = false;
};

/// Sums `parameters` and `trainable_parameters` again, after layers changed.
void count_parameters(ModelSpec& model);

}  // namespace dlcast
