// SPDX-License-Identifier: GPL-2.0-or-later
// Decoder-only language models: what their families differ in. Shared by hf_decoder*.cpp and hf_llama*.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "predictor/model/hf_config.h"
#include "predictor/model/transformer.h"

namespace dlcast {

struct Decoder {
    std::int64_t layers = 0, vocab = 0, width = 0;
    std::int64_t positions = 0;        // what the model allows
    std::int64_t position_offset = 0;  // rows before the first position
    bool learned_positions = false;
    bool embedding_norm = false, final_norm = true;
    bool embedding_dropout = false;
    std::int64_t embedding = 0;  // width of the token table, if not the model's
    bool tied = true, head_bias = false;
    bool norm_weight = true;  // false: norms without parameters
    bool cross = false;       // layers also attend to another sequence, as long as the sample
    std::int64_t window = 0;  // tokens that windowed layers look back; 0: all
    BlockOptions block;
    /// Changes the block of one layer: dense before sparse ones, say.
    std::function<void(std::int64_t layer, BlockOptions& block)> vary;
    std::function<bool(std::int64_t layer)> windowed;
};

/// A causal decoder with the sizes of a config in GPT-2's words (n_layer, n_embd, n_head, n_positions), its inner part
/// (n_inner, else 4 widths) and activation; `positions` where the config says none.
Decoder decoder_like_gpt2(HfConfig& c, std::int64_t positions);
/// The same in the words of later families (num_hidden_layers, hidden_size, num_attention_heads,
/// max_position_embeddings); the inner part is left to the family.
Decoder decoder_of_hidden_size(HfConfig& c, std::int64_t positions);

/// Sets `window` and `windowed` by "sliding_window", "layer_types" and their relatives.
void read_windows(HfConfig& c, Decoder& d);

/// The head of the config's task behind [tokens, width], and its loss: logits over `vocab`, of a class, of each token's
/// class, or of an answer's first and last token.
void add_decoder_head(ModelBuilder& b, HfConfig& c, std::int64_t vocab, bool tied, bool bias = false);

Result<ModelSpec> build_decoder(HfConfig& c, const std::string& name, const std::string& family, const Decoder& d);

/// LLaMA and what descends from it.
Result<ModelSpec> build_llama(HfConfig& c, const std::string& name);
const std::vector<HfFamily>& llama_families();
const std::vector<HfFamily>& more_decoder_families();

}  // namespace dlcast
