// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo_parts.h"

#include <algorithm>

namespace dlcast {

Window sided_window(std::int64_t height, std::int64_t width, std::int64_t stride) {
    Window w;
    w.kernel_h = height;
    w.kernel_w = width;
    w.stride = stride;
    w.pad_h = height / 2;
    w.pad_w = width / 2;
    return w;
}

void add_conv_norm(ModelBuilder& b, const std::string& at, std::int64_t out, const Window& w,
                   const std::string& function, std::int64_t groups) {
    b.conv(at, out, w, false, groups);
    b.norm(at + ".bn", LayerKind::batch_norm);
    if (!function.empty()) b.activation(at + ".act", function);
}

void add_squeeze_excitation(ModelBuilder& b, const std::string& at, std::int64_t squeezed, const std::string& function,
                            const std::string& gate) {
    const Shape whole = b.shape();
    b.global_avg_pool(at + ".pool");
    b.conv(at + ".fc1", squeezed, window(1), true);
    b.activation(at + ".act", function);
    b.conv(at + ".fc2", whole[0], window(1), true);
    b.activation(at + ".gate", gate);
    b.continue_from(whole);
    b.multiply(at + ".scale");
}

std::int64_t in_multiples(double channels, std::int64_t unit) {
    const std::int64_t rounded =
        std::max(unit, static_cast<std::int64_t>(channels + static_cast<double>(unit) / 2.0) / unit * unit);
    return static_cast<double>(rounded) < 0.9 * channels ? rounded + unit : rounded;
}

Result<ModelSpec> finish_classifier(ModelBuilder& b, const std::string& name, const std::string& family,
                                    std::int64_t classes, bool dropout) {
    if (b.failed()) return invalid_argument(b.fault());
    b.global_avg_pool("avgpool");
    b.flatten("flatten");
    if (dropout) b.dropout("drop");
    if (classes > 0) {
        b.linear("classifier", classes);
        b.loss("loss");
    }
    return b.finish(name, family);
}

}  // namespace dlcast
