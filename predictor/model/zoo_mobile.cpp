// SPDX-License-Identifier: GPL-2.0-or-later
// Networks of inverted residuals: MobileNetV2 (Sandler et al., arXiv:1801.04381, table 2) and EfficientNet (Tan & Le,
// arXiv:1905.11946, table 1), as torchvision builds them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

// The multiple of 8 nearest to `channels`, but never 10 % below it.
std::int64_t in_eights(double channels) {
    const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4.0) / 8 * 8);
    return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

struct Mobile {
    std::string function;  // after a convolution's norm
    bool squeeze = false;
    bool wide_squeeze = false;  // squeezes a quarter of the expanded channels, not of the block's input
};

void add_conv(ModelBuilder& b, const Mobile& net, const std::string& at, std::int64_t out, const Window& w,
              std::int64_t groups = 1, bool linear = false) {
    b.conv(at, out, w, false, groups);
    b.norm(at + ".bn", LayerKind::batch_norm);
    if (!linear) b.activation(at + ".act", net.function);
}

void add_squeeze(ModelBuilder& b, const Mobile& net, const std::string& at, std::int64_t squeezed) {
    const Shape whole = b.shape();
    b.global_avg_pool(at + ".pool");
    b.conv(at + ".fc1", squeezed, window(1), true);
    b.activation(at + ".act", net.function);
    b.conv(at + ".fc2", whole[0], window(1), true);
    b.activation(at + ".sigmoid", "sigmoid");
    b.continue_from(whole);
    b.multiply(at + ".scale");
}

struct Stage {
    int expand, kernel, stride;
    std::int64_t out;
    int repeat;
};

void add_inverted_residual(ModelBuilder& b, const Mobile& net, const std::string& at, const Stage& stage,
                           std::int64_t stride) {
    const Shape in = b.shape();
    const std::int64_t expanded = in[0] * stage.expand;
    if (stage.expand > 1) add_conv(b, net, at + ".expand", expanded, window(1));
    add_conv(b, net, at + ".depthwise", expanded, window(stage.kernel, stride, stage.kernel / 2), expanded);
    if (net.squeeze)
        add_squeeze(b, net, at + ".se", std::max<std::int64_t>(1, (net.wide_squeeze ? expanded : in[0]) / 4));
    add_conv(b, net, at + ".project", stage.out, window(1), 1, true);
    if (stride == 1 && in[0] == stage.out) b.add(at + ".add");
}

Result<ModelSpec> build_mobile(const std::string& name, const std::string& family, std::int64_t image_size,
                               std::int64_t classes, const Mobile& net, std::int64_t stem,
                               const std::vector<Stage>& stages, std::int64_t last) {
    ModelBuilder b({3, image_size, image_size});
    add_conv(b, net, "stem", stem, window(3, 2, 1));
    int block = 0, number = 0;
    for (const Stage& stage : stages) {
        ++number;
        for (int i = 0; i < stage.repeat && !b.failed(); ++i) {
            b.set_block(block++);
            add_inverted_residual(b, net, fmt::format("stage{}.{}", number, i), stage, i == 0 ? stage.stride : 1);
        }
    }
    b.set_block(-1);
    add_conv(b, net, "head", last, window(1));
    if (b.failed()) return invalid_argument(b.fault());
    b.global_avg_pool("avgpool");
    b.flatten("flatten");
    b.dropout("drop");
    b.linear("classifier", classes);
    b.loss("loss");
    return b.finish(name, family);
}

}  // namespace

Result<ModelSpec> build_mobilenet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const std::vector<Stage> stages = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 3, 2, 32, 3}, {6, 3, 2, 64, 4},
                                       {6, 3, 1, 96, 3}, {6, 3, 2, 160, 3}, {6, 3, 1, 320, 1}};
    return build_mobile(name, "mobilenet", image_size, classes, {"relu6", false, false}, 32, stages, 1280);
}

Result<ModelSpec> build_efficientnet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    struct Scale {
        double width, depth;
    };
    // Compound scaling of b0 to b7.
    static constexpr Scale scales[] = {{1.0, 1.0}, {1.0, 1.1}, {1.1, 1.2}, {1.2, 1.4},
                                       {1.4, 1.8}, {1.6, 2.2}, {1.8, 2.6}, {2.0, 3.1}};
    const auto [width, depth] = scales[name.back() - '0'];
    std::vector<Stage> stages = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                                 {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
    for (Stage& stage : stages) {
        stage.out = in_eights(static_cast<double>(stage.out) * width);
        stage.repeat = static_cast<int>(std::ceil(stage.repeat * depth));
    }
    const Mobile net{"silu", true, name.find("widese") != std::string::npos};
    return build_mobile(name, "efficientnet", image_size, classes, net, in_eights(32 * width), stages,
                        4 * stages.back().out);
}

}  // namespace dlcast
