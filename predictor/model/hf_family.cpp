// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/model/hf_family.h"

#include <fmt/format.h>

#include "predictor/base/text.h"
#include "predictor/model/hf_defaults.h"
#include "predictor/model/hf_unknown.h"

namespace dlcast {
namespace {

std::vector<HfFamily> all_families() {
    std::vector<HfFamily> all;
    for (const auto* families : {&encoder_families(), &decoder_families(), &encoder_decoder_families(),
                                 &vision_families(), &audio_families(), &diffusion_families()})
        all.insert(all.end(), families->begin(), families->end());
    return all;
}

}  // namespace

const HfFamily* find_family(const std::string& type) {
    static const std::vector<HfFamily> all = all_families();
    for (const HfFamily& family : all)
        if (family.model_type == type) return &family;
    for (const HfFamily& family : all)
        if (to_lower(family.model_type) == to_lower(type)) return &family;
    return nullptr;
}

// Families that go by another's blocks, and models of several parts whose text part stands at the top of the config.
std::string canonical_type(const std::string& type) {
    static const std::pair<const char*, const char*> same[] = {
        {"qwen2_vl", "qwen2"},           {"qwen2_5_vl", "qwen2"},
        {"qwen3_vl_text", "qwen3"},      {"qwen3_vl_moe_text", "qwen3_moe"},
        {"code_llama", "llama"},         {"nllb", "m2m_100"},
        {"deepseek_v32", "deepseek_v3"}, {"kimi_k2", "deepseek_v3"},
    };
    for (const auto& [name, other] : same)
        if (to_lower(type) == name) return other;
    return type;
}

std::vector<std::string> hf_model_types() {
    std::vector<std::string> names;
    for (const HfFamily& family : all_families()) names.emplace_back(family.model_type);
    return names;
}

namespace {

constexpr std::size_t longest_shown = 80;

std::string letters_of(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c >= 'a' && c <= 'z') out += c;
    return out;
}

// A known name with a letter or two amiss. Other figures make a new generation, not a misspelling.
bool is_misspelt(const std::string& type) {
    constexpr std::string_view families_of_their_own[] = {"ibert", "xlm", "bark", "bamba", "jamba", "zamba", "vits"};
    const std::string wanted = to_lower(type);
    for (const std::string_view own : families_of_their_own)
        if (wanted == own) return false;
    const std::string near = nearest_name(wanted, hf_model_types());
    if (near.empty()) return wanted.empty();
    const auto digits = [](const std::string& text) {
        std::string out;
        for (const char c : text)
            if (c >= '0' && c <= '9') out += c;
        return out;
    };
    if (letters_of(wanted) == letters_of(near) && digits(wanted) != digits(near)) return false;
    return edit_distance(wanted, to_lower(near)) <= (wanted.size() < 8 ? 1U : 2U);
}

bool is_decoder(const HfFamily& family) {
    for (const HfFamily& one : decoder_families())
        if (family.model_type == std::string_view(one.model_type)) return true;
    return false;
}

// A family nobody told us of, whose sizes have the usual names: it is read as the nearest common design, and said so.
Result<const HfFamily*> guess_family(const Value& config, const std::string& type, const std::string& source,
                                     std::vector<std::string>& assumed) {
    if (const Value::Member* other = other_layers(config))
        return invalid_argument(
            at_place(source, other->value.at,
                     fmt::format("model_type {} has layers other than attention ({}), which are not read; dump the "
                                 "module with contrib/torch_export.py, or write the layers",
                                 one_line(type, longest_shown), one_line(other->key, longest_shown))));
    const char* like = nearest_design(config);
    if (!like) return nullptr;
    assumed.push_back(fmt::format("model_type {} (unknown) is read as {}", one_line(type, longest_shown), like));
    if (std::string_view(like) != "bert" && !config.find("tie_word_embeddings"))
        assumed.emplace_back("tie_word_embeddings false (not stated; the family's own default is unknown)");
    return find_family(like);
}

// Models that see and read: the language model is most of the work.
Value text_part(const Value& config, const Value& text, const std::string& type) {
    Value part = text;
    if (!text.find("model_type")) part.set("model_type", type);
    for (const char* key : {"tie_word_embeddings", "quantization_config", "attn_implementation"})
        if (const Value* of_all = config.find(key); of_all && !part.find(key)) part.set(key, *of_all);
    return part;
}

Result<ModelSpec> build_config(const Value& config, const std::string& source, const std::string& name,
                               const BuildOptions& options, std::vector<std::string>& assumed, bool guessed) {
    const Value* type = config.find("model_type");
    if (!type || !type->is_string())
        return invalid_argument(at_place(source, config.at, "config: needs \"model_type\", the family of the model"));
    const HfFamily* family = find_family(canonical_type(type->as_string()));
    if (config.find("vision_config") && (!family || is_decoder(*family)))
        assumed.push_back(
            fmt::format("the text part of {} alone (its vision part is left out)", one_line(type->as_string(), 80)));
    const Value* text = config.find("text_config");
    const bool sizes_inside = text && text->is_object() && !config.find("hidden_size");
    if (text && text->is_object() && (!family || (sizes_inside && is_decoder(*family)))) {
        const std::string its = to_lower(type->as_string()) == "gemma3" ? "gemma3_text"
                                : family                                ? family->model_type
                                                                        : "llama";
        Value part = text_part(config, *text, its);
        if (const std::string filled = fill_standard_sizes(part); !filled.empty()) assumed.push_back(filled);
        return build_config(part, source, name, options, assumed,
                            !family && !text->find("model_type") && its == "llama");
    }
    if (!family && (other_layers(config) || !is_misspelt(type->as_string()))) {
        const auto guess = guess_family(config, type->as_string(), source, assumed);
        if (!guess) return guess.error();
        family = *guess;
        guessed = true;
    }
    if (!family) {
        const std::string near = nearest_name(type->as_string(), hf_model_types());
        return invalid_argument(at_place(source, type->at,
                                         fmt::format("unknown model_type \"{}\"; {}known: {}", type->as_string(),
                                                     near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                                                     fmt::join(hf_model_types(), ", "))));
    }
    HfConfig reader(config, source, options, assumed);
    reader.family = family->model_type;
    reader.guessed = guessed;
    auto built = family->build(reader, name);
    reader.name_what_is_left_out();
    if (auto s = reader.finish(); !s) return s.error();
    if (!built)
        return invalid_argument(
            at_place(source, config.at, fmt::format("{}: {}", family->model_type, built.error().message)));
    return built;
}

}  // namespace

Result<ModelSpec> build_hf_model(const Value& config, const std::string& source, const std::string& name,
                                 const BuildOptions& options, std::vector<std::string>& assumed) {
    return build_config(config, source, name, options, assumed, false);
}

}  // namespace dlcast
