// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co.
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

using Sizes = std::initializer_list<std::pair<const char*, std::int64_t>>;

Value config(const char* model_type, Sizes sizes) {
    Value out = Value::object();
    out.set("model_type", model_type);
    for (const auto& [key, size] : sizes) out.set(key, size);
    return out;
}

Value with(Value base, const char* key, Value value) {
    base.set(key, std::move(value));
    return base;
}

Value bert(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return config("bert", {{"num_hidden_layers", layers},
                           {"hidden_size", width},
                           {"num_attention_heads", heads},
                           {"intermediate_size", 4 * width},
                           {"vocab_size", vocab},
                           {"max_position_embeddings", 512},
                           {"type_vocab_size", 2}});
}

Value roberta(const char* type, std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return config(type, {{"num_hidden_layers", layers},
                         {"hidden_size", width},
                         {"num_attention_heads", heads},
                         {"intermediate_size", 4 * width},
                         {"vocab_size", vocab},
                         {"max_position_embeddings", 514},
                         {"type_vocab_size", 1}});
}

Value distilbert(std::int64_t vocab) {
    return config("distilbert", {{"n_layers", 6},
                                 {"dim", 768},
                                 {"n_heads", 12},
                                 {"hidden_dim", 3072},
                                 {"vocab_size", vocab},
                                 {"max_position_embeddings", 512}});
}

Value electra(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner, std::int64_t embedding) {
    return config("electra", {{"num_hidden_layers", layers},
                              {"hidden_size", width},
                              {"num_attention_heads", heads},
                              {"intermediate_size", inner},
                              {"embedding_size", embedding},
                              {"vocab_size", 30522},
                              {"max_position_embeddings", 512},
                              {"type_vocab_size", 2}});
}

Value gpt2(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return config(
        "gpt2",
        {{"n_layer", layers}, {"n_embd", width}, {"n_head", heads}, {"vocab_size", 50257}, {"n_positions", 1024}});
}

Value opt(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return config("opt", {{"num_hidden_layers", layers},
                          {"hidden_size", width},
                          {"num_attention_heads", heads},
                          {"ffn_dim", 4 * width},
                          {"vocab_size", 50272},
                          {"max_position_embeddings", 2048}});
}

Value llama(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t kv_heads, std::int64_t inner,
            std::int64_t vocab, std::int64_t positions, const char* type = "llama") {
    return config(type, {{"num_hidden_layers", layers},
                         {"hidden_size", width},
                         {"num_attention_heads", heads},
                         {"num_key_value_heads", kv_heads},
                         {"intermediate_size", inner},
                         {"vocab_size", vocab},
                         {"max_position_embeddings", positions}});
}

Value neox(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return config("gpt_neox", {{"num_hidden_layers", layers},
                               {"hidden_size", width},
                               {"num_attention_heads", heads},
                               {"intermediate_size", 4 * width},
                               {"vocab_size", vocab},
                               {"max_position_embeddings", 2048}});
}

Value mpt(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t positions) {
    return config("mpt", {{"n_layers", layers},
                          {"d_model", width},
                          {"n_heads", heads},
                          {"vocab_size", 50432},
                          {"max_seq_len", positions}});
}

Value bloom(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return config("bloom", {{"n_layer", layers}, {"hidden_size", width}, {"n_head", heads}, {"vocab_size", 250880}});
}

Value t5(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner, const char* type = "t5") {
    return config(type, {{"num_layers", layers},
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

Value gemma(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t kv_heads, std::int64_t inner) {
    Value out = llama(layers, width, heads, kv_heads, inner, 256000, 8192);
    out.set("head_dim", 256);
    out.set("tie_word_embeddings", true);
    out.set("hidden_act", "gelu_new");
    return out;
}

Value bart(std::int64_t layers, std::int64_t width) {
    return config("bart", {{"encoder_layers", layers},
                           {"decoder_layers", layers},
                           {"d_model", width},
                           {"encoder_attention_heads", width / 64},
                           {"encoder_ffn_dim", 4 * width},
                           {"vocab_size", 50265},
                           {"max_position_embeddings", 1024}});
}

std::vector<HubModel> encoders() {
    return {
        {"bert-base-uncased", bert(12, 768, 12, 30522)},
        {"bert-base-cased", bert(12, 768, 12, 28996)},
        {"bert-large-uncased", bert(24, 1024, 16, 30522)},
        {"bert-large-cased", bert(24, 1024, 16, 28996)},
        {"bert-base-multilingual-cased", bert(12, 768, 12, 119547)},
        {"roberta-base", roberta("roberta", 12, 768, 12, 50265)},
        {"roberta-large", roberta("roberta", 24, 1024, 16, 50265)},
        {"xlm-roberta-base", roberta("roberta", 12, 768, 12, 250002)},
        {"xlm-roberta-large", roberta("roberta", 24, 1024, 16, 250002)},
        {"distilbert-base-uncased", distilbert(30522)},
        {"distilbert-base-cased", distilbert(28996)},
        {"electra-small-discriminator", electra(12, 256, 4, 1024, 128)},
        {"electra-base-discriminator", electra(12, 768, 12, 3072, 768)},
        {"electra-large-discriminator", electra(24, 1024, 16, 4096, 1024)},
    };
}

std::vector<HubModel> decoders() {
    const Value llama32 = with(llama(16, 2048, 32, 8, 8192, 128256, 131072), "tie_word_embeddings", true);
    return {
        {"gpt2", gpt2(12, 768, 12)},
        {"gpt2-medium", gpt2(24, 1024, 16)},
        {"gpt2-large", gpt2(36, 1280, 20)},
        {"gpt2-xl", gpt2(48, 1600, 25)},
        {"distilgpt2", gpt2(6, 768, 12)},
        {"opt-125m", opt(12, 768, 12)},
        {"opt-350m", with(with(opt(24, 1024, 16), "word_embed_proj_dim", 512), "do_layer_norm_before", false)},
        {"opt-1.3b", opt(24, 2048, 32)},
        {"opt-2.7b", opt(32, 2560, 32)},
        {"opt-6.7b", opt(32, 4096, 32)},
        {"opt-13b", opt(40, 5120, 40)},
        {"opt-30b", opt(48, 7168, 56)},
        {"opt-66b", opt(64, 9216, 72)},
        {"Llama-2-7b", llama(32, 4096, 32, 32, 11008, 32000, 4096)},
        {"Llama-2-13b", llama(40, 5120, 40, 40, 13824, 32000, 4096)},
        {"Llama-2-70b", llama(80, 8192, 64, 8, 28672, 32000, 4096)},
        {"Llama-3-8B", llama(32, 4096, 32, 8, 14336, 128256, 8192)},
        {"Llama-3-70B", llama(80, 8192, 64, 8, 28672, 128256, 8192)},
        {"Llama-3.1-8B", llama(32, 4096, 32, 8, 14336, 128256, 131072)},
        {"Llama-3.1-70B", llama(80, 8192, 64, 8, 28672, 128256, 131072)},
        {"Llama-3.1-405B", llama(126, 16384, 128, 8, 53248, 128256, 131072)},
        {"Llama-3.2-1B", llama32},
        {"Llama-3.2-3B",
         with(with(llama(28, 3072, 24, 8, 8192, 128256, 131072), "tie_word_embeddings", true), "head_dim", 128)},
        {"Mistral-7B-v0.1", llama(32, 4096, 32, 8, 14336, 32000, 32768, "mistral")},
        {"Mixtral-8x7B-v0.1", with(llama(32, 4096, 32, 8, 14336, 32000, 32768, "mixtral"), "num_local_experts", 8)},
        {"Qwen2.5-0.5B", with(llama(24, 896, 14, 2, 4864, 151936, 32768, "qwen2"), "tie_word_embeddings", true)},
        {"Qwen2.5-1.5B", with(llama(28, 1536, 12, 2, 8960, 151936, 131072, "qwen2"), "tie_word_embeddings", true)},
        {"Qwen2.5-7B", llama(28, 3584, 28, 4, 18944, 152064, 131072, "qwen2")},
        {"Qwen2-0.5B", with(llama(24, 896, 14, 2, 4864, 151936, 131072, "qwen2"), "tie_word_embeddings", true)},
        {"Qwen2-1.5B", with(llama(28, 1536, 12, 2, 8960, 151936, 131072, "qwen2"), "tie_word_embeddings", true)},
        {"Qwen2-7B", llama(28, 3584, 28, 4, 18944, 152064, 131072, "qwen2")},
        {"gemma-2b", gemma(18, 2048, 8, 1, 16384)},
        {"gemma-7b", gemma(28, 3072, 16, 16, 24576)},
        {"phi-2", config("phi", {{"num_hidden_layers", 32},
                                 {"hidden_size", 2560},
                                 {"num_attention_heads", 32},
                                 {"intermediate_size", 10240},
                                 {"vocab_size", 51200},
                                 {"max_position_embeddings", 2048}})},
        {"pythia-160m", neox(12, 768, 12, 50304)},
        {"pythia-1b", neox(16, 2048, 8, 50304)},
        {"pythia-6.9b", neox(32, 4096, 32, 50432)},
        {"gpt-neox-20b", neox(44, 6144, 64, 50432)},
        {"gpt-neo-125m",
         config("gpt_neo", {{"num_layers", 12}, {"hidden_size", 768}, {"num_heads", 12}, {"vocab_size", 50257}})},
        {"gpt-neo-1.3B",
         config("gpt_neo", {{"num_layers", 24}, {"hidden_size", 2048}, {"num_heads", 16}, {"vocab_size", 50257}})},
        {"gpt-neo-2.7B",
         config("gpt_neo", {{"num_layers", 32}, {"hidden_size", 2560}, {"num_heads", 20}, {"vocab_size", 50257}})},
        {"gpt-j-6b", config("gptj", {{"n_layer", 28}, {"n_embd", 4096}, {"n_head", 16}, {"vocab_size", 50400}})},
        {"bloom-560m", bloom(24, 1024, 16)},
        {"bloom-7b1", bloom(30, 4096, 32)},
        {"bloom", bloom(70, 14336, 112)},
        {"mpt-7b", mpt(32, 4096, 32, 2048)},
        {"mpt-30b", mpt(48, 7168, 64, 8192)},
        {"falcon-7b",
         config(
             "falcon",
             {{"num_hidden_layers", 32}, {"hidden_size", 4544}, {"num_attention_heads", 71}, {"vocab_size", 65024}})},
    };
}

std::vector<HubModel> encoder_decoders() {
    return {
        {"t5-small", t5(6, 512, 8, 2048)},
        {"t5-base", t5(12, 768, 12, 3072)},
        {"t5-large", t5(24, 1024, 16, 4096)},
        {"t5-3b", with(t5(24, 1024, 32, 16384), "d_kv", 128)},
        {"t5-11b", with(t5(24, 1024, 128, 65536), "d_kv", 128)},
        {"t5-v1_1-base", t5_v1_1(12, 768, 12, 2048)},
        {"flan-t5-small", t5_v1_1(8, 512, 6, 1024)},
        {"flan-t5-base", t5_v1_1(12, 768, 12, 2048)},
        {"flan-t5-large", t5_v1_1(24, 1024, 16, 2816)},
        {"flan-t5-xl", t5_v1_1(24, 2048, 32, 5120)},
        {"flan-t5-xxl", t5_v1_1(24, 4096, 64, 10240)},
        {"switch-base-8", with(t5(12, 768, 12, 3072, "switch_transformers"), "num_experts", 8)},
        {"bart-base", bart(6, 768)},
        {"bart-large", bart(12, 1024)},
    };
}

}  // namespace

const std::vector<HubModel>& hub_models() {
    static const std::vector<HubModel> all = [] {
        std::vector<HubModel> models = encoders();
        for (auto more : {decoders(), encoder_decoders()})
            for (HubModel& model : more) models.push_back(std::move(model));
        return models;
    }();
    return all;
}

}  // namespace dlcast
