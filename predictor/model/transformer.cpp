// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/transformer.h"

#include <fmt/format.h>

namespace dlcast {
namespace {

// Queries, keys and values; leaves [tokens, heads x head_dim].
void add_projections(ModelBuilder& b, const std::string& at, const AttentionOptions& o, std::int64_t kv_heads,
                     std::int64_t d, const Shape* source) {
    const Shape in = b.shape();
    const std::int64_t q = o.heads * d, kv = kv_heads * d;
    if (o.packed && !source) {
        b.linear(at + ".qkv", q + 2 * kv, o.bias);
        b.reshape(at + ".split", {in[0], q});
    } else {
        b.linear(at + ".q", q, o.bias);
        const Shape& other = source ? *source : in;
        for (const char* which : {".k", ".v"}) {
            b.continue_from(other);
            b.linear(at + which, kv, o.bias);
        }
        b.continue_from({in[0], q});
    }
    if (o.qk_norm || o.wide_qk_norm) {
        // Queries are [tokens x heads, head_dim] where each head has its norm.
        const auto norm = [&](const char* which, std::int64_t width) {
            b.continue_from(o.wide_qk_norm ? Shape{in[0], width} : Shape{in[0] * (width / d), d});
            b.norm(at + which, o.qk_norm_kind, o.qk_norm_bias);
        };
        norm(".q.norm", q);
        norm(".k.norm", kv);
        b.continue_from({in[0], q});
    }
    if (!o.rotary) return;
    b.continue_from({in[0], q + kv});
    b.activation(at + ".rope", "rope");
    b.continue_from({in[0], q});
}

}  // namespace

std::string head_fault(std::int64_t width, std::int64_t heads, std::int64_t kv_heads) {
    if (heads < 1 || kv_heads < 0) return "attention needs at least one head; write how many";
    if (width % heads != 0)
        return fmt::format("{} heads do not divide a width of {}; make the width a multiple of the heads", heads,
                           width);
    if (kv_heads > 0 && heads % kv_heads != 0)
        return fmt::format("{} key heads do not divide {} heads; make the heads a multiple of the key heads", kv_heads,
                           heads);
    return "";
}

void add_attention(ModelBuilder& b, const std::string& at, const AttentionOptions& o, const Shape* source) {
    const Shape in = b.shape();
    const std::int64_t width = in.back();
    const std::int64_t kv_heads = o.kv_heads > 0 ? o.kv_heads : o.heads;
    // Heads of a stated width need not fill the model's.
    const std::int64_t filled = o.head_dim > 0 ? o.heads : width;
    if (const std::string fault = head_fault(filled, o.heads, kv_heads); !fault.empty())
        return b.fail(at + ": " + fault);
    const std::int64_t d = o.head_dim > 0 ? o.head_dim : width / o.heads;
    add_projections(b, at, o, kv_heads, d, source);
    Layer& layer = b.attention(at + ".scores", o.heads, kv_heads, d);
    if (source) layer.kv_tokens = source->front();
    if (o.memory > 0) layer.kv_tokens = in[0] + o.memory;
    if (o.keys > 0) layer.kv_tokens = o.keys;
    layer.causal = o.causal;
    layer.fused = o.fused;
    layer.dropout = o.dropout;
    layer.function = o.style;
    if (o.sinks) b.add_parameters(layer, static_cast<double>(o.heads));
    if (o.out_norm) b.norm(at + ".out.norm", LayerKind::rms_norm, false);
    b.linear(at + ".out", width, o.out_bias);
}

void add_mlp(ModelBuilder& b, const std::string& at, const MlpOptions& o) {
    const Shape in = b.shape();
    const std::int64_t width = in.back();
    if (o.experts > 0) {
        b.linear(at + ".router", o.experts, o.router_bias);
        b.softmax(at + ".router.softmax");
        // Each token goes to its active experts: as many rows for each.
        b.continue_from(in);
        if (o.active_experts < 1 || o.active_experts > o.experts)
            return b.fail("active_experts should be from 1 to experts");
        if (static_cast<double>(in[0]) * static_cast<double>(o.active_experts) > 1e15)
            return b.fail("over 1e15 rows for the experts; lower \"active_experts\" or the sequence");
        b.reshape(at + ".dispatch", {in[0] * o.active_experts, width});
    }
    const auto linear = [&](const std::string& name, std::int64_t out) {
        Layer& layer = b.linear(at + name, out, o.bias);
        if (o.experts == 0 || name.starts_with(".shared")) return;
        layer.experts = o.experts;
        b.add_parameters(layer, static_cast<double>(layer.parameters) * static_cast<double>(o.experts - 1));
    };
    const auto network = [&](const std::string& part, std::int64_t inner) {
        const Shape rows = b.shape();
        if (o.gated) {
            linear(part + ".gate", inner);
            b.activation(at + part + ".act", o.activation);
            b.continue_from(rows);
            linear(part + ".up", inner);
            b.multiply(at + part + ".mul");
        } else {
            linear(part + ".up", inner);
            b.add_parameters(b.activation(at + part + ".act", o.activation), o.activation_learns);
        }
        if (o.inner_norm) b.norm(at + part + ".norm", LayerKind::rms_norm, false);
        linear(part + ".down", width);
    };
    network("", o.inner);
    if (o.experts == 0) return;
    b.multiply(at + ".weigh");
    b.reshape(at + ".combine", in);
    if (o.shared == 0) return;
    b.continue_from(in);
    network(".shared", o.shared);
    if (o.shared_gate) {
        b.continue_from(in);
        b.linear(at + ".shared.weight", 1, false);
        b.continue_from(in);
        b.multiply(at + ".shared.weigh");
    }
    b.add(at + ".shared.add");
}

void add_block(ModelBuilder& b, const std::string& at, const BlockOptions& o, const Shape* source) {
    const Shape in = b.shape();
    const auto part = [&](const std::string& name, auto&& body) {
        const bool shared = o.one_norm && name.ends_with(".mlp");
        if (o.pre_norm && !shared) b.norm(name + ".norm", o.norm, o.norm_bias);
        body();
        if (o.both_norms) b.norm(name + ".post_norm", o.norm, o.norm_bias);
        if (o.dropout) b.dropout(name + ".drop");
        b.continue_from(in);
        b.add(name + ".add");
        if (!o.pre_norm) b.norm(name + ".norm", o.norm, o.norm_bias);
    };
    part(at + ".attn", [&] { add_attention(b, at + ".attn", o.attention); });
    if (source) {
        AttentionOptions cross = o.attention;
        cross.causal = cross.rotary = false;
        part(at + ".cross", [&] { add_attention(b, at + ".cross.attn", cross, source); });
    }
    part(at + ".mlp", [&] { add_mlp(b, at + ".mlp", o.mlp); });
}

void add_global_projections(ModelBuilder& b, const std::string& at) {
    const Shape hidden = b.shape();
    const std::int64_t width = hidden.back();
    for (const char* which : {".attn.global_k", ".attn.global_v"}) {
        b.continue_from(hidden);
        b.linear(at + which, width);
    }
    b.continue_from({1, width});
    b.linear(at + ".attn.global_q", width);
    b.continue_from(hidden);
}

void add_lm_head(ModelBuilder& b, std::int64_t vocab, bool tied, bool bias) {
    Layer& layer = b.linear("lm_head", vocab, bias);
    if (tied) {
        b.share();
        if (bias) b.add_parameters(layer, static_cast<double>(vocab));
    }
    b.loss("loss");
}

}  // namespace dlcast
