// SPDX-License-Identifier: GPL-2.0-or-later
// The many spellings of one public model.
#include <string>
#include <unordered_map>

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

using NamesByKey = std::unordered_map<std::string, std::string>;

// Made once: a submission looks its name up several times. Those of images stand by themselves: a client that asks for
// one of them need not spell out all others.
template <typename... Lists>
NamesByKey by_key(const Lists&... lists) {
    NamesByKey out;
    out.reserve((lists.size() + ...));
    const auto add = [&](const auto& models) {
        for (const auto& model : models) out.emplace(key_of(model.name), model.name);
    };
    (add(lists), ...);
    return out;
}

const NamesByKey& image_names() {
    static const NamesByKey names = by_key(image_models());
    return names;
}

const NamesByKey& other_names() {
    static const NamesByKey names = by_key(hub_models(), diffusion_models(), other_models());
    return names;
}

std::optional<std::string> find_key(const std::string& key) {
    if (const auto found = image_names().find(key); found != image_names().end()) return found->second;
    const auto found = other_names().find(key);
    return found != other_names().end() ? found->second : zoo_alias(key);
}

}  // namespace

std::optional<std::string> find_zoo_name(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    if (name.size() > 128) return std::nullopt;
    if (auto known = find_key(key_of(name))) return known;
    return find_key(key_of(without_decoration(to_lower(name))));
}

}  // namespace dlcast
