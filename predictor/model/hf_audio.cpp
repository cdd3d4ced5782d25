// SPDX-License-Identifier: GPL-2.0-or-later
// Speech: Whisper (Radford et al., arXiv:2212.04356), wav2vec 2.0 (Baevski et al., arXiv:2006.11477) and its relatives,
// the audio spectrogram transformer (Gong et al., arXiv:2104.01778).
#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"
#include "predictor/model/zoo_image.h"

namespace dlcast {
namespace {

constexpr std::int64_t sample_rate_hz = 16'000;

// Over time alone: a signal is an image [channels, time, 1].
Window over_time(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    Window w;
    w.kernel_h = kernel;
    w.stride = stride;
    w.pad_h = padding;
    return w;
}

void add_without_key_bias(ModelBuilder& b, const std::string& at, const BlockOptions& block, const Shape* source) {
    const std::size_t first = b.size();
    add_block(b, at, block, source);
    for (std::size_t i = first; i < b.size() && !b.failed(); ++i)
        if (Layer& layer = b.layer(i); layer.name.ends_with(".k") && layer.bias) {
            layer.bias = false;
            b.add_parameters(layer, -static_cast<double>(layer.output.back()));
        }
}

// A classifier may weigh the outputs of all layers and of what comes before them.
void add_layer_sum(ModelBuilder& b, HfConfig& c, std::int64_t layers) {
    if (c.flag_or("use_weighted_layer_sum", false) && !b.failed())
        b.add_parameters(b.add("layer_sum"), static_cast<double>(layers + 1));
}

// 30 s of sound in frames of 10 ms, halved once; the target has the sample's tokens.
Result<ModelSpec> build_whisper(HfConfig& c, const std::string& name) {
    const std::int64_t width = c.size({"d_model"}), vocab = c.size({"vocab_size"});
    const std::int64_t encoder_layers = c.size({"encoder_layers"}), decoder_layers = c.size({"decoder_layers"});
    const std::int64_t frames = c.size_or({"max_source_positions"}, 1500), mels = c.size_or({"num_mel_bins"}, 80);
    const std::int64_t positions = c.size_or({"max_target_positions"}, 448);
    BlockOptions block;
    block.attention.heads = c.size({"encoder_attention_heads"});
    block.attention.fused = c.fused(true);
    block.attention.style = "scaled_query";
    block.mlp.inner = c.size_or({"encoder_ffn_dim"}, 4 * width);
    block.mlp.activation = c.text_or({"activation_function"}, "gelu");
    BlockOptions target = block;
    target.attention.causal = true;
    target.attention.heads = c.size_or({"decoder_attention_heads"}, block.attention.heads);
    target.mlp.inner = c.size_or({"decoder_ffn_dim"}, block.mlp.inner);
    const std::int64_t tokens = std::min(c.tokens(positions), positions);
    if (c.failed()) return invalid_argument("incomplete");
    ModelBuilder b({mels, 2 * frames, 1});
    b.conv("encoder.conv1", width, over_time(3, 1, 1), true);
    b.activation("encoder.act1", "gelu");
    b.conv("encoder.conv2", width, over_time(3, 2, 1), true);
    b.activation("encoder.act2", "gelu");
    if (b.failed()) return invalid_argument(b.fault());
    b.reshape("encoder.turn", {b.shape()[1], width});
    // A table of sines, kept with the weights.
    b.add_parameters(b.add("encoder.positions"), static_cast<double>(frames) * static_cast<double>(width));
    for (std::int64_t i = 0; i < encoder_layers && !b.failed(); ++i) {
        b.set_block(static_cast<int>(i));
        add_without_key_bias(b, fmt::format("encoder.{}", i), block, nullptr);
    }
    b.set_block(-1);
    b.norm("encoder.norm", LayerKind::layer_norm);
    if (c.options.task == "classification" || (c.options.task.empty() && c.is_for("ForAudioClassification"))) {
        b.set_head(true);
        add_layer_sum(b, c, encoder_layers);
        b.linear("projector", c.size_or({"classifier_proj_size"}, 256));
        b.linear("classifier", c.labels(2));
        b.loss("loss");
        return b.finish(name, "whisper");
    }
    const Shape source = b.shape();
    b.continue_from({tokens});
    b.embedding("decoder.embed", vocab, width);
    b.add_parameters(b.add("decoder.positions"), static_cast<double>(positions) * static_cast<double>(width));
    for (std::int64_t i = 0; i < decoder_layers && !b.failed(); ++i) {
        b.set_block(static_cast<int>(encoder_layers + i));
        add_without_key_bias(b, fmt::format("decoder.{}", i), target, &source);
    }
    b.set_block(-1);
    b.norm("decoder.norm", LayerKind::layer_norm);
    if (c.options.task != "features") add_lm_head(b, vocab, c.flag_or("tie_word_embeddings", true));
    auto model = b.finish(name, "whisper");
    if (model) model->seq_len = tokens;
    return model;
}

struct SpeechFeatures {
    std::vector<std::int64_t> widths, kernels, strides;
    bool bias = false, layer_norms = false;
};

SpeechFeatures read_features(HfConfig& c) {
    SpeechFeatures f;
    f.widths = c.list("conv_dim").value_or(std::vector<std::int64_t>(7, 512));
    f.kernels = c.list("conv_kernel").value_or(std::vector<std::int64_t>{10, 3, 3, 3, 3, 2, 2});
    f.strides = c.list("conv_stride").value_or(std::vector<std::int64_t>{5, 2, 2, 2, 2, 2, 2});
    f.bias = c.flag_or("conv_bias", false);
    f.layer_norms = c.text_or({"feat_extract_norm"}, "group") == "layer";
    if (f.widths.empty() || f.widths.size() != f.kernels.size() || f.widths.size() != f.strides.size())
        c.fail("conv_dim, conv_kernel and conv_stride should have equal lengths");
    return f;
}

// A narrow network behind each layer (transformers' "adapter_attn_dim", of the models that know many languages).
void add_attention_adapter(ModelBuilder& b, const std::string& at, std::int64_t inner) {
    const Shape in = b.shape();
    b.norm(at + ".norm", LayerKind::layer_norm);
    b.linear(at + ".down", inner);
    b.activation(at + ".act", "relu");
    b.linear(at + ".up", in.back());
    b.add(at + ".add");
}

// Convolutions that shorten the sequence, each with a gate: half of their channels.
void add_adapter(ModelBuilder& b, HfConfig& c, std::int64_t width) {
    const std::int64_t out = std::max<std::int64_t>(1, c.size_or({"output_hidden_size"}, width));
    const std::int64_t layers = c.size_or({"num_adapter_layers"}, 3);
    const Window w = over_time(std::max<std::int64_t>(1, c.size_or({"adapter_kernel_size"}, 3)),
                               std::max<std::int64_t>(1, c.size_or({"adapter_stride"}, 2)), 1);
    if (out != width) {
        b.linear("adapter.project", out);
        b.norm("adapter.norm", LayerKind::layer_norm);
    }
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        const Shape& sequence = b.shape();
        b.continue_from({out, sequence[sequence.size() == 3 ? 1 : 0], 1});
        b.conv(fmt::format("adapter.{}", i), 2 * out, w, true);
        if (b.failed()) return;
        b.continue_from({out, b.shape()[1], 1});
        b.activation(fmt::format("adapter.{}.gate", i), "sigmoid");
    }
    if (layers > 0 && !b.failed()) b.reshape("adapter.turn", {b.shape()[1], out});
}

// The sample is a waveform; its length is `seq_len` samples at 16 kHz, or 10 s.
Result<ModelSpec> build_wav2vec2(HfConfig& c, const std::string& name) {
    const SpeechFeatures f = read_features(c);
    const std::int64_t width = c.size({"hidden_size"}), layers = c.size({"num_hidden_layers"});
    const std::int64_t kernel = std::max<std::int64_t>(1, c.size_or({"num_conv_pos_embeddings"}, 128));
    const std::int64_t groups = std::max<std::int64_t>(1, c.size_or({"num_conv_pos_embedding_groups"}, 16));
    const std::int64_t vocab = std::max<std::int64_t>(1, c.size_or({"vocab_size"}, 32));
    BlockOptions block;
    block.attention.heads = c.size({"num_attention_heads"});
    block.attention.fused = c.fused(false);
    block.attention.dropout = true;
    block.attention.style = "scaled_query";
    block.mlp.inner = c.size_or({"intermediate_size"}, 4 * width);
    block.mlp.activation = c.text_or({"hidden_act"}, "gelu");
    block.pre_norm = c.flag_or("do_stable_layer_norm", false);
    const std::int64_t adapter = c.family == "wav2vec2" ? c.size_or({"adapter_attn_dim"}, 0) : 0;
    std::int64_t samples = c.options.seq_len;
    if (samples == 0) {
        samples = 10 * sample_rate_hz;
        c.assumed.push_back(fmt::format("seq_len {} (not stated; 10 s at 16 kHz)", samples));
    }
    if (c.failed()) return invalid_argument("incomplete");
    ModelBuilder b({1, samples, 1});
    for (std::size_t i = 0; i < f.widths.size() && !b.failed(); ++i) {
        const std::string at = fmt::format("features.{}", i);
        b.conv(at, f.widths[i], over_time(f.kernels[i], f.strides[i], 0), f.bias);
        if (f.layer_norms || i == 0) b.norm(at + ".norm", LayerKind::group_norm);
        b.activation(at + ".act", "gelu");
    }
    if (b.failed()) return invalid_argument(b.fault());
    const std::int64_t tokens = b.shape()[1];
    b.reshape("features.turn", {tokens, b.shape()[0]});
    if (c.family != "hubert" || c.flag_or("feat_proj_layer_norm", true))
        b.norm("projection.norm", LayerKind::layer_norm);
    b.linear("projection", width);
    // Masked frames become one learnt vector.
    b.add_parameters(b.dropout("projection.drop"), static_cast<double>(width));
    b.continue_from({width, tokens, 1});
    Window near = over_time(kernel, 1, kernel / 2);
    near.same = true;
    Layer& positions = b.conv("positions", width, near, true, groups);
    if (b.failed()) return invalid_argument(b.fault());
    b.add_parameters(positions, static_cast<double>(kernel));  // weight norm's lengths
    b.activation("positions.act", "gelu");
    b.reshape("positions.turn", {tokens, width});
    b.add("positions.add");
    if (!block.pre_norm) b.norm("norm", LayerKind::layer_norm);
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        b.set_block(static_cast<int>(i));
        const std::string at = fmt::format("layer.{}", i);
        add_block(b, at, block);
        if (adapter > 0 && block.pre_norm) add_attention_adapter(b, at + ".adapter", adapter);
    }
    b.set_block(-1);
    if (block.pre_norm) b.norm("norm", LayerKind::layer_norm);
    if (b.failed()) return invalid_argument(b.fault());
    // WavLM: 320 distances for each head, and in each layer a gate from 64 numbers to 8.
    if (c.family == "wavlm")
        b.add_parameters(b.back(), static_cast<double>(c.size_or({"num_buckets"}, 320) * block.attention.heads +
                                                       layers * (block.attention.heads + 520)));
    if (c.family != "hubert" && c.flag_or("add_adapter", false)) add_adapter(b, c, width);
    if (b.failed()) return invalid_argument(b.fault());
    if (c.options.task == "classification" || (c.options.task.empty() && c.is_for("ForSequenceClassification"))) {
        b.set_head(true);
        add_layer_sum(b, c, layers);
        b.linear("projector", c.size_or({"classifier_proj_size"}, 256));
        b.reshape("mean", {b.shape().back()});
        b.linear("classifier", c.labels(2));
        b.loss("loss");
    } else if (c.options.task != "features") {
        b.set_head(true);
        b.linear("lm_head", vocab);
        b.loss("loss");
    }
    auto model = b.finish(name, "wav2vec2");
    if (model) model->seq_len = samples;
    return model;
}

// A ViT over patches of 16 that overlap: stride 10 over 128 bands and 1024 frames.
Result<ModelSpec> build_ast(HfConfig& c, const std::string& name) {
    const std::int64_t width = c.size({"hidden_size"}), layers = c.size({"num_hidden_layers"});
    const std::int64_t patch = std::max<std::int64_t>(1, c.size_or({"patch_size"}, 16));
    const std::int64_t stride = std::max<std::int64_t>(1, c.size_or({"frequency_stride"}, 10));
    const std::int64_t bands = std::max<std::int64_t>(1, c.size_or({"num_mel_bins"}, 128)),
                       frames = std::max<std::int64_t>(1, c.size_or({"max_length"}, 1024));
    BlockOptions block;
    block.attention.heads = c.size({"num_attention_heads"});
    block.attention.fused = c.fused(true);
    block.attention.style = "unmasked";
    block.attention.bias = c.flag_or("qkv_bias", true);
    block.mlp.inner = c.size_or({"intermediate_size"}, 4 * width);
    block.mlp.activation = c.text_or({"hidden_act"}, "gelu");
    if (c.failed()) return invalid_argument("incomplete");
    ModelBuilder b({1, bands, frames});
    Window cut = window(patch, stride);
    cut.stride_w = std::max<std::int64_t>(1, c.size_or({"time_stride"}, 10));
    b.conv("patches", width, cut, true);
    if (b.failed()) return invalid_argument(b.fault());
    const std::int64_t tokens = b.shape()[1] * b.shape()[2] + 2;
    b.reshape("tokens", {tokens, width});
    b.add_parameters(b.add("positions"), static_cast<double>(tokens + 2) * static_cast<double>(width));
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        b.set_block(static_cast<int>(i));
        add_block(b, fmt::format("layer.{}", i), block);
    }
    b.set_block(-1);
    b.norm("norm", LayerKind::layer_norm);
    b.reshape("first", {width});
    b.norm("classifier.norm", LayerKind::layer_norm);
    b.linear("classifier", c.labels(527));
    b.loss("loss");
    return b.finish(name, "vit");
}

}  // namespace

const std::vector<HfFamily>& audio_families() {
    static const std::vector<HfFamily> families = {{"whisper", build_whisper},
                                                   {"wav2vec2", build_wav2vec2},
                                                   {"hubert", build_wav2vec2},
                                                   {"wavlm", build_wav2vec2},
                                                   {"audio-spectrogram-transformer", build_ast}};
    return families;
}

}  // namespace dlcast
