// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co. Models of images and of speech.
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

Value whisper(std::int64_t layers, std::int64_t width, std::int64_t vocab = 51865, std::int64_t mels = 80) {
    return hub_config("whisper", {{"encoder_layers", layers},
                                  {"decoder_layers", layers},
                                  {"d_model", width},
                                  {"encoder_attention_heads", width / 64},
                                  {"encoder_ffn_dim", 4 * width},
                                  {"vocab_size", vocab},
                                  {"num_mel_bins", mels}});
}

Value speech(const char* type, std::int64_t layers, std::int64_t width) {
    return hub_config(type, {{"num_hidden_layers", layers},
                             {"hidden_size", width},
                             {"num_attention_heads", width / 64},
                             {"intermediate_size", 4 * width},
                             {"vocab_size", 32}});
}

// With norms in each layer of the features, biases, and norms before the parts.
Value stable_speech(const char* type, std::int64_t layers, std::int64_t width) {
    Value out = speech(type, layers, width);
    out.set("do_stable_layer_norm", true);
    out.set("conv_bias", true);
    out.set("feat_extract_norm", "layer");
    return out;
}

Value vit(const char* type, std::int64_t layers, std::int64_t width, std::int64_t patch, std::int64_t image) {
    return hub_config(type, {{"num_hidden_layers", layers},
                             {"hidden_size", width},
                             {"num_attention_heads", width / 64},
                             {"intermediate_size", 4 * width},
                             {"patch_size", patch},
                             {"image_size", image}});
}

Value clip(std::int64_t width, std::int64_t layers, std::int64_t patch, std::int64_t text_width,
           std::int64_t image = 224) {
    Value out = hub_config("clip", {{"projection_dim", text_width}});
    out.set("vision_config", vit("clip_vision_model", layers, width, patch, image));
    Value text = hub_config(
        "clip_text_model",
        {{"hidden_size", text_width}, {"num_attention_heads", text_width / 64}, {"intermediate_size", 4 * text_width}});
    out.set("text_config", std::move(text));
    return out;
}

Value convnext_v2(std::initializer_list<std::int64_t> depths, std::int64_t width) {
    Value out = hub_config("convnextv2", {{"image_size", 224}});
    Value its_depths = Value::array(), widths = Value::array();
    for (const std::int64_t depth : depths) its_depths.push(depth);
    for (int i = 0; i < 4; ++i) widths.push(width << i);
    out.set("depths", std::move(its_depths));
    out.set("hidden_sizes", std::move(widths));
    return out;
}

}  // namespace

std::vector<HubModel> hub_vision_and_speech() {
    return {
        {"whisper-tiny", [] { return whisper(4, 384); }},
        {"whisper-base", [] { return whisper(6, 512); }},
        {"whisper-small", [] { return whisper(12, 768); }},
        {"whisper-medium", [] { return whisper(24, 1024); }},
        {"whisper-large", [] { return whisper(32, 1280); }},
        {"whisper-large-v2", [] { return whisper(32, 1280); }},
        {"whisper-large-v3", [] { return whisper(32, 1280, 51866, 128); }},
        {"whisper-large-v3-turbo", [] { return with(whisper(32, 1280, 51866, 128), "decoder_layers", 4); }},
        {"wav2vec2-base", [] { return speech("wav2vec2", 12, 768); }},
        {"wav2vec2-large", [] { return speech("wav2vec2", 24, 1024); }},
        {"wav2vec2-large-xlsr-53", [] { return stable_speech("wav2vec2", 24, 1024); }},
        {"wav2vec2-xls-r-300m", [] { return stable_speech("wav2vec2", 24, 1024); }},
        {"hubert-base-ls960", [] { return speech("hubert", 12, 768); }},
        {"wavlm-base", [] { return speech("wavlm", 12, 768); }},
        {"beit-base-patch16-224", [] { return vit("beit", 12, 768, 16, 224); }},
        {"dinov2-small", [] { return vit("dinov2", 12, 384, 14, 518); }},
        {"dinov2-base", [] { return vit("dinov2", 12, 768, 14, 518); }},
        {"dinov2-large", [] { return vit("dinov2", 24, 1024, 14, 518); }},
        {"clip-vit-base-patch32", [] { return clip(768, 12, 32, 512); }},
        {"clip-vit-base-patch16", [] { return clip(768, 12, 16, 512); }},
        {"clip-vit-large-patch14", [] { return clip(1024, 24, 14, 768); }},
        {"clip-vit-large-patch14-336", [] { return clip(1024, 24, 14, 768, 336); }},
        {"convnextv2_atto",
         [] {
             return convnext_v2({2, 2, 6, 2}, 40);
         }},
        {"convnextv2_tiny",
         [] {
             return convnext_v2({3, 3, 9, 3}, 96);
         }},
        {"convnextv2_base",
         [] {
             return convnext_v2({3, 3, 27, 3}, 128);
         }},
        {"convnextv2_large",
         [] {
             return convnext_v2({3, 3, 27, 3}, 192);
         }},
    };
}

}  // namespace dlcast
