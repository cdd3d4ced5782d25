// SPDX-License-Identifier: GPL-2.0-or-later
// Decoder-only language models, by their configuration classes in Hugging Face's transformers.
#include <fmt/format.h>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {
namespace {

struct Decoder {
    std::int64_t layers = 0, vocab = 0, width = 0;
    std::int64_t positions = 0;        // what the model allows
    std::int64_t position_offset = 0;  // rows before the first position
    bool learned_positions = false;
    bool embedding_norm = false, final_norm = true;
    bool embedding_dropout = false;
    std::int64_t embedding = 0;  // width of the token table, if not the model's
    bool tied = true, head_bias = false;
    BlockOptions block;
};

Result<ModelSpec> build(HfConfig& c, const std::string& name, const std::string& family, const Decoder& d) {
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
    for (int i = 0; i < d.layers && !b.failed(); ++i) {
        b.set_block(i);
        add_block(b, fmt::format("h.{}", i), d.block);
    }
    b.set_block(-1);
    if (d.final_norm) b.norm("norm", d.block.norm, d.block.norm_bias);
    if (embedding != d.width) b.linear("project_out", embedding, false);
    if (c.options.task == "classification" || c.is_for("ForSequenceClassification")) {
        b.set_head(true);
        b.reshape("last", {b.shape().back()});
        b.linear("score", c.options.classes > 0 ? c.options.classes : 2, false);
        b.loss("loss");
    } else if (c.options.task != "features") {
        add_lm_head(b, d.vocab, d.tied, d.head_bias);
    }
    auto model = b.finish(name, family);
    if (model) model->seq_len = tokens;
    return model;
}

Result<ModelSpec> build_gpt2(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layer"});
    d.width = c.size({"n_embd"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"n_positions"}, 1024);
    d.learned_positions = d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.attention.heads = c.size({"n_head"});
    d.block.attention.packed = d.block.attention.causal = d.block.attention.dropout = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"n_inner"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "gelu_new");
    // Frameworks of their own bring a fused GELU.
    if (c.options.framework.find("megatron") != std::string::npos || d.block.attention.fused)
        d.block.mlp.activation = "gelu";
    return build(c, name, "gpt2", d);
}

// GPT-Neo alternates local attention, of the same cost with eager kernels; it ties its head and has no query bias.
Result<ModelSpec> build_gpt_neo(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    d.learned_positions = d.embedding_dropout = true;
    d.block.attention.heads = c.size({"num_heads"});
    d.block.attention.bias = false;
    d.block.attention.causal = d.block.attention.dropout = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "gelu_new");
    return build(c, name, "gpt_neo", d);
}

Result<ModelSpec> build_gptj(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layer"});
    d.width = c.size({"n_embd"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"n_positions"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.head_bias = true;
    d.block.attention.heads = c.size({"n_head"});
    d.block.attention.bias = d.block.attention.out_bias = false;
    d.block.attention.rotary = d.block.attention.causal = d.block.one_norm = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"n_inner"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "gelu_new");
    return build(c, name, "gptj", d);
}

// One norm feeds attention and MLP side by side, as in GPT-J, but every product has a bias.
Result<ModelSpec> build_phi(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.head_bias = true;
    d.block.attention.heads = c.size({"num_attention_heads"});
    d.block.attention.kv_heads = c.size_or({"num_key_value_heads"}, d.block.attention.heads);
    d.block.attention.rotary = d.block.attention.causal = d.block.one_norm = true;
    d.block.attention.fused = c.fused(true);
    d.block.mlp.inner = c.size_or({"intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"hidden_act"}, "gelu_new");
    return build(c, name, "phi", d);
}

Result<ModelSpec> build_gpt_neox(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.block.attention.heads = c.size({"num_attention_heads"});
    d.block.attention.packed = d.block.attention.rotary = d.block.attention.causal = true;
    d.block.attention.fused = c.fused(true);
    d.block.mlp.inner = c.size_or({"intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"hidden_act"}, "gelu");
    d.block.dropout = false;
    return build(c, name, "gpt_neox", d);
}

Result<ModelSpec> build_bloom(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layer", "num_hidden_layers"});
    d.width = c.size({"hidden_size", "n_embd"});
    d.vocab = c.size({"vocab_size"});
    d.positions = 2048;
    d.embedding_norm = true;
    d.block.attention.heads = c.size({"n_head", "num_attention_heads"});
    d.block.attention.packed = d.block.attention.causal = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = 4 * d.width;
    return build(c, name, "bloom", d);
}

Result<ModelSpec> build_opt(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    d.learned_positions = true;
    d.position_offset = 2;
    d.embedding = c.size_or({"word_embed_proj_dim"}, d.width);
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.pre_norm = d.final_norm = c.flag_or("do_layer_norm_before", true);
    d.block.attention.heads = c.size({"num_attention_heads"});
    d.block.attention.causal = true;
    d.block.attention.dropout = true;
    d.block.attention.style = "scaled_query";
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"ffn_dim"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function"}, "relu");
    return build(c, name, "opt", d);
}

Result<ModelSpec> build_llama(HfConfig& c, const std::string& name) {
    const bool qwen = c.family.starts_with("qwen");
    Decoder d;
    d.layers = c.size({"num_hidden_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.block.norm = LayerKind::rms_norm;
    d.block.norm_bias = d.block.dropout = false;
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"num_attention_heads"});
    a.kv_heads = c.size_or({"num_key_value_heads"}, a.heads);
    a.head_dim = c.size_or({"head_dim"}, 0);
    a.out_bias = c.flag_or("attention_bias", false);
    a.bias = a.out_bias || qwen;
    a.rotary = a.causal = true;
    a.fused = c.fused(true);
    d.block.mlp.inner = c.size({"intermediate_size"});
    d.block.mlp.activation = c.text_or({"hidden_act", "hidden_activation"}, "silu");
    d.block.mlp.gated = true;
    d.block.mlp.bias = c.flag_or("mlp_bias", false);
    d.block.mlp.experts = c.size_or({"num_local_experts"}, 0);
    d.block.mlp.active_experts = std::max<std::int64_t>(1, c.size_or({"num_experts_per_tok"}, 2));
    return build(c, name, "llama", d);
}

Result<ModelSpec> build_mpt(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layers"});
    d.width = c.size({"d_model"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_seq_len"}, 2048);
    const bool bias = !c.flag_or("no_bias", true);
    d.block.norm_bias = bias;
    d.block.dropout = false;
    d.block.attention.heads = c.size({"n_heads"});
    d.block.attention.bias = d.block.attention.out_bias = bias;
    d.block.attention.packed = d.block.attention.causal = true;
    d.block.attention.fused = c.fused(true);
    d.block.mlp.bias = bias;
    d.block.mlp.inner = c.size_or({"expansion_ratio"}, 4) * d.width;
    return build(c, name, "mpt", d);
}

Result<ModelSpec> build_falcon(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers", "n_layer"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, 2048);
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"num_attention_heads", "n_head"});
    const bool grouped = c.flag_or("new_decoder_architecture", false);
    a.kv_heads = grouped ? c.size_or({"num_kv_heads"}, a.heads) : c.flag_or("multi_query", true) ? 1 : a.heads;
    a.bias = a.out_bias = d.block.mlp.bias = c.flag_or("bias", false);
    a.packed = a.rotary = a.causal = true;
    a.fused = c.fused(true);
    d.block.mlp.inner = 4 * d.width;
    d.block.dropout = false;
    d.block.one_norm = !grouped && c.flag_or("parallel_attn", true);
    return build(c, name, "falcon", d);
}

}  // namespace

const std::vector<HfFamily>& decoder_families() {
    static const std::vector<HfFamily> families = {
        {"gpt2", build_gpt2},     {"gpt_neo", build_gpt_neo}, {"gptj", build_gptj},   {"gpt_neox", build_gpt_neox},
        {"bloom", build_bloom},   {"opt", build_opt},         {"llama", build_llama}, {"mistral", build_llama},
        {"mixtral", build_llama}, {"qwen2", build_llama},     {"mpt", build_mpt},     {"phi", build_phi},
        {"falcon", build_falcon}};
    return families;
}

}  // namespace dlcast
