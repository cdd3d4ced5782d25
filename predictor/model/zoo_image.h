// SPDX-License-Identifier: GPL-2.0-or-later
// Image classifiers of the zoo. Every builder takes the image size (pixels) and the number of classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "predictor/base/result.h"
#include "predictor/model/builder.h"

namespace dlcast {

struct ImageModel {
    std::string name;
    std::int64_t image_size;  // public default
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

/// Whether add_resnet_stages knows the name.
bool is_resnet(const std::string& name);
/// The stages of a ResNet on the current tensor, stem included, up to stage `stages` (1 to 4); `stride3` is the stride
/// of the third (a detector may keep its resolution). Returns the output of each stage. Used as a backbone.
std::vector<Shape> add_resnet_stages(ModelBuilder& b, const std::string& name, int stages, std::int64_t stride3 = 2);

struct VitOptions {
    std::int64_t patch = 16, channels = 3, width = 768, layers = 12, heads = 12, inner = 3072;
    std::int64_t classes = 1000;  // 0: features only
    bool fused = true;
};
/// A vision transformer (Dosovitskiy et al., arXiv:2010.11929) on a square image.
Result<ModelSpec> build_vision_transformer(const std::string& name, std::int64_t image_size, const VitOptions& options);

}  // namespace dlcast
