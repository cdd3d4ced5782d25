// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of a config.json that change a model of two sides: what each adds to a small one.
#include "tests/model/hf_config_support.h"

using namespace dlcast;
using namespace hf_configs;

TEST_CASE("an untied head behind two sides has a matrix of its own", "[model][hf]") {
    for (const char* type : {"bart", "mbart", "pegasus", "marian", "led"})
        check_changes(bart_sizes(type), {{R"(, "tie_word_embeddings": false)", table}});
    check_changes(R"("model_type": "t5", "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16, "d_ff": 256,
        "vocab_size": 1000)",
                  {{R"(, "tie_word_embeddings": false)", table},
                   {R"(, "relative_attention_num_buckets": 16)", 2 * -16 * 4}});  // of 32, on each side
}

TEST_CASE("BART classifies where its architecture says so", "[model][hf]") {
    CHECK(layer_named(with_head(bart_sizes("bart"), "BartForSequenceClassification"), "classifier").output == Shape{3});
}

TEST_CASE("models of two sides answer questions and classify tokens", "[model][hf]") {
    const std::string t5 =
        R"("model_type": "t5", "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16, "d_ff": 256,
        "vocab_size": 1000)";
    for (const std::string& config : {t5, bart_sizes("bart"), bart_sizes("mbart")}) {
        const auto w = with_head(config, "AnyForQuestionAnswering");
        CHECK(layer_named(w, "qa_outputs").output == Shape{w.model.seq_len, 2});
        for (const Layer& layer : w.model.layers) CHECK(layer.name != "lm_head");
    }
    const auto w = with_head(t5, "T5ForTokenClassification");
    CHECK(layer_named(w, "classifier").output == Shape{512, 3});
    for (const Layer& layer : w.model.layers) CHECK_FALSE(layer.name.starts_with("decoder"));
}

// Every fourth layer; here every second: eight experts and a router instead of one.
TEST_CASE("NLLB's experts stand in every so many layers", "[model][hf]") {
    const std::int64_t inner = 2 * 64 * 256 + 256 + 64;
    CHECK(trained(bart_sizes("nllb-moe"), R"(, "num_experts": 8, "encoder_sparse_step": 2, "decoder_sparse_step": 2)") -
              trained(bart_sizes("m2m_100")) ==
          2 * (7 * inner + 8 * 64));
}

TEST_CASE("encoder-decoder models follow the keys of their family", "[model][hf]") {
    check_changes(bart_sizes("bigbird_pegasus"), {{R"(, "use_bias": true)", 6 * qkvo_biases}});
    check_changes(bart_sizes("marian"),
                  {{R"(, "share_encoder_decoder_embeddings": false, "decoder_vocab_size": 500)", 500 * 64}});
    // Projections of the tokens that see all, and two tables of positions.
    CHECK(trained(bart_sizes("led"),
                  R"(, "max_encoder_position_embeddings": 128, "max_decoder_position_embeddings": 64)") -
              trained(bart_sizes("bart"), "") ==
          2 * 3 * dense - 64 * 64 + 64 * 64 - 4 * 64);
    const std::string t5 = R"("model_type": "longt5", "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16,
        "d_ff": 256, "vocab_size": 1000)";
    check_changes(t5, {{R"(, "encoder_attention_type": "transient-global")", 2 * 64 + 32 * 4}});
    const auto w = with_keys(t5, R"(, "architectures": ["LongT5EncoderModel"])");
    for (const Layer& layer : w.model.layers) CHECK_FALSE(layer.name.starts_with("decoder"));
}

TEST_CASE("a stated length is that of both sides, and says so", "[model][hf]") {
    const std::string said = "the decoder's sequences are of 64 tokens, as the encoder's";
    for (const char* more : {R"("training": {"seq_len": 64})", R"("dataset": {"samples": 9, "seq_len": 64})"})
        CHECK(assumes(good_workload("{\"model\": {" + bart_sizes("bart") + "}, " + more + "}"), said));
    CHECK_FALSE(assumes(with_keys(bart_sizes("bart")), "the decoder's sequences"));
}
