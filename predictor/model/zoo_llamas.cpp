// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co. Those who copied LLaMA's block.
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

struct Sizes {
    const char* type;
    std::int64_t layers, width, heads, kv_heads, inner, vocab, positions;
    std::int64_t head_dim = 0;  // 0: width / heads
    bool tied = false;
    std::int64_t experts = 0, active_experts = 0, expert_inner = 0, shared_inner = 0;
};

Value llama(const Sizes& s) {
    Value out = hub_config(s.type, {{"num_hidden_layers", s.layers},
                                    {"hidden_size", s.width},
                                    {"num_attention_heads", s.heads},
                                    {"num_key_value_heads", s.kv_heads},
                                    {"intermediate_size", s.inner},
                                    {"vocab_size", s.vocab},
                                    {"max_position_embeddings", s.positions}});
    out.set("tie_word_embeddings", s.tied);
    const auto set = [&](const char* key, std::int64_t size) {
        if (size > 0) out.set(key, size);
    };
    set("head_dim", s.head_dim);
    set("num_experts", s.experts);
    set("num_experts_per_tok", s.active_experts);
    set("moe_intermediate_size", s.expert_inner);
    set("shared_expert_intermediate_size", s.shared_inner);
    return out;
}

Value llama(const char* type, std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t kv_heads,
            std::int64_t inner, std::int64_t vocab, std::int64_t positions, bool tied = false,
            std::int64_t head_dim = 0) {
    Sizes s{type, layers, width, heads, kv_heads, inner, vocab, positions};
    s.tied = tied;
    s.head_dim = head_dim;
    return llama(s);
}

Value experts(const char* type, std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t kv_heads,
              std::int64_t inner, std::int64_t vocab, std::int64_t positions, std::int64_t count, std::int64_t active,
              std::int64_t shared = 0) {
    Sizes s{type, layers, width, heads, kv_heads, inner, vocab, positions};
    s.experts = count;
    s.active_experts = active;
    s.shared_inner = shared;
    return llama(s);
}

void add_llamas(std::vector<HubModel>& out) {
    const std::vector<HubModel> models = {
        {"llama-7b", [] { return llama("llama", 32, 4096, 32, 32, 11008, 32000, 2048); }},
        {"llama-13b", [] { return llama("llama", 40, 5120, 40, 40, 13824, 32000, 2048); }},
        {"llama-30b", [] { return llama("llama", 60, 6656, 52, 52, 17920, 32000, 2048); }},
        {"llama-65b", [] { return llama("llama", 80, 8192, 64, 64, 22016, 32000, 2048); }},
        {"Llama-2-7b", [] { return llama("llama", 32, 4096, 32, 32, 11008, 32000, 4096); }},
        {"Llama-2-13b", [] { return llama("llama", 40, 5120, 40, 40, 13824, 32000, 4096); }},
        {"Llama-2-70b", [] { return llama("llama", 80, 8192, 64, 8, 28672, 32000, 4096); }},
        {"Llama-3-8B", [] { return llama("llama", 32, 4096, 32, 8, 14336, 128256, 8192); }},
        {"Llama-3-70B", [] { return llama("llama", 80, 8192, 64, 8, 28672, 128256, 8192); }},
        {"Llama-3.1-8B", [] { return llama("llama", 32, 4096, 32, 8, 14336, 128256, 131072); }},
        {"Llama-3.1-70B", [] { return llama("llama", 80, 8192, 64, 8, 28672, 128256, 131072); }},
        {"Llama-3.1-405B", [] { return llama("llama", 126, 16384, 128, 8, 53248, 128256, 131072); }},
        {"Llama-3.2-1B", [] { return llama("llama", 16, 2048, 32, 8, 8192, 128256, 131072, true); }},
        {"Llama-3.2-3B", [] { return llama("llama", 28, 3072, 24, 8, 8192, 128256, 131072, true, 128); }},
        {"Llama-3.3-70B", [] { return llama("llama", 80, 8192, 64, 8, 28672, 128256, 131072); }},
        {"CodeLlama-7b", [] { return llama("llama", 32, 4096, 32, 32, 11008, 32016, 16384); }},
        {"CodeLlama-13b", [] { return llama("llama", 40, 5120, 40, 40, 13824, 32016, 16384); }},
        {"CodeLlama-34b", [] { return llama("llama", 48, 8192, 64, 8, 22016, 32000, 16384); }},
        {"vicuna-7b-v1.5", [] { return llama("llama", 32, 4096, 32, 32, 11008, 32000, 4096); }},
        {"vicuna-13b-v1.5", [] { return llama("llama", 40, 5120, 40, 40, 13824, 32000, 4096); }},
        {"TinyLlama-1.1B", [] { return llama("llama", 22, 2048, 32, 4, 5632, 32000, 2048); }},
        {"SmolLM-135M", [] { return llama("llama", 30, 576, 9, 3, 1536, 49152, 2048, true); }},
        {"SmolLM-360M", [] { return llama("llama", 32, 960, 15, 5, 2560, 49152, 2048, true); }},
        {"SmolLM-1.7B", [] { return llama("llama", 24, 2048, 32, 32, 8192, 49152, 2048, true); }},
        {"SmolLM2-135M", [] { return llama("llama", 30, 576, 9, 3, 1536, 49152, 8192, true); }},
        {"SmolLM2-360M", [] { return llama("llama", 32, 960, 15, 5, 2560, 49152, 8192, true); }},
        {"SmolLM2-1.7B", [] { return llama("llama", 24, 2048, 32, 32, 8192, 49152, 8192, true); }},
        {"Yi-6B", [] { return llama("llama", 32, 4096, 32, 4, 11008, 64000, 4096); }},
        {"Yi-34B", [] { return llama("llama", 60, 7168, 56, 8, 20480, 64000, 4096); }},
        {"deepseek-llm-7b-base", [] { return llama("llama", 30, 4096, 32, 32, 11008, 102400, 4096); }},
        {"deepseek-coder-1.3b-base", [] { return llama("llama", 24, 2048, 16, 16, 5504, 32256, 16384); }},
        {"deepseek-coder-6.7b-base", [] { return llama("llama", 32, 4096, 32, 32, 11008, 32256, 16384); }},
        {"Mistral-7B-v0.1", [] { return llama("mistral", 32, 4096, 32, 8, 14336, 32000, 32768); }},
        {"Mistral-7B-v0.2", [] { return llama("mistral", 32, 4096, 32, 8, 14336, 32000, 32768); }},
        {"Mistral-7B-v0.3", [] { return llama("mistral", 32, 4096, 32, 8, 14336, 32768, 32768); }},
        {"zephyr-7b-beta", [] { return llama("mistral", 32, 4096, 32, 8, 14336, 32000, 32768); }},
        {"Mistral-Nemo-Base-2407", [] { return llama("mistral", 40, 5120, 32, 8, 14336, 131072, 131072, false, 128); }},
        {"Mistral-Small-24B-Base-2501",
         [] { return llama("mistral", 40, 5120, 32, 8, 32768, 131072, 32768, false, 128); }},
        {"Mixtral-8x7B-v0.1", [] { return experts("mixtral", 32, 4096, 32, 8, 14336, 32000, 32768, 8, 2); }},
        {"Mixtral-8x22B-v0.1", [] { return experts("mixtral", 56, 6144, 48, 8, 16384, 32000, 65536, 8, 2); }},
    };
    out.insert(out.end(), models.begin(), models.end());
}

Value qwen3_moe(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner,
                std::int64_t expert_inner) {
    Value config = experts("qwen3_moe", layers, width, heads, 4, inner, 151936, 40960, 128, 8);
    config.set("head_dim", 128);
    config.set("moe_intermediate_size", expert_inner);
    return config;
}

void add_qwens(std::vector<HubModel>& out) {
    const std::vector<HubModel> models = {
        {"Qwen1.5-0.5B", [] { return llama("qwen2", 24, 1024, 16, 16, 2816, 151936, 32768, true); }},
        {"Qwen1.5-1.8B", [] { return llama("qwen2", 24, 2048, 16, 16, 5504, 151936, 32768); }},
        {"Qwen1.5-4B", [] { return llama("qwen2", 40, 2560, 20, 20, 6912, 151936, 32768); }},
        {"Qwen1.5-7B", [] { return llama("qwen2", 32, 4096, 32, 32, 11008, 151936, 32768); }},
        {"Qwen1.5-14B", [] { return llama("qwen2", 40, 5120, 40, 40, 13696, 152064, 32768); }},
        {"Qwen1.5-MoE-A2.7B",
         [] {
             return with(experts("qwen2_moe", 24, 2048, 16, 16, 5632, 151936, 8192, 60, 4, 5632),
                         "moe_intermediate_size", 1408);
         }},
        {"Qwen2-0.5B", [] { return llama("qwen2", 24, 896, 14, 2, 4864, 151936, 131072, true); }},
        {"Qwen2-1.5B", [] { return llama("qwen2", 28, 1536, 12, 2, 8960, 151936, 131072, true); }},
        {"Qwen2-7B", [] { return llama("qwen2", 28, 3584, 28, 4, 18944, 152064, 131072); }},
        {"Qwen2-72B", [] { return llama("qwen2", 80, 8192, 64, 8, 29568, 152064, 131072); }},
        {"Qwen2.5-0.5B", [] { return llama("qwen2", 24, 896, 14, 2, 4864, 151936, 32768, true); }},
        {"Qwen2.5-1.5B", [] { return llama("qwen2", 28, 1536, 12, 2, 8960, 151936, 131072, true); }},
        {"Qwen2.5-3B", [] { return llama("qwen2", 36, 2048, 16, 2, 11008, 151936, 32768, true); }},
        {"Qwen2.5-7B", [] { return llama("qwen2", 28, 3584, 28, 4, 18944, 152064, 131072); }},
        {"Qwen2.5-14B", [] { return llama("qwen2", 48, 5120, 40, 8, 13824, 152064, 131072); }},
        {"Qwen2.5-32B", [] { return llama("qwen2", 64, 5120, 40, 8, 27648, 152064, 131072); }},
        {"Qwen2.5-72B", [] { return llama("qwen2", 80, 8192, 64, 8, 29568, 152064, 131072); }},
        {"Qwen3-0.6B", [] { return llama("qwen3", 28, 1024, 16, 8, 3072, 151936, 40960, true, 128); }},
        {"Qwen3-1.7B", [] { return llama("qwen3", 28, 2048, 16, 8, 6144, 151936, 40960, true, 128); }},
        {"Qwen3-4B", [] { return llama("qwen3", 36, 2560, 32, 8, 9728, 151936, 40960, true, 128); }},
        {"Qwen3-8B", [] { return llama("qwen3", 36, 4096, 32, 8, 12288, 151936, 40960, false, 128); }},
        {"Qwen3-14B", [] { return llama("qwen3", 40, 5120, 40, 8, 17408, 151936, 40960, false, 128); }},
        {"Qwen3-32B", [] { return llama("qwen3", 64, 5120, 64, 8, 25600, 151936, 40960, false, 128); }},
        {"Qwen3-30B-A3B", [] { return qwen3_moe(48, 2048, 32, 6144, 768); }},
        {"Qwen3-235B-A22B", [] { return qwen3_moe(94, 4096, 64, 12288, 1536); }},
    };
    out.insert(out.end(), models.begin(), models.end());
}

void add_gemmas(std::vector<HubModel>& out) {
    const std::vector<HubModel> models = {
        {"gemma-2b", [] { return llama("gemma", 18, 2048, 8, 1, 16384, 256000, 8192, true, 256); }},
        {"gemma-7b", [] { return llama("gemma", 28, 3072, 16, 16, 24576, 256000, 8192, true, 256); }},
        {"gemma-2-2b", [] { return llama("gemma2", 26, 2304, 8, 4, 9216, 256000, 8192, true, 256); }},
        {"gemma-2-9b", [] { return llama("gemma2", 42, 3584, 16, 8, 14336, 256000, 8192, true, 256); }},
        {"gemma-2-27b", [] { return llama("gemma2", 46, 4608, 32, 16, 36864, 256000, 8192, true, 128); }},
        {"gemma-3-270m", [] { return llama("gemma3_text", 18, 640, 4, 1, 2048, 262144, 32768, true, 256); }},
        {"gemma-3-1b", [] { return llama("gemma3_text", 26, 1152, 4, 1, 6912, 262144, 32768, true, 256); }},
        // The larger ones without their image encoder.
        {"gemma-3-4b", [] { return llama("gemma3_text", 34, 2560, 8, 4, 10240, 262208, 131072, true, 256); }},
        {"gemma-3-12b", [] { return llama("gemma3_text", 48, 3840, 16, 8, 15360, 262208, 131072, true, 256); }},
        {"gemma-3-27b", [] { return llama("gemma3_text", 62, 5376, 32, 16, 21504, 262208, 131072, true, 128); }},
    };
    out.insert(out.end(), models.begin(), models.end());
}

Value gpt_oss(std::int64_t layers, std::int64_t count) {
    return with(experts("gpt_oss", layers, 2880, 64, 8, 2880, 201088, 131072, count, 4), "head_dim", 64);
}

void add_others(std::vector<HubModel>& out) {
    const std::vector<HubModel> models = {
        {"Phi-3-mini-4k", [] { return llama("phi3", 32, 3072, 32, 32, 8192, 32064, 4096); }},
        {"Phi-3-mini-128k", [] { return llama("phi3", 32, 3072, 32, 32, 8192, 32064, 131072); }},
        {"Phi-3.5-mini", [] { return llama("phi3", 32, 3072, 32, 32, 8192, 32064, 131072); }},
        {"Phi-3-medium-4k", [] { return llama("phi3", 40, 5120, 40, 10, 17920, 32064, 4096); }},
        {"phi-4", [] { return llama("phi3", 40, 5120, 40, 10, 17920, 100352, 16384); }},
        {"Phi-4-mini", [] { return llama("phi3", 32, 3072, 24, 8, 8192, 200064, 131072, true); }},
        {"stablelm-2-1_6b",
         [] { return with(llama("stablelm", 24, 2048, 32, 32, 5632, 100352, 4096), "use_qkv_bias", true); }},
        {"stablelm-3b-4e1t", [] { return llama("stablelm", 32, 2560, 32, 32, 6912, 50304, 4096); }},
        {"starcoder2-3b", [] { return llama("starcoder2", 30, 3072, 24, 2, 12288, 49152, 16384, true); }},
        {"starcoder2-7b", [] { return llama("starcoder2", 32, 4608, 36, 4, 18432, 49152, 16384, true); }},
        {"starcoder2-15b", [] { return llama("starcoder2", 40, 6144, 48, 4, 24576, 49152, 16384); }},
        {"c4ai-command-r-v01", [] { return llama("cohere", 40, 8192, 64, 64, 22528, 256000, 131072, true); }},
        {"OLMo-1B", [] { return llama("olmo", 16, 2048, 16, 16, 8192, 50304, 2048, true); }},
        {"OLMo-7B", [] { return llama("olmo", 32, 4096, 32, 32, 11008, 50304, 2048); }},
        {"OLMo-2-1124-7B", [] { return llama("olmo2", 32, 4096, 32, 32, 11008, 100352, 4096); }},
        {"OLMo-2-1124-13B", [] { return llama("olmo2", 40, 5120, 40, 40, 13824, 100352, 4096); }},
        {"OLMoE-1B-7B-0924", [] { return experts("olmoe", 16, 2048, 16, 16, 1024, 50304, 4096, 64, 8); }},
        {"Baichuan2-7B-Base", [] { return llama("baichuan", 32, 4096, 32, 32, 11008, 125696, 4096); }},
        {"gpt-oss-20b", [] { return gpt_oss(24, 32); }},
        {"gpt-oss-120b", [] { return gpt_oss(36, 128); }},
        {"internlm2-7b", [] { return llama("internlm2", 32, 4096, 32, 8, 14336, 92544, 32768); }},
        {"internlm2-20b", [] { return llama("internlm2", 48, 6144, 48, 8, 16384, 92544, 32768); }},
    };
    out.insert(out.end(), models.begin(), models.end());
}

}  // namespace

std::vector<HubModel> hub_llamas() {
    std::vector<HubModel> out;
    add_llamas(out);
    add_qwens(out);
    add_gemmas(out);
    add_others(out);
    return out;
}

}  // namespace dlcast
