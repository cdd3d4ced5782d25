// SPDX-License-Identifier: GPL-2.0-or-later
// Where a config is silent its family's value in transformers is taken, and named where it changes layers.
#include "tests/model/hf_config_support.h"

using namespace dlcast;
using namespace hf_configs;

namespace {

std::string without_inner(const std::string& type) {
    return R"("model_type": ")" + type + R"(", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "vocab_size": 1000, "max_position_embeddings": 128)";
}

// Width 64, two layers, 16 heads of 4.
std::string many_heads(const std::string& type) {
    return R"("model_type": ")" + type + R"(", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 16,
        "intermediate_size": 256, "vocab_size": 1000, "max_position_embeddings": 128, "head_dim": 4)";
}

}  // namespace

// Keys and values are 64 x 4 for each head of theirs.
TEST_CASE("key heads that a config does not state are those of its family", "[model][hf]") {
    for (const auto& [type, heads] : {std::pair<const char*, std::int64_t>{"mistral", 8},
                                      {"mixtral", 8},
                                      {"gemma2", 4},
                                      {"gemma3_text", 4},
                                      {"starcoder2", 2}}) {
        INFO(type);
        const auto w = with_keys(many_heads(type));
        CHECK(layer_named(w, "h.0.attn.k").output == Shape{128, heads * 4});
        CHECK(assumes(w, "num_key_value_heads " + std::to_string(heads) + " (not stated; transformers' default for " +
                             type + ")"));
        const auto stated = with_keys(many_heads(type), R"(, "num_key_value_heads": 16)");
        CHECK_FALSE(assumes(stated, "num_key_value_heads"));
        // Null says as many as heads.
        const auto null = with_keys(many_heads(type), R"(, "num_key_value_heads": null)");
        CHECK(layer_named(null, "h.0.attn.k").output == Shape{128, 64});
    }
    const auto llama = with_keys(many_heads("llama"));
    CHECK(layer_named(llama, "h.0.attn.k").output == Shape{128, 64});
    CHECK_FALSE(assumes(llama, "num_key_value_heads"));
}

// An expert has three matrices; a router has a column for each.
TEST_CASE("experts that a config does not state are those of its family", "[model][hf]") {
    const auto experts = [](const char* type, const std::string& keys) {
        return trained(sizes(type), R"(, "head_dim": 16, "num_key_value_heads": 4)") -
               trained(sizes(type), R"(, "head_dim": 16, "num_key_value_heads": 4)" + keys);
    };
    const std::int64_t dense_part = 3 * 64 * 256;
    CHECK(experts("mixtral", R"(, "num_local_experts": 2)") == 2 * 6 * (dense_part + 64));
    CHECK(experts("olmoe", R"(, "num_experts": 8)") == 2 * 56 * (dense_part + 64));
    CHECK(experts("qwen2_moe", R"(, "num_experts": 4)") == 2 * 56 * (3 * 64 * 1408 + 64));
    CHECK(experts("qwen2_moe", R"(, "shared_expert_intermediate_size": 8)") == 2 * 3 * 64 * (5632 - 8));
    const auto w = with_keys(sizes("mixtral"));
    CHECK(assumes(w, "num_local_experts 8 (not stated; transformers' default for mixtral)"));
    CHECK(layer_named(w, "h.0.mlp.dispatch").output == Shape{2 * 128, 64});
    // Of switch_transformers three layers of twelve.
    const std::string t5 = R"("model_type": "switch_transformers", "d_model": 64, "num_layers": 12, "num_heads": 4,
        "d_kv": 16, "d_ff": 256, "vocab_size": 1000)";
    CHECK(trained(t5) - trained(t5, R"(, "num_experts": 1)") == 6 * 7 * (2 * 64 * 256 + 64));
}

TEST_CASE("an inner part that a config does not state is as wide as its family's", "[model][hf]") {
    for (const auto& [type, inner] : {std::pair<const char*, std::int64_t>{"bert", 3072},
                                      {"megatron-bert", 4096},
                                      {"vit", 3072},
                                      {"beit", 3072},
                                      {"wav2vec2", 3072},
                                      {"phi", 8192}}) {
        INFO(type);
        CHECK(trained(without_inner(type)) - trained(without_inner(type), R"(, "intermediate_size": 256)") ==
              2 * (2 * 64 + 1) * (inner - 256));
        CHECK(assumes(with_keys(without_inner(type)), "intermediate_size " + std::to_string(inner)));
    }
    // One that nobody told us of has four widths.
    CHECK(trained(without_inner("sparklebert")) ==
          trained(without_inner("sparklebert"), R"(, "intermediate_size": 256)"));
}

TEST_CASE("switches that a config does not state are those of its family", "[model][hf]") {
    const std::string t5 = R"("model_type": "mt5", "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16,
        "d_ff": 256, "vocab_size": 1000)";
    check_changes(t5,
                  {{R"(, "tie_word_embeddings": true)", -table}, {R"(, "feed_forward_proj": "relu")", 4 * -64 * 256}});
    const auto w = with_keys(t5);
    CHECK(assumes(w, "tie_word_embeddings false (not stated; transformers' default for mt5)"));
    CHECK(assumes(w, "feed_forward_proj gated-gelu"));
    check_changes(sizes("deberta-v2"), {{R"(, "relative_attention": false, "position_biased_input": true)", 0}});
    CHECK(assumes(with_keys(sizes("deberta-v2")), "relative_attention false"));
}

TEST_CASE("a number of experts counts in families that have some", "[model][hf]") {
    for (const char* type : {"llama", "qwen2"}) {
        check_changes(sizes(type), {{R"(, "num_experts": 8)", 0}});
        CHECK(assumes(with_keys(sizes(type), R"(, "num_experts": 8)"),
                      std::string("num_experts of the config is left out (") + type + " has no experts)"));
    }
    CHECK_FALSE(assumes(with_keys(sizes("llama"), R"(, "num_experts": 0)"), "num_experts"));
    // Seven experts and a router more, also of a family that nobody told us of.
    const std::string unknown = sizes("newllm") + R"(, "num_key_value_heads": 4)";
    check_changes(unknown, {{R"(, "num_experts": 8)", 2 * (7 * 3 * 64 * 256 + 8 * 64)}});
}

// Twelve layers of two products with biases: 2 x 1024 + 1 for each number of the inner width.
TEST_CASE("CLIP's towers have transformers' inner widths where the config is silent", "[model][hf]") {
    const auto clip = [](const std::string& keys) {
        return R"("model_type": "clip", "vision_config": {"hidden_size": 1024, "num_attention_heads": 16)" + keys + "}";
    };
    CHECK(trained(clip("")) - trained(clip(R"(, "intermediate_size": 4096)")) == 12 * (2 * 1024 + 1) * (3072 - 4096));
    CHECK(assumes(with_keys(clip("")), "intermediate_size 3072 of vision_config (not stated"));
    CHECK_FALSE(assumes(with_keys(clip("")), "of text_config"));  // 2048, four times its 512
}
