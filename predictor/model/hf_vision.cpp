// SPDX-License-Identifier: GPL-2.0-or-later
// Vision models described by a config: ViT, and the detectors SSD (Liu et al., arXiv:1512.02325) and RetinaNet (Lin et
// al., arXiv:1708.02002) on a ResNet. The detectors' keys are dlcast's own, see docs/model-json.md.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"
#include "predictor/model/hf_config.h"
#include "predictor/model/shape.h"
#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

Result<ModelSpec> build_hf_vit(HfConfig& c, const std::string& name) {
    VitOptions o;
    o.patch = c.size_or({"patch_size"}, 16);
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.width = c.size({"hidden_size"});
    o.layers = c.size({"num_hidden_layers"});
    o.heads = c.size({"num_attention_heads"});
    o.inner = std::max<std::int64_t>(1, c.size_or({"intermediate_size"}, 4 * o.width));
    o.classes = c.options.classes > 0 ? c.options.classes : c.size_or({"num_labels"}, 1000);
    o.fused = c.fused(true);
    const std::int64_t size = c.options.image_size > 0 ? c.options.image_size : c.size_or({"image_size"}, 224);
    auto model = build_vision_transformer(name, size, o);
    if (model) model->image_size = size;
    return model;
}

// The ResNet a backbone's text starts with: "resnet50 up to layer3, layer3 stride 1".
std::string backbone_of(HfConfig& c) {
    const std::string text = c.text_or({"backbone"}, "");
    const auto name = find_zoo_name(text.substr(0, text.find_first_of(" ,")));
    if (name && is_resnet(*name)) return *name;
    c.fail(fmt::format("backbone is \"{}\"; it should start with a ResNet's name, as resnet50", text));
    return "resnet50";
}

// The next smaller feature map: halved where that gives the size, else a 3x3 window without padding.
Window shrink(std::int64_t from, std::int64_t to) { return (from + 1) / 2 == to ? window(3, 2, 1) : window(3, 1, 0); }

Result<ModelSpec> build_ssd(HfConfig& c, const std::string& name) {
    const std::string backbone = backbone_of(c);
    const std::string text = c.text_or({"backbone"}, "");
    const std::int64_t size = c.options.image_size > 0 ? c.options.image_size : c.size_or({"image_size"}, 300);
    const std::int64_t labels = c.size_or({"num_labels"}, 81);
    const auto maps = c.list("feature_maps"), channels = c.list("feature_channels"), boxes = c.list("boxes_per_cell");
    if (!maps || !channels || !boxes || maps->empty() || maps->size() != channels->size() ||
        maps->size() != boxes->size()) {
        c.fail("needs \"feature_maps\", \"feature_channels\" and \"boxes_per_cell\" of equal length");
        return invalid_argument("incomplete");
    }
    ModelBuilder b({3, size, size});
    const int stages = text.find("layer2") != std::string::npos ? 2 : text.find("up to") != std::string::npos ? 3 : 4;
    add_resnet_stages(b, backbone, stages, text.find("stride 1") != std::string::npos ? 1 : 2);
    if (b.failed()) return invalid_argument(b.fault());
    std::vector<Shape> features = {b.shape()};
    for (std::size_t i = 1; i < maps->size() && !b.failed(); ++i) {
        const std::string at = fmt::format("extra.{}", i);
        const auto conv = [&](const char* which, std::int64_t out, const Window& w) {
            b.conv(at + which, out, w);
            b.norm(at + which + ".bn", LayerKind::batch_norm);
            b.activation(at + which + ".relu", "relu");
        };
        conv(".1", std::max<std::int64_t>(1, (*channels)[i] / 2), window(1));
        conv(".2", (*channels)[i], shrink(features.back()[1], (*maps)[i]));
        features.push_back(b.shape());
    }
    double anchors = 0.0;
    for (std::size_t i = 0; i < features.size() && !b.failed(); ++i) {
        for (const auto& [which, outputs] : {std::pair<const char*, std::int64_t>{"box", 4}, {"class", labels}}) {
            b.continue_from(features[i]);
            b.conv(fmt::format("{}.{}", which, i), (*boxes)[i] * outputs, window(3, 1, 1), true);
        }
        anchors += static_cast<double>((*boxes)[i]) * static_cast<double>(features[i][1] * features[i][2]);
    }
    if (b.failed()) return invalid_argument(b.fault());
    b.continue_from({static_cast<std::int64_t>(anchors), labels + 4});
    b.loss("loss");
    auto model = b.finish(name, "ssd");
    if (model) model->image_size = size;
    return model;
}

// Top-down pyramid P3 to P7 over the last three stages.
std::vector<Shape> add_pyramid(ModelBuilder& b, const std::vector<Shape>& stages, std::int64_t width,
                               std::int64_t levels) {
    std::vector<Shape> out;
    for (std::size_t i = stages.size(); i-- > 1;) {
        b.continue_from(stages[i]);
        b.conv(fmt::format("fpn.inner{}", i), width, window(1), true);
        if (i + 1 < stages.size()) b.add(fmt::format("fpn.add{}", i));
        b.conv(fmt::format("fpn.layer{}", i), width, window(3, 1, 1), true);
        out.insert(out.begin(), b.shape());
    }
    b.continue_from(out.back());
    while (static_cast<std::int64_t>(out.size()) < levels && !b.failed()) {
        b.conv(fmt::format("fpn.p{}", out.size() + 3), width, window(3, 2, 1), true);
        out.push_back(b.shape());
    }
    return out;
}

Result<ModelSpec> build_retinanet(HfConfig& c, const std::string& name) {
    const std::string backbone = backbone_of(c);
    const std::int64_t size = c.options.image_size > 0 ? c.options.image_size : c.size_or({"image_size"}, 800);
    const std::int64_t width = std::max<std::int64_t>(1, c.size_or({"fpn_channels"}, 256));
    const std::int64_t levels = std::clamp<std::int64_t>(c.size_or({"fpn_levels"}, 5), 1, 8);
    const std::int64_t convs = std::min<std::int64_t>(c.size_or({"head_convs"}, 4), 64);
    const std::int64_t anchors = std::max<std::int64_t>(1, c.size_or({"anchors"}, 9));
    const std::int64_t classes = std::max<std::int64_t>(1, c.size_or({"num_classes"}, 91));
    ModelBuilder b({3, size, size});
    const std::vector<Shape> stages = add_resnet_stages(b, backbone, 4);
    if (b.failed()) return invalid_argument(b.fault());
    const std::vector<Shape> pyramid = add_pyramid(b, stages, width, levels);
    double boxes = 0.0;
    for (std::size_t level = 0; level < pyramid.size() && !b.failed(); ++level) {
        for (const auto& [which, outputs] : {std::pair<const char*, std::int64_t>{"class", classes}, {"box", 4}}) {
            b.continue_from(pyramid[level]);
            const std::size_t first = b.size();
            for (std::int64_t i = 0; i < convs; ++i) {
                b.conv(fmt::format("{}.{}.p{}", which, i, level + 3), width, window(3, 1, 1), true);
                b.activation(fmt::format("{}.{}.p{}.relu", which, i, level + 3), "relu");
            }
            b.conv(fmt::format("{}.out.p{}", which, level + 3), anchors * outputs, window(3, 1, 1), true);
            // All levels share one head's weights.
            if (level > 0 && !b.failed()) b.share_from(first);
        }
        boxes += static_cast<double>(anchors) * elements({pyramid[level][1], pyramid[level][2]});
    }
    if (b.failed()) return invalid_argument(b.fault());
    b.continue_from({static_cast<std::int64_t>(boxes), classes + 4});
    b.loss("loss");
    auto model = b.finish(name, "retinanet");
    if (model) model->image_size = size;
    return model;
}

}  // namespace

const std::vector<HfFamily>& vision_families() {
    static const std::vector<HfFamily> families = {
        {"vit", build_hf_vit}, {"ssd", build_ssd}, {"retinanet", build_retinanet}};
    return families;
}

}  // namespace dlcast
