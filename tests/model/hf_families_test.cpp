// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_test_support.h"

using namespace dlcast;

namespace {

bool assumes(const Workload& w, const std::string& text) {
    for (const std::string& sentence : w.assumed)
        if (sentence.find(text) != std::string::npos) return true;
    return false;
}

}  // namespace

// The page of the model: 109,482,240 parameters; its config names a family that dlcast was not told of.
TEST_CASE("an unknown family with the usual sizes is read as the nearest design, and says so", "[model][formats]") {
    const auto encoder = good_workload(R"({"model_type": "sparklebert", "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})");
    CHECK(encoder.model.parameters == 109'482'240);
    CHECK(assumes(encoder, "model_type sparklebert (unknown) is read as bert"));
    const auto decoder =
        good_workload(R"({"model_type": "newllm", "architectures": ["NewForCausalLM"], "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-5})");
    CHECK(decoder.model.parameters == 8'030'261'248);
    CHECK(assumes(decoder, "is read as llama"));
}

TEST_CASE("of a model that sees and reads the text part is taken, and says so", "[model][formats]") {
    const auto w =
        good_workload(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 1152,
        "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 6912,
        "vocab_size": 262144}, "vision_config": {"hidden_size": 1152}})");
    CHECK(w.model.parameters == 999'885'952);
    CHECK(assumes(w, "vision part is left out"));
}

// Qwen2.5-VL-3B of transformers 4.52 and later; its language model is that of Qwen2.5-3B.
TEST_CASE("the text part may hold all sizes, also of a family with a name of its own", "[model][formats]") {
    const std::string text = R"("hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
        "num_attention_heads": 16, "num_key_value_heads": 2, "vocab_size": 151936, "max_position_embeddings": 128000)";
    for (const char* type : {"", R"("model_type": "qwen2_5_vl_text", )"}) {
        const auto w = good_workload(
            R"({"model_type": "qwen2_5_vl", "tie_word_embeddings": true, "vision_config": {"hidden_size": 1280}, "text_config": {)" +
            std::string(type) + text + "}}");
        CHECK(w.model.parameters == 3'085'938'688);
        CHECK(assumes(w, "the text part of qwen2_5_vl alone (its vision part is left out)"));
    }
    const auto top = good_workload(
        R"({"model_type": "qwen2_5_vl", "tie_word_embeddings": true, "vision_config": {"hidden_size": 1280}, )" + text +
        "}");
    CHECK(top.model.parameters == 3'085'938'688);
    CHECK(assumes(top, "its vision part is left out"));
}

TEST_CASE("a misspelt model_type is refused with the one that was meant", "[model][formats][bad]") {
    const auto config = [](const std::string& type) {
        return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 4, "intermediate_size": 128, "vocab_size": 100})";
    };
    for (const auto& [typed, meant] : {std::pair<const char*, const char*>{"lama", "llama"},
                                       {"llamma", "llama"},
                                       {"mixtrel", "mixtral"},
                                       {"debertav2", "deberta-v2"},
                                       {"gpt-neox", "gpt_neox"}}) {
        INFO(typed);
        CHECK_THAT(error_of(config(typed)), Catch::Contains("did you mean \"" + std::string(meant) + "\"?"));
    }
    CHECK_THAT(error_of(config("")), Catch::Contains("unknown model_type \"\"; known: "));
    // Case is none, and a new generation no misspelling.
    CHECK(good_workload(config("LLaMA")).model.parameters == good_workload(config("llama")).model.parameters);
    CHECK(assumes(good_workload(config("llama9")), "model_type llama9 (unknown) is read as llama"));
}
// The published figure of the U-Net alone: 865,910,724; SDXL's: 2,567,463,684.
TEST_CASE("a diffusers config describes its U-Net", "[model][formats]") {
    const auto second = good_workload(R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": [5, 10, 20, 20],
        "block_out_channels": [320, 640, 1280, 1280], "cross_attention_dim": 1024, "sample_size": 64, "layers_per_block": 2,
        "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"]})");
    CHECK(second.model.parameters == 865'910'724);
    CHECK(second.model.image_size == 512);
    const auto xl = good_workload(R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": [5, 10, 20],
        "block_out_channels": [320, 640, 1280], "cross_attention_dim": 2048, "sample_size": 128, "addition_embed_type": "text_time",
        "projection_class_embeddings_input_dim": 2816, "transformer_layers_per_block": [1, 2, 10],
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"]})");
    CHECK(xl.model.parameters == 2'567'463'684);
}

// BK-SDM-Base and -Small, the second without the middle (Kim et al., arXiv:2305.15798): two residual blocks of
// 31,138,560 and a transformer of 34,760,960 parameters less.
TEST_CASE("the blocks of a U-Net are those of its config", "[model][formats]") {
    const auto unet = [](const std::string& keys) {
        return good_workload(R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": 8,
            "block_out_channels": [320, 640, 1280, 1280], "cross_attention_dim": 768, "sample_size": 64, "layers_per_block": 1,
            "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"])" +
                             keys + "}");
    };
    const auto mirrored = unet("");
    CHECK(mirrored.model.parameters == 579'384'964);
    CHECK(unet(R"(, "mid_block_type": null)").model.parameters == 482'346'884);
    CHECK(unet(R"(, "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"])")
              .model.parameters == mirrored.model.parameters);
    const auto plain = unet(R"(, "up_block_types": ["UpBlock2D", "UpBlock2D", "UpBlock2D", "UpBlock2D"])");
    for (const Layer& layer : plain.model.layers)
        CHECK_FALSE((layer.name.starts_with("up") && layer.name.find(".attn") != std::string::npos));
    for (const char* list : {"[]", R"(["UpBlock2D"])"})
        CHECK_THAT(error_of(R"({"_class_name": "UNet2DConditionModel", "up_block_types": )" + std::string(list) + "}"),
                   Catch::Contains("write one for each of 4 levels"));
    CHECK_THAT(error_of(R"({"_class_name": "UNet2DConditionModel", "mid_block_type": "MidBlock"})"),
               Catch::Contains("mid_block_type should be UNetMidBlock2DCrossAttn, UNetMidBlock2D or null"));
    const auto middle = unet(R"(, "mid_block_type": "UNetMidBlock2D")");
    for (const Layer& layer : middle.model.layers) CHECK_FALSE(layer.name.starts_with("mid.attn"));
    const auto more =
        unet(R"(, "class_embed_type": "timestep", "conv_in_kernel": 5, "resnet_time_scale_shift": "default")");
    CHECK(assumes(more, "class_embed_type of the config is left out, as if it were none"));
    CHECK(assumes(more, "conv_in_kernel of the config is left out, as if it were 3"));
    CHECK_FALSE(assumes(more, "resnet_time_scale_shift"));
}

// One layer of 64: grouped keys make q 64 x 64, k and v 64 x 32; the head is the table's weight.
TEST_CASE("grouped keys, tied tables and the size of a head follow the config", "[model][formats]") {
    const std::string sizes =
        R"("model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100, "tie_word_embeddings": true)";
    const std::uint64_t outside = 6400 + 3 * 64 + 3 * 64 * 128;
    CHECK(good_workload("{" + sizes + "}").model.parameters == outside + 64 * 64 * 2 + 2 * 64 * 32);
    // Heads of 32: q 64 x 128, k and v 64 x 64, out 128 x 64.
    CHECK(good_workload("{" + sizes + R"(, "head_dim": 32})").model.parameters == outside + 2 * 64 * 128 + 2 * 64 * 64);
}

// Transformers leaves "num_labels" out and writes the names.
TEST_CASE("a classifier has as many outputs as its config has labels", "[model][formats]") {
    const std::string bert = R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"],
        "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512, "vocab_size": 30522,
        "max_position_embeddings": 512, "type_vocab_size": 2)";
    const auto outputs = [](const std::string& config) {
        const Workload w = good_workload(config);
        for (const Layer& layer : w.model.layers)
            if (layer.name == "classifier") return layer.output.back();
        return std::int64_t{0};
    };
    CHECK(outputs(bert + "}") == 2);
    CHECK(outputs(bert + R"(, "id2label": {"0": "a", "1": "b", "2": "c", "3": "d", "4": "e"}})") == 5);
    CHECK(outputs(bert + R"(, "num_labels": 3, "id2label": {"0": "a"}})") == 3);
}

TEST_CASE("keys of a config that change the network and are not read are named", "[model][formats]") {
    const auto with = [](const std::string& keys) {
        return good_workload(
            R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
            "intermediate_size": 512, "vocab_size": 1000, "max_position_embeddings": 512)" +
            keys + "}");
    };
    CHECK_FALSE(assumes(with(R"(, "mlp_only_layers": [], "moe_layer_freq": 1, "qkv_bias": true)"), "is left out"));
    CHECK(assumes(with(R"(, "quantization_config": {"load_in_4bit": true})"),
                  "quantization_config of the config is left out, as if it were none"));
    CHECK(assumes(with(R"(, "mlp_only_layers": [0])"), "mlp_only_layers of the config is left out, as if it were []"));
}
