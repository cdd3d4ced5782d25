// SPDX-License-Identifier: GPL-2.0-or-later
// Segmenters: FCN (Long et al., arXiv:1411.4038), DeepLabV3 (Chen et al., arXiv:1706.05587) and LR-ASPP (Howard et al.,
// arXiv:1905.02244), as torchvision builds them with their auxiliary heads; U-Net (Ronneberger et al.,
// arXiv:1505.04597) with batch norms and padding.
#include <fmt/format.h>

#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"

namespace dlcast {
namespace {

void add_fcn_head(ModelBuilder& b, const std::string& at, std::int64_t classes) {
    add_conv_norm(b, at + ".conv", b.shape()[0] / 4, window(3, 1, 1));
    b.dropout(at + ".drop");
    b.conv(at + ".classes", classes, window(1), true);
}

void add_deeplab_head(ModelBuilder& b, std::int64_t classes) {
    constexpr std::int64_t width = 256;
    const Shape in = b.shape();
    add_conv_norm(b, "aspp.0", width, window(1));
    for (int i = 1; i <= 3; ++i) {
        b.continue_from(in);
        Window wide = window(3, 1, 12 * i);
        wide.dilation = 12 * i;
        add_conv_norm(b, fmt::format("aspp.{}", i), width, wide);
    }
    b.continue_from(in);
    b.global_avg_pool("aspp.pool");
    add_conv_norm(b, "aspp.4", width, window(1));
    b.continue_from({width, in[1], in[2]});
    b.concat("aspp.concat", 4 * width);
    add_conv_norm(b, "aspp.project", width, window(1));
    b.dropout("aspp.drop");
    add_conv_norm(b, "head.conv", width, window(3, 1, 1));
    b.conv("head.classes", classes, window(1), true);
}

Result<ModelSpec> finish_segmenter(ModelBuilder& b, const std::string& name, const std::string& family,
                                   std::int64_t factor) {
    if (b.failed()) return invalid_argument(b.fault());
    if (factor > 1) b.upsample("upsample", factor);
    const Shape map = b.shape();
    if (map.size() == 3) b.reshape("pixels", {map[1] * map[2], map[0]});
    b.loss("loss");
    return b.finish(name, family);
}

void add_double_conv(ModelBuilder& b, const std::string& at, std::int64_t out) {
    add_conv_norm(b, at + ".1", out, window(3, 1, 1));
    add_conv_norm(b, at + ".2", out, window(3, 1, 1));
}

}  // namespace

Result<ModelSpec> build_segmenter(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    Shape low, high;
    std::int64_t factor = 8;
    if (name.find("mobilenet") != std::string::npos) {
        const MobileStages stages = add_mobilenet_v3(b, true, 1, true);
        if (!b.failed()) low = stages.rows[3], high = stages.high;
        factor = 16;
    } else {
        const auto stages = add_resnet_stages(b, name.substr(name.find('_') + 1), 4, 1, 1);
        low = stages[2];
        high = stages[3];
    }
    if (b.failed()) return invalid_argument(b.fault());
    b.continue_from(low);
    add_fcn_head(b, "aux", classes);
    b.continue_from(high);
    if (name.starts_with("fcn"))
        add_fcn_head(b, "head", classes);
    else
        add_deeplab_head(b, classes);
    return finish_segmenter(b, name, name.starts_with("fcn") ? "fcn" : "deeplab", factor);
}

Result<ModelSpec> build_lraspp(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    const MobileStages stages = add_mobilenet_v3(b, true, 1, true);
    if (b.failed()) return invalid_argument(b.fault());
    constexpr std::int64_t width = 128;
    b.continue_from(stages.high);
    b.global_avg_pool("scale.pool");
    b.conv("scale.conv", width, window(1));
    b.activation("scale.sigmoid", "sigmoid");
    b.continue_from(stages.high);
    add_conv_norm(b, "cbr", width, window(1));
    b.multiply("scale");
    b.upsample("up", 2);
    b.conv("classes.high", classes, window(1), true);
    b.continue_from(stages.rows[3]);
    b.conv("classes.low", classes, window(1), true);
    b.add("classes.add");
    return finish_segmenter(b, name, "lraspp", 8);
}

Result<ModelSpec> build_unet(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    constexpr int depth = 4;
    if (image_size % (1 << depth) != 0)
        return invalid_argument(fmt::format("an image of {} pixels does not halve {} times; choose a multiple of {}",
                                            image_size, depth, 1 << depth));
    ModelBuilder b({3, image_size, image_size});
    std::vector<Shape> skips;
    std::int64_t width = 64;
    for (int i = 0; i <= depth; ++i, width *= 2) {
        if (i > 0) b.max_pool(fmt::format("down{}.pool", i), window(2, 2));
        b.set_block(i);
        add_double_conv(b, fmt::format("down{}", i), width);
        b.set_block(-1);
        skips.push_back(b.shape());
    }
    for (int i = depth; i-- > 0 && !b.failed();) {
        const std::string at = fmt::format("up{}", i);
        b.set_block(2 * depth - i);
        const std::int64_t half = b.shape()[0] / 2;
        b.transposed_conv(at + ".up", half, window(2, 2), true);
        b.concat(at + ".concat", skips[static_cast<std::size_t>(i)][0]);
        add_double_conv(b, at, half);
        b.set_block(-1);
    }
    b.conv("head.classes", classes, window(1), true);
    return finish_segmenter(b, name, "unet", 1);
}

}  // namespace dlcast
