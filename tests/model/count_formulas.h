// SPDX-License-Identifier: GPL-2.0-or-later
// Counts by hand: each function adds up the matrices, biases and norms of one design, as its public code has them.
// V: rows of the vocabulary, P: of positions, d: width, L: layers, f: inner width, kv: width of keys and values.
#pragma once

#include "tests/model/public_counts.h"

namespace hand_counts {

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
constexpr Count bigcode(Count V, Count P, Count d = 2048, Count L = 24) {
    const Count qkv = d + 2 * 128;
    return (V + P) * d + L * (d * qkv + qkv + 9 * d * d + 6 * d + 4 * d) + 2 * d;
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
constexpr Count whisper(Count decoder_layers, Count V, Count mels, Count d = 1280, Count layers = 32) {
    const Count attention = 4 * d * d + 3 * d, inner = 8 * d * d + 5 * d;
    const Count encoder = 3 * mels * d + d + 3 * d * d + d + 1500 * d + layers * (attention + inner + 4 * d) + 2 * d;
    return encoder + (V + 448) * d + decoder_layers * (2 * attention + inner + 6 * d) + 2 * d;
}
// Seven convolutions to 512 channels (windows 10, 3 x 4, 2 x 2), with biases and a norm each where stable, else one
// norm; projection; a grouped convolution of positions with normed weights; the masked frame.
constexpr Count wav2vec2(bool stable, Count d = 1024, Count L = 24) {
    const Count features = 512 * 10 + 512 * 512 * (3 * 4 + 2 * 2) + (stable ? 7 * 512 + 7 * 1024 : 1024);
    const Count positions = d * (d / 16) * 128 + d + 128;
    return features + 2 * 512 + 512 * d + d + positions + 2 * d + L * encoder_block(d, 4 * d) + d;
}
// Image side (class token, patches of 14, two norms), text side of 77 tokens, two projections and a temperature.
constexpr Count clip(Count side, Count patch = 14, Count d = 1024, Count L = 24, Count t = 768) {
    const Count image = d + 3 * patch * patch * d + (side * side + 1) * d + 4 * d + L * encoder_block(d, 4 * d);
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

// Words, 512 positions, 2 segments as BERT, one row of segments and 514 positions here; blocks; the pooler.
constexpr Count roberta(Count V, Count d = 768, Count L = 12, Count f = 3072, Count P = 514) {
    return (V + P + 1) * d + 2 * d + L * encoder_block(d, f) + d * d + d;
}
// One block for all layers, tables of width 128 and a projection.
constexpr Count albert(Count d) {
    return (30000 + 512 + 2) * 128 + 2 * 128 + 128 * d + d + encoder_block(d, 4 * d) + d * d + d;
}
// Tables as wide as the blocks, no pooler.
constexpr Count electra(Count d, Count L, Count f) { return (30522 + 512 + 2) * d + 2 * d + L * encoder_block(d, f); }
// Five matrices without biases, three biases of attention, two segments a block; the masked row.
constexpr Count xlnet(Count d, Count L) {
    const Count f = 4 * d;
    return 32000 * d + d + L * (5 * d * d + 3 * d + 2 * d + 2 * d + 2 * d * f + f + d + 2 * d);
}

// A decoder with learned positions: 12 d^2 weights, 13 d biases and norms a block.
constexpr Count gpt2(Count V, Count P, Count d, Count L, bool final_norm = true) {
    return (V + P) * d + L * (12 * d * d + 13 * d) + (final_norm ? 2 * d : 0);
}
// A norm over the words; positions are slopes.
constexpr Count bloom(Count d, Count L) { return 250880 * d + 2 * d + L * (12 * d * d + 13 * d) + 2 * d; }
// Attention without biases, one norm a block for both parts, logits with a bias.
constexpr Count gptj(Count V, Count d, Count L) {
    return 2 * V * d + V + L * (4 * d * d + 8 * d * d + 5 * d + 2 * d) + 2 * d;
}
// The same with biases everywhere.
constexpr Count phi(Count d, Count L) {
    return 2 * 51200 * d + 51200 + L * (4 * (d * d + d) + 8 * d * d + 5 * d + 2 * d) + 2 * d;
}
// No biases, heads of 64; of keys and values `kv` heads; `norms` a block.
constexpr Count falcon(Count d, Count L, Count kv, Count norms, Count tables = 1) {
    return tables * 65024 * d + L * (d * (d + 2 * kv * 64) + d * d + 8 * d * d + 2 * norms * d) + 2 * d;
}
// Twice as wide inside, 16 states, a window of 4, steps through a rank of d / 16.
constexpr Count mamba(Count d, Count L) {
    const Count e = 2 * d, rank = (d + 15) / 16;
    const Count layer = 2 * e * d + 5 * e + e * (rank + 32) + rank * e + e + 16 * e + e + e * d + d;
    return 50280 * d + L * layer + d;
}
// Two heads of 128 for keys and values, their product alone with biases.
constexpr Count chatglm(Count V, Count L) {
    const Count d = 4096, qkv = d + 2 * 2 * 128;
    return 2 * V * d + L * (d * qkv + qkv + d * d + 3 * d * 13696 + 2 * d) + d;
}
// Biases everywhere, norms with biases.
constexpr Count starcoder2(Count d, Count L, Count kv, Count tables) {
    const Count f = 4 * d;
    return tables * 49152 * d + L * (2 * (d * d + d) + 2 * (d * kv + kv) + 2 * d * f + f + d + 4 * d) + 2 * d;
}
// Heads of a width of their own (q of them, kv for keys and values), one table, `norms` a block.
constexpr Count gemma(Count d, Count L, Count q, Count kv, Count width, Count f, Count norms) {
    return 256000 * d + L * (2 * d * (q + kv) * width + 3 * d * f + norms * d) + d;
}
constexpr Count gemma3_small(Count d, Count L, Count q, Count kv, Count f) {
    return 262144 * d + L * (2 * d * (q + kv) * 256 + 2 * 256 + 3 * d * f + 4 * d) + d;
}
// Heads of 128 with norms over q's and k's.
constexpr Count qwen3(Count d, Count L, Count q, Count kv, Count f, Count tables) {
    return tables * 151936 * d + L * (2 * d * (q + kv) * 128 + 2 * 128 + 3 * d * f + 2 * d) + d;
}
// In the place of an inner part: so many gated experts and their router.
constexpr Count experts(Count d, Count count, Count f) { return count * 3 * d * f + d * count; }
constexpr Count qwen3_moe(Count d, Count L, Count q, Count f) {
    return qwen3(d, L, q, 4, 0, 2) + L * experts(d, 128, f);
}
constexpr Count mixtral(Count d, Count L, Count f) { return llama(32000, d, L, 0, 1024) + L * experts(d, 8, f); }
// Norms without weights.
constexpr Count olmo(Count d, Count L, Count f, Count tables) {
    return tables * 50304 * d + L * (4 * d * d + 3 * d * f);
}
// Attention by low-rank keys and values (512 and 64 of position), queries of 128 + 64 a head, through a rank of their
// own or not; the first blocks have a plain inner part.
constexpr Count deepseek(Count V, Count d, Count L, Count heads, Count q_rank, Count first, Count f, Count routed,
                         Count shared, Count fe, bool choice_bias) {
    const Count q = heads * (128 + 64);
    const Count queries = q_rank > 0 ? d * q_rank + q_rank + q_rank * q : d * q;
    const Count attention = queries + d * (512 + 64) + 512 + 512 * heads * (128 + 128) + heads * 128 * d;
    const Count moe = experts(d, routed, fe) + shared * 3 * d * fe + (choice_bias ? routed : 0);
    return 2 * V * d + L * (attention + 2 * d) + first * 3 * d * f + (L - first) * moe + d;
}

// Not gated, heads of k; one table.
constexpr Count t5(Count d, Count L, Count heads, Count f, Count k = 64) {
    return 32128 * d + L * (3 * 4 * d * heads * k + 2 * 2 * d * f + 5 * d) + 2 * d + 2 * 32 * heads;
}
// As t5_gated over a vocabulary of 250,112.
constexpr Count mt5(Count d, Count L, Count heads, Count f) {
    return t5_gated(d, L, heads, f) + 2 * (250112 - 32128) * d;
}
// Learned positions and a norm over the tables on each side.
constexpr Count bart(Count V, Count d, Count L, Count P) { return translator(V, d, L, 4 * d) + 2 * P * d + 4 * d; }

}  // namespace hand_counts
