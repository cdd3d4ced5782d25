// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/hf_unknown.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "predictor/base/json.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// The kinds of the layers, where one is no attention.
bool lists_other_layers(const Value& kinds) {
    if (!kinds.is_array()) return false;
    return std::any_of(kinds.as_array().begin(), kinds.as_array().end(), [](const Value& kind) {
        return kind.is_string() &&
               !is_one_of(kind.as_string(), {"full_attention", "sliding_attention", "chunked_attention", "attention",
                                             "global_attention", "local_attention", "global", "local"});
    });
}

bool has_zero(const Value& list) {
    return list.is_array() && std::any_of(list.as_array().begin(), list.as_array().end(), [](const Value& kind) {
               return kind.is_integer() && kind.as_integer() == 0;
           });
}

}  // namespace

const Value::Member* other_layers(const Value& config) {
    // Falcon-H1's layers are all of both kinds, whatever its list says.
    for (const Value::Member& member : config.as_object())
        if (member.key == "mamba_d_ssm" && !member.value.is_null()) return &member;
    // Granite 4's dense models carry the sizes of state spaces that none of their layers has.
    const Value* kinds = config.find("layer_types");
    const bool unused = kinds && kinds->is_array() && !lists_other_layers(*kinds);
    for (const Value::Member& member : config.as_object()) {
        const std::string_view key = member.key;
        if (member.value.is_null() || (unused && key.starts_with("mamba_"))) continue;
        if (is_one_of(key, {"layer_types", "block_types", "layers_block_type"})) {
            if (lists_other_layers(member.value)) return &member;
        } else if (key == "attn_type_list") {  // 0: linear attention
            if (has_zero(member.value)) return &member;
        } else if (key.starts_with("mamba_") || key.starts_with("ssm_") || key.starts_with("lru_") ||
                   key.starts_with("linear_conv") || key.starts_with("linear_num_") || key.starts_with("linear_key_") ||
                   key.starts_with("linear_value_") || key.starts_with("linear_attn") ||
                   is_one_of(
                       key, {"attn_layer_period", "attn_layer_offset", "attn_layer_indices", "full_attn_idxs",
                             "full_attention_interval", "conv_L_cache", "time_step_rank", "time_step_min", "state_size",
                             "hybrid_override_pattern", "hybrid_layer_ids", "use_mamba_kernels", "hyena_layer_idxs"})) {
            return &member;
        }
    }
    return nullptr;
}

const char* nearest_design(const Value& config) {
    const auto has = [&](const char* key) {
        const Value* value = config.find(key);
        return value && !value->is_null();
    };
    if (!has("hidden_size") || !has("num_hidden_layers") || !has("num_attention_heads") || !has("vocab_size"))
        return nullptr;
    if (has("kv_lora_rank") && has("intermediate_size")) return "deepseek_v3";
    const bool gated = has("num_key_value_heads") || has("rms_norm_eps") || has("rope_theta");
    const Value* names = config.find("architectures");
    bool causal = has("num_key_value_heads");
    if (names && names->is_array())
        for (const Value& name : names->as_array())
            if (name.is_string() && name.as_string().ends_with("ForCausalLM")) causal = true;
    return causal ? (gated && has("intermediate_size") ? "llama" : "gpt_neox") : "bert";
}

bool may_change_network(const Value::Member& member) {
    const Value& value = member.value;
    const std::string_view key = member.key;
    if (!value.is_number() && !value.is_bool() && !value.is_array()) return false;
    if (value.is_array() && !std::all_of(value.as_array().begin(), value.as_array().end(),
                                         [](const Value& one) { return one.is_number() || one.is_bool(); }))
        return is_one_of(key, {"layer_types", "block_types", "layers_block_type"});
    if (contains_any(key,
                     {"token_id",    "_idx",    "dropout", "drop_rate",   "pdrop",     "initializer", "init_std",
                      "_eps",        "epsilon", "rope",    "rotary",      "coef",      "loss",        "temperature",
                      "beam",        "penalty", "cache",   "return_dict", "output_",   "label",       "softcap",
                      "z_weight",    "generat", "sampl",   "capacity",    "routing",   "norm_topk",   "scaling",
                      "multiplier",  "scale_",  "_scale",  "jitter",      "_token",    "num_return",  "quant",
                      "torchscript", "_std",    "theta",   "max_length",  "min_length"}) ||
        key.starts_with("_") || key.starts_with("use_flash") || key.starts_with("top_") || key.starts_with("do_") ||
        key.starts_with("max_") || key.starts_with("mamba_"))
        return false;
    return !is_one_of(key, {"is_decoder",
                            "is_encoder_decoder",
                            "chunk_size_feed_forward",
                            "pretraining_tp",
                            "tf_legacy_loss",
                            "tie_encoder_decoder",
                            "max_position_embeddings",
                            "pruned_heads",
                            "no_repeat_ngram_size",
                            "encoder_no_repeat_ngram_size",
                            "remove_invalid_values",
                            "early_stopping",
                            "original_max_position_embeddings",
                            "max_sequence_length",
                            "seed",
                            "fused_qkv",
                            "n_group",
                            "topk_group",
                            "fp32_residual_connection",
                            "dim_model_base",
                            "partial_rotary_factor",
                            "attention_chunk_size",
                            "use_sliding_window",
                            "gradient_checkpointing",
                            "clip_qkv",
                            "query_pre_attn_scalar",
                            "ep_size"});
}

bool worth_naming(const Value::Member& member) {
    const Value& value = member.value;
    if (!may_change_network(member)) return false;
    // Those who read biases take them as there.
    if (value.is_bool()) return value.as_bool() || member.key.find("bias") != std::string::npos;
    if (value.is_number()) return value.as_number() != 0.0;
    return value.is_array() && !value.as_array().empty();
}

namespace {

// Configuration classes of transformers 4; 0: no such size.
struct StandardSizes {
    const char* model_type;
    std::int64_t vocab, width, inner, layers, heads, kv_heads, head_dim, positions;
};
constexpr StandardSizes standard_sizes[] = {
    {"llama", 32000, 4096, 11008, 32, 32, 0, 0, 2048},          {"mistral", 32000, 4096, 14336, 32, 32, 8, 0, 131072},
    {"gemma", 256000, 3072, 24576, 28, 16, 16, 256, 8192},      {"gemma2", 256000, 2304, 9216, 26, 8, 4, 256, 8192},
    {"gemma3_text", 262208, 2304, 9216, 26, 8, 4, 256, 131072}, {"qwen2", 151936, 4096, 22016, 32, 32, 32, 0, 32768},
};

}  // namespace

std::string fill_standard_sizes(Value& config) {
    const Value* type = config.find("model_type");
    if (!type || !type->is_string()) return "";
    const auto* found = std::find_if(std::begin(standard_sizes), std::end(standard_sizes),
                                     [&](const StandardSizes& one) { return type->as_string() == one.model_type; });
    if (found == std::end(standard_sizes)) return "";
    const std::pair<const char*, std::int64_t> sizes[] = {
        {"vocab_size", found->vocab},          {"hidden_size", found->width},
        {"intermediate_size", found->inner},   {"num_hidden_layers", found->layers},
        {"num_attention_heads", found->heads}, {"num_key_value_heads", found->kv_heads},
        {"head_dim", found->head_dim},         {"max_position_embeddings", found->positions}};
    std::vector<std::string> added;
    for (const auto& [key, size] : sizes) {
        const Value* stated = config.find(key);
        // No key heads of their own means as many as heads.
        const bool is_answer = stated && (!stated->is_null() || std::string_view(key) == "num_key_value_heads");
        if (size == 0 || is_answer) continue;
        config.set(key, size).at = config.at;
        added.push_back(fmt::format("{} {}", key, size));
    }
    if (added.empty()) return "";
    return fmt::format("{} of the text part (not stated; transformers' defaults of {})", fmt::join(added, ", "),
                       found->model_type);
}

}  // namespace dlcast
