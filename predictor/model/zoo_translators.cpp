// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co. Encoder-decoder models of text.
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

Value t5(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner, const char* type = "t5") {
    return hub_config(type, {{"num_layers", layers},
                             {"d_model", width},
                             {"num_heads", heads},
                             {"d_kv", 64},
                             {"d_ff", inner},
                             {"vocab_size", 32128}});
}

// T5 1.1 (google/t5-v1_1, FLAN): gated, the head untied.
Value t5_v1_1(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner) {
    Value out = t5(layers, width, heads, inner);
    out.set("feed_forward_proj", "gated-gelu");
    out.set("tie_word_embeddings", false);
    return out;
}

Value bart(std::int64_t layers, std::int64_t width) {
    return hub_config("bart", {{"encoder_layers", layers},
                               {"decoder_layers", layers},
                               {"d_model", width},
                               {"encoder_attention_heads", width / 64},
                               {"encoder_ffn_dim", 4 * width},
                               {"vocab_size", 50265},
                               {"max_position_embeddings", 1024}});
}

Value mt5(Value base) {
    base.set("model_type", "mt5");
    base.set("vocab_size", 250112);
    return base;
}

// BART's keys for its relatives.
Value sides(const char* type, std::int64_t encoder, std::int64_t decoder, std::int64_t width, std::int64_t heads,
            std::int64_t vocab, std::int64_t positions) {
    return hub_config(type, {{"encoder_layers", encoder},
                             {"decoder_layers", decoder},
                             {"d_model", width},
                             {"encoder_attention_heads", heads},
                             {"encoder_ffn_dim", 4 * width},
                             {"vocab_size", vocab},
                             {"max_position_embeddings", positions}});
}

Value marian(std::int64_t vocab) {
    return with(sides("marian", 6, 6, 512, 8, vocab, 512), "activation_function", "swish");
}

}  // namespace

std::vector<HubModel> hub_encoder_decoders() {
    return {
        {"t5-small", t5(6, 512, 8, 2048)},
        {"t5-base", t5(12, 768, 12, 3072)},
        {"t5-large", t5(24, 1024, 16, 4096)},
        {"t5-3b", with(t5(24, 1024, 32, 16384), "d_kv", 128)},
        {"t5-11b", with(t5(24, 1024, 128, 65536), "d_kv", 128)},
        {"t5-v1_1-small", t5_v1_1(8, 512, 6, 1024)},
        {"t5-v1_1-base", t5_v1_1(12, 768, 12, 2048)},
        {"t5-v1_1-large", t5_v1_1(24, 1024, 16, 2816)},
        {"t5-v1_1-xl", t5_v1_1(24, 2048, 32, 5120)},
        {"t5-v1_1-xxl", t5_v1_1(24, 4096, 64, 10240)},
        {"flan-t5-small", t5_v1_1(8, 512, 6, 1024)},
        {"flan-t5-base", t5_v1_1(12, 768, 12, 2048)},
        {"flan-t5-large", t5_v1_1(24, 1024, 16, 2816)},
        {"flan-t5-xl", t5_v1_1(24, 2048, 32, 5120)},
        {"flan-t5-xxl", t5_v1_1(24, 4096, 64, 10240)},
        {"mt5-small", mt5(t5_v1_1(8, 512, 6, 1024))},
        {"mt5-base", mt5(t5_v1_1(12, 768, 12, 2048))},
        {"mt5-large", mt5(t5_v1_1(24, 1024, 16, 2816))},
        {"mt5-xl", mt5(t5_v1_1(24, 2048, 32, 5120))},
        {"switch-base-8", with(t5(12, 768, 12, 3072, "switch_transformers"), "num_experts", 8)},
        {"bart-base", bart(6, 768)},
        {"bart-large", bart(12, 1024)},
        {"bart-large-cnn", with(bart(12, 1024), "vocab_size", 50264)},
        {"mbart-large-cc25", sides("mbart", 12, 12, 1024, 16, 250027, 1024)},
        {"mbart-large-50", sides("mbart", 12, 12, 1024, 16, 250054, 1024)},
        {"pegasus-large", with(sides("pegasus", 16, 16, 1024, 16, 96103, 1024), "activation_function", "relu")},
        {"m2m100_418M", with(sides("m2m_100", 12, 12, 1024, 16, 128112, 1024), "activation_function", "relu")},
        {"nllb-200-distilled-600M",
         with(sides("m2m_100", 12, 12, 1024, 16, 256206, 1024), "activation_function", "relu")},
        {"opus-mt-en-de", marian(58101)},
        {"blenderbot_small-90M", sides("blenderbot-small", 8, 8, 512, 16, 54944, 512)},
    };
}

}  // namespace dlcast
