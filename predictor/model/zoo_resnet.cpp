// SPDX-License-Identifier: GPL-2.0-or-later
// ResNet (He et al., arXiv:1512.03385, table 1; the bottleneck strides in its 3x3, "v1.5"), ResNeXt (arXiv:1611.05431),
// Wide ResNet (arXiv:1605.07146) and squeeze-and-excitation (arXiv:1709.01507), as torchvision and timm build them.
#include <fmt/format.h>

#include <array>

#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

struct ResNet {
    std::array<int, 4> depths{};
    bool bottleneck = false;
    std::int64_t groups = 1, width_per_group = 64;
    bool squeeze = false;
};

ResNet resnet_of(const std::string& name) {
    ResNet net;
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("152"))
        net.depths = {3, 8, 36, 3};
    else if (has("101"))
        net.depths = {3, 4, 23, 3};
    else if (has("18"))
        net.depths = {2, 2, 2, 2};
    else
        net.depths = {3, 4, 6, 3};
    net.bottleneck = !has("18") && !has("34");
    if (has("32x4d")) net.groups = 32, net.width_per_group = 4;
    if (has("32x8d")) net.groups = 32, net.width_per_group = 8;
    if (has("64x4d")) net.groups = 64, net.width_per_group = 4;
    if (has("wide")) net.width_per_group = 128;
    net.squeeze = name.starts_with("se");
    return net;
}

// Channel weights from the mean of each channel; the reduction is 16.
void add_squeeze(ModelBuilder& b, const std::string& at) {
    const Shape whole = b.shape();
    b.global_avg_pool(at + ".se.pool");
    b.conv(at + ".se.fc1", whole[0] / 16, window(1), true);
    b.activation(at + ".se.relu", "relu");
    b.conv(at + ".se.fc2", whole[0], window(1), true);
    b.activation(at + ".se.sigmoid", "sigmoid");
    b.continue_from(whole);
    b.multiply(at + ".se.scale");
}

void add_conv_norm(ModelBuilder& b, const std::string& at, int number, std::int64_t out, const Window& w,
                   std::int64_t groups = 1) {
    b.conv(fmt::format("{}.conv{}", at, number), out, w, false, groups);
    b.norm(fmt::format("{}.bn{}", at, number), LayerKind::batch_norm);
}

void add_residual_block(ModelBuilder& b, const ResNet& net, const std::string& at, std::int64_t width,
                        std::int64_t stride) {
    const Shape in = b.shape();
    const std::int64_t out = net.bottleneck ? width * 4 : width;
    if (net.bottleneck) {
        const std::int64_t inner = width * net.width_per_group / 64 * net.groups;
        add_conv_norm(b, at, 1, inner, window(1));
        b.activation(at + ".relu1", "relu");
        add_conv_norm(b, at, 2, inner, window(3, stride, 1), net.groups);
        b.activation(at + ".relu2", "relu");
        add_conv_norm(b, at, 3, out, window(1));
    } else {
        add_conv_norm(b, at, 1, out, window(3, stride, 1));
        b.activation(at + ".relu1", "relu");
        add_conv_norm(b, at, 2, out, window(3, 1, 1));
    }
    if (net.squeeze) add_squeeze(b, at);
    const Shape result = b.shape();
    if (stride != 1 || in[0] != out) {
        b.continue_from(in);
        b.conv(at + ".downsample", out, window(1, stride));
        b.norm(at + ".downsample.bn", LayerKind::batch_norm);
    }
    b.continue_from(result);
    b.add(at + ".add");
    b.activation(at + ".relu", "relu");
}

}  // namespace

bool is_resnet(const std::string& name) {
    for (const ImageModel& model : image_models())
        if (model.name == name) return model.build == build_resnet;
    return false;
}

std::vector<Shape> add_resnet_stages(ModelBuilder& b, const std::string& name, int stages, std::int64_t stride3) {
    const ResNet net = resnet_of(name);
    b.conv("conv1", 64, window(7, 2, 3));
    b.norm("bn1", LayerKind::batch_norm);
    b.activation("relu", "relu");
    b.max_pool("maxpool", window(3, 2, 1));
    std::vector<Shape> outputs;
    int block = 0;
    std::int64_t width = 64;
    for (int stage = 0; stage < stages; ++stage, width *= 2) {
        for (int i = 0; i < net.depths[static_cast<std::size_t>(stage)] && !b.failed(); ++i) {
            const std::int64_t stage_stride = stage == 0 ? 1 : stage == 2 ? stride3 : 2;
            b.set_block(block++);
            add_residual_block(b, net, fmt::format("layer{}.{}", stage + 1, i), width, i == 0 ? stage_stride : 1);
        }
        outputs.push_back(b.shape());
    }
    b.set_block(-1);
    return outputs;
}

Result<ModelSpec> build_resnet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    add_resnet_stages(b, name, 4);
    if (b.failed()) return invalid_argument(b.fault());
    b.global_avg_pool("avgpool");
    b.flatten("flatten");
    b.linear("fc", classes);
    b.loss("loss");
    return b.finish(name, "resnet");
}

}  // namespace dlcast
