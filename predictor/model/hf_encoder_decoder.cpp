// SPDX-License-Identifier: GPL-2.0-or-later
// Encoder-decoder models: T5 (Raffel et al., arXiv:1910.10683), Switch Transformers (Fedus et al., arXiv:2101.03961),
// Marian, BART (Lewis et al., arXiv:1910.13461) and its relatives. Source and target both have the sample's tokens.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

struct Sides {
    std::int64_t vocab = 0, width = 0;
    std::int64_t positions = 0;          // rows of a learned table on each side; 0: none
    std::int64_t decoder_positions = 0;  // of the decoder's, if others
    std::int64_t encoder_layers = 0, decoder_layers = 0;
    BlockOptions encoder, decoder;
    bool embedding_norm = false, final_norm = false;
    bool dropout = true;
    std::int64_t position_bias = 0;  // parameters of each side's relative positions
    bool tied_head = true;
    // Of so many blocks one has experts; 0: none.
    std::int64_t encoder_every = 0, decoder_every = 0;
    bool last_of_every = false;  // else the second
    std::int64_t experts = 0;
    double encoder_extra = 0.0;                 // parameters of the encoder beside all these
    bool global_projections = false;            // of the encoder (LED)
    std::vector<std::int64_t> encoder_windows;  // tokens each one attends to, of each layer (LED); empty: all
    std::int64_t target_vocab = 0;              // of the decoder, if not the encoder's
    bool bias_in_every_layer = false;           // each layer has relative positions of its own (UMT5)
};

void add_side(ModelBuilder& b, const Sides& s, const std::string& side, std::int64_t tokens, bool decoder,
              const Shape* source) {
    b.continue_from({tokens});
    b.embedding(side + ".embed", decoder && s.target_vocab > 0 ? s.target_vocab : s.vocab, s.width);
    if (decoder && s.target_vocab == 0) b.share();  // both sides read one table
    if (s.positions > 0) {
        b.continue_from({tokens});
        b.embedding(side + ".positions", decoder && s.decoder_positions > 0 ? s.decoder_positions : s.positions,
                    s.width);
        b.add(side + ".add_positions");
    }
    if (s.embedding_norm) b.norm(side + ".embed.norm", LayerKind::layer_norm);
    if (s.dropout) b.dropout(side + ".embed.drop");
    const std::int64_t layers = decoder ? s.decoder_layers : s.encoder_layers;
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        BlockOptions block = decoder ? s.decoder : s.encoder;
        const std::int64_t every = decoder ? s.decoder_every : s.encoder_every;
        if (every > 0 && i % every == (s.last_of_every ? every - 1 : 1 % every)) block.mlp.experts = s.experts;
        if (!decoder && !s.encoder_windows.empty())
            block.attention.keys = std::min(s.encoder_windows[static_cast<std::size_t>(i)], tokens);
        b.set_block(static_cast<int>(decoder ? s.encoder_layers + i : i));
        const std::string at = fmt::format("{}.{}", side, i);
        add_block(b, at, block, source);
        if (s.global_projections && !decoder) add_global_projections(b, at);
    }
    b.set_block(-1);
    if (s.final_norm) b.norm(side + ".norm", s.encoder.norm, s.encoder.norm_bias);
    const auto tables = static_cast<double>(s.bias_in_every_layer ? layers : 1);
    if (!decoder && s.encoder_extra > 0.0) b.add_parameters(b.back(), s.encoder_extra);
    if (s.position_bias > 0) b.add_parameters(b.back(), tables * static_cast<double>(s.position_bias));
}

void add_head(ModelBuilder& b, HfConfig& c, const Sides& s, const std::string& task) {
    if (task == "features") return;
    const bool answers = task == "question_answering";
    if (!answers && task != "classification" && task != "token_classification") {
        if (task == "masked_lm")
            c.assumed.push_back(fmt::format("task masked_lm of {} is computed as causal_lm", c.family));
        return add_lm_head(b, s.target_vocab > 0 ? s.target_vocab : s.vocab, s.tied_head);
    }
    b.set_head(true);
    if (task == "classification") {
        b.reshape("classifier.last", {s.width});
        b.linear("classifier.dense", s.width);
        b.activation("classifier.act", "tanh");
    }
    b.linear(answers ? "qa_outputs" : "classifier", answers ? 2 : c.labels(2));
    b.loss("loss");
}

Result<ModelSpec> build_sides(HfConfig& c, const std::string& name, const std::string& family, const Sides& s,
                              std::int64_t tokens) {
    ModelBuilder b({tokens});
    add_side(b, s, "encoder", tokens, false, nullptr);
    const Shape source = b.shape();
    const std::string task = c.head_task();
    // T5 classifies tokens by its encoder.
    const bool by_encoder = task == "token_classification" && family == "t5";
    const bool encoder_alone = c.is_for("EncoderModel") || by_encoder;
    if (!encoder_alone) {
        add_side(b, s, "decoder", tokens, true, &source);
        if (c.options.seq_len > 0)
            c.assumed.push_back(fmt::format("the decoder's sequences are of {} tokens, as the encoder's", tokens));
    }
    if (b.failed()) return invalid_argument(b.fault());
    add_head(b, c, s, encoder_alone && !by_encoder ? "features" : task);
    auto model = b.finish(name, family);
    if (model) model->seq_len = tokens;
    return model;
}

Result<ModelSpec> build_t5(HfConfig& c, const std::string& name) {
    Sides s;
    s.vocab = c.size({"vocab_size"});
    s.width = c.size({"d_model"});
    s.encoder_layers = c.size({"num_layers"});
    s.decoder_layers = c.size_or({"num_decoder_layers"}, s.encoder_layers);
    s.final_norm = true;
    BlockOptions& block = s.encoder;
    block.norm = LayerKind::rms_norm;
    block.norm_bias = false;
    block.attention.heads = c.size({"num_heads"});
    block.attention.head_dim = c.size_or({"d_kv"}, 64);
    block.attention.bias = block.attention.out_bias = block.mlp.bias = false;
    block.attention.dropout = true;
    block.attention.fused = c.fused(false);
    block.mlp.inner = c.size({"d_ff"});
    const std::string projection = c.text_or({"feed_forward_proj"}, "relu");
    block.mlp.gated = projection.starts_with("gated-");
    block.mlp.activation = block.mlp.gated ? projection.substr(6) : projection;
    if (block.mlp.activation == "gelu" && block.mlp.gated) block.mlp.activation = "gelu_new";
    s.position_bias = c.size_or({"relative_attention_num_buckets"}, 32) * block.attention.heads;
    s.tied_head = c.flag_or("tie_word_embeddings", true);
    if (c.family == "switch_transformers") {
        s.experts = c.size_or({"num_experts"}, 8);
        const auto every = [](std::int64_t layers, std::int64_t sparse) {
            return sparse > 0 ? std::max<std::int64_t>(1, layers / sparse) : 0;
        };
        s.encoder_every = every(s.encoder_layers, c.size_or({"num_sparse_encoder_layers"}, s.encoder_layers / 2));
        s.decoder_every = every(s.decoder_layers, c.size_or({"num_sparse_decoder_layers"}, s.decoder_layers / 2));
        block.mlp.router_bias = c.flag_or("router_bias", false);
    }
    s.bias_in_every_layer = c.family == "umt5";
    s.decoder = block;
    s.decoder.attention.causal = true;
    const std::int64_t tokens = c.tokens(c.family == "longt5" ? 4096 : 512);
    // Local attention looks 127 tokens to each side; "transient-global" also to a mean of each 16.
    if (c.family == "longt5") {
        const std::int64_t radius = c.size_or({"local_radius"}, 127);
        const std::int64_t block_of_means = std::max<std::int64_t>(1, c.size_or({"global_block_size"}, 16));
        const bool global = c.text_or({"encoder_attention_type"}, "local") == "transient-global";
        const std::int64_t means = global ? tokens / block_of_means : 0;
        s.encoder.attention.keys = std::min<std::int64_t>(3 * radius + 1 + means, tokens);
        // A norm of the means in each layer, and in the first a second table of distances.
        if (global) s.encoder_extra = static_cast<double>(s.encoder_layers * s.width + s.position_bias);
    }
    return build_sides(c, name, "t5", s, tokens);
}

// What BART's relatives differ in.
struct BartTraits {
    const char* type;
    bool pre_norm = false;  // and a norm at the end of each side
    bool embedding_norm = false;
    std::int64_t position_offset = -1;  // rows before the first learned position; -1: sines
    bool final_norm = false;
};

constexpr BartTraits bart_traits[] = {
    {"marian", false, false, -1, false},  {"bart", false, true, 2, false},
    {"plbart", false, true, 2, false},    {"mvp", false, true, 2, false},
    {"led", false, true, 0, false},       {"mbart", true, true, 2, true},
    {"pegasus", true, false, -1, true},   {"bigbird_pegasus", true, false, 0, true},
    {"blenderbot", true, false, 0, true}, {"blenderbot-small", false, true, 0, false},
    {"m2m_100", true, false, -1, true},   {"fsmt", false, false, -1, false},
    {"nllb-moe", true, false, -1, true},
};

Result<ModelSpec> build_bart(HfConfig& c, const std::string& name) {
    const BartTraits* t = std::find_if(std::begin(bart_traits), std::end(bart_traits),
                                       [&](const BartTraits& traits) { return c.family == traits.type; });
    Sides s;
    s.vocab = c.size({"vocab_size", "src_vocab_size"});
    s.target_vocab = c.size_or({"tgt_vocab_size"}, 0);
    s.width = c.size({"d_model"});
    s.encoder_layers = c.size({"encoder_layers", "num_hidden_layers"});
    s.decoder_layers = c.size({"decoder_layers", "num_hidden_layers"});
    // Its decoder's table is the head's, whatever the config says of ties.
    if (c.family != "fsmt") s.tied_head = c.flag_or("tie_word_embeddings", true);
    if (c.family == "marian" && !c.flag_or("share_encoder_decoder_embeddings", true))
        s.target_vocab = c.size_or({"decoder_vocab_size"}, s.vocab);
    s.embedding_norm = t->embedding_norm;
    s.final_norm = t->final_norm;
    // Keys of old configs that transformers no longer reads.
    for (const auto& [key, has] :
         {std::pair<const char*, bool>{"normalize_before", t->pre_norm}, {"normalize_embedding", t->embedding_norm}})
        if (c.flag_or(key, has) != has)
            c.assumed.push_back(
                fmt::format("{} of the config is left out, as if it were {} ({}'s)", key, has, c.family));
    BlockOptions& block = s.encoder;
    block.pre_norm = t->pre_norm;
    block.attention.heads = c.size({"encoder_attention_heads"});
    block.attention.dropout = true;
    block.attention.style = "scaled_query";
    block.attention.fused = c.fused(false);
    block.mlp.inner = c.size_or({"encoder_ffn_dim"}, 4 * s.width);
    block.mlp.activation = c.text_or({"activation_function"}, "gelu");
    if (c.family == "bigbird_pegasus") block.attention.bias = block.attention.out_bias = c.flag_or("use_bias", false);
    if (c.family == "nllb-moe") {
        s.experts = c.size_or({"num_experts"}, 128);
        s.encoder_every = c.size_or({"encoder_sparse_step"}, 4);
        s.decoder_every = c.size_or({"decoder_sparse_step"}, 4);
        s.last_of_every = true;
        block.mlp.active_experts = std::min<std::int64_t>(2, std::max<std::int64_t>(1, s.experts));
        block.mlp.router_bias = c.flag_or("router_bias", false);
    }
    s.decoder = block;
    s.decoder.attention.causal = true;
    s.decoder.attention.heads = c.size_or({"decoder_attention_heads"}, block.attention.heads);
    s.decoder.mlp.inner = c.size_or({"decoder_ffn_dim"}, block.mlp.inner);
    const std::int64_t positions = c.size_or({"max_position_embeddings", "max_encoder_position_embeddings"}, 1024);
    const std::int64_t tokens = c.tokens(positions);
    if (t->position_offset >= 0) s.positions = c.position_rows(positions, tokens) + t->position_offset;
    if (c.family == "led") {
        s.global_projections = true;
        s.encoder_windows = c.windows(s.encoder_layers);
        s.decoder_positions = std::max(c.size_or({"max_decoder_position_embeddings"}, positions), tokens);
    }
    // Three blocks around, three at random and two that all see.
    if (c.family == "bigbird_pegasus" && c.text_or({"attention_type"}, "block_sparse") == "block_sparse")
        s.encoder.attention.keys = std::min(8 * std::max<std::int64_t>(1, c.size_or({"block_size"}, 64)), tokens);
    return build_sides(c, name, c.family, s, tokens);
}

}  // namespace

const std::vector<HfFamily>& encoder_decoder_families() {
    static const std::vector<HfFamily> families = [] {
        std::vector<HfFamily> all;
        for (const char* type : {"t5", "mt5", "umt5", "longt5", "switch_transformers"}) all.push_back({type, build_t5});
        for (const BartTraits& t : bart_traits) all.push_back({t.type, build_bart});
        all.push_back({"transfo-xl", build_transfo_xl});
        return all;
    }();
    return families;
}

}  // namespace dlcast
