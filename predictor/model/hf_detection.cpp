// SPDX-License-Identifier: GPL-2.0-or-later
// The detectors SSD (Liu et al., arXiv:1512.02325) and RetinaNet (Lin et al., arXiv:1708.02002) on a ResNet, described
// by keys of dlcast's own, see docs/model-json.md.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"
#include "predictor/model/hf_config.h"
#include "predictor/model/shape.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_pyramid.h"

namespace dlcast {
namespace {

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

Result<ModelSpec> build_retinanet(HfConfig& c, const std::string& name) {
    const std::string backbone = backbone_of(c);
    const std::int64_t size = c.options.image_size > 0 ? c.options.image_size : c.size_or({"image_size"}, 800);
    // What is beyond is refused: a forged config must not buy a head without end.
    const auto within = [&](const char* key, std::int64_t least, std::int64_t most, std::int64_t standard) {
        const std::int64_t value = c.size_or({key}, standard);
        if (value < least || value > most)
            c.fail_at(key, fmt::format("{} is {}; retinanet takes from {} to {}", key, value, least, most));
        return std::clamp(value, least, most);
    };
    const std::int64_t width = within("fpn_channels", 1, 100'000, 256);
    const std::int64_t levels = within("fpn_levels", 3, 8, 5);  // three are the backbone's
    const std::int64_t convs = within("head_convs", 0, 64, 4);
    const std::int64_t anchors = within("anchors", 1, 1000, 9);
    const std::int64_t classes = within("num_classes", 1, 10'000'000, 91);
    if (c.failed()) return invalid_argument("out of range");
    ModelBuilder b({3, size, size});
    const std::vector<Shape> stages = add_resnet_stages(b, backbone, 4);
    if (b.failed()) return invalid_argument(b.fault());
    std::vector<Shape> pyramid = add_pyramid(b, stages, 1, width);
    if (b.failed()) return invalid_argument(b.fault());
    const auto coarser = levels - static_cast<std::int64_t>(pyramid.size());
    if (coarser > 0) add_coarser_levels(b, pyramid, pyramid.back(), width, static_cast<std::size_t>(coarser));
    for (const auto& [which, outputs] : {std::pair<std::string, std::int64_t>{"class", classes}, {"box", 4}})
        add_shared_head(b, pyramid, [&, &head = which, out = outputs](const std::string& level) {
            for (std::int64_t i = 0; i < convs; ++i) {
                b.conv(fmt::format("{}.{}{}", head, i, level), width, window(3, 1, 1), true);
                b.activation(fmt::format("{}.{}{}.relu", head, i, level), "relu");
            }
            b.conv(head + ".out" + level, anchors * out, window(3, 1, 1), true);
        });
    double boxes = 0.0;
    for (const Shape& level : pyramid) boxes += static_cast<double>(anchors) * elements({level[1], level[2]});
    if (b.failed()) return invalid_argument(b.fault());
    b.continue_from({static_cast<std::int64_t>(boxes), classes + 4});
    b.loss("loss");
    auto model = b.finish(name, "retinanet");
    if (model) model->image_size = size;
    return model;
}

}  // namespace

const std::vector<HfFamily>& detection_families() {
    static const std::vector<HfFamily> families = {{"ssd", build_ssd}, {"retinanet", build_retinanet}};
    return families;
}

}  // namespace dlcast
