// SPDX-License-Identifier: GPL-2.0-or-later
// Decoder-only language models, by their configuration classes in Hugging Face's transformers.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "predictor/model/hf_decoder.h"

namespace dlcast {
namespace {

void drop_norm_weights(ModelBuilder& b) {
    for (std::size_t i = 0; i < b.size() && !b.failed(); ++i) {
        Layer& layer = b.layer(i);
        if (layer.kind == LayerKind::layer_norm) b.add_parameters(layer, -static_cast<double>(layer.parameters));
    }
}

// The window of each layer in tokens, 0 where it looks at all. Kernels that skip what lies beyond it compute
// W - W^2 / 2T scores of a query on average, T tokens; others compute all and mask them.
std::vector<std::int64_t> windows_of(HfConfig& c, const Decoder& d, std::int64_t tokens) {
    std::vector<std::int64_t> out(static_cast<std::size_t>(d.layers), 0);
    if (d.window == 0 || d.window >= tokens) return out;
    const bool skips = c.text_or({"attn_implementation", "_attn_implementation"}, "").find("fl") == 0;
    std::size_t windowed = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (d.windowed && !d.windowed(static_cast<std::int64_t>(i))) continue;
        if (skips) out[i] = d.window;
        ++windowed;
    }
    if (windowed > 0 && !skips)
        c.assumed.push_back(fmt::format(
            "sliding_window {} of {} layers: the scores of all {} tokens are computed (flash_attention_2 skips those "
            "beyond it; write it as \"attn_implementation\")",
            d.window, windowed, tokens));
    return out;
}

}  // namespace

Decoder decoder_like_gpt2(HfConfig& c, std::int64_t positions) {
    Decoder d;
    d.layers = c.size({"n_layer"});
    d.width = c.size({"n_embd"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"n_positions"}, positions);
    d.block.attention.heads = c.size({"n_head"});
    d.block.attention.causal = true;
    d.block.mlp.inner = c.size_or({"n_inner"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "gelu_new");
    return d;
}

Decoder decoder_of_hidden_size(HfConfig& c, std::int64_t positions) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, positions);
    d.block.attention.heads = c.size({"num_attention_heads"});
    d.block.attention.causal = true;
    return d;
}

void add_decoder_head(ModelBuilder& b, HfConfig& c, std::int64_t vocab, bool tied, bool bias) {
    const std::string task = c.head_task();
    if (task == "features" || b.failed()) return;
    const bool classifies = task == "classification" || task == "token_classification";
    if (!classifies && task != "question_answering") {
        if (task == "masked_lm")
            c.assumed.push_back(fmt::format("task masked_lm of {} is computed as causal_lm", c.family));
        return add_lm_head(b, vocab, tied, bias);
    }
    b.set_head(true);
    if (task == "classification") b.reshape("last", {b.shape().back()});
    if (classifies)
        b.linear("score", c.labels(2), task == "token_classification");
    else
        b.linear("qa_outputs", 2);
    b.loss("loss");
}

Result<ModelSpec> build_decoder(HfConfig& c, const std::string& name, const std::string& family, const Decoder& d) {
    const std::int64_t tokens = c.tokens(d.positions);
    const std::int64_t embedding = d.embedding > 0 ? d.embedding : d.width;
    ModelBuilder b({tokens});
    b.embedding("embed.tokens", d.vocab, embedding);
    if (embedding != d.width) b.linear("embed.project_in", d.width, false);
    if (d.learned_positions) {
        b.continue_from({tokens});
        b.embedding("embed.positions", c.position_rows(d.positions, tokens) + d.position_offset, d.width);
        b.add("embed.add");
    }
    if (d.embedding_norm) b.norm("embed.norm", LayerKind::layer_norm);
    if (d.embedding_dropout) b.dropout("embed.drop");
    const Shape source = {tokens, d.width};
    if (d.cross)
        c.assumed.push_back(fmt::format("cross-attention to {} tokens (not stated; as many as a sample)", tokens));
    const std::vector<std::int64_t> windows = windows_of(c, d, tokens);
    for (int i = 0; i < d.layers && !b.failed(); ++i) {
        b.set_block(i);
        BlockOptions block = d.block;
        if (d.vary) d.vary(i, block);
        // Half of the keys count, as causal attention has it.
        if (const std::int64_t w = windows[static_cast<std::size_t>(i)]; w > 0)
            block.attention.keys = 2 * w - w * w / tokens;
        add_block(b, fmt::format("h.{}", i), block, d.cross ? &source : nullptr);
    }
    b.set_block(-1);
    if (d.final_norm) b.norm("norm", d.block.norm, d.block.norm_bias);
    if (!d.norm_weight) drop_norm_weights(b);
    if (embedding != d.width) b.linear("project_out", embedding, false);
    add_decoder_head(b, c, d.vocab, d.tied, d.head_bias);
    auto model = b.finish(name, family);
    if (model) model->seq_len = tokens;
    return model;
}

void read_windows(HfConfig& c, Decoder& d) {
    const bool switched = c.family.starts_with("qwen") || c.family == "smollm3";
    const bool all = c.family == "mistral" || c.family == "mixtral" || c.family == "phi3" || c.family == "phimoe" ||
                     c.family == "starcoder2";
    const bool others = c.family == "gemma2" || c.family == "gpt_oss";  // every second layer, the first included
    const bool most = c.family == "gemma3_text" || c.family == "cohere2" || c.family == "olmo3";
    d.window = c.size_or({"sliding_window"}, others || most ? (c.family == "gpt_oss" ? 128 : 4096) : 0);
    const bool off = switched && !c.flag_or("use_sliding_window", false);
    const std::int64_t full = c.size_or({"max_window_layers"}, 28);
    // EXAONE 4 writes it out: LLLG.
    const Value* letters = c.value("sliding_window_pattern");
    const std::int64_t pattern =
        letters && letters->is_string()
            ? std::max<std::int64_t>(1, static_cast<std::int64_t>(letters->as_string().size()))
            : std::max<std::int64_t>(1, c.size_or({"sliding_window_pattern", "_sliding_window_pattern"},
                                                  c.family == "gemma3_text" ? 6 : 4));
    if (const auto types = c.texts("layer_types"); types && !types->empty()) {
        d.windowed = [kinds = *types](std::int64_t i) {
            const auto at = static_cast<std::size_t>(i);
            return at < kinds.size() && kinds[at] == "sliding_attention";
        };
        return;
    }
    if (off || !(switched || all || others || most)) d.window = 0;
    if (others) d.windowed = [](std::int64_t i) { return i % 2 == 0; };
    if (most) d.windowed = [pattern](std::int64_t i) { return (i + 1) % pattern != 0; };
    if (c.family == "smollm3") d.windowed = [](std::int64_t i) { return (i + 1) % 4 == 0; };  // those without rotation
    if (switched && c.family != "smollm3") d.windowed = [full](std::int64_t i) { return i >= full; };
}

namespace {

Result<ModelSpec> build_gpt2(HfConfig& c, const std::string& name) {
    Decoder d = decoder_like_gpt2(c, 1024);
    d.learned_positions = d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.cross = c.flag_or("add_cross_attention", false);
    d.block.attention.packed = d.block.attention.dropout = true;
    d.block.attention.fused = c.fused(false);
    // Frameworks of their own bring a fused GELU.
    if (c.options.framework.find("megatron") != std::string::npos || d.block.attention.fused)
        d.block.mlp.activation = "gelu";
    return build_decoder(c, name, "gpt2", d);
}

// GPT-Neo alternates local attention, of the same cost with eager kernels; it ties its head and has no query bias.
Result<ModelSpec> build_gpt_neo(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    d.learned_positions = d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.attention.heads = c.size({"num_heads"});
    d.block.attention.bias = false;
    d.block.attention.causal = d.block.attention.dropout = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "gelu_new");
    return build_decoder(c, name, "gpt_neo", d);
}

Result<ModelSpec> build_gptj(HfConfig& c, const std::string& name) {
    Decoder d = decoder_like_gpt2(c, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.head_bias = true;
    d.block.attention.bias = d.block.attention.out_bias = false;
    d.block.attention.rotary = d.block.one_norm = true;
    d.block.attention.fused = c.fused(false);
    return build_decoder(c, name, "gptj", d);
}

// One norm feeds attention and MLP side by side, as in GPT-J, but every product has a bias.
Result<ModelSpec> build_phi(HfConfig& c, const std::string& name) {
    Decoder d = decoder_of_hidden_size(c, 2048);
    d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.head_bias = true;
    d.block.attention.kv_heads = c.size_or({"num_key_value_heads"}, d.block.attention.heads);
    d.block.attention.rotary = d.block.one_norm = true;
    d.block.attention.qk_norm = c.flag_or("qk_layernorm", false);
    d.block.attention.qk_norm_kind = LayerKind::layer_norm;
    d.block.attention.qk_norm_bias = true;
    d.block.attention.fused = c.fused(true);
    d.block.mlp.inner = c.size_or({"intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"hidden_act"}, "gelu_new");
    return build_decoder(c, name, "phi", d);
}

Result<ModelSpec> build_gpt_neox(HfConfig& c, const std::string& name) {
    Decoder d = decoder_of_hidden_size(c, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.block.attention.packed = d.block.attention.rotary = true;
    d.block.attention.bias = d.block.attention.out_bias = c.flag_or("attention_bias", true);
    d.block.attention.fused = c.fused(true);
    d.block.mlp.inner = c.size_or({"intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"hidden_act"}, "gelu");
    d.block.dropout = false;
    return build_decoder(c, name, "gpt_neox", d);
}

Result<ModelSpec> build_bloom(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layer", "num_hidden_layers"});
    d.width = c.size({"n_embed", "hidden_size", "n_embd"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"seq_length"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.embedding_norm = true;
    d.block.attention.heads = c.size({"n_head", "num_attention_heads"});
    d.block.attention.packed = d.block.attention.causal = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = 4 * d.width;
    return build_decoder(c, name, "bloom", d);
}

Result<ModelSpec> build_opt(HfConfig& c, const std::string& name) {
    Decoder d = decoder_of_hidden_size(c, 2048);
    d.learned_positions = true;
    d.position_offset = 2;
    d.embedding = c.size_or({"word_embed_proj_dim"}, d.width);
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.pre_norm = d.final_norm = c.flag_or("do_layer_norm_before", true);
    d.norm_weight = c.flag_or("layer_norm_elementwise_affine", true);
    d.block.attention.dropout = true;
    d.block.attention.style = "scaled_query";
    d.block.attention.bias = d.block.attention.out_bias = d.block.mlp.bias = c.flag_or("enable_bias", true);
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"ffn_dim"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "relu");
    return build_decoder(c, name, "opt", d);
}

// What the code of MosaicML has and transformers' has not.
void name_old_mpt_keys(HfConfig& c) {
    const Value* attention = c.value("attn_config");
    if (!attention || !attention->is_object()) return;
    const auto is = [&](const char* key, bool said) {
        const Value* v = attention->find(key);
        return v && v->is_bool() && v->as_bool() == said;
    };
    if (is("qk_ln", true)) c.assumed.emplace_back("qk_ln of the config is left out, as if it were false");
    if (const std::string kind = c.nested_text_or("attn_config", "attn_type", "");
        !kind.empty() && kind != "multihead_attention")
        c.assumed.emplace_back("attn_type of the config is left out, as if it were multihead_attention");
    if (is("alibi", false) && c.flag_or("learned_pos_emb", true))
        c.assumed.emplace_back("learned_pos_emb of the config is left out, as if it were false");
}

Result<ModelSpec> build_mpt(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layers"});
    d.width = c.size({"d_model"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_seq_len"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", true);
    const bool bias = !c.flag_or("no_bias", true);
    d.block.norm_bias = bias;
    d.block.dropout = false;
    d.block.attention.heads = c.size({"n_heads"});
    d.block.attention.bias = d.block.attention.out_bias = bias;
    d.block.attention.packed = d.block.attention.causal = true;
    d.block.attention.fused = c.fused(true);
    d.block.mlp.bias = bias;
    d.block.mlp.inner = c.size_or({"expansion_ratio"}, 4) * d.width;
    name_old_mpt_keys(c);
    return build_decoder(c, name, "mpt", d);
}

Result<ModelSpec> build_falcon(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers", "n_layer"});
    d.width = c.size({"n_embed", "hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"num_attention_heads", "n_head"});
    const bool grouped = c.flag_or("new_decoder_architecture", false);
    a.kv_heads = grouped ? c.size_or({"num_kv_heads"}, a.heads) : c.flag_or("multi_query", true) ? 1 : a.heads;
    a.bias = a.out_bias = d.block.mlp.bias = c.flag_or("bias", false);
    a.packed = a.causal = true;
    a.rotary = !c.flag_or("alibi", false);
    a.fused = c.fused(true);
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.mlp.inner = c.size_or({"ffn_hidden_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation"}, "gelu");
    d.block.dropout = false;
    // Side by side, the second architecture has a norm for each part, unless it says one.
    const std::int64_t norms = c.size_or({"num_ln_in_parallel_attn"}, grouped ? 2 : 1);
    d.block.one_norm = c.flag_or("parallel_attn", true) && norms == 1;
    return build_decoder(c, name, "falcon", d);
}

}  // namespace

const std::vector<HfFamily>& decoder_families() {
    static const std::vector<HfFamily> families = [] {
        std::vector<HfFamily> all = {
            {"gpt2", build_gpt2},         {"gpt_neo", build_gpt_neo}, {"gptj", build_gptj},
            {"gpt_neox", build_gpt_neox}, {"bloom", build_bloom},     {"opt", build_opt},
            {"mpt", build_mpt},           {"phi", build_phi},         {"falcon", build_falcon}};
        for (const auto* more : {&llama_families(), &more_decoder_families()})
            all.insert(all.end(), more->begin(), more->end());
        return all;
    }();
    return families;
}

}  // namespace dlcast
