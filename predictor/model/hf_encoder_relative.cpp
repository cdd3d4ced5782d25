// SPDX-License-Identifier: GPL-2.0-or-later
// Encoders whose attention also looks at distances: DeBERTa (He et al., arXiv:2006.03654, section 3.1), its second and
// third version (arXiv:2111.09543), XLNet (Yang et al., arXiv:1906.08237); and ModernBERT (Warner et al.,
// arXiv:2412.13663).
#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/json.h"
#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

// Logits over the vocabulary at 15 % of the positions, behind a transform; or a class.
Result<ModelSpec> finish(HfConfig& c, ModelBuilder& b, const std::string& name, const std::string& family,
                         std::int64_t vocab, std::int64_t tokens) {
    if (b.failed()) return invalid_argument(b.fault());
    const std::int64_t width = b.shape()[1];
    b.set_head(true);
    const bool modern = c.family == "modernbert";
    const bool dense_bias = !modern || c.flag_or("classifier_bias", false);
    const bool norm_bias = !modern || c.flag_or("norm_bias", false);
    if (c.options.task.empty() && c.is_for("ForTokenClassification")) {
        b.linear("classifier", c.labels(2));
        b.loss("loss");
    } else if (c.options.task == "classification" || c.options.classes > 0 || c.is_for("ForSequenceClassification")) {
        b.reshape("classifier.first", {width});
        b.linear("classifier.dense", width, dense_bias);
        b.activation("classifier.act", family == "xlnet" ? "tanh" : "gelu");
        if (modern) b.norm("classifier.norm", LayerKind::layer_norm, norm_bias);
        b.linear("classifier", c.labels(2));
        b.loss("loss");
    } else if (c.options.task == "question_answering" || c.is_for("ForQuestionAnswering")) {
        b.linear("qa_outputs", 2);
        b.loss("loss");
    } else if (c.options.task != "features") {
        const std::int64_t masked = c.options.masked_tokens > 0 ? std::min(c.options.masked_tokens, tokens)
                                                                : std::max<std::int64_t>(1, tokens * 15 / 100);
        b.reshape("mlm.gather", {masked, width});
        if (family != "xlnet") {
            b.linear("mlm.transform", width, dense_bias);
            b.activation("mlm.act", "gelu");
            b.norm("mlm.norm", LayerKind::layer_norm, norm_bias);
        }
        add_lm_head(b, vocab, c.flag_or("tie_word_embeddings", true), !modern || c.flag_or("decoder_bias", true));
    }
    auto model = b.finish(name, family);
    if (model) model->seq_len = tokens;
    return model;
}

struct Deberta {
    std::int64_t width, heads, distances;
    bool second, own_projections, fused;
    bool to_places = true, from_places = true;  // scores of contents with distances, of distances with contents
};

// Scores of contents, of content with distance and of distance with content.
void add_disentangled_attention(ModelBuilder& b, const std::string& at, const Deberta& d) {
    const Shape in = b.shape();
    if (d.second) {
        for (const char* which : {".q", ".k", ".v"}) {
            b.continue_from(in);
            b.linear(at + which, d.width);
        }
    } else {
        Layer& qkv = b.linear(at + ".qkv", 3 * d.width, false);
        b.add_parameters(qkv, 2.0 * static_cast<double>(d.width));  // biases of queries and values
    }
    for (const bool query : {false, true}) {
        if (query ? !d.from_places : !d.to_places) continue;
        b.continue_from({d.distances, d.width});
        Layer& positions = b.linear(at + (query ? ".pos_q" : ".pos_k"), d.width, query || d.second);
        if (d.own_projections || b.failed()) continue;
        b.add_parameters(positions, -static_cast<double>(positions.parameters));
        positions.tied = true;
    }
    b.continue_from(in);
    Layer& scores = b.attention(at + ".scores", d.heads, d.heads, std::max<std::int64_t>(1, d.width / d.heads));
    if (d.to_places || d.from_places) scores.function = "relative";
    scores.dropout = true;
    b.continue_from(in);
    b.linear(at + ".out", d.width);
}

// "p2c|c2p", or the same as a list.
void read_kinds_of_scores(HfConfig& c, Deberta& d) {
    const Value* kinds = c.value("pos_att_type");
    if (!kinds) {
        c.assumed.emplace_back("pos_att_type [] (not stated; as transformers has it)");
        d.to_places = d.from_places = false;
        return;
    }
    const std::string text = kinds->is_string() ? kinds->as_string() : write_json(*kinds);
    d.to_places = text.find("c2p") != std::string::npos;
    d.from_places = text.find("p2c") != std::string::npos;
}

Result<ModelSpec> build_deberta(HfConfig& c, const std::string& name) {
    const bool second = c.family == "deberta-v2";
    const std::int64_t layers = c.size({"num_hidden_layers"}), vocab = c.size({"vocab_size"});
    Deberta d{c.size({"hidden_size"}), c.size({"num_attention_heads"}), 0, second, true, false};
    const std::int64_t positions = c.size_or({"max_position_embeddings"}, 512);
    const std::int64_t buckets = c.size_or({"position_buckets"}, 0);
    // Negative in the config: as many as positions.
    const std::int64_t farthest = c.size_or({"max_relative_positions"}, 0);
    d.distances = 2 * (buckets > 0 ? buckets : farthest > 0 ? farthest : positions);
    const bool tables = c.flag_or("relative_attention", true);
    bool norm = false;
    if (tables) {
        read_kinds_of_scores(c, d);
        norm = c.text_or({"norm_rel_ebd"}, second ? "layer_norm" : "none").find("layer_norm") != std::string::npos;
        d.own_projections = !second || !c.flag_or("share_att_key", true);
    } else {
        d.to_places = d.from_places = false;
    }
    const std::int64_t embedding = c.size_or({"embedding_size"}, d.width);
    const std::int64_t inner = c.size_or({"intermediate_size"}, 4 * d.width);
    const std::int64_t types = c.size_or({"type_vocab_size"}, 0), kernel = c.size_or({"conv_kernel_size"}, 0);
    const bool absolute = c.flag_or("position_biased_input", false);
    const std::int64_t tokens = c.tokens(positions);
    if (c.failed()) return invalid_argument("incomplete");
    if (const std::string fault = head_fault(d.width, d.heads, 0); !fault.empty()) return invalid_argument(fault);
    ModelBuilder b({tokens});
    b.embedding("embeddings.word", vocab, embedding);
    for (const auto& [which, rows] :
         {std::pair<const char*, std::int64_t>{"type", types}, {"position", absolute ? positions : 0}}) {
        if (rows == 0) continue;
        b.continue_from({tokens});
        b.embedding(fmt::format("embeddings.{}", which), rows, embedding);
        b.add(fmt::format("embeddings.add_{}", which));
    }
    if (embedding != d.width) b.linear("embeddings.project", d.width, false);
    b.norm("embeddings.norm", LayerKind::layer_norm);
    b.dropout("embeddings.drop");
    MlpOptions mlp;
    mlp.inner = inner;
    mlp.activation = c.text_or({"hidden_act"}, "gelu");
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("layer.{}", i);
        b.set_block(static_cast<int>(i));
        add_disentangled_attention(b, at + ".attn", d);
        b.dropout(at + ".attn.drop");
        b.add(at + ".attn.add");
        b.norm(at + ".attn.norm", LayerKind::layer_norm);
        add_mlp(b, at + ".mlp", mlp);
        b.dropout(at + ".mlp.drop");
        b.add(at + ".mlp.add");
        b.norm(at + ".mlp.norm", LayerKind::layer_norm);
        if (i > 0 || kernel == 0 || b.failed()) continue;
        // A convolution over neighbours stands beside the first layer.
        b.continue_from({d.width, tokens, 1});
        Window w;
        w.kernel_h = kernel;
        w.same = true;
        b.conv("conv", d.width, w, true);
        b.activation("conv.act", "tanh");
        b.reshape("conv.turn", {tokens, d.width});
        b.add("conv.add");
        b.norm("conv.norm", LayerKind::layer_norm);
    }
    b.set_block(-1);
    if (b.failed()) return invalid_argument(b.fault());
    const double table = static_cast<double>(d.distances) * static_cast<double>(d.width);
    if (tables) b.add_parameters(b.back(), table + (norm ? 2.0 * static_cast<double>(d.width) : 0.0));
    return finish(c, b, name, "deberta", vocab, tokens);
}

Result<ModelSpec> build_xlnet(HfConfig& c, const std::string& name) {
    const std::int64_t layers = c.size({"n_layer"}), width = c.size({"d_model"}), vocab = c.size({"vocab_size"});
    const std::int64_t heads = c.size({"n_head"}), inner = c.size_or({"d_inner"}, 4 * width);
    const std::int64_t tokens = c.tokens(512);
    if (c.failed()) return invalid_argument("incomplete");
    if (const std::string fault = head_fault(width, heads, 0); !fault.empty()) return invalid_argument(fault);
    ModelBuilder b({tokens});
    b.add_parameters(b.embedding("word_embedding", vocab, width), static_cast<double>(width));  // and the mask's
    b.dropout("drop");
    MlpOptions mlp;
    mlp.inner = inner;
    mlp.activation = c.text_or({"ff_activation"}, "gelu");
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("layer.{}", i);
        const Shape in = b.shape();
        b.set_block(static_cast<int>(i));
        for (const char* which : {".attn.q", ".attn.k", ".attn.v"}) {
            b.continue_from(in);
            b.linear(at + which, width, false);
        }
        b.continue_from({2 * tokens, width});  // distances both ways
        b.linear(at + ".attn.r", width, false).input_grad = false;
        b.continue_from(in);
        Layer& scores = b.attention(at + ".attn.scores", heads, heads, width / heads);
        scores.function = "relative";
        scores.dropout = true;
        b.add_parameters(scores, 5.0 * static_cast<double>(width));  // three biases, two segments
        b.linear(at + ".attn.out", width, false);
        b.dropout(at + ".attn.drop");
        b.add(at + ".attn.add");
        b.norm(at + ".attn.norm", LayerKind::layer_norm);
        add_mlp(b, at + ".mlp", mlp);
        b.dropout(at + ".mlp.drop");
        b.add(at + ".mlp.add");
        b.norm(at + ".mlp.norm", LayerKind::layer_norm);
    }
    b.set_block(-1);
    if (b.failed()) return invalid_argument(b.fault());
    return finish(c, b, name, "xlnet", vocab, tokens);
}

// Two of three layers attend to 128 tokens around; the first has no norm before its attention.
Result<ModelSpec> build_modernbert(HfConfig& c, const std::string& name) {
    const std::int64_t layers = c.size({"num_hidden_layers"}), width = c.size({"hidden_size"}),
                       vocab = c.size({"vocab_size"});
    const std::int64_t window = c.size_or({"local_attention"}, 128),
                       every = std::max<std::int64_t>(1, c.size_or({"global_attn_every_n_layers"}, 3));
    const std::int64_t tokens = c.tokens(c.size_or({"max_position_embeddings"}, 8192));
    BlockOptions block;
    block.attention.heads = c.size({"num_attention_heads"});
    block.attention.bias = block.attention.out_bias = c.flag_or("attention_bias", false);
    block.attention.packed = block.attention.rotary = true;
    block.attention.style = "unmasked";
    block.attention.fused = c.fused(true);
    block.mlp.inner = c.size({"intermediate_size"});
    block.mlp.activation = c.text_or({"hidden_activation"}, "gelu");
    block.mlp.gated = true;
    block.mlp.bias = c.flag_or("mlp_bias", false);
    block.norm_bias = c.flag_or("norm_bias", false);
    block.dropout = false;
    if (c.failed()) return invalid_argument("incomplete");
    ModelBuilder b({tokens});
    b.embedding("embeddings", vocab, width);
    b.norm("embeddings.norm", LayerKind::layer_norm, block.norm_bias);
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        BlockOptions one = block;
        if (i % every != 0 && window > 0) one.attention.keys = std::min(window, tokens);
        b.set_block(static_cast<int>(i));
        const std::size_t first = b.size();
        add_block(b, fmt::format("layer.{}", i), one);
        if (i == 0 && !b.failed()) b.add_parameters(b.layer(first), -static_cast<double>(b.layer(first).parameters));
    }
    b.set_block(-1);
    b.norm("norm", LayerKind::layer_norm, block.norm_bias);
    return finish(c, b, name, "bert", vocab, tokens);
}

}  // namespace

const std::vector<HfFamily>& relative_encoder_families() {
    static const std::vector<HfFamily> families = {{"deberta", build_deberta},
                                                   {"deberta-v2", build_deberta},
                                                   {"xlnet", build_xlnet},
                                                   {"modernbert", build_modernbert}};
    return families;
}

}  // namespace dlcast
