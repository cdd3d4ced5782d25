// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/hf_defaults.h"

namespace dlcast {
namespace {

constexpr const char* kv_heads = "num_key_value_heads";
constexpr const char* positions = "max_position_embeddings";
constexpr const char* inner = "intermediate_size";
constexpr const char* side_inner = "encoder_ffn_dim";
constexpr const char* experts = "num_experts";
constexpr const char* local_experts = "num_local_experts";
constexpr const char* active = "num_experts_per_tok";
constexpr const char* expert_inner = "moe_intermediate_size";

constexpr ClassDefault defaults[] = {
    // decoders
    {"mistral", kv_heads, 8},
    {"mistral", positions, 131072},
    {"ministral", kv_heads, 8},
    {"mixtral", kv_heads, 8},
    {"mixtral", positions, 131072},
    {"mixtral", local_experts, 8},
    {"mixtral", active, 2},
    {"gemma", kv_heads, 16},
    {"gemma", positions, 8192},
    {"gemma2", kv_heads, 4},
    {"gemma2", positions, 8192},
    {"gemma3_text", kv_heads, 4},
    {"gemma3_text", positions, 131072},
    {"qwen2", kv_heads, 32},
    {"qwen3", kv_heads, 32},
    {"qwen2_moe", kv_heads, 16},
    {"qwen2_moe", experts, 60},
    {"qwen2_moe", active, 4},
    {"qwen2_moe", expert_inner, 1408},
    {"qwen2_moe", "shared_expert_intermediate_size", 5632},
    {"qwen3_moe", kv_heads, 4},
    {"qwen3_moe", experts, 128},
    {"qwen3_moe", active, 8},
    {"qwen3_moe", expert_inner, 768},
    {"olmoe", experts, 64},
    {"olmoe", active, 8},
    {"granitemoe", local_experts, 8},
    {"granitemoe", active, 2},
    {"phimoe", kv_heads, 8},
    {"phimoe", local_experts, 16},
    {"phimoe", active, 2},
    {"gpt_oss", kv_heads, 8},
    {"gpt_oss", local_experts, 128},
    {"gpt_oss", active, 4},
    {"glm4_moe", kv_heads, 8},
    {"glm4_moe", "n_routed_experts", 128},
    {"glm4_moe", "n_shared_experts", 1},
    {"glm4_moe", active, 8},
    {"glm4_moe", expert_inner, 1408},
    {"glm4_moe", "first_k_dense_replace", 1},
    {"deepseek_v3", "q_lora_rank", 1536},
    {"deepseek_v3", "n_routed_experts", 256},
    {"deepseek_v3", "n_shared_experts", 1},
    {"deepseek_v3", active, 8},
    {"deepseek_v3", expert_inner, 2048},
    {"deepseek_v3", "first_k_dense_replace", 3},
    {"stablelm", kv_heads, 32},
    {"starcoder2", kv_heads, 2},
    {"smollm3", kv_heads, 4},
    {"glm", kv_heads, 2},
    {"glm4", kv_heads, 2},
    {"gpt_neox", inner, 24576},
    {"phi", inner, 8192},
    {"opt", "ffn_dim", 3072},
    {"xglm", "ffn_dim", 4096},
    {"biogpt", inner, 4096},
    // encoders
    {"bert", inner, 3072},
    {"roberta", inner, 3072},
    {"roberta-prelayernorm", inner, 3072},
    {"xlm-roberta", inner, 3072},
    {"xlm-roberta-xl", inner, 10240},
    {"camembert", inner, 3072},
    {"albert", inner, 16384},
    {"albert", "embedding_size", 128},
    {"mpnet", inner, 3072},
    {"longformer", inner, 3072},
    {"big_bird", inner, 3072},
    {"layoutlm", inner, 3072},
    {"data2vec-text", inner, 3072},
    {"ernie", inner, 3072},
    {"megatron-bert", inner, 4096},
    {"rembert", inner, 4608},
    {"rembert", "input_embedding_size", 256},
    {"nezha", inner, 3072},
    {"distilbert", "hidden_dim", 3072},
    {"electra", inner, 1024},
    {"electra", "embedding_size", 128},
    {"roformer", inner, 3072},
    {"splinter", inner, 3072},
    {"esm", inner, 3072},
    {"bert-generation", inner, 4096},
    {"xlnet", "d_inner", 4096},
    {"deberta", inner, 3072},
    {"deberta", "relative_attention", 0},
    {"deberta", "position_biased_input", 1},
    {"deberta-v2", inner, 3072},
    {"deberta-v2", "relative_attention", 0},
    {"deberta-v2", "position_biased_input", 1},
    {"deberta-v2", "share_att_key", 0},
    {"deberta-v2", "norm_rel_ebd", 0, "none"},
    // of two sides
    {"mt5", "feed_forward_proj", 0, "gated-gelu"},
    {"mt5", "tie_word_embeddings", 0},
    {"umt5", "feed_forward_proj", 0, "gated-gelu"},
    {"switch_transformers", experts, 8},
    {"switch_transformers", "num_sparse_encoder_layers", 3},
    {"switch_transformers", "num_sparse_decoder_layers", 3},
    {"bart", side_inner, 4096},
    {"mbart", side_inner, 4096},
    {"mvp", side_inner, 4096},
    {"led", side_inner, 4096},
    {"pegasus", side_inner, 4096},
    {"bigbird_pegasus", side_inner, 4096},
    {"marian", side_inner, 4096},
    {"m2m_100", side_inner, 4096},
    {"nllb-moe", side_inner, 4096},
    {"fsmt", side_inner, 4096},
    {"plbart", side_inner, 3072},
    {"blenderbot", side_inner, 10240},
    {"blenderbot-small", side_inner, 2048},
    // images and sound
    {"vit", inner, 3072},
    {"deit", inner, 3072},
    {"beit", inner, 3072},
    {"data2vec-vision", inner, 3072},
    {"wav2vec2", inner, 3072},
    {"hubert", inner, 3072},
    {"wavlm", inner, 3072},
    {"audio-spectrogram-transformer", inner, 3072},
    {"whisper", side_inner, 1536},
};

}  // namespace

const ClassDefault* find_class_default(std::string_view family, std::initializer_list<const char*> keys) {
    for (const ClassDefault& one : defaults) {
        if (family != one.family) continue;
        for (const std::string_view key : keys)
            if (key == one.key) return &one;
    }
    return nullptr;
}

}  // namespace dlcast
