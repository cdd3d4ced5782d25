// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/device/gpu_name.h"

#include <algorithm>
#include <array>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

void add_spellings(std::string_view word, std::vector<std::string>& words) {
    words.emplace_back(word);
    if (word.ends_with("gb")) {
        words.emplace_back(word.substr(0, word.size() - 1));  // 80g
        words.emplace_back(word.substr(0, word.size() - 2));  // 80
    } else if (word.starts_with("sxm") && word.size() > 3) {
        words.emplace_back("sxm");
    } else if (word == "sxm") {
        words.emplace_back("sxm5");  // as H200 is often written
    } else if (word == "pcie") {
        words.emplace_back("pci");
    }
}

bool only_words(const std::vector<std::string>& words, std::string_view text) {
    if (text.empty()) return true;
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return text.starts_with(word) && only_words(words, text.substr(word.size()));
    });
}

}  // namespace

NamePattern name_pattern(std::string_view key, std::string_view memory_type) {
    NamePattern out;
    for (const std::string& part : split(key, '-')) {
        const std::string word = squeeze(part);
        if (word.empty()) continue;
        if (out.family.empty())
            out.family = word;
        else
            add_spellings(word, out.words);
    }
    if (!memory_type.empty()) out.words.push_back(squeeze(memory_type));
    // Longest first, so that "80gb" is tried before "80".
    std::sort(out.words.begin(), out.words.end(),
              [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    return out;
}

bool matches(const NamePattern& pattern, std::string_view squeezed) {
    // Longer text is no name; the search below branches on each word.
    if (squeezed.size() > 64 || pattern.family.empty() || !squeezed.starts_with(pattern.family)) return false;
    return only_words(pattern.words, squeezed.substr(pattern.family.size()));
}

std::string_view without_brand(std::string_view squeezed) {
    constexpr std::array<std::string_view, 6> brands{"nvidia", "amd", "tesla", "geforce", "quadro", "instinct"};
    bool found = true;
    while (found) {
        found = false;
        for (const std::string_view brand : brands) {
            if (squeezed.size() <= brand.size() || !squeezed.starts_with(brand)) continue;
            squeezed.remove_prefix(brand.size());
            found = true;
        }
    }
    return squeezed;
}

}  // namespace dlcast
