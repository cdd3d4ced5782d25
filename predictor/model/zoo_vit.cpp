// SPDX-License-Identifier: GPL-2.0-or-later
// Vision transformers (Dosovitskiy et al., arXiv:2010.11929, table 1), named as in torchvision; the small ones of DeiT
// (Touvron et al., arXiv:2012.12877, table 1); MLP-Mixer (Tolstikhin et al., arXiv:2105.01601, table 1).
#include <fmt/format.h>

#include "predictor/model/transformer.h"
#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

std::string not_divided(std::int64_t image_size, std::int64_t patch) {
    const std::int64_t below = image_size / patch * patch;
    return fmt::format("an image of {} pixels does not divide into patches of {}; write image_size {}", image_size,
                       patch, below > 0 ? fmt::format("{} or {}", below, below + patch) : fmt::format("{}", patch));
}

}  // namespace

void add_vision_transformer(ModelBuilder& b, const std::string& prefix, const VitOptions& o) {
    const Shape image = b.shape();
    const std::int64_t across = o.patch_width > 0 ? o.patch_width : o.patch;
    if (image.size() != 3 || o.patch < 1) return b.fail("a vision transformer needs an image and patches of it");
    if (image[1] < o.patch || image[2] < across)
        return b.fail(fmt::format("no patch of {} x {} pixels fits into an image of {} x {}; make the image larger",
                                  o.patch, across, image[1], image[2]));
    if (!o.cuts && (image[1] % o.patch != 0 || image[2] % across != 0))
        return b.fail(not_divided(image.back(), across));
    const double patches = static_cast<double>(image[1] / o.patch) * static_cast<double>(image[2] / across);
    if (patches > 1e8) return b.fail("over 1e8 patches; lower the image size or raise the patch size");
    const auto tokens = static_cast<std::int64_t>(patches) + o.extra_tokens;
    const auto width = static_cast<double>(o.width);
    Window cut = window(o.patch, o.patch);
    cut.kernel_w = cut.stride_w = across;
    b.conv(prefix + "patches", o.width, cut, o.patch_bias);
    b.reshape(prefix + "tokens", {tokens, o.width});
    // Position table, and the tokens that are no patch.
    const double table = o.position_rows >= 0 ? static_cast<double>(o.position_rows) : static_cast<double>(tokens);
    b.add_parameters(b.add(prefix + "positions"),
                     (table + static_cast<double>(o.extra_tokens)) * width + o.more_parameters);
    if (o.first_norm) b.norm(prefix + "first_norm", LayerKind::layer_norm);
    b.dropout(prefix + "drop");
    BlockOptions block;
    block.attention.heads = o.heads;
    block.attention.packed = true;
    block.attention.bias = o.qkv_bias;
    block.attention.fused = o.fused;
    block.attention.style = "unmasked";
    block.mlp.inner = o.inner;
    block.mlp.gated = o.gated;
    block.mlp.activation = o.activation;
    for (std::int64_t i = 0; i < o.layers && !b.failed(); ++i) {
        b.set_block(static_cast<int>(i));
        add_block(b, fmt::format("{}encoder.{}", prefix, i), block);
        if (!b.failed() && o.block_parameters != 0.0) b.add_parameters(b.back(), o.block_parameters);
    }
    b.set_block(-1);
    if (o.last_norm) b.norm(prefix + "norm", LayerKind::layer_norm);
    b.reshape(prefix + "class_token", {o.width});
    if (o.head_norm) b.norm(prefix + "head.norm", LayerKind::layer_norm);
}

Result<ModelSpec> build_vision_transformer(const std::string& name, const ImageSides& image, const VitOptions& o) {
    ModelBuilder b({o.channels, image.height, image.width});
    add_vision_transformer(b, "", o);
    if (o.pooler) {
        b.linear("pooler", o.width);
        b.activation("pooler.act", "tanh");
    }
    b.set_head(!o.head_counts);
    for (int head = 0; o.classes > 0 && head < o.class_heads; ++head) {
        b.continue_from({o.width * o.class_width});
        b.linear(head == 0 ? "head" : fmt::format("head{}", head + 1), o.classes);
    }
    if (o.classes > 0) b.loss("loss");
    return b.finish(name, "vit");
}

Result<ModelSpec> build_vit(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    VitOptions o;
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    const auto sizes = [&](std::int64_t width, std::int64_t layers, std::int64_t heads) {
        o.width = width;
        o.layers = layers;
        o.heads = heads;
        o.inner = 4 * width;
    };
    if (has("_ti_") || has("tiny")) sizes(192, 12, 3);
    if (has("vit_s_") || has("small")) sizes(384, 12, 6);
    if (name.starts_with("vit_l")) sizes(1024, 24, 16);
    if (name.starts_with("vit_h")) sizes(1280, 32, 16), o.patch = 14;
    if (has("_32")) o.patch = 32;
    if (name.ends_with("_8")) o.patch = 8;
    if (has("distilled")) o.extra_tokens = o.class_heads = 2;
    o.classes = classes;
    return build_vision_transformer(name, {image_size, image_size}, o);
}

Result<ModelSpec> build_mixer(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    const std::int64_t patch = name.ends_with("_32") ? 32 : 16;
    if (image_size % patch != 0) return invalid_argument(not_divided(image_size, patch));
    const bool large = name.starts_with("mixer_l"), small = name.starts_with("mixer_s");
    const std::int64_t width = large ? 1024 : small ? 512 : 768;
    const std::int64_t tokens = image_size / patch * (image_size / patch);
    ModelBuilder b({3, image_size, image_size});
    b.conv("patches", width, window(patch, patch), true);
    b.reshape("tokens", {tokens, width});
    MlpOptions over_tokens, over_channels;
    over_tokens.inner = width / 2;
    over_channels.inner = 4 * width;
    for (int i = 0; i < (large ? 24 : small ? 8 : 12) && !b.failed(); ++i) {
        const std::string at = fmt::format("block.{}", i);
        b.set_block(i);
        b.norm(at + ".tokens.norm", LayerKind::layer_norm);
        b.reshape(at + ".tokens.turn", {width, tokens});
        add_mlp(b, at + ".tokens", over_tokens);
        b.reshape(at + ".tokens.back", {tokens, width});
        b.add(at + ".tokens.add");
        b.norm(at + ".channels.norm", LayerKind::layer_norm);
        add_mlp(b, at + ".channels", over_channels);
        b.add(at + ".channels.add");
    }
    b.set_block(-1);
    b.norm("norm", LayerKind::layer_norm);
    b.reshape("mean", {width});
    b.linear("head", classes);
    b.loss("loss");
    return b.finish(name, "mixer");
}

}  // namespace dlcast
