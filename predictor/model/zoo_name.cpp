// SPDX-License-Identifier: GPL-2.0-or-later
// The many spellings of one public model.
#include <optional>
#include <string>
#include <string_view>

#include "predictor/base/text.h"
#include "predictor/model/zoo.h"
#include "predictor/model/zoo_alias.h"
#include "predictor/model/zoo_diffusion.h"
#include "predictor/model/zoo_image.h"
#include "predictor/model/zoo_other.h"
#include "predictor/model/zoo_text.h"

namespace dlcast {
namespace {

bool is_separator(char c) { return c == '-' || c == '_' || c == ' '; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What two spellings of one name share: case and separators aside, but "3.2-1b" is neither "3.21b" nor "32.1b", so
// points stay, and separators between digits too.
std::string key_of(std::string_view name) {
    const std::string lower = to_lower(name);
    std::string key;
    for (std::size_t i = 0; i < lower.size(); ++i) {
        if (!is_separator(lower[i]))
            key += lower[i];
        else if (i > 0 && i + 1 < lower.size() && is_digit(lower[i - 1]) && is_digit(lower[i + 1]))
            key += '-';
    }
    return key;
}

// The same layers under another training: fine-tuned, converted, or with timm's tag of its recipe.
std::string without_decoration(std::string name) {
    if (const auto point = name.rfind('.'); point != std::string::npos)
        for (const char* data : {"in1k", "in21k", "in22k", "in12k", "openai", "laion", "lvd142m", "webli"})
            if (name.find(data, point) != std::string::npos) return without_decoration(name.substr(0, point));
    for (const std::string_view prefix : {"tf_", "gluon_", "swsl_", "ssl_", "ig_", "adv_", "legacy_", "meta-"})
        if (name.starts_with(prefix)) name = name.substr(prefix.size());
    for (const std::string_view suffix : {"-hf", "-instruct", "-chat", "-it", "-pt", "-in21k", "-in22k", "_ns", "_ap",
                                          "_v1b", "_in21k", "_in22k", "_in22ft1k"})
        if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return name;
}

// Whether key_of(name) is `key`, of which nothing is written: every submission looks through the zoo.
bool has_key(std::string_view name, std::string_view key) {
    std::size_t at = 0;
    const auto takes = [&](char c) { return at < key.size() && key[at] == c ? (++at, true) : false; };
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool joint =
            is_separator(c) && i > 0 && i + 1 < name.size() && is_digit(name[i - 1]) && is_digit(name[i + 1]);
        if (is_separator(c) && !joint) continue;
        if (!takes(joint ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c)) return false;
    }
    return at == key.size();
}

template <typename Models>
std::optional<std::string> name_in(const Models& models, std::string_view key) {
    for (const auto& model : models)
        if (has_key(model.name, key)) return model.name;
    return std::nullopt;
}

// The lists are made when they are first looked through; images' by themselves, so that a client that asks for one of
// them need not make all others.
std::optional<std::string> find_key(const std::string& key) {
    if (auto name = name_in(image_models(), key)) return name;
    if (auto name = name_in(hub_models(), key)) return name;
    if (auto name = name_in(diffusion_models(), key)) return name;
    if (auto name = name_in(other_models(), key)) return name;
    return zoo_alias(key);
}

}  // namespace

std::optional<std::string> find_zoo_name(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    if (name.size() > 128) return std::nullopt;
    if (auto known = find_key(key_of(name))) return known;
    const std::string lower = to_lower(name);
    auto known = find_key(key_of(without_decoration(lower)));
    if (known) *known += class_tag(lower);
    return known;
}

}  // namespace dlcast
