// SPDX-License-Identifier: GPL-2.0-or-later
// Counts by hand: each function adds up the matrices, biases and norms of one design, as its public code has them; the
// sizes are those of the papers and of each page's config.json. V: rows of the vocabulary, P: of positions, d: width,
// L: layers, f: inner width, kv: width of keys and values.
#include "tests/model/public_counts.h"

namespace {

using Count = std::uint64_t;

// Four matrices with biases, two norms, and the two matrices between.
constexpr Count encoder_block(Count d, Count f) { return 4 * (d * d + d) + 2 * d * f + f + d + 4 * d; }

// Words, 512 positions and 2 segments with a norm; blocks; the pooler.
constexpr Count bert(Count V, Count d = 768, Count L = 12, Count f = 3072) {
    return (V + 512 + 2) * d + 2 * d + L * encoder_block(d, f) + d * d + d;
}
// No segments, no pooler.
constexpr Count distilbert(Count V) { return (V + 512) * 768 + 2 * 768 + 6 * encoder_block(768, 3072); }
// Tables of width 128, then a projection to 256.
constexpr Count electra_small = (30522 + 512 + 2) * 128 + 2 * 128 + 128 * 256 + 256 + 12 * encoder_block(256, 1024);
// Words and 1,024 relative positions; q, k, v without biases, two biases beside, projections of positions (one with a
// bias).
constexpr Count deberta(Count d, Count L, Count f) {
    const Count attention = 3 * d * d + 2 * d + d * d + (d * d + d) + (d * d + d) + 2 * d;
    return 50265 * d + 2 * d + 1024 * d + L * (attention + 2 * d * f + f + d + 2 * d);
}
// The second form shares keys between contents and positions; 512 relative positions with a norm.
constexpr Count deberta_v3(Count d, Count L, Count f) {
    return 128100 * d + 2 * d + 512 * d + 2 * d + L * encoder_block(d, f);
}
// No biases; a gated inner part; norms of one weight; the first block has none before its attention.
constexpr Count modernbert(Count d, Count L, Count f) {
    return 50368 * d + d + L * (4 * d * d + 3 * d * f + 2 * d) - d + d;
}

// 2,048 positions and two rows more; 12 d^2 weights and 13 d biases and norms a block.
constexpr Count opt(Count d, Count L) { return (50272 + 2050) * d + L * (12 * d * d + 13 * d) + 2 * d; }
// Two tables (words, logits), rotary positions.
constexpr Count neox(Count V, Count d, Count L) { return 2 * V * d + L * (12 * d * d + 13 * d) + 2 * d; }
// q, k and v without biases.
constexpr Count gpt_neo(Count d, Count L) { return (50257 + 2048) * d + L * (12 * d * d + 10 * d) + 2 * d; }
// Attention without biases, one norm a block, logits with a bias.
constexpr Count codegen(Count d, Count L) { return 2 * 51200 * d + 51200 + L * (12 * d * d + 7 * d) + 2 * d; }
// One head of 128 for keys and values.
constexpr Count bigcode(Count V, Count P) {
    constexpr Count d = 2048, qkv = d + 2 * 128;
    return (V + P) * d + 24 * (d * qkv + qkv + 9 * d * d + 6 * d + 4 * d) + 2 * d;
}
// No biases at all.
constexpr Count mpt(Count d, Count L) { return 50432 * d + L * (12 * d * d + 2 * d) + d; }

// Words and logits (one table where tied), no biases, norms of one weight, a gated inner part.
constexpr Count llama(Count V, Count d, Count L, Count f, Count kv, bool tied = false) {
    return (tied ? 1 : 2) * V * d + L * (2 * d * d + 2 * d * kv + 3 * d * f + 2 * d) + d;
}
// With biases of q, k and v.
constexpr Count qwen2(Count V, Count d, Count L, Count f, Count kv, bool tied = false) {
    return llama(V, d, L, f, kv, tied) + L * (d + 2 * kv);
}
// With norms over the whole of q and of k.
constexpr Count olmo2(Count V, Count d, Count L, Count f) { return llama(V, d, L, f, d) + L * 2 * d; }
// Heads of a width of their own (q of them, kv of them for keys and values), norms over q's and k's, four norms a
// block.
constexpr Count gemma3(Count d, Count L, Count q, Count kv, Count width, Count f) {
    return 262208 * d + L * (2 * d * q * width + 2 * d * kv * width + 2 * width + 3 * d * f + 4 * d) + d;
}
// Adaptive tables of width 1024, 256, 64 and 16 with projections to 1024; 18 layers of q, k, v, out and positions
// without biases, two biases of attention, an inner part of 4096; 3 rows for the clusters, biases of all words, the
// head's projection.
constexpr Count transformer_xl() {
    constexpr Count d = 1024;
    constexpr Count tables = 20'000 * 1024 + 20'000 * 256 + 160'000 * 64 + 67'735 * 16 + d * (1024 + 256 + 64 + 16);
    constexpr Count layer = 5 * d * d + 2 * d + 2 * d + 2 * d * 4096 + 4096 + d + 2 * d;
    return tables + 18 * layer + 267'735 + 3 * d + 3 + d * d;
}

// Heads of 64, no biases, gated; two tables; 32 rows of relative positions for each side's heads.
constexpr Count t5_gated(Count d, Count L, Count heads, Count f) {
    const Count attention = 4 * d * heads * 64, inner = 3 * d * f;
    return 2 * 32128 * d + L * (3 * attention + 2 * inner + 5 * d) + 2 * d + 2 * 32 * heads;
}
// T5 base (one table, not gated) where every other inner part is eight experts and their router.
constexpr Count switch_base_8() {
    constexpr Count d = 768, attention = 4 * d * d, inner = 2 * d * 3072;
    return 32128 * d + 36 * attention + (12 + 12 * 8) * inner + 12 * d * 8 + 62 * d + 2 * 32 * 12;
}
// Encoder and decoder of L layers each over one table; positions are sines. Without the norms outside of layers.
constexpr Count translator(Count V, Count d, Count L, Count f) {
    const Count cross = 4 * (d * d + d) + 2 * d;
    return V * d + L * (2 * encoder_block(d, f) + cross);
}
// 1,026 learned positions and a norm over the tables on each side.
constexpr Count bart_large(Count V) { return translator(V, 1024, 12, 4096) + 2 * 1026 * 1024 + 4 * 1024; }
// Two convolutions over `mels`, 1,500 positions kept as a table; k without a bias; 448 positions of text.
constexpr Count whisper(Count decoder_layers, Count V, Count mels) {
    constexpr Count d = 1280, attention = 4 * d * d + 3 * d, inner = 8 * d * d + 5 * d;
    const Count encoder = 3 * mels * d + d + 3 * d * d + d + 1500 * d + 32 * (attention + inner + 4 * d) + 2 * d;
    return encoder + (V + 448) * d + decoder_layers * (2 * attention + inner + 6 * d) + 2 * d;
}
// Seven convolutions to 512 channels (windows 10, 3 x 4, 2 x 2), with biases and a norm each where stable, else one
// norm; projection; a grouped convolution of positions with normed weights; the masked frame.
constexpr Count wav2vec2_large(bool stable) {
    constexpr Count d = 1024;
    const Count features = 512 * 10 + 512 * 512 * (3 * 4 + 2 * 2) + (stable ? 7 * 512 + 7 * 1024 : 1024);
    const Count positions = d * (d / 16) * 128 + d + 128;
    return features + 2 * 512 + 512 * d + d + positions + 2 * d + 24 * encoder_block(d, 4096) + d;
}
// Image side (class token, patches of 14, two norms), text side of 77 tokens, two projections and a temperature.
constexpr Count clip_large(Count side) {
    constexpr Count d = 1024, t = 768;
    const Count image = d + 3 * 14 * 14 * d + (side * side + 1) * d + 4 * d + 24 * encoder_block(d, 4 * d);
    return image + 49408 * t + 77 * t + 12 * encoder_block(t, 4 * t) + 2 * t + d * t + t * t + 1;
}

// Tables of width 128 over the Criteo logs with at most 40 M rows (MLPerf): their rows; then the two networks, the
// second over 128 + 27 x 26 / 2 columns.
constexpr Count dlrm() {
    constexpr Count rows[] = {39884406, 39043,    17289,    7420,     20263,  3,     7120, 1543, 63,
                              38532951, 2953546,  403346,   10,       2208,   11938, 155,  4,    976,
                              14,       39979771, 25641295, 39664984, 585935, 12972, 108,  36};
    Count sum = 0;
    for (const Count table : rows) sum += 128 * table;
    for (const auto& [in, out] : {std::pair<Count, Count>{13, 512},
                                  {512, 256},
                                  {256, 128},
                                  {479, 1024},
                                  {1024, 1024},
                                  {1024, 512},
                                  {512, 256},
                                  {256, 1}})
        sum += in * out + out;
    return sum;
}
// Four gates, two biases each.
constexpr Count lstm(Count in, Count hidden) { return 4 * hidden * (in + hidden) + 8 * hidden; }
// One table for both sides; the first layer in both directions, then 2h, h, h; a decoder of h, 2h, 2h, 2h; attention
// with two matrices, a vector, a bias and a scale; logits with a matrix and biases of their own.
constexpr Count gnmt() {
    constexpr Count V = 32320, h = 1024;
    return V * h + 2 * lstm(h, h) + lstm(2 * h, h) + 2 * lstm(h, h) + lstm(h, h) + 3 * lstm(2 * h, h) + 2 * h * h +
           2 * h + 1 + V * h + V;
}

}  // namespace

std::vector<PublicCount> derived_counts() {
    return {
        {"bert-base-multilingual-uncased", bert(105879)},
        {"scibert_scivocab_uncased", bert(31090)},
        {"distilbert-base-cased", distilbert(28996)},
        {"distilbert-base-multilingual-cased", distilbert(119547)},
        {"electra-small-discriminator", electra_small},
        {"deberta-base", deberta(768, 12, 3072)},
        {"deberta-large", deberta(1024, 24, 4096)},
        {"deberta-v3-base", deberta_v3(768, 12, 3072)},
        {"deberta-v3-xsmall", deberta_v3(384, 12, 1536)},
        {"ModernBERT-base", modernbert(768, 22, 1152)},
        {"ModernBERT-large", modernbert(1024, 28, 2624)},
        {"opt-30b", opt(7168, 48)},
        {"opt-66b", opt(9216, 64)},
        {"opt-175b", opt(12288, 96)},
        {"pythia-14m", neox(50304, 128, 6)},
        {"pythia-12b", neox(50688, 5120, 36)},
        {"dolly-v2-3b", neox(50280, 2560, 32)},
        {"RedPajama-INCITE-Base-3B-v1", neox(50432, 2560, 32)},
        {"gpt-neo-2.7B", gpt_neo(2560, 32)},
        {"codegen-350M-mono", codegen(1024, 20)},
        {"codegen-2B-mono", codegen(2560, 32)},
        {"codegen-6B-mono", codegen(4096, 33)},
        {"codegen-16B-mono", codegen(6144, 34)},
        {"gpt_bigcode-santacoder", bigcode(49280, 2048)},
        {"starcoderbase-1b", bigcode(49152, 8192)},
        {"mpt-7b", mpt(4096, 32)},
        {"mpt-30b", mpt(7168, 48)},
        {"llama-13b", llama(32000, 5120, 40, 13824, 5120)},
        {"vicuna-7b-v1.5", llama(32000, 4096, 32, 11008, 4096)},
        {"vicuna-13b-v1.5", llama(32000, 5120, 40, 13824, 5120)},
        {"CodeLlama-13b", llama(32016, 5120, 40, 13824, 5120)},
        {"Llama-3-8B", llama(128256, 4096, 32, 14336, 1024)},
        {"Llama-3-70B", llama(128256, 8192, 80, 28672, 1024)},
        {"Llama-3.1-70B", llama(128256, 8192, 80, 28672, 1024)},
        {"SmolLM2-135M", llama(49152, 576, 30, 1536, 192, true)},
        {"SmolLM2-360M", llama(49152, 960, 32, 2560, 320, true)},
        {"SmolLM2-1.7B", llama(49152, 2048, 24, 8192, 2048, true)},
        {"deepseek-coder-1.3b-base", llama(32256, 2048, 24, 5504, 2048)},
        {"deepseek-coder-6.7b-base", llama(32256, 4096, 32, 11008, 4096)},
        {"Mistral-7B-v0.2", llama(32000, 4096, 32, 14336, 1024)},
        {"zephyr-7b-beta", llama(32000, 4096, 32, 14336, 1024)},
        {"internlm2-20b", llama(92544, 6144, 48, 16384, 1024)},
        {"Phi-3-mini-128k", llama(32064, 3072, 32, 8192, 3072)},
        {"Phi-3.5-mini", llama(32064, 3072, 32, 8192, 3072)},
        {"Qwen1.5-14B", qwen2(152064, 5120, 40, 13696, 5120)},
        {"Qwen2-1.5B", qwen2(151936, 1536, 28, 8960, 256, true)},
        {"Qwen2.5-72B", qwen2(152064, 8192, 80, 29568, 1024)},
        {"OLMo-2-1124-13B", olmo2(100352, 5120, 40, 13824)},
        {"gemma-3-4b", gemma3(2560, 34, 8, 4, 256, 10240)},
        {"gemma-3-12b", gemma3(3840, 48, 16, 8, 256, 15360)},
        {"gemma-3-27b", gemma3(5376, 62, 32, 16, 128, 21504)},
        {"transfo-xl-wt103", transformer_xl()},
        {"t5-v1_1-small", t5_gated(512, 8, 6, 1024)},
        {"t5-v1_1-base", t5_gated(768, 12, 12, 2048)},
        {"t5-v1_1-large", t5_gated(1024, 24, 16, 2816)},
        {"t5-v1_1-xl", t5_gated(2048, 24, 32, 5120)},
        {"t5-v1_1-xxl", t5_gated(4096, 24, 64, 10240)},
        {"switch-base-8", switch_base_8()},
        {"m2m100_418M", translator(128112, 1024, 12, 4096) + 4 * 1024},
        {"nllb-200-distilled-600M", translator(256206, 1024, 12, 4096) + 4 * 1024},
        {"opus-mt-en-de", translator(58101, 512, 6, 2048)},
        {"bart-large-cnn", bart_large(50264)},
        {"whisper-large", whisper(32, 51865, 80)},
        {"whisper-large-v3-turbo", whisper(4, 51866, 128)},
        {"wav2vec2-large", wav2vec2_large(false)},
        {"wav2vec2-xls-r-300m", wav2vec2_large(true)},
        {"clip-vit-large-patch14-336", clip_large(336 / 14)},
        {"dlrm", dlrm()},
        {"gnmt", gnmt()},
    };
}
