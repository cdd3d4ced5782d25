// SPDX-License-Identifier: GPL-2.0-or-later
// The parts all transformers are made of (Vaswani et al., arXiv:1706.03762), on sequences [tokens, width].
#pragma once

#include <cstdint>
#include <string>

#include "predictor/model/builder.h"

namespace dlcast {

struct AttentionOptions {
    std::int64_t heads = 1;
    std::int64_t kv_heads = 0;  // 0: as many as heads; fewer: grouped queries
    std::int64_t head_dim = 0;  // 0: width / heads
    bool bias = true;           // of the query, key and value projections
    bool out_bias = true;
    bool packed = false;  // one projection for the three
    bool rotary = false;
    bool causal = false;
    bool fused = false;
    bool dropout = false;
    std::string style;          // Layer::function of an attention layer
    std::int64_t memory = 0;    // earlier tokens that keys and values also see (Transformer-XL)
    std::int64_t keys = 0;      // each query sees so many, its window's; 0: all
    bool qk_norm = false;       // over each head of queries and keys
    bool wide_qk_norm = false;  // over all heads at once, or with weights of its own for each
    LayerKind qk_norm_kind = LayerKind::rms_norm;
    bool qk_norm_bias = false;
    bool out_norm = false;  // an RMS norm before the output projection
    bool sinks = false;     // one learnt logit of each head beside the scores
};

struct MlpOptions {
    std::int64_t inner = 0;
    std::string activation = "gelu";
    bool gated = false;  // activation(gate(x)) * up(x)
    bool bias = true;
    std::int64_t experts = 0, active_experts = 1;  // mixture of experts with a linear router
    std::int64_t shared = 0;                       // inner width of an expert that sees every token; 0: none
    bool shared_gate = false;                      // whose output has a gate of its own
    bool router_bias = false;
    bool inner_norm = false;       // an RMS norm before the last product
    double activation_learns = 0;  // parameters of the activation
};

struct BlockOptions {
    AttentionOptions attention;
    MlpOptions mlp;
    LayerKind norm = LayerKind::layer_norm;
    bool norm_bias = true;
    bool pre_norm = true;
    bool dropout = true;      // after attention and MLP
    bool one_norm = false;    // attention and MLP side by side behind one norm
    bool both_norms = false;  // a second norm behind attention and MLP, besides pre_norm's
};

/// Projections, attention and output projection. `source`: keys and values come from there (cross-attention).
void add_attention(ModelBuilder& b, const std::string& at, const AttentionOptions& options,
                   const Shape* source = nullptr);
void add_mlp(ModelBuilder& b, const std::string& at, const MlpOptions& options);
/// Self-attention, cross-attention over `source` if any, MLP; each with norm, dropout and residual addition.
void add_block(ModelBuilder& b, const std::string& at, const BlockOptions& options, const Shape* source = nullptr);
/// Longformer's second set of projections: one token, the first, attends to all by them; the keys and values are
/// everybody's (Beltagy et al., arXiv:2004.05150, section 3.1).
void add_global_projections(ModelBuilder& b, const std::string& at);
/// Logits over `vocab` and their loss. `tied`: the weight is the embedding's.
void add_lm_head(ModelBuilder& b, std::int64_t vocab, bool tied, bool bias = false);

/// "" or a sentence's reason why `heads` do not divide `width`.
std::string head_fault(std::int64_t width, std::int64_t heads, std::int64_t kv_heads);

}  // namespace dlcast
