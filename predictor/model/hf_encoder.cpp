// SPDX-License-Identifier: GPL-2.0-or-later
// BERT (Devlin et al., arXiv:1810.04805), RoBERTa, DistilBERT, ELECTRA: encoders of text and their heads.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

struct Encoder {
    std::int64_t layers, width, heads, inner, vocab, positions, types, embedding;
    std::string activation;
    bool pooler;
    bool positions_learned = true;
    bool pre_norm = false;              // norms before the parts and one at the end, none over the embeddings
    bool shared_layers = false;         // ALBERT: one layer's weights for all
    std::int64_t window = 0;            // tokens each one attends to; 0: all
    std::vector<std::int64_t> windows;  // the same of each layer (Longformer); empty: as above
    std::int64_t position_bias = 0;     // parameters of relative positions
    std::int64_t page_tables = 0;       // LayoutLM: rows of each of four tables of places on the page
    bool global_projections = false;    // Longformer: a second set for tokens that see everything
    bool embedding_norm = true;
    bool rotary = false;
    bool qkv_bias = true;
    bool tied = true;                      // the head's matrix is the token table
    bool causal = false;                   // a decoder
    bool cross = false;                    // whose layers also attend to another sequence
    std::int64_t distances = 0;            // rows of a table in each layer, read by the scores; 0: none
    std::int64_t task_types = 0;           // rows of a third table; 0: none
    std::int64_t groups = 1, repeats = 1;  // ALBERT: sets of weights, layers in each
    std::int64_t head_width = 0;           // of the head's transform, if not the token table's
};

// "relative_key" and "relative_key_query" (Shaw et al., arXiv:1803.02155; Huang et al., arXiv:2009.13658) leave the
// table of positions in the network.
void read_positions(HfConfig& c, Encoder& e) {
    const std::string kind = c.text_or({"position_embedding_type"}, "absolute");
    if (kind.starts_with("relative_key")) e.distances = 2 * e.positions - 1;
    if (c.family == "esm") e.positions_learned = kind == "absolute", e.rotary = kind == "rotary";
    if (c.family == "roformer") e.positions_learned = false, e.rotary = true;
    if (c.family == "nezha") e.positions_learned = false;  // sines of distances
    if (c.family == "mpnet") e.position_bias = c.size_or({"relative_attention_num_buckets"}, 32) * e.heads;
}

// A decoder's layers may attend to an encoder's output.
void read_decoder(HfConfig& c, Encoder& e) {
    e.causal = c.flag_or("is_decoder", false);
    e.cross = c.flag_or("add_cross_attention", false) && e.causal;
    e.tied = c.flag_or("tie_word_embeddings", c.family != "rembert");
    if (c.family == "rembert") e.head_width = c.size_or({"output_embedding_size"}, 1664);
}

Encoder read_encoder(HfConfig& c, bool pooler) {
    Encoder e;
    e.layers = c.size({"num_hidden_layers", "n_layers"});
    e.width = c.size({"hidden_size", "dim"});
    e.heads = c.size({"num_attention_heads", "n_heads"});
    e.inner = c.size_or({"intermediate_size", "hidden_dim"}, 4 * e.width);
    e.vocab = c.size({"vocab_size"});
    e.positions = c.size_or({"max_position_embeddings"}, 512);
    const bool typed =
        c.family != "distilbert" && c.family != "mpnet" && c.family != "esm" && c.family != "bert-generation";
    e.types = typed ? c.size_or({"type_vocab_size"}, 2) : 0;
    if (c.family == "ernie" && c.flag_or("use_task_id", false)) e.task_types = c.size_or({"task_type_vocab_size"}, 3);
    e.embedding = c.size_or({"embedding_size", "input_embedding_size"}, e.width);
    e.activation = c.text_or({"hidden_act", "activation"}, "gelu");
    e.pooler = pooler;
    read_positions(c, e);
    read_decoder(c, e);
    if (c.family == "esm") e.pre_norm = true, e.embedding_norm = c.flag_or("emb_layer_norm_before", false);
    if (c.family == "megatron-bert" || c.family == "xlm-roberta-xl") e.pre_norm = true, e.embedding_norm = false;
    if (c.family == "roberta-prelayernorm") e.pre_norm = true;
    if (c.family == "big_bird") e.qkv_bias = c.flag_or("use_bias", true);
    e.shared_layers = c.family == "albert";
    if (e.shared_layers) {
        e.groups = std::clamp<std::int64_t>(c.size_or({"num_hidden_groups"}, 1), 1, e.layers);
        e.repeats = std::max<std::int64_t>(1, c.size_or({"inner_group_num"}, 1));
    }
    if (c.family == "layoutlm") e.page_tables = c.size_or({"max_2d_position_embeddings"}, 1024);
    e.global_projections = c.family == "longformer";
    if (e.global_projections) e.windows = c.windows(e.layers);
    // Three blocks around, three at random and two that all see.
    if (c.family == "big_bird" && c.text_or({"attention_type"}, "block_sparse") == "block_sparse")
        e.window = 8 * std::max<std::int64_t>(1, c.size_or({"block_size"}, 64));
    return e;
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
    if (e.task_types > 0) {
        table("embeddings.task", e.task_types);
        b.add(prefix + "embeddings.add_task");
    }
    if (e.page_tables > 0)
        for (const char* which : {"x", "y", "height", "width"}) {
            table((std::string("embeddings.page_") + which).c_str(), e.page_tables);
            b.add(prefix + "embeddings.add_page");
        }
    if (e.embedding_norm) b.norm(prefix + "embeddings.norm", LayerKind::layer_norm);
    b.dropout(prefix + "embeddings.drop");
    if (e.embedding != e.width || e.shared_layers) b.linear(prefix + "embeddings.project", e.width);
    BlockOptions block;
    block.attention.heads = e.heads;
    block.attention.dropout = true;
    block.attention.bias = e.qkv_bias;
    block.attention.causal = e.causal;
    block.attention.fused = c.fused(false) && e.distances == 0;  // no fused kernel reads distances
    block.mlp.inner = e.inner;
    block.mlp.activation = e.activation;
    block.pre_norm = e.pre_norm;
    if (e.window > 0) block.attention.keys = std::min(e.window, tokens);
    block.attention.rotary = e.rotary;
    if (e.distances > 0) block.attention.style = "relative";
    const Shape source = b.shape();
    if (e.cross)
        c.assumed.push_back(fmt::format("cross-attention to {} tokens (not stated; as many as a sample)", tokens));
    for (std::int64_t i = 0; i < e.layers * e.repeats && !b.failed(); ++i) {
        b.set_block(static_cast<int>(i));
        const std::size_t first = b.size();
        const std::string at = fmt::format("{}layer.{}", prefix, i);
        if (!e.windows.empty()) block.attention.keys = std::min(e.windows[static_cast<std::size_t>(i)], tokens);
        add_block(b, at, block, e.cross ? &source : nullptr);
        if (e.global_projections) add_global_projections(b, at);
        if (e.distances > 0 && !b.failed())
            b.add_parameters(b.back(), static_cast<double>(e.distances) * static_cast<double>(e.width / e.heads));
        // The first layer of each group brings its weights.
        const std::int64_t layer = i / e.repeats;
        if (e.shared_layers && layer > 0 && layer * e.groups / e.layers == (layer - 1) * e.groups / e.layers &&
            !b.failed())
            b.share_from(first);
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
    b.linear(prefix + "mlm.transform", e.head_width > 0 ? e.head_width : e.embedding);
    b.activation(prefix + "mlm.act", e.activation);
    b.norm(prefix + "mlm.norm", LayerKind::layer_norm);
    add_lm_head(b, e.vocab, e.tied, true);
}

std::string task_of(HfConfig& c) {
    if (!c.options.task.empty()) return c.options.task;
    if (c.is_for("ForTokenClassification")) return "token_classification";
    if (c.is_for("ForMultipleChoice")) return "multiple_choice";
    if (c.options.classes > 0 || c.is_for("ForSequenceClassification")) return "classification";
    if (c.is_for("ForQuestionAnswering")) return "question_answering";
    if (c.is_for("ForMaskedLM")) return "masked_lm";
    if (c.flag_or("is_decoder", false) && (c.is_for("LMHeadModel") || c.is_for("ForCausalLM"))) return "causal_lm";
    return "pretraining";
}

void add_task(ModelBuilder& b, HfConfig& c, const Encoder& e) {
    const std::string task = task_of(c);
    const Shape hidden = b.shape();
    if (e.pooler && task != "causal_lm") {
        b.reshape("pooler.first", {e.width});
        b.linear("pooler", e.width);
        b.activation("pooler.tanh", "tanh");
    }
    if (task == "features") return;
    b.set_head(true);
    if (task == "classification" || task == "multiple_choice") {
        if (!e.pooler) {
            b.reshape("classifier.first", {e.width});
            b.linear("classifier.dense", e.width);
            b.activation("classifier.act", c.family == "distilbert" ? "relu" : "tanh");
        }
        b.dropout("classifier.drop");
        b.linear("classifier", task == "multiple_choice" ? 1 : c.labels(2));
        return void(b.loss("loss"));
    }
    if (task == "question_answering" || task == "token_classification") {
        b.continue_from(hidden);
        b.linear(task == "question_answering" ? "qa_outputs" : "classifier",
                 task == "question_answering" ? 2 : c.labels(2));
        return void(b.loss("loss"));
    }
    if (c.family == "electra" && c.is_for("ForPreTraining")) {  // which tokens were replaced
        b.linear("discriminator.dense", e.width);
        b.activation("discriminator.act", e.activation);
        b.linear("discriminator.prediction", 1);
        return void(b.loss("loss"));
    }
    if (task == "causal_lm") {
        b.continue_from(hidden);
        if (c.family == "bert-generation") return add_lm_head(b, e.vocab, e.tied, true);
        return add_masked_lm(b, e, "", hidden, hidden[0]);
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
        for (const char* type :
             {"bert", "roberta", "xlm-roberta", "camembert", "albert", "mpnet", "longformer", "big_bird", "layoutlm",
              "data2vec-text", "ernie", "megatron-bert", "rembert", "roberta-prelayernorm", "xlm-roberta-xl", "nezha"})
            all.push_back({type, build_bert});
        for (const char* type : {"distilbert", "electra", "roformer", "splinter", "esm", "bert-generation"})
            all.push_back({type, build_distilbert});
        all.push_back({"electra_pretraining", build_electra_pretraining});
        all.insert(all.end(), relative_encoder_families().begin(), relative_encoder_families().end());
        return all;
    }();
    return families;
}

}  // namespace dlcast
