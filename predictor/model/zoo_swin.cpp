// SPDX-License-Identifier: GPL-2.0-or-later
// Swin Transformer (Liu et al., arXiv:2103.14030, section 3.3) and V2 (arXiv:2111.09883), as torchvision and timm build
// them: attention within windows, resolution halved between stages.
#include "predictor/model/zoo_swin.h"

#include <fmt/format.h>

#include "predictor/model/transformer.h"
#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

class Swin {
public:
    Swin(ModelBuilder& b, const SwinOptions& o) : b_(b), o_(o) {}

    void add() {
        std::int64_t width = o_.width;
        Window patches = window(o_.patch, o_.patch);
        patches.same = o_.pads;
        b_.conv("patches", width, patches, true);
        height_ = b_.shape().size() == 3 ? b_.shape()[1] : 1;
        side_ = b_.shape().size() == 3 ? b_.shape()[2] : 1;
        if (b_.failed()) return;
        b_.reshape("tokens", {height_ * side_, width});
        b_.norm("patches.norm", LayerKind::layer_norm);
        const auto table = static_cast<double>(o_.absolute_positions ? height_ * side_ : 0);
        if (o_.absolute_positions) b_.add_parameters(b_.add("positions"), table * static_cast<double>(width));
        if (o_.mask_token && !b_.failed()) b_.add_parameters(b_.back(), static_cast<double>(width));
        int number = 0;
        for (std::size_t stage = 0; stage < o_.depths.size() && !b_.failed(); ++stage) {
            if (stage > 0) merge(fmt::format("merge{}", stage), width), width *= 2;
            for (std::int64_t i = 0; i < o_.depths[stage] && !b_.failed(); ++i) {
                b_.set_block(number++);
                block(fmt::format("stage{}.{}", stage + 1, i), o_.heads[stage]);
            }
            b_.set_block(-1);
        }
        b_.norm("norm", LayerKind::layer_norm);
    }

private:
    void merge(const std::string& at, std::int64_t width) {
        height_ = (height_ + 1) / 2;
        side_ = (side_ + 1) / 2;
        b_.reshape(at + ".gather", {height_ * side_, 4 * width});
        if (!o_.second) b_.norm(at + ".norm", LayerKind::layer_norm);
        b_.linear(at, 2 * width, false);
        if (o_.second) b_.norm(at + ".norm", LayerKind::layer_norm);
    }

    // V2 learns positions by a small network over their distances, and scales each head's cosines.
    void add_positions(const std::string& at, std::int64_t heads) {
        const auto sides = static_cast<double>(2 * o_.window - 1);
        const auto h = static_cast<double>(heads);
        b_.add_parameters(b_.add(at + ".positions"), o_.second ? 512 * 3 + 512 * h + h : sides * sides * h);
    }

    void block(const std::string& at, std::int64_t heads) {
        const Shape tokens = b_.shape();
        const std::int64_t width = tokens[1], window = o_.window;
        // Windows tile the image, padded where they do not divide it.
        const std::int64_t padded = (height_ + window - 1) / window * window * ((side_ + window - 1) / window * window);
        if (!o_.second) b_.norm(at + ".attn.norm", LayerKind::layer_norm);
        b_.reshape(at + ".attn.windows", {padded, width});
        AttentionOptions attention;
        attention.heads = heads;
        attention.packed = true;
        attention.keys = std::min(padded, window * window);
        attention.fused = o_.fused;
        attention.bias = o_.qkv_bias;
        const std::size_t first = b_.size();
        add_attention(b_, at + ".attn", attention);
        if (o_.qkv_bias && !o_.key_bias && !b_.failed())
            b_.add_parameters(b_.layer(first), -static_cast<double>(width));
        add_positions(at + ".attn", heads);
        b_.reshape(at + ".attn.image", tokens);
        if (o_.second) b_.norm(at + ".attn.norm", LayerKind::layer_norm);
        b_.add(at + ".attn.add");
        if (!o_.second) b_.norm(at + ".mlp.norm", LayerKind::layer_norm);
        MlpOptions mlp;
        mlp.inner = static_cast<std::int64_t>(o_.mlp_ratio * static_cast<double>(width));
        add_mlp(b_, at + ".mlp", mlp);
        if (o_.second) b_.norm(at + ".mlp.norm", LayerKind::layer_norm);
        b_.add(at + ".mlp.add");
    }

    ModelBuilder& b_;
    const SwinOptions& o_;
    std::int64_t height_ = 1, side_ = 1;
};

}  // namespace

Result<ModelSpec> build_swin_transformer(const std::string& name, const ImageSides& image, const SwinOptions& o) {
    if (o.depths.empty() || o.depths.size() != o.heads.size())
        return invalid_argument("each stage needs a depth and a number of heads");
    ModelBuilder b({o.channels, image.height, image.width});
    Swin(b, o).add();
    if (b.failed()) return invalid_argument(b.fault());
    const std::int64_t width = b.shape()[1];
    b.reshape("mean", {width});
    if (o.classes > 0) {
        b.linear("head", o.classes);
        b.loss("loss");
    }
    return b.finish(name, "swin");
}

Result<ModelSpec> build_swin(const std::string& name, std::int64_t image_size, std::int64_t classes) {
    SwinOptions o;
    o.second = name.starts_with("swin_v2");
    o.window = o.second ? 8 : name.ends_with("384") ? 12 : 7;
    const bool tiny = name.starts_with("swin_t") || name == "swin_v2_t";
    if (!tiny) o.depths = {2, 2, 18, 2};
    if (name.starts_with("swin_b") || name == "swin_v2_b") o.width = 128, o.heads = {4, 8, 16, 32};
    if (name.starts_with("swin_l")) o.width = 192, o.heads = {6, 12, 24, 48};
    o.classes = classes;
    return build_swin_transformer(name, {image_size, image_size}, o);
}

}  // namespace dlcast
