// SPDX-License-Identifier: GPL-2.0-or-later
// Transformer-XL (Dai et al., arXiv:1901.02860): segments that attend to the last segment's states, and a softmax in
// clusters (Grave et al., arXiv:1609.04309).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

struct Clusters {
    std::vector<std::int64_t> ends;    // first token id behind each cluster; the last is the vocabulary
    std::vector<std::int64_t> widths;  // embedding width of each
    bool projected = false;            // every cluster has a matrix between its width and the model's
};

Clusters read_clusters(HfConfig& c, std::int64_t vocab, std::int64_t d_embed) {
    Clusters out;
    out.ends = c.list("cutoffs").value_or(std::vector<std::int64_t>{});
    out.ends.push_back(vocab);
    if (!std::is_sorted(out.ends.begin(), out.ends.end())) c.fail("cutoffs should rise and stay below vocab_size");
    const std::int64_t divisor = std::max<std::int64_t>(1, c.size_or({"div_val"}, 1));
    std::int64_t width = d_embed;
    out.projected = divisor > 1;
    for (std::size_t i = 0; i < out.ends.size(); ++i, width = std::max<std::int64_t>(1, width / divisor))
        out.widths.push_back(width);
    return out;
}

// Share of a text's tokens with rank above `rank` in a vocabulary, by Zipf's law: 1 - H(rank) / H(vocab).
double rarer_than(std::int64_t rank, std::int64_t vocab) {
    const auto harmonic = [](std::int64_t n) { return std::log(static_cast<double>(n)) + 0.5772; };
    return std::max(0.0, 1.0 - harmonic(rank) / harmonic(vocab));
}

// The head cluster sees every token; a tail cluster those whose target lies in it. Weights are the embedding's, but for
// the rows that stand for the tail clusters and the head's projection.
void add_adaptive_softmax(ModelBuilder& b, const Clusters& clusters, std::int64_t vocab) {
    const Shape hidden = b.shape();
    for (std::size_t i = 0; i < clusters.ends.size() && !b.failed(); ++i) {
        const std::int64_t first = i == 0 ? 0 : clusters.ends[i - 1];
        const std::int64_t words =
            clusters.ends[i] - first + (i == 0 ? static_cast<std::int64_t>(clusters.ends.size()) - 1 : 0);
        const double share = i == 0 ? 1.0
                                    : rarer_than(first, vocab) -
                                          (i + 1 < clusters.ends.size() ? rarer_than(clusters.ends[i], vocab) : 0.0);
        const auto tokens =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(hidden[0]))));
        b.continue_from({tokens, hidden[1]});
        const bool projected = clusters.projected || clusters.widths[i] != hidden[1];
        if (projected) b.linear(fmt::format("softmax.{}.project", i), clusters.widths[i], false);
        if (projected && i > 0) b.share();
        const double cluster_rows = i == 0 ? static_cast<double>((clusters.ends.size() - 1) * clusters.widths[0]) : 0.0;
        Layer& logits = b.linear(fmt::format("softmax.{}", i), std::max<std::int64_t>(1, words));
        if (b.failed()) return;
        logits.tied = true;
        b.add_parameters(
            logits,
            static_cast<double>(words) + cluster_rows - static_cast<double>(logits.parameters));  // and its bias
        b.loss(fmt::format("loss.{}", i));
    }
}

}  // namespace

Result<ModelSpec> build_transfo_xl(HfConfig& c, const std::string& name) {
    const std::int64_t layers = c.size({"n_layer"}), width = c.size({"d_model"}), vocab = c.size({"vocab_size"});
    const std::int64_t heads = c.size({"n_head"}), d = c.size_or({"d_head"}, 64), memory = c.size_or({"mem_len"}, 0);
    const std::int64_t inner = c.size({"d_inner"});
    const Clusters clusters = read_clusters(c, vocab, c.size_or({"d_embed"}, width));
    if (c.options.seq_len == 0 && memory == 0) c.fail("needs \"mem_len\" or a sequence length");
    if (c.failed()) return invalid_argument("incomplete");
    const std::int64_t tokens = c.tokens(memory);
    ModelBuilder b({tokens});
    b.embedding("embed", vocab, width);
    double table = 0.0;
    for (std::size_t i = 0; i < clusters.ends.size(); ++i) {
        const auto words = static_cast<double>(clusters.ends[i] - (i == 0 ? 0 : clusters.ends[i - 1]));
        table += words * static_cast<double>(clusters.widths[i]);
        if (clusters.projected || clusters.widths[i] != width) table += static_cast<double>(clusters.widths[i] * width);
    }
    if (!b.failed()) b.add_parameters(b.back(), table - static_cast<double>(b.back().parameters));
    b.dropout("embed.drop");
    for (int i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("layer.{}", i);
        b.set_block(i);
        const Shape in = b.shape();
        // Keys and values of the memory are projected again; positions have a projection of their own.
        b.continue_from({tokens + memory, width});
        b.linear(at + ".attn.qkv", 3 * heads * d, false);
        b.continue_from({tokens + memory, width});
        b.linear(at + ".attn.r", heads * d, false).input_grad = false;
        b.continue_from({tokens, heads * d});
        Layer& attention = b.attention(at + ".attn.scores", heads, heads, d);
        b.add_parameters(attention, static_cast<double>(2 * heads * d));  // its biases of contents and places
        attention.kv_tokens = tokens + memory;
        attention.causal = true;
        attention.function = "relative";
        b.linear(at + ".attn.out", width, false);
        b.dropout(at + ".attn.drop");
        b.add(at + ".attn.add");
        b.norm(at + ".attn.norm", LayerKind::layer_norm);
        b.continue_from(in);
        b.linear(at + ".mlp.up", inner);
        b.activation(at + ".mlp.act", "relu");
        b.dropout(at + ".mlp.drop1");
        b.linear(at + ".mlp.down", width);
        b.dropout(at + ".mlp.drop");
        b.add(at + ".mlp.add");
        b.norm(at + ".mlp.norm", LayerKind::layer_norm);
    }
    b.set_block(-1);
    if (b.failed()) return invalid_argument(b.fault());
    b.dropout("drop");
    add_adaptive_softmax(b, clusters, vocab);
    auto model = b.finish(name, "transfo-xl");
    if (model) model->seq_len = tokens;
    return model;
}

}  // namespace dlcast
