// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of a config.json that change a decoder: what each adds to a small one.
#include "tests/model/hf_config_support.h"

using namespace dlcast;
using namespace hf_configs;

TEST_CASE("an untied head of a decoder has a matrix of its own", "[model][hf]") {
    for (const char* type : {"gpt2", "openai-gpt", "ctrl"})
        check_changes(gpt2_sizes(type), {{R"(, "tie_word_embeddings": false)", table}});
    check_changes(sizes("bloom"), {{R"(, "tie_word_embeddings": false)", table}});
}

TEST_CASE("the ties of a model that sees and reads are those of its text part", "[model][hf]") {
    const std::string text = sizes("llama");
    const std::string both = R"("model_type": "llava", "vision_config": {}, "text_config": {)" + text + "}";
    check_changes(both, {{R"(, "tie_word_embeddings": true)", -table}});
}

TEST_CASE("a decoder may also look over an encoder's output", "[model][hf]") {
    check_changes(gpt2_sizes("gpt2"), {{R"(, "add_cross_attention": true)", 2 * (4 * dense + norm)}});
    CHECK(assumes(with_keys(gpt2_sizes("gpt2"), R"(, "add_cross_attention": true)"), "cross-attention to 128 tokens"));
}

TEST_CASE("a decoder classifies each token where its architecture says so", "[model][hf]") {
    CHECK(layer_named(with_head(sizes("llama"), "LlamaForTokenClassification"), "score").output == Shape{128, 3});
}

// A product with two outputs and their biases instead of the table.
TEST_CASE("a decoder answers questions where its architecture or the task says so", "[model][hf]") {
    const std::string mamba = R"("model_type": "mamba", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 1000)";
    const std::string deepseek = sizes("deepseek_v3") + R"(, "q_lora_rank": 32, "kv_lora_rank": 24)";
    for (const std::string& config : {gpt2_sizes("gpt2"), sizes("llama"), deepseek, mamba}) {
        INFO(config);
        for (const std::string& keys : {std::string(R"(, "architectures": ["AnyForQuestionAnswering"])"),
                                        std::string(R"(, "training": {"task": "question_answering"})")}) {
            const bool whole = keys.find("training") != std::string::npos;
            const auto w = whole ? good_workload("{\"model\": {" + config + "}" + keys + "}") : with_keys(config, keys);
            CHECK(layer_named(w, "qa_outputs").output.back() == 2);
            CHECK(layer_named(w, "qa_outputs").parameters == 2 * 64 + 2);
            for (const Layer& layer : w.model.layers) CHECK(layer.name != "lm_head");
        }
        CHECK(layer_named(with_head(config, "AnyForSequenceClassification"), "score").output == Shape{3});
        CHECK(layer_named(with_head(config, "AnyForTokenClassification"), "score").parameters == 3 * 64 + 3);
    }
    const auto masked = good_workload("{\"model\": {" + sizes("llama") + R"(}, "training": {"task": "masked_lm"}})");
    CHECK(assumes(masked, "task masked_lm of llama is computed as causal_lm"));
}

// The page's figure; its config has no hidden_size. n_embed goes before hidden_size where both are there.
TEST_CASE("Bloom's width has a name of its own", "[model][hf]") {
    const auto w = good_workload(R"({"model_type": "bloom", "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16,
        "vocab_size": 250880, "seq_length": 2048})");
    CHECK(w.model.parameters == 559'214'592);
    for (const char* type : {"bloom", "falcon"})
        CHECK(layer_named(with_keys(sizes(type), R"(, "n_embed": 128)"), "embed.tokens").output.back() == 128);
}

TEST_CASE("biases of attention follow the config where transformers has them so", "[model][hf]") {
    const std::vector<Change> added = {{R"(, "attention_bias": true)", 2 * qkvo_biases}};
    for (const char* type : {"llama", "gemma", "cohere", "olmo", "granite", "nemotron"}) {
        INFO(type);
        check_changes(sizes(type) + R"(, "head_dim": 16)", added);
    }
    check_changes(sizes("mistral"), {{R"(, "attention_bias": true)", 0}});
    CHECK(assumes(with_keys(sizes("mistral"), R"(, "attention_bias": true)"),
                  "attention_bias of the config is left out, as if it were false"));
    check_changes(sizes("gpt_neox"), {{R"(, "attention_bias": false)", 2 * -qkvo_biases}});
    check_changes(sizes("helium") + R"(, "head_dim": 16)", {{R"(, "attention_bias": true)", 2 * 3 * 64}});
    check_changes(sizes("seed_oss") + R"(, "head_dim": 16)",
                  {{R"(, "attention_bias": false)", 2 * -3 * 64}, {R"(, "attention_out_bias": true)", 2 * 64}});
    check_changes(sizes("internlm"), {{R"(, "bias": false)", 2 * -qkvo_biases}});
    check_changes(sizes("ernie4_5") + R"(, "head_dim": 16)",
                  {{R"(, "use_bias": true)", 2 * (qkvo_biases + 2 * 256 + 64)}});
    check_changes(sizes("qwen2_moe"), {{R"(, "qkv_bias": false)", 2 * -3 * 64}});
    check_changes(sizes("qwen"), {{R"(, "no_bias": false)", 2 * (64 + 2 * 128 + 64)}});
    check_changes(sizes("opt") + R"(, "ffn_dim": 256)", {{R"(, "enable_bias": false)", 2 * -(qkvo_biases + 256 + 64)},
                                                         {R"(, "layer_norm_elementwise_affine": false)", -5 * norm}});
    // The two latents and the output: 32, 24 + 8 and 64.
    check_changes(sizes("deepseek_v3") + R"(, "q_lora_rank": 32, "kv_lora_rank": 24, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16)",
                  {{R"(, "attention_bias": true)", 2 * (32 + 32 + 64)}});
    check_changes(R"("model_type": "mamba", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 1000)",
                  {{R"(, "use_conv_bias": false)", 2 * -128}, {R"(, "use_bias": true)", 2 * (256 + 64)}});
}

// Over a head's 16 numbers, weights and biases; or with weights for each of four heads of queries and of keys.
TEST_CASE("norms of queries and keys are as wide as the family has them", "[model][hf]") {
    check_changes(sizes("phi"), {{R"(, "qk_layernorm": true)", 2 * 2 * 2 * 16}});
    check_changes(sizes("persimmon"), {{R"(, "qk_layernorm": false)", 2 * -2 * 2 * 16}});
    check_changes(sizes("stablelm"), {{R"(, "qk_layernorm": true)", 2 * 2 * 4 * 16}});
    check_changes(sizes("cohere"), {{R"(, "use_qk_norm": true)", 2 * 2 * 4 * 16}});
    check_changes(sizes("glm4_moe") + R"(, "head_dim": 16)", {{R"(, "use_qk_norm": true)", 2 * 2 * 16}});
}

TEST_CASE("Falcon's norms, inner part and positions follow the config", "[model][hf]") {
    check_changes(sizes("falcon"), {{R"(, "ffn_hidden_size": 128)", 2 * 2 * 64 * -128},
                                    {R"(, "parallel_attn": false)", 2 * norm},
                                    {R"(, "new_decoder_architecture": true, "num_kv_heads": 1)", 2 * norm},
                                    {R"(, "new_decoder_architecture": true, "num_kv_heads": 1,
                                         "num_ln_in_parallel_attn": 1)",
                                     0}});
    const auto w = with_keys(sizes("falcon"), R"(, "alibi": true)");
    for (const Layer& layer : w.model.layers) CHECK(layer.function != "rope");
}

// An expert has three matrices of 64 x 32, the dense part three of 64 x 256.
TEST_CASE("layers without experts are those the config lists", "[model][hf]") {
    const std::string moe = sizes("qwen3_moe") + R"(, "head_dim": 16, "num_experts": 8, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32)";
    const std::int64_t dense_for_experts = 3 * 64 * 256 - 8 * 3 * 64 * 32 - 8 * 64;
    check_changes(moe, {{R"(, "mlp_only_layers": [0])", dense_for_experts},
                        {R"(, "mlp_only_layers": [])", 0},
                        {R"(, "decoder_sparse_step": 2)", dense_for_experts}});
    check_changes(sizes("deepseek") + R"(, "n_routed_experts": 8, "moe_intermediate_size": 32)",
                  {{R"(, "moe_layer_freq": 2)", dense_for_experts}});
    // A router's bias, a learnt logit of each head and all biases are always there: 4 + 8, 2 x 256 and 64 of 8 experts.
    const std::string experts = R"(, "head_dim": 16, "num_local_experts": 8)";
    CHECK(trained(sizes("gpt_oss"), experts) - trained(sizes("mixtral"), experts) ==
          2 * (qkvo_biases + 4 + 8 + 8 * (2 * 256 + 64)));
}

TEST_CASE("a window of attention counts where the kernels skip what lies beyond it", "[model][hf]") {
    const auto keys = [](const std::string& config, const char* layer) {
        return layer_named(with_keys(config), layer).kv_tokens;
    };
    const std::string flash = R"(, "sliding_window": 32, "attn_implementation": "flash_attention_2")";
    // Of causal attention half of the keys count: 2 (32 - 32^2 / 2 / 128).
    CHECK(keys(sizes("mistral") + flash, "h.0.attn.scores") == 56);
    CHECK(keys(sizes("gemma2") + flash, "h.0.attn.scores") == 56);
    CHECK(keys(sizes("gemma2") + flash, "h.1.attn.scores") == 0);
    CHECK(keys(sizes("qwen2") + flash, "h.1.attn.scores") == 0);
    const std::string listed = R"(, "layer_types": ["full_attention", "sliding_attention"])";
    CHECK(keys(sizes("qwen2") + flash + listed, "h.1.attn.scores") == 56);
    const auto masked = with_keys(sizes("mistral"), R"(, "sliding_window": 32)");
    CHECK(layer_named(masked, "h.0.attn.scores").kv_tokens == 0);
    CHECK(assumes(masked, "sliding_window 32 of 2 layers: the scores of all 128 tokens are computed"));
}

// Three biases of a product of 64 to 64, and of the other products 64 + 512 + 64.
TEST_CASE("ChatGLM's norms and biases follow the config", "[model][hf]") {
    const std::string glm = R"("model_type": "chatglm", "hidden_size": 64, "num_layers": 2, "num_attention_heads": 4,
        "ffn_hidden_size": 256, "padded_vocab_size": 1000, "seq_length": 128)";
    check_changes(glm, {{R"(, "rmsnorm": false)", 5 * 64},
                        {R"(, "add_bias_linear": true)", 2 * (3 * 64 + 64 + 512 + 64)},
                        {R"(, "add_qkv_bias": true)", 2 * 3 * 64}});
    CHECK(assumes(with_keys(glm, R"(, "pre_seq_len": 128)"), "pre_seq_len of the config is left out"));
}

TEST_CASE("what transformers does not read of old configs is named", "[model][hf]") {
    const std::string mpt = R"("model_type": "mpt", "d_model": 64, "n_layers": 2, "n_heads": 4, "vocab_size": 1000)";
    const auto w =
        with_keys(mpt, R"(, "attn_config": {"qk_ln": true, "attn_type": "multiquery_attention", "alibi": false})");
    for (const char* key : {"qk_ln", "attn_type", "learned_pos_emb"})
        CHECK(assumes(w, std::string(key) + " of the config is left out"));
    CHECK_FALSE(assumes(with_keys(mpt, R"(, "attn_config": {"alibi": true}, "learned_pos_emb": true)"), "is left out"));
    CHECK(assumes(with_keys(bart_sizes("marian"), R"(, "normalize_before": true)"), "normalize_before of the config"));
    CHECK(assumes(with_keys(bart_sizes("mbart"), R"(, "normalize_embedding": false)"),
                  "normalize_embedding of the config"));
    CHECK_FALSE(assumes(with_keys(bart_sizes("mbart"), R"(, "normalize_before": true, "normalize_embedding": true)"),
                        "normalize"));
    CHECK(assumes(with_keys(sizes("deepseek_v3"), R"(, "num_nextn_predict_layers": 1)"), "num_nextn_predict_layers"));
}

// The norms of queries and keys are Qwen3's: 2 x 2 layers of 64.
TEST_CASE("text parts of newer models are read as their families, and a pattern of letters as its length",
          "[model][hf]") {
    const auto count = [](const std::string& type, const std::string& more) {
        return good_workload(R"({"model_type": ")" + type +
                             R"(", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 512, "vocab_size": 1000)" +
                             more + "}")
            .model.parameters;
    };
    CHECK(count("qwen3_vl_text", "") == count("qwen3", ""));
    CHECK(count("qwen3", "") == count("llama", "") + 2 * 2 * 64);
    CHECK(count("exaone4", R"(, "sliding_window_pattern": "LLLG")") == count("exaone4", ""));
}
