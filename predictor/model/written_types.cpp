// SPDX-License-Identifier: GPL-2.0-or-later
// What each "type" of a written-out layer appends.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"
#include "predictor/model/shape.h"
#include "predictor/model/written_layer.h"

namespace dlcast {
namespace {

// "parameters": where a layer learns another number than its sizes say (a weight that is computed from others).
void read_parameters(WrittenLayer& l, Layer& layer) {
    const auto learned = l.reader.integer("parameters", 0, 1'000'000'000'000'000);
    if (learned && !l.b.failed())
        l.b.add_parameters(layer, static_cast<double>(*learned) - static_cast<double>(layer.parameters));
}

void write_conv(WrittenLayer& l) {
    const std::int64_t out = l.need("out", "64");
    const Window w = l.window(false);
    read_parameters(l, l.b.conv(l.name, out, w, l.flag_or("bias", true), l.size_or("groups", 1)));
    l.then_activation();
}

void write_depthwise(WrittenLayer& l) {
    const Window w = l.window(false);
    const std::int64_t in = l.b.shape().front();
    const std::int64_t multiplier = l.size_or("multiplier", 1);
    if (static_cast<double>(in) * static_cast<double>(multiplier) > 1e9)
        return l.b.fail("over 1e9 channels; lower its multiplier");
    read_parameters(l, l.b.conv(l.name, in * multiplier, w, l.flag_or("bias", true), in));
    l.then_activation();
}

void write_transposed(WrittenLayer& l) {
    const std::int64_t out = l.need("out", "64");
    const Window w = l.window(false);
    read_parameters(l, l.b.transposed_conv(l.name, out, w, l.flag_or("bias", true), l.size_or("groups", 1)));
    l.then_activation();
}

// [tokens, width] as an image of one column.
void write_conv1d(WrittenLayer& l) {
    const std::int64_t out = l.need("out", "64");
    Window w = l.window(false);
    w.kernel_w = 1;
    w.pad_w = 0;
    const Shape in = l.b.shape();
    if (in.size() != 2)
        return l.b.fail(fmt::format("conv1d needs a sequence [tokens, width]; its input has shape {}", to_string(in)));
    l.b.continue_from({in[1], in[0], 1});
    read_parameters(l, l.b.conv(l.name, out, w, l.flag_or("bias", true), l.size_or("groups", 1)));
    const Shape result = l.b.shape();
    if (!l.b.failed()) l.b.reshape(l.name + ".tokens", {result[1], result[0]});
    l.then_activation();
}

void write_linear(WrittenLayer& l) {
    read_parameters(l, l.b.linear(l.name, l.need("out", "1000"), l.flag_or("bias", true)));
    l.then_activation();
}

void write_embedding(WrittenLayer& l) {
    const std::int64_t vocab = l.need("vocab", "30000");
    read_parameters(l, l.b.embedding(l.name, vocab, l.need("width", "512")));
}

template <LayerKind kind>
void write_norm(WrittenLayer& l) {
    const bool bias = l.flag_or("bias", kind != LayerKind::rms_norm);
    Layer& layer = l.b.norm(l.name, kind, bias);
    // Without its factors half of the parameters are left, or none.
    if (!l.flag_or("scale", true))
        l.b.add_parameters(layer, -static_cast<double>(layer.parameters) / (bias ? 2.0 : 1.0));
    read_parameters(l, layer);
    if (kind == LayerKind::group_norm) l.size_or("groups", 32);
    l.then_activation();
}

void write_activation(WrittenLayer& l) {
    const auto direct = activation_from(l.type);
    if (direct) {
        return read_parameters(l, l.b.activation(l.name, *direct));  // learned slopes
    }
    const std::string function = l.text_or("function", "relu");
    if (function == "softmax") return void(l.b.softmax(l.name));
    const auto known = activation_from(function);
    if (known) return void(l.b.activation(l.name, *known));
    l.reader.fail("function", fmt::format("function \"{}\" is unknown", function));
}

void write_max_pool(WrittenLayer& l) { l.b.max_pool(l.name, l.window(true)); }
void write_avg_pool(WrittenLayer& l) { l.b.avg_pool(l.name, l.window(true)); }

void write_adaptive_pool(WrittenLayer& l) {
    const auto out = l.need_pair("out", "[7, 7]");
    l.b.adaptive_pool(l.name, out.h, out.w);
}

void write_global_pool(WrittenLayer& l) { l.b.global_avg_pool(l.name); }
void write_dropout(WrittenLayer& l) {
    l.reader.number("rate", 0.0, 1.0);
    l.b.dropout(l.name);
}
void write_flatten(WrittenLayer& l) { l.b.flatten(l.name); }
void write_softmax(WrittenLayer& l) { l.b.softmax(l.name); }
void write_loss(WrittenLayer& l) { l.b.loss(l.name); }

void write_reshape(WrittenLayer& l) {
    const auto shape = l.reader.integers("shape", 1, 1'000'000'000);
    if (!shape || shape->empty()) return l.reader.require("shape", "add \"shape\": [..]");
    if (elements(*shape) != elements(l.b.shape()))
        return l.b.fail(fmt::format("shape {} does not hold the {} elements of {}", to_string(*shape),
                                    elements(l.b.shape()), to_string(l.b.shape())));
    l.b.reshape(l.name, *shape);
}

void write_upsample(WrittenLayer& l) {
    const auto result = l.pair("result", 1);
    if (!result) return void(l.b.upsample(l.name, l.size_or("factor", 2)));
    Layer& layer = l.b.upsample(l.name, 1);
    if (l.b.failed()) return;
    layer.output = {layer.input[0], result->h, result->w};
    if (elements(layer.output) > 1e15) return l.b.fail("upsample makes over 1e15 elements; lower its result");
    l.b.continue_from(layer.output);
}

// The product of two computed tensors: rows of the current one with a matrix that nobody learns, or with many that
// are ("parameters").
void write_product(WrittenLayer& l) {
    Layer& layer = l.b.linear(l.name, l.need("out", "64"), false);
    const double learned = static_cast<double>(l.reader.integer("parameters", 0, 1'000'000'000'000'000).value_or(0));
    l.b.add_parameters(layer, learned - static_cast<double>(layer.parameters));
    layer.tied = true;  // nobody's weight, but the other side has a gradient too
}

// Attention without its projections.
void write_scores(WrittenLayer& l) {
    const std::int64_t heads = l.need("heads", "8"), d = l.need("head_dim", "64");
    Layer& layer = l.b.attention(l.name, heads, l.size_or("kv_heads", heads), d);
    layer.kv_tokens = l.size_or("keys", 0, 0);
    layer.causal = l.flag_or("causal", false);
    layer.fused = l.flag_or("fused", false);
    layer.dropout = l.flag_or("attention_dropout", false);
}

// [top, bottom, left, right], [height, width] on both sides, or one number all around.
void write_pad(WrittenLayer& l) {
    const Shape in = l.b.shape();
    if (in.size() != 3) return l.b.fail("pad needs an image [channels, height, width]");
    std::vector<std::int64_t> sides;
    if (const Value* v = l.reader.value("padding"); v && v->is_array() && v->as_array().size() == 4) {
        sides = l.reader.integers("padding", 0, 1'000'000).value_or(std::vector<std::int64_t>(4, 0));
    } else {
        const auto both = l.pair("padding", 0).value_or(WrittenLayer::Pair{1, 1});
        sides = {both.h, both.h, both.w, both.w};
    }
    l.b.reshape(l.name, {in[0], in[1] + sides[0] + sides[1], in[2] + sides[2] + sides[3]});
}

AttentionOptions read_attention(WrittenLayer& l) {
    AttentionOptions a;
    a.heads = l.need("heads", "8");
    a.kv_heads = l.size_or("kv_heads", 0, 0);
    a.head_dim = l.size_or("head_dim", 0, 0);
    a.bias = a.out_bias = l.flag_or("bias", true);
    a.causal = l.flag_or("causal", false);
    a.fused = l.flag_or("fused", false);
    a.rotary = l.flag_or("rotary", false);
    a.dropout = l.flag_or("attention_dropout", false);
    return a;
}

bool is_sequence(WrittenLayer& l) {
    if (l.b.shape().size() == 2) return true;
    l.b.fail(
        fmt::format("{} needs a sequence [tokens, width]; its input has shape {}", l.type, to_string(l.b.shape())));
    return false;
}

void write_attention(WrittenLayer& l) {
    const AttentionOptions options = read_attention(l);
    if (is_sequence(l)) add_attention(l.b, l.name, options);
}

void write_transformer(WrittenLayer& l) {
    BlockOptions o;
    o.attention = read_attention(l);
    o.mlp.inner = l.need("inner", "2048");
    const std::string function = l.text_or("activation", "gelu"), norm = l.text_or("norm", "layer_norm");
    const auto known = activation_from(function);
    if (!known)
        l.reader.fail("activation",
                      fmt::format("activation \"{}\" is unknown; write gelu, relu or silu", one_line(function, 80)));
    if (norm != "layer_norm" && norm != "rms_norm")
        l.reader.fail("norm",
                      fmt::format("norm is \"{}\"; it should be \"layer_norm\" or \"rms_norm\"", one_line(norm, 80)));
    o.mlp.activation = known.value_or("gelu");
    o.mlp.gated = l.flag_or("gated", false);
    o.mlp.bias = o.attention.bias;
    o.mlp.experts = l.size_or("experts", 0, 0);
    o.mlp.active_experts = l.size_or("active_experts", 1);
    o.norm = norm == "rms_norm" ? LayerKind::rms_norm : LayerKind::layer_norm;
    o.norm_bias = o.norm == LayerKind::layer_norm;
    o.pre_norm = l.flag_or("pre_norm", true);
    o.dropout = l.flag_or("dropout", true);
    if (is_sequence(l)) add_block(l.b, l.name, o);
}

template <LayerKind kind>
void write_recurrent(WrittenLayer& l) {
    const std::int64_t hidden = l.need("hidden", "512"), biases = l.reader.integer("biases", 0, 2).value_or(2);
    Layer& layer = l.b.recurrent(l.name, kind, hidden, l.flag_or("bidirectional", false));
    const double gates = kind == LayerKind::lstm ? 4.0 : 3.0;
    if (!l.b.failed())
        l.b.add_parameters(layer,
                           static_cast<double>((biases - 2) * layer.groups) * gates * static_cast<double>(hidden));
    read_parameters(l, layer);
    // As frameworks do without "return_sequences": the last step alone goes on.
    if (!l.flag_or("sequences", true) && !l.b.failed()) l.b.reshape(l.name + ".last", {l.b.shape().back()});
}

struct Writer {
    const char* type;
    LayerWriter write;
};

constexpr Writer writers[] = {
    {"conv2d", write_conv},
    {"conv1d", write_conv1d},
    {"depthwise_conv2d", write_depthwise},
    {"conv2d_transpose", write_transposed},
    {"linear", write_linear},
    {"embedding", write_embedding},
    {"batch_norm", write_norm<LayerKind::batch_norm>},
    {"layer_norm", write_norm<LayerKind::layer_norm>},
    {"rms_norm", write_norm<LayerKind::rms_norm>},
    {"group_norm", write_norm<LayerKind::group_norm>},
    {"activation", write_activation},
    {"softmax", write_softmax},
    {"dropout", write_dropout},
    {"max_pool", write_max_pool},
    {"avg_pool", write_avg_pool},
    {"adaptive_avg_pool", write_adaptive_pool},
    {"global_avg_pool", write_global_pool},
    {"flatten", write_flatten},
    {"reshape", write_reshape},
    {"upsample", write_upsample},
    {"pad", write_pad},
    {"attention", write_attention},
    {"scores", write_scores},
    {"product", write_product},
    {"transformer_block", write_transformer},
    {"lstm", write_recurrent<LayerKind::lstm>},
    {"gru", write_recurrent<LayerKind::gru>},
    {"loss", write_loss},
};

}  // namespace

LayerWriter find_layer_writer(std::string_view type) {
    for (const Writer& writer : writers)
        if (writer.type == type) return writer.write;
    return activation_from(type) ? write_activation : nullptr;
}

std::vector<std::string> layer_writer_names() {
    std::vector<std::string> names;
    for (const Writer& writer : writers) names.emplace_back(writer.type);
    return names;
}

}  // namespace dlcast
