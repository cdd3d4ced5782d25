// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>

#include "model_test_support.h"
#include "predictor/model/zoo.h"

using namespace dlcast;

// torchvision's documentation (GFLOPS, which counts multiply-adds): 15.47 for vgg16, 4.09 for resnet50.
TEST_CASE("forward FLOPs are twice the published multiply-adds", "[model][zoo]") {
    const auto [name, giga_multiply_adds] = GENERATE(table<std::string, double>({
        {"vgg16", 15.47},        {"resnet50", 4.09},        {"resnet18", 1.814},          {"alexnet", 0.714},
        {"resnet152", 11.51},    {"resnext50_32x4d", 4.23}, {"wide_resnet50_2", 11.40},   {"densenet121", 2.83},
        {"squeezenet1_0", 0.82}, {"mobilenet_v2", 0.30},    {"mobilenet_v3_large", 0.22}, {"shufflenet_v2_x1_0", 0.14},
        {"mnasnet1_0", 0.31},    {"googlenet", 1.50},       {"efficientnet_b0", 0.39},    {"efficientnet_v2_s", 8.37},
        {"convnext_tiny", 4.46}, {"regnet_y_3_2gf", 3.18},  {"regnet_x_8gf", 8.00},       {"vgg19_bn", 19.63},
    }));
    CAPTURE(name);
    CHECK(forward_flops(zoo_workload(name).model) / 2e9 ==
          Approx(giga_multiply_adds).epsilon(0.005).margin(0.005));  // printed digits
}

TEST_CASE("a zoo name is found with or without organisation, in any case", "[model][zoo]") {
    for (const char* name : {"resnet50", "ResNet-50", "torchvision/resnet50", "RESNET_50"})
        CHECK(zoo_workload(name).model.name == "resnet50");
}

TEST_CASE("points, and separators between digits, tell sizes of a model apart", "[model][zoo]") {
    CHECK(zoo_workload("facebook/opt-13b").model.name == "opt-13b");
    CHECK(zoo_workload("opt-1.3b").model.name == "opt-1.3b");
    for (const char* name : {"opt-1-3b", "gpt-neo-13B", "pythia-69b", "llama-3.21b", "wide_resnet502"}) {
        CAPTURE(name);
        CHECK_THAT(error_of(std::string(R"({"model": ")") + name + R"("})"), Catch::Contains("did you mean"));
    }
}

TEST_CASE("other collections' names mean the same layers", "[model][zoo]") {
    const auto [name, known] = GENERATE(table<std::string, std::string>({
        {"meta-llama/Meta-Llama-3-8B-Instruct", "Llama-3-8B"},
        {"meta-llama/Llama-3.2-1B", "Llama-3.2-1B"},
        {"vit_base_patch16_224", "vit_b_16"},
        {"google/vit-base-patch16-224-in21k", "vit_b_16"},
        {"timm/resnet50.a1_in1k", "resnet50"},
        {"mixtral-8x7b", "Mixtral-8x7B-v0.1"},
        {"regnety_032", "regnet_y_3_2gf"},
        {"swin_tiny_patch4_window7_224.ms_in1k", "swin_t"},
        {"facebook/deit-small-patch16-224", "vit_s_16"},
        {"tf_efficientnet_b4_ns", "efficientnet_b4"},
        {"mistralai/Mistral-7B-Instruct-v0.2", "Mistral-7B-v0.2"},
        {"Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B"},
        {"google/gemma-2-9b-it", "gemma-2-9b"},
        {"mask_rcnn", "maskrcnn_resnet50_fpn"},
    }));
    CAPTURE(name);
    CHECK(zoo_workload(name).model.name == known);
}

// 64 x 3 x 3 x 3 + ... unchanged; only fc8 follows the classes: 4096 x 10 + 10 instead of 4096 x 1000 + 1000.
// 85,798,656 + 769 x 21,843; 87,566,464 + 1,025 x 21,841; timm's names say what the head was trained on.
TEST_CASE("a name of a larger ImageNet brings its classes", "[model][zoo]") {
    for (const auto& [name, parameters] :
         {std::pair<const char*, std::uint64_t>{"timm/vit_base_patch16_224.augreg_in21k", 102'595'923},
          {"vit_base_patch16_224_in21k", 102'595'923},
          {"timm/vit_base_patch16_224.augreg_in21k_ft_in1k", 86'567'656},
          {"timm/convnext_base.fb_in22k", 109'953'489},
          {"timm/convnext_base.fb_in22k_ft_in1k", 88'591'464}}) {
        INFO(name);
        CHECK(zoo_workload(name).model.parameters == parameters);
        const auto known = find_zoo_name(name);
        REQUIRE(known);
        CHECK(find_zoo_name(*known) == known);
    }
    const auto w = zoo_workload("timm/vit_base_patch16_224.augreg_in21k");
    CHECK(std::find(w.assumed.begin(), w.assumed.end(), "21843 classes (of the set in the model's name)") !=
          w.assumed.end());
    const auto stated =
        good_workload(R"({"model": "timm/vit_base_patch16_224.augreg_in21k", "dataset": {"classes": 10}})");
    CHECK(stated.model.parameters == 102'595'923 - 21'833 * 769);
}

TEST_CASE("the data set's classes decide the last layer", "[model][zoo]") {
    const auto w = good_workload(R"({"model": "vgg16", "dataset": {"samples": 100, "classes": 10}})");
    CHECK(w.model.parameters == 138'357'544 - 990 * 4097);
}

TEST_CASE("an image too small for the network is refused", "[model][zoo]") {
    CHECK_THAT(error_of(R"({"model": "alexnet", "training": {"image_size": 8}})"), Catch::Contains("nothing is left"));
}
