// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cctype>

#include "cli/slurm_output.h"
#include "predictor/base/text.h"

namespace dlcast {
namespace {

// "Gres" of "Gres=gpu:4"; nothing where the word is no start of a field.
std::string_view key_of(std::string_view word) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return {};
    const std::string_view key = word.substr(0, equals);
    const bool is_name =
        std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    return is_name && std::isupper(static_cast<unsigned char>(key.front())) ? key : std::string_view{};
}

// At commas outside of parentheses: "gpu:a100:2(S:0,1),gpu:t4:1".
std::vector<std::string> split_gres(std::string_view gres) {
    std::vector<std::string> out(1);
    int depth = 0;
    for (const char c : gres) {
        if (c == '(') ++depth;
        if (c == ')') --depth;
        if (c == ',' && depth <= 0)
            out.emplace_back();
        else
            out.back() += c;
    }
    return out;
}

}  // namespace

std::map<std::string, std::string> slurm_record(std::string_view line) {
    std::map<std::string, std::string> out;
    std::string last;
    for (const std::string& word : split(line, ' ')) {
        const std::string_view key = key_of(word);
        if (key.empty()) {
            if (!last.empty() && !word.empty()) (out[last] += ' ') += word;
            continue;
        }
        const auto [field, is_new] = out.try_emplace(std::string(key), word.substr(key.size() + 1));
        last = is_new ? field->first : "";
    }
    return out;
}

std::vector<std::pair<std::string, int>> gpus_of_gres(std::string_view gres) {
    std::vector<std::pair<std::string, int>> out;
    for (const std::string& item : split_gres(gres)) {
        const auto parts = split(std::string_view(item).substr(0, item.find('(')), ':');
        if (trim(parts[0]) != "gpu" || parts.size() > 3) continue;
        const auto count = parts.size() == 1 ? std::optional<std::int64_t>(1) : parse_integer(parts.back());
        // gpu, gpu:4, gpu:a100, gpu:a100:4
        const bool has_type = parts.size() == 3 || (parts.size() == 2 && !count);
        const std::int64_t gpus = count.value_or(parts.size() == 3 ? 0 : 1);
        if (gpus < 1 || gpus > 1024) continue;
        out.emplace_back(has_type ? parts[1] : untyped_gpu, static_cast<int>(gpus));
    }
    return out;
}

}  // namespace dlcast
