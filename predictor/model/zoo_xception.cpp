// SPDX-License-Identifier: GPL-2.0-or-later
// Xception (Chollet, arXiv:1610.02357, figure 5).
#include <fmt/format.h>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

void add_separable(ModelBuilder& b, const std::string& at, std::int64_t out) {
    const std::int64_t in = b.shape()[0];
    b.conv(at + ".depthwise", in, window(3, 1, 1), false, in);
    b.conv(at + ".pointwise", out, window(1));
    b.norm(at + ".bn", LayerKind::batch_norm);
}

// Separable convolutions of these widths beside a strided shortcut; without a stride, beside nothing.
void add_block(ModelBuilder& b, const std::string& at, std::initializer_list<std::int64_t> widths, bool halves,
               bool starts_with_relu) {
    const Shape in = b.shape();
    int number = 0;
    for (const std::int64_t width : widths) {
        if (number > 0 || starts_with_relu) b.activation(fmt::format("{}.relu{}", at, number), "relu");
        add_separable(b, fmt::format("{}.{}", at, number++), width);
    }
    if (halves) {
        b.max_pool(at + ".pool", window(3, 2, 1));
        const Shape out = b.shape();
        b.continue_from(in);
        add_conv_norm(b, at + ".skip", out[0], window(1, 2), "");
    }
    b.add(at + ".add");
}

}  // namespace

Result<ModelSpec> build_xception(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    add_conv_norm(b, "conv1", 32, window(3, 2));
    add_conv_norm(b, "conv2", 64, window(3));
    add_block(b, "block1", {128, 128}, true, false);
    add_block(b, "block2", {256, 256}, true, true);
    add_block(b, "block3", {728, 728}, true, true);
    for (int i = 4; i < 12 && !b.failed(); ++i) {
        b.set_block(i);
        add_block(b, fmt::format("block{}", i), {728, 728, 728}, false, true);
    }
    b.set_block(-1);
    add_block(b, "block12", {728, 1024}, true, true);
    add_separable(b, "conv3", 1536);
    b.activation("conv3.relu", "relu");
    add_separable(b, "conv4", 2048);
    b.activation("conv4.relu", "relu");
    return finish_classifier(b, name, "xception", classes);
}

}  // namespace dlcast
