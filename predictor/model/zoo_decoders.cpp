// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co.
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

Value gpt2(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return hub_config(
        "gpt2",
        {{"n_layer", layers}, {"n_embd", width}, {"n_head", heads}, {"vocab_size", 50257}, {"n_positions", 1024}});
}

Value opt(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return hub_config("opt", {{"num_hidden_layers", layers},
                              {"hidden_size", width},
                              {"num_attention_heads", heads},
                              {"ffn_dim", 4 * width},
                              {"vocab_size", 50272},
                              {"max_position_embeddings", 2048}});
}

Value neox(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return hub_config("gpt_neox", {{"num_hidden_layers", layers},
                                   {"hidden_size", width},
                                   {"num_attention_heads", heads},
                                   {"intermediate_size", 4 * width},
                                   {"vocab_size", vocab},
                                   {"max_position_embeddings", 2048}});
}

Value mpt(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t positions) {
    return hub_config("mpt", {{"n_layers", layers},
                              {"d_model", width},
                              {"n_heads", heads},
                              {"vocab_size", 50432},
                              {"max_seq_len", positions}});
}

Value bloom(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return hub_config("bloom",
                      {{"n_layer", layers}, {"hidden_size", width}, {"n_head", heads}, {"vocab_size", 250880}});
}

Value gpt_neo(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return hub_config("gpt_neo",
                      {{"num_layers", layers}, {"hidden_size", width}, {"num_heads", heads}, {"vocab_size", 50257}});
}

Value phi(std::int64_t layers, std::int64_t width) {
    return hub_config("phi", {{"num_hidden_layers", layers},
                              {"hidden_size", width},
                              {"num_attention_heads", 32},
                              {"intermediate_size", 4 * width},
                              {"vocab_size", 51200},
                              {"max_position_embeddings", 2048}});
}

Value falcon(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return hub_config(
        "falcon",
        {{"num_hidden_layers", layers}, {"hidden_size", width}, {"num_attention_heads", heads}, {"vocab_size", vocab}});
}

// The generation with grouped keys.
Value falcon_grouped(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return with(with(falcon(layers, width, heads, 65024), "new_decoder_architecture", true), "num_kv_heads", 8);
}

Value falcon_rw() {
    Value out = falcon(24, 2048, 32, 50304);
    for (const auto& [key, on] :
         {std::pair<const char*, bool>{"multi_query", false}, {"parallel_attn", false}, {"bias", true}})
        out.set(key, on);
    return out;
}

Value codegen(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return hub_config("codegen", {{"n_layer", layers}, {"n_embd", width}, {"n_head", heads}, {"vocab_size", 51200}});
}

Value bigcode(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab, std::int64_t positions) {
    return hub_config(
        "gpt_bigcode",
        {{"n_layer", layers}, {"n_embd", width}, {"n_head", heads}, {"vocab_size", vocab}, {"n_positions", positions}});
}

Value mamba(std::int64_t layers, std::int64_t width) {
    return hub_config("mamba", {{"num_hidden_layers", layers}, {"hidden_size", width}, {"vocab_size", 50280}});
}

Value transformer_xl() {
    Value out = hub_config("transfo-xl", {{"n_layer", 18},
                                          {"d_model", 1024},
                                          {"d_embed", 1024},
                                          {"n_head", 16},
                                          {"d_head", 64},
                                          {"d_inner", 4096},
                                          {"vocab_size", 267735},
                                          {"div_val", 4},
                                          {"mem_len", 1600}});
    out.set("cutoffs", Value::Array{20000, 40000, 200000});
    return out;
}

Value chatglm(std::int64_t layers, std::int64_t vocab) {
    Value out = hub_config("chatglm", {{"num_layers", layers},
                                       {"hidden_size", 4096},
                                       {"num_attention_heads", 32},
                                       {"multi_query_group_num", 2},
                                       {"ffn_hidden_size", 13696},
                                       {"kv_channels", 128},
                                       {"padded_vocab_size", vocab},
                                       {"seq_length", 8192}});
    out.set("multi_query_attention", true);
    out.set("add_qkv_bias", true);
    return out;
}

Value deepseek(const char* type, std::initializer_list<std::pair<const char*, std::int64_t>> sizes) {
    Value out = hub_config(type, sizes);
    for (const auto& [key, size] : std::initializer_list<std::pair<const char*, std::int64_t>>{
             {"kv_lora_rank", 512}, {"qk_nope_head_dim", 128}, {"qk_rope_head_dim", 64}, {"v_head_dim", 128}})
        out.set(key, size);
    return out;
}

}  // namespace

std::vector<HubModel> hub_decoders() {
    return {
        {"openai-gpt",
         [] {
             return hub_config(
                 "openai-gpt",
                 {{"n_layer", 12}, {"n_embd", 768}, {"n_head", 12}, {"vocab_size", 40478}, {"n_positions", 512}});
         }},
        {"gpt2", [] { return gpt2(12, 768, 12); }},
        {"gpt2-medium", [] { return gpt2(24, 1024, 16); }},
        {"gpt2-large", [] { return gpt2(36, 1280, 20); }},
        {"gpt2-xl", [] { return gpt2(48, 1600, 25); }},
        {"distilgpt2", [] { return gpt2(6, 768, 12); }},
        {"opt-125m", [] { return opt(12, 768, 12); }},
        {"opt-350m",
         [] { return with(with(opt(24, 1024, 16), "word_embed_proj_dim", 512), "do_layer_norm_before", false); }},
        {"opt-1.3b", [] { return opt(24, 2048, 32); }},
        {"opt-2.7b", [] { return opt(32, 2560, 32); }},
        {"opt-6.7b", [] { return opt(32, 4096, 32); }},
        {"opt-13b", [] { return opt(40, 5120, 40); }},
        {"opt-30b", [] { return opt(48, 7168, 56); }},
        {"opt-66b", [] { return opt(64, 9216, 72); }},
        {"opt-175b", [] { return opt(96, 12288, 96); }},
        {"phi-1", [] { return phi(24, 2048); }},
        {"phi-1_5", [] { return phi(24, 2048); }},
        {"phi-2", [] { return phi(32, 2560); }},
        {"pythia-14m", [] { return neox(6, 128, 4, 50304); }},
        {"pythia-70m", [] { return neox(6, 512, 8, 50304); }},
        {"pythia-160m", [] { return neox(12, 768, 12, 50304); }},
        {"pythia-410m", [] { return neox(24, 1024, 16, 50304); }},
        {"pythia-1b", [] { return neox(16, 2048, 8, 50304); }},
        {"pythia-1.4b", [] { return neox(24, 2048, 16, 50304); }},
        {"pythia-2.8b", [] { return neox(32, 2560, 32, 50304); }},
        {"pythia-6.9b", [] { return neox(32, 4096, 32, 50432); }},
        {"pythia-12b", [] { return neox(36, 5120, 40, 50688); }},
        {"gpt-neox-20b", [] { return neox(44, 6144, 64, 50432); }},
        {"dolly-v2-3b", [] { return neox(32, 2560, 32, 50280); }},
        {"RedPajama-INCITE-Base-3B-v1", [] { return neox(32, 2560, 32, 50432); }},
        {"gpt-neo-125m", [] { return gpt_neo(12, 768, 12); }},
        {"gpt-neo-1.3B", [] { return gpt_neo(24, 2048, 16); }},
        {"gpt-neo-2.7B", [] { return gpt_neo(32, 2560, 20); }},
        {"gpt-j-6b",
         [] {
             return hub_config("gptj", {{"n_layer", 28}, {"n_embd", 4096}, {"n_head", 16}, {"vocab_size", 50400}});
         }},
        {"codegen-350M-mono", [] { return codegen(20, 1024, 16); }},
        {"codegen-2B-mono", [] { return codegen(32, 2560, 32); }},
        {"codegen-6B-mono", [] { return codegen(33, 4096, 16); }},
        {"codegen-16B-mono", [] { return codegen(34, 6144, 24); }},
        {"gpt_bigcode-santacoder", [] { return bigcode(24, 2048, 16, 49280, 2048); }},
        {"starcoderbase-1b", [] { return bigcode(24, 2048, 16, 49152, 8192); }},
        {"starcoder", [] { return bigcode(40, 6144, 48, 49152, 8192); }},
        {"bloom-560m", [] { return bloom(24, 1024, 16); }},
        {"bloom-1b1", [] { return bloom(24, 1536, 16); }},
        {"bloom-1b7", [] { return bloom(24, 2048, 16); }},
        {"bloom-3b", [] { return bloom(30, 2560, 32); }},
        {"bloom-7b1", [] { return bloom(30, 4096, 32); }},
        {"bloom", [] { return bloom(70, 14336, 112); }},
        {"mpt-7b", [] { return mpt(32, 4096, 32, 2048); }},
        {"mpt-30b", [] { return mpt(48, 7168, 64, 8192); }},
        {"falcon-rw-1b", [] { return falcon_rw(); }},
        {"falcon-7b", [] { return falcon(32, 4544, 71, 65024); }},
        {"falcon-40b", [] { return falcon_grouped(60, 8192, 128); }},
        {"falcon-180B", [] { return with(falcon_grouped(80, 14848, 232), "tie_word_embeddings", false); }},
        {"mamba-130m", [] { return mamba(24, 768); }},
        {"mamba-370m", [] { return mamba(48, 1024); }},
        {"mamba-790m", [] { return mamba(48, 1536); }},
        {"mamba-1.4b", [] { return mamba(48, 2048); }},
        {"mamba-2.8b", [] { return mamba(64, 2560); }},
        {"transfo-xl-wt103", [] { return transformer_xl(); }},
        {"chatglm3-6b", [] { return chatglm(28, 65024); }},
        {"glm-4-9b", [] { return chatglm(40, 151552); }},
        {"xglm-564M",
         [] {
             return hub_config("xglm", {{"num_layers", 24},
                                        {"d_model", 1024},
                                        {"attention_heads", 16},
                                        {"ffn_dim", 4096},
                                        {"vocab_size", 256008}});
         }},
        {"biogpt",
         [] {
             return hub_config("biogpt", {{"num_hidden_layers", 24},
                                          {"hidden_size", 1024},
                                          {"num_attention_heads", 16},
                                          {"intermediate_size", 4096},
                                          {"vocab_size", 42384}});
         }},
        {"DeepSeek-V2-Lite",
         [] {
             return deepseek("deepseek_v2", {{"num_hidden_layers", 27},
                                             {"hidden_size", 2048},
                                             {"num_attention_heads", 16},
                                             {"intermediate_size", 10944},
                                             {"moe_intermediate_size", 1408},
                                             {"n_routed_experts", 64},
                                             {"n_shared_experts", 2},
                                             {"num_experts_per_tok", 6},
                                             {"first_k_dense_replace", 1},
                                             {"vocab_size", 102400},
                                             {"max_position_embeddings", 163840}});
         }},
        {"DeepSeek-V3",
         [] {
             return deepseek("deepseek_v3", {{"num_hidden_layers", 61},
                                             {"hidden_size", 7168},
                                             {"num_attention_heads", 128},
                                             {"q_lora_rank", 1536},
                                             {"intermediate_size", 18432},
                                             {"moe_intermediate_size", 2048},
                                             {"n_routed_experts", 256},
                                             {"n_shared_experts", 1},
                                             {"num_experts_per_tok", 8},
                                             {"first_k_dense_replace", 3},
                                             {"vocab_size", 129280},
                                             {"max_position_embeddings", 163840}});
         }},
    };
}

}  // namespace dlcast
