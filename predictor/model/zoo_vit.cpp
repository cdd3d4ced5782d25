// SPDX-License-Identifier: GPL-2.0-or-later
// Vision transformers (Dosovitskiy et al., arXiv:2010.11929, table 1), named as in torchvision.
#include <fmt/format.h>

#include "predictor/model/transformer.h"
#include "predictor/model/zoo_image.h"

namespace dlcast {

Result<ModelSpec> build_vision_transformer(const std::string& name, std::int64_t image_size, const VitOptions& o) {
    if (o.patch < 1 || image_size % o.patch != 0)
        return invalid_argument(
            fmt::format("an image of {} pixels does not divide into patches of {}", image_size, o.patch));
    const double patches = static_cast<double>(image_size / o.patch) * static_cast<double>(image_size / o.patch);
    if (patches > 1e8) return invalid_argument("an absurd number of patches");
    const auto tokens = static_cast<std::int64_t>(patches) + 1;  // and the class token
    ModelBuilder b({o.channels, image_size, image_size});
    b.conv("patches", o.width, window(o.patch, o.patch), true);
    b.reshape("tokens", {tokens, o.width});
    // Position table and class token.
    b.add_parameters(b.add("positions"), static_cast<double>(tokens + 1) * static_cast<double>(o.width));
    b.dropout("drop");
    BlockOptions block;
    block.attention.heads = o.heads;
    block.attention.packed = true;
    block.attention.fused = o.fused;
    block.attention.style = "unmasked";
    block.mlp.inner = o.inner;
    for (int i = 0; i < o.layers && !b.failed(); ++i) {
        b.set_block(i);
        add_block(b, fmt::format("encoder.{}", i), block);
    }
    b.set_block(-1);
    b.norm("norm", LayerKind::layer_norm);
    b.reshape("class_token", {o.width});
    if (o.classes > 0) {
        b.linear("head", o.classes);
        b.loss("loss");
    }
    return b.finish(name, "vit");
}

Result<ModelSpec> build_vit(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    VitOptions o;
    if (name.starts_with("vit_l")) o = {16, 3, 1024, 24, 16, 4096, 0, true};
    if (name.starts_with("vit_h")) o = {14, 3, 1280, 32, 16, 5120, 0, true};
    if (name.ends_with("_32")) o.patch = 32;
    o.classes = classes;
    return build_vision_transformer(name, image_size, o);
}

}  // namespace dlcast
