// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_size = 10'000'000;

// Every key any family reads.
constexpr std::array hf_keys = {
    "model_type", "name", "architectures", "attn_implementation", "_attn_implementation", "attn_config",
    "tie_word_embeddings",
    // sizes of language models
    "vocab_size", "hidden_size", "d_model", "n_embd", "dim", "num_hidden_layers", "n_layer", "n_layers", "num_layers",
    "encoder_layers", "decoder_layers", "num_decoder_layers", "num_attention_heads", "n_head", "n_heads", "num_heads",
    "encoder_attention_heads", "decoder_attention_heads", "num_key_value_heads", "head_dim", "d_head", "d_kv",
    "intermediate_size", "n_inner", "d_inner", "ffn_dim", "d_ff", "hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim",
    "expansion_ratio", "max_position_embeddings", "n_positions", "max_seq_len", "type_vocab_size", "embedding_size",
    "word_embed_proj_dim",
    // switches
    "hidden_act", "activation_function", "activation", "hidden_activation", "feed_forward_proj", "attention_bias",
    "mlp_bias", "no_bias", "bias", "use_bias", "multi_query", "new_decoder_architecture", "num_kv_heads",
    "parallel_attn", "rotary_dim", "do_layer_norm_before", "share_encoder_decoder_embeddings", "is_encoder_decoder",
    "static_position_embeddings",
    // mixtures of experts
    "num_local_experts", "num_experts_per_tok", "num_experts", "num_sparse_encoder_layers", "num_sparse_decoder_layers",
    // Transformer-XL
    "d_embed", "cutoffs", "div_val", "mem_len", "clamp_len",
    // vision and detection
    "image_size", "patch_size", "num_channels", "num_labels", "backbone", "feature_maps", "feature_channels",
    "boxes_per_cell", "fpn_channels", "fpn_levels", "head_convs", "anchors", "num_classes", "discriminator",
    "generator"};

}  // namespace

Value keep_hf_keys(const Value& config) {
    Value out = Value::object();
    out.at = config.at;
    for (const Value::Member& member : config.as_object()) {
        if (member.value.is_null() || std::find(hf_keys.begin(), hf_keys.end(), member.key) == hf_keys.end()) continue;
        const bool nested = member.key == "discriminator" || member.key == "generator";
        out.as_object().push_back(member);
        if (nested && member.value.is_object()) out.as_object().back().value = keep_hf_keys(member.value);
    }
    return out;
}

HfConfig::HfConfig(const Value& config, std::string source, const BuildOptions& build_options,
                   std::vector<std::string>& sentences)
    : options(build_options), assumed(sentences), reader_(config, std::move(source), "config") {
    // Which of them a family reads is its own matter; none is unknown.
    for (const char* key : hf_keys) reader_.value(key);
}

std::int64_t HfConfig::size(std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (reader_.has(name)) return reader_.integer(name, 1, most_size).value_or(1);
    fail(fmt::format("{} needs \"{}\"; add it", family, *names.begin()));
    return 1;
}

std::int64_t HfConfig::size_or(std::initializer_list<const char*> names, std::int64_t standard) {
    for (const char* name : names)
        if (reader_.has(name)) return reader_.integer(name, 0, most_size).value_or(standard);
    return standard;
}

bool HfConfig::flag_or(const char* name, bool standard) { return reader_.boolean(name).value_or(standard); }
double HfConfig::number_or(const char* name, double standard) {
    return reader_.number(name, 0.0, 1e9).value_or(standard);
}

std::string HfConfig::text_or(std::initializer_list<const char*> names, const std::string& standard) {
    for (const char* name : names)
        if (reader_.has(name)) return to_lower(reader_.string(name).value_or(standard));
    return standard;
}

std::optional<std::vector<std::int64_t>> HfConfig::list(const char* name) {
    return reader_.integers(name, 1, most_size);
}

bool HfConfig::is_for(const std::string& suffix) {
    if (!reader_.has("architectures")) return false;
    const auto names = reader_.strings("architectures");
    return names &&
           std::any_of(names->begin(), names->end(), [&](const std::string& name) { return name.ends_with(suffix); });
}

std::int64_t HfConfig::tokens(std::int64_t positions) {
    if (options.seq_len > 0) return options.seq_len;
    const std::int64_t standard = positions > 0 ? std::min<std::int64_t>(positions, 1024) : 1024;
    assumed.push_back(
        fmt::format("seq_len {} (not stated; the model allows {})", standard, positions > 0 ? positions : standard));
    return standard;
}

std::int64_t HfConfig::position_rows(std::int64_t positions, std::int64_t tokens_of_sample) {
    if (tokens_of_sample > positions)
        assumed.push_back(fmt::format("a position table of {} rows (the model has {}, shorter than the sequence)",
                                      tokens_of_sample, positions));
    return std::max(positions, tokens_of_sample);
}

bool HfConfig::fused(bool standard) {
    std::string chosen = text_or({"attn_implementation", "_attn_implementation"}, "");
    if (const Value* nested = reader_.value("attn_config"))
        if (const Value* kind = nested->find("attn_impl"); kind && kind->is_string())
            chosen = to_lower(kind->as_string());
    if (chosen == "eager" || chosen == "torch") return false;
    if (!chosen.empty()) return true;
    // Software that brings its own fused kernel, whatever the model.
    for (const char* software : {"composer", "nemo", "torchtitan", "flash", "sdpa"})
        if (options.framework.find(software) != std::string::npos) return true;
    return standard;
}

std::vector<std::string> hf_model_types() {
    std::vector<std::string> names;
    for (const auto* families :
         {&encoder_families(), &decoder_families(), &encoder_decoder_families(), &vision_families()})
        for (const HfFamily& family : *families) names.emplace_back(family.model_type);
    return names;
}

Result<ModelSpec> build_hf_model(const Value& config, const std::string& source, const std::string& name,
                                 const BuildOptions& options, std::vector<std::string>& assumed) {
    const Value* type = config.find("model_type");
    if (!type || !type->is_string())
        return invalid_argument(at_place(source, config.at, "config: needs \"model_type\", the family of the model"));
    for (const auto* families :
         {&encoder_families(), &decoder_families(), &encoder_decoder_families(), &vision_families()})
        for (const HfFamily& family : *families) {
            if (family.model_type != type->as_string()) continue;
            HfConfig reader(config, source, options, assumed);
            reader.family = family.model_type;
            auto built = family.build(reader, name);
            if (auto s = reader.finish(); !s) return s.error();
            if (!built)
                return invalid_argument(
                    at_place(source, config.at, fmt::format("{}: {}", family.model_type, built.error().message)));
            return built;
        }
    const std::string near = nearest_name(type->as_string(), hf_model_types());
    return invalid_argument(at_place(source, type->at,
                                     fmt::format("unknown model_type \"{}\"; {}known: {}", type->as_string(),
                                                 near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                                                 fmt::join(hf_model_types(), ", "))));
}

}  // namespace dlcast
