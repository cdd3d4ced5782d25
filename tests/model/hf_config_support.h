// SPDX-License-Identifier: GPL-2.0-or-later
// Small configs of many families, and what a key adds to one of them, by transformers' code.
#pragma once

#include "tests/model/model_test_support.h"

namespace hf_configs {

struct Change {
    const char* keys;   // written behind the family's sizes
    std::int64_t more;  // trained parameters
};

inline dlcast::Workload with_keys(const std::string& sizes, const std::string& keys = "") {
    return good_workload("{" + sizes + keys + "}");
}

inline std::int64_t trained(const std::string& sizes, const std::string& keys = "") {
    return static_cast<std::int64_t>(with_keys(sizes, keys).model.trainable_parameters);
}

inline void check_changes(const std::string& sizes, const std::vector<Change>& changes) {
    const std::int64_t before = trained(sizes);
    for (const Change& change : changes) {
        INFO(sizes << change.keys);
        CHECK(trained(sizes, change.keys) - before == change.more);
    }
}

inline bool assumes(const dlcast::Workload& w, const std::string& text) {
    for (const std::string& sentence : w.assumed)
        if (sentence.find(text) != std::string::npos) return true;
    return false;
}

/// Width 64, two layers, four heads of 16, an inner part of 256, 1,000 words and 128 positions.
inline std::string sizes(const std::string& type) {
    return R"("model_type": ")" + type +
           R"(", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 256,
        "vocab_size": 1000, "max_position_embeddings": 128)";
}

/// The same in GPT-2's words.
inline std::string gpt2_sizes(const std::string& type) {
    return R"("model_type": ")" + type +
           R"(", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 1000, "n_positions": 128)";
}

/// The same on both sides, in BART's words.
inline std::string bart_sizes(const std::string& type) {
    return R"("model_type": ")" + type + R"(", "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 256, "decoder_ffn_dim": 256,
        "vocab_size": 1000, "max_position_embeddings": 128)";
}

/// The small model of an architecture, with three labels.
inline dlcast::Workload with_head(const std::string& sizes, const std::string& architecture) {
    return with_keys(sizes,
                     R"(, "id2label": {"0": "a", "1": "b", "2": "c"}, "architectures": [")" + architecture + R"("])");
}

constexpr std::int64_t table = 1000 * 64;
constexpr std::int64_t dense = 64 * 64 + 64;  // one product with its bias
constexpr std::int64_t norm = 2 * 64;
constexpr std::int64_t qkvo_biases = 4 * 64;

}  // namespace hf_configs
