// SPDX-License-Identifier: GPL-2.0-or-later
// Image classifiers of the zoo. Every builder takes the image size (pixels) and the number of classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/builder.h"
#include "predictor/model/image_sides.h"

namespace dlcast {

struct ImageModel {
    std::string name;
    std::int64_t image_size;  // public default
    std::int64_t classes;     // public default
    Result<ModelSpec> (*build)(const std::string& name, std::int64_t image_size, std::int64_t classes);
};

/// All image classifiers of the zoo.
const std::vector<ImageModel>& image_models();

Result<ModelSpec> build_vgg(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_alexnet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_resnet(const std::string& name, std::int64_t image_size, std::int64_t classes);

Result<ModelSpec> build_efficientnet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_mobilenet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_densenet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_convnext(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_vit(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_mixer(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_swin(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_mnasnet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_efficientnet_v2(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_mobilenet_v3(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_squeezenet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_shufflenet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_googlenet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_inception_v3(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_inception_v4(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_xception(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_darknet(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_regnet(const std::string& name, std::int64_t image_size, std::int64_t classes);
std::vector<std::string> regnet_names();

// Detectors (classes count the background, COCO's 91 by default) and segmenters.
Result<ModelSpec> build_faster_rcnn(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_retinanet_model(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_fcos(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_ssd300_vgg(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_ssdlite(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_yolo(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_segmenter(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_lraspp(const std::string& name, std::int64_t image_size, std::int64_t classes);
Result<ModelSpec> build_unet(const std::string& name, std::int64_t image_size, std::int64_t classes);

/// Outputs of a MobileNetV3's stages, for what is built on it.
struct MobileStages {
    std::vector<Shape> rows;  // of each inverted residual
    Shape middle, high;       // the widened tensor at the last halving; the last convolution's
};
/// MobileNetV3 up to its last convolution. `tail` divides the last stage's widths; `dilated` keeps its resolution.
MobileStages add_mobilenet_v3(ModelBuilder& b, bool large, std::int64_t tail, bool dilated);

struct ConvNextOptions {
    std::vector<std::int64_t> depths = {3, 3, 9, 3}, widths = {96, 192, 384, 768};
    std::int64_t channels = 3, patch = 4;
    bool layer_scale = true;
    bool second = false;  // ConvNeXt V2 (Woo et al., arXiv:2301.00808): responses normed over the image, no layer scale
    std::int64_t classes = 1000;  // 0: features only
};
Result<ModelSpec> build_convnext_network(const std::string& name, const ImageSides& image,
                                         const ConvNextOptions& options);

/// Whether add_resnet_stages knows the name.
bool is_resnet(const std::string& name);
/// The stages of a ResNet on the current tensor, stem included, up to stage `stages` (1 to 4); `stride3` and `stride4`
/// are the strides of the last two (a detector or segmenter may keep its resolution). Returns the output of each stage.
/// Used as a backbone.
std::vector<Shape> add_resnet_stages(ModelBuilder& b, const std::string& name, int stages, std::int64_t stride3 = 2,
                                     std::int64_t stride4 = 2);

struct VitOptions {
    std::int64_t patch = 16, patch_width = 0;  // pixels; 0: square patches
    bool cuts = false;                         // pixels beyond the last whole patch are not seen; else such are refused
    std::int64_t channels = 3, width = 768, layers = 12, heads = 12, inner = 3072;
    std::int64_t classes = 1000;  // 0: features only
    bool fused = true;
    std::int64_t extra_tokens = 1;    // class and distillation tokens, registers
    std::int64_t position_rows = -1;  // of the table; -1: one for each token
    int class_heads = 1;
    std::int64_t class_width = 1;  // tokens joined for the head
    bool head_counts = true;       // whether the published figure holds the classifier
    bool qkv_bias = true, patch_bias = true, first_norm = false, last_norm = true, head_norm = false;
    bool gated = false;
    bool pooler = false;  // a dense layer on the class token
    std::string activation = "gelu";
    double block_parameters = 0;  // of each block beside its products and norms: layer scales, position biases
    double more_parameters = 0;   // of none of them: a mask's token, biases that all blocks share
};
/// Its layers on the image of `b`, up to the class token; names start with `prefix`.
void add_vision_transformer(ModelBuilder& b, const std::string& prefix, const VitOptions& options);
/// A vision transformer (Dosovitskiy et al., arXiv:2010.11929).
Result<ModelSpec> build_vision_transformer(const std::string& name, const ImageSides& image, const VitOptions& options);

}  // namespace dlcast
