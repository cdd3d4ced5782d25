// SPDX-License-Identifier: GPL-2.0-or-later
// Vision models described by a config, by their configuration classes in Hugging Face's transformers.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_swin.h"

namespace dlcast {
namespace {

std::int64_t image_size_of(HfConfig& c, std::int64_t standard) {
    if (c.options.image_size > 0) return c.options.image_size;
    const std::int64_t size = c.size_or({"image_size"}, standard);
    c.assumed.push_back(fmt::format("image_size {} (the model's)", size));
    return size;
}

Result<ModelSpec> with_size(Result<ModelSpec> model, std::int64_t size) {
    if (model) model->image_size = size;
    return model;
}

VitOptions read_vit(HfConfig& c, std::int64_t patch) {
    VitOptions o;
    o.patch = std::max<std::int64_t>(1, c.size_or({"patch_size"}, patch));
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.width = c.size({"hidden_size"});
    o.layers = c.size({"num_hidden_layers"});
    o.heads = c.size({"num_attention_heads"});
    o.inner = std::max<std::int64_t>(1, c.size_or({"intermediate_size"}, c.size_or({"mlp_ratio"}, 4) * o.width));
    o.activation = c.text_or({"hidden_act"}, "gelu");
    o.fused = c.fused(true);
    return o;
}

Result<ModelSpec> build_hf_vit(HfConfig& c, const std::string& name) {
    VitOptions o = read_vit(c, 16);
    o.classes = c.labels(1000);
    if (c.family == "deit") o.extra_tokens = 2;
    const std::int64_t size = image_size_of(c, 224);
    return with_size(build_vision_transformer(name, size, o), size);
}

// BEiT (Bao et al., arXiv:2106.08254): relative positions and layer scales in each block, no bias of keys, no absolute
// positions; the mean of the patches is classified behind a norm.
Result<ModelSpec> build_beit(HfConfig& c, const std::string& name) {
    VitOptions o = read_vit(c, 16);
    o.classes = c.labels(1000);
    const std::int64_t size = image_size_of(c, 224);
    const auto side = static_cast<double>(2 * (size / o.patch) - 1);
    const auto width = static_cast<double>(o.width);
    if (!c.flag_or("use_absolute_position_embeddings", false)) o.position_rows = 0;
    if (c.flag_or("use_relative_position_bias", c.family == "beit"))
        o.block_parameters += (side * side + 3) * static_cast<double>(o.heads);
    if (c.number_or("layer_scale_init_value", 0.1) > 0.0) o.block_parameters += 2 * width;
    o.block_parameters -= width;
    o.fused = c.fused(false);
    if (c.flag_or("use_mean_pooling", true)) o.last_norm = false, o.head_norm = true;
    return with_size(build_vision_transformer(name, size, o), size);
}

// DINOv2 (Oquab et al., arXiv:2304.07193): layer scales; class token and mean patch are classified together. Its table
// of positions is that of the image size it was trained with.
Result<ModelSpec> build_dinov2(HfConfig& c, const std::string& name) {
    VitOptions o = read_vit(c, 14);
    o.classes = c.labels(1000);
    o.class_width = 2;
    o.head_counts = false;
    const std::int64_t trained = std::max<std::int64_t>(o.patch, c.size_or({"image_size"}, 518));
    o.position_rows = trained / o.patch * (trained / o.patch) + 2;  // the class token's and the mask
    o.block_parameters = 2 * static_cast<double>(o.width);
    o.extra_tokens = 1 + c.size_or({"num_register_tokens"}, 0);
    if (c.flag_or("use_swiglu_ffn", false)) {
        o.gated = true;
        o.inner = (o.inner * 2 / 3 + 7) / 8 * 8;
        o.activation = "silu";
    }
    std::int64_t size = c.options.image_size > 0 ? c.options.image_size : 224;
    if (c.options.image_size == 0) c.assumed.emplace_back("image_size 224 (not stated)");
    return with_size(build_vision_transformer(name, size, o), size);
}

Result<ModelSpec> build_hf_swin(HfConfig& c, const std::string& name) {
    SwinOptions o;
    o.second = c.family == "swinv2";
    o.patch = std::max<std::int64_t>(1, c.size_or({"patch_size"}, 4));
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.width = std::max<std::int64_t>(1, c.size_or({"embed_dim"}, 96));
    o.window = std::max<std::int64_t>(1, c.size_or({"window_size"}, 7));
    o.mlp_ratio = std::max<std::int64_t>(1, c.size_or({"mlp_ratio"}, 4));
    if (const auto depths = c.list("depths")) o.depths = *depths;
    if (const auto heads = c.list("num_heads")) o.heads = *heads;
    o.classes = c.labels(1000);
    const std::int64_t size = image_size_of(c, 224);
    if (c.failed()) return invalid_argument("incomplete");
    return with_size(build_swin_transformer(name, size, o), size);
}

Result<ModelSpec> build_hf_convnext(HfConfig& c, const std::string& name) {
    ConvNextOptions o;
    o.second = c.family == "convnextv2";
    if (const auto depths = c.list("depths")) o.depths = *depths;
    if (const auto widths = c.list("hidden_sizes")) o.widths = *widths;
    o.channels = std::max<std::int64_t>(1, c.size_or({"num_channels"}, 3));
    o.patch = std::max<std::int64_t>(1, c.size_or({"patch_size"}, 4));
    o.classes = c.labels(1000);
    const std::int64_t size = image_size_of(c, 224);
    if (c.failed()) return invalid_argument("incomplete");
    return with_size(build_convnext_network(name, size, o), size);
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
    const std::int64_t size = image_size_of(c, 224);
    auto model = build_resnet(found, size, c.labels(1000));
    if (model) model->name = name;
    return with_size(std::move(model), size);
}

// CLIP (Radford et al., arXiv:2103.00020): an image and a text tower, both projected to one space.
Result<ModelSpec> build_clip(HfConfig& c, const std::string& name) {
    VitOptions o;
    o.patch = c.nested_or("vision_config", "patch_size", 32);
    o.width = c.nested_or("vision_config", "hidden_size", 768);
    o.layers = c.nested_or("vision_config", "num_hidden_layers", 12);
    o.heads = c.nested_or("vision_config", "num_attention_heads", 12);
    o.inner = c.nested_or("vision_config", "intermediate_size", 4 * o.width);
    o.activation = "quick_gelu";
    o.patch_bias = false;
    o.first_norm = true;
    o.classes = 0;
    o.fused = c.fused(true);
    const std::int64_t size =
        c.options.image_size > 0 ? c.options.image_size : c.nested_or("vision_config", "image_size", 224);
    const std::int64_t width = c.nested_or("text_config", "hidden_size", 512),
                       layers = c.nested_or("text_config", "num_hidden_layers", 12),
                       vocab = c.nested_or("text_config", "vocab_size", 49408),
                       positions = c.nested_or("text_config", "max_position_embeddings", 77);
    const std::int64_t common = c.size_or({"projection_dim"}, 512);
    BlockOptions block;
    block.attention.heads = c.nested_or("text_config", "num_attention_heads", 8);
    block.attention.causal = true;
    block.attention.fused = o.fused;
    block.mlp.inner = c.nested_or("text_config", "intermediate_size", 4 * width);
    block.mlp.activation = "quick_gelu";
    block.dropout = false;
    if (c.failed()) return invalid_argument("incomplete");
    ModelBuilder b({3, size, size});
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
    return with_size(std::move(model), size);
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
