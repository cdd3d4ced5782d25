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

/// The stages of a ResNet on the current tensor, stem included, up to stage `stages` (1 to 4); `stride3` is the stride
/// of the third (a detector may keep its resolution). Used as a backbone.
void add_resnet_stages(ModelBuilder& b, const std::string& name, int stages, std::int64_t stride3 = 2);

}  // namespace dlcast
