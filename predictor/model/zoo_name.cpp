// SPDX-License-Identifier: GPL-2.0-or-later
// The many spellings of one public model.
#include <array>
#include <utility>

#include "predictor/base/text.h"
#include "predictor/model/workload.h"
#include "predictor/model/zoo.h"

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
        for (const char* data : {"in1k", "in21k", "in22k", "in12k"})
            if (name.find(data, point) != std::string::npos) return name.substr(0, point);
    for (const std::string_view suffix : {"-hf", "-instruct", "-chat", "-it", "-in21k"})
        if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    if (name.starts_with("meta-")) name = name.substr(5);
    return name;
}

// Keys of names that another collection, or everyday speech, gives a model of the zoo.
constexpr std::array<std::pair<std::string_view, const char*>, 9> other_names{{
    {"bertbase", "bert-base-uncased"},
    {"bertlarge", "bert-large-uncased"},
    {"mistral7b", "Mistral-7B-v0.1"},
    {"mixtral8x7b", "Mixtral-8x7B-v0.1"},
    {"mobilenetv2-100", "mobilenet_v2"},
    {"vitbasepatch16-224", "vit_b_16"},
    {"vitbasepatch32-224", "vit_b_32"},
    {"vitlargepatch16-224", "vit_l_16"},
    {"vithugepatch14-224", "vit_h_14"},
}};

std::optional<std::string> find_key(const std::string& key) {
    for (const std::string& known : zoo_names())
        if (key_of(known) == key) return known;
    for (const auto& [other, known] : other_names)
        if (other == key) return known;
    return std::nullopt;
}

}  // namespace

std::optional<std::string> find_zoo_name(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
    if (name.size() > 128) return std::nullopt;
    if (auto known = find_key(key_of(name))) return known;
    return find_key(key_of(without_decoration(to_lower(name))));
}

}  // namespace dlcast
