// SPDX-License-Identifier: GPL-2.0-or-later
#include "predictor/job/array_tasks.h"

#include <vector>

#include "predictor/base/text.h"

namespace dlcast {
namespace {

constexpr std::int64_t most_index = 4'000'001;      // Slurm's own largest MaxArraySize
constexpr std::int64_t most_looked_at = 1'000'000;  // a list made to be expensive is not counted

struct Range {
    std::int64_t first = 0, last = 0, step = 1;
    std::int64_t count() const { return (last - first) / step + 1; }
};

std::optional<Range> parse_range(std::string_view text) {
    Range out;
    text = text.substr(0, text.find('%'));  // how many run at once does not matter here
    if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        out.step = parse_integer(text.substr(colon + 1)).value_or(0);
        text = text.substr(0, colon);
    }
    const auto dash = text.find('-');
    const auto first = parse_integer(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(text.substr(dash + 1));
    if (!first || !last || out.step < 1 || *last < *first || *last > most_index) return std::nullopt;
    out.first = *first;
    out.last = *last;
    return out;
}

}  // namespace

std::optional<std::int64_t> count_array_tasks(std::string_view array) {
    const auto parts = split(array, ',');
    if (parts.size() == 1) {
        const auto range = parse_range(trim(array));
        return range ? std::optional(range->count()) : std::nullopt;
    }
    // Ranges may overlap; a task runs once.
    std::vector<bool> known;
    std::int64_t tasks = 0, looked_at = 0;
    for (const std::string& part : parts) {
        const auto range = parse_range(trim(part));
        if (!range || (looked_at += range->count()) > most_looked_at) return std::nullopt;
        if (known.size() <= static_cast<std::size_t>(range->last))
            known.resize(static_cast<std::size_t>(range->last) + 1);
        for (std::int64_t i = range->first; i <= range->last; i += range->step) {
            tasks += !known[static_cast<std::size_t>(i)];
            known[static_cast<std::size_t>(i)] = true;
        }
    }
    return tasks;
}

}  // namespace dlcast
