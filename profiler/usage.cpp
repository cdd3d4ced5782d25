// SPDX-License-Identifier: GPL-2.0-or-later
#include "profiler/usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "predictor/base/text.h"

namespace dlcast {

std::string unknown_option(const std::string& program, const std::vector<std::string>& words,
                           const std::vector<std::string>& options) {
    const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
    const auto wrong = std::find_if(words.begin(), words.end(), is_option);
    if (wrong == words.end()) return "";
    const std::string near = nearest_name(*wrong, options);
    return fmt::format("`{}` has no option {}{}", program, *wrong,
                       near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

}  // namespace dlcast
