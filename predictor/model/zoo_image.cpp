// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

using Build = Result<ModelSpec> (*)(const std::string&, std::int64_t, std::int64_t);

class List {
public:
    List& add(Build build, std::initializer_list<const char*> names, std::int64_t size = 224,
              std::int64_t classes = 1000) {
        for (const char* name : names) all.push_back({name, size, classes, build});
        return *this;
    }
    std::vector<ImageModel> all;
};

void add_classifiers(List& list) {
    list.add(build_alexnet, {"alexnet"})
        .add(build_vgg, {"vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"})
        .add(build_resnet,
             {"resnet18",         "resnet34",          "resnet50",           "resnet101",          "resnet152",
              "resnet26",         "resnet200",         "resnet18d",          "resnet26d",          "resnet34d",
              "resnet50d",        "resnet101d",        "resnet152d",         "resnet200d",         "resnext50_32x4d",
              "resnext101_32x4d", "resnext101_32x8d",  "resnext101_32x16d",  "resnext101_32x32d",  "resnext101_32x48d",
              "resnext101_64x4d", "seresnet18",        "seresnet34",         "seresnet50",         "seresnet101",
              "seresnet152",      "seresnext50_32x4d", "seresnext101_32x4d", "seresnext101_32x8d", "wide_resnet50_2",
              "wide_resnet101_2"})
        .add(build_squeezenet, {"squeezenet1_0", "squeezenet1_1"})
        .add(build_shufflenet, {"shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"})
        .add(build_mobilenet, {"mobilenet_v2"})
        .add(build_mobilenet_v3, {"mobilenet_v3_small", "mobilenet_v3_large"})
        .add(build_mnasnet, {"mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3"})
        .add(build_googlenet, {"googlenet"})
        .add(build_inception_v3, {"inception_v3"}, 299)
        .add(build_inception_v4, {"inception_v4"}, 299)
        .add(build_xception, {"xception"}, 299)
        .add(build_darknet, {"darknet53"}, 256)
        .add(build_densenet, {"densenet121", "densenet161", "densenet169", "densenet201"})
        .add(build_convnext, {"convnext_tiny", "convnext_small", "convnext_base", "convnext_large", "convnext_xlarge"});
    for (const std::string& name : regnet_names()) list.all.push_back({name, 224, 1000, build_regnet});
    // EfficientNets have a size each.
    std::int64_t number = 0;
    for (const std::int64_t size : {224, 240, 288, 300, 380, 456, 528, 600})
        list.all.push_back({"efficientnet_b" + std::to_string(number++), size, 1000, build_efficientnet});
    list.add(build_efficientnet, {"efficientnet_widese_b0"})
        .add(build_efficientnet, {"efficientnet_widese_b4"}, 380)
        .add(build_efficientnet_v2, {"efficientnet_v2_s"}, 384)
        .add(build_efficientnet_v2, {"efficientnet_v2_m", "efficientnet_v2_l"}, 480);
}

void add_transformers(List& list) {
    list.add(build_vit, {"vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14", "vit_ti_16", "vit_s_16",
                         "vit_s_32", "vit_b_8", "deit_tiny_distilled", "deit_small_distilled", "deit_base_distilled"})
        .add(build_vit, {"vit_b_16_384", "vit_b_32_384", "vit_l_16_384", "vit_s_16_384", "deit_base_distilled_384"},
             384)
        .add(build_mixer, {"mixer_s_16", "mixer_s_32", "mixer_b_16", "mixer_b_32", "mixer_l_16", "mixer_l_32"})
        .add(build_swin, {"swin_t", "swin_s", "swin_b", "swin_l"})
        .add(build_swin, {"swin_b_384", "swin_l_384"}, 384)
        .add(build_swin, {"swin_v2_t", "swin_v2_s", "swin_v2_b"}, 256);
}

// Classes of COCO with the background, of Pascal VOC, of COCO without.
void add_detectors(List& list) {
    list.add(build_faster_rcnn,
             {"fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "fasterrcnn_resnet101_fpn",
              "fasterrcnn_mobilenet_v3_large_fpn", "maskrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn_v2",
              "maskrcnn_resnet101_fpn", "keypointrcnn_resnet50_fpn"},
             800, 91)
        .add(build_faster_rcnn, {"fasterrcnn_mobilenet_v3_large_320_fpn"}, 320, 91)
        .add(build_retinanet_model, {"retinanet_resnet50_fpn", "retinanet_resnet50_fpn_v2"}, 800, 91)
        .add(build_fcos, {"fcos_resnet50_fpn"}, 800, 91)
        .add(build_ssd300_vgg, {"ssd300_vgg16"}, 300, 91)
        .add(build_ssdlite, {"ssdlite320_mobilenet_v3_large"}, 320, 91)
        .add(build_yolo,
             {"yolov3", "yolov5n", "yolov5s", "yolov5m", "yolov5l", "yolov5x", "yolov8n", "yolov8s", "yolov8m",
              "yolov8l", "yolov8x"},
             640, 80)
        .add(build_segmenter,
             {"fcn_resnet50", "fcn_resnet101", "deeplabv3_resnet50", "deeplabv3_resnet101",
              "deeplabv3_mobilenet_v3_large"},
             520, 21)
        .add(build_lraspp, {"lraspp_mobilenet_v3_large"}, 520, 21)
        .add(build_unet, {"unet"}, 512, 1);
}

}  // namespace

const std::vector<ImageModel>& image_models() {
    static const std::vector<ImageModel> models = [] {
        List list;
        list.all.reserve(192);
        add_classifiers(list);
        add_transformers(list);
        add_detectors(list);
        return std::move(list.all);
    }();
    return models;
}

}  // namespace dlcast
