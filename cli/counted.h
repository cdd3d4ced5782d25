// SPDX-License-Identifier: GPL-2.0-or-later
// Counts as a person says them.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>

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

}  // namespace dlcast
