// SPDX-License-Identifier: GPL-2.0-or-later
// BERT (Devlin et al., arXiv:1810.04805), RoBERTa, DistilBERT, ELECTRA: encoders of text and their heads.
#include <fmt/format.h>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

struct Encoder {
    std::int64_t layers, width, heads, inner, vocab, positions, types, embedding;
    std::string activation;
    bool pooler;
    bool positions_learned = true;
    bool pre_norm = false;            // norms before the parts and one at the end, none over the embeddings
    bool shared_layers = false;       // ALBERT: one layer's weights for all
    std::int64_t window = 0;          // tokens each one attends to; 0: all
    std::int64_t position_bias = 0;   // parameters of relative positions
    std::int64_t page_tables = 0;     // LayoutLM: rows of each of four tables of places on the page
    bool global_projections = false;  // Longformer: a second set for tokens that see everything
};

Encoder read_encoder(HfConfig& c, bool pooler) {
    Encoder e;
    e.layers = c.size({"num_hidden_layers", "n_layers"});
    e.width = c.size({"hidden_size", "dim"});
    e.heads = c.size({"num_attention_heads", "n_heads"});
    e.inner = c.size_or({"intermediate_size", "hidden_dim"}, 4 * e.width);
    e.vocab = c.size({"vocab_size"});
    e.positions = c.size_or({"max_position_embeddings"}, 512);
    e.types =
        c.size_or({"type_vocab_size"}, c.family == "distilbert" || c.family == "mpnet" || c.family == "esm" ? 0 : 2);
    e.embedding = c.size_or({"embedding_size", "input_embedding_size"}, e.width);
    e.activation = c.text_or({"hidden_act", "activation"}, "gelu");
    e.pooler = pooler;
    if (c.family == "mpnet") e.types = 0, e.position_bias = 32 * e.heads;
    if (c.family == "roformer") e.positions_learned = false;
    if (c.family == "esm") {
        e.types = 0;
        e.pre_norm = true;
        e.positions_learned = c.text_or({"position_embedding_type"}, "absolute") == "absolute";
    }
    if (c.family == "megatron-bert") e.pre_norm = true;
    e.shared_layers = c.family == "albert";
    if (c.family == "layoutlm") e.page_tables = c.size_or({"max_2d_position_embeddings"}, 1024);
    e.global_projections = c.family == "longformer";
    if (e.global_projections) {
        const auto windows = c.list("attention_window");
        e.window = (windows && !windows->empty() ? windows->front() : 512) + 1;
    }
    // Three blocks around, three at random and two that all see.
    if (c.family == "big_bird" && c.text_or({"attention_type"}, "block_sparse") == "block_sparse")
        e.window = 8 * std::max<std::int64_t>(1, c.size_or({"block_size"}, 64));
    return e;
}

// One token, the first, attends to all by projections of its own; the keys and values are everybody's.
void add_global_projections(ModelBuilder& b, const std::string& at, std::int64_t width) {
    const Shape hidden = b.shape();
    for (const char* which : {".attn.global_k", ".attn.global_v"}) {
        b.continue_from(hidden);
        b.linear(at + which, width);
    }
    b.continue_from({1, width});
    b.linear(at + ".attn.global_q", width);
    b.continue_from(hidden);
}

void add_encoder(ModelBuilder& b, HfConfig& c, const Encoder& e, const std::string& prefix, std::int64_t tokens) {
    b.continue_from({tokens});
    const auto table = [&](const char* name, std::int64_t rows) {
        b.continue_from({tokens});
        b.embedding(prefix + name, rows, e.embedding);
    };
    table("embeddings.word", e.vocab);
    if (e.types > 0) {
        table("embeddings.type", e.types);
        b.add(prefix + "embeddings.add_type");
    }
    if (e.positions_learned) {
        table("embeddings.position", c.position_rows(e.positions, tokens));
        b.add(prefix + "embeddings.add_position");
    }
    if (e.page_tables > 0)
        for (const char* which : {"x", "y", "height", "width"}) {
            table((std::string("embeddings.page_") + which).c_str(), e.page_tables);
            b.add(prefix + "embeddings.add_page");
        }
    if (!e.pre_norm) b.norm(prefix + "embeddings.norm", LayerKind::layer_norm);
    b.dropout(prefix + "embeddings.drop");
    if (e.embedding != e.width) b.linear(prefix + "embeddings.project", e.width);
    BlockOptions block;
    block.attention.heads = e.heads;
    block.attention.dropout = true;
    block.attention.fused = c.fused(false);
    block.mlp.inner = e.inner;
    block.mlp.activation = e.activation;
    block.pre_norm = e.pre_norm;
    if (e.window > 0) block.attention.keys = std::min(e.window, tokens);
    block.attention.rotary = !e.positions_learned;
    for (int i = 0; i < e.layers && !b.failed(); ++i) {
        b.set_block(i);
        const std::size_t first = b.size();
        const std::string at = fmt::format("{}layer.{}", prefix, i);
        add_block(b, at, block);
        if (e.global_projections) add_global_projections(b, at, e.width);
        if (e.shared_layers && i > 0 && !b.failed()) b.share_from(first);
    }
    b.set_block(-1);
    if (e.pre_norm) b.norm(prefix + "norm", LayerKind::layer_norm);
    if (e.position_bias > 0 && !b.failed()) b.add_parameters(b.back(), static_cast<double>(e.position_bias));
}

// 15 % of the positions, in fours as the public recipes have it: 20 of 128, 80 of 512.
std::int64_t masked_tokens(const HfConfig& c, std::int64_t tokens) {
    if (c.options.masked_tokens > 0) return std::min(c.options.masked_tokens, tokens);
    return std::min(tokens, ((15 * tokens + 99) / 100 + 3) / 4 * 4);
}

// Predicts the masked positions: a transform, then logits with the embedding's weight and a bias of their own.
void add_masked_lm(ModelBuilder& b, const Encoder& e, const std::string& prefix, const Shape& hidden,
                   std::int64_t masked) {
    b.continue_from(hidden);
    b.reshape(prefix + "mlm.gather", {masked, e.width});
    b.linear(prefix + "mlm.transform", e.embedding);
    b.activation(prefix + "mlm.act", e.activation);
    b.norm(prefix + "mlm.norm", LayerKind::layer_norm);
    add_lm_head(b, e.vocab, true, true);
}

std::string task_of(HfConfig& c) {
    if (!c.options.task.empty()) return c.options.task;
    if (c.options.classes > 0 || c.is_for("ForSequenceClassification")) return "classification";
    if (c.is_for("ForQuestionAnswering")) return "question_answering";
    if (c.is_for("ForMaskedLM")) return "masked_lm";
    return "pretraining";
}

void add_task(ModelBuilder& b, HfConfig& c, const Encoder& e) {
    const std::string task = task_of(c);
    const Shape hidden = b.shape();
    if (e.pooler) {
        b.reshape("pooler.first", {e.width});
        b.linear("pooler", e.width);
        b.activation("pooler.tanh", "tanh");
    }
    if (task == "features") return;
    b.set_head(true);
    if (task == "classification") {
        if (!e.pooler) b.reshape("classifier.first", {e.width});
        b.dropout("classifier.drop");
        b.linear("classifier", c.labels(2));
        return void(b.loss("loss"));
    }
    if (task == "question_answering") {
        b.continue_from(hidden);
        b.linear("qa_outputs", 2);
        return void(b.loss("loss"));
    }
    if (task == "pretraining" && c.family == "bert") {
        b.linear("nsp", 2);
        b.loss("nsp.loss");
    }
    const std::int64_t masked = masked_tokens(c, hidden[0]);
    if (c.options.masked_tokens == 0) c.assumed.push_back(fmt::format("{} of {} tokens masked", masked, hidden[0]));
    add_masked_lm(b, e, "", hidden, masked);
}

Result<ModelSpec> finish(ModelBuilder& b, const std::string& name, const std::string& family, std::int64_t tokens) {
    auto model = b.finish(name, family);
    if (model) model->seq_len = tokens;
    return model;
}

Result<ModelSpec> build_encoder(HfConfig& c, const std::string& name, bool pooler) {
    const Encoder e = read_encoder(c, pooler);
    // RoBERTa counts its positions from 2.
    const bool offset = c.family != "bert" && e.positions % 64 == 2;
    const std::int64_t tokens = c.tokens(offset ? e.positions - 2 : e.positions);
    ModelBuilder b({tokens});
    add_encoder(b, c, e, "", tokens);
    if (!b.failed()) add_task(b, c, e);
    return finish(b, name, "bert", tokens);
}

Result<ModelSpec> build_bert(HfConfig& c, const std::string& name) { return build_encoder(c, name, true); }
Result<ModelSpec> build_distilbert(HfConfig& c, const std::string& name) { return build_encoder(c, name, false); }

// ELECTRA (Clark et al., arXiv:2003.10555): a small generator fills the masked tokens, the discriminator tells which
// were replaced; both train, and share the token and position tables.
Result<ModelSpec> build_electra_pretraining(HfConfig& c, const std::string& name) {
    const Value *discriminator = c.value("discriminator"), *generator = c.value("generator");
    if (!discriminator || !generator || !discriminator->is_object() || !generator->is_object()) {
        c.fail("electra_pretraining needs two objects, \"discriminator\" and \"generator\"");
        return invalid_argument("incomplete");
    }
    HfConfig small(*generator, "generator", c.options, c.assumed),
        large(*discriminator, "discriminator", c.options, c.assumed);
    small.family = large.family = "electra";
    const Encoder g = read_encoder(small, false), d = read_encoder(large, false);
    for (HfConfig* part : {&small, &large})
        if (auto s = part->finish(); !s) return s.error();
    const std::int64_t tokens = c.tokens(d.positions);
    ModelBuilder b({tokens});
    add_encoder(b, small, g, "generator.", tokens);
    if (b.failed()) return invalid_argument(b.fault());
    add_masked_lm(b, g, "generator.", b.shape(), masked_tokens(c, tokens));
    const std::size_t first = b.size();
    add_encoder(b, large, d, "discriminator.", tokens);
    if (b.failed()) return invalid_argument(b.fault());
    b.linear("discriminator.dense", d.width);
    b.activation("discriminator.act", d.activation);
    b.linear("discriminator.prediction", 1);
    b.loss("discriminator.loss");
    auto model = finish(b, name, "electra", tokens);
    if (!model) return model;
    for (std::size_t i = first; i < model->layers.size(); ++i) {
        Layer& layer = model->layers[i];
        // Replaced tokens are sampled: no gradient passes from the discriminator to the generator.
        if (layer.kind == LayerKind::embedding) {
            layer.tied = g.embedding == d.embedding;
            if (layer.tied) layer.parameters = 0;
        }
    }
    count_parameters(*model);
    return model;
}

}  // namespace

const std::vector<HfFamily>& encoder_families() {
    static const std::vector<HfFamily> families = [] {
        std::vector<HfFamily> all;
        for (const char* type : {"bert", "roberta", "xlm-roberta", "camembert", "albert", "mpnet", "longformer",
                                 "big_bird", "layoutlm", "data2vec-text", "ernie", "megatron-bert", "rembert"})
            all.push_back({type, build_bert});
        for (const char* type : {"distilbert", "electra", "roformer", "splinter", "esm"})
            all.push_back({type, build_distilbert});
        all.push_back({"electra_pretraining", build_electra_pretraining});
        all.insert(all.end(), relative_encoder_families().begin(), relative_encoder_families().end());
        return all;
    }();
    return families;
}

}  // namespace dlcast
