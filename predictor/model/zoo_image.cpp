// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo_image.h"

namespace dlcast {

const std::vector<ImageModel>& image_models() {
    static const std::vector<ImageModel> models = {
        {"alexnet", 224, build_alexnet},
        {"vgg11", 224, build_vgg},
        {"vgg11_bn", 224, build_vgg},
        {"vgg13", 224, build_vgg},
        {"vgg13_bn", 224, build_vgg},
        {"vgg16", 224, build_vgg},
        {"vgg16_bn", 224, build_vgg},
        {"vgg19", 224, build_vgg},
        {"vgg19_bn", 224, build_vgg},
        {"resnet18", 224, build_resnet},
        {"resnet34", 224, build_resnet},
        {"resnet50", 224, build_resnet},
        {"resnet101", 224, build_resnet},
        {"resnet152", 224, build_resnet},
        {"resnext50_32x4d", 224, build_resnet},
        {"resnext101_32x4d", 224, build_resnet},
        {"resnext101_32x8d", 224, build_resnet},
        {"resnext101_64x4d", 224, build_resnet},
        {"seresnext101_32x4d", 224, build_resnet},
        {"wide_resnet50_2", 224, build_resnet},
        {"wide_resnet101_2", 224, build_resnet},
    };
    return models;
}

}  // namespace dlcast
