// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: unet/config.json and text_encoder/config.json of stabilityai/stable-diffusion-2-base on huggingface.co.
#include "predictor/model/zoo_diffusion.h"

#include <fmt/format.h>

#include <array>

#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

constexpr std::array<std::int64_t, 4> widths = {320, 640, 1280, 1280};
constexpr std::int64_t head_dim = 64, time_width = 1280, text_width = 1024, latent_channels = 4;

class UNet {
public:
    UNet(ModelBuilder& builder, Shape text, bool fused) : b_(builder), text_(std::move(text)), fused_(fused) {}

    void add(const Shape& latent) {
        b_.continue_from({widths[0]});
        b_.linear("time.1", time_width);
        b_.activation("time.act", "silu");
        b_.linear("time.2", time_width);
        b_.continue_from(latent);
        b_.conv("conv_in", widths[0], window(3, 1, 1), true);
        skips_.push_back(b_.shape());
        for (std::size_t i = 0; i < widths.size(); ++i) add_down(i);
        add_resnet("mid.0", widths.back());
        add_transformer("mid.attn");
        add_resnet("mid.1", widths.back());
        for (std::size_t i = widths.size(); i-- > 0;) add_up(i);
        b_.norm("norm_out", LayerKind::group_norm);
        b_.activation("act_out", "silu");
        b_.conv("conv_out", latent_channels, window(3, 1, 1), true);
        b_.loss("loss");
    }

private:
    // The lowest resolution has no attention.
    static bool attends(std::size_t level) { return level + 1 < widths.size(); }

    void add_down(std::size_t level) {
        for (int i = 0; i < 2; ++i) {
            add_resnet(fmt::format("down{}.{}", level, i), widths[level]);
            if (attends(level)) add_transformer(fmt::format("down{}.{}.attn", level, i));
            skips_.push_back(b_.shape());
        }
        if (level + 1 == widths.size()) return;
        b_.conv(fmt::format("down{}.half", level), widths[level], window(3, 2, 1), true);
        skips_.push_back(b_.shape());
    }

    void add_up(std::size_t level) {
        for (int i = 0; i < 3 && !b_.failed(); ++i) {
            const std::string at = fmt::format("up{}.{}", level, i);
            b_.concat(at + ".concat", skips_.back()[0]);
            skips_.pop_back();
            add_resnet(at, widths[level]);
            if (attends(level)) add_transformer(at + ".attn");
        }
        if (level == 0) return;
        b_.upsample(fmt::format("up{}.twice", level), 2);
        b_.conv(fmt::format("up{}.conv", level), widths[level], window(3, 1, 1), true);
    }

    void add_norm_conv(const std::string& at, std::int64_t out) {
        b_.norm(at + ".norm", LayerKind::group_norm);
        b_.activation(at + ".act", "silu");
        b_.conv(at + ".conv", out, window(3, 1, 1), true);
    }

    void add_resnet(const std::string& at, std::int64_t out) {
        if (b_.failed()) return;
        b_.set_block(block_++);
        const Shape in = b_.shape();
        add_norm_conv(at + ".1", out);
        const Shape hidden = b_.shape();
        b_.continue_from({time_width});
        b_.activation(at + ".time.act", "silu");
        b_.linear(at + ".time", out);
        b_.continue_from(hidden);
        b_.add(at + ".time.add");
        add_norm_conv(at + ".2", out);
        if (in[0] != out) {
            b_.continue_from(in);
            b_.conv(at + ".shortcut", out, window(1), true);
        }
        b_.continue_from(hidden);
        b_.add(at + ".add");
    }

    void add_transformer(const std::string& at) {
        if (b_.failed()) return;
        const Shape image = b_.shape();
        const std::int64_t width = image[0];
        AttentionOptions attention;
        attention.heads = width / head_dim;
        attention.bias = false;
        attention.fused = fused_;
        attention.style = "unmasked";
        b_.norm(at + ".norm", LayerKind::group_norm);
        b_.reshape(at + ".tokens", {image[1] * image[2], width});
        b_.linear(at + ".in", width);
        const Shape tokens = b_.shape();
        const auto residual = [&](const char* part, auto&& body) {
            b_.norm(at + part + std::string(".norm"), LayerKind::layer_norm);
            body(at + part);
            b_.continue_from(tokens);
            b_.add(at + part + std::string(".add"));
        };
        residual(".self", [&](const std::string& name) { add_attention(b_, name + ".attn", attention); });
        residual(".cross", [&](const std::string& name) { add_attention(b_, name + ".attn", attention, &text_); });
        residual(".mlp", [&](const std::string& name) {
            // GEGLU: one projection makes value and gate.
            b_.linear(name + ".up", 8 * width);
            b_.continue_from({tokens[0], 4 * width});
            b_.activation(name + ".gelu", "gelu");
            b_.multiply(name + ".gate");
            b_.linear(name + ".down", width);
        });
        b_.linear(at + ".out", width);
        b_.reshape(at + ".image", image);
        b_.add(at + ".add");
    }

    ModelBuilder& b_;
    Shape text_;
    bool fused_;
    std::vector<Shape> skips_;
    int block_ = 0;
};

// OpenCLIP ViT-H's text side without its last layer.
void add_text_encoder(ModelBuilder& b, std::int64_t tokens, bool fused) {
    b.set_head(true);
    b.embedding("text.embed", 49408, text_width);
    b.continue_from({tokens});
    b.embedding("text.positions", std::max<std::int64_t>(77, tokens), text_width);
    b.add("text.add");
    BlockOptions block;
    block.attention.heads = 16;
    block.attention.causal = true;
    block.attention.fused = fused;
    block.mlp.inner = 4 * text_width;
    block.dropout = false;
    for (int i = 0; i < 23 && !b.failed(); ++i) add_block(b, fmt::format("text.{}", i), block);
    b.norm("text.norm", LayerKind::layer_norm);
    b.set_head(false);
}

}  // namespace

Result<ModelSpec> build_stable_diffusion_2(const std::string& name, std::int64_t image_size, std::int64_t tokens,
                                           bool fused) {
    if (image_size % 64 != 0)
        return invalid_argument(fmt::format("an image of {} pixels does not halve six times", image_size));
    ModelBuilder b({tokens});
    add_text_encoder(b, tokens, fused);
    const std::size_t frozen = b.size();
    UNet(b, {tokens, text_width}, fused).add({latent_channels, image_size / 8, image_size / 8});
    auto model = b.finish(name, "stable-diffusion");
    if (!model) return model;
    for (std::size_t i = 0; i < frozen; ++i) model->layers[i].trainable = false;
    // Keys and values of cross-attention come from the frozen text.
    for (Layer& layer : model->layers)
        layer.input_grad = !layer.name.ends_with(".cross.attn.k") && !layer.name.ends_with(".cross.attn.v");
    count_parameters(*model);
    model->image_size = image_size;
    model->seq_len = tokens;
    return model;
}

}  // namespace dlcast
