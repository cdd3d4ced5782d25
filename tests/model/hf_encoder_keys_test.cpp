// SPDX-License-Identifier: GPL-2.0-or-later
// Keys of a config.json that change an encoder: what each adds to a small one.
#include "tests/model/hf_config_support.h"

using namespace dlcast;
using namespace hf_configs;

TEST_CASE("an untied head of an encoder has a matrix of its own", "[model][hf]") {
    for (const char* type : {"bert", "roberta", "distilbert", "electra", "albert", "deberta-v2"})
        check_changes(sizes(type) + R"(, "n_layers": 2, "dim": 64, "n_heads": 4, "hidden_dim": 256,
            "embedding_size": 64)",
                      {{R"(, "tie_word_embeddings": false)", table}});
}

// 2 x 128 - 1 distances of one head's width in each layer; the table of positions stays.
TEST_CASE("an encoder's table of distances is counted in each layer", "[model][hf]") {
    const std::int64_t distances = 2 * 255 * 16;
    for (const char* type : {"bert", "roberta", "electra", "ernie", "megatron-bert"})
        check_changes(sizes(type), {{R"(, "position_embedding_type": "absolute")", 0},
                                    {R"(, "position_embedding_type": "relative_key")", distances},
                                    {R"(, "position_embedding_type": "relative_key_query")", distances}});
    check_changes(sizes("esm"), {{R"(, "position_embedding_type": "rotary")", -128 * 64},
                                 {R"(, "emb_layer_norm_before": true)", norm}});
    const auto w = with_keys(sizes("bert"), R"(, "position_embedding_type": "relative_key")");
    CHECK(layer_named(w, "layer.0.attn.scores").function == "relative");
}

TEST_CASE("an encoder that decodes looks back alone, and over another's output where it says so", "[model][hf]") {
    const std::string decoder = sizes("bert") + R"(, "architectures": ["BertLMHeadModel"], "is_decoder": true)";
    const auto w = with_keys(decoder);
    CHECK(layer_named(w, "layer.0.attn.scores").causal);
    CHECK(layer_named(w, "lm_head").output == Shape{128, 1000});
    check_changes(decoder, {{R"(, "add_cross_attention": true)", 2 * (4 * dense + norm)}});
}

// A group holds one set of weights: four products, two between 64 and 256, two norms.
TEST_CASE("ALBERT's groups each have their weights", "[model][hf]") {
    const std::int64_t group = 4 * dense + 2 * 64 * 256 + 256 + 64 + 2 * norm;
    check_changes(sizes("albert") + R"(, "embedding_size": 32)",
                  {{R"(, "num_hidden_groups": 2)", group}, {R"(, "inner_group_num": 2)", group}});
    // Its projection is there for equal widths too.
    check_changes(sizes("albert") + R"(, "embedding_size": 64)", {{R"(, "embedding_size_of_nothing": 1)", 0}});
    CHECK(trained(sizes("albert"), R"(, "embedding_size": 64)") - trained(sizes("bert"), "") ==
          dense - group - (2 + 2 * 64));  // BERT's second layer and its head for pairs of sentences
}

TEST_CASE("parts of encoders follow the keys of their family", "[model][hf]") {
    check_changes(sizes("big_bird"), {{R"(, "use_bias": false)", 2 * -3 * 64}});
    check_changes(sizes("ernie"), {{R"(, "use_task_id": true, "task_type_vocab_size": 5)", 5 * 64}});
    check_changes(sizes("bert"), {{R"(, "type_vocab_size": 0)", -2 * 64}});
    check_changes(sizes("rembert") + R"(, "input_embedding_size": 32)",
                  {{R"(, "output_embedding_size": 64)", (64 - 1664) * (64 + 1 + 2 + 1000)}});
    // Projections of places, one with a bias in the first version.
    const std::string relative = R"(, "relative_attention": true)", both = R"(, "pos_att_type": "c2p|p2c")";
    check_changes(sizes("deberta") + relative, {{R"(, "pos_att_type": ["c2p"])", 2 * 64 * 64},
                                                {R"(, "pos_att_type": "p2c")", 2 * dense},
                                                {R"(, "max_relative_positions": 32)", -(256 - 64) * 64},
                                                {R"(, "norm_rel_ebd": "layer_norm")", norm}});
    check_changes(sizes("deberta") + both, {{R"(, "relative_attention": true)", 256 * 64 + 2 * (dense + 64 * 64)},
                                            {R"(, "position_biased_input": false)", -128 * 64}});
    check_changes(sizes("deberta-v2") + relative + both,
                  {{R"(, "norm_rel_ebd": "layer_norm")", norm}, {R"(, "share_att_key": true)", 4 * -dense}});
}

TEST_CASE("the head of an encoder is the one of the config's architecture", "[model][hf]") {
    CHECK(layer_named(with_head(sizes("bert"), "BertForTokenClassification"), "classifier").output == Shape{128, 3});
    CHECK(layer_named(with_head(sizes("bert"), "BertForMultipleChoice"), "classifier").output == Shape{1});
    CHECK(layer_named(with_head(sizes("electra"), "ElectraForSequenceClassification"), "classifier.dense").parameters ==
          dense);
    CHECK(layer_named(with_head(sizes("electra"), "ElectraForPreTraining"), "discriminator.prediction").output ==
          Shape{128, 1});
}

// A dense part and a norm without biases, the table again with a bias of each word; or the three biases as stated.
TEST_CASE("ModernBERT's head has the biases its config says", "[model][hf]") {
    const auto w = with_keys(sizes("modernbert"));
    CHECK(w.model.trainable_parameters - w.model.parameters == 64 * 64 + 64 + 1000);
    check_changes(sizes("modernbert"), {{R"(, "classifier_bias": true)", 64}, {R"(, "decoder_bias": false)", -1000}});
    CHECK(layer_named(with_head(sizes("modernbert"), "ModernBertForSequenceClassification"), "classifier.norm")
              .parameters == 64);
}

TEST_CASE("each layer of a Longformer may have a window of its own", "[model][hf]") {
    const auto w = with_keys(sizes("longformer"), R"(, "attention_window": [32, 64])");
    CHECK(layer_named(w, "layer.0.attn.scores").kv_tokens == 33);
    CHECK(layer_named(w, "layer.1.attn.scores").kv_tokens == 65);
    const auto led = with_keys(bart_sizes("led"), R"(, "attention_window": [32, 64])");
    CHECK(layer_named(led, "encoder.0.attn.scores").kv_tokens == 33);
    CHECK(layer_named(led, "encoder.1.attn.scores").kv_tokens == 65);
    for (const char* list : {"[]", "[32]", "[32, 32, 32]"}) {
        INFO(list);
        CHECK_THAT(error_of("{" + sizes("longformer") + ", \"attention_window\": " + list + "}"),
                   Catch::Contains("attention_window has") && Catch::Contains("write one for each of 2 layers"));
    }
}

TEST_CASE("an activation that transformers does not know is taken as GELU, and named", "[model][hf]") {
    const auto w = with_keys(sizes("bert"), R"(, "hidden_act": "foo")");
    CHECK(assumes(w, "hidden_act foo is taken as gelu"));
    CHECK(layer_named(w, "layer.0.mlp.act").function == "gelu");
    CHECK_FALSE(assumes(with_keys(sizes("bert"), R"(, "hidden_act": "quick_gelu")"), "hidden_act"));
    const std::string t5 =
        R"("model_type": "t5", "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16, "d_ff": 256,
        "vocab_size": 1000)";
    CHECK(trained(t5, R"(, "feed_forward_proj": "gated-foo")") ==
          trained(t5, R"(, "feed_forward_proj": "gated-gelu")"));
    CHECK(assumes(with_keys(t5, R"(, "feed_forward_proj": "gated-foo")"),
                  "feed_forward_proj gated-foo is taken as gelu"));
}
