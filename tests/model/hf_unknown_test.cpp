// SPDX-License-Identifier: GPL-2.0-or-later
// Configs of families that nobody told us of, and of parts whose sizes the config leaves to transformers.
#include "tests/model/hf_config_support.h"

using namespace dlcast;
using namespace hf_configs;

namespace {

std::string refused(const std::string& type, const std::string& keys) {
    std::string config = "{";  // gcc 12 warns of a text put in front
    config.append(sizes(type)).append(R"(, "num_key_value_heads": 2)").append(keys).append("}");
    return error_of(config);
}

}  // namespace

TEST_CASE("layers other than attention are refused, by the keys that say of them", "[model][hf][bad]") {
    const auto [type, keys, named] = GENERATE(Catch::Generators::table<std::string, std::string, std::string>(
        {{"jamba", R"(, "expert_layer_period": 2, "attn_layer_period": 8, "num_experts": 16)", "attn_layer_period"},
         {"granitemoehybrid", R"(, "layer_types": ["mamba", "attention"])", "layer_types"},
         {"qwen3_next", R"(, "layer_types": ["linear_attention", "full_attention"])", "layer_types"},
         {"qwen3_next", R"(, "linear_num_key_heads": 16)", "linear_num_key_heads"},
         {"falcon_h1", R"(, "mamba_d_ssm": 1536)", "mamba_d_ssm"},
         {"bamba", R"(, "mamba_n_heads": 128)", "mamba_n_heads"},
         {"lfm2", R"(, "conv_L_cache": 3)", "conv_L_cache"},
         {"lfm2", R"(, "full_attn_idxs": [2, 5])", "full_attn_idxs"},
         {"recurrent_gemma", R"(, "block_types": ["recurrent", "recurrent", "attention"])", "block_types"},
         {"nemotron_h", R"(, "hybrid_override_pattern": "M-M*-")", "hybrid_override_pattern"},
         {"kimi_linear", R"(, "linear_attn_config": {"num_heads": 32})", "linear_attn_config"},
         {"minimax_text_01", R"(, "attn_type_list": [0, 1])", "attn_type_list"}}));
    CHECK_THAT(refused(type, keys),
               Catch::Contains("model_type " + type + " has layers other than attention (" + named +
                               "), which are not read; dump the module with contrib/torch_export.py, or write the "
                               "layers"));
    CHECK_THAT(refused(type, keys), Catch::Contains(":2:1"));  // the place of the key, behind the sizes
    CHECK_THAT(error_of(R"({"model_type": "sees", "vision_config": {}, "text_config": {)" + sizes(type) + keys + "}}"),
               Catch::Contains(named));
}

TEST_CASE("kinds of attention are read whatever the family", "[model][hf]") {
    CHECK(refused("newllm", R"(, "layer_types": ["sliding_attention", "full_attention"])").empty());
    CHECK(refused("newllm", R"(, "attn_type_list": [1, 1])").empty());
    // Sizes of state spaces are nobody's where each layer is said to be attention.
    const std::string granite = R"(, "layer_types": ["attention", "attention"], "mamba_n_heads": 128)";
    CHECK(refused("granitemoehybrid", granite).empty());
    CHECK_FALSE(refused("granitemoehybrid", granite + R"(, "mamba_d_ssm": 1536)").empty());
}

TEST_CASE("sizes of an unknown family that nobody read are named", "[model][hf]") {
    const auto w = with_keys(sizes("newllm"), R"(, "num_key_value_heads": 2, "altup_num_inputs": 4, "laurel": true,
        "skipped": false, "depths_of": [1, 2], "attn_dropout": 0.1, "bos_token_id": 1, "rope_scaling": {"factor": 8},
        "initializer_range": 0.02, "use_cache": true, "rms_norm_eps": 1e-6, "router_aux_loss_coef": 0.01, "none": null,
        "vocab_size_per_layer_input": 262144, "first_k_dense_replace": 1)");
    CHECK(assumes(w,
                  "not read of the config: altup_num_inputs 4, laurel true, depths_of [1,2], "
                  "vocab_size_per_layer_input 262144, first_k_dense_replace 1; where"));
    CHECK_FALSE(assumes(with_keys(sizes("newllm"), R"(, "num_key_value_heads": 2)"), "not read of the config"));
    CHECK_FALSE(assumes(with_keys(sizes("llama"), R"(, "altup_num_inputs": 4)"), "not read of the config"));
}

// Of a layer: 64 x 32 and 32 x 4 x 24 of queries, 64 x (24 + 8) and 24 x 4 x (16 + 16) of keys and values, 64 x 64 out,
// the latents' norms 32 and 24, two norms of 64, three matrices of 64 x 256.
TEST_CASE("an unknown family with latents is read as DeepSeek's attention", "[model][hf]") {
    const auto w = with_keys(sizes("minicpm3"), R"(, "num_key_value_heads": 4, "q_lora_rank": 32, "kv_lora_rank": 24,
        "qk_nope_head_dim": 16, "qk_rope_head_dim": 8)");
    CHECK(assumes(w, "model_type minicpm3 (unknown) is read as deepseek_v3"));
    CHECK(assumes(w, "tie_word_embeddings false (not stated"));
    CHECK_FALSE(assumes(w, "not read of the config"));
    CHECK_FALSE(assumes(with_keys(sizes("newllm"), R"(, "num_key_value_heads": 2, "tie_word_embeddings": true)"),
                        "not stated; the family"));
    CHECK(w.model.parameters ==
          2 * table + 64 +
              2 * (64 * 32 + 32 * 4 * 24 + 64 * 32 + 24 * 4 * 32 + 64 * 64 + 32 + 24 + 128 + 3 * 64 * 256));
}

// The text part of Llama-4-Scout-17B-16E: its checkpoint's 108,641,793,536 without those that see, 871,932,416. By
// hand, 48 layers of attention 5,120 x (2 x 5,120 + 2 x 1,024), two norms, a router of 16, 17 networks of 3 x 5,120 x
// 8,192.
TEST_CASE("Llama 4 has a shared expert in each layer of experts", "[model][hf]") {
    const std::string scout =
        R"({"model_type": "llama4", "vision_config": {}, "text_config": {"model_type": "llama4_text",
        "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 16, "num_experts_per_tok": 1,
        "interleave_moe_layer_step": 1, "use_qk_norm": true, "vocab_size": 202048, "max_position_embeddings": 10485760)";
    const std::uint64_t attention = 5120ull * 12288 + 2 * 5120, network = 3ull * 5120 * 8192,
                        outside = 2 * 202048ull * 5120 + 5120;
    const std::uint64_t sparse = 16 * 5120 + 17 * network, dense = 2 * network;
    CHECK(good_workload(scout + "}}").model.parameters == outside + 48 * (attention + sparse));
    CHECK(outside + 48 * (attention + sparse) == 107'769'861'120);
    const auto two_sparse = good_workload(scout + R"(, "moe_layers": [0, 47]}})");
    CHECK(two_sparse.model.parameters == outside + 48 * attention + 2 * sparse + 46 * dense);
}

TEST_CASE("a model may allow more tokens than any table has rows", "[model][hf]") {
    CHECK(assumes(good_workload(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 256, "vocab_size": 1000, "max_position_embeddings": 10485760})"),
                  "the model allows 10485760"));
}

// gemma-3-4b-pt has 4,300,079,472 parameters, of which 419,816,304 see; llava-1.5-7b's language model is LLaMA-7B's
// 6,738,415,616 with 64 more words on both sides.
TEST_CASE("sizes that a text part leaves out are transformers' own", "[model][hf]") {
    const auto gemma = good_workload(R"({"model_type": "gemma3", "vision_config": {}, "text_config": {
        "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
        "sliding_window": 1024}})");
    CHECK(gemma.model.parameters == 3'880'263'168);
    CHECK(assumes(gemma,
                  "vocab_size 262208, num_attention_heads 8, num_key_value_heads 4, head_dim 256, "
                  "max_position_embeddings 131072 of the text part (not stated; transformers' defaults of "
                  "gemma3_text)"));
    const auto llava = good_workload(R"({"model_type": "llava", "vision_config": {}, "text_config": {
        "model_type": "llama", "max_position_embeddings": 4096, "vocab_size": 32064}})");
    CHECK(llava.model.parameters == 6'738'415'616 + 2 * 64 * 4096);
    CHECK_THAT(error_of(R"({"model_type": "sees", "vision_config": {}, "text_config": {"model_type": "olmo"}})"),
               Catch::Contains("olmo needs \"num_hidden_layers\"; add it, or name the model by its hub name"));
}

// 16 heads of 32: keys and values of all take 2 x 512 x 256 weights more than those of Mistral's usual 8.
TEST_CASE("no key heads in a text part means as many as heads", "[model][hf]") {
    const auto count = [](const std::string& heads) {
        return good_workload(R"({"model_type": "sees", "text_config": {"model_type": "mistral", "hidden_size": 512,
            "num_hidden_layers": 1, "num_attention_heads": 16, "intermediate_size": 1024, "vocab_size": 1000,
            "num_key_value_heads": )" +
                             heads + "}}")
            .model.parameters;
    };
    CHECK(count("null") == count("16"));
    CHECK(count("16") == count("8") + 2 * 512 * 256);
}
