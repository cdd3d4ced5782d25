// SPDX-License-Identifier: GPL-2.0-or-later
// SSD300 on VGG-16 (Liu et al., arXiv:1512.02325, figure 2) and SSDLite on MobileNetV3 (Howard et al.,
// arXiv:1905.02244), as torchvision builds them.
#include <fmt/format.h>

#include <array>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

void add_conv_relu(ModelBuilder& b, const std::string& at, std::int64_t out, const Window& w) {
    b.conv(at, out, w, true);
    b.activation(at + ".relu", "relu");
}

// VGG-16 whose last pooling keeps the resolution and whose first two linear layers are convolutions. Returns the map of
// conv4_3 and the last one.
std::vector<Shape> add_vgg_features(ModelBuilder& b) {
    std::vector<Shape> features;
    static constexpr std::array<std::pair<int, std::int64_t>, 5> stages = {
        {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        for (int i = 0; i < stages[stage].first; ++i)
            add_conv_relu(b, fmt::format("conv{}_{}", stage + 1, i + 1), stages[stage].second, window(3, 1, 1));
        if (stage == 3) {
            features.push_back(b.shape());
            b.add_parameters(b.multiply("conv4_3.scale"), 512);
        }
        Window pool = window(2, 2);
        pool.ceil_mode = true;
        b.max_pool(fmt::format("pool{}", stage + 1), stage == 4 ? window(3, 1, 1) : pool);
    }
    Window wide = window(3, 1, 6);
    wide.dilation = 6;
    add_conv_relu(b, "fc6", 1024, wide);
    add_conv_relu(b, "fc7", 1024, window(1));
    features.push_back(b.shape());
    return features;
}

struct Boxes {
    double count = 0.0;
    std::int64_t outputs = 0;
};

Result<ModelSpec> finish_ssd(ModelBuilder& b, const std::string& name, const Boxes& boxes) {
    if (b.failed()) return invalid_argument(b.fault());
    b.continue_from({static_cast<std::int64_t>(boxes.count), boxes.outputs});
    b.loss("loss");
    return b.finish(name, "ssd");
}

double cells(const Shape& map) { return static_cast<double>(map[1]) * static_cast<double>(map[2]); }

}  // namespace

Result<ModelSpec> build_ssd300_vgg(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    std::vector<Shape> features = add_vgg_features(b);
    static constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> extras = {
        {{256, 512}, {128, 256}, {128, 256}, {128, 256}}};
    for (std::size_t i = 0; i < extras.size(); ++i) {
        add_conv_relu(b, fmt::format("extra{}.1", i), extras[i].first, window(1));
        add_conv_relu(b, fmt::format("extra{}.2", i), extras[i].second, i < 2 ? window(3, 2, 1) : window(3));
        features.push_back(b.shape());
    }
    if (b.failed()) return invalid_argument(b.fault());
    static constexpr std::array<std::int64_t, 6> anchors = {4, 6, 6, 6, 4, 4};
    Boxes boxes{0.0, classes + 4};
    for (std::size_t i = 0; i < features.size(); ++i) {
        for (const auto& [which, outputs] : {std::pair<const char*, std::int64_t>{"class", classes}, {"box", 4}}) {
            b.continue_from(features[i]);
            b.conv(fmt::format("{}.{}", which, i), anchors[i] * outputs, window(3, 1, 1), true);
        }
        boxes.count += static_cast<double>(anchors[i]) * cells(features[i]);
    }
    return finish_ssd(b, name, boxes);
}

Result<ModelSpec> build_ssdlite(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    const MobileStages stages = add_mobilenet_v3(b, true, 2, false);
    std::vector<Shape> features = {stages.middle, stages.high};
    static constexpr std::array<std::int64_t, 4> extras = {512, 256, 256, 128};
    for (std::size_t i = 0; i < extras.size(); ++i) {
        const std::string at = fmt::format("extra{}", i);
        const std::int64_t inner = extras[i] / 2;
        add_conv_norm(b, at + ".1", inner, window(1), "relu6");
        add_conv_norm(b, at + ".2", inner, window(3, 2, 1), "relu6", inner);
        add_conv_norm(b, at + ".3", extras[i], window(1), "relu6");
        features.push_back(b.shape());
    }
    if (b.failed()) return invalid_argument(b.fault());
    constexpr std::int64_t anchors = 6;
    Boxes boxes{0.0, classes + 4};
    for (std::size_t i = 0; i < features.size(); ++i) {
        for (const auto& [which, outputs] : {std::pair<const char*, std::int64_t>{"class", classes}, {"box", 4}}) {
            const std::string at = fmt::format("{}.{}", which, i);
            b.continue_from(features[i]);
            add_conv_norm(b, at + ".depthwise", features[i][0], window(3, 1, 1), "relu6", features[i][0]);
            b.conv(at, anchors * outputs, window(1), true);
        }
        boxes.count += anchors * cells(features[i]);
    }
    return finish_ssd(b, name, boxes);
}

}  // namespace dlcast
