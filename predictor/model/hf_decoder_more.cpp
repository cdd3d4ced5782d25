// SPDX-License-Identifier: GPL-2.0-or-later
// More decoder-only families with blocks of their own, by their configuration classes in Hugging Face's transformers:
// those near GPT-2, ChatGLM, DBRX, DeepSeek's latent attention (arXiv:2405.04434, section 2.1) and Mamba's selective
// state spaces (Gu & Dao, arXiv:2312.00752, section 3).
#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/hf_decoder.h"

namespace dlcast {
namespace {

Result<ModelSpec> build_gpt_bigcode(HfConfig& c, const std::string& name) {
    Decoder d = decoder_like_gpt2(c, 1024);
    d.learned_positions = d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", true);
    AttentionOptions& a = d.block.attention;
    a.kv_heads = c.flag_or("multi_query", true) ? 1 : a.heads;
    a.packed = a.dropout = true;
    a.fused = c.fused(true);
    return build_decoder(c, name, "gpt_bigcode", d);
}

// The first GPT: norms behind the parts, none at the end.
Result<ModelSpec> build_openai_gpt(HfConfig& c, const std::string& name) {
    Decoder d = decoder_like_gpt2(c, 512);
    d.learned_positions = d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.final_norm = d.block.pre_norm = false;
    d.block.attention.packed = d.block.attention.dropout = true;
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = 4 * d.width;
    d.block.mlp.activation = "gelu_new";
    return build_decoder(c, name, "gpt2", d);
}

// CTRL: GPT-2's block with norms of its own and untied biases; sines for positions.
Result<ModelSpec> build_ctrl(HfConfig& c, const std::string& name) {
    Decoder d = decoder_like_gpt2(c, 256);
    d.head_bias = d.embedding_dropout = true;
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"dff"}, 4 * d.width);
    d.block.mlp.activation = "relu";
    return build_decoder(c, name, "ctrl", d);
}

Result<ModelSpec> build_codegen(HfConfig& c, const std::string& name) {
    Decoder d = decoder_like_gpt2(c, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.head_bias = true;
    AttentionOptions& a = d.block.attention;
    a.bias = a.out_bias = false;
    a.packed = a.rotary = d.block.one_norm = true;
    a.fused = c.fused(false);
    return build_decoder(c, name, "gptj", d);
}

// XGLM (sines) and BioGPT (learned positions): OPT's block.
Result<ModelSpec> build_xglm(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_layers", "num_hidden_layers"});
    d.width = c.size({"d_model", "hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings"}, c.family == "biogpt" ? 1024 : 2048);
    d.learned_positions = c.family == "biogpt";
    d.position_offset = 2;
    d.tied = c.flag_or("tie_word_embeddings", true);
    d.block.attention.heads = c.size({"attention_heads", "num_attention_heads"});
    d.block.attention.causal = d.block.attention.dropout = true;
    d.block.attention.style = "scaled_query";
    d.block.attention.fused = c.fused(false);
    d.block.mlp.inner = c.size_or({"ffn_dim", "intermediate_size"}, 4 * d.width);
    d.block.mlp.activation = c.text_or({"activation_function", "hidden_act"}, "gelu");
    return build_decoder(c, name, "opt", d);
}

Result<ModelSpec> build_chatglm(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"padded_vocab_size", "vocab_size"});
    d.positions = c.size_or({"seq_length"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.block.norm_bias = !c.flag_or("rmsnorm", true);
    d.block.norm = d.block.norm_bias ? LayerKind::layer_norm : LayerKind::rms_norm;
    d.block.dropout = false;
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"num_attention_heads"});
    a.kv_heads = c.flag_or("multi_query_attention", false) ? c.size_or({"multi_query_group_num"}, a.heads) : a.heads;
    a.head_dim = c.size_or({"kv_channels"}, 0);
    a.out_bias = c.flag_or("add_bias_linear", false);
    a.bias = c.flag_or("add_qkv_bias", false) || a.out_bias;
    a.packed = a.rotary = a.causal = true;
    a.fused = c.fused(true);
    d.block.mlp.inner = c.size({"ffn_hidden_size"});
    d.block.mlp.activation = "silu";
    d.block.mlp.gated = true;
    d.block.mlp.bias = a.out_bias;
    return build_decoder(c, name, "llama", d);
}

// Qwen's first generation counts the two halves of its gated MLP as one.
Result<ModelSpec> build_qwen(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"num_hidden_layers"});
    d.width = c.size({"hidden_size"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"seq_length", "max_position_embeddings"}, 8192);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.block.norm = LayerKind::rms_norm;
    d.block.norm_bias = d.block.dropout = false;
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"num_attention_heads"});
    a.head_dim = c.size_or({"kv_channels"}, 0);
    a.out_bias = d.block.mlp.bias = !c.flag_or("no_bias", true);
    a.packed = a.rotary = a.causal = true;
    a.fused = c.fused(true);
    d.block.mlp.inner = std::max<std::int64_t>(1, c.size({"intermediate_size"}) / 2);
    d.block.mlp.activation = "silu";
    d.block.mlp.gated = true;
    return build_decoder(c, name, "llama", d);
}

Result<ModelSpec> build_dbrx(HfConfig& c, const std::string& name) {
    Decoder d;
    d.layers = c.size({"n_layers"});
    d.width = c.size({"d_model"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_seq_len"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", false);
    d.block.norm_bias = d.block.dropout = false;
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"n_heads"});
    a.kv_heads = c.nested_or("attn_config", "kv_n_heads", a.heads);
    a.bias = a.out_bias = false;
    a.packed = a.rotary = a.causal = true;
    a.fused = c.fused(true);
    MlpOptions& mlp = d.block.mlp;
    mlp.inner = c.nested_or("ffn_config", "ffn_hidden_size", 3584);
    mlp.experts = c.nested_or("ffn_config", "moe_num_experts", 4);
    mlp.active_experts = c.nested_or("ffn_config", "moe_top_k", 1);
    mlp.activation = "silu";
    mlp.gated = true;
    mlp.bias = false;
    return build_decoder(c, name, "llama", d);
}

// Queries, and keys with values, pass a narrow latent with a norm; the last part of a key turns with its position and
// is shared by all heads.
struct Latent {
    std::int64_t heads, query_rank, key_rank, plain, rotary, value;
    bool bias = false;  // of the products into the latents and out of the attention
};

void add_latent_attention(ModelBuilder& b, const std::string& at, const Latent& l, bool fused) {
    const Shape in = b.shape();
    const std::int64_t tokens = in[0], d = l.plain + l.rotary;
    if (l.query_rank > 0) {
        b.linear(at + ".q_a", l.query_rank, l.bias);
        b.norm(at + ".q_a.norm", LayerKind::rms_norm, false);
    }
    b.linear(at + ".q", l.heads * d, false);
    b.continue_from(in);
    b.linear(at + ".kv_a", l.key_rank + l.rotary, l.bias);
    b.continue_from({tokens, l.key_rank});
    b.norm(at + ".kv_a.norm", LayerKind::rms_norm, false);
    b.linear(at + ".kv", l.heads * (l.plain + l.value), false);
    b.continue_from({tokens, l.heads * l.rotary + l.rotary});
    b.activation(at + ".rope", "rope");
    b.continue_from({tokens, l.heads * d});
    Layer& scores = b.attention(at + ".scores", l.heads, l.heads, d);
    scores.causal = true;
    scores.fused = fused;
    b.continue_from({tokens, l.heads * l.value});
    b.linear(at + ".out", in[1], l.bias);
}

Result<ModelSpec> build_deepseek(HfConfig& c, const std::string& name) {
    const std::int64_t layers = c.size({"num_hidden_layers"}), width = c.size({"hidden_size"}),
                       vocab = c.size({"vocab_size"});
    const std::int64_t heads = c.size({"num_attention_heads"});
    c.size_or({"num_key_value_heads"}, heads);  // no matter: the latent serves all heads
    // MiniCPM3 writes none.
    const std::int64_t value = c.guessed ? std::max<std::int64_t>(1, width / heads) : 128;
    const Latent latent{heads,
                        c.size_or({"q_lora_rank"}, 0),
                        c.size_or({"kv_lora_rank"}, 512),
                        c.size_or({"qk_nope_head_dim"}, 128),
                        c.size_or({"qk_rope_head_dim"}, 64),
                        c.size_or({"v_head_dim"}, value),
                        c.flag_or("attention_bias", false)};
    MlpOptions dense, sparse;
    dense.inner = c.size({"intermediate_size"});
    dense.activation = sparse.activation = c.text_or({"hidden_act"}, "silu");
    dense.gated = sparse.gated = true;
    dense.bias = sparse.bias = false;
    sparse.inner = std::max<std::int64_t>(1, c.size_or({"moe_intermediate_size"}, 1407));
    sparse.experts = c.size_or({"n_routed_experts"}, 0);
    sparse.active_experts = std::max<std::int64_t>(1, c.size_or({"num_experts_per_tok"}, 6));
    sparse.shared = c.size_or({"n_shared_experts"}, 0) * sparse.inner;
    const std::int64_t first_sparse = c.size_or({"first_k_dense_replace"}, 0);
    const std::int64_t every = std::max<std::int64_t>(1, c.size_or({"moe_layer_freq"}, 1));
    const bool tied = c.flag_or("tie_word_embeddings", false), fused = c.fused(true);
    const std::int64_t tokens = c.tokens(c.size_or({"max_position_embeddings"}, 2048));
    if (c.failed()) return invalid_argument("incomplete");
    if (latent.plain < 1 || latent.rotary < 1 || latent.value < 1 || latent.key_rank < 1)
        return invalid_argument("the parts of its heads should be at least 1 wide");
    ModelBuilder b({tokens});
    b.embedding("embed.tokens", vocab, width);
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("h.{}", i);
        b.set_block(static_cast<int>(i));
        b.norm(at + ".attn.norm", LayerKind::rms_norm, false);
        add_latent_attention(b, at + ".attn", latent, fused);
        b.add(at + ".attn.add");
        b.norm(at + ".mlp.norm", LayerKind::rms_norm, false);
        const std::size_t router = b.size();
        const bool routed = i >= first_sparse && i % every == 0 && sparse.experts > 0;
        add_mlp(b, at + ".mlp", routed ? sparse : dense);
        // The third generation chooses experts by scores with a bias of their own.
        if (routed && c.family == "deepseek_v3" && !b.failed())
            b.add_parameters(b.layer(router), static_cast<double>(sparse.experts));
        b.add(at + ".mlp.add");
    }
    b.set_block(-1);
    b.norm("norm", LayerKind::rms_norm, false);
    add_decoder_head(b, c, vocab, tied);
    auto model = b.finish(name, "deepseek");
    if (model) model->seq_len = tokens;
    return model;
}

// The scan itself reads and writes its state once for each token where one kernel does it.
Result<ModelSpec> build_mamba(HfConfig& c, const std::string& name) {
    const std::int64_t layers = c.size({"num_hidden_layers", "n_layer"}), width = c.size({"hidden_size", "d_model"}),
                       vocab = c.size({"vocab_size"});
    const std::int64_t inner = c.size_or({"intermediate_size"}, c.size_or({"expand"}, 2) * width);
    const std::int64_t state = c.size_or({"state_size"}, 16), kernel = c.size_or({"conv_kernel"}, 4);
    const std::int64_t rank = c.size_or({"time_step_rank"}, (width + 15) / 16);
    const bool bias = c.flag_or("use_bias", false), conv_bias = c.flag_or("use_conv_bias", true);
    const std::int64_t tokens = c.tokens(2048);
    if (c.failed()) return invalid_argument("incomplete");
    if (inner < 1 || state < 1 || kernel < 1 || rank < 1) return invalid_argument("its sizes should be at least 1");
    ModelBuilder b({tokens});
    b.embedding("embed.tokens", vocab, width);
    for (std::int64_t i = 0; i < layers && !b.failed(); ++i) {
        const std::string at = fmt::format("h.{}", i);
        const Shape in = b.shape();
        b.set_block(static_cast<int>(i));
        b.norm(at + ".norm", LayerKind::rms_norm, false);
        b.linear(at + ".in", 2 * inner, bias);
        b.continue_from({inner, tokens, 1});
        Window w;
        w.kernel_h = kernel;
        w.same = true;
        b.conv(at + ".conv", inner, w, conv_bias, inner);
        b.activation(at + ".act", "silu");
        b.reshape(at + ".turn", {tokens, inner});
        b.linear(at + ".x", rank + 2 * state, false);
        b.continue_from({tokens, rank});
        b.linear(at + ".dt", inner, true);
        b.add_parameters(b.multiply(at + ".scan"), static_cast<double>(inner) * static_cast<double>(state + 1));
        b.multiply(at + ".gate");
        b.linear(at + ".out", width, bias);
        b.continue_from(in);
        b.add(at + ".add");
    }
    b.set_block(-1);
    b.norm("norm", LayerKind::rms_norm, false);
    add_decoder_head(b, c, vocab, c.flag_or("tie_word_embeddings", true));
    auto model = b.finish(name, "mamba");
    if (model) model->seq_len = tokens;
    return model;
}

}  // namespace

const std::vector<HfFamily>& more_decoder_families() {
    static const std::vector<HfFamily> families = {{"gpt_bigcode", build_gpt_bigcode},
                                                   {"openai-gpt", build_openai_gpt},
                                                   {"ctrl", build_ctrl},
                                                   {"codegen", build_codegen},
                                                   {"xglm", build_xglm},
                                                   {"biogpt", build_xglm},
                                                   {"chatglm", build_chatglm},
                                                   {"qwen", build_qwen},
                                                   {"dbrx", build_dbrx},
                                                   {"deepseek_v2", build_deepseek},
                                                   {"deepseek_v3", build_deepseek},
                                                   {"mamba", build_mamba},
                                                   {"falcon_mamba", build_mamba}};
    return families;
}

}  // namespace dlcast
