// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo_image.h"

namespace dlcast {

const std::vector<ImageModel>& image_models() {
    static const std::vector<ImageModel> models = [] {
        std::vector<ImageModel> all;
        const auto add = [&](auto build, std::initializer_list<const char*> names) {
            for (const char* name : names) all.push_back({name, 224, build});
        };
        add(build_alexnet, {"alexnet"});
        add(build_vgg, {"vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"});
        add(build_resnet, {"resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "resnext50_32x4d",
                           "resnext101_32x4d", "resnext101_32x8d", "resnext101_64x4d", "seresnet50",
                           "seresnext50_32x4d", "seresnext101_32x4d", "wide_resnet50_2", "wide_resnet101_2"});
        add(build_mobilenet, {"mobilenet_v2"});
        add(build_densenet, {"densenet121", "densenet161", "densenet169", "densenet201"});
        add(build_convnext, {"convnext_tiny", "convnext_small", "convnext_base", "convnext_large"});
        add(build_vit, {"vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14"});
        // EfficientNets have a size each.
        std::int64_t number = 0;
        for (const std::int64_t size : {224, 240, 288, 300, 380, 456, 528, 600})
            all.push_back({"efficientnet_b" + std::to_string(number++), size, build_efficientnet});
        all.push_back({"efficientnet_widese_b0", 224, build_efficientnet});
        all.push_back({"efficientnet_widese_b4", 380, build_efficientnet});
        return all;
    }();
    return models;
}

}  // namespace dlcast
