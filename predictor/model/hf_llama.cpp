// SPDX-License-Identifier: GPL-2.0-or-later
// LLaMA (Touvron et al., arXiv:2302.13971) and the many families that differ from it in a few switches, by their
// configuration classes in Hugging Face's transformers.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

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
    LayerKind qk_norm_kind = LayerKind::rms_norm;
    bool qk_norm_bias = false, qk_norm_standard = false;  // by "qk_layernorm" or "use_qk_norm", where those are silent
    bool qk_norm_by_head = false;                         // each head has weights of its own
    std::int64_t head_dim = 0;                            // where the config is silent; 0: width / heads
    bool packed = false;
    bool bias_standard = false, mlp_bias_standard = false;  // where the config is silent
    const char* out_bias_key = nullptr;                     // if not bias_key
    bool inner_norms = false;                               // before the last product of each part
    bool sinks = false, router_bias = false;
    double activation_learns = 0;
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
    for (const char* type : {"llama", "yi", "deepseek", "exaone", "olmoe", "granite", "granitemoe", "aquila"})
        add(type, same);
    for (const char* type : {"mistral", "mixtral", "ministral", "mistral3_text"})
        add(type, [](Traits& t) { t.qkv = t.out = Bias::none; });
    for (const char* type : {"smollm3", "minicpm"}) add(type, [](Traits& t) { t.tied = true; });
    add("internlm", [](Traits& t) {
        t.bias_key = "bias";
        t.bias_standard = true;
    });
    add("seed_oss", [](Traits& t) {
        t.bias_standard = true;
        t.out_bias_key = "attention_out_bias";
        t.head_dim = 128;
    });
    add("gpt_oss", [](Traits& t) {
        t.bias_standard = t.mlp_bias_standard = t.sinks = t.router_bias = true;
        t.head_dim = 64;
    });
    add("llama4_text", [](Traits& t) { t.head_dim = 128; });
    add("ernie4_5", [](Traits& t) {
        t.bias_key = t.mlp_bias_key = "use_bias";
        t.tied = true;
        t.head_dim = 128;
    });
    add("helium", [](Traits& t) {
        t.out = Bias::none;
        t.head_dim = 128;
    });
    add("bitnet", [](Traits& t) {
        t.inner_norms = true;
        t.activation = "relu2";
    });
    // Its activation learns how steep both sides are (arXiv:2411.13010).
    add("apertus", [](Traits& t) {
        t.qk_norm = true;
        t.gated = false;
        t.activation = "xielu";
        t.activation_learns = 2;
    });
    add("glm4_moe", [](Traits& t) {
        t.out = Bias::none;
        t.head_dim = 128;
    });
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
    add("phi3", [](Traits& t) {
        t.qkv = t.out = Bias::none;
        t.packed = true;
    });
    add("internlm2", [](Traits& t) {
        t.bias_key = "bias";
        t.packed = true;
    });
    add("phimoe", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = true;
    });
    add("stablelm", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = true;
        t.bias_key = "use_qkv_bias";
        t.out = Bias::none;
        t.qk_norm_kind = LayerKind::layer_norm;
        t.qk_norm_by_head = true;
    });
    add("starcoder2", [](Traits& t) {
        t.norm = LayerKind::layer_norm;
        t.norm_bias = t.tied = true;
        t.bias_key = t.mlp_bias_key = "use_bias";
        t.bias_standard = t.mlp_bias_standard = true;
        t.gated = false;
        t.activation = "gelu_new";
    });
    for (const char* type : {"cohere", "cohere2"})
        add(type, [](Traits& t) {
            t.norm = t.qk_norm_kind = LayerKind::layer_norm;
            t.tied = t.parallel = t.qk_norm_by_head = true;
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
        t.norm = t.qk_norm_kind = LayerKind::layer_norm;
        t.norm_bias = t.packed = t.qk_norm_bias = t.qk_norm_standard = true;
        t.qkv = t.out = Bias::always;
        t.mlp_bias_standard = true;
        t.gated = false;
        t.activation = "relu";
    });
    for (const char* type : {"glm", "glm4"})
        add(type, [&](Traits& t) {
            t.out = Bias::none;
            t.bias_standard = true;
            t.head_dim = 128;
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

bool has_bias(HfConfig& c, Bias bias, const char* key, bool standard) {
    return bias == Bias::always || (bias == Bias::by_config && c.flag_or(key, standard));
}

// Llama 4: one expert for each token, beside one as wide that sees all; layers between have a wider part for all.
void read_llama4_experts(HfConfig& c, Decoder& d) {
    MlpOptions& mlp = d.block.mlp;
    const std::int64_t dense = std::max<std::int64_t>(1, c.size_or({"intermediate_size_mlp"}, 16384));
    const std::int64_t every = std::max<std::int64_t>(1, c.size_or({"interleave_moe_layer_step"}, 1));
    const auto listed = c.list("moe_layers", 0);
    mlp.experts = c.size_or({"num_local_experts"}, 16);
    mlp.active_experts = std::max<std::int64_t>(1, c.size_or({"num_experts_per_tok"}, 1));
    mlp.shared = mlp.inner;
    d.vary = [dense, every, listed](std::int64_t layer, BlockOptions& block) {
        const bool sparse =
            listed ? std::find(listed->begin(), listed->end(), layer) != listed->end() : (layer + 1) % every == 0;
        if (sparse) return;
        block.mlp.experts = block.mlp.shared = 0;
        block.mlp.inner = dense;
    };
}

// Of others a number of experts in the config is one of no effect; a family that is not known may have them.
bool may_have_experts(HfConfig& c) {
    constexpr std::string_view families[] = {"mixtral", "qwen2_moe", "qwen3_moe", "olmoe",    "granitemoe",
                                             "phimoe",  "gpt_oss",   "glm4_moe",  "deepseek", "minicpm"};
    if (c.guessed || std::find(std::begin(families), std::end(families), c.family) != std::end(families)) return true;
    for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"})
        if (c.size_or({key}, 0) > 0)
            c.assumed.push_back(fmt::format("{} of the config is left out ({} has no experts)", key, c.family));
    return false;
}

void read_experts(HfConfig& c, Decoder& d) {
    if (c.family == "llama4_text") return read_llama4_experts(c, d);
    if (!may_have_experts(c)) return;
    MlpOptions& mlp = d.block.mlp;
    mlp.experts = c.size_or({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0);
    if (mlp.experts == 0) return;
    const std::int64_t standard = c.family == "qwen2_moe" || c.family == "gpt_oss"                           ? 4
                                  : c.family == "qwen3_moe" || c.family == "glm4_moe" || c.family == "olmoe" ? 8
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
    // One layer of so many has experts, or a list says which.
    const Value* kinds = c.value("moe_layer_freq");
    const auto listed = kinds && kinds->is_array() ? c.list("moe_layer_freq", 0) : std::nullopt;
    const std::int64_t frequency = listed ? 1 : std::max<std::int64_t>(1, c.size_or({"moe_layer_freq"}, 1));
    auto dense_layers = c.list("mlp_only_layers", 0).value_or(std::vector<std::int64_t>{});
    if (listed)
        for (std::size_t i = 0; i < listed->size(); ++i)
            if ((*listed)[i] == 0) dense_layers.push_back(static_cast<std::int64_t>(i));
    d.vary = [first_dense, every, frequency, dense, dense_layers](std::int64_t layer, BlockOptions& block) {
        const bool named = std::find(dense_layers.begin(), dense_layers.end(), layer) != dense_layers.end();
        if (layer >= first_dense && (layer + 1) % every == 0 && layer % frequency == 0 && !named) return;
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
    a.bias = has_bias(c, t.qkv, t.bias_key, t.bias_standard);
    if (c.family == "qwen2_moe") a.bias = c.flag_or("qkv_bias", true);
    if (t.qkv == Bias::by_config) a.bias = c.flag_or("qkv_bias", a.bias);
    a.out_bias = t.out_bias_key ? c.flag_or(t.out_bias_key, false) : has_bias(c, t.out, t.bias_key, t.bias_standard);
    a.packed = t.packed;
    const bool normed = c.flag_or("use_qk_norm", false) || c.flag_or("qk_layernorm", t.qk_norm_standard);
    a.qk_norm = t.qk_norm || (normed && c.family != "llama4_text");  // Llama 4's has no weights
    a.wide_qk_norm = t.wide_qk_norm || c.family == "olmoe" || (normed && t.qk_norm_by_head);
    a.qk_norm_kind = t.qk_norm_kind;
    a.qk_norm_bias = t.qk_norm_bias;
    a.out_norm = t.inner_norms;
    a.sinks = t.sinks;
    a.rotary = a.causal = true;
    a.fused = c.fused(true);
    d.block.mlp.inner = c.size({"intermediate_size", "ffn_hidden_size"});
    d.block.mlp.activation = c.text_or({"hidden_act", "hidden_activation", "activation_function"}, t.activation);
    d.block.mlp.gated = t.gated;
    d.block.mlp.bias = c.flag_or(t.mlp_bias_key, t.mlp_bias_standard);
    d.block.mlp.router_bias = t.router_bias;
    d.block.mlp.inner_norm = t.inner_norms;
    d.block.mlp.activation_learns = d.block.mlp.activation == "xielu" ? t.activation_learns : 0;
    read_experts(c, d);
    read_windows(c, d);
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
