// SPDX-License-Identifier: GPL-2.0-or-later
// Two-stage detectors (Faster R-CNN: Ren et al., arXiv:1506.01497; Mask R-CNN: He et al., arXiv:1703.06870) and
// one-stage ones on a pyramid (RetinaNet: arXiv:1708.02002; FCOS: arXiv:1904.01355), as torchvision builds them.
#include <fmt/format.h>

#include "predictor/model/shape.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_parts.h"
#include "predictor/model/zoo_pyramid.h"

namespace dlcast {
namespace {

constexpr std::int64_t proposals = 512;  // of an image that the second stage trains on; a quarter hold an object
constexpr std::int64_t width = 256;      // of the pyramid

// Detectors start from a trained backbone: its batch norms are constants, and its first stage stays as it is.
Result<ModelSpec> finish_detector(ModelBuilder& b, const std::string& name, const std::string& family,
                                  std::size_t backbone, bool constant_norms) {
    auto model = b.finish(name, family);
    if (!model) return model;
    for (std::size_t i = 0; i < backbone; ++i) {
        Layer& layer = model->layers[i];
        if (layer.name.starts_with("conv1") || layer.name.starts_with("layer1")) layer.trainable = false;
        if (layer.kind != LayerKind::batch_norm || !constant_norms) continue;
        layer.trainable = false;
        layer.parameters = 0;
    }
    count_parameters(*model);
    return model;
}

void add_conv_relu(ModelBuilder& b, const std::string& at, bool norm) {
    if (norm) return add_conv_norm(b, at, width, window(3, 1, 1));
    b.conv(at, width, window(3, 1, 1), true);
    b.activation(at + ".relu", "relu");
}

void add_proposals(ModelBuilder& b, const std::vector<Shape>& levels, std::int64_t anchors, int convs) {
    add_shared_head(b, levels, [&](const std::string& level) {
        for (int i = 0; i < convs; ++i) add_conv_relu(b, fmt::format("rpn.conv{}{}", i, level), false);
        const Shape in = b.shape();
        b.conv("rpn.objectness" + level, anchors, window(1), true);
        b.continue_from(in);
        b.conv("rpn.boxes" + level, 4 * anchors, window(1), true);
    });
    double boxes = 0.0;
    for (const Shape& level : levels) boxes += static_cast<double>(anchors) * elements({level[1], level[2]});
    b.continue_from({static_cast<std::int64_t>(boxes), 5});
    b.loss("rpn.loss");
}

// Regions are stacked into one tall image.
void add_box_head(ModelBuilder& b, std::int64_t classes, bool second) {
    if (second) {
        b.continue_from({width, 7 * proposals, 7});
        for (int i = 0; i < 4; ++i) add_conv_relu(b, fmt::format("box.conv{}", i), true);
        b.reshape("box.flatten", {proposals, width * 49});
    } else {
        b.continue_from({proposals, width * 49});
    }
    for (int i = 0; i < (second ? 1 : 2); ++i) {
        b.linear(fmt::format("box.fc{}", 6 + i), 1024);
        b.activation(fmt::format("box.fc{}.relu", 6 + i), "relu");
    }
    const Shape in = b.shape();
    b.linear("box.classes", classes);
    b.loss("box.loss");
    b.continue_from(in);
    b.linear("box.boxes", 4 * classes);
}

void add_mask_head(ModelBuilder& b, std::int64_t classes, bool second) {
    b.continue_from({width, 14 * proposals / 4, 14});
    for (int i = 0; i < 4; ++i) add_conv_relu(b, fmt::format("mask.conv{}", i), second);
    b.transposed_conv("mask.up", width, window(2, 2), true);
    b.activation("mask.up.relu", "relu");
    b.conv("mask.logits", classes, window(1), true);
    b.activation("mask.sigmoid", "sigmoid");
}

void add_keypoint_head(ModelBuilder& b) {
    constexpr std::int64_t keypoints = 17;
    b.continue_from({width, 14 * proposals / 4, 14});
    for (int i = 0; i < 8; ++i) {
        b.conv(fmt::format("keypoint.conv{}", i), 512, window(3, 1, 1), true);
        b.activation(fmt::format("keypoint.relu{}", i), "relu");
    }
    b.transposed_conv("keypoint.logits", keypoints, window(4, 2, 1), true);
}

// Class and box heads of a one-stage detector: `convs` convolutions each.
void add_dense_heads(ModelBuilder& b, const std::vector<Shape>& levels, std::int64_t anchors, std::int64_t classes,
                     bool group_norm, bool conv_bias, bool centre) {
    for (const auto& [which, outputs] : {std::pair<std::string, std::int64_t>{"class", classes}, {"box", 4}})
        add_shared_head(b, levels, [&, &head = which, out = outputs](const std::string& level) {
            for (int i = 0; i < 4; ++i) {
                const std::string at = fmt::format("{}.{}{}", head, i, level);
                b.conv(at, width, window(3, 1, 1), conv_bias);
                if (group_norm) b.norm(at + ".norm", LayerKind::group_norm);
                b.activation(at + ".relu", "relu");
            }
            const Shape in = b.shape();
            b.conv(head + ".out" + level, anchors * out, window(3, 1, 1), true);
            if (!centre || head == "class") return;
            b.continue_from(in);
            b.conv("centre" + level, anchors, window(3, 1, 1), true);
        });
    double boxes = 0.0;
    for (const Shape& level : levels) boxes += static_cast<double>(anchors) * elements({level[1], level[2]});
    b.continue_from({static_cast<std::int64_t>(boxes), classes + 4});
    b.loss("loss");
}

}  // namespace

Result<ModelSpec> build_faster_rcnn(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const bool second = name.ends_with("_v2"), mobile = name.find("mobilenet") != std::string::npos;
    ModelBuilder b({3, image_size, image_size});
    std::vector<Shape> stages;
    if (mobile) {
        const MobileStages all = add_mobilenet_v3(b, true, 1, false);
        if (!b.failed()) stages = {all.rows[12], all.high};
    } else {
        stages = add_resnet_stages(b, name.find("101") != std::string::npos ? "resnet101" : "resnet50", 4);
    }
    if (b.failed()) return invalid_argument(b.fault());
    const std::size_t backbone = b.size();
    std::vector<Shape> levels = add_pyramid(b, stages, 0, width, second);
    if (b.failed()) return invalid_argument(b.fault());
    b.max_pool("fpn.pool", window(1, 2));
    levels.push_back(b.shape());
    add_proposals(b, levels, mobile ? 15 : 3, second ? 2 : 1);
    if (name.starts_with("keypoint")) classes = 2;
    add_box_head(b, classes, second);
    if (name.starts_with("mask")) add_mask_head(b, classes, second);
    if (name.starts_with("keypoint")) add_keypoint_head(b);
    return finish_detector(b, name, name.starts_with("mask") ? "mask_rcnn" : "faster_rcnn", backbone, !second);
}

Result<ModelSpec> build_retinanet_model(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const bool second = name.ends_with("_v2");
    ModelBuilder b({3, image_size, image_size});
    const std::vector<Shape> stages = add_resnet_stages(b, "resnet50", 4);
    if (b.failed()) return invalid_argument(b.fault());
    const std::size_t backbone = b.size();
    std::vector<Shape> levels = add_pyramid(b, stages, 1, width);
    if (b.failed()) return invalid_argument(b.fault());
    add_coarser_levels(b, levels, second ? stages.back() : levels.back(), width, 2);
    add_dense_heads(b, levels, 9, classes, second, !second, false);
    return finish_detector(b, name, "retinanet", backbone, !second);
}

Result<ModelSpec> build_fcos(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    ModelBuilder b({3, image_size, image_size});
    const std::vector<Shape> stages = add_resnet_stages(b, "resnet50", 4);
    if (b.failed()) return invalid_argument(b.fault());
    const std::size_t backbone = b.size();
    std::vector<Shape> levels = add_pyramid(b, stages, 1, width);
    if (b.failed()) return invalid_argument(b.fault());
    add_coarser_levels(b, levels, levels.back(), width, 2);
    add_dense_heads(b, levels, 1, classes, true, true, true);
    return finish_detector(b, name, "fcos", backbone, true);
}

}  // namespace dlcast
