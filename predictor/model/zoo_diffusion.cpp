// SPDX-License-Identifier: GPL-2.0-or-later
// The U-Nets of latent diffusion (Rombach et al., arXiv:2112.10752; SDXL: Podell et al., arXiv:2307.01952). Sizes:
// unet/config.json and text_encoder/config.json of the models' pages on huggingface.co.
#include "predictor/model/zoo_diffusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

constexpr std::int64_t pixels_a_latent = 8;

class UNet {
public:
    UNet(ModelBuilder& builder, const UNetOptions& options, Shape text)
        : b_(builder), o_(options), text_(std::move(text)), time_width_(4 * options.widths[0]) {}

    void add(const Shape& latent) {
        b_.continue_from({o_.widths[0]});
        add_time_mlp("time");
        if (o_.added_width > 0) {
            b_.continue_from({o_.added_width});
            add_time_mlp("added");
            b_.add("added.add");
        }
        b_.continue_from(latent);
        b_.conv("conv_in", o_.widths[0], window(3, 1, 1), true);
        skips_.push_back(b_.shape());
        for (std::size_t i = 0; i < o_.widths.size(); ++i) add_down(i);
        if (o_.middle) add_resnet("mid.0", o_.widths.back());
        if (o_.middle && o_.middle_attends) {
            add_transformer("mid.attn", o_.widths.size() - 1);
            add_resnet("mid.1", o_.widths.back());
        }
        for (std::size_t i = o_.widths.size(); i-- > 0;) add_up(i);
        b_.norm("norm_out", LayerKind::group_norm);
        b_.activation("act_out", "silu");
        b_.conv("conv_out", o_.out_channels, window(3, 1, 1), true);
        b_.loss("loss");
    }

private:
    void add_time_mlp(const std::string& at) {
        b_.linear(at + ".1", time_width_);
        b_.activation(at + ".act", "silu");
        b_.linear(at + ".2", time_width_);
    }

    void add_down(std::size_t level) {
        for (std::int64_t i = 0; i < o_.layers && !b_.failed(); ++i) {
            add_resnet(fmt::format("down{}.{}", level, i), o_.widths[level]);
            if (o_.attends[level]) add_transformer(fmt::format("down{}.{}.attn", level, i), level);
            skips_.push_back(b_.shape());
        }
        if (level + 1 == o_.widths.size()) return;
        b_.conv(fmt::format("down{}.half", level), o_.widths[level], window(3, 2, 1), true);
        skips_.push_back(b_.shape());
    }

    void add_up(std::size_t level) {
        for (std::int64_t i = 0; i <= o_.layers && !b_.failed(); ++i) {
            const std::string at = fmt::format("up{}.{}", level, i);
            b_.concat(at + ".concat", skips_.back()[0]);
            skips_.pop_back();
            add_resnet(at, o_.widths[level]);
            if (o_.attends_up.empty() ? o_.attends[level] : o_.attends_up[level]) add_transformer(at + ".attn", level);
        }
        if (level == 0) return;
        b_.upsample(fmt::format("up{}.twice", level), 2);
        b_.conv(fmt::format("up{}.conv", level), o_.widths[level], window(3, 1, 1), true);
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
        b_.continue_from({time_width_});
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

    void add_transformer(const std::string& at, std::size_t level) {
        if (b_.failed()) return;
        const Shape image = b_.shape();
        b_.norm(at + ".norm", LayerKind::group_norm);
        b_.reshape(at + ".tokens", {image[1] * image[2], image[0]});
        b_.linear(at + ".in", image[0]);
        // One block has no number of its own in its layers' names.
        const std::int64_t depth = o_.depths[level];
        for (std::int64_t i = 0; i < depth && !b_.failed(); ++i)
            add_transformer_block(depth == 1 ? at : fmt::format("{}.{}", at, i), o_.heads[level]);
        b_.linear(at + ".out", image[0]);
        b_.reshape(at + ".image", image);
        b_.add(at + ".add");
    }

    void add_transformer_block(const std::string& at, std::int64_t heads) {
        const Shape tokens = b_.shape();
        const std::int64_t width = tokens[1];
        AttentionOptions attention;
        attention.heads = heads;
        attention.bias = false;
        attention.fused = o_.fused;
        attention.style = "unmasked";
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
    }

    ModelBuilder& b_;
    const UNetOptions& o_;
    Shape text_;
    std::int64_t time_width_;
    std::vector<Shape> skips_;
    int block_ = 0;
};

// The text side of CLIP.
void add_text_encoder(ModelBuilder& b, const std::string& at, const TextEncoder& encoder, std::int64_t tokens,
                      bool fused) {
    b.continue_from({tokens});
    b.embedding(at + ".embed", 49408, encoder.width);
    b.continue_from({tokens});
    b.embedding(at + ".positions", std::max<std::int64_t>(77, tokens), encoder.width);
    b.add(at + ".add");
    BlockOptions block;
    block.attention.heads = encoder.heads;
    block.attention.causal = true;
    block.attention.fused = fused;
    block.mlp.inner = 4 * encoder.width;
    block.dropout = false;
    for (std::int64_t i = 0; i < encoder.layers && !b.failed(); ++i) add_block(b, fmt::format("{}.{}", at, i), block);
    b.norm(at + ".norm", LayerKind::layer_norm);
}

std::string fault_of(const UNetOptions& o) {
    if (o.widths.empty() || o.heads.size() != o.widths.size() || o.depths.size() != o.widths.size() ||
        o.attends.size() != o.widths.size() || (!o.attends_up.empty() && o.attends_up.size() != o.widths.size()))
        return "every level needs a width, heads, a depth and a kind of block";
    if (o.widths.size() > 16) return "more than 16 levels; shorten block_out_channels";
    if (o.layers < 1 || o.layers > 1000) return "layers_per_block should be from 1 to 1000";
    return "";
}

}  // namespace

Result<ModelSpec> build_diffusion_unet(const std::string& name, std::int64_t image_size, std::int64_t tokens,
                                       const UNetOptions& options) {
    if (const std::string fault = fault_of(options); !fault.empty()) return invalid_argument(fault);
    const std::int64_t halvings = pixels_a_latent << (options.widths.size() - 1);
    if (image_size % halvings != 0)
        return invalid_argument(
            fmt::format("an image of {} pixels does not halve evenly; choose a multiple of {}", image_size, halvings));
    ModelBuilder b({tokens});
    b.set_head(true);
    for (std::size_t i = 0; i < options.encoders.size(); ++i)
        add_text_encoder(b, i == 0 ? "text" : fmt::format("text{}", i + 1), options.encoders[i], tokens, options.fused);
    b.set_head(false);
    const std::size_t frozen = b.size();
    UNet(b, options, {tokens, options.text_width})
        .add({options.in_channels, image_size / pixels_a_latent, image_size / pixels_a_latent});
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

const std::vector<DiffusionModel>& diffusion_models() {
    static const std::vector<DiffusionModel> models = [] {
        // CLIP ViT-L's text side; OpenCLIP ViT-H's without its last layer; OpenCLIP ViT-bigG's.
        const TextEncoder large{12, 768, 12}, huge{23, 1024, 16}, giant{32, 1280, 20};
        UNetOptions first;
        first.encoders = {large};
        UNetOptions second;
        second.heads = {5, 10, 20, 20};
        second.text_width = 1024;
        second.encoders = {huge};
        UNetOptions xl;
        xl.widths = {320, 640, 1280};
        xl.heads = {5, 10, 20};
        xl.depths = {1, 2, 10};
        xl.attends = {false, true, true};
        xl.text_width = 2048;
        xl.added_width = 2816;
        xl.encoders = {large, giant};
        return std::vector<DiffusionModel>{
            {"stable-diffusion-v1-4", 512, first},     {"stable-diffusion-v1-5", 512, first},
            {"stable-diffusion-2-base", 512, second},  {"stable-diffusion-2-1-base", 512, second},
            {"stable-diffusion-2", 768, second},       {"stable-diffusion-2-1", 768, second},
            {"stable-diffusion-xl-base-1.0", 1024, xl}};
    }();
    return models;
}

namespace {

// A list as long as the levels, from a list, one number for all, or silence.
std::vector<std::int64_t> for_levels(HfConfig& c, const char* key, std::size_t levels, std::int64_t standard) {
    const Value* value = c.value(key);
    if (value && value->is_array()) return c.list(key).value_or(std::vector<std::int64_t>(levels, standard));
    return std::vector<std::int64_t>(levels, std::max<std::int64_t>(1, c.size_or({key}, standard)));
}

// Whether each level's blocks have transformers, by their classes.
std::optional<std::vector<bool>> attending(HfConfig& c, const char* key) {
    const auto blocks = c.texts(key);
    if (!blocks) return std::nullopt;
    std::vector<bool> out;
    for (const std::string& block : *blocks) out.push_back(block.find("CrossAttn") != std::string::npos);
    return out;
}

Result<ModelSpec> build_unet_config(HfConfig& c, const std::string& name) {
    UNetOptions o;
    o.encoders.clear();
    o.widths = c.list("block_out_channels").value_or(o.widths);
    const std::size_t levels = o.widths.size();
    o.layers = c.size_or({"layers_per_block"}, 2);
    o.in_channels = std::max<std::int64_t>(1, c.size_or({"in_channels"}, 4));
    o.out_channels = std::max<std::int64_t>(1, c.size_or({"out_channels"}, 4));
    o.text_width = std::max<std::int64_t>(1, c.size_or({"cross_attention_dim"}, 1280));
    // The key has its name by mistake: it counts heads.
    o.heads = for_levels(c, "attention_head_dim", levels, 8);
    o.depths = for_levels(c, "transformer_layers_per_block", levels, 1);
    o.attends.assign(levels, true);
    if (levels > 0) o.attends.back() = false;
    if (auto down = attending(c, "down_block_types")) o.attends = *down;
    if (auto up = attending(c, "up_block_types")) {
        if (up->size() != levels)
            c.fail_at("up_block_types",
                      fmt::format("up_block_types has {} blocks; write one for each of {} levels", up->size(), levels));
        o.attends_up = *up;
        std::reverse(o.attends_up.begin(), o.attends_up.end());  // they are listed as they come, the coarsest first
    }
    // Null says that there is none.
    const std::string middle =
        c.says_null("mid_block_type") ? "" : c.text_or({"mid_block_type"}, "unetmidblock2dcrossattn");
    o.middle = !middle.empty();
    o.middle_attends = middle == "unetmidblock2dcrossattn";
    if (o.middle && !o.middle_attends && middle != "unetmidblock2d")
        c.fail_at("mid_block_type", "mid_block_type should be UNetMidBlock2DCrossAttn, UNetMidBlock2D or null");
    if (c.text_or({"addition_embed_type"}, "") == "text_time")
        o.added_width = c.size_or({"projection_class_embeddings_input_dim"}, 2816);
    o.fused = c.fused(false) || c.options.compile;
    const std::int64_t standard = pixels_a_latent * std::max<std::int64_t>(1, c.size_or({"sample_size"}, 64));
    const std::int64_t size = c.options.image_size > 0 ? c.options.image_size : standard;
    if (c.options.image_size == 0) c.assumed.push_back(fmt::format("image_size {} (the model's)", size));
    c.assumed.emplace_back("the U-Net alone, its text given (no text encoder in the config)");
    if (c.failed()) return invalid_argument("incomplete");
    return build_diffusion_unet(name, size, c.options.seq_len > 0 ? c.options.seq_len : 77, o);
}

}  // namespace

const std::vector<HfFamily>& diffusion_families() {
    static const std::vector<HfFamily> families = {{"UNet2DConditionModel", build_unet_config}};
    return families;
}

}  // namespace dlcast
