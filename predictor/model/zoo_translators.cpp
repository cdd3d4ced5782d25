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

Value switch_base(std::int64_t experts) {
    Value out = with(t5(12, 768, 12, 3072, "switch_transformers"), "num_experts", experts);
    for (const char* side : {"num_sparse_encoder_layers", "num_sparse_decoder_layers"}) out.set(side, 6);
    return out;
}

Value marian(std::int64_t vocab) {
    return with(sides("marian", 6, 6, 512, 8, vocab, 512), "activation_function", "swish");
}

}  // namespace

std::vector<HubModel> hub_encoder_decoders() {
    return {
        {"t5-small", [] { return t5(6, 512, 8, 2048); }},
        {"t5-base", [] { return t5(12, 768, 12, 3072); }},
        {"t5-large", [] { return t5(24, 1024, 16, 4096); }},
        {"t5-3b", [] { return with(t5(24, 1024, 32, 16384), "d_kv", 128); }},
        {"t5-11b", [] { return with(t5(24, 1024, 128, 65536), "d_kv", 128); }},
        {"t5-v1_1-small", [] { return t5_v1_1(8, 512, 6, 1024); }},
        {"t5-v1_1-base", [] { return t5_v1_1(12, 768, 12, 2048); }},
        {"t5-v1_1-large", [] { return t5_v1_1(24, 1024, 16, 2816); }},
        {"t5-v1_1-xl", [] { return t5_v1_1(24, 2048, 32, 5120); }},
        {"t5-v1_1-xxl", [] { return t5_v1_1(24, 4096, 64, 10240); }},
        {"flan-t5-small", [] { return t5_v1_1(8, 512, 6, 1024); }},
        {"flan-t5-base", [] { return t5_v1_1(12, 768, 12, 2048); }},
        {"flan-t5-large", [] { return t5_v1_1(24, 1024, 16, 2816); }},
        {"flan-t5-xl", [] { return t5_v1_1(24, 2048, 32, 5120); }},
        {"flan-t5-xxl", [] { return t5_v1_1(24, 4096, 64, 10240); }},
        {"mt5-small", [] { return mt5(t5_v1_1(8, 512, 6, 1024)); }},
        {"mt5-base", [] { return mt5(t5_v1_1(12, 768, 12, 2048)); }},
        {"mt5-large", [] { return mt5(t5_v1_1(24, 1024, 16, 2816)); }},
        {"mt5-xl", [] { return mt5(t5_v1_1(24, 2048, 32, 5120)); }},
        {"switch-base-8", [] { return switch_base(8); }},
        {"bart-base", [] { return bart(6, 768); }},
        {"bart-large", [] { return bart(12, 1024); }},
        {"bart-large-cnn", [] { return with(bart(12, 1024), "vocab_size", 50264); }},
        {"mbart-large-cc25", [] { return sides("mbart", 12, 12, 1024, 16, 250027, 1024); }},
        {"mbart-large-50", [] { return sides("mbart", 12, 12, 1024, 16, 250054, 1024); }},
        {"pegasus-large",
         [] { return with(sides("pegasus", 16, 16, 1024, 16, 96103, 1024), "activation_function", "relu"); }},
        {"m2m100_418M",
         [] { return with(sides("m2m_100", 12, 12, 1024, 16, 128112, 1024), "activation_function", "relu"); }},
        {"nllb-200-distilled-600M",
         [] { return with(sides("m2m_100", 12, 12, 1024, 16, 256206, 1024), "activation_function", "relu"); }},
        {"opus-mt-en-de", [] { return marian(58101); }},
        {"blenderbot_small-90M", [] { return sides("blenderbot-small", 8, 8, 512, 16, 54944, 512); }},
    };
}

}  // namespace dlcast
