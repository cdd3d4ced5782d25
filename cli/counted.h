// SPDX-License-Identifier: GPL-2.0-or-later
// Counts, and lists, as a person says them.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <vector>

namespace dlcast {

/// "1 job", "0 jobs", "12 jobs".
template <std::integral Count>
std::string counted(Count count, const std::string& noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "1 job is", "2 jobs are": with a verb in its two forms.
template <std::integral Count>
std::string counted(Count count, const std::string& noun, const char* verb_of_one, const char* verb_of_many) {
    return fmt::format("{} {}", counted(count, noun), count == 1 ? verb_of_one : verb_of_many);
}

/// "a, b", "a, b, c, d and 2996 more": the first of names that may be many.
inline std::string first_of(const std::vector<std::string>& names) {
    constexpr std::size_t most = 4;
    if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most, ", "), names.size() - most);
}

}  // namespace dlcast
