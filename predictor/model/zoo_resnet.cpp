// SPDX-License-Identifier: GPL-2.0-or-later
// ResNet (He et al., arXiv:1512.03385, table 1; the bottleneck strides in its 3x3, "v1.5"), ResNeXt (arXiv:1611.05431),
// Wide ResNet (arXiv:1605.07146) and squeeze-and-excitation (arXiv:1709.01507), as torchvision and timm build them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

struct ResNet {
    std::array<int, 4> depths{};
    bool bottleneck = false;
    std::int64_t groups = 1, width_per_group = 64;
    bool squeeze = false;
    bool deep = false;  // three convolutions as stem, shortcuts that average first ("d": He et al., arXiv:1812.01187)
};

ResNet resnet_of(const std::string& name) {
    ResNet net;
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("200"))
        net.depths = {3, 24, 36, 3};
    else if (has("152"))
        net.depths = {3, 8, 36, 3};
    else if (has("101"))
        net.depths = {3, 4, 23, 3};
    else if (has("18") || has("26"))
        net.depths = {2, 2, 2, 2};
    else
        net.depths = {3, 4, 6, 3};
    net.bottleneck = !has("18") && !has("34");
    if (has("32x4d")) net.groups = 32, net.width_per_group = 4;
    if (has("32x8d")) net.groups = 32, net.width_per_group = 8;
    if (has("32x16d")) net.groups = 32, net.width_per_group = 16;
    if (has("32x32d")) net.groups = 32, net.width_per_group = 32;
    if (has("32x48d")) net.groups = 32, net.width_per_group = 48;
    if (has("64x4d")) net.groups = 64, net.width_per_group = 4;
    if (has("wide")) net.width_per_group = 128;
    net.squeeze = name.starts_with("se");
    net.deep = name.ends_with("d") && !has("x");
    return net;
}

void add_residual_block(ModelBuilder& b, const ResNet& net, const std::string& at, std::int64_t width,
                        std::int64_t stride) {
    const Shape in = b.shape();
    const std::int64_t out = net.bottleneck ? width * 4 : width;
    if (net.bottleneck) {
        const std::int64_t inner = width * net.width_per_group / 64 * net.groups;
        add_conv_norm(b, at + ".conv1", inner, window(1));
        add_conv_norm(b, at + ".conv2", inner, window(3, stride, 1), "relu", net.groups);
        add_conv_norm(b, at + ".conv3", out, window(1), "");
    } else {
        add_conv_norm(b, at + ".conv1", out, window(3, stride, 1));
        add_conv_norm(b, at + ".conv2", out, window(3, 1, 1), "");
    }
    if (net.squeeze) add_squeeze_excitation(b, at + ".se", std::max<std::int64_t>(8, out / 16));  // timm: eights
    const Shape result = b.shape();
    if (stride != 1 || in[0] != out) {
        b.continue_from(in);
        if (net.deep && stride > 1) {
            Window pool = window(2, 2);
            pool.ceil_mode = true;
            b.avg_pool(at + ".downsample.pool", pool);
        }
        add_conv_norm(b, at + ".downsample", out, window(1, net.deep ? 1 : stride), "");
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

std::vector<Shape> add_resnet_stages(ModelBuilder& b, const std::string& name, int stages, std::int64_t stride3,
                                     std::int64_t stride4) {
    const ResNet net = resnet_of(name);
    if (net.deep) {
        add_conv_norm(b, "conv1.0", 32, window(3, 2, 1));
        add_conv_norm(b, "conv1.1", 32, window(3, 1, 1));
        add_conv_norm(b, "conv1.2", 64, window(3, 1, 1));
    } else {
        add_conv_norm(b, "conv1", 64, window(7, 2, 3));
    }
    b.max_pool("maxpool", window(3, 2, 1));
    std::vector<Shape> outputs;
    int block = 0;
    std::int64_t width = 64;
    for (int stage = 0; stage < stages; ++stage, width *= 2) {
        for (int i = 0; i < net.depths[static_cast<std::size_t>(stage)] && !b.failed(); ++i) {
            const std::int64_t stage_stride = stage == 0 ? 1 : stage == 2 ? stride3 : stage == 3 ? stride4 : 2;
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
    return finish_classifier(b, name, "resnet", classes);
}

}  // namespace dlcast
