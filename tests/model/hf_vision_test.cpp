// SPDX-License-Identifier: GPL-2.0-or-later
// Configs of images and sound: sizes that do not divide, lists of two, and keys that change the network.
#include "model_test_support.h"

using namespace dlcast;

namespace {

std::string vit(const std::string& type, const std::string& keys) {
    return "{\"model_type\": \"" + type + R"(", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 256, "num_labels": 10)" +
           keys + "}";
}

std::int64_t parameters(const std::string& config) {
    return static_cast<std::int64_t>(good_workload(config).model.trainable_parameters);
}

const std::string swin = R"("model_type": "swin", "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4],
    "num_labels": 10, "image_size": 64)";

}  // namespace

// A convolution whose stride is its kernel: 100 / 16 = 6 patches a side, and the class token.
TEST_CASE("what is left beside whole patches is not seen", "[model][hf]") {
    const auto w = good_workload(vit("vit", R"(, "image_size": 100, "patch_size": 16)"));
    CHECK(layer_named(w, "tokens").output == Shape{37, 64});
    CHECK(layer_named(w, "positions").parameters == 37 * 64 + 64);
    for (const char* type : {"deit", "beit", "dinov2"})
        CHECK(error_of(vit(type, R"(, "image_size": 100, "patch_size": 16)")).empty());
    CHECK(error_of(R"({"model_type": "clip", "vision_config": {"image_size": 100, "patch_size": 32}})").empty());
    // Swin pads: ceil(50 / 4) = 13.
    CHECK(layer_named(good_workload("{" + swin + R"(, "window_size": 7})"), "tokens").output == Shape{256, 32});
    const auto padded = good_workload(R"({"model_type": "swin", "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4],
        "image_size": 50})");
    CHECK(layer_named(padded, "tokens").output == Shape{169, 32});
}

TEST_CASE("an image's height and width may be two numbers, and a patch's", "[model][hf]") {
    const auto w = good_workload(vit("vit", R"(, "image_size": [224, 128], "patch_size": [16, 32])"));
    CHECK(layer_named(w, "tokens").output == Shape{14 * 4 + 1, 64});
    CHECK(layer_named(w, "patches").parameters == 64 * 3 * 16 * 32 + 64);
    CHECK(w.model.image_size == 169);  // sqrt(224 x 128) = 169.3
    const auto same = good_workload(vit("vit", R"(, "image_size": [224, 224], "patch_size": [16, 16])"));
    CHECK(same.model.parameters == good_workload(vit("vit", "")).model.parameters);
    // (2 x 14 - 1) x (2 x 7 - 1) + 3 distances of four heads in two layers, not (2 x 14 - 1)^2 + 3.
    CHECK(parameters(vit("beit", R"(, "image_size": [224, 112])")) - parameters(vit("beit", "")) ==
          2 * 4 * (27 * 13 - 27 * 27));
    const auto clip =
        good_workload(R"({"model_type": "clip", "vision_config": {"image_size": [224, 112], "patch_size": [32, 32]}})");
    CHECK(layer_named(clip, "vision.tokens").output == Shape{7 * 3 + 1, 768});
}

TEST_CASE("sizes of images that are none are refused with the remedy", "[model][hf][bad]") {
    CHECK_THAT(error_of(vit("vit", R"(, "image_size": [224, 224, 3])")),
               Catch::Contains("image_size is [224,224,3]; it should be a whole number from 1 to 10000000, or two"));
    CHECK_THAT(error_of(vit("vit", R"(, "image_size": "large")")),
               Catch::Contains("image_size is \"large\"; it should"));
    CHECK_THAT(error_of(vit("vit", R"(, "image_size": 8, "patch_size": 16)")),
               Catch::Contains("no patch of 16 x 16 pixels fits into an image of 8 x 8; make the image larger"));
    CHECK_THAT(error_of("{" + swin + R"(, "patch_size": [4, 2]})"),
               Catch::Contains("patch_size is [4, 2]; swin has square patches, write one number"));
    CHECK_THAT(error_of(R"({"model_type": "resnet", "hidden_sizes": [128, 256, 512, 1024]})"),
               Catch::Contains("resnet50 with other widths than embedding_size 64"));
}

TEST_CASE("a zoo model whose patches do not divide the image is told which sizes do", "[model][bad]") {
    CHECK_THAT(error_of(R"({"model": "vit_b_16", "dataset": {"image_size": 100}})"),
               Catch::Contains("does not divide into patches of 16; write image_size 96 or 112"));
}

TEST_CASE("keys of vision models that change the network are counted", "[model][hf]") {
    const auto more = [](const std::string& type, const std::string& keys) {
        return parameters(vit(type, keys)) - parameters(vit(type, ""));
    };
    for (const char* type : {"vit", "deit", "dinov2"}) CHECK(more(type, R"(, "qkv_bias": false)") == 2 * -3 * 64);
    CHECK(more("beit", R"(, "use_mask_token": true)") == 64);
    CHECK(more("beit", R"(, "use_shared_relative_position_bias": true)") == 4 * (27 * 27 + 3));
    CHECK(more("dinov2", R"(, "use_mask_token": false)") == -64);
    CHECK(more("deit", R"(, "architectures": ["DeiTForImageClassificationWithTeacher"])") == 64 * 10 + 10);
    const std::int64_t swin_before = parameters("{" + swin + "}");
    CHECK(parameters("{" + swin + R"(, "qkv_bias": false})") - swin_before == -2 * 3 * 32 - 2 * 3 * 64);
    CHECK(parameters("{" + swin + R"(, "use_absolute_embeddings": true})") - swin_before == 16 * 16 * 32);
    CHECK(parameters("{" + swin + R"(, "mlp_ratio": 2.0})") - swin_before ==
          -2 * (2 * 32 * 64 + 64) - 2 * (2 * 64 * 128 + 128));
    const std::string convnext = R"("model_type": "convnext", "depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 32, 64])";
    CHECK(parameters("{" + convnext + R"(, "layer_scale_init_value": 0})") - parameters("{" + convnext + "}") == -120);
}

// Three convolutions from 64 to 128 channels over three frames; a gate halves them again.
TEST_CASE("adapters of speech models are counted", "[model][hf]") {
    const std::int64_t before = parameters(vit("wav2vec2", ""));
    CHECK(parameters(vit("wav2vec2", R"(, "add_adapter": true)")) - before == 3 * (64 * 128 * 3 + 128));
    CHECK(parameters(vit("wav2vec2", R"(, "do_stable_layer_norm": true, "adapter_attn_dim": 16)")) - before ==
          2 * (128 + 2 * 64 * 16 + 16 + 64));
    const auto w = good_workload(vit("wav2vec2", R"(, "architectures": ["Wav2Vec2ForSequenceClassification"])"));
    CHECK(layer_named(w, "projector").output.back() == 256);
    CHECK(layer_named(w, "classifier").output == Shape{10});
    const auto ast =
        good_workload(vit("audio-spectrogram-transformer", R"(, "time_stride": 16, "frequency_stride": 16)"));
    CHECK(layer_named(ast, "tokens").output == Shape{8 * 64 + 2, 64});
}

TEST_CASE("Whisper's head may have a matrix of its own", "[model][hf]") {
    const std::string whisper = R"("model_type": "whisper", "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "vocab_size": 1000)";
    CHECK(parameters("{" + whisper + R"(, "tie_word_embeddings": false})") - parameters("{" + whisper + "}") == 64'000);
    const auto w = good_workload("{" + whisper + R"(, "architectures": ["WhisperForAudioClassification"]})");
    CHECK(layer_named(w, "projector").output == Shape{1500, 256});
}

TEST_CASE("DINOv2 sees images of the size that its config says", "[model][hf]") {
    const std::string keys = R"(, "image_size": 518, "patch_size": 14, "architectures": ["Dinov2Model"])";
    const auto w = good_workload(vit("dinov2", keys));
    CHECK(w.model.image_size == 518);
    CHECK(layer_named(w, "tokens").output == Shape{37 * 37 + 1, 64});
    const auto stated = good_workload("{\"model\": " + vit("dinov2", keys) + R"(, "training": {"image_size": 224}})");
    CHECK(layer_named(stated, "tokens").output == Shape{16 * 16 + 1, 64});
}

// ViTModel has a dense layer of 64 x 64 on the class token in the classifier's place; the others have none.
TEST_CASE("architectures that end with Model have no classifier unless the data set has classes", "[model][hf]") {
    const auto more = [](const std::string& config) {
        const std::string model = R"(, "architectures": ["SomeModel"])";
        const std::string open = config.substr(0, config.size() - 1);
        CHECK(parameters("{\"model\": " + open + model + R"(}, "dataset": {"samples": 9, "classes": 10}})") ==
              parameters(config));
        return parameters(open + model + "}") - parameters(config);
    };
    CHECK(more(vit("vit", "")) == 64 * 64 + 64 - 650);
    CHECK(more(vit("beit", "")) == -650);
    CHECK(more(vit("dinov2", "")) == -(128 * 10 + 10));
    CHECK(more("{" + swin + "}") == -650);
    CHECK(more(R"({"model_type": "convnext", "depths": [1, 1], "hidden_sizes": [32, 64], "num_labels": 10})") == -650);
    CHECK(more(R"({"model_type": "resnet", "num_labels": 10})") == -(2048 * 10 + 10));
}

// Convolutions of 3 x 3 from 32 to 32 channels, two more in each head and one to nine anchors of each class.
TEST_CASE("RetinaNet's levels, heads and classes are computed or refused", "[model][hf]") {
    const std::string net =
        R"({"model_type": "retinanet", "backbone": "resnet18", "image_size": 256, "fpn_channels": 32)";
    const auto more = [&](const std::string& keys) { return parameters(net + keys + "}") - parameters(net + "}"); };
    CHECK(more(R"(, "head_convs": 6)") == 2 * 2 * (9 * 32 * 32 + 32));
    CHECK(more(R"(, "num_classes": 1)") == -90 * 9 * (9 * 32 + 1));
    CHECK(more(R"(, "fpn_levels": 3)") == -2 * (9 * 32 * 32 + 32));
    for (const auto& [key, value, range] : {std::tuple<const char*, int, const char*>{"head_convs", 65, "0 to 64"},
                                            {"fpn_levels", 2, "3 to 8"},
                                            {"fpn_levels", 9, "3 to 8"},
                                            {"num_classes", 0, "1 to 10000000"},
                                            {"anchors", 0, "1 to 1000"}}) {
        INFO(key << " " << value);
        CHECK_THAT(
            error_of(net + ", \"" + key + "\": " + std::to_string(value) + "}"),
            Catch::Contains(std::string(key) + " is " + std::to_string(value) + "; retinanet takes from " + range));
    }
}

TEST_CASE("a speech classifier may weigh its layers", "[model][hf]") {
    const std::string classifier = R"(, "architectures": ["Wav2Vec2ForSequenceClassification"])";
    CHECK(parameters(vit("wav2vec2", classifier + R"(, "use_weighted_layer_sum": true)")) -
              parameters(vit("wav2vec2", classifier)) ==
          3);
    CHECK(parameters(vit("wav2vec2", R"(, "use_weighted_layer_sum": true)")) == parameters(vit("wav2vec2", "")));
}
