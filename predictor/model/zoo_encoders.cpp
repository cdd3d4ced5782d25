// SPDX-License-Identifier: GPL-2.0-or-later
// Sizes: the config.json of each model's page on huggingface.co.
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

Value bert(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return hub_config("bert", {{"num_hidden_layers", layers},
                               {"hidden_size", width},
                               {"num_attention_heads", heads},
                               {"intermediate_size", 4 * width},
                               {"vocab_size", vocab},
                               {"max_position_embeddings", 512},
                               {"type_vocab_size", 2}});
}

Value roberta(const char* type, std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    return hub_config(type, {{"num_hidden_layers", layers},
                             {"hidden_size", width},
                             {"num_attention_heads", heads},
                             {"intermediate_size", 4 * width},
                             {"vocab_size", vocab},
                             {"max_position_embeddings", 514},
                             {"type_vocab_size", 1}});
}

Value distilbert(std::int64_t vocab) {
    return hub_config("distilbert", {{"n_layers", 6},
                                     {"dim", 768},
                                     {"n_heads", 12},
                                     {"hidden_dim", 3072},
                                     {"vocab_size", vocab},
                                     {"max_position_embeddings", 512}});
}

Value electra(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner, std::int64_t embedding) {
    return hub_config("electra", {{"num_hidden_layers", layers},
                                  {"hidden_size", width},
                                  {"num_attention_heads", heads},
                                  {"intermediate_size", inner},
                                  {"embedding_size", embedding},
                                  {"vocab_size", 30522},
                                  {"max_position_embeddings", 512},
                                  {"type_vocab_size", 2}});
}

Value albert(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    Value out = bert(layers, width, heads, 30000);
    out.set("model_type", "albert");
    out.set("embedding_size", 128);
    return out;
}

Value deberta(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocab) {
    Value out = hub_config("deberta", {{"num_hidden_layers", layers},
                                       {"hidden_size", width},
                                       {"num_attention_heads", heads},
                                       {"intermediate_size", 4 * width},
                                       {"vocab_size", vocab},
                                       {"max_position_embeddings", 512}});
    out.set("relative_attention", true);
    out.set("position_biased_input", false);
    out.set("pos_att_type", "c2p|p2c");
    return out;
}

Value deberta_v3(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    Value out = deberta(layers, width, heads, 128100);
    out.set("model_type", "deberta-v2");
    out.set("position_buckets", 256);
    out.set("share_att_key", true);
    out.set("norm_rel_ebd", "layer_norm");
    return out;
}

Value xlnet(std::int64_t layers, std::int64_t width, std::int64_t heads) {
    return hub_config(
        "xlnet",
        {{"n_layer", layers}, {"d_model", width}, {"n_head", heads}, {"d_inner", 4 * width}, {"vocab_size", 32000}});
}

Value modernbert(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t inner) {
    return hub_config("modernbert", {{"num_hidden_layers", layers},
                                     {"hidden_size", width},
                                     {"num_attention_heads", heads},
                                     {"intermediate_size", inner},
                                     {"vocab_size", 50368},
                                     {"max_position_embeddings", 8192}});
}

Value minilm(std::int64_t layers) { return with(bert(layers, 384, 12, 30522), "intermediate_size", 1536); }

Value mpnet() { return roberta("mpnet", 12, 768, 12, 30527); }

}  // namespace

std::vector<HubModel> hub_encoders() {
    return {
        {"bert-base-uncased", [] { return bert(12, 768, 12, 30522); }},
        {"bert-base-cased", [] { return bert(12, 768, 12, 28996); }},
        {"bert-large-uncased", [] { return bert(24, 1024, 16, 30522); }},
        {"bert-large-cased", [] { return bert(24, 1024, 16, 28996); }},
        {"bert-base-multilingual-cased", [] { return bert(12, 768, 12, 119547); }},
        {"bert-base-multilingual-uncased", [] { return bert(12, 768, 12, 105879); }},
        {"bert-base-chinese", [] { return bert(12, 768, 12, 21128); }},
        {"bert-tiny", [] { return bert(2, 128, 2, 30522); }},
        {"bert-mini", [] { return bert(4, 256, 4, 30522); }},
        {"bert-small", [] { return bert(4, 512, 8, 30522); }},
        {"bert-medium", [] { return bert(8, 512, 8, 30522); }},
        {"scibert_scivocab_uncased", [] { return bert(12, 768, 12, 31090); }},
        {"all-MiniLM-L6-v2", [] { return minilm(6); }},
        {"all-MiniLM-L12-v2", [] { return minilm(12); }},
        {"roberta-base", [] { return roberta("roberta", 12, 768, 12, 50265); }},
        {"roberta-large", [] { return roberta("roberta", 24, 1024, 16, 50265); }},
        {"distilroberta-base", [] { return roberta("roberta", 6, 768, 12, 50265); }},
        {"camembert-base", [] { return roberta("camembert", 12, 768, 12, 32005); }},
        {"xlm-roberta-base", [] { return roberta("xlm-roberta", 12, 768, 12, 250002); }},
        {"xlm-roberta-large", [] { return roberta("xlm-roberta", 24, 1024, 16, 250002); }},
        {"codebert-base", [] { return roberta("roberta", 12, 768, 12, 50265); }},
        {"distilbert-base-uncased", [] { return distilbert(30522); }},
        {"distilbert-base-cased", [] { return distilbert(28996); }},
        {"distilbert-base-multilingual-cased", [] { return distilbert(119547); }},
        {"electra-small-discriminator", [] { return electra(12, 256, 4, 1024, 128); }},
        {"electra-base-discriminator", [] { return electra(12, 768, 12, 3072, 768); }},
        {"electra-large-discriminator", [] { return electra(24, 1024, 16, 4096, 1024); }},
        {"albert-base-v2", [] { return albert(12, 768, 12); }},
        {"albert-large-v2", [] { return albert(24, 1024, 16); }},
        {"albert-xlarge-v2", [] { return albert(24, 2048, 16); }},
        {"albert-xxlarge-v2", [] { return albert(12, 4096, 64); }},
        {"deberta-base", [] { return deberta(12, 768, 12, 50265); }},
        {"deberta-large", [] { return deberta(24, 1024, 16, 50265); }},
        {"deberta-v3-xsmall", [] { return with(deberta_v3(12, 384, 6), "intermediate_size", 1536); }},
        {"deberta-v3-small", [] { return deberta_v3(6, 768, 12); }},
        {"deberta-v3-base", [] { return deberta_v3(12, 768, 12); }},
        {"deberta-v3-large", [] { return deberta_v3(24, 1024, 16); }},
        {"xlnet-base-cased", [] { return xlnet(12, 768, 12); }},
        {"xlnet-large-cased", [] { return xlnet(24, 1024, 16); }},
        {"mpnet-base", [] { return mpnet(); }},
        {"all-mpnet-base-v2", [] { return mpnet(); }},
        {"longformer-base-4096",
         [] { return with(roberta("longformer", 12, 768, 12, 50265), "max_position_embeddings", 4098); }},
        {"layoutlm-base-uncased", [] { return with(bert(12, 768, 12, 30522), "model_type", "layoutlm"); }},
        {"ModernBERT-base", [] { return modernbert(22, 768, 12, 1152); }},
        {"ModernBERT-large", [] { return modernbert(28, 1024, 16, 2624); }},
    };
}

}  // namespace dlcast
