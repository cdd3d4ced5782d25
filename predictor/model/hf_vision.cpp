// SPDX-License-Identifier: GPL-2.0-or-later
// Vision models described by a config, by their configuration classes in Hugging Face's transformers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_swin.h"

namespace dlcast {
namespace {

// The data set's, else the config's, of its object `part` where that is given.
ImageSides image_of(HfConfig& c, std::int64_t standard, const char* part = nullptr) {
    const std::int64_t stated = c.options.image_size;
    if (stated > 0) return {stated, stated};
    const ImageSides image = c.sides_or(part, "image_size", standard);
    c.assumed.push_back(image.height == image.width
                            ? fmt::format("image_size {} (the model's)", image.height)
                            : fmt::format("image_size {} x {} (the model's)", image.height, image.width));
    return image;
}

// A model has one size: of the square with as many pixels.
Result<ModelSpec> with_size(Result<ModelSpec> model, const ImageSides& image) {
    if (model)
        model->image_size =
            std::llround(std::sqrt(static_cast<double>(image.height) * static_cast<double>(image.width)));
    return model;
}

// Outputs of the classifier; 0: none, as the architectures named "...Model" are without the data set's classes.
std::int64_t classes_of(HfConfig& c) {
    const bool features =
        c.options.task == "features" || (c.options.task.empty() && c.options.classes == 0 && c.is_for("Model"));
    return features ? 0 : c.labels(1000);
}

VitOptions read_vit(HfConfig& c, std::int64_t patch) {
    VitOptions o;
    const ImageSides sides = c.sides_or(nullptr, "patch_size", patch);
    o.patch = sides.height;
    o.patch_width = sides.width;
    o.cuts = true;  // a convolution whose stride is its kernel
    o.qkv_bias = c.flag_or("qkv_bias", true);
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.width = c.size({"hidden_size"});
    o.layers = c.size({"num_hidden_layers"});
    o.heads = c.size({"num_attention_heads"});
    const double ratio = c.number_or("mlp_ratio", 4.0);
    o.inner = std::max<std::int64_t>(
        1, c.size_or({"intermediate_size"}, static_cast<std::int64_t>(ratio * static_cast<double>(o.width))));
    o.activation = c.text_or({"hidden_act"}, "gelu");
    o.fused = c.fused(true);
    return o;
}

Result<ModelSpec> build_hf_vit(HfConfig& c, const std::string& name) {
    VitOptions o = read_vit(c, 16);
    o.classes = classes_of(c);
    o.pooler = o.classes == 0 && c.is_for("Model");
    if (c.family == "deit") o.extra_tokens = 2;
    if (c.is_for("ForImageClassificationWithTeacher")) o.class_heads = 2;
    const ImageSides image = image_of(c, 224);
    return with_size(build_vision_transformer(name, image, o), image);
}

// BEiT (Bao et al., arXiv:2106.08254): relative positions and layer scales in each block, no bias of keys, no absolute
// positions; the mean of the patches is classified behind a norm.
Result<ModelSpec> build_beit(HfConfig& c, const std::string& name) {
    VitOptions o = read_vit(c, 16);
    o.classes = classes_of(c);
    o.qkv_bias = true;
    const ImageSides image = image_of(c, 224);
    const auto distances = static_cast<double>(2 * (image.height / o.patch) - 1) *
                               static_cast<double>(2 * (image.width / o.patch_width) - 1) +
                           3;
    const auto width = static_cast<double>(o.width);
    const double bias = distances * static_cast<double>(o.heads);
    if (!c.flag_or("use_absolute_position_embeddings", false)) o.position_rows = 0;
    if (c.flag_or("use_relative_position_bias", c.family == "beit")) o.block_parameters += bias;
    if (c.flag_or("use_shared_relative_position_bias", false)) o.more_parameters += bias;
    if (c.flag_or("use_mask_token", false)) o.more_parameters += width;
    if (c.number_or("layer_scale_init_value", 0.1) > 0.0) o.block_parameters += 2 * width;
    o.block_parameters -= width;
    o.fused = c.fused(false);
    if (c.is_for("ForSemanticSegmentation"))
        c.assumed.push_back(fmt::format("the head of {} that segments is left out{}; a class is computed", c.family,
                                        c.flag_or("use_auxiliary_head", true) ? ", and its auxiliary head" : ""));
    if (c.flag_or("use_mean_pooling", true)) o.last_norm = false, o.head_norm = true;
    return with_size(build_vision_transformer(name, image, o), image);
}

// DINOv2 (Oquab et al., arXiv:2304.07193): layer scales; class token and mean patch are classified together. Its table
// of positions is that of the image size it was trained with.
Result<ModelSpec> build_dinov2(HfConfig& c, const std::string& name) {
    VitOptions o = read_vit(c, 14);
    o.classes = classes_of(c);
    o.class_width = 2;
    o.head_counts = false;
    const ImageSides trained = c.sides_or(nullptr, "image_size", 518);
    const std::int64_t mask = c.flag_or("use_mask_token", true) ? 1 : 0;
    // Its own rows, the class token's and the mask.
    o.position_rows = trained.height / o.patch * (trained.width / o.patch_width) + 1 + mask;
    o.block_parameters = 2 * static_cast<double>(o.width);
    o.extra_tokens = 1 + c.size_or({"num_register_tokens"}, 0);
    if (c.flag_or("use_swiglu_ffn", false)) {
        o.gated = true;
        o.inner = (o.inner * 2 / 3 + 7) / 8 * 8;
        o.activation = "silu";
    }
    const ImageSides image = image_of(c, 518);
    return with_size(build_vision_transformer(name, image, o), image);
}

std::int64_t square_patch(HfConfig& c, std::int64_t standard) {
    const ImageSides sides = c.sides_or(nullptr, "patch_size", standard);
    if (sides.height != sides.width)
        c.fail_at("patch_size", fmt::format("patch_size is [{}, {}]; {} has square patches, write one number",
                                            sides.height, sides.width, c.family));
    return sides.height;
}

Result<ModelSpec> build_hf_swin(HfConfig& c, const std::string& name) {
    SwinOptions o;
    o.second = c.family == "swinv2";
    o.patch = square_patch(c, 4);
    o.pads = true;
    o.qkv_bias = c.flag_or("qkv_bias", true);
    o.key_bias = !o.second;  // the second version's keys have none
    o.absolute_positions = c.flag_or("use_absolute_embeddings", false);
    o.mask_token = c.is_for("ForMaskedImageModeling");
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.width = std::max<std::int64_t>(1, c.size_or({"embed_dim"}, 96));
    o.window = std::max<std::int64_t>(1, c.size_or({"window_size"}, 7));
    o.mlp_ratio = c.number_or("mlp_ratio", 4.0);
    if (const auto depths = c.list("depths")) o.depths = *depths;
    if (const auto heads = c.list("num_heads")) o.heads = *heads;
    o.classes = classes_of(c);
    const ImageSides image = image_of(c, 224);
    if (c.failed()) return invalid_argument("incomplete");
    return with_size(build_swin_transformer(name, image, o), image);
}

Result<ModelSpec> build_hf_convnext(HfConfig& c, const std::string& name) {
    ConvNextOptions o;
    o.second = c.family == "convnextv2";
    if (const auto depths = c.list("depths")) o.depths = *depths;
    if (const auto widths = c.list("hidden_sizes")) o.widths = *widths;
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.patch = square_patch(c, 4);
    o.layer_scale = c.number_or("layer_scale_init_value", 1e-6) > 0.0;
    o.classes = classes_of(c);
    const ImageSides image = image_of(c, 224);
    if (c.failed()) return invalid_argument("incomplete");
    return with_size(build_convnext_network(name, image, o), image);
}

Result<ModelSpec> build_hf_resnet(HfConfig& c, const std::string& name) {
    const auto depths = c.list("depths").value_or(std::vector<std::int64_t>{3, 4, 6, 3});
    const bool bottleneck = c.text_or({"layer_type"}, "bottleneck") == "bottleneck";
    static const std::pair<std::vector<std::int64_t>, const char*> known[] = {{{2, 2, 2, 2}, "resnet26"},
                                                                              {{3, 4, 6, 3}, "resnet50"},
                                                                              {{3, 4, 23, 3}, "resnet101"},
                                                                              {{3, 8, 36, 3}, "resnet152"}};
    const char* found = "";
    for (const auto& [its, model] : known)
        if (its == depths) found = model;
    if (!bottleneck) found = depths == known[0].first ? "resnet18" : depths == known[1].first ? "resnet34" : "";
    if (!*found) {
        c.fail("depths should be those of a known ResNet: [2, 2, 2, 2], [3, 4, 6, 3], [3, 4, 23, 3] or [3, 8, 36, 3]");
        return invalid_argument("unknown depths");
    }
    const std::vector<std::int64_t> widths =
        bottleneck ? std::vector<std::int64_t>{256, 512, 1024, 2048} : std::vector<std::int64_t>{64, 128, 256, 512};
    if (c.list("hidden_sizes").value_or(widths) != widths || c.size_or({"embedding_size"}, 64) != 64 ||
        c.size_or({"num_channels"}, 3) != 3) {
        c.fail_at(
            "hidden_sizes",
            fmt::format("{} with other widths than embedding_size 64, hidden_sizes [{}] and num_channels 3 is not "
                        "read; describe its layers, or take the nearest ResNet",
                        found, fmt::join(widths, ", ")));
        return invalid_argument("unknown widths");
    }
    const ImageSides image = image_of(c, 224);
    if (image.height != image.width)
        c.fail_at("image_size", fmt::format("image_size is [{}, {}]; {} is read on square images, write one number",
                                            image.height, image.width, found));
    auto model = build_resnet(found, image.height, classes_of(c));
    if (model) model->name = name;
    return with_size(std::move(model), image);
}

// The inner width of one of CLIP's towers; transformers' is the same whatever the width.
std::int64_t clip_inner(HfConfig& c, const char* tower, std::int64_t width, std::int64_t standard) {
    const std::int64_t inner = c.nested_or(tower, "intermediate_size", 0);
    if (inner > 0) return inner;
    if (standard != 4 * width)
        c.assumed.push_back(
            fmt::format("intermediate_size {} of {} (not stated; transformers' default for clip)", standard, tower));
    return standard;
}

// CLIP (Radford et al., arXiv:2103.00020): an image and a text tower, both projected to one space.
Result<ModelSpec> build_clip(HfConfig& c, const std::string& name) {
    VitOptions o;
    const ImageSides patch = c.sides_or("vision_config", "patch_size", 32);
    o.patch = patch.height;
    o.patch_width = patch.width;
    o.cuts = true;
    o.channels = c.nested_or("vision_config", "num_channels", 3);
    o.width = c.nested_or("vision_config", "hidden_size", 768);
    o.layers = c.nested_or("vision_config", "num_hidden_layers", 12);
    o.heads = c.nested_or("vision_config", "num_attention_heads", 12);
    o.inner = clip_inner(c, "vision_config", o.width, 3072);
    o.activation = c.nested_text_or("vision_config", "hidden_act", "quick_gelu");
    o.patch_bias = false;
    o.first_norm = true;
    o.classes = 0;
    o.fused = c.fused(true);
    const ImageSides image = image_of(c, 224, "vision_config");
    const std::int64_t width = c.nested_or("text_config", "hidden_size", 512),
                       layers = c.nested_or("text_config", "num_hidden_layers", 12),
                       vocab = c.nested_or("text_config", "vocab_size", 49408),
                       positions = c.nested_or("text_config", "max_position_embeddings", 77);
    const std::int64_t common = c.size_or({"projection_dim"}, 512);
    BlockOptions block;
    block.attention.heads = c.nested_or("text_config", "num_attention_heads", 8);
    block.attention.causal = true;
    block.attention.fused = o.fused;
    block.mlp.inner = clip_inner(c, "text_config", width, 2048);
    block.mlp.activation = c.nested_text_or("text_config", "hidden_act", "quick_gelu");
    block.dropout = false;
    if (c.failed()) return invalid_argument("incomplete");
    ModelBuilder b({o.channels, image.height, image.width});
    add_vision_transformer(b, "vision.", o);
    b.linear("vision.project", std::max<std::int64_t>(1, common), false);
    const std::int64_t tokens = std::min(positions, c.options.seq_len > 0 ? c.options.seq_len : positions);
    b.continue_from({tokens});
    b.embedding("text.embed", vocab, width);
    b.continue_from({tokens});
    b.embedding("text.positions", positions, width);
    b.add("text.add");
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        b.set_block(static_cast<int>(o.layers + i));
        add_block(b, fmt::format("text.{}", i), block);
    }
    b.set_block(-1);
    b.norm("text.norm", LayerKind::layer_norm);
    b.reshape("text.last", {width});
    b.linear("text.project", std::max<std::int64_t>(1, common), false);
    if (!b.failed()) b.add_parameters(b.back(), 1.0);  // the scale of the logits
    b.loss("loss");
    auto model = b.finish(name, "clip");
    if (model) model->seq_len = tokens;
    return with_size(std::move(model), image);
}

}  // namespace

const std::vector<HfFamily>& vision_families() {
    static const std::vector<HfFamily> families = [] {
        std::vector<HfFamily> all = {{"vit", build_hf_vit},
                                     {"deit", build_hf_vit},
                                     {"beit", build_beit},
                                     {"data2vec-vision", build_beit},
                                     {"dinov2", build_dinov2},
                                     {"dinov2_with_registers", build_dinov2},
                                     {"swin", build_hf_swin},
                                     {"swinv2", build_hf_swin},
                                     {"convnext", build_hf_convnext},
                                     {"convnextv2", build_hf_convnext},
                                     {"resnet", build_hf_resnet},
                                     {"clip", build_clip}};
        all.insert(all.end(), detection_families().begin(), detection_families().end());
        return all;
    }();
    return families;
}

}  // namespace dlcast
