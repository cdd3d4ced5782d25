// SPDX-License-Identifier: GPL-2.0-or-later
// Networks of inverted residuals: MobileNetV2 (Sandler et al., arXiv:1801.04381, table 2), MnasNet (Tan et al.,
// arXiv:1807.11626, figure 7), EfficientNet (Tan & Le, arXiv:1905.11946, table 1) and EfficientNetV2 (arXiv:2104.00298,
// table 4), as torchvision builds them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

struct Mobile {
    std::string function;  // after a convolution's norm
    bool squeeze = false;
    bool wide_squeeze = false;  // squeezes a quarter of the expanded channels, not of the block's input
};

struct Stage {
    int expand, kernel, stride;
    std::int64_t out;
    int repeat;
    bool fused = false;  // expands by the windowed convolution itself; never squeezed
};

void add_inverted_residual(ModelBuilder& b, const Mobile& net, const std::string& at, const Stage& stage,
                           std::int64_t stride) {
    const Shape in = b.shape();
    const std::int64_t expanded = in[0] * stage.expand;
    const Window w = window(stage.kernel, stride, stage.kernel / 2);
    if (stage.fused && stage.expand == 1) {
        add_conv_norm(b, at + ".conv", stage.out, w, net.function);
    } else if (stage.fused) {
        add_conv_norm(b, at + ".expand", expanded, w, net.function);
        add_conv_norm(b, at + ".project", stage.out, window(1), "");
    } else {
        if (stage.expand > 1) add_conv_norm(b, at + ".expand", expanded, window(1), net.function);
        add_conv_norm(b, at + ".depthwise", expanded, w, net.function, expanded);
        const std::int64_t squeezed = std::max<std::int64_t>(1, (net.wide_squeeze ? expanded : in[0]) / 4);
        if (net.squeeze) add_squeeze_excitation(b, at + ".se", squeezed, net.function);
        add_conv_norm(b, at + ".project", stage.out, window(1), "");
    }
    if (stride == 1 && in[0] == stage.out) b.add(at + ".add");
}

Result<ModelSpec> build_mobile(const std::string& name, const std::string& family, std::int64_t image_size,
                               std::int64_t classes, const Mobile& net, std::int64_t stem,
                               const std::vector<Stage>& stages, std::int64_t last) {
    ModelBuilder b({3, image_size, image_size});
    add_conv_norm(b, "stem", stem, window(3, 2, 1), net.function);
    int block = 0, number = 0;
    for (const Stage& stage : stages) {
        ++number;
        for (int i = 0; i < stage.repeat && !b.failed(); ++i) {
            b.set_block(block++);
            add_inverted_residual(b, net, fmt::format("stage{}.{}", number, i), stage, i == 0 ? stage.stride : 1);
        }
    }
    b.set_block(-1);
    add_conv_norm(b, "head", last, window(1), net.function);
    return finish_classifier(b, name, family, classes, true);
}

}  // namespace

Result<ModelSpec> build_mobilenet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const std::vector<Stage> stages = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 3, 2, 32, 3}, {6, 3, 2, 64, 4},
                                       {6, 3, 1, 96, 3}, {6, 3, 2, 160, 3}, {6, 3, 1, 320, 1}};
    return build_mobile(name, "mobilenet", image_size, classes, {"relu6", false, false}, 32, stages, 1280);
}

Result<ModelSpec> build_mnasnet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const double width = name == "mnasnet0_5" ? 0.5 : name == "mnasnet0_75" ? 0.75 : name == "mnasnet1_3" ? 1.3 : 1.0;
    std::vector<Stage> stages = {{1, 3, 1, 16, 1}, {3, 3, 2, 24, 3},  {3, 5, 2, 40, 3}, {6, 5, 2, 80, 3},
                                 {6, 3, 1, 96, 2}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
    for (Stage& stage : stages) stage.out = in_multiples(static_cast<double>(stage.out) * width);
    return build_mobile(name, "mnasnet", image_size, classes, {"relu", false, false}, in_multiples(32 * width), stages,
                        1280);
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
        stage.out = in_multiples(static_cast<double>(stage.out) * width);
        stage.repeat = static_cast<int>(std::ceil(stage.repeat * depth));
    }
    const Mobile net{"silu", true, name.find("widese") != std::string::npos};
    return build_mobile(name, "efficientnet", image_size, classes, net, in_multiples(32 * width), stages,
                        4 * stages.back().out);
}

Result<ModelSpec> build_efficientnet_v2(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    std::vector<Stage> stages;
    if (name == "efficientnet_v2_s")
        stages = {{1, 3, 1, 24, 2, true}, {4, 3, 2, 48, 4, true}, {4, 3, 2, 64, 4, true},
                  {4, 3, 2, 128, 6},      {6, 3, 1, 160, 9},      {6, 3, 2, 256, 15}};
    else if (name == "efficientnet_v2_m")
        stages = {{1, 3, 1, 24, 3, true}, {4, 3, 2, 48, 5, true}, {4, 3, 2, 80, 5, true}, {4, 3, 2, 160, 7},
                  {6, 3, 1, 176, 14},     {6, 3, 2, 304, 18},     {6, 3, 1, 512, 5}};
    else
        stages = {{1, 3, 1, 32, 4, true}, {4, 3, 2, 64, 7, true}, {4, 3, 2, 96, 7, true}, {4, 3, 2, 192, 10},
                  {6, 3, 1, 224, 19},     {6, 3, 2, 384, 25},     {6, 3, 1, 640, 7}};
    return build_mobile(name, "efficientnet", image_size, classes, {"silu", true, false}, stages[0].out, stages, 1280);
}

}  // namespace dlcast
