// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/zoo_alias.h"

#include <utility>

namespace dlcast {
namespace {

constexpr std::pair<std::string_view, const char*> other_names[] = {
    // everyday speech
    {"bert", "bert-base-uncased"},
    {"bertbase", "bert-base-uncased"},
    {"bertlarge", "bert-large-uncased"},
    {"roberta", "roberta-base"},
    {"distilbert", "distilbert-base-uncased"},
    {"albertbase", "albert-base-v2"},
    {"electrabase", "electra-base-discriminator"},
    {"electralarge", "electra-large-discriminator"},
    {"electrasmall", "electra-small-discriminator"},
    {"gpt", "openai-gpt"},
    {"gpt2small", "gpt2"},
    {"gptj", "gpt-j-6b"},
    {"gptneox", "gpt-neox-20b"},
    {"llama2", "Llama-2-7b"},
    {"mistral7b", "Mistral-7B-v0.1"},
    {"mixtral8x7b", "Mixtral-8x7B-v0.1"},
    {"mixtral8x22b", "Mixtral-8x22B-v0.1"},
    {"mistralnemo", "Mistral-Nemo-Base-2407"},
    {"deepseekr1", "DeepSeek-V3"},
    {"transformerxl", "transfo-xl-wt103"},
    {"transformerxllarge", "transfo-xl-wt103"},
    {"whisper", "whisper-small"},
    {"wav2vec2", "wav2vec2-base"},
    {"vgg", "vgg16"},
    {"resnext50", "resnext50_32x4d"},
    {"resnext101", "resnext101_32x8d"},
    {"seresnext50", "seresnext50_32x4d"},
    {"seresnext101", "seresnext101_32x4d"},
    {"resnet50v1.5", "resnet50"},
    {"resnet50v15", "resnet50"},
    {"inception3", "inception_v3"},
    {"inception4", "inception_v4"},
    {"inceptionv1", "googlenet"},
    {"mobilenet", "mobilenet_v2"},
    {"mobilenetv3", "mobilenet_v3_large"},
    {"squeezenet", "squeezenet1_0"},
    {"shufflenet", "shufflenet_v2_x1_0"},
    {"mnasnet", "mnasnet1_0"},
    {"densenet", "densenet121"},
    {"efficientnet", "efficientnet_b0"},
    {"vit", "vit_b_16"},
    {"swin", "swin_t"},
    {"ssd", "ssd300_vgg16"},
    {"ssd300", "ssd300_vgg16"},
    {"ssdlite", "ssdlite320_mobilenet_v3_large"},
    {"fasterrcnn", "fasterrcnn_resnet50_fpn"},
    {"maskrcnn", "maskrcnn_resnet50_fpn"},
    {"retinanet", "retinanet_resnet50_fpn"},
    {"fcos", "fcos_resnet50_fpn"},
    {"deeplabv3", "deeplabv3_resnet50"},
    {"fcn", "fcn_resnet50"},
    {"unetmedical", "unet"},
    {"neumf", "ncf"},
    {"stablediffusion", "stable-diffusion-v1-5"},
    {"sdxl", "stable-diffusion-xl-base-1.0"},
    {"stablediffusionxl", "stable-diffusion-xl-base-1.0"},
    // timm
    {"mobilenetv2-100", "mobilenet_v2"},
    {"mobilenetv3small100", "mobilenet_v3_small"},
    {"mobilenetv3large100", "mobilenet_v3_large"},
    {"mnasnet050", "mnasnet0_5"},
    {"mnasnet075", "mnasnet0_75"},
    {"mnasnet100", "mnasnet1_0"},
    {"efficientnetv2s", "efficientnet_v2_s"},
    {"efficientnetv2m", "efficientnet_v2_m"},
    {"efficientnetv2l", "efficientnet_v2_l"},
    {"regnetx002", "regnet_x_200mf"},
    {"regnetx004", "regnet_x_400mf"},
    {"regnetx006", "regnet_x_600mf"},
    {"regnetx008", "regnet_x_800mf"},
    {"regnetx016", "regnet_x_1_6gf"},
    {"regnetx032", "regnet_x_3_2gf"},
    {"regnetx040", "regnet_x_4gf"},
    {"regnetx064", "regnet_x_6_4gf"},
    {"regnetx080", "regnet_x_8gf"},
    {"regnetx120", "regnet_x_12gf"},
    {"regnetx160", "regnet_x_16gf"},
    {"regnetx320", "regnet_x_32gf"},
    {"regnety002", "regnet_y_200mf"},
    {"regnety004", "regnet_y_400mf"},
    {"regnety006", "regnet_y_600mf"},
    {"regnety008", "regnet_y_800mf"},
    {"regnety016", "regnet_y_1_6gf"},
    {"regnety032", "regnet_y_3_2gf"},
    {"regnety040", "regnet_y_4gf"},
    {"regnety064", "regnet_y_6_4gf"},
    {"regnety080", "regnet_y_8gf"},
    {"regnety120", "regnet_y_12gf"},
    {"regnety160", "regnet_y_16gf"},
    {"regnety320", "regnet_y_32gf"},
    {"swintinypatch4window7-224", "swin_t"},
    {"swinsmallpatch4window7-224", "swin_s"},
    {"swinbasepatch4window7-224", "swin_b"},
    {"swinlargepatch4window7-224", "swin_l"},
    {"swinbasepatch4window12-384", "swin_b_384"},
    {"swinlargepatch4window12-384", "swin_l_384"},
    {"swinv2tinywindow8-256", "swin_v2_t"},
    {"swinv2smallwindow8-256", "swin_v2_s"},
    {"swinv2basewindow8-256", "swin_v2_b"},
    {"swinv2tinypatch4window8-256", "swin_v2_t"},
    {"swinv2smallpatch4window8-256", "swin_v2_s"},
    {"swinv2basepatch4window8-256", "swin_v2_b"},
    {"vittinypatch16-224", "vit_ti_16"},
    {"vitsmallpatch16-224", "vit_s_16"},
    {"vitsmallpatch32-224", "vit_s_32"},
    {"vitbasepatch8-224", "vit_b_8"},
    {"vitbasepatch16-224", "vit_b_16"},
    {"vitbasepatch32-224", "vit_b_32"},
    {"vitlargepatch16-224", "vit_l_16"},
    {"vitlargepatch32-224", "vit_l_32"},
    {"vithugepatch14-224", "vit_h_14"},
    {"vitsmallpatch16-384", "vit_s_16_384"},
    {"vitbasepatch16-384", "vit_b_16_384"},
    {"vitbasepatch32-384", "vit_b_32_384"},
    {"vitlargepatch16-384", "vit_l_16_384"},
    {"deittinypatch16-224", "vit_ti_16"},
    {"deitsmallpatch16-224", "vit_s_16"},
    {"deitbasepatch16-224", "vit_b_16"},
    {"deitbasepatch16-384", "vit_b_16_384"},
    {"deittinydistilledpatch16-224", "deit_tiny_distilled"},
    {"deitsmalldistilledpatch16-224", "deit_small_distilled"},
    {"deitbasedistilledpatch16-224", "deit_base_distilled"},
    {"deitbasedistilledpatch16-384", "deit_base_distilled_384"},
    {"mixerb16-224", "mixer_b_16"},
    {"mixers16-224", "mixer_s_16"},
    {"mixerl16-224", "mixer_l_16"},
    {"mixerb32-224", "mixer_b_32"},
    // the hub
    {"convnexttiny224", "convnext_tiny"},
    {"convnextsmall224", "convnext_small"},
    {"convnextbase224", "convnext_base"},
    {"convnextlarge224", "convnext_large"},
    {"convnextv2tiny1k224", "convnextv2_tiny"},
    {"convnextv2base1k224", "convnextv2_base"},
    {"retinanetresnet50", "retinanet_resnet50_fpn"},
    {"tinyllama1.1bchatv1.0", "TinyLlama-1.1B"},
    {"stablediffusion1-5", "stable-diffusion-v1-5"},
    {"stablediffusionv1.5", "stable-diffusion-v1-5"},
    {"bertuncasedl2h128a2", "bert-tiny"},
    {"bertuncasedl4h256a4", "bert-mini"},
    {"bertuncasedl4h512a8", "bert-small"},
    {"bertuncasedl8h512a8", "bert-medium"},
    {"starcoderbase", "starcoder"},
    {"codellama7bpython", "CodeLlama-7b"},
    {"codellama13bpython", "CodeLlama-13b"},
    {"codellama34bpython", "CodeLlama-34b"},
    {"deepseekv3base", "DeepSeek-V3"},
    {"mixtral8x7binstructv0.1", "Mixtral-8x7B-v0.1"},
    {"mistral7binstructv0.1", "Mistral-7B-v0.1"},
    {"mistral7binstructv0.2", "Mistral-7B-v0.2"},
    {"mistral7binstructv0.3", "Mistral-7B-v0.3"},
};

constexpr std::pair<std::string_view, std::int64_t> class_tags[] = {
    {".miil_in21k", 11221}, {".in21k", 21843}, {".in22k", 21841}, {".in12k", 11821}};

}  // namespace

std::int64_t tagged_classes(std::string_view name) {
    for (const auto& [tag, classes] : class_tags)
        if (name.ends_with(tag)) return classes;
    return 0;
}

std::string_view class_tag(std::string_view name) {
    const auto point = name.rfind('.');
    const std::string_view recipe = point == std::string_view::npos ? "" : name.substr(point + 1);
    if (recipe.find("in1k") != std::string_view::npos) return "";
    for (const auto& [tag, classes] : class_tags) {
        const std::string_view data = tag.substr(1);
        // Names without a point: "_in21k" of timm, "-in22k" of the hub, whose "-in21k" have no head.
        const bool behind = name.ends_with("_" + std::string(data)) || (data == "in22k" && name.ends_with("-in22k"));
        if (recipe.find(data) != std::string_view::npos || behind) return tag;
    }
    return "";
}

std::optional<std::string> zoo_alias(std::string_view key) {
    for (const auto& [other, known] : other_names)
        if (other == key) return known;
    return std::nullopt;
}

}  // namespace dlcast
