// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/array_tasks.h"

#include "predictor/base/text.h"

namespace dlcast {

std::optional<std::int64_t> count_array_tasks(std::string_view array) {
    constexpr std::int64_t most = 1'000'000;
    std::int64_t tasks = 0;
    for (const std::string& part : split(array, ',')) {
        std::string_view text = trim(part);
        text = text.substr(0, text.find('%'));  // how many run at once does not matter here
        std::int64_t step = 1;
        if (const auto colon = text.find(':'); colon != std::string_view::npos) {
            step = parse_integer(text.substr(colon + 1)).value_or(0);
            text = text.substr(0, colon);
        }
        const auto dash = text.find('-');
        const auto first = parse_integer(text.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parse_integer(text.substr(dash + 1));
        if (!first || !last || step < 1 || *last < *first) return std::nullopt;
        const std::int64_t count = (*last - *first) / step + 1;
        if (count > most - tasks) return std::nullopt;
        tasks += count;
    }
    return tasks;
}

}  // namespace dlcast
