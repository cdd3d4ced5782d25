// SPDX-License-Identifier: GPL-2.0-or-later
// LLaMA and those who copied its block, counted by hand. Sizes are those of the papers and of each page's config.json.
#include "tests/model/count_formulas.h"

using namespace hand_counts;

namespace {

// Queries of 64 heads of 64, keys and values of 8, each with biases, 64 sinks, two norms; a router and experts of three
// matrices of 2,880 x 2,880, all with biases.
constexpr Count gpt_oss(Count L, Count n) {
    const Count d = 2880, q = 4096, kv = 512;
    const Count attention = (d * q + q) + 2 * (d * kv + kv) + (q * d + d) + 64 + 2 * d;
    return 2 * 201088 * d + d + L * (attention + (d * n + n) + n * (2 * (d * d + d) + (d * d + d)));
}
static_assert(gpt_oss(24, 32) == 20'914'757'184);  // the models' pages state both
static_assert(gpt_oss(36, 128) == 116'829'156'672);

}  // namespace

std::vector<PublicCount> derived_llama_counts() {
    return {
        {"Baichuan2-7B-Base", llama(125696, 4096, 32, 11008, 4096)},
        {"c4ai-command-r-v01", llama(256000, 8192, 40, 22528, 8192, true) - 40 * 8192},
        {"CodeLlama-13b", llama(32016, 5120, 40, 13824, 5120)},
        {"CodeLlama-34b", llama(32000, 8192, 48, 22016, 1024)},
        {"CodeLlama-7b", llama(32016, 4096, 32, 11008, 4096)},
        {"deepseek-coder-1.3b-base", llama(32256, 2048, 24, 5504, 2048)},
        {"deepseek-coder-6.7b-base", llama(32256, 4096, 32, 11008, 4096)},
        {"deepseek-llm-7b-base", llama(102400, 4096, 30, 11008, 4096)},
        {"DeepSeek-V2-Lite", deepseek(102400, 2048, 27, 16, 0, 1, 10944, 64, 2, 1408, false)},
        {"DeepSeek-V3", deepseek(129280, 7168, 61, 128, 1536, 3, 18432, 256, 1, 2048, true)},
        {"gemma-2-27b", gemma(4608, 46, 32, 16, 128, 36864, 4)},
        {"gemma-2-2b", gemma(2304, 26, 8, 4, 256, 9216, 4)},
        {"gemma-2-9b", gemma(3584, 42, 16, 8, 256, 14336, 4)},
        {"gemma-2b", gemma(2048, 18, 8, 1, 256, 16384, 2)},
        {"gemma-3-12b", gemma3(3840, 48, 16, 8, 256, 15360)},
        {"gemma-3-1b", gemma3_small(1152, 26, 4, 1, 6912)},
        {"gemma-3-270m", gemma3_small(640, 18, 4, 1, 2048)},
        {"gemma-3-27b", gemma3(5376, 62, 32, 16, 128, 21504)},
        {"gemma-3-4b", gemma3(2560, 34, 8, 4, 256, 10240)},
        {"gemma-7b", gemma(3072, 28, 16, 16, 256, 24576, 2)},
        {"gpt-oss-120b", gpt_oss(36, 128)},
        {"gpt-oss-20b", gpt_oss(24, 32)},
        {"internlm2-20b", llama(92544, 6144, 48, 16384, 1024)},
        {"internlm2-7b", llama(92544, 4096, 32, 14336, 1024)},
        {"llama-13b", llama(32000, 5120, 40, 13824, 5120)},
        {"Llama-2-13b", llama(32000, 5120, 40, 13824, 5120)},
        {"Llama-2-70b", llama(32000, 8192, 80, 28672, 1024)},
        {"Llama-2-7b", llama(32000, 4096, 32, 11008, 4096)},
        {"Llama-3-70B", llama(128256, 8192, 80, 28672, 1024)},
        {"Llama-3-8B", llama(128256, 4096, 32, 14336, 1024)},
        {"Llama-3.1-405B", llama(128256, 16384, 126, 53248, 1024)},
        {"Llama-3.1-70B", llama(128256, 8192, 80, 28672, 1024)},
        {"Llama-3.1-8B", llama(128256, 4096, 32, 14336, 1024)},
        {"Llama-3.2-1B", llama(128256, 2048, 16, 8192, 512, true)},
        {"Llama-3.2-3B", llama(128256, 3072, 28, 8192, 1024, true)},
        {"Llama-3.3-70B", llama(128256, 8192, 80, 28672, 1024)},
        {"llama-30b", llama(32000, 6656, 60, 17920, 6656)},
        {"llama-65b", llama(32000, 8192, 80, 22016, 8192)},
        {"llama-7b", llama(32000, 4096, 32, 11008, 4096)},
        {"Mistral-7B-v0.1", llama(32000, 4096, 32, 14336, 1024)},
        {"Mistral-7B-v0.2", llama(32000, 4096, 32, 14336, 1024)},
        {"Mistral-7B-v0.3", llama(32768, 4096, 32, 14336, 1024)},
        {"Mistral-Nemo-Base-2407", llama(131072, 5120, 40, 14336, 1024) - 40 * 2 * 5120 * 1024},
        {"Mistral-Small-24B-Base-2501", llama(131072, 5120, 40, 32768, 1024) - 40 * 2 * 5120 * 1024},
        {"Mixtral-8x22B-v0.1", mixtral(6144, 56, 16384)},
        {"Mixtral-8x7B-v0.1", mixtral(4096, 32, 14336)},
        {"OLMo-1B", olmo(2048, 16, 8192, 1)},
        {"OLMo-2-1124-13B", olmo2(100352, 5120, 40, 13824)},
        {"OLMo-2-1124-7B", olmo2(100352, 4096, 32, 11008)},
        {"OLMo-7B", olmo(4096, 32, 11008, 2)},
        {"OLMoE-1B-7B-0924", llama(50304, 2048, 16, 0, 2048) + 16 * (2 * 2048 + experts(2048, 64, 1024))},
        {"Phi-3-medium-4k", llama(32064, 5120, 40, 17920, 1280)},
        {"Phi-3-mini-128k", llama(32064, 3072, 32, 8192, 3072)},
        {"Phi-3-mini-4k", llama(32064, 3072, 32, 8192, 3072)},
        {"Phi-3.5-mini", llama(32064, 3072, 32, 8192, 3072)},
        {"phi-4", llama(100352, 5120, 40, 17920, 1280)},
        {"Phi-4-mini", llama(200064, 3072, 32, 8192, 1024, true)},
        {"Qwen1.5-0.5B", qwen2(151936, 1024, 24, 2816, 1024, true)},
        {"Qwen1.5-1.8B", qwen2(151936, 2048, 24, 5504, 2048)},
        {"Qwen1.5-14B", qwen2(152064, 5120, 40, 13696, 5120)},
        {"Qwen1.5-4B", qwen2(151936, 2560, 40, 6912, 2560)},
        {"Qwen1.5-7B", qwen2(151936, 4096, 32, 11008, 4096)},
        {"Qwen1.5-MoE-A2.7B", qwen2(151936, 2048, 24, 5632, 2048) + 24 * (experts(2048, 60, 1408) + 2048)},
        {"Qwen2-0.5B", qwen2(151936, 896, 24, 4864, 128, true)},
        {"Qwen2-1.5B", qwen2(151936, 1536, 28, 8960, 256, true)},
        {"Qwen2-72B", qwen2(152064, 8192, 80, 29568, 1024)},
        {"Qwen2-7B", qwen2(152064, 3584, 28, 18944, 512)},
        {"Qwen2.5-0.5B", qwen2(151936, 896, 24, 4864, 128, true)},
        {"Qwen2.5-1.5B", qwen2(151936, 1536, 28, 8960, 256, true)},
        {"Qwen2.5-14B", qwen2(152064, 5120, 48, 13824, 1024)},
        {"Qwen2.5-32B", qwen2(152064, 5120, 64, 27648, 1024)},
        {"Qwen2.5-3B", qwen2(151936, 2048, 36, 11008, 256, true)},
        {"Qwen2.5-72B", qwen2(152064, 8192, 80, 29568, 1024)},
        {"Qwen2.5-7B", qwen2(152064, 3584, 28, 18944, 512)},
        {"Qwen3-0.6B", qwen3(1024, 28, 16, 8, 3072, 1)},
        {"Qwen3-1.7B", qwen3(2048, 28, 16, 8, 6144, 1)},
        {"Qwen3-14B", qwen3(5120, 40, 40, 8, 17408, 2)},
        {"Qwen3-235B-A22B", qwen3_moe(4096, 94, 64, 1536)},
        {"Qwen3-30B-A3B", qwen3_moe(2048, 48, 32, 768)},
        {"Qwen3-32B", qwen3(5120, 64, 64, 8, 25600, 2)},
        {"Qwen3-4B", qwen3(2560, 36, 32, 8, 9728, 1)},
        {"Qwen3-8B", qwen3(4096, 36, 32, 8, 12288, 2)},
        {"SmolLM-1.7B", llama(49152, 2048, 24, 8192, 2048, true)},
        {"SmolLM-135M", llama(49152, 576, 30, 1536, 192, true)},
        {"SmolLM-360M", llama(49152, 960, 32, 2560, 320, true)},
        {"SmolLM2-1.7B", llama(49152, 2048, 24, 8192, 2048, true)},
        {"SmolLM2-135M", llama(49152, 576, 30, 1536, 192, true)},
        {"SmolLM2-360M", llama(49152, 960, 32, 2560, 320, true)},
        {"stablelm-2-1_6b", llama(100352, 2048, 24, 5632, 2048) + 24 * 5 * 2048 + 2048},
        {"stablelm-3b-4e1t", llama(50304, 2560, 32, 6912, 2560) + 32 * 2 * 2560 + 2560},
        {"TinyLlama-1.1B", llama(32000, 2048, 22, 5632, 256)},
        {"vicuna-13b-v1.5", llama(32000, 5120, 40, 13824, 5120)},
        {"vicuna-7b-v1.5", llama(32000, 4096, 32, 11008, 4096)},
        {"Yi-34B", llama(64000, 7168, 60, 20480, 1024)},
        {"Yi-6B", llama(64000, 4096, 32, 11008, 512)},
        {"zephyr-7b-beta", llama(32000, 4096, 32, 14336, 1024)},
    };
}
