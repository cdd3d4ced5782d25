// SPDX-License-Identifier: GPL-2.0-or-later
// VGG (Simonyan & Zisserman, arXiv:1409.1556, table 1) and AlexNet (Krizhevsky, arXiv:1404.5997), as torchvision builds
// them.
#include <fmt/format.h>

#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

// Convolutions before each of the five poolings: configurations A, B, D, E of the paper.
std::vector<int> vgg_depths(const std::string& name) {
    if (name.starts_with("vgg11")) return {1, 1, 2, 2, 2};
    if (name.starts_with("vgg13")) return {2, 2, 2, 2, 2};
    if (name.starts_with("vgg16")) return {2, 2, 3, 3, 3};
    return {2, 2, 4, 4, 4};
}

void add_classifier(ModelBuilder& b, std::int64_t classes, bool dropout_first) {
    b.flatten("flatten");
    for (const char* layer : {"fc6", "fc7"}) {
        if (dropout_first) b.dropout(fmt::format("{}.drop", layer));
        b.linear(layer, 4096);
        b.activation(fmt::format("{}.relu", layer), "relu");
        if (!dropout_first) b.dropout(fmt::format("{}.drop", layer));
    }
    b.linear("fc8", classes);
    b.loss("loss");
}

}  // namespace

Result<ModelSpec> build_vgg(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    const bool batch_norm = name.ends_with("_bn");
    std::int64_t width = 64;
    int stage = 1;
    for (const int depth : vgg_depths(name)) {
        for (int i = 1; i <= depth; ++i) {
            b.conv(fmt::format("conv{}_{}", stage, i), width, window(3, 1, 1), true);
            if (batch_norm) b.norm(fmt::format("bn{}_{}", stage, i), LayerKind::batch_norm);
            b.activation(fmt::format("relu{}_{}", stage, i), "relu");
        }
        b.max_pool(fmt::format("pool{}", stage), window(2, 2));
        width = stage < 4 ? width * 2 : width;
        ++stage;
    }
    if (image_size != 224) b.adaptive_pool("avgpool", 7, 7);
    add_classifier(b, classes, false);
    return b.finish(name, "vgg");
}

Result<ModelSpec> build_alexnet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    const auto conv = [&](int number, std::int64_t out, const Window& w, bool pool) {
        b.conv(fmt::format("conv{}", number), out, w, true);
        b.activation(fmt::format("relu{}", number), "relu");
        if (pool) b.max_pool(fmt::format("pool{}", number), window(3, 2));
    };
    conv(1, 64, window(11, 4, 2), true);
    conv(2, 192, window(5, 1, 2), true);
    conv(3, 384, window(3, 1, 1), false);
    conv(4, 256, window(3, 1, 1), false);
    conv(5, 256, window(3, 1, 1), true);
    if (image_size != 224) b.adaptive_pool("avgpool", 6, 6);
    add_classifier(b, classes, true);
    return b.finish(name, "alexnet");
}

}  // namespace dlcast
