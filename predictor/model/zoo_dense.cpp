// SPDX-License-Identifier: GPL-2.0-or-later
// DenseNet (Huang et al., arXiv:1608.06993, table 1) and ConvNeXt (Liu et al., arXiv:2201.03545), as torchvision builds
// them.
#include <fmt/format.h>

#include <array>

#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

void add_norm_relu(ModelBuilder& b, const std::string& at) {
    b.norm(at + ".norm", LayerKind::batch_norm);
    b.activation(at + ".relu", "relu");
}

}  // namespace

Result<ModelSpec> build_densenet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    std::array<int, 4> depths = {6, 12, 24, 16};
    if (name == "densenet169") depths = {6, 12, 32, 32};
    if (name == "densenet201") depths = {6, 12, 48, 32};
    if (name == "densenet161") depths = {6, 12, 36, 24};
    const std::int64_t growth = name == "densenet161" ? 48 : 32;
    ModelBuilder b({3, image_size, image_size});
    b.conv("conv0", 2 * growth, window(7, 2, 3));
    add_norm_relu(b, "stem");
    b.max_pool("pool0", window(3, 2, 1));
    int block = 0;
    for (std::size_t stage = 0; stage < depths.size(); ++stage) {
        for (int i = 0; i < depths[stage] && !b.failed(); ++i) {
            const std::string at = fmt::format("dense{}.{}", stage + 1, i);
            const Shape in = b.shape();
            b.set_block(block++);
            add_norm_relu(b, at + ".1");
            b.conv(at + ".conv1", 4 * growth, window(1));
            add_norm_relu(b, at + ".2");
            b.conv(at + ".conv2", growth, window(3, 1, 1));
            b.concat(at + ".concat", in[0]);
        }
        b.set_block(-1);
        if (stage + 1 == depths.size()) break;
        const std::string at = fmt::format("transition{}", stage + 1);
        add_norm_relu(b, at);
        b.conv(at + ".conv", b.shape()[0] / 2, window(1));
        b.avg_pool(at + ".pool", window(2, 2));
    }
    add_norm_relu(b, "last");
    b.global_avg_pool("avgpool");
    b.flatten("flatten");
    b.linear("classifier", classes);
    b.loss("loss");
    return b.finish(name, "densenet");
}

Result<ModelSpec> build_convnext_network(const std::string& name, const ImageSides& image, const ConvNextOptions& o) {
    if (o.depths.empty() || o.depths.size() != o.widths.size())
        return invalid_argument("each stage needs a depth and a width");
    ModelBuilder b({o.channels, image.height, image.width});
    b.conv("stem", o.widths[0], window(o.patch, o.patch), true);
    // Its layer norm runs over the channels of each pixel; the shape counts them first.
    const auto norm = [&](const std::string& at) { b.norm(at, LayerKind::group_norm); };
    norm("stem.norm");
    int block = 0;
    for (std::size_t stage = 0; stage < o.depths.size() && !b.failed(); ++stage) {
        const std::int64_t width = o.widths[stage];
        if (stage > 0) {
            norm(fmt::format("down{}.norm", stage));
            b.conv(fmt::format("down{}", stage), width, window(2, 2), true);
        }
        for (std::int64_t i = 0; i < o.depths[stage] && !b.failed(); ++i) {
            const std::string at = fmt::format("stage{}.{}", stage + 1, i);
            const Shape in = b.shape();
            b.set_block(block++);
            b.conv(at + ".depthwise", width, window(7, 1, 3), true, width);
            norm(at + ".norm");
            b.reshape(at + ".tokens", {in[1] * in[2], width});
            b.linear(at + ".up", 4 * width);
            b.activation(at + ".gelu", "gelu");
            if (o.second) b.norm(at + ".response_norm", LayerKind::layer_norm);
            b.linear(at + ".down", width);
            if (!o.second && o.layer_scale)
                b.add_parameters(b.multiply(at + ".layer_scale"), static_cast<double>(width));
            b.reshape(at + ".image", in);
            b.add(at + ".add");
        }
        b.set_block(-1);
    }
    if (b.failed()) return invalid_argument(b.fault());
    b.global_avg_pool("avgpool");
    norm("norm");
    b.flatten("flatten");
    if (o.classes > 0) {
        b.linear("classifier", o.classes);
        b.loss("loss");
    }
    return b.finish(name, "convnext");
}

Result<ModelSpec> build_convnext(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ConvNextOptions o;
    if (name != "convnext_tiny") o.depths[2] = 27;
    const std::int64_t width = name == "convnext_xlarge"  ? 256
                               : name == "convnext_large" ? 192
                               : name == "convnext_base"  ? 128
                                                          : 96;
    o.widths = {width, 2 * width, 4 * width, 8 * width};
    o.classes = classes;
    return build_convnext_network(name, {image_size, image_size}, o);
}

}  // namespace dlcast
