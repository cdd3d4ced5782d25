// SPDX-License-Identifier: GPL-2.0-or-later
// LLaMA (Touvron et al., arXiv:2302.13971) and the many families that differ from it in a few switches, by their
// configuration classes in Hugging Face's transformers.
#include <fmt/format.h>

#include <algorithm>

#include "predictor/model/hf_decoder.h"

namespace dlcast {
namespace {

enum class Bias { none, by_config, always };

// What sets a family apart; the first values are LLaMA's.
struct Traits {
    const char* type;
    Bias qkv = Bias::by_config;
    Bias out = Bias::by_config;
    const char* bias_key = "attention_bias";
    const char* mlp_bias_key = "mlp_bias";
    bool gated = true;
    const char* activation = "silu";
    LayerKind norm = LayerKind::rms_norm;
    bool norm_bias = false, norm_weight = true;
    bool tied = false;      // where the config is silent
    bool parallel = false;  // attention and MLP side by side
    bool pre_norm = true;
    bool both_norms = false;  // before and behind each part
    bool qk_norm = false, wide_qk_norm = false;
    std::int64_t head_dim = 0;  // where the config is silent; 0: width / heads
    bool packed = false;
};

constexpr Traits plain(const char* type) {
    Traits t{};
    t.type = type;
    return t;
}

std::vector<Traits> make_traits() {
    std::vector<Traits> all;
    const auto add = [&](const char* type, auto&& change) {
        all.push_back(plain(type));
        change(all.back());
    };
    const auto same = [](Traits&) {};
    for (const char* type :
         {"llama",    "mistral",       "mixtral",    "yi",     "internlm", "deepseek", "minicpm",   "exaone",
          "olmoe",    "granite",       "granitemoe", "aquila", "seed_oss", "smollm3",  "ministral", "gpt_oss",
          "ernie4_5", "mistral3_text", "helium",     "bitnet", "apertus"})
        add(type, same);
    for (const char* type : {"qwen2", "qwen2_moe", "qwen2_vl_text", "qwen2_5_vl_text"})
        add(type, [](Traits& t) {
            t.qkv = Bias::always;
            t.out = Bias::none;
        });
    for (const char* type : {"qwen3", "qwen3_moe"})
        add(type, [](Traits& t) {
            t.qk_norm = true;
            t.head_dim = 128;
        });
    for (const char* type : {"gemma", "gemma2", "gemma3_text"})
        add(type, [&](Traits& t) {
            const std::string name = type;
            t.tied = true;
            t.activation = "gelu_new";
            t.head_dim = 256;
            t.both_norms = name != "gemma";
            t.qk_norm = name == "gemma3_text";
        });
    for (const char* type : {"phi3", "internlm2"}) add(type, [](Traits& t) { t.packed = true; });
    add("phimoe", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = true;
    });
    add("stablelm", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = true;
        t.bias_key = "use_qkv_bias";
        t.out = Bias::none;
    });
    add("starcoder2", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = t.tied = true;
        t.bias_key = t.mlp_bias_key = "use_bias";
        t.gated = false;
        t.activation = "gelu_new";
    });
    for (const char* type : {"cohere", "cohere2"})
        add(type, [](Traits& t) {
            t.norm = LayerKind::layer_norm;
            t.tied = t.parallel = true;
        });
    add("olmo", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_weight = false;
    });
    for (const char* type : {"olmo2", "olmo3"})
        add(type, [](Traits& t) {
            t.pre_norm = false;
            t.wide_qk_norm = true;
        });
    add("nemotron", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = true;
        t.gated = false;
        t.activation = "relu";
    });
    add("persimmon", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = t.packed = true;
        t.qkv = t.out = Bias::always;
        t.gated = false;
        t.activation = "relu";
    });
    for (const char* type : {"glm", "glm4"})
        add(type, [&](Traits& t) {
            t.out = Bias::none;
            t.both_norms = std::string(type) == "glm4";
        });
    add("baichuan", [](Traits& t) { t.packed = true; });
    add("arcee", [](Traits& t) {
        t.gated = false;
        t.activation = "relu";
    });
    return all;
}

const std::vector<Traits>& traits() {
    static const std::vector<Traits> all = make_traits();
    return all;
}

Traits traits_of(const std::string& family) {
    for (const Traits& t : traits())
        if (family == t.type) return t;
    return plain("llama");
}

bool has_bias(HfConfig& c, Bias bias, const Traits& t, const std::string& family) {
    // Families whose code has the bias unless the config says no.
    const bool standard =
        family == "gpt_oss" || family == "starcoder2" || family == "glm" || family == "glm4" || family == "seed_oss";
    return bias == Bias::always || (bias == Bias::by_config && c.flag_or(t.bias_key, standard));
}

void read_experts(HfConfig& c, Decoder& d) {
    MlpOptions& mlp = d.block.mlp;
    mlp.experts = c.size_or({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0);
    if (mlp.experts == 0) return;
    const std::int64_t standard = c.family == "qwen2_moe" || c.family == "gpt_oss" ? 4
                                  : c.family == "qwen3_moe" || c.family == "olmoe" ? 8
                                                                                   : 2;
    mlp.active_experts = std::max<std::int64_t>(1, c.size_or({"num_experts_per_tok", "moe_k", "moe_top_k"}, standard));
    const std::int64_t dense = mlp.inner;
    mlp.inner = std::max<std::int64_t>(1, c.size_or({"moe_intermediate_size"}, dense));
    mlp.shared = c.size_or({"shared_expert_intermediate_size", "shared_intermediate_size"}, 0);
    mlp.shared_gate = mlp.shared > 0 && c.family == "qwen2_moe";
    if (const std::int64_t count = c.size_or({"n_shared_experts", "moe_num_shared_experts"}, 0); count > 0)
        mlp.shared = count * mlp.inner;
    const std::int64_t first_dense = c.size_or({"first_k_dense_replace"}, 0);
    const std::int64_t every = std::max<std::int64_t>(1, c.size_or({"decoder_sparse_step"}, 1));
    d.vary = [first_dense, every, dense](std::int64_t layer, BlockOptions& block) {
        if (layer >= first_dense && (layer + 1) % every == 0) return;
        block.mlp.experts = block.mlp.shared = 0;
        block.mlp.inner = dense;
    };
}

}  // namespace

Result<ModelSpec> build_llama(HfConfig& c, const std::string& name) {
    const Traits t = traits_of(c.family);
    Decoder d;
    d.layers = c.size({"num_hidden_layers", "num_layers", "n_layer"});
    d.width = c.size({"hidden_size", "n_embd"});
    d.vocab = c.size({"vocab_size"});
    d.positions = c.size_or({"max_position_embeddings", "model_max_length"}, 2048);
    d.tied = c.flag_or("tie_word_embeddings", t.tied);
    d.norm_weight = t.norm_weight;
    d.head_bias = c.flag_or("lm_head_bias", false);
    d.block.norm = t.norm;
    d.block.norm_bias = t.norm_bias;
    d.block.dropout = false;
    d.block.pre_norm = t.pre_norm;
    d.block.both_norms = t.both_norms;
    d.block.one_norm = t.parallel || c.flag_or("use_parallel_residual", false);
    AttentionOptions& a = d.block.attention;
    a.heads = c.size({"num_attention_heads", "n_head"});
    a.kv_heads = c.size_or({"num_key_value_heads"}, a.heads);
    a.head_dim = c.size_or({"head_dim"}, t.head_dim);
    a.bias = has_bias(c, t.qkv, t, c.family);
    a.out_bias = has_bias(c, t.out, t, c.family);
    a.packed = t.packed;
    a.qk_norm = t.qk_norm || c.flag_or("use_qk_norm", false) || c.flag_or("qk_layernorm", false);
    a.wide_qk_norm = t.wide_qk_norm || c.family == "olmoe";
    a.rotary = a.causal = true;
    a.fused = c.fused(true);
    d.block.mlp.inner = c.size({"intermediate_size", "ffn_hidden_size"});
    d.block.mlp.activation = c.text_or({"hidden_act", "hidden_activation"}, t.activation);
    d.block.mlp.gated = t.gated;
    d.block.mlp.bias =
        c.flag_or(t.mlp_bias_key, c.family == "starcoder2" || c.family == "persimmon" || c.family == "gpt_oss");
    read_experts(c, d);
    return build_decoder(c, name, "llama", d);
}

const std::vector<HfFamily>& llama_families() {
    static const std::vector<HfFamily> families = [] {
        std::vector<HfFamily> all;
        for (const Traits& t : traits()) all.push_back({t.type, build_llama});
        return all;
    }();
    return families;
}

}  // namespace dlcast
